#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""file_locks.py - waits for locks of files and for objects of System V: their names, and the
processes and threads that hold them.

The processes (targets/locker.c) take locks as they are told. A waiter is known to wait when the
kernel shows its system call. What a recording has of its wait is compared with the process that
holds the lock, which is known.
"""
import ctypes
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SOURCE"], "tests", "live"))
from sampling import until  # noqa: E402

BUILD, WALLSAMPLE = os.environ["BUILD"], os.environ["WALLSAMPLE"]
LIBC = ctypes.CDLL(None, use_errno=True)
IPC_CREAT, IPC_RMID = 0o1000, 0
failed = False


def check(what, holds):
    global failed
    if not holds:
        print("FAILED:", what)
        failed = True


class Locker:
    def __init__(self, *commands):
        self.process = subprocess.Popen([f"{BUILD}/tests/live/bin/locker"], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.process.pid
        for command in commands:
            self.tell(command)

    def begin(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def answer(self):
        return self.process.stdout.readline().strip()

    def tell(self, command):
        self.begin(command)
        answer = self.answer()
        assert answer, command
        return answer

    def wait_in(self, command):
        """Begins a command that blocks, and returns when it does: the process has left the read of
        standard input, and sleeps in another call."""
        def state():
            with open(f"/proc/{self.pid}/syscall") as file:
                call = file.read().split()
            with open(f"/proc/{self.pid}/stat") as file:
                asleep = file.read().rsplit(")", 1)[1].split()[0] == "S"
            return call[0] if asleep else "running"

        until("the process reads", lambda: state() == reading)
        self.begin(command)
        until(command, lambda: state() not in ("running", reading))

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    @property
    def name(self):
        return f"locker ({self.pid})"


def number_of_read():
    """The number of read(2), as /proc/PID/syscall has it."""
    locker = Locker()
    locker.tell("thread")
    call = []

    def reads():
        with open(f"/proc/{locker.pid}/syscall") as file:
            call[:] = file.read().split()
        return len(call) > 2 and call[1] == "0x0"

    until("the process reads standard input", reads)
    locker.end()
    return call[0]


class Recording:
    def __init__(self, folder, *lockers):
        self.path = os.path.join(folder, "locks.wsdb")
        self.wallsample = subprocess.Popen(
            [WALLSAMPLE, "record", "-o", self.path, "-p", ",".join(str(l.pid) for l in lockers)],
            stderr=subprocess.PIPE, text=True)
        self.said = ""
        self.read_until("sampling")

    def read_until(self, word):
        line = ""
        while word not in line:
            line = self.wallsample.stderr.readline()
            assert line, self.said
            self.said += line

    def names(self, holders):
        """True if the report of the recording, which is still being written, has these holders:
        what is waited for -> thread id or frame."""
        self.wallsample.send_signal(signal.SIGUSR1)
        self.read_until("so far")
        report = subprocess.run([WALLSAMPLE, "report", "-f", "json", self.path],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        if report.returncode != 0:  # there is no sample yet
            return False
        found = {(f"{wait['kind']} {wait['object']}", name)
                 for wait in json.loads(report.stdout)["waits"] for holder in wait["holders"]
                 for name in (holder["tid"], holder["functions"][0])}
        return set(holders.items()) <= found

    def until(self, holders):
        until(f"the report names {holders}", lambda: self.names(holders))

    def end(self):
        """Ends the run. Sets `holders`: what is waited for -> {holder: seconds}, and `waits`: all
        that was waited for."""
        self.wallsample.send_signal(signal.SIGINT)
        self.said += self.wallsample.stderr.read()
        status = self.wallsample.wait()
        self.wallsample.stderr.close()
        check(f"status {status}: {self.said}", status == 0)
        database = sqlite3.connect(self.path)
        self.holders = {}
        for what, tid, function, seconds in database.execute(
                "SELECT what, tid, function, wall_s FROM top_holders"):
            of = self.holders.setdefault(what, {})
            of[tid or function] = of.get(tid or function, 0) + seconds
        self.waits = {what for what, in database.execute("SELECT what FROM wait_names")}
        database.close()
        os.unlink(self.path)


def check_holders(folder, holders, *lockers, searched=()):
    """Records until the report has named these holders, and checks that it has named no others.
    The holders of locks that are `searched` among the descriptors of all processes are found in
    steps: for some time it may be that none is known."""
    recording = Recording(folder, *lockers)
    recording.until(holders)
    recording.end()
    for what, holder in holders.items():
        of = set(recording.holders.get(what, {}))
        if what in searched:
            of.discard("[unknown: no holder is recorded]")
        check(f"{what} is held by {holder}: {recording.holders}", of == {holder})
    return recording


def case(*lockers):
    for locker in lockers:
        locker.end()


def test_outside(folder):
    """The three kinds of locks, held by a process that is not sampled."""
    path = folder + "/outside"
    holder = Locker(f"flock w {path}", f"posix w {path} 120 10", f"ofd w {path} 200 0")
    waiters = [Locker() for _ in range(4)]
    waiters[0].wait_in(f"flock w {path}")
    waiters[1].wait_in(f"posix w {path} 125 10")
    waiters[2].wait_in(f"ofd r {path} 300 1")
    waiters[3].wait_in(f"lockf {path} 110 20")
    parts = ("", ", bytes 125-134", ", bytes 300-300", ", bytes 110-129")
    check_holders(folder, {f"file lock {path}{part}": f"[held by {holder.name}]" for part in parts},
                  *waiters, searched=[f"file lock {path}, bytes 300-300"])
    case(holder, *waiters)


def test_inside(folder):
    """The holder is sampled. If it has one thread, that is the holder; if it has several, it is not
    known which one."""
    path = folder + "/inside"
    one = Locker(f"flock w {path}-1")
    two = Locker("thread", f"posix r {path}-2 0 0")
    waiters = [Locker(), Locker()]
    waiters[0].wait_in(f"flock r {path}-1")
    waiters[1].wait_in(f"posix w {path}-2 5 5")
    check_holders(folder, {f"file lock {path}-1": one.pid,
                           f"file lock {path}-2, bytes 5-9": f"[held by a thread of {two.name}]"},
                  one, two, *waiters)
    case(one, two, *waiters)


def test_readers(folder):
    """Two processes have a shared lock. They are named in the order of their ids."""
    path = folder + "/readers"
    readers = [Locker(f"posix r {path} 0 0"), Locker(f"posix r {path} 10 20")]
    readers.sort(key=lambda reader: reader.pid)
    waiter = Locker()
    waiter.wait_in(f"posix w {path} 0 0")
    check_holders(folder, {f"file lock {path}":
                           f"[2 readers: {readers[0].name}, {readers[1].name}]"}, waiter)
    case(waiter, *readers)


def test_heir(folder):
    """/proc/locks names a process that has ended; its child has inherited the descriptor."""
    path = folder + "/heir"
    parent = Locker(f"flock w {path}")
    child = int(parent.tell("heir"))
    parent.process.wait()
    waiter = Locker()
    waiter.wait_in(f"flock w {path}")
    check_holders(folder, {f"file lock {path}": f"[held by locker ({child})]"}, waiter,
                  searched=[f"file lock {path}"])
    os.kill(child, signal.SIGKILL)
    case(parent, waiter)


def test_end(folder):
    """The holder ends, and the next one has the lock."""
    path = folder + "/end"
    first, second, waiter = Locker(f"flock w {path}"), Locker(), Locker()
    second.wait_in(f"flock w {path}")
    waiter.wait_in(f"flock w {path}")
    recording = Recording(folder, waiter)
    recording.until({f"file lock {path}": f"[held by {first.name}]"})
    first.end()
    check("the second holder", second.answer() == "got")
    recording.until({f"file lock {path}": f"[held by {second.name}]"})
    second.end()
    check("the waiter", waiter.answer() == "got")
    recording.end()
    of = recording.holders[f"file lock {path}"]
    # From one reading to the next it is not known which process has the lock.
    check(f"the holders: {of}",
          set(of) <= {f"[held by {first.name}]", f"[held by {second.name}]",
                      "[free or being handed over]", "[unknown: no holder is recorded]"})
    case(waiter)


def test_deadlock(folder):
    """Two processes that each wait for the other: the kernel finds this for F_SETLKW only."""
    path = folder + "/deadlock"
    one, two = Locker(f"flock w {path}-1"), Locker(f"flock w {path}-2")
    one.wait_in(f"flock w {path}-2")
    two.wait_in(f"flock w {path}-1")
    dump = subprocess.run([WALLSAMPLE, "dump", "-q", "-p", f"{one.pid},{two.pid}"], text=True,
                          stdout=subprocess.PIPE, check=False)
    check(f"a deadlock: {dump.stdout}", "Deadlock" in dump.stdout)
    check("its threads and locks", f"file lock {path}-1, held by locker-{one.pid}" in dump.stdout
          and f"file lock {path}-2, held by locker-{two.pid}" in dump.stdout)
    case(one, two)


def test_first_screen(folder):
    path = folder + "/screen"
    holder, waiters = Locker(f"flock w {path}"), [Locker() for _ in range(3)]
    for waiter in waiters:
        waiter.wait_in(f"flock w {path}")
    recording = Recording(folder, *waiters)
    recording.until({f"file lock {path}": f"[held by {holder.name}]"})
    recording.wallsample.send_signal(signal.SIGINT)
    recording.wallsample.communicate()
    screen = subprocess.run([WALLSAMPLE, "report", recording.path], text=True,
                            stdout=subprocess.PIPE, check=False).stdout
    os.unlink(recording.path)
    words = " ".join(screen.split())
    check(f"the cause: {screen}", "Lock file lock" in words and
          "3 threads waited 100% of their time for it" in words)
    check(f"the holder: {screen}",
          f"held by {holder.name}, a process that is not sampled" in words)
    case(holder, *waiters)


def test_system_v(folder):
    key = 0x57530000 | os.getpid() & 0xffff
    semaphores = LIBC.semget(key, 3, IPC_CREAT | 0o600)
    queue = LIBC.msgget(key, IPC_CREAT | 0o600)
    if semaphores < 0 or queue < 0:
        print("the kernel has no System V IPC: not tested")
        return
    try:
        holder = Locker(f"semop {semaphores} 1 1", f"semop {semaphores} 1 -1")
        waiters = [Locker(), Locker()]
        waiters[0].wait_in(f"semop {semaphores} 1 -1")
        waiters[1].wait_in(f"msgrcv {queue}")
        what = f"System V semaphore 1 of set {semaphores}, key 0x{key:x}"
        recording = check_holders(folder, {what: f"[last operated by {holder.name}]"}, *waiters)
        check(f"the message queue: {recording.waits}",
              f"message queue {queue}, key 0x{key:x} (to receive)" in recording.waits)
        case(holder, *waiters)
    finally:
        LIBC.semctl(semaphores, 0, IPC_RMID)
        LIBC.msgctl(queue, IPC_RMID, None)


reading = number_of_read()
tests = [test_outside, test_inside, test_readers, test_heir, test_end, test_deadlock,
         test_first_screen, test_system_v]
with tempfile.TemporaryDirectory() as temporary:
    for test in tests:
        if len(sys.argv) == 1 or test.__name__ in sys.argv[1:]:
            test(temporary)
sys.exit(1 if failed else 0)
