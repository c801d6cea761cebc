# SPDX-License-Identifier: MIT
"""causal_threads.py - a program with two threads for causal_real.py: each alternates between a
function that needs the interpreter's lock and one that compresses without it. The lengths of both
are in a file of three 64-bit numbers that another process can change; the third counts rounds.
Argument: causal_work.so, for its counter. It ends with the process that started it."""
import ctypes
import mmap
import os
import sys
import threading
import time
import zlib

with open(os.environ["WORK_FILE"], "r+b") as file:
    work = memoryview(mmap.mmap(file.fileno(), 24)).cast("Q")
counter = ctypes.c_uint64.in_dll(ctypes.CDLL(sys.argv[1]), "work_done")
data = bytes(i * i % 251 for i in range(1 << 20))


def parse(steps):
    total = 0
    for i in range(steps):
        total += i * i
    return total


def compress(size):
    zlib.compress(data[:size])


def rounds():
    while True:
        parse(work[0])
        compress(work[1])
        work[2] += 1
        counter.value += 1


for _ in range(2):
    threading.Thread(target=rounds, daemon=True).start()
parent = os.getppid()
while os.getppid() == parent:
    time.sleep(1)
