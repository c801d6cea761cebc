# SPDX-License-Identifier: MIT
"""causal_ends.py WALLSAMPLE TARGET - what may happen in the middle of an experiment.

Nothing is waited for but by looking whether it is there, with BOUND as the end of patience.
"""
import os
import random
import signal
import subprocess
import sys
import time

from causal_programs import Program

BOUND = 30.0   # seconds, for what takes much less
KILLS = 50
WORDS = ['--select', '^(part|phase)_', '--speedups', '0,100', '--tick', '5ms',
         '--experiment', '100ms', '--profile-time', '100ms', '-d', '60s', '-o', '-']


def complain(text):
    print('FAILED: ' + text)
    complain.failed = True


complain.failed = False


def until(what, condition):
    end = time.monotonic() + BOUND
    while not condition():
        if time.monotonic() > end:
            sys.exit('FAILED: not within %d s: %s' % (BOUND, what))


def field(pid, tid, name):
    try:
        with open('/proc/%d/task/%s/status' % (pid, tid)) as status:
            for line in status:
                if line.startswith(name + ':'):
                    return line.split()[1]
    except (FileNotFoundError, ProcessLookupError):
        pass
    return None


def of_threads(pid, name):
    try:
        return [field(pid, tid, name) for tid in os.listdir('/proc/%d/task' % pid)]
    except FileNotFoundError:
        return []


def is_traced(pid):
    return any(tracer not in ('0', None) for tracer in of_threads(pid, 'TracerPid'))


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

    def __init__(self, pid, progress='var:progress'):
        self.child = subprocess.Popen(
            [sys.argv[1], 'causal', '-p', str(pid), '--progress', progress, *WORDS],
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
        if name.startswith('test_'):
            print(name, flush=True)
            test()
    sys.exit(complain.failed)


main()
