#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""causal_coz.py - `wallsample causal` and coz side by side, on the programs whose answer is known.

Both examine the same binary, one function at a time and for the same time. coz draws speed-ups in
steps of 5 %: what it found within 10 points of one is put together, and so is the truth. `slower`
is how much less the program got done while it was examined, delays and all, than alone before and
after; `at 0` is the same in the experiments at a speed-up of 0, where nothing is delayed on
purpose: what the tool itself costs. Ends with status 0 whatever it finds.
"""
import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'live'))
from causal_predict import add_kinds, add_prediction, examine, gains_of, percents
from causal_programs import UNITS, Program, gain, rate

SPEEDUPS = (0.25, 0.5, 0.75, 1.0)
NEAR = 0.101   # coz's speed-ups that are taken for one of these
SETTLE = 0.5   # seconds, with some progress
ALONE = 8.0    # seconds, twice
SOURCE = 'causal_kinds.c'


def alone(options, kind, words):
    """Progress a second, and the loops of a unit, which all others get, too."""
    with Program(options.target, kind, *words) as program:
        time.sleep(SETTLE)
        before = program.ask()
        time.sleep(ALONE)
        after = program.ask()
        return rate(before, after), after['loops']


def line_of(options, function):
    with open(options.source) as file:
        for number, line in enumerate(file, 1):
            if line.startswith('WORK(%s,' % function):
                return number
    raise SystemExit('%s: no line of %s' % (options.source, function))


class Found:
    """What a tool says of one function: gains by speed-up, with the truth it is to be held
    against; progress a second over all, and in experiments at 0."""

    def __init__(self, gains, over_all, at_zero):
        self.gains, self.over_all, self.at_zero = gains, over_all, at_zero


# --- coz ------------------------------------------------------------------------------------

def fields(line):
    return dict(word.split('=', 1) for word in line.rstrip('\n').split('\t') if '=' in word)


def experiments_of(path):
    """[(speed-up, events, seconds of virtual time)] of coz's profile."""
    found, now = [], None
    with open(path) as file:
        for line in file:
            if line.startswith('experiment\t'):
                of = fields(line)
                now = float(of['speedup']), float(of['duration']) / 1e9
            elif line.startswith('throughput-point\t') and now is not None:
                found.append((now[0], int(fields(line)['delta']), now[1]))
                now = None
    return found


def coz_gains(experiments, kind, function):
    gains = {}
    zero = [of for of in experiments if of[0] == 0]
    if not zero:
        return gains, None
    usual = sum(of[1] for of in zero) / sum(of[2] for of in zero)
    if usual == 0:
        return gains, None
    for speedup in SPEEDUPS:
        near = [of for of in experiments if of[0] > 0 and abs(of[0] - speedup) < NEAR]
        seconds = sum(of[2] for of in near)
        if seconds > 0:
            truth = sum(of[2] * gain(kind, function, of[0]) for of in near) / seconds
            gains[speedup] = sum(of[1] for of in near) / seconds / usual - 1, truth
    return gains, usual


def by_coz(options, kind, function, words):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'profile.coz')
        before = after = {}
        run = [options.coz, 'run', '-o', path, '--fixed-line',
               '%s:%d' % (SOURCE, line_of(options, function)), '---']
        with open(os.path.join(folder, 'stderr'), 'w+') as errors, \
                Program(options.target, kind, *words, 'seconds=%d' % options.duration,
                        through=run, errors=errors) as program:
            time.sleep(SETTLE)
            try:
                before = program.ask()
                after = program.last_words()
                # The sum of all is written at the end.
                program.child.wait()
            except (BrokenPipeError, ValueError):
                pass
            if not os.path.exists(path) or 'progress' not in after:
                errors.seek(0)
                print('%s: %s' % (' '.join(run), errors.read().strip()[-500:]))
                return None
            gains, usual = coz_gains(experiments_of(path), kind, function)
            return Found(gains, rate(before, after), usual)


# --- wallsample -----------------------------------------------------------------------------

def by_wallsample(options, kind, function, words):
    with Program(options.target, kind, *words) as program:
        time.sleep(SETTLE)
        before = program.ask()
        result = examine(options.wallsample, program.pid, [
            '--progress', 'progress=var:progress', '--select', '^%s$' % function,
            '--speedups', percents(SPEEDUPS), '-d', '%ds' % options.duration, *options.words])
        after = program.ask()
    if result is None:
        return None
    gains = {speedup: (found[0], gain(kind, function, speedup))
             for (_, _, speedup), found in gains_of(result).items() if speedup in SPEEDUPS}
    zero = [made for made in result['experiments']
            if made['speedup'] == 0 and made['end'] == 'whole']
    events = sum(made['readings'][0]['count'] for made in zero)
    wall = sum(made['wall_ns'] for made in zero) / 1e9
    return Found(gains, rate(before, after), events / wall if wall > 0 else None)


# --- both -----------------------------------------------------------------------------------

def percent(value):
    return '%6s' % '-' if value is None else '%6.1f' % (100 * value)


def gain_text(found, speedup, errors):
    if found is None or speedup not in found.gains:
        return '%6s %6s' % ('-', '')
    what, truth = found.gains[speedup]
    if truth == float('inf'):
        return '%6.1f %6s' % (100 * what, '')
    errors.append(100 * abs(what - truth))
    return '%6.1f %+6.1f' % (100 * what, 100 * (what - truth))


def costs(found, usual):
    """How much slower the program was over all, and at 0."""
    if found is None:
        return None, None
    return (1 - found.over_all / usual,
            1 - found.at_zero / usual if found.at_zero is not None else None)


TOOLS = {'coz': by_coz, 'wallsample': by_wallsample}


def compare(options, kind, function, errors, cost):
    usual, loops = alone(options, kind, ['unit=%s' % options.unit])
    words = ['unit=%s' % options.unit, 'loops=%d' % loops]
    found = {tool: by(options, kind, function, words) for tool, by in TOOLS.items()}
    usual = statistics.mean([usual, alone(options, kind, words)[0]])
    slower = {tool: costs(found[tool], usual) for tool in TOOLS}
    for speedup in SPEEDUPS:
        line = '%-9s %-13s %3.0f %7.1f ' % (kind, function, 100 * speedup,
                                            100 * gain(kind, function, speedup))
        for tool in TOOLS:
            line += '  ' + gain_text(found[tool], speedup, errors[tool])
        for tool in TOOLS:
            if speedup == SPEEDUPS[0]:
                line += '  %s %s' % (percent(slower[tool][0]), percent(slower[tool][1]))
        print(line, flush=True)
    for tool in TOOLS:
        cost[tool].append(slower[tool])


def sum_up(errors, cost):
    for tool in TOOLS:
        known = sorted(errors[tool])
        if known:
            print('%s: off by %.1f in the median, %.1f at most, of %d gains'
                  % (tool, statistics.median(known), known[-1], len(known)))
        for i, what in enumerate(('over all', 'where nothing is delayed')):
            of = [pair[i] for pair in cost[tool] if pair[i] is not None]
            if of:
                print('%s: the program is slower by %.1f %% %s, in the median'
                      % (tool, 100 * statistics.median(of), what))


def seconds(text):
    """As wallsample's -d has them, whole ones only."""
    return int(text.removesuffix('s'))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--target', required=True, help='tests/bench/bin/causal_kinds_coz')
    parser.add_argument('--source', required=True, help='tests/live/targets/causal_kinds.c')
    add_prediction(parser)
    parser.add_argument('--coz', default='coz')
    add_kinds(parser, UNITS)
    parser.add_argument('-d', '--duration', type=seconds, default=60,
                        help='seconds, of each tool and function')
    return parser.parse_args()


def main():
    options = parse_arguments()
    if shutil.which(options.coz) is None:
        return ('%s is missing, which is what this compares with. On Debian and Ubuntu: '
                'apt-get install coz-profiler' % options.coz)
    errors, cost = {tool: [] for tool in TOOLS}, {tool: [] for tool in TOOLS}

    print('%-9s %-13s %3s %7s   %-13s  %-13s  %-13s  %s' % (
        '', '', '', '', *['%s, off' % tool for tool in TOOLS],
        *['%s: slower' % tool for tool in TOOLS]))
    print('%-9s %-13s %3s %7s   %13s  %13s  %6s %6s  %6s %6s' % (
        'program', 'function', '%', 'true', '', '', 'all', 'at 0', 'all', 'at 0'))
    for kind in options.kind or UNITS:
        for function in UNITS[kind]:
            if options.function in (None, function):
                compare(options, kind, function, errors, cost)
    sum_up(errors, cost)


if __name__ == '__main__':
    sys.exit(main())
