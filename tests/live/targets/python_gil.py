# SPDX-License-Identifier: MIT
"""python_gil.py MODE - threads with a known use of the interpreter's lock.

loops: two that never let go of it but when they are asked to. hash: one that works without it.
hold: one that sleeps with it, and one that wants it.

Prints "thread NAME TID", then "ready". At the end of the standard input each thread prints the
shares of its time that it ran and that it waited for a CPU, by the kernel's account: "cpu NAME
SHARE" and "delay NAME SHARE".
"""
import ctypes
import hashlib
import sys
import threading
import time

over = threading.Event()
told = threading.Lock()


def count_up():
    n = 0
    while not over.is_set():
        for _ in range(1000):
            n += 1


def hash_much():
    data = bytes(16 << 20)
    while not over.is_set():
        hashlib.sha256(data).digest()


def sleep_holding():
    usleep = ctypes.PyDLL(None).usleep
    while not over.is_set():
        usleep(30000)
        time.sleep(0.001)


MODES = {
    'loops': [('first', count_up), ('second', count_up)],
    'hash': [('hash', hash_much)],
    'hold': [('holder', sleep_holding), ('waiter', count_up)],
}


def read_delay():
    """Seconds that this thread has waited for a CPU: the second field of schedstat, in ns."""
    with open('/proc/thread-self/schedstat') as schedstat:
        return int(schedstat.read().split()[1]) / 1e9


def run(name, work, ready):
    with told:
        print('thread', name, threading.get_native_id(), flush=True)
    ready.wait()
    cpu, delay, wall = time.thread_time(), read_delay(), time.monotonic()
    work()
    cpu, delay = time.thread_time() - cpu, read_delay() - delay
    wall = time.monotonic() - wall
    with told:
        print('cpu', name, cpu / wall, flush=True)
        print('delay', name, delay / wall, flush=True)


def main():
    works = MODES[sys.argv[1]]
    ready = threading.Barrier(len(works) + 1)
    threads = [threading.Thread(target=run, args=(name, work, ready)) for name, work in works]
    for thread in threads:
        thread.start()
    ready.wait()
    print('thread', 'main', threading.get_native_id())
    print('ready', flush=True)
    sys.stdin.read()
    over.set()


main()
