/* Marks: places in a kernel that its author has given a name, for HIP.
 *
 *   KPROBE_MARK("loaded");       from here on, up to the next block or mark
 *   KPROBE_RANGE("reduction");   from here to the end of the scope
 *
 * Built with kprobe's plug-in, each place becomes a site of its own in the
 * traced copy of the kernel, named "mark loaded", "begin reduction" and "end
 * reduction". The original kernel, and every kernel built without the plug-in,
 * is compiled as if they were not there. On the host they do nothing. The name
 * has to be a string literal.
 */
#ifndef KPROBE_MARK_H
#define KPROBE_MARK_H

#define KPROBE_MARK_PLACE 0
#define KPROBE_MARK_BEGIN 1
#define KPROBE_MARK_END 2

#if defined(__HIP__) || defined(__HIPCC__)
#define KPROBE_MARK_FUNCTION                                                   \
  __attribute__((host)) __attribute__((device)) __attribute__((always_inline))

/* The plug-in looks for calls of this function before they are inlined. */
extern "C" KPROBE_MARK_FUNCTION inline void __kprobe_mark(const char *, int) {}

#define KPROBE_MARK(Name) __kprobe_mark("" Name, KPROBE_MARK_PLACE)
#define KPROBE_RANGE_OF_TYPE(Type, Name)                                       \
  struct Type {                                                                \
    KPROBE_MARK_FUNCTION Type() { __kprobe_mark("" Name, KPROBE_MARK_BEGIN); } \
    KPROBE_MARK_FUNCTION ~Type() { __kprobe_mark("" Name, KPROBE_MARK_END); }  \
  } Type##_here
#define KPROBE_RANGE_AT_LINE(Line, Name)                                       \
  KPROBE_RANGE_OF_TYPE(__kprobe_range_##Line, Name)
#define KPROBE_RANGE_AT(Line, Name) KPROBE_RANGE_AT_LINE(Line, Name)
#define KPROBE_RANGE(Name) KPROBE_RANGE_AT(__LINE__, Name)
#else
#define KPROBE_MARK(Name) ((void)0)
#define KPROBE_RANGE(Name) ((void)0)
#endif

#endif
