// What every Perfetto trace is made of, whatever it tells: packets of one
// sequence, tracks in a tree, events with names that are interned.
#ifndef KPROBE_DECODE_PERFETTOPACKETS_H
#define KPROBE_DECODE_PERFETTOPACKETS_H

#include "TextOutput.h"
#include "perfetto.pb.h"

#include <map>
#include <string>
#include <unordered_map>

namespace kprobe {

namespace pb = kprobe::perfetto;

constexpr uint32_t RealtimeClock = 1;
constexpr uint32_t MonotonicClock = 3;
constexpr uint32_t OnlySequence = 1;
constexpr uint32_t StateCleared = 1;
constexpr uint32_t NeedsState = 2;

class PerfettoPackets {
public:
  explicit PerfettoPackets(TextOutput &Out) : Out(Out) {}

protected:
  void packet(const pb::TracePacket &P);
  /// Number of a track that the caller describes.
  uint64_t newTrack() { return ++LastTrack; }
  uint64_t track(uint64_t Parent, const std::string &Name);
  uint64_t counterTrack(uint64_t Parent, const std::string &Name,
                        const std::string &Unit);
  /// The track of \p Name below \p Parent, made at its first use.
  uint64_t child(uint64_t Parent, const std::string &Name);
  void forgetChildren() { Children.clear(); }

  /// Starts an event; send() writes it.
  pb::TrackEvent &event(pb::TrackEvent::Type Type, uint64_t Track, int64_t Ns,
                        const char *Category = nullptr,
                        const std::string &Name = "");
  void send() { packet(Packet); }
  void end(uint64_t Track, int64_t Ns);
  static void note(pb::TrackEvent &E, const char *Name, uint64_t Value);
  static void note(pb::TrackEvent &E, const char *Name,
                   const std::string &Text);

private:
  TextOutput &Out;
  pb::TracePacket Packet;
  uint64_t LastTrack = 0;
  std::unordered_map<std::string, uint64_t> Interned;
  std::map<std::pair<uint64_t, std::string>, uint64_t> Children;
  std::string Wire;
};

} // namespace kprobe

#endif
