"""Known shares of processor time, a sleep, a lock that another thread holds and
a child that is waited for. Prints what it measured of itself."""
import os
import threading
import time


def work(rounds):
    total = 0
    for number in range(rounds):
        total += number * number
    return total


def half():
    work(1500000)


def quarter():
    work(750000)


def small():
    work(150000)


def sleeper():
    time.sleep(0.08)  # LINE sleep


def holder(lock, ready):
    with lock:
        ready.set()
        time.sleep(0.12)  # LINE hold


def waiter():
    lock, ready = threading.Lock(), threading.Event()
    thread = threading.Thread(target=holder, args=(lock, ready))
    thread.start()
    ready.wait()
    with lock:  # LINE lock
        pass
    thread.join()


def parent():
    child = os.fork()
    if child == 0:
        time.sleep(0.1)
        os._exit(0)
    os.waitpid(child, 0)  # LINE child


def through_c(numbers):
    return sorted(numbers, key=lambda number: work(number))


def generator():
    for _ in range(20):
        yield work(20000)


def timed(function, *arguments):
    begin = time.thread_time()
    function(*arguments)
    print(function.__name__, time.thread_time() - begin)


for function in half, quarter, small, sleeper, waiter, parent:
    timed(function)
timed(through_c, [20000] * 20)
timed(lambda: sum(generator()))
