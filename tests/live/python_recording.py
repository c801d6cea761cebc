# SPDX-License-Identifier: MIT
"""python_recording.py - a recording, as tests of Python programs want to see it."""
import os
import sqlite3

ABSENT = '[not sampled: wallsample did not run]'


class Frame:
    """One function: of Python, native code (with what was inlined, outermost first), or a word
    in brackets for what could not be read."""

    def __init__(self, origin, names, file, line):
        self.names = names
        self.name = names[-1]
        self.python = origin == 'interpreter'
        self.marker = not self.python and self.name.startswith('[')
        self.file = os.path.basename(file or '')
        self.line = line or 0

    def __str__(self):
        return '{}@{}:{}'.format(self.name, self.file, self.line) if self.python else self.name


class Span:
    def __init__(self, row, recording):
        (self.thread, stack, self.state, gil, self.samples, self.wall_ns, self.wait) = row
        self.gil = gil or ''
        self.stack = recording.stack(stack)


class Recording:
    def __init__(self, path):
        self.base = sqlite3.connect(path)
        self.frames = dict(self._frames())
        self.callers = {row[0]: row[1:] for row in
                        self.base.execute('SELECT id, frame, caller FROM stacks')}
        self.stacks = {}
        threads = dict(self.base.execute('SELECT id, tid FROM threads'))
        self.names = dict(self.base.execute('SELECT tid, name FROM threads'))
        rows = self.base.execute('SELECT thread, stack, state, gil, samples, wall_ns, wait '
                                 'FROM spans')
        every = [Span((threads[row[0]],) + row[1:], self) for row in rows]
        self.spans = [span for span in every if span.samples > 0]
        # Spans without samples correct the weights by the kernel's accounting.
        self.weights = every

    def _frames(self):
        symbols = {}
        for frame, function in self.base.execute(
                'SELECT frame, function FROM symbols ORDER BY frame, depth DESC'):
            symbols.setdefault(frame, []).append(function)
        for row in self.base.execute('SELECT id, origin, name, file, line FROM frames'):
            names = symbols.get(row[0]) or [row[2] or '?']
            yield row[0], Frame(row[1], names, row[3], row[4])

    def stack(self, number):
        """Its frames, innermost first."""
        if number not in self.stacks:
            frames, at = [], number
            while at is not None:
                frame, at = self.callers[at]
                frames.append(self.frames[frame])
            self.stacks[number] = frames
        return self.stacks[number]

    def samples(self, of=lambda span: True):
        return sum(span.samples for span in self.spans if of(span))

    def share(self, thread, gil, awake=False):
        """The part of the thread's time in these states of the lock; awake: without its sleep."""
        every = self.wall(thread)
        part = sum(span.wall_ns for span in self._of(thread)
                   if span.gil in gil and not (awake and span.state == 'S'))
        return part / every if every else 0

    def wall(self, thread):
        """Nanoseconds of the thread."""
        return sum(span.wall_ns for span in self._of(thread))

    def _of(self, thread):
        """The spans of the thread while wallsample ran."""
        return [span for span in self.weights
                if span.thread == thread and span.stack[0].name != ABSENT]


def python_of(stack):
    return [frame for frame in stack if frame.python]


def text_of(stack):
    return ' < '.join(str(frame) for frame in stack)


def bound(share, samples):
    """Five standard deviations of a share of so many samples: see tests/README."""
    return 5 * (max(share * (1 - share), 1 / samples) / samples) ** 0.5
