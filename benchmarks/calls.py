"""What a call costs in C and in Python over the same call in C++, one picture at a time:

    PYTHONPATH=build/python /usr/bin/python3 benchmarks/calls.py MODEL build/call_bench

Medians of processor time, so that other work on the machine does not count. Exit code 1 if either costs 50 microseconds
or more.
"""

import statistics
import subprocess
import sys
import time

import numpy

import bntt

ROUNDS = 2000
MOST_US = 50.0


def python_us(path):
    bntt.set_threads(1)
    model = bntt.load(path)
    image = numpy.full((1, *model.input_shape), 128, numpy.uint8)
    times = []
    for _ in range(ROUNDS):
        start = time.process_time_ns()
        model.predict(image)
        times.append(1e-3 * (time.process_time_ns() - start))
    return statistics.median(times)


def main():
    path, program = sys.argv[1:]
    rounds = []
    for _ in range(3):
        cpp, c = map(float, subprocess.run([program, path], check=True, capture_output=True, text=True).stdout.split())
        rounds.append((c - cpp, python_us(path) - cpp, cpp))
    c, python, cpp = (statistics.median(column) for column in zip(*rounds))
    print(f"a prediction in C++ takes {cpp:.1f} us; C adds {c:.1f} us, Python {python:.1f} us")
    return 1 if max(c, python) >= MOST_US else 0


if __name__ == "__main__":
    sys.exit(main())
