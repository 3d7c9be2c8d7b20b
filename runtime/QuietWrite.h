// write(2) that cannot harm the program: no SIGPIPE, no SIGXFSZ, no errno left
// behind, and no endless wait on a pipe that nobody reads.
#ifndef KPROBE_RUNTIME_QUIETWRITE_H
#define KPROBE_RUNTIME_QUIETWRITE_H

#include <cstddef>
#include <sys/uio.h>

namespace kprobe {

// Writes all parts in order. 0, or the errno of the first failure (ETIMEDOUT
// when the reader of a non-blocking pipe made no room for two seconds). The
// parts are consumed: their contents are undefined afterwards.
int writeQuietly(int Fd, struct iovec *Parts, size_t Count);

// From a thread of ours that has blocked all signals for good: its writes need
// no care for them, which costs four system calls each.
void blocksAllSignals();

} // namespace kprobe

#endif
