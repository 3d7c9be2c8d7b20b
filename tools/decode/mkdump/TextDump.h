// A dump from a readable description, for fixtures that a person can review.
//
// One statement a line: a word, flags, and name=value pairs (values with spaces
// in double quotes; \n \0 \" \\ inside). Unnamed fields get sensible defaults,
// so that a line says only what its test is about. `#` begins a comment.
//
//   process pid=42 realtime=… monotonic=… exe=/bin/a cmd="a\0b" version=…
//   agent id=0 target=gfx906 name=… tickhz=… cyclehz=… cus=60 virtual
//   table name=T                     the lines below belong to it
//     kernel name=_Z1kv
//     function name=… file=… line=…   optional: a kernel begins with its own
//     site block=entry file=a.cpp line=3 depth=0 edges=1,2 entry loop
//          frames=caller@b.h:7:1,… returns calls implied anchor=SITE
//   end
//   clock agent=0 mono=… ticks=… system=… systemhz=…
//   dispatch id=1 table=T kernel=0 grid=64,1,1 group=64,1,1 ring=64 waves=1
//            slots=1 status=0 submit=… begin=… end=…
//   waves dispatch=1                 more=N: claims N waves that do not follow
//     wave index=0 group=0,0,0 begin=CYCLES,TICKS end=CYCLES,TICKS hw=RAW,RAW
//          cursor=…  ring=… begun unused      (cursor: events x 8 by default)
//     event site=0 clock=100 lanes=64 kind=1
//     events count=1000 site=0 clock=100 step=10 lanes=64
//     empty                          a place that holds no event
//     raw clock=… tag=…
//   end
//   api domain=2 name=hip
//     function name=f in=ptr:POINTER,size:U64 out=*ptr:POINTER result=I32
//          enum=success,failure
//   end
//   machine boot=1,2,…,16 host=box system=Linux
//   counter id=1 name=power unit=W
//   module begin=… end=… bias=… ns=… path=/bin/a id=HEX
//   thread id=1 tid=77 name=main     processor: tid is its number
//   host thread=1 lost=0
//     begin function=f call=1 parent=0 ns=… values=0x10,64   bytes=N: a lie
//     finish function=f call=1 ns=… result=0 values=0x20     beyond=N: another
//     submit call=1 dispatch=1 ns=…
//     allocate | free call=1 ns=… address=… size=… agent=0
//     copy call=1 ns=… id=1 target=… source=… size=… to=0 from=0
//     copied ns=… id=1 begin=… end=… agent=0 failed=0
//     in | out ns=… tid=77 pid=42 preempted       of a processor's stream
//     wakeup ns=… tid=… pid=… woken=… processor=…
//     syscall | sysret ns=… tid=… pid=… number=… result=…
//     irq | irqend ns=… tid=… pid=… number=… soft
//     sample ns=… counter=1 agent=0 value=5
//     pycode id=1 name=f file=a.py line=1 table=HEX
//     ran | waited | launched ns=… weight=… unit=0 flags=… preempted
//          native=0x10,0x20 python=CODE:OFFSET:ENTRY,…   claim=N: a lie
//     unknown                        an event of a kind nobody knows
//   end
//   summary seen=1 traced=1 dropped=0 pending=0
//   message "text"
//   chunk kind=99 text="…"
//   header magic=… byteorder=… major=… minor=… bytes=… features=…
//   damage checksum | sequence      of the next chunk
//   cut bytes=N                     drops the last N bytes written so far
//   flip offset=N with=0xff
#ifndef KPROBE_MKDUMP_TEXTDUMP_H
#define KPROBE_MKDUMP_TEXTDUMP_H

#include <cstdint>
#include <string>
#include <vector>

namespace kprobe {

/// False, with "line N: …" in \p Fault, when \p Text cannot be understood.
bool makeDump(const std::string &Text, std::vector<uint8_t> &Out,
              std::string &Fault);

} // namespace kprobe

#endif
