#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints which share of its CPU time a Python program has in the function work(), by its own clocks
and in the report of wallsample: 20 and 100 threads sleep for 20 ms and work for some 70 us in turn,
on the machine as it is and beside 8 busy processes. Besides, the CPU time of the report and of the
kernel, and the numbers of samples of running threads and of exact ones."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

from accuracy_sides import busy_processes

SLEEP = 0.02   # seconds
ROUNDS = 1500  # of the loop in work(), some 70 us
MEASURED = 10  # one call in so many is measured


def work():
    total = 0
    for i in range(ROUNDS):
        total += i
    return total


def take_turns(calls, cpu):
    """Calls work() again and again. `calls`: how often, and how many of these were measured; `cpu`:
    the CPU time of those, in ns."""
    while True:
        time.sleep(SLEEP)
        calls[0] += 1
        if calls[0] % MEASURED:
            work()
            continue
        before = time.thread_time_ns()
        work()
        cpu[0] += time.thread_time_ns() - before
        calls[1] += 1


def program(count):
    """Answers each line of input with its CPU time, its calls, those measured, and their time."""
    counters = [([0, 0], [0]) for _ in range(count)]
    for counter in counters:
        threading.Thread(target=take_turns, args=counter, daemon=True).start()
    for _ in sys.stdin:
        print(time.process_time_ns(), sum(calls[0] for calls, _ in counters),
              sum(calls[1] for calls, _ in counters), sum(cpu[0] for _, cpu in counters), flush=True)
    os._exit(0)


class Program:
    def __init__(self, count):
        self.child = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--program",
                                       str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      text=True)

    def ask(self):
        self.child.stdin.write("?\n")
        self.child.stdin.flush()
        return [int(word) for word in self.child.stdout.readline().split()]

    def end(self):
        self.child.stdin.close()
        self.child.wait()
        self.child.stdout.close()


def report(options, pid, words):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        done = subprocess.run([options.wallsample, "-q", "-p", str(pid), "-d", str(options.seconds),
                               "-r", str(options.rate), "-f", "json", "-o", path, *words],
                              capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1) or not os.path.exists(path):
            raise SystemExit(done.stderr.strip())
        with open(path) as file:
            return json.load(file)


def compare(options, count, busy, words):
    target = Program(count)
    time.sleep(1)
    for _ in range(options.runs):
        before = target.ask()
        found = report(options, target.child.pid, words)
        cpu, calls, measured, work_ns = (b - a for a, b in zip(before, target.ask()))
        total = found["total"]["cpu_ns"] or 1
        share = sum(row["cum"]["cpu_ns"] for row in found["functions"]
                    if row["name"] == "work") / total
        running = found["cost"]["running"]
        print("%7d %5d  %-11s %6.1f %7.1f %8.3f %7.3f %8d %6d" % (
            count, busy, " ".join(words), 100 * work_ns / measured * calls / cpu, 100 * share,
            total / 1e9, found["cost"]["target_cpu_ns"] / 1e9, running["samples"],
            running["exact"]), flush=True)
    target.end()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--program", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--wallsample")
    parser.add_argument("--seconds", type=float, default=10, help="of each run")
    parser.add_argument("--rate", type=float, default=100, help="ticks a second")
    parser.add_argument("--runs", type=int, default=3, help="of each case")
    return parser.parse_known_args()[0]


def main():
    options = parse_arguments()
    if options.program:
        program(options.program)
    print("%7s %5s  %-11s %6s %7s %8s %7s %8s %6s" % (
        "threads", "busy", "", "true %", "found %", "CPU [s]", "kernel", "running", "exact"))
    for busy in (0, 8):
        with busy_processes(busy):
            for words in ([], ["--realtime"])[:1 + (busy > 0)]:
                for count in (20, 100):
                    compare(options, count, busy, words)


if __name__ == "__main__":
    sys.exit(main())
