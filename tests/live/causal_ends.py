# SPDX-License-Identifier: MIT
"""causal_ends.py WALLSAMPLE TARGET [CALLS] - what may happen in the middle of an experiment, and
while a tick takes the CPUs of CALLS, a program that makes many system calls (bench_calls.c).

Nothing is waited for but by looking whether it is there, with BOUND as the end of patience.
"""
import os
import random
import signal
import subprocess
import sys
import time

import sampling
from causal_programs import Program
from sampling import field, is_traced, of_threads

BOUND = 30.0   # seconds, for what takes much less
KILLS = 50
WORDS = ['--select', '^(part|phase)_', '--speedups', '0,100', '--tick', '5ms',
         '--experiment', '100ms', '--profile-time', '100ms', '-d', '60s', '-o', '-']
# Ticks so long that CPUs are taken because of calls alone (SHORT_INTERVAL_NS, hold_occupy.c).
CALLS_WORDS = ['--select', '^first$', '--speedups', '0,100', '--tick', '3ms', '--experiment',
               '100ms', '--profile-time', '300ms', '-d', '600s', '-o', '-']
# Ticks so short that CPUs are taken because none is free.
CROWDED_WORDS = ['--select', '^phase_', '--speedups', '0,100', '--tick', '1ms', '--experiment',
                 '100ms', '--profile-time', '100ms', '-d', '600s', '-o', '-']
TAKEN = 1e-3   # seconds of CPU time of occupiers that show that ticks take CPUs
# A program that waits for CPUs for this share of the time in which it could run is on a busy
# machine. Ticks begin to take CPUs after 16 stops, at 3 ms each, if they do at all
# (CALL_STOPS_LEAST, hold_occupy.c).
BUSY_SHARE = 0.2
BUSY_FOR = 5.0  # seconds
QUOTA = 10     # percent of a CPU


def complain(text):
    print('FAILED: ' + text)
    complain.failed = True


complain.failed = False


def until(what, condition):
    sampling.until(what, condition, BOUND)


def is_stopped(pid):
    return all(state == 'T' for state in of_threads(pid, 'State'))


def runs_on(program, what):
    """Nobody traces it, none of its threads stands still, and it makes progress."""
    until(what + ': nobody traces it', lambda: not is_traced(program.pid))
    before = program.ask()['progress']
    until(what + ': it makes progress', lambda: program.ask()['progress'] > before)
    if any(state in 'tT' for state in of_threads(program.pid, 'State') if state):
        complain(what + ': a thread has been left standing')


class Wallsample:
    """On a program, in its experiments."""

    def __init__(self, pid, progress='var:progress', words=WORDS, before=()):
        """`before`: words of a command that executes it."""
        self.child = subprocess.Popen(
            [*before, sys.argv[1], 'causal', '-p', str(pid), '--progress', progress, *words],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True)
        self.said = []
        self.listen('experiments on')

    def listen(self, text):
        for line in self.child.stderr:
            self.said.append(line)
            if text in line:
                return
        sys.exit('FAILED: never said "%s": %s' % (text, ''.join(self.said)))

    def kill(self, number):
        self.child.send_signal(number)
        return self.end()

    def end(self):
        """Its status; what it said is in `said`."""
        try:
            _, rest = self.child.communicate(timeout=BOUND)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.communicate()
            sys.exit('FAILED: has not ended: ' + ''.join(self.said))
        self.said.append(rest)
        return self.child.returncode


def test_killed_target():
    with Program(sys.argv[2], 'serial') as program:
        tool = Wallsample(program.pid)
        until('it is traced', lambda: is_traced(program.pid))
        program.child.kill()
        status = tool.end()
        if status not in (1, 2):
            complain('killed target: status %d: %s' % (status, ''.join(tool.said)))


def test_stopped_target():
    with Program(sys.argv[2], 'serial') as program:
        tool = Wallsample(program.pid)
        until('it is traced', lambda: is_traced(program.pid))
        program.child.send_signal(signal.SIGSTOP)
        until('it stands still', lambda: is_stopped(program.pid))
        for _ in range(1000):
            if not is_stopped(program.pid):
                complain('stopped target: it runs before it was told to')
                break
        program.child.send_signal(signal.SIGCONT)
        until('it is traced again', lambda: is_traced(program.pid))
        tool.kill(signal.SIGINT)
        runs_on(program, 'stopped target')


def test_other_program():
    with Program(sys.argv[2], 'serial') as program:
        tool = Wallsample(program.pid)
        until('it is traced', lambda: is_traced(program.pid))
        program.say('exec')
        status = tool.end()
        if status not in (1, 2):
            complain('exec: status %d: %s' % (status, ''.join(tool.said)))
        if program.child.stdout.readline() != 'ready\n':
            complain('exec: the new program did not begin')
        runs_on(program, 'exec')


def child_of(pid):
    for entry in os.listdir('/proc'):
        if entry.isdigit() and field(int(entry), entry, 'PPid') == str(pid):
            return int(entry)
    return None


def test_child():
    """It is left alone, and lives its life."""
    with Program(sys.argv[2], 'serial') as program:
        tool = Wallsample(program.pid)
        until('it is traced', lambda: is_traced(program.pid))
        program.say('fork')
        until('there is a child', lambda: child_of(program.pid) is not None)
        child = child_of(program.pid)
        while field(child, child, 'State') not in ('Z', None):
            if is_traced(child):
                complain('child: it is traced')
                break
        tool.kill(signal.SIGINT)
        runs_on(program, 'child')


def test_killed_wallsample():
    chance = random.Random(1)
    with Program(sys.argv[2], 'phases') as program:
        for _ in range(KILLS):
            tool = Wallsample(program.pid)
            end = time.monotonic() + chance.uniform(0, 0.1)
            until('it is traced',
                  lambda: time.monotonic() > end and is_traced(program.pid))
            tool.kill(signal.SIGKILL)
            runs_on(program, 'killed')


class Calls:
    """CALLS, running; its progress is its CPU time."""

    def __enter__(self):
        self.child = subprocess.Popen([sys.argv[3], '20', 'pwrite', '600'],
                                      stdout=subprocess.PIPE, text=True)
        self.pid = int(self.child.stdout.readline())
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.communicate()

    def ask(self):
        return {'progress': cpu_of(self.pid, str(self.pid))}


def times_of(pid, tid):
    """Seconds of CPU time of a thread, and of its waits for a CPU; 0, 0: it has ended."""
    try:
        with open('/proc/%d/task/%s/schedstat' % (pid, tid)) as counters:
            return [int(count) / 1e9 for count in counters.read().split()[:2]]
    except (FileNotFoundError, ProcessLookupError):
        return 0, 0


def cpu_of(pid, tid):
    return times_of(pid, tid)[0]


def occupiers_cpu(pid):
    """Seconds of CPU time of all threads of wallsample but the sampler's."""
    return sum(cpu_of(pid, tid) for tid in os.listdir('/proc/%d/task' % pid) if tid != str(pid))


def is_stopped_at_once(pid):
    """True if all threads are stopped at one moment: none has run since the first state was read. A
    wallsample that the supervisor continues runs and stops again within a millisecond."""
    before = times_of_all(pid)
    return is_stopped(pid) and times_of_all(pid) == before


def until_inactive(pid):
    """Returns when no thread of the stopped process is on a CPU. A thread is in the state T a moment
    before it leaves its CPU, which is when its CPU time is counted. Reading its system call waits
    for that (wait_task_inactive in the kernel)."""
    for tid in os.listdir('/proc/%d/task' % pid):
        with open('/proc/%d/task/%s/syscall' % (pid, tid)) as call:
            call.read()


class Busy(Exception):
    """Other processes use the CPUs: ticks then find threads that wait for one, and take none."""


def times_of_all(pid):
    """As times_of, of all threads of the process together."""
    try:
        return [sum(times) for times in
                zip(*(times_of(pid, tid) for tid in os.listdir('/proc/%d/task' % pid)))]
    except FileNotFoundError:
        return [0, 0]


def until_taken(tool, program):
    before = occupiers_cpu(tool.child.pid)
    began, (ran, waited) = time.monotonic(), times_of_all(program.pid)

    def taken():
        if tool.child.poll() is not None:
            sys.exit('FAILED: wallsample has ended, status %d: %s%s' % (
                tool.child.returncode, ''.join(tool.said), tool.child.stderr.read()))
        if occupiers_cpu(tool.child.pid) > before + TAKEN:
            return True
        time.sleep(0.001)
        now = times_of_all(program.pid)
        if time.monotonic() - began > BUSY_FOR and \
                now[1] - waited > BUSY_SHARE * (now[0] - ran + now[1] - waited):
            status = tool.kill(signal.SIGINT)
            if status not in (0, 1, 2):
                complain('busy: status %d: %s' % (status, ''.join(tool.said)))
            runs_on(program, 'busy')
            raise Busy
        return False

    until('ticks take CPUs', taken)


def calls_tool(program, before=()):
    return Wallsample(program.pid, 'var:sink', CALLS_WORDS, before)


def crowded_tool(program):
    return Wallsample(program.pid, 'var:progress', CROWDED_WORDS)


def crowd():
    """A program with two threads that run, on as many CPUs."""
    program = Program(sys.argv[2], 'phases')
    os.sched_setaffinity(program.pid, sorted(os.sched_getaffinity(0))[:2])
    return program


def kill_while_taking_cpus(start, attach):
    chance = random.Random(2)
    with start() as program:
        for _ in range(KILLS):
            tool = attach(program)
            until_taken(tool, program)
            end = time.monotonic() + chance.uniform(0, 0.004)
            until('a random moment', lambda: time.monotonic() > end)
            tool.kill(signal.SIGKILL)
            runs_on(program, 'killed while taking CPUs')


def test_killed_while_taking_cpus():
    kill_while_taking_cpus(Calls, calls_tool)


def test_killed_while_no_cpu_is_free():
    kill_while_taking_cpus(crowd, crowded_tool)


def stop_while_taking_cpus(start, attach):
    """A wallsample that is stopped uses no CPU, and continues."""
    chance = random.Random(3)
    with start() as program:
        tool = attach(program)
        for _ in range(KILLS):
            until_taken(tool, program)
            end = time.monotonic() + chance.uniform(0, 0.004)
            until('a random moment', lambda: time.monotonic() > end)
            tool.child.send_signal(signal.SIGSTOP)
            # The supervisor continues it; it releases the program's threads and stops again. The
            # program is checked before wallsample, which could otherwise be seen in its first stop.
            until('it is stopped and traces no thread',
                  lambda: not is_traced(program.pid) and is_stopped_at_once(tool.child.pid))
            until_inactive(tool.child.pid)
            own = cpu_of(tool.child.pid, tool.child.pid)
            before = occupiers_cpu(tool.child.pid)
            began = time.monotonic()
            until('ten milliseconds', lambda: time.monotonic() > began + 0.01)
            if occupiers_cpu(tool.child.pid) != before and \
                    cpu_of(tool.child.pid, tool.child.pid) == own:
                complain('stopped wallsample: it uses a CPU')
            tool.child.send_signal(signal.SIGCONT)
        tool.kill(signal.SIGINT)
        runs_on(program, 'stopped while taking CPUs')


def test_stopped_while_taking_cpus():
    stop_while_taking_cpus(Calls, calls_tool)


def test_stopped_while_no_cpu_is_free():
    stop_while_taking_cpus(crowd, crowded_tool)


def test_throttled():
    """Under a quota of CPU time it ends, and leaves the program running."""
    group = sampling.make_group()
    if group is None:
        print('not tried: no control group with a quota of CPU time can be made here')
        return
    sampling.set_quota(group, QUOTA)
    try:
        with Calls() as program:
            tool = calls_tool(program, sampling.in_group(group, []))
            until('it is throttled', lambda: times_throttled(group) > 0)
            status = tool.kill(signal.SIGINT)
            if status not in (0, 1, 2):
                complain('throttled: status %d: %s' % (status, ''.join(tool.said)))
            runs_on(program, 'throttled')
    finally:
        sampling.remove_group(group)


def times_throttled(group):
    with open(group + '/cpu.stat') as stat:
        return int(dict(line.split() for line in stat)['nr_throttled'])


def test_silence():
    with Program(sys.argv[2], 'phases') as program:
        began = time.monotonic()
        tool = Wallsample(program.pid, 'var:begun')
        tool.listen('no progress yet')
        took = time.monotonic() - began
        if took > 10:
            complain('no progress: said so after %.1f s' % took)
        tool.kill(signal.SIGINT)
        runs_on(program, 'no progress')


def main():
    for name, test in list(globals().items()):
        if len(sys.argv) < 4 and test in (
                test_killed_while_taking_cpus, test_killed_while_no_cpu_is_free,
                test_stopped_while_taking_cpus, test_stopped_while_no_cpu_is_free,
                test_throttled):
            continue
        if name.startswith('test_'):
            print(name, flush=True)
            try:
                test()
            except Busy:
                print('left out: other processes use the CPUs', flush=True)
    sys.exit(complain.failed)


main()
