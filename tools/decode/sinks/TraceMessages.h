// A Timeline as messages of libbabeltrace2, for a source component.
//
// Two programs have such a component: our CTF writer, in a graph of its own,
// and babeltrace2, through the plug-in. Each stream is cut into packets, so
// that readers can seek and the writer's memory stays small.
#ifndef KPROBE_DECODE_TRACEMESSAGES_H
#define KPROBE_DECODE_TRACEMESSAGES_H

#include "Converters.h"
#include "CtfTypes.h"

#include <deque>
#include <map>
#include <string>

namespace kprobe {

/// A stream of the trace and its open packet.
struct TraceStream {
  bt_stream *Itself = nullptr;
  bt_packet *Packet = nullptr;
  uint64_t Events = 0;
};

/// State of one output port and its one iterator.
class TraceMessages {
public:
  explicit TraceMessages(Timeline &Input) : Input(Input) {}
  ~TraceMessages();

  /// Adds a port of that name, whose iterator gives out these messages.
  bool initialize(bt_self_component_source *Self, const std::string &Port);
  /// Puts at least one message into Ready unless all is done.
  bool produce(bt_self_message_iterator *Iterator);

  PathTrack Path; ///< to be shown, too; before initialize()
  std::deque<const bt_message *> Ready;
  bool Finished = false;
  std::string Fault; ///< of the Timeline, for main

private:
  bool produceItem(bt_self_message_iterator *Iterator,
                   const TimelineItem &Item);
  bool produceSlice(bt_self_message_iterator *Iterator,
                    const PathTrack::Slice &Slice);
  bool finish(bt_self_message_iterator *Iterator);
  TraceStream *streamOf(bt_self_message_iterator *Iterator, int64_t Number);
  std::string hostStreamName(int64_t Number) const;
  bool openPacket(bt_self_message_iterator *Iterator, TraceStream &S,
                  uint64_t Clock);
  bool closePacket(bt_self_message_iterator *Iterator, TraceStream &S);
  /// In a packet of the stream.
  bt_message *addEvent(bt_self_message_iterator *Iterator, TraceStream &S,
                       const bt_event_class *Class, uint64_t Clock);
  /// What else is known of a kernel that begins.
  bool addCounters(bt_self_message_iterator *Iterator, TraceStream &S,
                   const Dispatch &D, uint64_t Clock);
  bool add(const bt_message *Message) {
    if (Message)
      Ready.push_back(Message);
    return Message != nullptr;
  }

  Timeline &Input;
  TimelineItem Next; ///< if HasNext
  bool HasNext = false, NoneLeft = false;
  size_t NextSlice = 0;
  /// Of the last event of any stream: messages of all streams are in order of
  /// time, those about packets too.
  uint64_t LastClock = 0;
  CtfTypes Types;
  static constexpr int64_t HostStream = -1, PathStream = -2;
  static constexpr int64_t ThreadStreams = int64_t(1) << 32;
  /// By agent, and the host's; behind them the threads'.
  std::map<int64_t, TraceStream> Streams;
};

/// Methods of the component class's iterators. The data of a port is its
/// TraceMessages, and so becomes that of its iterator.
bt_message_iterator_class_initialize_method_status
initializeMessages(bt_self_message_iterator *Iterator,
                   bt_self_message_iterator_configuration *,
                   bt_self_component_port_output *Port);
bt_message_iterator_class_next_method_status
nextMessages(bt_self_message_iterator *Iterator, bt_message_array_const Array,
             uint64_t Capacity, uint64_t *Count);

} // namespace kprobe

#endif
