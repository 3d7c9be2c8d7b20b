"""Waits for everything that a program can wait for, one after another."""
import ctypes
import os
import sys
import threading
import time

library = ctypes.CDLL(sys.argv[1])


def compute(rounds):
    total = 0
    for number in range(rounds):
        total += number * number  # LINE compute
    return total


def sleeper():
    time.sleep(0.15)  # LINE sleep


def holder(lock, ready):
    with lock:
        ready.set()
        time.sleep(0.2)  # LINE hold


def waiter():
    lock, ready = threading.Lock(), threading.Event()
    thread = threading.Thread(target=holder, args=(lock, ready), name="holder")
    thread.start()
    ready.wait()
    with lock:  # LINE lock
        pass
    thread.join()


def parent():
    child = os.fork()
    if child == 0:
        time.sleep(0.25)
        os._exit(0)
    os.waitpid(child, 0)  # LINE child


def start_heavy():
    library.launchHeavy(20000)  # LINE heavy


def start_light():
    library.launchLight()  # LINE light


def wait_for_gpu():
    assert library.finish() == 0  # LINE finish


assert library.prepare() == 0
start_light()
wait_for_gpu()
start_heavy()
wait_for_gpu()
compute(2000000)
sleeper()
waiter()
parent()
