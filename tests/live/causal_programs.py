# SPDX-License-Identifier: MIT
"""causal_programs.py - what arithmetic says of the kinds of targets/causal_kinds.c, and a way
to run one and to speed its functions up while it runs.

gain(kind, function, speedup) is the gain in progress for a function that takes 1 - speedup of its
time; latency_gain the same of the mean time from begin to end, as a part of it. On two CPUs
that the program has for itself: no kind ever has three threads that could run.
"""
import subprocess

UNITS = {
    'phases': {'phase_first': 2.0, 'phase_second': 1.9},
    'serial': {'part_long': 2.0, 'part_short': 1.0, 'part_serial': 1.0},
    'pipeline': {'stage_read': 0.3, 'stage_work': 1.0, 'stage_write': 0.3},
    'locked': {'inside_lock': 1.0, 'outside_lock': 0.8},
    'make': {'make_item': 1.0, 'eat_item': 0.6},
    'eat': {'make_item': 0.6, 'eat_item': 1.0},
    'mail': {'do_work': 1.0, 'read_mail': 0.5, 'write_mail': 4.0},
}
QUEUE = 4
LATENCY_KINDS = ('make', 'eat')  # for which latency() knows an answer


def mail_period(u):
    """The clerk reads at most one letter after each piece of work."""
    work, read, write = u['do_work'], u['read_mail'], u['write_mail']
    if write <= work + read:
        return work + read
    return work / (1 - read / write)


# Units of time from one progress event to the next.
PERIOD = {
    'phases': lambda u: max(u.values()),
    'serial': lambda u: max(u['part_long'], u['part_short']) + u['part_serial'],
    'pipeline': lambda u: max(u['stage_work'], u['stage_read'] + u['stage_write']),
    'locked': lambda u: max(2 * u['inside_lock'], u['inside_lock'] + u['outside_lock']) / 2,
    'make': lambda u: max(u.values()),
    'eat': lambda u: max(u.values()),
    'mail': mail_period,
}


def units(kind, function=None, speedup=0.0):
    own = dict(UNITS[kind])
    if function is not None:
        own[function] *= 1 - speedup
    return own


def gain(kind, function, speedup):
    faster = PERIOD[kind](units(kind, function, speedup))
    return PERIOD[kind](units(kind)) / faster - 1 if faster > 0 else float('inf')


def latency(u):
    """From being made, before it is put into the queue, to being eaten, of kinds make and eat.
    A queue that is always full: all in it, one being eaten, one waiting to be put."""
    make, eat = u['make_item'], u['eat_item']
    return eat if make >= eat else (QUEUE + 2) * eat - make


def latency_gain(kind, function, speedup):
    return 1 - latency(units(kind, function, speedup)) / latency(units(kind))


class Program:
    """One of the kinds, running; to be used with `with`."""

    def __init__(self, path, kind, *words, through=(), errors=None):
        """`through`: the words of a command that starts it; `errors`: where its stderr goes."""
        self.child = subprocess.Popen([*through, path, kind, *words], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=errors, text=True)
        if self.child.stdout.readline() != 'ready\n':
            raise SystemExit('%s %s: not ready' % (path, kind))
        self.pid = self.child.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()
        self.child.stdin.close()
        self.child.stdout.close()

    def say(self, line):
        self.child.stdin.write(line + '\n')
        self.child.stdin.flush()

    def ask(self):
        """Its counters, by name; times in nanoseconds."""
        self.say('?')
        return self.last_words()

    def last_words(self):
        """Its counters, which it says when its time is over."""
        words = self.child.stdout.readline().split()
        return {name: int(value) for name, value in zip(words[::2], words[1::2])}


def rate(before, after):
    """Progress a second, from one event to another."""
    return 1e9 * (after['progress'] - before['progress']) / (after['at'] - before['at'])


def mean_latency(before, after):
    """Seconds from begin to end, of all that ended in between; None: nothing did."""
    ended = after['ended'] - before['ended']
    return (after['latency'] - before['latency']) / 1e9 / ended if ended else None
