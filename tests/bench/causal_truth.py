#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""causal_truth.py - programs whose answer is known: what arithmetic says a faster function brings,
what it really brings when it is made faster, and what `wallsample causal` predicts.

Speeding up for real is done in one process, in turns with its usual speed, so that who else uses
the machine slows down both. Figures of a busy machine still mean little; it prints, and ends with
status 0 whatever it finds.
"""
import argparse
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'live'))
from causal_predict import (Tally, add_kinds, add_prediction, by_turns, examine, gains_of,
                            percents, text)
from causal_programs import (LATENCY_KINDS, UNITS, Program, gain, latency_gain, mean_latency,
                             rate)

SETTLE = 0.2   # seconds until queues have found their new levels
TURN = 0.6     # seconds in which progress is measured
EVENTS = 3     # of progress, at least, in one turn
QUIET = 0.01   # of its time may the program wait for a CPU, or others disturb it
TRIES = 6      # times as many turns, until enough were quiet


def waited(program):
    """Seconds that its threads were ready to run and had no CPU."""
    total = 0
    for task in os.listdir('/proc/%d/task' % program.pid):
        with open('/proc/%d/task/%s/schedstat' % (program.pid, task)) as file:
            total += int(file.read().split()[1])
    return total / 1e9


def start(options, kind):
    """Starts the program; to be used with `with`."""
    unit = options.unit
    if options.burst is not None:
        unit = options.burst / min(UNITS[kind].values())
    return Program(options.target, kind, 'unit=%g' % unit)


def points_of(kind):
    """What each progress point is called, and the truth about it."""
    points = {'progress': ('var:progress', gain)}
    if kind in LATENCY_KINDS:
        points['latency'] = ('begin:var:begun,end:var:ended', latency_gain)
    return points


def measure(program):
    """Progress a second, and seconds from begin to end."""
    time.sleep(SETTLE)
    before = after = program.ask()
    while after['progress'] < before['progress'] + EVENTS:
        time.sleep(TURN)
        after = program.ask()
    return rate(before, after), mean_latency(before, after)


def take_turns(program, function, speedup):
    """How long others kept it from running, and the gain in rate and in latency."""
    began, waited_before = time.monotonic(), waited(program)
    usual = measure(program)
    program.say('%s=%g' % (function, 1 - speedup))
    faster = measure(program)
    program.say('%s=1' % function)
    disturbed = (waited(program) - waited_before) / (time.monotonic() - began)
    return (disturbed, {'progress': faster[0] / usual[0] - 1,
                        'latency': 1 - faster[1] / usual[1] if usual[1] else None})


def really(options, kind, function, speedups):
    """{(point, speedup): (gain, low, high)} by making the function faster. No kind needs more than
    two CPUs: what it waits for one is by others, and turns with little of that are preferred."""
    found = {}
    with start(options, kind) as program:
        for speedup in speedups:
            turns = []
            while (sum(disturbed < QUIET for disturbed, _ in turns) < options.turns and
                   len(turns) < TRIES * options.turns):
                turns.append(take_turns(program, function, speedup))
            quiet = sorted(turns, key=lambda turn: turn[0])[:options.turns]
            for point in points_of(kind):
                found[point, speedup] = by_turns([gains[point] for _, gains in quiet])
    return found


def predicted(options, kind, functions, speedups):
    """{(point, function, speedup): (gain, low, high)} by `wallsample causal`."""
    with start(options, kind) as program:
        words = ['--select', '^(%s)$' % '|'.join(functions), '--speedups', percents(speedups),
                 '-d', options.duration, *options.words]
        for point, (spec, _) in points_of(kind).items():
            words += ['--progress', '%s=%s' % (point, spec)]
        result = examine(options.wallsample, program.pid, words)
        return gains_of(result) if result else {}


def row(tally, kind, point, function, speedup, real, found):
    truth = points_of(kind)[point][1](kind, function, speedup)
    line = '%-9s %-8s %-13s %3.0f %8.1f %s' % (kind, point, function, 100 * speedup,
                                               100 * truth, text(real))
    if found is not None:
        good = tally.add([truth] + ([real[0]] if real else []), found)
        line += ' %s %+6.1f %s' % (text(found), 100 * (found[0] - truth), '' if good else 'OFF')
    print(line, flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--target', required=True, help='tests/live/bin/causal_kinds')
    add_prediction(parser, required=False)
    add_kinds(parser, UNITS)
    parser.add_argument('--burst', type=float,
                        help='of the shortest function of each program, in ms; replaces --unit')
    parser.add_argument('--apart', action='store_true',
                        help='predict each function in a run of its own')
    parser.add_argument('--speedups', default='25,50,75,100', help='percents')
    parser.add_argument('--turns', type=int, default=5,
                        help='of each speed, when it is made faster for real; 0: not at all')
    parser.add_argument('-d', '--duration', default='60s', help='of each prediction')
    return parser.parse_args()


def main():
    options = parse_arguments()
    speedups = [float(word) / 100 for word in options.speedups.split(',')]
    tally = Tally()

    print('%-9s %-8s %-13s %3s %8s %22s %22s %6s' % (
        'program', 'of', 'function', '%', 'computed', 'real', 'predicted', 'off by'))
    for kind in options.kind or UNITS:
        functions = [name for name in UNITS[kind] if options.function in (None, name)]
        found = {}
        if options.wallsample:
            for names in [[name] for name in functions] if options.apart else [functions]:
                found.update(predicted(options, kind, names, speedups))
        for function in functions:
            real = really(options, kind, function, speedups) if options.turns else {}
            for point in points_of(kind):
                for speedup in speedups:
                    row(tally, kind, point, function, speedup, real.get((point, speedup)),
                        found.get((point, function, speedup)))
    tally.print()


if __name__ == '__main__':
    sys.exit(main())
