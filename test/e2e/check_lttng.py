#!/usr/bin/env python3
"""check_lttng.py PLUGIN_PATH FOLDER PROGRAM: records PROGRAM with kprobe-run
--lttng while a session of LTTng-UST runs, merges dump and LTTng's trace with
babeltrace2, and holds each recorded event of one against that of the other."""
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

LINE = re.compile(r"\[(\d+)\.(\d{9})\] (?:\(.*?\) )?(?:\S+ )?kprobe:(\w+): (.*)$")
NAMES = {"call_begin", "call_end", "dispatch", "allocate", "free", "copy", "copy_done",
         "queue_create", "queue_destroy", "barrier", "code_load", "code_unload"}
# The two tools measure the distance of the clocks each for itself.
OFFSET_SLACK_NS = 5000


def call(*command):
    run = subprocess.run([str(part) for part in command], check=False, capture_output=True, text=True)
    assert run.returncode == 0, (command, run.stdout, run.stderr)
    return run


class Daemon:
    """The session daemon of this user: the one that runs, else one of our own."""

    def __enter__(self):
        self.own = None
        if not self.answers():
            self.own = subprocess.Popen(["lttng-sessiond", "--no-kernel"], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
            for _ in range(100):
                if self.answers():
                    break
                time.sleep(0.05)
            assert self.answers(), "lttng-sessiond does not answer"
        return self

    @staticmethod
    def answers():
        return subprocess.run(["lttng", "--no-sessiond", "list"], check=False,
                              capture_output=True).returncode == 0

    def __exit__(self, *_):
        if self.own:
            self.own.terminate()
            self.own.wait()


def record(folder, program):
    session = f"kprobe-test-{os.getpid()}"
    with Daemon():
        call("lttng", "create", session, f"--output={folder / 'lttng'}")
        try:
            call("lttng", "enable-event", "-s", session, "-u", "kprobe:*")
            call("lttng", "add-context", "-s", session, "-u", "-t", "vtid")
            call("lttng", "start", session)
            call("kprobe-run", "--vgpu", "--lttng", "-o", folder / "out.kpd", "--", program)
            call("lttng", "stop", session)
        finally:
            call("lttng", "destroy", session)


def integer(text, member):
    found = re.search(rf"\b{member} = (-?\w+)", text)
    return int(found.group(1), 0) if found else None


def main():
    plugin, folder, program = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    record(folder, program)
    merged = call("babeltrace2", f"--plugin-path={plugin}", "--clock-seconds", "--no-delta",
                  folder / "out.kpd", folder / "lttng")
    assert not merged.stderr, merged.stderr
    dump, other, last = {}, {}, 0
    for line in merged.stdout.splitlines():
        match = LINE.match(line)
        assert match, line
        now = int(match[1]) * 10**9 + int(match[2])
        assert now >= last, f"time runs back: {line}"
        last = now
        name, text = match[3], match[4]
        if name not in NAMES:
            continue
        is_lttng = "ns = " in text
        thread = integer(text, "vtid") if is_lttng else integer(text, "thread")
        if name == "dispatch" and not integer(text, "call"):
            continue
        ns = integer(text, "ns") if is_lttng else None
        function = re.search(r'\bfunction = "(\w+)"', text)
        key = name, integer(text, "call"), function and function[1]
        (other if is_lttng else dump).setdefault(thread, []).append((key, now, ns))
    assert dump and set(dump) == set(other), (set(dump), set(other))
    late, offsets = [], set()
    for thread, events in dump.items():
        # A dispatch has its own time in the dump, taken a little earlier.
        ours = [event for event in events if event[0][0] != "dispatch"]
        theirs = [event for event in other[thread] if event[0][0] != "dispatch"]
        # What was called after tracing had ended is LTTng's alone.
        ends = [key for key, _, _ in theirs[len(ours):]]
        theirs = theirs[:len(ours)]
        assert [key for key, _, _ in ours] == [key for key, _, _ in theirs], f"thread {thread}"
        assert len(ends) < 20 and all(name.startswith("call") for name, _, _ in ends), ends
        assert {key for key, _, _ in events} <= {key for key, _, _ in other[thread]}
        for (_, now, _), (_, then, ns) in zip(ours, theirs):
            offsets.add(now - ns)
            late.append(then - now)
    assert len(offsets) == 1, f"time stamps differ: {sorted(offsets)[:5]}"
    assert min(late) >= -OFFSET_SLACK_NS, f"LTTng's event is {-min(late)} ns earlier"
    assert statistics.median(late) < 100000, f"{statistics.median(late)} ns apart"
    print(f"{len(late)} events on {len(dump)} threads, LTTng's later by "
          f"{min(late)} to {max(late)} ns, median {statistics.median(late)}")


if __name__ == "__main__":
    main()
