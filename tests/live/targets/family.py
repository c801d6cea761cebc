#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""family.py - a process that uses known CPU time, by itself or in children.

Reads commands from stdin, one a line, and answers each with a line:
    work MS       uses MS milliseconds of CPU time; answers with what it has used, in ns
    child MS      starts a child that does the same; answers with its pid and CPU time
    renamed NAME MS
                  starts a child that takes the name, then uses MS milliseconds and lives as
                  long as its parent; answers with its pid and CPU time
    many N MS     starts N children, at most 20 at a time, that use MS milliseconds each and live
                  50 ms; answers with the CPU time of all of them, as the kernel has counted it
"""
import os
import resource
import sys
import time

AT_ONCE = 20
LIFE_S = 0.05
LIFE = os.pipe()  # its write end is open as long as the parent lives


def work(ms):
    began = time.process_time_ns()
    while time.process_time_ns() < began + ms * 1000000:
        pass
    return time.process_time_ns() - began


def child(ms):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        # All CPU time of the child counts, that of the fork, too.
        work(ms)
        os.write(write, str(time.process_time_ns()).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        used = int(answer.read())
    os.waitpid(pid, 0)
    return pid, used


def renamed(name, ms):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        with open("/proc/self/comm", "w") as comm:
            comm.write(name)
        work(ms)
        os.write(write, str(time.process_time_ns()).encode())
        os.close(write)
        os.close(LIFE[1])
        os.read(LIFE[0], 1)  # until the parent has ended
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        return pid, int(answer.read())


def short_life(ms):
    began = time.monotonic()
    work(ms)
    time.sleep(max(0, LIFE_S - (time.monotonic() - began)))
    os._exit(0)


def used_by_children():
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int((use.ru_utime + use.ru_stime) * 1e9)


def many(count, ms):
    before, alive = used_by_children(), 0
    for _ in range(count):
        if alive == AT_ONCE:
            os.wait()
            alive -= 1
        if os.fork() == 0:
            short_life(ms)
        alive += 1
    for _ in range(alive):
        os.wait()
    return used_by_children() - before


def main():
    print("ready", flush=True)
    for line in sys.stdin:
        word, *numbers = line.split()
        numbers = [int(number) if number.isdigit() else number for number in numbers]
        if word == "work":
            print(work(*numbers), flush=True)
        elif word == "child":
            print(*child(*numbers), flush=True)
        elif word == "renamed":
            print(*renamed(*numbers), flush=True)
        elif word == "many":
            print(many(*numbers), flush=True)


main()
