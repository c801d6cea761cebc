#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""accounting.py TARGET - compares a recording of targets/accounted.c with the kernel's accounting.

Everything that the target's threads do happens while it is sampled, so that each thread's time on
a CPU and waiting for one has to be what schedstat has counted, however busy the machine is.
"""
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

SECONDS = 3
TICK_S = 0.004  # a scheduler tick: what the counter of a running thread may be behind
failures = []


def check(good, text):
    print(("  " if good else "FAIL ") + text)
    if not good:
        failures.append(text)


def wait_for_samples(process):
    """Returns when the run has begun: its first progress line."""
    while True:
        line = process.stderr.readline()
        if not line:
            sys.exit("wallsample has ended: " + str(process.wait()))
        if "sampling at nice" in line:
            return


def record(target, path):
    """Returns the threads' [name, cpu_s, delay_s] by tid."""
    command = [os.environ["WALLSAMPLE"], "record", "-vv", "-r", "200", "-p", str(target.pid), "-o",
               path]
    threads = {}
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          text=True) as sampler:
        wait_for_samples(sampler)
        while not has_ticks(path):
            time.sleep(0.05)
        target.stdin.write("go\n")
        target.stdin.flush()
        for line in target.stdout:
            if line == "done\n":
                break
            tid, name, cpu, delay = line.split()
            threads[int(tid)] = [name, int(cpu) / 1e9, int(delay) / 1e9]
        sampler.send_signal(signal.SIGINT)
        sampler.stderr.read()
        if sampler.wait() not in (0, 1):
            sys.exit(f"wallsample has exit status {sampler.returncode}")
    return threads


def has_ticks(path):
    """Whether the recording has samples. Only wallsample can read it while it is written."""
    info = subprocess.run([os.environ["WALLSAMPLE"], "info", path], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    return re.search(r" samples? in [1-9]", info) is not None


def query(path, sql):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        return database.execute(sql).fetchall()


def longest_stops(path):
    """The time in seconds that all stops together have taken at most (histogram.h)."""
    rows = query(path, "SELECT bucket, count FROM stops")
    return sum(count * ((bucket % 16 + 17) << (bucket // 16 - 1)) for bucket, count in rows
               if bucket >= 16) / 1e9


def stolen_time(path):
    """The time in seconds for which a hypervisor used CPUs of the threads."""
    return query(path, "SELECT coalesce(max(value), 0) FROM cost WHERE name = 'stolen_ns'")[0][0] / 1e9


def check_threads(threads, path):
    rows = query(path, "SELECT t.tid, sum(overhead_ns), "
                       "sum(CASE WHEN state = 'Q' THEN wall_ns ELSE 0 END), sum(wall_ns) "
                       "FROM spans p JOIN threads t ON t.id = p.thread GROUP BY t.tid")
    stopped = longest_stops(path) + stolen_time(path)
    found = {row[0]: [value / 1e9 for value in row[1:]] for row in rows}
    for tid, (name, cpu, delay) in sorted(threads.items()):
        got = found[tid]
        check(abs(got[0] - cpu) <= 0.01 * cpu + TICK_S,
              f"{name}: {got[0]:.3f} s on a CPU, in truth {cpu:.3f}")
        # Time in which the thread was stopped to be sampled, or a hypervisor had its CPU, is not the
        # kernel's wait for a CPU.
        check(-0.01 * (cpu + delay) - TICK_S <= got[1] - delay <=
              0.01 * (cpu + delay) + TICK_S + stopped,
              f"{name}: {got[1]:.3f} s waiting for a CPU, in truth {delay:.3f}")


def check_sums(threads, path):
    elapsed = query(path, "SELECT sum(span_ns) / 1e9 FROM ticks")[0][0]
    cpu, wall, latency, raw = query(
        path, "SELECT sum(overhead_ns) / 1e9, sum(wall_ns) / 1e9, sum(latency_ns) / 1e9, "
              "sum(raw_ns) / 1e9 FROM spans")[0]
    truth = sum(thread[1] for thread in threads.values())
    unsampled = query(path, "SELECT coalesce(sum(cpu_s), 0) FROM samples "
                            "WHERE function = '[CPU time without a sample]'")[0][0]
    check(abs(cpu - truth) <= 0.01 * truth + 2 * TICK_S,
          f"{cpu:.3f} s of CPU time, in truth {truth:.3f}")
    check(abs(wall - (len(threads) + 1) * elapsed) < 0.01 * wall,
          f"{wall:.3f} s of Wall, in truth {(len(threads) + 1) * elapsed:.3f}")
    check(abs(raw - wall) < 0.001 * wall, f"{raw:.3f} s of raw weights")
    check(abs(latency - elapsed) < 0.01 * elapsed,
          f"{latency:.3f} s of Latency, in truth {elapsed:.3f}")
    check(unsampled <= 0.05 * cpu, f"{unsampled:.3f} s of CPU time without a sample")


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bursts.wsdb")
        with subprocess.Popen([sys.argv[1], str(SECONDS)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as target:
            target.stdout.readline()
            threads = record(target, path)
            target.stdin.close()
        check_threads(threads, path)
        check_sums(threads, path)
    sys.exit(1 if failures else 0)


main()
