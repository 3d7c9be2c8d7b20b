"""Starts itself as a child that computes, waits for it, and prints the names of
both dumps."""
import os
import subprocess
import sys
import time


def busy():
    end = time.thread_time() + 0.1
    total = 0
    while time.thread_time() < end:
        total += sum(number * number for number in range(2000))
    return total


if len(sys.argv) > 1:
    busy()
else:
    child = subprocess.Popen([sys.executable, __file__, "child"])
    child.wait()
    print(f"{os.getpid()}.kpd {child.pid}.kpd")
