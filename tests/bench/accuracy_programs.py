#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints shares of CPU time of the functions of servers under load (accuracy_servers.py), as
wallsample shows them and in truth, in the same seconds, on the machine as it is and beside 20
busy processes: the ten largest above 0.3 %, their difference in points, and its margin (95 %).

The truth is `perf record -e cpu-clock`, which needs perf and the right to use it, or, with
--library, the thread's own clock at some calls (call_clock.c). perf makes a program that switches
often spend more time in the calls in which it sleeps; the clock makes calls longer by a third of a
microsecond. A program that is not installed is left out."""
import argparse
import contextlib
import os
import shutil
import struct
import sys
import tempfile

from accuracy_servers import PROGRAMS, is_installed, start
from accuracy_sides import (Side, busy_processes, perf_side, record, record_alone, wallsample_side)

GOAL = 3.0   # points
LEAST = 0.3  # percent; smaller shares are not printed
# The calls of call_clock.c, in their order.
CALLS = ("read", "write", "writev", "recv", "send", "poll", "epoll_wait", "pread64", "pwrite64",
         "fdatasync")
NO_CLOCK = ("Go HTTP server",)   # makes system calls without the C library


def cpu_of(pid):
    """Nanoseconds that the threads of the process have used."""
    total = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{tid}/schedstat") as file:
            total += int(file.read().split()[0])
    return total


def clock_of(pid, folder):
    """The CPU time of the process, and of each of the CALLS, in ns."""
    with open(f"{folder}/clocks/{pid}", "rb") as file:
        rows = list(struct.iter_unpack("=QQ", file.read()))
    cost = rows.pop()[0]
    return [cpu_of(pid), *(ns - calls * cost for ns, calls in rows)]


def call_name(function):
    """The function's name in CALLS, or '' if it is not in the C library. `function`: name and
    module, as function_at returns them."""
    name, _, module = function.rpartition(" ")
    name = name.removeprefix("__").removeprefix("libc_")
    return {"pread": "pread64", "pwrite": "pwrite64"}.get(name, name) if "libc.so" in module else ""


def clock_sides(before, after, own):
    """wallsample's side and the clock's: the time of the CALLS, and of the rest as "other"."""
    found, truth = Side({}, own.samples, own.exact), Side({}, 10 ** 9)
    for function, ns in own.time.items():
        call = call_name(function)
        found.time[call if call in CALLS else "other"] += ns
    for call, first, last in zip(CALLS, before[1:], after[1:]):
        truth.time[call] = last - first
    truth.time["other"] = after[0] - before[0] - sum(truth.time.values())
    return found, truth


def print_sides(own, truth):
    worst = beyond = 0
    print(f"{'function':<52}{'wallsample':>11}{'truth':>7}{'points':>8}{'±':>6}")
    for function, _ in truth.time.most_common(10):
        if truth.share(function) < LEAST:
            continue
        difference = own.share(function) - truth.share(function)
        margin = (own.margin(function) ** 2 + truth.margin(function) ** 2) ** 0.5
        worst = max(worst, abs(difference))
        beyond += abs(difference) > GOAL + margin
        print(f"{function[:51]:<52}{own.share(function):11.1f}{truth.share(function):7.1f}"
              f"{difference:8.1f}{margin:6.1f}")
    print(f"largest difference {worst:.1f} points; {beyond} beyond {GOAL:.0f} points and margin; "
          f"{own.samples:.0f} samples, {own.exact:.0f} % of them exact", flush=True)


def measure_beside_perf(options, name, folder):
    with start(name, folder) as pid, busy_processes(options.others):
        recording, data = record(options, pid, folder)
    return wallsample_side(recording), perf_side(data)


def measure_beside_clock(options, name, folder):
    os.makedirs(folder + "/clocks", exist_ok=True)
    os.chmod(folder + "/clocks", 0o777)
    environment = {**os.environ, "LD_PRELOAD": options.library, "CALL_CLOCK": folder + "/clocks"}
    with start(name, folder, env=environment) as pid, busy_processes(options.others):
        before = clock_of(pid, folder)
        recording = record_alone(options, pid, folder)
        after = clock_of(pid, folder)
    return clock_sides(before, after, wallsample_side(recording))


def measure(options, name, folder):
    uses_clock = options.library and name not in NO_CLOCK
    if not uses_clock and shutil.which("perf") is None:
        print(f"\n{name}: left out, perf is not installed")
        return
    sides = (measure_beside_clock if uses_clock else measure_beside_perf)(options, name, folder)
    print(f"\n{name}; {options.others} busy processes; truth: "
          f"{'its own clock' if uses_clock else 'perf'}")
    print_sides(*sides)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wallsample", required=True)
    parser.add_argument("--library", help="path of call_clock.so: the program's clock is the truth")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rate", type=int, default=400)
    parser.add_argument("--only", default="", help="run only programs whose names contain this")
    parser.add_argument("--busy", default="0,20", help="numbers of busy processes")
    parser.add_argument("--word", dest="words", action="append", default=[],
                        help="another word for wallsample record: --word=--realtime")
    options = parser.parse_known_args()[0]
    for name in PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            for busy in options.busy.split(",") if options.only in name else ():
                options.others = int(busy)
                if is_installed(name):
                    measure(options, name, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
