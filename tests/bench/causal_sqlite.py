#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""causal_sqlite.py - a program with SQLite and zlib (sqlite_orders.c) that is made faster as it
would be in life, by an index and by a lower level of compression: what comes of it, and what
`wallsample causal` has predicted from the slower one. How much faster the function itself becomes
is measured by its CPU time, and the prediction is asked for at just that. Ends with status 0
whatever it finds.
"""
import argparse
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'live'))
from causal_predict import add_prediction, by_turns, examine, gains_of, percents
from causal_programs import Program

SETTLE = 0.5   # seconds
TURN = 2.0

# What is told to the program before all, for the usual speed and for the faster one; the function,
# and what counts its calls and their CPU time.
CHANGES = {
    'an index': ([], 'index=0', 'index=1', 'find_customer', 'finds', 'find'),
    'packing less': ([], 'level=6', 'level=4', 'pack_orders', 'packs', 'pack'),
    'packing less, with the index': (['index=1'], 'level=6', 'level=4', 'pack_orders', 'packs',
                                     'pack'),
}


def measure(program, calls, cpu):
    """Orders a second, and the CPU time of one call."""
    time.sleep(SETTLE)
    before = program.ask()
    time.sleep(TURN)
    after = program.ask()
    orders = after['orders'] - before['orders']
    return (1e9 * orders / (after['at'] - before['at']),
            (after[cpu] - before[cpu]) / (after[calls] - before[calls]))


def really(options, change):
    """(speed-up of the function, (gain, low, high))"""
    first, usual, faster, _, calls, cpu = CHANGES[change]
    gains, speedups = [], []
    with Program(options.target, 'orders') as program:
        for line in first:
            program.say(line)
        for _ in range(options.turns):
            program.say(usual)
            rate, call = measure(program, calls, cpu)
            program.say(faster)
            faster_rate, faster_call = measure(program, calls, cpu)
            gains.append(faster_rate / rate - 1)
            speedups.append(1 - faster_call / call)
    return by_turns(speedups)[0], by_turns(gains)


def predicted(options, change, speedup):
    first, usual, _, function, _, _ = CHANGES[change]
    with Program(options.target, 'orders') as program:
        for line in [*first, usual]:
            program.say(line)
        time.sleep(SETTLE)
        result = examine(options.wallsample, program.pid, [
            '--progress', 'batches=var:archived', '--select', '^%s$' % function,
            '--speedups', percents([speedup]), '-d', options.duration, *options.words])
        found = list(gains_of(result).values()) if result else []
        return found[0] if found else None


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split(':')[0])
    parser.add_argument('--target', required=True, help='tests/bench/bin/sqlite_orders')
    add_prediction(parser)
    parser.add_argument('--turns', type=int, default=5, help='of each speed')
    parser.add_argument('-d', '--duration', default='60s', help='of each prediction')
    return parser.parse_args()


def main():
    options = parse_arguments()

    print('%-29s %-14s %7s %22s %22s' % ('change', 'function', 'faster', 'obtained',
                                         'predicted'))
    for change, row in CHANGES.items():
        speedup, real = really(options, change)
        speedup = round(speedup, 3)
        found = predicted(options, change, speedup) if speedup > 0 else None
        line = '%-29s %-14s %6.1f%%' % (change, row[3], 100 * speedup)
        for of in (real, found):
            line += '%23s' % ('-' if of is None else
                              '%6.1f (%6.1f, %6.1f)' % tuple(100 * value for value in of))
        print(line, flush=True)


if __name__ == '__main__':
    sys.exit(main())
