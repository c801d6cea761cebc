# SPDX-License-Identifier: MIT
"""python_check.py WHAT RECORDING VERSION … - is a recording of a Python program right?

Says what is not, and ends with 1 then.
"""
import re
import sys

from python_recording import Recording, bound, python_of, text_of

wrong = []


def complain(text, *args):
    wrong.append(text)
    if len(wrong) <= 20:
        print('    ' + text.format(*args))


def expect_no_markers(recording, text='['):
    for span in recording.spans:
        for frame in span.stack:
            if frame.marker and frame.name.startswith(text):
                complain('{}: {} in {}', span.thread, frame, text_of(span.stack))


# --- shapes: python_shapes.py ---------------------------------------------------------------

# Native code that is between two Python functions, if it has a name.
BETWEEN = [
    ('sort_key', 'builtin_sorted', 'sort_key.<locals>.<lambda>'),
    ('sort_key', 'list_sort', 'sort_key.<locals>.<lambda>'),
    ('reduce', '_?functools_reduce', 'reduce.<locals>.add'),
    ('generator_expression', 'builtin_sum', 'generator_expression.<locals>.<genexpr>'),
    ('attribute', '(slot_tp_getattr_hook|call_attribute)', 'Widget.__getattr__'),
    ('comparison', '(min_max|builtin_min)', 'Widget.__lt__'),
    ('evaluated', 'builtin_eval', '<module>'),
    ('executed', 'builtin_exec', '<module>'),
    ('mapped', 'map_next', 'hold'),
    ('partial', '(partial_|_PyObject_Vectorcall)', 'hold'),
    ('wrapper', None, 'wrapped'),
]


def last(name):
    """Names were unqualified before 3.11."""
    return name.rsplit('.', 1)[-1]


def expect_between(stack, outer, native, inner, where):
    """Of a stack, outermost first; a tail call leaves no frame, so any native frame will do when
    that function is not there in name."""
    at = [i for i, frame in enumerate(stack) if frame.python and last(frame.name) == last(outer)]
    end = [i for i, frame in enumerate(stack) if frame.python and last(frame.name) == last(inner)]
    if not at or not end:
        return False
    between = [name for frame in stack[at[-1] + 1:end[-1]] if not frame.python
               for name in frame.names]
    if native is not None and not any(re.match(native, name) for name in between):
        complain('{}: no {} between {} and {}: {}', where, native, outer, inner,
                 text_of(reversed(stack)))
    return True


def expect_native_inside(stack, where):
    """All wait in a system call, which is inside of all Python functions."""
    if stack[-1].python:
        complain('{}: nothing inside of {}', where, stack[-1])


def expect_one_call(stack, version, where):
    """Since 3.11 a Python function that calls another needs no native frame for that."""
    at = [i for i, frame in enumerate(stack) if frame.python and frame.name == 'recursion']
    if len(at) < 2:
        return
    natives = sum(not frame.python for frame in stack[at[0]:at[-1]])
    if version >= (3, 11) and natives != 0:
        complain('{}: {} native frames within a recursion', where, natives)
    if version < (3, 11) and natives < len(at) - 1:
        complain('{}: only {} native frames in {} calls', where, natives, len(at))


def shapes(recording, version, says):
    version = tuple(int(part) for part in version.split('.')[:2])
    truth = {}
    for line in open(says):
        fields = line.rstrip('\n').split('\t')
        truth[int(fields[0])] = fields[1:]
    expect_no_markers(recording)
    names = {name for frame in recording.frames.values() for name in frame.names}
    named = bool(names & {'pysleep', 'time_sleep'})
    met, orders = set(), set()
    for span in recording.spans:
        if span.thread not in truth:
            continue
        want = truth[span.thread]
        have = [str(frame) for frame in python_of(span.stack)]
        met.add(span.thread)
        if have != want:
            complain('{} is\n        {}, not\n        {}', span.thread, ' < '.join(have),
                     ' < '.join(want))
        stack = span.stack[::-1]
        expect_native_inside(stack, span.thread)
        expect_one_call(stack, version, span.thread)
        for order in BETWEEN:
            if named and expect_between(stack, *order, where=span.thread):
                orders.add(order)
    if met != set(truth) or len(met) < 21:
        complain('{} of {} threads are there', len(met), len(truth))
    if named and len(orders) < len(BETWEEN):
        complain('never met: {}', set(BETWEEN) - orders)
    return '{} threads{}'.format(len(met), ', with names' if named else '')


# --- parts: python_parts.py ----------------------------------------------------------------------


def parts(recording, version, says):
    with open(says) as file:
        _, tid, *want = file.readline().split()
    met = 0
    # A thread that comes or goes may have a native stack that is not whole.
    expect_no_markers(recording, '[python')
    for span in recording.spans:
        if span.thread != int(tid):
            continue
        have = [last(frame.name) for frame in python_of(span.stack)]
        met += span.samples
        if have != want:
            complain('{} is {}, not {}', tid, text_of(span.stack), ' < '.join(want))
        expect_native_inside(span.stack[::-1], tid)
    if met == 0:
        complain('thread {} was not sampled', tid)
    return '{} functions, {} samples'.format(len(want), met)


def becomes(recording, version):
    """How long it takes until it is known depends on the machine; code of its beginning may have
    gone before its name is read."""
    want = ['become', 'main', '<module>']
    known = sum(span.wall_ns for span in recording.spans if span.state == 'S' and
                [last(frame.name) for frame in python_of(span.stack)] == want)
    if known < 100e6:
        complain('{} ms of 800 were seen in Python', known / 1e6)
    return '{:.0f} of 800 ms are seen in Python'.format(known / 1e6)


# --- torn: python_torn.py ---------------------------------------------------------------------

# Of so many samples of a running thread one may have Python functions that nobody could match
# with the native ones: a stop between the few instructions of a call that say so.
UNMATCHED_ONE_IN = 1000


def without_line(text):
    return text.rsplit(':', 1)[0]


def possible_stacks(says):
    """With lines; the innermost function may be at any of its lines, for an interpreter may note
    where it is no more often than it must."""
    stacks = set()
    for text in open(says):
        fields = text.rstrip('\n').split('\t')
        stacks.add((without_line(fields[0]),) + tuple(fields[1:]))
    return stacks


def torn(recording, version, says):
    possible = possible_stacks(says)
    running = [span for span in recording.spans
               if span.state in 'RQ' and any(frame.name == 'loop' for frame in span.stack)]
    samples = sum(span.samples for span in running)
    unmatched = 0
    met = set()
    for span in running:
        markers = [frame for frame in span.stack if frame.marker]
        have = [str(frame) for frame in python_of(span.stack)]
        if markers:
            unmatched += span.samples
            print('    marked: ' + text_of(span.stack))
        stack = (without_line(have[0]),) + tuple(have[1:])
        met.add(stack)
        if stack not in possible:
            complain('impossible: {}', text_of(span.stack))
    if samples < 100:
        complain('only {} samples of the thread running', samples)
    if unmatched > 1 + samples / UNMATCHED_ONE_IN:
        complain('{} of {} samples have markers', unmatched, samples)
    return '{} samples, {} of {} stacks, {} with a marker'.format(
        samples, len(met), len(possible), unmatched)


# --- the lock: python_gil.py -------------------------------------------------------------------

# Threads of one tick are not observed at one moment.
APART = 0.15
# A thread that was made to let go of the lock, and is preempted before it asks for it again,
# neither has it nor waits for it.
NEITHER = 0.05


class Lock:
    """What the target said of its threads, and what the recording says."""

    def __init__(self, recording, says):
        self.recording = recording
        self.tid, self.cpu, self.delay = {}, {}, {}
        for line in open(says):
            what, name, value = line.split()
            if what == 'thread':
                self.tid[name] = int(value)
            else:
                getattr(self, what)[name] = float(value)
        for name, tid in self.tid.items():
            if self.samples(name) < 20:
                complain('only {} samples of {}', self.samples(name), name)

    def samples(self, name):
        return self.recording.samples(lambda span: span.thread == self.tid[name])

    def share(self, name, *gil):
        return self.recording.share(self.tid[name], gil)

    def woken(self, name):
        """The share of its time in which the thread waits for the lock and does not sleep: it was
        woken to take the lock, which may have no holder until the thread gets a CPU. By the
        kernel's account it has waited at least that long for a CPU."""
        share = self.recording.share(self.tid[name], ('wait', 'handover'), awake=True)
        return min(share, self.delay[name])

    def margin(self, name, share):
        return bound(share, max(1, self.samples(name)))

    def expect(self, name, gil, least, most):
        share = self.share(name, *gil)
        if not least - self.margin(name, least) <= share <= most + self.margin(name, most):
            complain('{} {} in {:.3f} of its time, wanted {} to {}', name, '+'.join(gil), share,
                     least, most)

    def text(self):
        return ', '.join('{} has {:.3f} wait {:.3f} handover {:.3f} none {:.3f} (cpu {:.3f})'.format(
            name, self.share(name, 'has'), self.share(name, 'wait'), self.share(name, 'handover'),
            self.share(name, 'none'), self.cpu.get(name, 0)) for name in sorted(self.tid))

    def blame(self):
        """(thread, names of its stack, time) of who had the lock that others waited for."""
        rows = self.recording.base.execute(
            "SELECT t.tid, b.stack, b.wall_ns FROM blame b JOIN wait_names w ON w.wait = b.wait "
            "LEFT JOIN threads t ON t.id = b.thread WHERE w.what LIKE 'GIL%'")
        for tid, stack, wall_ns in rows:
            frames = self.recording.stack(stack) if stack is not None else []
            yield tid, {name for frame in frames for name in frame.names}, wall_ns


def loops(recording, version, says):
    lock = Lock(recording, says)
    lock.expect('main', ['none'], 1 - APART, 1)
    every = apart = 0
    for name in ('first', 'second'):
        lock.expect(name, ['has', 'wait', 'handover'], 1 - NEITHER, 1)
        # Who uses the CPU has the lock; who has it may wait for a CPU.
        lock.expect(name, ['has'], max(0, lock.cpu[name] - APART), 1)
        every += lock.share(name, 'has')
        apart += APART / 2 + lock.margin(name, lock.share(name, 'has'))
    free = lock.woken('first') + lock.woken('second')
    if not 1 - apart - free <= every <= 1 + apart:
        complain('both together have it {:.3f} of the time, free {:.3f}', every, free)
    return lock.text()


def hashing(recording, version, says):
    lock = Lock(recording, says)
    lock.expect('main', ['none'], 1 - APART, 1)
    lock.expect('hash', ['none'], 0.9, 1)
    lock.expect('hash', ['has'], 0, 0.1)
    return lock.text()


def holding(recording, version, says):
    lock = Lock(recording, says)
    for span in recording.spans:
        names = {name for frame in span.stack for name in frame.names}
        if span.thread != lock.tid['holder'] or span.state != 'S':
            continue
        if 'usleep' in names and span.gil != 'has':
            complain('holder: {} while it sleeps with the lock', span.gil or 'unknown')
        if 'usleep' not in names and span.gil == 'has':
            complain('holder: has it in {}', text_of(span.stack))
    lock.expect('waiter', ['wait', 'handover', 'has'], 1 - NEITHER, 1)
    has = lock.share('holder', 'has')
    free = lock.woken('holder') + lock.woken('waiter')
    lock.expect('waiter', ['wait', 'handover'], max(0, has - APART), min(1, has + free + APART))
    every = sum(wall_ns for tid, _, wall_ns in lock.blame() if tid != lock.tid['waiter'])
    its = sum(wall_ns for tid, names, wall_ns in lock.blame()
              if tid == lock.tid['holder'] and 'sleep_holding' in names)
    # A lock that is free is nobody's, although it is waited for.
    wall = lock.recording.wall(lock.tid['waiter'])
    if its < (1 - APART) * every - free * wall or its == 0:
        complain('{} of {} ns of waiting are the holder\'s', its, every)
    return lock.text()


# --- threads that start: python_starts.py ----------------------------------------------------

def starts(recording, version):
    """All sleep of the program is below nap(). Only running and runnable threads may have no Python
    frames: a thread that begins or ends executes none."""
    naps = [span for span in recording.spans if span.state == 'S' and
            any('nanosleep' in name or name == 'select' for name in span.stack[0].names)]
    every = sum(span.samples for span in naps)
    lost = [span for span in naps if 'nap' not in map(str, map(last_of, span.stack))]
    part = sum(span.samples for span in lost)
    if every < 20 or part > max(1, every / 100):
        complain('{} of {} samples of sleep are not below nap()', part, every)
        for span in lost[:3]:
            complain('{}: {}', span.thread, text_of(span.stack))
    return '{} of {} samples of sleep are not below nap()'.format(part, every)


def last_of(frame):
    return last(frame.name) if frame.python else ''


def one_by_one(recording, version):
    """While the main thread waits for the other one in join(), the other one exists: in each tick
    that has found the main thread there, it must have been found, too."""
    joined = others = 0
    for span in recording.spans:
        names = [last_of(frame) for frame in span.stack]
        if 'join' in names:
            joined += span.wall_ns
        elif 'start_and_join' not in names and 'wait' not in names:
            others += span.wall_ns
    if others < 0.97 * joined:
        complain('threads are sampled for {} of {} ns', others, joined)
    return starts(recording, version)


CHECKS = {'one': one_by_one, 'server': starts, 'shapes': shapes, 'parts': parts,
          'becomes': becomes, 'torn': torn, 'loops': loops, 'hash': hashing, 'hold': holding}


def main():
    said = CHECKS[sys.argv[1]](Recording(sys.argv[2]), *sys.argv[3:])
    if wrong:
        print('    {} mistakes in all'.format(len(wrong)))
    elif said:
        print('{}: {}: {}'.format(sys.argv[3], sys.argv[1], said))
    sys.exit(1 if wrong else 0)


main()
