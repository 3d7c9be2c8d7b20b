"""make_kernel_trace.py DESCRIPTION OUTPUT: a trace of CTF 1.8 with the names of
lttng-modules' events and fields, since LTTng itself cannot be loaded into every
kernel. A line of the description is `NS CPU EVENT FIELD=VALUE …`; `boot=01,02,…` on a
line of its own gives the clock's identity."""
import pathlib
import struct
import sys
import uuid

TEXT, S32, S64, U32 = "text", "integer { size = 32; align = 8; signed = true; }", \
    "integer { size = 64; align = 8; signed = true; }", "integer { size = 32; align = 8; signed = false; }"
WAKING = [("comm", TEXT), ("tid", S32), ("prio", S32), ("target_cpu", S32)]
EVENTS = {
    "sched_switch": [("prev_comm", TEXT), ("prev_tid", S32), ("prev_prio", S32),
                     ("prev_state", S64), ("next_comm", TEXT), ("next_tid", S32),
                     ("next_prio", S32)],
    "sched_waking": WAKING,
    "sched_wakeup": WAKING,
    "sched_wakeup_new": WAKING,
    "sched_process_fork": [("parent_comm", TEXT), ("parent_tid", S32), ("parent_pid", S32),
                           ("child_comm", TEXT), ("child_tid", S32), ("child_pid", S32)],
    "irq_handler_entry": [("irq", S32), ("name", TEXT)],
    "irq_handler_exit": [("irq", S32), ("ret", S32)],
    "irq_softirq_entry": [("vec", U32)],
    "irq_softirq_exit": [("vec", U32)],
    "timer_hrtimer_expire_entry": [("hrtimer", S64), ("now", S64), ("function", S64)],
    "timer_hrtimer_expire_exit": [("hrtimer", S64)],
    "syscall_entry_futex": [("op", S32)],
    "syscall_exit_futex": [("ret", S64)],
    "syscall_entry_clock_nanosleep": [("which_clock", S32), ("flags", S32)],
    "syscall_exit_clock_nanosleep": [("ret", S64)],
    "syscall_entry_read": [("fd", U32), ("count", S64)],
    "syscall_exit_read": [("ret", S64)],
}
NUMBERS = {name: number for number, name in enumerate(EVENTS)}
IDENTITY = uuid.UUID("8d0dbb5c-0c11-4c3c-9b5e-000000000001")

boot, streams = None, {}
for line in pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
    line = line.split("#")[0].strip()
    if line.startswith("boot="):
        boot = uuid.UUID(bytes=bytes(int(b, 16) for b in line[5:].split(",")).ljust(16, b"\0"))
    elif line:
        ns, cpu, name, *fields = line.split()
        values = dict(field.split("=", 1) for field in fields)
        record = struct.pack("<HQ", NUMBERS[name], int(ns))
        for field, kind in EVENTS[name]:
            value = values.pop(field, "" if kind == TEXT else "0")
            record += value.encode() + b"\0" if kind == TEXT else \
                int(value).to_bytes(8 if kind == S64 else 4, "little", signed=kind != U32)
        assert not values, line
        streams.setdefault(int(cpu), []).append((int(ns), record))

output = pathlib.Path(sys.argv[2])
output.mkdir(parents=True)
for cpu, records in streams.items():
    body = b"".join(record for _, record in records)
    size = 8 * (4 + 16 + 4 + 8 * 4 + 8 + 4 + len(body))
    head = struct.pack("<I16sIQQQQQI", 0xC1FC1FC1, IDENTITY.bytes, 0, records[0][0],
                       records[-1][0], size, size, 0, cpu)
    (output / f"channel0_{cpu}").write_bytes(head + body)

text = f"""/* CTF 1.8 */
typealias integer {{ size = 64; align = 8; signed = false; map = clock.monotonic.value; }} := time_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := u64;
typealias {U32} := u32;
typealias integer {{ size = 16; align = 8; signed = false; }} := u16;
typealias integer {{ size = 8; align = 8; signed = false; }} := u8;
trace {{
  major = 1; minor = 8; byte_order = le; uuid = "{IDENTITY}";
  packet.header := struct {{ u32 magic; u8 uuid[16]; u32 stream_id; }};
}};
env {{ domain = "kernel"; tracer_name = "lttng-modules"; tracer_major = 2; tracer_minor = 13; }};
clock {{
  name = "monotonic"; {f'uuid = "{boot}";' if boot else ''} freq = 1000000000; offset = 1700000000000000000;
}};
stream {{
  id = 0;
  packet.context := struct {{
    time_t timestamp_begin; time_t timestamp_end; u64 content_size; u64 packet_size;
    u64 events_discarded; u32 cpu_id;
  }};
  event.header := struct {{ u16 id; time_t timestamp; }};
}};
"""
for name, fields in EVENTS.items():
    members = " ".join((f"string _{f};" if kind == TEXT else f"{kind} _{f};") for f, kind in fields)
    text += f'event {{ name = "{name}"; id = {NUMBERS[name]}; stream_id = 0; fields := struct {{ {members} }}; }};\n'
(output / "metadata").write_text(text, encoding="utf-8")
