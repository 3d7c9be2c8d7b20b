// Choosing the earliest among the streams, and keeping each of them nested.
#include "HostMerge.h"

namespace kprobe {

void HostMerge::add(const HostThread &Thread, uint64_t Offset, uint64_t Bytes) {
  Stream &S = Streams[Thread.Record.Thread];
  S.Thread = &Thread;
  S.Chunks.push_back({Offset, Bytes});
  Size += Bytes;
}

Error HostMerge::start(ByteSource &Input) {
  Source = &Input;
  for (auto &Entry : Streams)
    if (Error E = advance(Entry.second))
      return E;
  choose();
  return Error::success();
}

Error HostMerge::step() {
  Error E = advance(*First);
  choose();
  return E;
}

void HostMerge::choose() {
  First = nullptr;
  for (auto &Entry : Streams)
    if (!Entry.second.Done &&
        (!First || Entry.second.Item.Event.Head.Ns < First->Item.Event.Head.Ns))
      First = &Entry.second;
}

Error HostMerge::advance(Stream &S) {
  for (;;) {
    if (!S.Queue.empty()) {
      S.Item = S.Queue.back();
      S.Queue.pop_back();
      return Error::success();
    }
    HostEvent Event;
    if (!S.Reader || !S.Reader->next(Event)) {
      if (S.NextChunk == S.Chunks.size()) {
        S.Done = true;
        return Error::success();
      }
      auto [Offset, Bytes] = S.Chunks[S.NextChunk++];
      S.Buffer.resize(Bytes);
      Given += Bytes;
      if (Error E = Source->readAt(Offset, S.Buffer.data(), Bytes))
        return E;
      S.Reader = std::make_unique<HostEventReader>(
          ByteReader(S.Buffer.data(), S.Buffer.size(), Offset));
      continue;
    }
    // Time never runs backwards in a stream; a damaged clock must not either.
    Event.Head.Ns = std::max(Event.Head.Ns, S.Item.Event.Head.Ns);
    if (Event.Head.Kind == KPROBE_HOST_CALL_BEGIN) {
      S.Open.push_back(Event);
    } else if (Event.Head.Kind == KPROBE_HOST_CALL_END) {
      size_t At = S.Open.size();
      while (At > 0 && S.Open[At - 1].Head.Call != Event.Head.Call)
        --At;
      if (At == 0)
        continue;
      S.Queue.push_back({S.Thread, Event, false});
      for (size_t I = At; I < S.Open.size(); ++I) {
        HostItem Left = {S.Thread, HostEvent(), true};
        Left.Event.Head = S.Open[I].Head;
        Left.Event.Head.Kind = KPROBE_HOST_CALL_END;
        Left.Event.Head.Ns = Event.Head.Ns;
        S.Queue.push_back(Left);
      }
      S.Open.resize(At - 1);
      continue;
    }
    S.Item = {S.Thread, Event, false};
    return Error::success();
  }
}

} // namespace kprobe
