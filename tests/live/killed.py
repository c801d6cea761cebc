# SPDX-License-Identifier: MIT
"""python_killed.py WALLSAMPLE PID TID TIMES - kills WALLSAMPLE while it holds a Python thread.

Each time it samples the process until the thread is seen to be traced, and is killed at once, in the
middle of what it reads of the interpreter or close to it. The thread must be free then, and run.
"""
import os
import signal
import subprocess
import sys
import time

BOUND = 20.0  # seconds, for what takes a millisecond


def field(tid, name):
    with open('/proc/%d/task/%d/status' % tid) as status:
        for line in status:
            if line.startswith(name + ':'):
                return line.split()[1]
    return None


def ran(tid):
    """Time on a CPU, in ns: the kernel's count may be some milliseconds old."""
    with open('/proc/%d/task/%d/schedstat' % tid) as counters:
        return int(counters.read().split()[0])


def until(what, condition):
    end = time.monotonic() + BOUND
    while not condition():
        if time.monotonic() > end:
            sys.exit('not within %d s: %s' % (BOUND, what))


def kill_once(wallsample, tid):
    sampler = subprocess.Popen(
        [wallsample, '-p', str(tid[0]), '-d', '60', '-r', '5000', '--max-overhead', '100', '-q'],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until('the thread is traced', lambda: field(tid, 'TracerPid') != '0')
    finally:
        sampler.send_signal(signal.SIGKILL)
        sampler.wait()
    until('nobody traces it any more', lambda: field(tid, 'TracerPid') == '0')
    before = ran(tid)
    until('the thread runs on', lambda: ran(tid) > before)
    if field(tid, 'State') in 'tT':
        sys.exit('the thread has been left stopped')


def main():
    wallsample, pid, tid, times = sys.argv[1], *map(int, sys.argv[2:])
    for _ in range(times):
        kill_once(wallsample, (pid, tid))


main()
