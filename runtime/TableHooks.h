// Putting functions of ours into a table of HSA's, and taking them out again.
#ifndef KPROBE_RUNTIME_TABLEHOOKS_H
#define KPROBE_RUNTIME_TABLEHOOKS_H

#include <cstddef>

namespace kprobe {

// Entry stands at Offset of Part. Next gets what stood there; both stay as they are
// where the table is too old to have the entry, or it is empty.
template <typename Table, typename Function>
void hook(const Table &Part, size_t Offset, Function *&Entry, Function *&Next,
          Function *Ours) {
  if (Offset + sizeof(void *) > Part.version.minor_id || !Entry)
    return;
  Next = Entry;
  Entry = Ours;
}

// Only where our function still stands: a tool that was loaded after us and
// wrapped it must not lose its own.
template <typename Function>
void unhook(Function *&Entry, Function *Next, Function *Ours) {
  if (Next && Entry == Ours)
    Entry = Next;
}

} // namespace kprobe

#endif
