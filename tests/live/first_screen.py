# SPDX-License-Identifier: MIT
"""first_screen.py WALLSAMPLE CAUSES DIRECTORY [KIND...] - samples programs that are slow for one
known reason (causes.c). The first screen names it: the kind, the object, the function with its
line, and the thread that holds the object. The numbers depend on the machine, so that only texts
are compared.
"""
import contextlib
import os
import re
import subprocess
import sys

import sampling

LINES, COLUMNS = 24, 80
SECONDS = '3'

# A thread of a deadlock. Lines are broken where the page ends.
STUCK = (r'^ +in transfer causes\.c:\d+: transfer-\d+ waits\s+for\s+mutex\s+\w+_lock,\s+held\s+by'
         r'\s+transfer-\d+$')
# The kind of program, and regular expressions that must be found in the screen, in this order.
SCREENS = {
    'lock': [r'^WHY IT IS SLOW$', r'^\d Lock +mutex book_lock: 6 threads waited [\d.]+% of their',
             r'^ +waits in +handle_order causes\.c:\d+$',
             r'^ +held by +pass causes\.c:\d+, called by audit, sleeping [\d.]+%$',
             r'^WHERE THE TIME GOES', r'% +handle_order +causes\.c:\d+ +[.#~]+ +mutex book_lock$',
             r'% +pass +causes\.c:\d+ ', r'^Left out: 1 idle thread \(causes, sleeping in poll\)',
             r'^next +wallsample --blame --tree -p \d+ -d 3 +the lock holders$'],
    'deadlock': [r'^1 Deadlock +2 threads wait for one another',
                 STUCK, STUCK,
                 r'transfer +causes\.c:\d+ +\.+ +mutex \w+_lock, …$',
                 r'^next +wallsample dump -p \d+ +stacks of all threads$'],
    'disk': [r'^\d Disk +[\d.]+% of the time all threads were waiting for\s+fsync\s+of',
             r'^ +waits in +save_record causes\.c:\d+, called by write_records$',
             r'% +save_record +causes\.c:\d+ '],
    'faults': [r'^\d Page faults +[\d.]+% of the time all threads were waiting for memory',
               r'^ +waits in +read_table causes\.c:\d+$', r'% +read_table +causes\.c:\d+ '],
    'downstream': [r'^\d Socket +[\d.]+% of the time every thread was waiting, mostly in',
                   r'^ +receive: tcp to 127.0.0.1:\d+, causes \(\d+\), \d+ times per\s+second,'
                   r'\s+[\d.]+ms\s+each$',
                   r'^ +waits in +fetch_price causes\.c:\d+',
                   r'% +fetch_price +causes\.c:\d+ +[.~#]+ +socket ',
                   r'^next +wallsample -p \d+ -d 3 +the awaited process$'],
    # On a busy machine a trip may take longer than a millisecond.
    'trips': [r'^\d (Round trips|Socket) +[\d.]+% of the time every thread was waiting, mostly in',
              r'^ +receive: tcp to 127.0.0.1:\d+, causes \(\d+\), [\d,]+ times per\s+second,'
              r'\s+[\d.]+[mu]s\s+each(:\s+many\s+short\s+requests)?$',
              r'^ +waits in +fetch_price causes\.c:\d+',
              r'% +fetch_price +causes\.c:\d+ +[.~#]+'],
    'pool': [r'^\d Small pool +[\d.]+% of the time every thread was waiting, mostly in',
             r'^ +waits in +fetch_price causes\.c:\d+, called by serve_requests$',
             r'^ +threads +all 2 of serve_requests were occupied [\d.]+% of the\s+time;',
             r'^ +queue in +put_requests causes\.c:\d+$', r'% +fetch_price +causes\.c:\d+ +\.+'],
    'polling': [r'^\d Polling +[\d.]+% of the time every thread was waiting, mostly in sleeps of',
                r'a\s+fixed\s+time, \d{2,3} times per\s+second, [\d.]+ms each$',
                r'^ +waits in +pass causes\.c:\d+, called by await_work$',
                r'% +pass +causes\.c:\d+ +[.~#]+'],
    'loop': [r'^\d Event loop +only one thread was running [\d.]+% of the time',
             r'^ +runs in +compute causes\.c:\d+, called by run_events$',
             r'^ +thread +events; what it runs delays all other events of its$',
             r'^ +loop, for [\d.]+ms at a time on average$',
             r'% +compute +causes\.c:\d+ +#+'],
    'busy': [r'^\d CPU ', r'^ +mostly in +compute causes\.c:\d+, called by render$',
             r'% +compute +causes\.c:\d+ +#+'],
    'crowd': [r'^\d Few CPUs +runnable threads waited for a CPU [\d.]+% of the time',
              r'% +compute +causes\.c:\d+ +#+~+'],
    'serial': [r'^\d One thread ', r'^ +runs in +compute causes\.c:\d+, called by render$',
               r'% +compute +causes\.c:\d+ +#+'],
    'limit': [r'^\d CPU limit +a control group \(/wallsample-test-\d+\)\s+limits\s+the\s+program\s+to'
              r'\s+0\.30\s+CPUs;\s+the\s+limit\s+was\s+used\s+up',
              r'^ +mostly in +compute causes\.c:\d+, called by render$',
              r'% +compute +causes\.c:\d+ +#+~+'],
    'chatty': [r'^\d Small calls +[0-9,]+ reads per second, 1 byte each on average;',
               r'^ +called in +parse_bytes causes\.c:\d+$', r'% +parse_bytes +causes\.c:\d+ +#+'],
    'spin': [r'^\d Spinning +[\d.]+% of the CPU time was spent busy-waiting for other',
             r'^ +mostly in +enter_ring causes\.c:\d+$', r'% +enter_ring +causes\.c:\d+ +#+'],
    'allocator': [r'^\d Allocator +allocator lock main_arena: 3 threads waited [\d.]',
                  r'^ +waits in +build_index causes\.c:\d+$', r'% +build_index +causes\.c:\d+ '],
    # Which of the two it is depends on how long the lock is free while it is handed over.
    'gil': [r"^\d GIL +(the interpreter's lock was held \d+% of the time; \d\.\d threads|threads waited "
            r"for the interpreter's lock [\d.]+% of the time in which)",
            r'^ +(held|waits) in +parse_rows contend\.py:\d+', r'% +parse_rows +contend\.py:\d+ '],
    'stopped': [r'^1 Stopped +threads were stopped', r'% +main +causes\.c:\d+ +\.+ +stopped$',
                r'^next +kill -CONT \d+ +resumes the program$'],
    'database': [r'^1 Lock +database lock: 1 thread waited (100|9[\d.]+)% of its time for it$',
                 r'^ +waits in +ProcSleep causes\.c:\d+, called by heap_update$',
                 r'^ +query +SELECT pid, pg_blocking_pids\(pid\) FROM$',
                 r'% +ProcSleep +causes\.c:\d+ +\.+ +database lock$'],
    'idle': [r'^1 Idle +not busy: (100|9[\d.]+)% of the time every thread was waiting, for work',
             r'^ +waits in +idle_for_ever causes\.c:\d+$',
             r'% +idle_for_ever +causes\.c:\d+ +\.+ +sleeping in poll$'],
}
# Other load on the machine may hide the cause of the other kinds. The screen must then say so.
ANY_LOAD = {'lock', 'deadlock', 'stopped', 'idle', 'database'}
OTHER_LOAD = [r'^\d (?:Other load|CPU wait) +runnable threads waited for a CPU [\d.]+% of the time']
# On a fast disk, or in memory, these hardly wait: their bar then has no quarter of blocked time.
NEEDS_DISK = {'disk', 'faults'}
BAR = re.compile(r'^ *\S+ +\S+% +\S+ +causes\.c:\d+ +([#~.]+)', re.MULTILINE)
# A kind that is another one in a control group with a quota of CPU time, in percent.
QUOTAS = {'limit': ('busy', 30)}


@contextlib.contextmanager
def running(words):
    """Starts a program, waits until it prints "ready", and yields its id."""
    program = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        while program.stdout.readline() not in ('ready\n', ''):
            pass
        yield program.pid
    finally:
        program.kill()
        program.communicate()


@contextlib.contextmanager
def command_of(causes, kind, path):
    """Yields the command that starts a program of the kind; None if that is not possible here."""
    if kind == 'gil':
        yield [sys.executable, os.path.join(os.path.dirname(__file__), 'targets', 'contend.py')]
        return
    if kind not in QUOTAS:
        yield [causes, kind, path]
        return
    group = sampling.make_group()
    if group is None:
        yield None
        return
    sampling.set_quota(group, QUOTAS[kind][1])
    try:
        yield sampling.in_group(group, [causes, QUOTAS[kind][0], path])
    finally:
        sampling.remove_group(group)


def screen_of(wallsample, words):
    with running(words) as pid:
        run = subprocess.run([wallsample, '-q', '-p', str(pid), '-d', SECONDS,
                              '--max-stopped', '100'],
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1):
        sys.exit('status %d: %s' % (run.returncode, run.stderr))
    return run.stdout


def missing(screen, wanted):
    """The first of the regular expressions that is not found below the one before it."""
    at = 0
    for expression in wanted:
        found = re.compile(expression, re.MULTILINE).search(screen, at)
        if found is None:
            return expression
        at = found.end()
    return None


def check(wallsample, causes, kind, path):
    """False: the screen lacks something, or is too large."""
    with command_of(causes, kind, path) as words:
        if words is None:
            print('%s: no control group can be made' % kind)
            return True
        screen = screen_of(wallsample, words)
    wrong = missing(screen, SCREENS[kind])
    if wrong and kind not in ANY_LOAD and not missing(screen, OTHER_LOAD):
        print('%s: another program uses the CPUs' % kind)
        wrong = missing(screen, SCREENS[kind][-1:])
    bar = BAR.search(screen)
    if wrong and kind in NEEDS_DISK and bar and 4 * bar.group(1).count('.') < len(bar.group(1)):
        print('%s: it hardly waits for a disk here' % kind)
        wrong = missing(screen, SCREENS[kind][-1:])
    if wrong is None and len(screen.splitlines()) > LINES:
        wrong = 'more than %d lines' % LINES
    if wrong is None and max(map(len, screen.splitlines())) > COLUMNS:
        wrong = 'more than %d columns' % COLUMNS
    print('%s%s\n%s' % ('FAILED: ' if wrong else '', ': '.join(filter(None, (kind, wrong))),
                        screen))
    return wrong is None


def main():
    wallsample, causes, directory, *kinds = sys.argv[1:]
    good = [check(wallsample, causes, kind, os.path.join(directory, 'record'))
            for kind in kinds or SCREENS]
    sys.exit(not all(good))


main()
