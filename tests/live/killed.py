# SPDX-License-Identifier: MIT
"""killed.py PID TIMES WALLSAMPLE WORDS… - kills WALLSAMPLE while it holds a thread of PID.

Each time it runs, again if it has ended, until one of the threads is seen to be traced, and is killed
at once, in the middle of what it reads of the interpreter or the runtime, or close to it. The
threads must be free then, and the program run.
"""
import os
import signal
import subprocess
import sys
import time

BOUND = 20.0  # seconds, for what takes a millisecond


def field(pid, tid, name):
    try:
        with open('/proc/%d/task/%s/status' % (pid, tid)) as status:
            for line in status:
                if line.startswith(name + ':'):
                    return line.split()[1]
    except (FileNotFoundError, ProcessLookupError):
        pass
    return None


def threads(pid):
    return os.listdir('/proc/%d/task' % pid)


def is_traced(pid):
    return any(field(pid, tid, 'TracerPid') not in ('0', None) for tid in threads(pid))


def ran(pid):
    """Time on a CPU, in clock ticks, of all threads."""
    with open('/proc/%d/stat' % pid) as stat:
        fields = stat.read().rsplit(')', 1)[1].split()
    return int(fields[11]) + int(fields[12])


def until(what, condition):
    end = time.monotonic() + BOUND
    while not condition():
        if time.monotonic() > end:
            sys.exit('not within %d s: %s' % (BOUND, what))


def start(words):
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def kill_once(words, pid):
    samplers = [start(words)]

    def holds():
        if samplers[-1].poll() is not None:
            samplers.append(start(words))
        return is_traced(pid)

    try:
        until('a thread is traced', holds)
    finally:
        samplers[-1].send_signal(signal.SIGKILL)
        samplers[-1].wait()
    until('nobody traces it any more', lambda: not is_traced(pid))
    before = ran(pid)
    until('the program runs on', lambda: ran(pid) > before)
    if any((field(pid, tid, 'State') or 'R') in 'tT' for tid in threads(pid)):
        sys.exit('a thread has been left stopped')


def main():
    pid, times = int(sys.argv[1]), int(sys.argv[2])
    for _ in range(times):
        kill_once(sys.argv[3:], pid)


main()
