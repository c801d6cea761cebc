#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the sums of recordings with the kernel's accounting: the time of each process and of
each of its threads on a CPU and waiting for a CPU, for the servers of accuracy_servers.py, on the
machine as it is and beside 20 busy processes. The truth is /proc/PID/task/TID/schedstat, which is
read every 5 ms while wallsample runs; its values when the recording begins and ends are
interpolated."""
import argparse
import bisect
import contextlib
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

from accuracy_servers import PROGRAMS, is_installed, start
from accuracy_sides import busy_processes

INTERVAL = 0.005
TICK = 0.004      # largest lag of the counter of a running thread: one scheduler tick

SPANS = """SELECT t.tid, sum(s.overhead_ns), sum(CASE WHEN s.state = 'Q' THEN s.wall_ns ELSE 0 END)
FROM spans s JOIN threads t ON t.id = iif(s.carrier < 0, s.thread, s.carrier) GROUP BY t.tid"""
UNSAMPLED = """SELECT coalesce(sum(cpu_s), 0) FROM samples
WHERE function = '[CPU time without a sample]'"""
SPAN = "SELECT min(start_ns), max(start_ns + span_ns) FROM ticks"
CLOCK = "SELECT value FROM meta WHERE key = 'clock_ns'"
STOLEN = "SELECT coalesce(max(value), 0) FROM cost WHERE name = 'stolen_ns'"
STAT_UNIT = 1 / os.sysconf("SC_CLK_TCK")   # seconds in a unit of /proc/stat
NOTE = """Seconds on a CPU, then waiting for one: found, true, error, number of threads that are
beyond 1 % and a tick at each edge, largest error of a thread. Found waits include the column
"stolen": time that wallsample attributes to the hypervisor. The error excludes it; it should not
exceed "steal", from /proc/stat. Found waits also include the time of wallsample's own stops, some
15 us each. Last: CPU time without a sample."""


class Counters(threading.Thread):
    """Reads the counters of all threads of a process until stop() is called. A thread's values:
    (moment, seconds on a CPU, seconds waiting for one)."""

    def __init__(self, pid):
        super().__init__()
        self.folder, self.over, self.values, self.files = f"/proc/{pid}/task", False, {}, {}
        self.start()

    def read(self, tid):
        with contextlib.suppress(OSError, ValueError, IndexError):
            if tid not in self.files:
                self.files[tid] = os.open(f"{self.folder}/{tid}/schedstat", os.O_RDONLY)
            cpu, delay, _ = os.pread(self.files[tid], 100, 0).split()
            moment = time.monotonic()
            self.values.setdefault(tid, []).append((moment, int(cpu) / 1e9, int(delay) / 1e9))

    def run(self):
        with contextlib.suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -20)
        while not self.over:
            for tid in os.listdir(self.folder):
                self.read(int(tid))
            time.sleep(INTERVAL)

    def stop(self):
        self.over = True
        self.join()
        for file in self.files.values():
            os.close(file)

    def between(self, tid, begin, end, what):
        return at(self.values[tid], end, what) - at(self.values[tid], begin, what)


def at(values, moment, what):
    """The counter at this moment."""
    i = bisect.bisect(values, (moment,))
    if i in (0, len(values)):
        return values[min(i, len(values) - 1)][what]
    (t, *before), (u, *after) = values[i - 1], values[i]
    return before[what - 1] + (after[what - 1] - before[what - 1]) * (moment - t) / (u - t)


def machine_steal():
    """Seconds for which a hypervisor has used the CPUs of this machine."""
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[8]) * STAT_UNIT


def read_recording(path):
    """({tid: (CPU seconds, seconds waiting for a CPU)}, begin, end, CPU seconds without a sample,
    stolen seconds)."""
    with contextlib.closing(sqlite3.connect(path)) as recording:
        found = {tid: (cpu / 1e9, delay / 1e9) for tid, cpu, delay in recording.execute(SPANS)}
        clock = int(recording.execute(CLOCK).fetchone()[0])
        begin, end = (clock + ns for ns in recording.execute(SPAN).fetchone())
        unsampled, stolen = (recording.execute(sql).fetchone()[0] for sql in (UNSAMPLED, STOLEN))
        return found, begin / 1e9, end / 1e9, unsampled, stolen / 1e9


def compare(found, counters, begin, end, what, stolen=0):
    """(seconds found, seconds in truth, error in percent, number of threads of which the two differ
    by more than 1 % and a tick at each edge, the largest difference of a thread in seconds).
    `stolen`: part of the seconds found that no counter contains; threads have it in proportion to
    their CPU time."""
    truth = {tid: counters.between(tid, begin, end, what) for tid in counters.values}
    errors = {tid: found.get(tid, (0, 0))[what - 1] - true for tid, true in truth.items()}
    cpu = {tid: counters.between(tid, begin, end, 1) for tid in truth}
    part = stolen / (sum(cpu.values()) or 1)
    beyond = sum(abs(error - part * cpu[tid]) > 0.01 * truth[tid] + 2 * TICK
                 for tid, error in errors.items())
    own, true = sum(one[what - 1] for one in found.values()), sum(truth.values())
    worst = max(errors.values(), key=abs, default=0)
    return own, true, 100 * (own - stolen - true) / (true or 1), beyond, worst


def measure(options, name, busy, folder):
    recording = folder + "/recording.wsdb"
    with start(name, folder) as pid, busy_processes(busy):
        counters, steal = Counters(pid), machine_steal()
        subprocess.run([options.wallsample, "record", "-p", str(pid), "-d", str(options.seconds),
                        "-r", str(options.rate), "-o", recording], stderr=subprocess.DEVNULL,
                       check=False)
        counters.stop()
        steal = machine_steal() - steal
    if not os.path.exists(recording):
        print(f"{name}: no recording")
        return
    found, begin, end, unsampled, stolen = read_recording(recording)
    cells = ["%8.3f%8.3f%7.1f%% %3d%9.3f" % compare(found, counters, begin, end, *what)
             for what in ((1,), (2, stolen))]
    print(f"{name:<26}{busy:5d}{len(found):5d} {cells[0]} {cells[1]}{stolen:8.3f}{steal:7.3f}"
          f"{unsampled:9.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wallsample", required=True)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rate", type=int, default=100)
    parser.add_argument("--only", default="", help="run only programs whose names contain this")
    parser.add_argument("--busy", default="0,20", help="numbers of busy processes")
    options = parser.parse_known_args()[0]
    heads = [f"{what:>8}{'true':>8}{'error':>8}{'n':>4}{'worst':>9}" for what in ("CPU", "wait")]
    print(NOTE)
    print(f"{'program':<26} busy thr {heads[0]} {heads[1]}{'stolen':>8}{'steal':>7}{'unseen':>9}")
    for name in PROGRAMS:
        wanted = options.only in name and is_installed(name)
        for busy in options.busy.split(",") if wanted else ():
            with tempfile.TemporaryDirectory() as folder:
                measure(options, name, int(busy), folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
