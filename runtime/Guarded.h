// Work of ours inside a call of the program: nothing may escape into it, and
// running out of memory is not its problem.
#ifndef KPROBE_RUNTIME_GUARDED_H
#define KPROBE_RUNTIME_GUARDED_H

namespace kprobe {

template <typename Function> void guarded(Function &&Work) {
  try {
    Work();
  } catch (...) {
  }
}

} // namespace kprobe

#endif
