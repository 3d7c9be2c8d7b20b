// Reads of memory that may not be there, for code inside a signal handler.
//
// The thread's own stack is read directly: between the stack pointer and its
// top all of it is mapped. Everything else goes through the system, which says
// no where the program would crash.
#ifndef KPROBE_RUNTIME_PROFILE_STACKMEMORY_H
#define KPROBE_RUNTIME_PROFILE_STACKMEMORY_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace kprobe {

struct StackMemory {
  uint64_t Low = 0;  // [Low, High) is known to be mapped
  uint64_t High = 0;
  pid_t Process = 0; // this one

  bool read(uint64_t Address, void *Out, size_t Bytes) const {
    if (Address >= Low && Address < High && Bytes <= High - Address) {
      std::memcpy(Out, reinterpret_cast<const void *>(Address), Bytes);
      return true;
    }
    struct iovec To = {Out, Bytes};
    struct iovec From = {reinterpret_cast<void *>(Address), Bytes};
    return syscall(SYS_process_vm_readv, Process, &To, 1, &From, 1, 0) ==
           ssize_t(Bytes);
  }
  template <typename T> bool read(uint64_t Address, T &Out) const {
    return read(Address, &Out, sizeof(Out));
  }
};

} // namespace kprobe

#endif
