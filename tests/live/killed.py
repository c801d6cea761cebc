# SPDX-License-Identifier: MIT
"""killed.py PID TIMES WALLSAMPLE WORDS… - kills WALLSAMPLE while it holds a thread of PID.

Each time it runs, again if it has ended, until one of the threads is seen to be traced, and is killed
at once, in the middle of what it reads of the interpreter or the runtime, or close to it. The
threads must be free then, and the program run.
"""
import signal
import subprocess
import sys

from sampling import is_free, is_traced, until


def ran(pid):
    """Time on a CPU, in clock ticks, of all threads."""
    with open('/proc/%d/stat' % pid) as stat:
        fields = stat.read().rsplit(')', 1)[1].split()
    return int(fields[11]) + int(fields[12])


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
    if not is_free(pid):
        sys.exit('a thread has been left stopped')


def main():
    pid, times = int(sys.argv[1]), int(sys.argv[2])
    for _ in range(times):
        kill_once(sys.argv[3:], pid)


main()
