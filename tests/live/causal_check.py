# SPDX-License-Identifier: MIT
"""causal_check.py WALLSAMPLE TARGET - predictions against arithmetic (causal_programs.py).

A prediction is right if its 95 % interval, made wider by POINTS, covers the truth: a busy machine
makes intervals wide, not wrong. Of two functions of one program the one that truly brings more
must not be said, with certainty, to bring less; what truly brings much must not be said to hurt,
nor what truly hurts to help.
"""
import json
import subprocess
import sys

from causal_programs import UNITS, Program, gain

POINTS = 5.0
SPEEDUP = 0.5
# Few milliseconds to a unit, and looks in proportion: many events in little time.
UNIT = 'unit=5'
WORDS = ['--tick', '1500us', '--experiment', '300ms', '--profile-time', '500ms',
         '--precision', '4', '-d', '15s', '-f', 'json', '-q']
PROGRAMS = ('phases', 'serial', 'locked', 'eat', 'mail')


def predict(wallsample, target, kind):
    """{function: (gain, low, high, verdict)} in points, at SPEEDUP."""
    with Program(target, kind, UNIT) as program:
        words = [wallsample, 'causal', '-p', str(program.pid), '--progress', 'var:progress',
                 '--select', '^(%s)$' % '|'.join(UNITS[kind]), '--speedups',
                 '0,%g' % (100 * SPEEDUP), '-o', '-', *WORDS]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit('FAILED: %s: status %d: %s' % (kind, done.returncode, done.stderr))
    result = json.loads(done.stdout)
    names = [candidate['name'] for candidate in result['candidates']]
    found = {}
    for curve in result['curves']:
        last = curve['gains'][-1]
        if last['gain'] is not None:
            found[names[curve['candidate']]] = (
                100 * last['gain'], 100 * last['low'], 100 * last['high'], curve['verdict'])
    return found


def complaints(kind, found):
    truth = {function: 100 * gain(kind, function, SPEEDUP) for function in UNITS[kind]}
    for function, true in truth.items():
        if function not in found:
            yield '%s: nothing is known' % function
            continue
        value, low, high, verdict = found[function]
        print('%-8s %-13s true %6.1f  predicted %6.1f (%6.1f, %6.1f) %s' % (
            kind, function, true, value, low, high, verdict))
        if not low - POINTS <= true <= high + POINTS:
            yield '%s: the interval does not cover the truth' % function
        if verdict == ('hurts' if true > POINTS else 'helps' if true < -POINTS else None):
            yield '%s: has the wrong sign' % function
    for more in found:
        for less in found:
            if truth[more] > truth[less] and found[more][2] < found[less][1] - POINTS:
                yield '%s brings more than %s, not less' % (more, less)


def main():
    wallsample, target = sys.argv[1:]
    failed = False

    for kind in PROGRAMS:
        for complaint in complaints(kind, predict(wallsample, target, kind)):
            print('FAILED: %s: %s' % (kind, complaint))
            failed = True
    sys.exit(failed)


main()
