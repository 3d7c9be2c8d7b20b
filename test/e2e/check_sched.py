#!/usr/bin/env python3
"""check_sched.py PROGRAM FOLDER: runs PROGRAM (Inputs/sched.hip) with kprobe-run
--sched and holds the trace against what it says of itself: as things are here,
where tracepoints may be missing, and where one may mount tracefs, with it."""
import pathlib
import re
import subprocess
import sys

LINE = re.compile(r"\[(\d+)\] (?:\(.*?\) )?(?:\S+ )?kprobe:(\w+): \{ (.*) \}$")
WITHOUT = re.compile(r"of Linux's events only when threads run and wait is recorded: .+")
NONE = re.compile(r"Linux's events are not recorded: .+")


def record(program, folder, name, before=""):
    dump = folder / f"{name}.kpd"
    script = f"{before} exec kprobe-run --vgpu --sched -o {dump} -- {program}"
    prefix = ["unshare", "--mount"] if before else []
    run = subprocess.run([*prefix, "sh", "-c", script], check=False, capture_output=True, text=True)
    if run.returncode:
        return None, None, run.stderr
    said = [tuple(map(int, line.split())) for line in run.stdout.splitlines()]
    trace = folder / name
    subprocess.run(["kprobe-decode", "convert", "--to", "ctf", "-o", trace, dump], check=True)
    text = subprocess.run(["babeltrace2", "--clock-cycles", "--no-delta", trace], check=True,
                          capture_output=True, text=True).stdout
    events = []
    for line in text.splitlines():
        match = LINE.match(line)
        assert match, line
        fields = dict(item.split(" = ", 1) for item in match[3].split(", "))
        events.append((int(match[1]), match[2], fields))
    times = [event[0] for event in events]
    assert times == sorted(times)
    # A program without a dispatch is told so; that is not the matter here.
    return said, events, "".join(line for line in run.stderr.splitlines(keepends=True)
                                 if "dispatches seen" not in line)


def of_thread(events, name, thread, begin, end):
    return [(time, fields) for time, what, fields in events
            if what == name and int(fields["thread"]) == thread and begin <= time <= end]


def check_switches(said, events):
    (main, main_asleep, main_awake), (worker, asleep, notify, awake) = said
    # The sleep of 20 ms: off the processor by its own will, and back.
    out = of_thread(events, "thread_out", main, main_asleep, main_awake)
    back = of_thread(events, "thread_in", main, main_asleep, main_awake)
    assert any(fields["preempted"] == "0" for _, fields in out), out
    longest = max(there - gone for gone, _ in out for there, _ in back if there > gone)
    assert longest > 15_000_000, f"main was away for {longest} ns only"
    gone = of_thread(events, "thread_out", worker, asleep, notify)
    there = of_thread(events, "thread_in", worker, notify, awake)
    assert gone and gone[-1][1]["preempted"] == "0", gone
    assert there, "the worker was never seen to come back"
    assert not of_thread(events, "thread_in", worker, gone[-1][0], notify), "back before it was woken"
    # In and out alternate for a thread.
    state = {}
    for _, name, fields in events:
        if name in ("thread_in", "thread_out"):
            assert state.get(fields["thread"]) != name, f"twice {name}: {fields}"
            state[fields["thread"]] = name


def check_tracepoints(said, events):
    (main, main_asleep, main_awake), (worker, asleep, notify, awake) = said
    woken = [(time, fields) for time, fields in of_thread(events, "wakeup", main, notify, awake)
             if int(fields["woken"]) == worker]
    assert len(woken) == 1, f"main wakes the worker once: {woken}"
    there = of_thread(events, "thread_in", worker, notify, awake)
    assert woken[0][0] <= there[0][0], "it runs before it is woken"
    begin = of_thread(events, "syscall_begin", main, main_asleep, main_awake)
    end = of_thread(events, "syscall_end", main, main_asleep, main_awake)
    slept = [fields for _, fields in begin if "nanosleep" in fields["name"]]
    assert len(slept) == 1 and len(begin) == len(end) == 1, (begin, end)
    assert end[0][1]["result"] == "0" and end[0][0] - begin[0][0] > 15_000_000
    futex = of_thread(events, "syscall_begin", worker, asleep, notify)
    assert futex and "futex" in futex[-1][1]["name"], futex


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    said, events, errors = record(program, folder, "plain")
    assert said, errors
    if NONE.search(errors):
        assert not [event for event in events if event[1] == "thread_in"]
        print("perf_event_open is not permitted here:", errors.strip())
        return
    check_switches(said, events)
    if WITHOUT.search(errors):
        assert len(errors.splitlines()) == 1, errors
        assert not [event for event in events if event[1] == "syscall_begin"]
        said, events, errors = record(program, folder, "mounted",
                                      "mount -t tracefs nodev /sys/kernel/tracing || exit 99;")
        if said is None or errors:
            print("tracepoints are not permitted here:", errors.strip())
            return
        check_switches(said, events)
    check_tracepoints(said, events)
    print("switches and tracepoints")


if __name__ == "__main__":
    main()
