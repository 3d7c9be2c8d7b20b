// Streams, packets and events, message by message.
#include "TraceMessages.h"

#include "CtfFields.h"
#include "Names.h"

namespace kprobe {
namespace {

constexpr uint64_t EventsPerPacket = 65536;

/// The compute unit, "" where the target's places are not known.
std::string unitOf(const Track &Where) {
  return Where.Place ? unitText(*Where.Place) : "";
}

bool fill(const CtfTypes &Types, const Trace &T, const TimelineItem &I,
          bt_message *Message) {
  using Kind = TimelineItem::Kind;
  Payload Out(Message);
  if (I.Host) {
    fillHost(T, *I.Host, Out);
    return Out.Good;
  }
  const KprobeDispatchRecord &R = I.Owner->Record;
  const Cause *Why = T.causeOf(R.Dispatch);
  Out << R.Dispatch;
  switch (I.What) {
  case Kind::Submit:
    Out << R.Agent << R.Queue << kernelName(*I.Owner) << statusText(R.Status)
        << R.Grid[0] << R.Grid[1] << R.Grid[2] << R.Group[0] << R.Group[1]
        << R.Group[2] << R.WaveCount << R.SlotCount << R.ThreadId
        << (Why ? Why->Call : 0);
    break;
  case Kind::KernelBegin:
    Out << kernelName(*I.Owner) << R.Agent << R.Queue;
    break;
  case Kind::KernelEnd:
    Out << R.Agent << R.Queue;
    break;
  case Kind::WaveBegin: {
    const KprobeWaveHeader &H = I.Wave->Header;
    Out << H.WaveIndex << H.Workgroup[0] << H.Workgroup[1] << H.Workgroup[2]
        << H.WaveInGroup << I.Wave->Where->Id
        << placeText(I.Owner->Where->Target, H.HardwareId) << R.Agent
        << unitOf(*I.Wave->Where) << H.BeginExec;
    break;
  }
  case Kind::Block: {
    const kprobe::Block &B = I.Block->Cycles;
    uint64_t Site = Types.FirstSite.at(I.Owner->Table) +
                    I.Owner->Kernel->FirstSite + B.LocalSite;
    Out << I.Wave->Header.WaveIndex << Site << B.Lanes << B.Begin << B.Cycles
        << (B.TimeKnown ? static_cast<uint64_t>(I.EndNs - I.Ns) : 0);
    break;
  }
  case Kind::WaveEnd: {
    const WaveAccount &A = I.Wave->Account;
    Out << I.Wave->Header.WaveIndex << R.Agent << unitOf(*I.Wave->Where)
        << I.Wave->Where->Id << uint64_t(A.Fate == WaveFate::Ended) << A.Written
        << A.Kept << A.Overwritten << A.Empty;
    break;
  }
  default:
    break;
  }
  return Out.Good;
}

const bt_event_class *classOf(const CtfTypes &Types, const TimelineItem &Item) {
  switch (Item.What) {
  case TimelineItem::Kind::CallBegin:
    return Types.CallBegin;
  case TimelineItem::Kind::CallEnd:
    return Types.CallEnd;
  case TimelineItem::Kind::Host: {
    auto Found = Types.Host.find(Item.Host->Event.Head.Kind);
    return Found == Types.Host.end() ? nullptr : Found->second;
  }
  case TimelineItem::Kind::Submit:
    return Types.Submit;
  case TimelineItem::Kind::KernelBegin:
    return Types.KernelBegin;
  case TimelineItem::Kind::KernelEnd:
    return Types.KernelEnd;
  case TimelineItem::Kind::WaveBegin:
    return Types.WaveBegin;
  case TimelineItem::Kind::Block:
    return Types.Block;
  case TimelineItem::Kind::WaveEnd:
    return Types.WaveEnd;
  }
  return nullptr;
}

} // namespace

TraceMessages::~TraceMessages() {
  for (const bt_message *M : Ready)
    bt_message_put_ref(M);
  for (auto &[Number, S] : Streams) {
    bt_packet_put_ref(S.Packet);
    bt_stream_put_ref(S.Itself);
  }
}

bool TraceMessages::initialize(bt_self_component_source *Self,
                               const std::string &Port) {
  return bt_self_component_source_add_output_port(Self, Port.c_str(), this,
                                                  nullptr) ==
             BT_SELF_COMPONENT_ADD_PORT_STATUS_OK &&
         Types.create(bt_self_component_source_as_self_component(Self), Input,
                      !Path.Slices.empty());
}

std::string TraceMessages::hostStreamName(int64_t Number) const {
  uint32_t Thread = static_cast<uint32_t>(Number - ThreadStreams);
  const HostThread &H = Input.trace().Threads.at(Thread);
  return H.isProcessor() ? "processor_" + std::to_string(H.Record.ThreadId)
                         : "thread_" + std::to_string(Thread);
}

TraceStream *TraceMessages::streamOf(bt_self_message_iterator *Iterator,
                                     int64_t Number) {
  auto [Place, New] = Streams.try_emplace(Number);
  TraceStream &S = Place->second;
  if (!New)
    return &S;
  S.Itself = bt_stream_create(Types.Streams, Types.Trace);
  if (!S.Itself)
    return nullptr;
  std::string Name = Number == HostStream   ? "host"
                     : Number == PathStream ? "critical_path"
                     : Number < ThreadStreams
                         ? "agent_" + std::to_string(Number)
                         : hostStreamName(Number);
  if (bt_stream_set_name(S.Itself, Name.c_str()) !=
          BT_STREAM_SET_NAME_STATUS_OK ||
      !add(bt_message_stream_beginning_create(Iterator, S.Itself)))
    return nullptr;
  return &S;
}

bool TraceMessages::openPacket(bt_self_message_iterator *Iterator,
                               TraceStream &S, uint64_t Clock) {
  S.Packet = bt_packet_create(S.Itself);
  S.Events = 0;
  return S.Packet &&
         add(bt_message_packet_beginning_create_with_default_clock_snapshot(
             Iterator, S.Packet, Clock));
}

bool TraceMessages::closePacket(bt_self_message_iterator *Iterator,
                                TraceStream &S) {
  bool Good = add(bt_message_packet_end_create_with_default_clock_snapshot(
      Iterator, S.Packet, LastClock));
  bt_packet_put_ref(S.Packet);
  S.Packet = nullptr;
  return Good;
}

bool TraceMessages::produce(bt_self_message_iterator *Iterator) {
  if (!HasNext && !NoneLeft) {
    if (Error E = Input.next(Next, NoneLeft)) {
      Fault = E.text();
      return false;
    }
    HasNext = !NoneLeft;
  }
  if (NextSlice < Path.Slices.size() &&
      (!HasNext || Path.Slices[NextSlice].BeginNs <= Next.Ns))
    return produceSlice(Iterator, Path.Slices[NextSlice++]);
  if (!HasNext)
    return finish(Iterator);
  HasNext = false;
  return produceItem(Iterator, Next);
}

bool TraceMessages::finish(bt_self_message_iterator *Iterator) {
  Finished = true;
  // A trace without a packet would have no metadata either.
  if (Streams.empty()) {
    TraceStream *Host = streamOf(Iterator, HostStream);
    if (!Host)
      return false;
    LastClock = static_cast<uint64_t>(Input.beginNs());
    if (!openPacket(Iterator, *Host, LastClock))
      return false;
  }
  for (auto &[Number, S] : Streams)
    if ((S.Packet && !closePacket(Iterator, S)) ||
        !add(bt_message_stream_end_create(Iterator, S.Itself)))
      return false;
  return true;
}

bool TraceMessages::produceSlice(bt_self_message_iterator *Iterator,
                                 const PathTrack::Slice &Slice) {
  TraceStream *S = streamOf(Iterator, PathStream);
  bt_message *Message =
      S ? addEvent(Iterator, *S, Types.PathSegment,
                   static_cast<uint64_t>(Slice.BeginNs))
        : nullptr;
  if (!Message)
    return false;
  Payload Out(Message);
  Out << Slice.Kind << Slice.Text << Slice.Place
      << static_cast<uint64_t>(Slice.EndNs - Slice.BeginNs);
  return Out.Good;
}

bool TraceMessages::produceItem(bt_self_message_iterator *Iterator,
                                const TimelineItem &Item) {
  const bt_event_class *Class = classOf(Types, Item);
  if (!Class) // a SUBMIT: the dispatch says the same
    return true;
  TraceStream *S = streamOf(
      Iterator, Item.Host   ? ThreadStreams + Item.Host->Thread->Record.Thread
                : Item.Wave ? int64_t(Item.Owner->Where->Record.Agent)
                            : HostStream);
  if (!S)
    return false;
  uint64_t Clock = static_cast<uint64_t>(Item.Ns);
  bt_message *Message = addEvent(Iterator, *S, Class, Clock);
  return Message && fill(Types, Input.trace(), Item, Message) &&
         (Item.What != TimelineItem::Kind::KernelBegin ||
          addCounters(Iterator, *S, *Item.Owner, Clock));
}

bt_message *TraceMessages::addEvent(bt_self_message_iterator *Iterator,
                                    TraceStream &S, const bt_event_class *Class,
                                    uint64_t Clock) {
  LastClock = Clock;
  if (S.Packet && S.Events >= EventsPerPacket && !closePacket(Iterator, S))
    return nullptr;
  if (!S.Packet && !openPacket(Iterator, S, Clock))
    return nullptr;
  bt_message *Message =
      bt_message_event_create_with_packet_and_default_clock_snapshot(
          Iterator, Class, S.Packet, Clock);
  ++S.Events;
  return add(Message) ? Message : nullptr;
}

bool TraceMessages::addCounters(bt_self_message_iterator *Iterator,
                                TraceStream &S, const Dispatch &D,
                                uint64_t Clock) {
  const DispatchCounters &All = Input.counters();
  const std::vector<DispatchCounters::Value> *Known = All.of(D.Record.Dispatch);
  if (!Known)
    return true;
  for (const DispatchCounters::Value &V : *Known) {
    bt_message *Message = addEvent(Iterator, S, Types.DispatchCounter, Clock);
    if (!Message)
      return false;
    Payload Out(Message);
    Out << D.Record.Dispatch << D.Record.Agent << All.names()[V.Name]
        << V.Number;
    if (!Out.Good)
      return false;
  }
  return true;
}

bt_message_iterator_class_initialize_method_status
initializeMessages(bt_self_message_iterator *Iterator,
                   bt_self_message_iterator_configuration *,
                   bt_self_component_port_output *Port) {
  bt_self_message_iterator_set_data(
      Iterator,
      bt_self_component_port_get_data(
          bt_self_component_port_output_as_self_component_port(Port)));
  return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

bt_message_iterator_class_next_method_status
nextMessages(bt_self_message_iterator *Iterator, bt_message_array_const Array,
             uint64_t Capacity, uint64_t *Count) {
  auto *Source =
      static_cast<TraceMessages *>(bt_self_message_iterator_get_data(Iterator));
  while (Source->Ready.size() < Capacity && !Source->Finished)
    if (!Source->produce(Iterator))
      return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
  *Count = 0;
  while (*Count < Capacity && !Source->Ready.empty()) {
    Array[(*Count)++] = Source->Ready.front();
    Source->Ready.pop_front();
  }
  return *Count != 0 ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK
                     : BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
}

} // namespace kprobe
