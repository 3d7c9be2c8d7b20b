"""at_most.py LIMIT: fails when the number on standard input is above LIMIT."""
import sys

number, limit = int(sys.stdin.read()), int(sys.argv[1])
print(f"{number}, at most {limit}")
sys.exit(number > limit)
