# SPDX-License-Identifier: MIT
"""python_torn.py - goes from one call path to another as fast as it can.

Which stacks its loop can have is found first, by a trace of two rounds: each is printed on one
line, a frame a field, innermost first. Then "ready"; the end of the standard input ends it.
"""
import functools
import os
import sys
import threading


def d(n):
    return n + 1


def c(n):
    n = n + 1
    return d(n)


def b(n):
    return c(n) + 1


def a(n):
    n = b(n)
    return n


def j(n):
    return n * 2


def i(n):
    return j(
        n
    )


def h(n):
    return i(n)


def g(n):
    for _ in (1, 2):
        n = h(n)
    return n


def f(n):
    return g(n)


def e(n):
    return f(n)


def key_leaf(n):
    return -n


def key(n):
    return key_leaf(n)


def ordered(n):
    return sorted((n, 3, 2), key=key)


def add_leaf(left, right):
    return left + right


def add(left, right):
    left = left & 255
    return add_leaf(left, right)


def reduced(n):
    return functools.reduce(add, (n, 2, 3))


class Made:
    def __init__(self, n):
        self.n = n
        self.build()

    def build(self):
        self.n = self.n + 1

    def __lt__(self, other):
        return self.n < other.n


def making(n):
    return Made(n)


def least(n):
    return min(Made(n), Made(2))


def count(n):
    yield n
    yield n + 1


def delegate(n):
    yield from count(n)


def generated(n):
    total = 0
    for number in delegate(n):
        total += number
    return total


def round_of_all(n):
    a(n)
    e(n)
    ordered(n)
    reduced(n)
    making(n)
    least(n)
    generated(n)


def loop(ends):
    n = 0
    while not ends:
        n = (n + 1) & 15
        round_of_all(n)


def name_of(code):
    return getattr(code, 'co_qualname', code.co_name)


def fields(frame):
    while frame is not None:
        code = frame.f_code
        yield '{}@{}:{}'.format(name_of(code), os.path.basename(code.co_filename), frame.f_lineno)
        frame = frame.f_back


class Trace:
    """Collects every stack of the first rounds, with lines, and ends them."""

    def __init__(self):
        self.stacks = set()
        self.rounds = 0
        self.ends = []

    def __call__(self, frame, event, _):
        if name_of(frame.f_code) == 'round_of_all' and event == 'call':
            self.rounds += 1
            if self.rounds == 3:
                self.ends.append(True)
        self.stacks.add('\t'.join(fields(frame)))
        return self


def begin(trace):
    """Begins the trace, and ends and prints it the second time. Its own stacks are left out."""
    if not trace.ends:
        sys.settrace(trace)
        return trace.ends
    sys.settrace(None)
    print('\n'.join(sorted(stack for stack in trace.stacks if '\tloop@' in '\t' + stack)))
    print('ready', flush=True)
    ends = []
    threading.Thread(target=lambda: (sys.stdin.read(), ends.append(True)), daemon=True).start()
    return ends


def main():
    trace = Trace()
    for _ in range(2):
        loop(begin(trace))


main()
