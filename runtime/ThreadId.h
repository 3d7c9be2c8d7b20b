// Linux's number of the calling thread, asked for once a thread: under a
// hypervisor a system call may cost more than all else that a dispatch does.
#ifndef KPROBE_RUNTIME_THREADID_H
#define KPROBE_RUNTIME_THREADID_H

#include <cstdint>

namespace kprobe {

// Right in the child of a fork, too. Not for children of vfork or clone, which
// share the memory in which it is kept.
uint32_t threadId();

// The calling thread is kprobe's, not the program's: what Linux does to it is
// left out of the trace.
void isOurs();
bool isThreadOfOurs(uint32_t Id);

} // namespace kprobe

#endif
