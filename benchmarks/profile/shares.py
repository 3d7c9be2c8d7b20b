"""As shares.cpp, in Python: python3 shares.py SECONDS [DEPTH [ROUNDS]]"""
import sys
import time


def work(rounds):
    total = 0
    for number in range(rounds):
        total += number
    return total


def f50(n): work(n * 50)
def f20(n): work(n * 20)
def f15(n): work(n * 15)
def f5a(n): work(n * 5)
def f5b(n): work(n * 5)
def f1a(n): work(n)
def f1b(n): work(n)
def f1c(n): work(n)
def f1d(n): work(n)
def f1e(n): work(n)


functions = (f50, f20, f15, f5a, f5b, f1a, f1b, f1c, f1d, f1e)
seconds = dict.fromkeys(functions, 0.0)


def turn(depth, rounds):
    if depth:
        turn(depth - 1, rounds)
        return
    for function in functions:
        begin = time.thread_time()
        function(rounds)
        seconds[function] += time.thread_time() - begin


wanted = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
depth = int(sys.argv[2]) if len(sys.argv) > 2 else 0
sys.setrecursionlimit(10000)
if len(sys.argv) > 3:
    rounds = int(sys.argv[3])
else:
    begin = time.thread_time()
    turn(0, 100)
    rounds = int(100 * (wanted / 100) / (time.thread_time() - begin)) + 1
seconds = dict.fromkeys(functions, 0.0)
for _ in range(100):
    turn(depth, rounds)
print("rounds", rounds)
for function in functions:
    print(f"{function.__name__} {seconds[function]:.6f}")
