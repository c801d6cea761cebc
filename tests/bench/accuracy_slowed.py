#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints whether profiles show that a function has become slower by a known amount, by wallsample
and by `perf record -e cpu-clock` in the same seconds: the accuracy test of Burchell and Marr
(OOPSLA 2025, doi 10.1145/3763180) for sqlite_orders.c, a program with SQLite and zlib. slow_calls.c
slows compress2() or sqlite3_step(), and counts its CPU time by the clock of the thread. Needs perf
and the right to use it."""
import argparse
import contextlib
import os
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

from accuracy_sides import function_at, perf_stacks, record

SHARES = "whole", "added"

# Stacks of running threads, innermost frame first, and their CPU time.
STACKS = """
WITH RECURSIVE walk(top, stack, depth, ns) AS (
    SELECT stack, stack, 0, sum(overhead_ns) FROM spans WHERE state = 'R' GROUP BY stack
    UNION ALL
    SELECT w.top, k.caller, w.depth + 1, w.ns FROM walk w JOIN stacks k ON k.id = w.stack
    WHERE k.caller IS NOT NULL)
SELECT w.top, w.ns, m.path, f.address FROM walk w JOIN stacks k ON k.id = w.stack
JOIN frames f ON f.id = k.frame LEFT JOIN modules m ON m.id = f.module ORDER BY w.top, w.depth"""


def wallsample_stacks(path):
    """(functions of a stack, CPU time) of each stack."""
    stacks, weights = {}, {}
    with contextlib.closing(sqlite3.connect(path)) as recording:
        for top, ns, module, address in recording.execute(STACKS):
            stacks.setdefault(top, []).append(function_at(module, address or 0))
            weights[top] = ns
    return [(functions, weights[top]) for top, functions in stacks.items()]


def shares(stacks, function):
    """The share of stacks with the function, and that of its added time, in percent."""
    library = " slow_calls.so"
    total = sum(weight for _, weight in stacks) or 1
    whole = sum(weight for found, weight in stacks if function + library in found)
    added = sum(weight for found, weight in stacks if found[0] == "slow_burn" + library)
    return 100 * whole / total, 100 * added / total


def clock_of(pid):
    """The clock of the process's CPU time: a clock id as clock_getcpuclockid(3) makes it."""
    return time.clock_gettime((~pid << 3) | 2)


def read_sums(path):
    with open(path, "rb") as file:
        return [ns / 1e9 for ns in struct.unpack("=QQ", file.read(16))]


def measure(options, function, percent, folder):
    path = folder + "/sums"
    with open(path, "wb") as file:
        file.write(bytes(16))
    environment = {**os.environ, "LD_PRELOAD": options.library, "SLOW_FUNCTION": function,
                   "SLOW_PERCENT": str(percent), "SLOW_FILE": path}
    with subprocess.Popen([options.target], env=environment, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as program:
        program.stdout.readline()
        time.sleep(0.5)
        before = [clock_of(program.pid), *read_sums(path)]
        recording, data = record(options, program.pid, folder,
                                 ("-F", "499", "--call-graph", "dwarf,8192"))
        after = [clock_of(program.pid), *read_sums(path)]
        program.kill()
    cpu, own, whole = (last - first for first, last in zip(before, after))
    perf = [([function_at(*frame[:2]) for frame in frames], 1)
            for frames in perf_stacks(data) if frames]
    truth = 100 * whole / cpu, 100 * (whole - own) / cpu
    found = shares(wallsample_stacks(recording), function), shares(perf, function)
    for i, share in enumerate(SHARES):
        print(f"{function:<14}{100 * (whole / own - 1):7.1f} %  {share:<6}{truth[i]:9.1f}" +
              "".join(f"{side[i]:11.1f}{side[i] - truth[i]:7.1f}" for side in found), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wallsample", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rate", type=int, default=400)
    parser.add_argument("--percent", default="0,25,100")
    options = parser.parse_known_args()[0]
    if shutil.which("perf") is None:
        print("left out: perf is not installed")
        return 0
    print(f"\n{'function':<14}{'slower by':>9}  {'share':<6}{'expected':>9}{'wallsample':>11}"
          f"{'error':>7}{'perf':>11}{'error':>7}")
    for function in "compress2", "sqlite3_step":
        for percent in options.percent.split(","):
            with tempfile.TemporaryDirectory() as folder:
                measure(options, function, int(percent), folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
