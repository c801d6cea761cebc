#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""causal_ticks.py - errors of virtual speed-ups that only the length of ticks causes.

Simulates programs of targets/causal_kinds.c, and the ticks and holds of `wallsample causal`, in
time that is only counted: what a machine adds is missing. Threads are generators that yield what
they do next. Prints, for each function and speed-up, by how many points the gain is wrong with
ticks of these lengths, in units of work. With --cost, a stop of a thread costs it this part of a
unit, which the hold time does not contain.
"""
import argparse
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'live'))
from causal_programs import PERIOD, UNITS, gain, units

SPREAD = 0.3     # of ticks, CAUSAL_SPREAD in causal_run.h
DEBT_MOST = 0.5  # of a tick, DEBT_MOST in hold.c
KINDS = ('serial', 'phases', 'locked', 'make', 'eat')
SMALL = 1e-12


class Thread:
    def __init__(self, steps):
        self.steps = steps
        self.function = None  # it works in
        self.left = 0.0       # of its work
        self.cpu = 0.0
        self.waits = False    # for another thread
        self.held = False


class Program:
    """The threads of one kind, and what they wait for."""

    def __init__(self, kind, work):
        self.work = work
        self.progress = 0
        self.at_barrier = []
        self.owner = None      # of the lock
        self.for_lock = []
        self.items = 0         # in the queue
        self.for_queue = []    # (thread, change of the number of items)
        steps = {'serial': (self.long(), self.short()),
                 'phases': (self.phase('phase_first', 1), self.phase('phase_second', 0)),
                 'locked': (self.locker(), self.locker())}
        self.threads = [Thread(of) for of in steps.get(kind, (self.maker(), self.eater()))]
        for thread in self.threads:
            self.resume(thread)

    # What the threads do: see the functions of causal_kinds.c with these names.

    def long(self):
        while True:
            yield 'work', 'part_long'
            yield 'barrier', None
            yield 'work', 'part_serial'
            self.progress += 1
            yield 'barrier', None

    def short(self):
        while True:
            yield 'work', 'part_short'
            yield 'barrier', None
            yield 'barrier', None

    def phase(self, function, events):
        while True:
            yield 'work', function
            yield 'barrier', None
            self.progress += events

    def locker(self):
        while True:
            yield 'work', 'outside_lock'
            yield 'lock', None
            yield 'work', 'inside_lock'
            yield 'unlock', None
            self.progress += 1

    def maker(self):
        while True:
            yield 'work', 'make_item'
            yield 'queue', 1

    def eater(self):
        while True:
            yield 'queue', -1
            yield 'work', 'eat_item'
            self.progress += 1

    # How they wait.

    def resume(self, thread):
        """Until it works or waits."""
        thread.waits, thread.left, thread.function = False, 0.0, None
        while not thread.waits and thread.left <= SMALL:
            step, of = next(thread.steps)
            if step == 'work':
                thread.function, thread.left = of, self.work[of]
            else:
                thread.function = None
                getattr(self, step)(thread, of)

    def barrier(self, thread, _):
        if self.at_barrier:
            self.resume(self.at_barrier.pop())
        else:
            thread.waits = True
            self.at_barrier.append(thread)

    def lock(self, thread, _):
        if self.owner is None:
            self.owner = thread
        else:
            thread.waits = True
            self.for_lock.append(thread)

    def unlock(self, _, __):
        self.owner = self.for_lock.pop(0) if self.for_lock else None
        if self.owner is not None:
            self.resume(self.owner)

    def queue(self, thread, change):
        if not 0 <= self.items + change <= 4:
            thread.waits = True
            self.for_queue.append((thread, change))
            return
        self.items += change
        if self.for_queue:
            other, its_change = self.for_queue.pop()
            self.items += its_change
            self.resume(other)

    def run(self, now, until):
        """Runs the threads that neither wait nor are held."""
        while now < until - SMALL:
            running = [of for of in self.threads if not of.waits and not of.held]
            step = min([of.left for of in running] + [until - now])
            now += step
            for thread in running:
                thread.left -= step
                thread.cpu += step
            for thread in running:
                if thread.left <= SMALL and not thread.waits:
                    self.resume(thread)
        return until


def simulate(kind, function, speedup, tick, options):
    """Progress in a unit of virtual time."""
    program = Program(kind, units(kind))
    chance = random.Random(1)
    now = held = debt = 0.0
    still_held = []
    while now < options.units:
        length = tick * (1 + SPREAD * (2 * chance.random() - 1))
        end = now + length
        running = [of for of in program.threads if not of.waits]
        chosen = [of for of in running if of.function == function]
        for thread in running:
            thread.left += options.cost if thread not in still_held else 0
        still_held = []
        if chosen and speedup > 0:
            others = [of for of in running if of not in chosen]
            for thread in others:
                thread.held = True
            cpu = [of.cpu for of in chosen]
            wanted = length if speedup >= 1 else speedup * length + debt
            hold = max(0.0, min(length, wanted))
            now = program.run(now, now + hold)
            held += hold
            used = hold
            if others and all(of.waits for of in chosen):
                used = max(of.cpu - before for of, before in zip(chosen, cpu))
            if speedup < 1:
                debt += speedup * length - used
                debt = max(-DEBT_MOST * tick, min(DEBT_MOST * tick, debt))
            else:
                still_held = others
            for thread in others:
                thread.held = False
        now = program.run(now, end)
    return program.progress / (now - held) if now > held else float('inf')


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--kind', action='append', choices=KINDS, help='only these')
    parser.add_argument('--ticks', default='0.25,0.5,0.75,1,1.5,3', help='in units of work')
    parser.add_argument('--units', type=float, default=6000, help='of time for each gain')
    parser.add_argument('--cost', type=float, default=0.0,
                        help='of a stop, in units of work: 0.015 is 15 us of a unit of 1 ms')
    return parser.parse_args()


def main():
    options = parse_arguments()
    ticks = [float(word) for word in options.ticks.split(',')]
    print('%-8s %-13s %4s %7s' % ('program', 'function', '%', 'true') +
          ''.join('%10s' % ('tick %g' % tick) for tick in ticks))
    for kind in options.kind or KINDS:
        for function in UNITS[kind]:
            for speedup in (0.25, 0.5, 0.75, 1.0):
                line = '%-8s %-13s %4.0f %7.1f' % (kind, function, 100 * speedup,
                                                  100 * gain(kind, function, speedup))
                for tick in ticks:
                    usual = (simulate(kind, function, 0, tick, options) if options.cost else
                             1 / PERIOD[kind](units(kind)))
                    found = simulate(kind, function, speedup, tick, options) / usual - 1
                    line += '%10.1f' % (100 * (found - gain(kind, function, speedup)))
                print(line, flush=True)


if __name__ == '__main__':
    sys.exit(main())
