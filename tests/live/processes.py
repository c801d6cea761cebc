#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""processes.py - several processes sampled together, beside the CPU time that they report.

The processes (targets/family.py) work only while they are sampled: wallsample has begun when it has
answered a SIGUSR1, and the work ends before it is told to end. So what a recording has of a process
is what the process has used, except for the scheduler's tick: a running thread's counter is behind
by up to 4 ms when it is read, and what a process does between its last observation and its end is
known from its parent only.
"""
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

SOURCE, WALLSAMPLE = os.environ["SOURCE"], os.environ["WALLSAMPLE"]
TICK_NS = 4000000
CLOCK_TICK_NS = 10000000
failed = False


def check(what, holds):
    global failed
    if not holds:
        print("FAILED:", what)
        failed = True


class Family:
    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, f"{SOURCE}/tests/live/targets/family.py"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"
        self.pid = self.process.pid

    def begin(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def answer(self):
        return [int(word) for word in self.process.stdout.readline().split()]

    def tell(self, command):
        self.begin(command)
        return self.answer()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Recorded:
    """What a recording has: CPU time by process id, and that of children that were not sampled,
    which is part of that of the first process."""
    def __init__(self, path):
        database = sqlite3.connect(path)
        self.first = database.execute("SELECT pid FROM processes ORDER BY id LIMIT 1").fetchone()[0]
        self.cpu = dict(database.execute(
            "SELECT p.pid, sum(s.overhead_ns) FROM spans s JOIN threads t ON t.id = s.thread "
            "JOIN processes p ON p.id = t.process GROUP BY p.id"))
        self.parents = dict(database.execute("SELECT pid, parent FROM processes"))
        self.excluded = [database.execute(
            f"SELECT value FROM cost WHERE name = 'excluded_processes.{key}'").fetchone()[0]
            for key in ("count", "cpu_ns")]
        self.unseen = database.execute(
            "SELECT coalesce(sum(s.overhead_ns), 0) FROM spans s JOIN threads t ON t.id = s.thread "
            "WHERE t.name = '[children not sampled]'").fetchone()[0]
        database.close()


class Recording(Recorded):
    def __init__(self, folder, *options):
        self.path = os.path.join(folder, "x.wsdb")
        self.wallsample = subprocess.Popen(
            [WALLSAMPLE, "record", "-o", self.path, *options], stderr=subprocess.PIPE, text=True)
        self.said = ""
        self.read_until("sampling")
        self.snapshot()

    def read_until(self, word):
        line = ""
        while word not in line:
            line = self.wallsample.stderr.readline()
            assert line, self.said
            self.said += line

    def snapshot(self):
        self.wallsample.send_signal(signal.SIGUSR1)
        self.read_until("so far")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.wallsample.pid}/fd"))

    def end(self):
        self.wallsample.send_signal(signal.SIGINT)
        self.said += self.wallsample.stderr.read()
        self.status = self.wallsample.wait()
        Recorded.__init__(self, self.path)
        os.unlink(self.path)


def is_near(found, truth, ticks):
    return abs(found - truth) <= 0.01 * truth + ticks * TICK_NS


def test_given(folder):
    families = [Family() for _ in range(3)]
    recording = Recording(folder, "-p", ",".join(str(f.pid) for f in families))
    for n, family in enumerate(families):
        family.begin(f"work {100 * (n + 1)}")
    truth = {family.pid: family.answer()[0] for family in families}
    recording.end()
    for family in families:
        family.end()
    check(f"status {recording.status}: {recording.said}", recording.status in (0, 1))
    check("three processes", set(recording.cpu) == set(truth))
    for pid, used in truth.items():
        # One thread, at both edges of the run; the interpreter reads and answers a line.
        check(f"CPU time of {pid}: {recording.cpu.get(pid)}, it has used {used}",
              is_near(recording.cpu.get(pid, 0), used, 3))


def test_children(folder):
    family, other = Family(), Family()
    recording = Recording(folder, "-p", str(family.pid), "--children")
    truth = dict([family.tell("child 300"), family.tell("child 200")])
    other.tell("child 50")
    recording.end()
    family.end()
    other.end()
    check(f"status {recording.status}: {recording.said}", recording.status in (0, 1))
    check(f"the processes are {set(recording.cpu)}",
          set(recording.cpu) - {family.pid} == set(truth))
    for pid, used in truth.items():
        check(f"{pid} is a child", recording.parents.get(pid) == family.pid)
    total = sum(recording.cpu.values())
    used = sum(truth.values())
    # User and system time of ended children are cut to clock ticks, and up to two ticks are no row.
    # The parent needs time, too, which the children do not count.
    check(f"CPU time of all: {total}, the children have used {used}",
          used - 4 * CLOCK_TICK_NS <= total <= 1.05 * used + 10 * TICK_NS)


def test_many(folder):
    family = Family()
    recording = Recording(folder, "-p", str(family.pid), "--children")
    before = recording.descriptors()
    used = family.tell("many 1000 1")[0]
    # All children have ended; that is noticed within a second or so.
    deadline = time.monotonic() + 60
    open_now = before + 100
    while open_now > before + 10 and time.monotonic() < deadline:
        recording.snapshot()
        open_now = recording.descriptors()
    recording.end()
    family.end()
    check(f"status {recording.status}: {recording.said}", recording.status in (0, 1))
    check(f"{open_now} descriptors are open, {before} before", open_now <= before + 10)
    children = sum(cpu for pid, cpu in recording.cpu.items() if pid != family.pid)
    seen = children + recording.unseen
    # What is found of a child has counters of its own; the rest is a sum in clock ticks.
    check(f"CPU time of the children: {children} and {recording.unseen} unseen, of {used}",
          abs(seen - used) <= 0.01 * used + 3 * CLOCK_TICK_NS)
    print(f"{len(recording.cpu) - 1} of 1000 children have samples")


def test_command(folder, count, ms):
    """A command that ends at once when its last child has ended: nobody can read its counters
    afterwards, and wallsample has to count what it has waited for. The last child ends between the
    same two ticks, and counts once."""
    path = os.path.join(folder, "command.wsdb")
    truth = os.path.join(folder, "truth")
    program = ("import os, sys; sys.path.insert(0, sys.argv[1]); sys.stdin = []; import family; "
               "truth = open(sys.argv[2], 'w'); "
               f"truth.write(str(family.many({count}, {ms}))); truth.flush(); os._exit(0)")
    status = subprocess.run(
        [WALLSAMPLE, "record", "-o", path, "--children", "--", sys.executable, "-c", program,
         f"{SOURCE}/tests/live/targets", truth], stderr=subprocess.PIPE, text=True)
    with open(truth) as text:
        used = int(text.read())
    recording = Recorded(path)
    check(f"status {status.returncode}: {status.stderr}", status.returncode in (0, 1))
    children = sum(cpu for pid, cpu in recording.cpu.items() if pid != recording.first)
    seen = children + recording.unseen
    check(f"CPU time of the children of a command: {children} and {recording.unseen} unseen, of "
          f"{used}", abs(seen - used) <= 0.05 * used + 5 * CLOCK_TICK_NS)


def test_excluded(folder):
    family = Family()
    before, _ = family.tell("renamed left-0 50")
    recording = Recording(folder, "-p", str(family.pid), "--children", "--exclude-process",
                          "other,left-*")
    # A new process has the name of its parent: it is sampled until its own name is found.
    after, used = family.tell("renamed left-1 300")
    kept, used_kept = family.tell("renamed kept 100")
    recording.end()
    family.end()
    check(f"status {recording.status}: {recording.said}", recording.status in (0, 1))
    check(f"the processes are {set(recording.cpu)}, {before} was excluded from the beginning",
          {family.pid, kept} <= set(recording.cpu) and before not in recording.cpu)
    check(f"2 processes are excluded: {recording.excluded}", recording.excluded[0] == 2)
    check(f"CPU time of {kept}: {recording.cpu.get(kept)}, it has used {used_kept}",
          is_near(recording.cpu.get(kept, 0), used_kept, 3))
    # What was excluded is counted in clock ticks: user and system time, at each end.
    total = recording.cpu.get(after, 0) + recording.excluded[1]
    check(f"CPU time of {after}: {recording.cpu.get(after)} in samples, and excluded "
          f"{recording.excluded[1]}, of {used}",
          abs(total - used) <= 0.01 * used + 3 * TICK_NS + 4 * CLOCK_TICK_NS)
    check(f"no time is that of unseen children: {recording.unseen}", recording.unseen == 0)


def main():
    with tempfile.TemporaryDirectory() as folder:
        test_given(folder)
        test_children(folder)
        test_many(folder)
        test_command(folder, 40, 10)
        test_command(folder, 1, 400)
        test_excluded(folder)
    sys.exit(1 if failed else 0)


main()
