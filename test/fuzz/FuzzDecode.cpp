// Decodes any bytes with every part of the decoder that looks at them.
//
// Each input runs twice: as it is, and with the checksums of its chunks and the
// hashes of its site tables made right, since hardly any mutation would
// otherwise get past them. What must hold is checked with abort():
// places of waves add up, and items of a timeline come in the order of time.
#include "DumpBuilder.h"
#include "DumpVerifier.h"
#include "Listing.h"
#include "StatisticsReport.h"
#include "Timeline.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdlib>
#include <cstring>
#include <sstream>

using namespace kprobe;

namespace {

void require(bool Holds) {
  if (!Holds)
    std::abort();
}

/// Makes damage visible to what lies behind the checksums.
void repair(std::vector<uint8_t> &Bytes) {
  size_t At = sizeof(KprobeFileHeader);
  KprobeChunkHeader H;
  for (uint64_t Sequence = 0; At + sizeof(H) <= Bytes.size(); ++Sequence) {
    std::memcpy(&H, &Bytes[At], sizeof(H));
    uint8_t *Payload = &Bytes[At] + sizeof(H);
    uint64_t Left = Bytes.size() - At - sizeof(H);
    if (H.PayloadBytes > Left)
      return;
    H.Magic = KPROBE_CHUNK_MAGIC;
    H.Sequence = Sequence;
    if (H.Kind == KPROBE_CHUNK_SITE_TABLE &&
        H.PayloadBytes >= sizeof(KprobeSiteTableHeader)) {
      std::vector<uint8_t> Table(Payload, Payload + H.PayloadBytes);
      uint64_t Hash = tableHash(Table);
      std::memcpy(Payload + offsetof(KprobeSiteTableHeader, ContentHash), &Hash,
                  8);
    }
    H.Checksum =
        XXH3_64bits_withSeed(Payload, H.PayloadBytes, XXH3_64bits(&H, 32));
    std::memcpy(&Bytes[At], &H, sizeof(H));
    At += sizeof(H) + (H.PayloadBytes + 7) / 8 * 8;
  }
}

void decode(const std::vector<uint8_t> &Bytes) {
  // Exactly as many bytes as there are, so that a sanitizer sees a step beyond.
  std::vector<uint64_t> Aligned((Bytes.size() + 7) / 8);
  if (!Bytes.empty())
    std::memcpy(Aligned.data(), Bytes.data(), Bytes.size());
  const uint8_t *Data = reinterpret_cast<const uint8_t *>(Aligned.data());

  MemorySource First(Data, Bytes.size());
  Statistics S;
  (void)readTrace(First, S.open(), S);
  S.finish();
  (void)statisticsText(S, {});
  (void)statisticsJson(S, {});
  EventTotals E = S.eventTotals();
  require(E.Written ==
          E.Kept + E.Overwritten + E.Dropped + E.Missing + E.Empty + E.Damaged);

  MemorySource Second(Data, Bytes.size());
  Trace T;
  std::ostringstream Text;
  Listing List(Text, {});
  (void)readTrace(Second, T, List);

  MemorySource Third(Data, Bytes.size());
  Timeline Line;
  (void)Line.open(Third);
  int64_t Last = Line.beginNs();
  uint64_t Blocks = 0;
  TimelineItem Item;
  for (bool Done = false; !Line.next(Item, Done) && !Done;) {
    require(Item.Ns >= Last && Item.EndNs >= Item.Ns);
    Last = Item.Ns;
    Blocks += Item.What == TimelineItem::Kind::Block;
  }
  require(Blocks == E.Kept);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  std::vector<uint8_t> Bytes(Data, Data + Size);
  decode(Bytes);
  repair(Bytes);
  decode(Bytes);
  return 0;
}
