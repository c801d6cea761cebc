# SPDX-License-Identifier: MIT
"""causal_predict.py - has a process examined by `wallsample causal`, for the benches."""
import json
import os
import random
import statistics
import subprocess
import tempfile

NEAR = 3.0     # points that a prediction may be off
NARROW = 5.0   # half the width of an interval, in points


def add_prediction(parser, required=True):
    parser.add_argument('--wallsample', required=required, help='predict with it')
    parser.add_argument('--word', dest='words', action='append', default=[],
                        help='another word for wallsample causal')


def add_kinds(parser, kinds):
    parser.add_argument('--kind', action='append', choices=list(kinds), help='only these')
    parser.add_argument('--function', help='only this one')
    parser.add_argument('--unit', type=float, default=20, help='of work, in ms')


def examine(wallsample, pid, words):
    """What it found, as its JSON report; None: nothing, and it has been said why."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'causal.json')
        command = [wallsample, 'causal', '-p', str(pid), '-f', 'json', '-o', path, *words]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode not in (0, 1) or not os.path.exists(path):
            print('%s: status %d: %s' % (' '.join(command), done.returncode,
                                         done.stderr.strip()))
            return None
        with open(path) as file:
            return json.load(file)


def gains_of(result):
    """{(point, function, speedup): (gain, low, high)}"""
    return {(result['progress'][curve['progress']]['name'],
             result['candidates'][curve['candidate']]['name'], gain['speedup']):
            (gain['gain'], gain['low'], gain['high'])
            for curve in result['curves']
            for gain in curve['gains'] if gain['speedup'] > 0 and gain['gain'] is not None}


def percents(speedups):
    """As a word for --speedups: 0 and these."""
    return ','.join('%g' % (100 * speedup) for speedup in [0, *speedups])


def by_turns(values):
    """Median, and its 95 % interval by drawing again from the values."""
    chance = random.Random(1)
    drawn = sorted(statistics.median(chance.choices(values, k=len(values)))
                   for _ in range(2000))
    return statistics.median(values), drawn[50], drawn[-51]


class Tally:
    def __init__(self):
        self.cells = self.good = self.covered = self.narrow = 0
        self.errors = []

    def add(self, truths, found):
        """True: near one of the truths, or its interval covers one."""
        near = min(abs(100 * (found[0] - truth)) for truth in truths)
        covered = any(found[1] <= truth <= found[2] for truth in truths)
        good = near <= NEAR or covered
        self.cells += 1
        self.good += good
        self.covered += covered
        self.narrow += 100 * (found[2] - found[1]) <= 2 * NARROW
        self.errors.append(near)
        return good

    def print(self):
        if self.cells:
            print('%d of %d within %g points or covered; off by %.1f in the median, %.1f at most'
                  % (self.good, self.cells, NEAR, statistics.median(self.errors),
                     max(self.errors)))
            print('%d of %d covered; %d of %d intervals at most +-%g points'
                  % (self.covered, self.cells, self.narrow, self.cells, NARROW))


def text(found):
    if found is None:
        return '%22s' % '-'
    return '%6.1f (%6.1f, %6.1f)' % tuple(100 * value for value in found)
