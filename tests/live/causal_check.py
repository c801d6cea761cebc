# SPDX-License-Identifier: MIT
"""causal_check.py WALLSAMPLE TARGET - predictions against arithmetic (causal_programs.py).

Where others had the CPUs, which the kernel's count of the time that the program's threads waited
for one tells, nothing is judged: virtual speed-ups are about a program that has its CPUs.

A prediction is right if its 95 % interval, made wider by POINTS, covers the truth: a busy machine
makes intervals wide, not wrong. Of two functions of one program the one that truly brings more
must not be said, with certainty, to bring less; what truly brings much must not be said to hurt,
nor what truly hurts to help.
"""
import json
import math
import os
import shutil
import subprocess
import sys
import time

from causal_programs import UNITS, Program, gain

# A look takes a few percent of what runs from it, and more where others are held.
POINTS = 15.0
SPEEDUP = 0.5
# A unit is some ten looks: half of one goes by until a thread that was woken is held.
UNIT = 'unit=20'
WORDS = ['--tick', '2ms', '--experiment', '600ms', '--profile-time', '500ms',
         '--precision', '5', '-d', '60s', '-f', 'json', '-q']
# So much of the time its threads may wait for a CPU: no kind has more than two that could run.
WAITED = 0.2
# So much more CPU time may an event take in one part of a run than in all of it.
NOT_FIRST = 0.1
# Threads of the pipeline wait for each other's CPU for 38 to 40 % of the time. With more than this,
# other processes use the CPUs.
PIPELINE_WAITED = 0.45
# Running threads that were not held, as a share of the ticks: 0.2 to 0.4 % are late, and 20 % more
# were spared when wallsample spared threads that share a CPU with threads of the target only.
UNHELD = 0.1
TICK_TRIES = 6
LONG_UNIT = 5      # ms, of which experiments are a multiple where bursts are long (bursts.h)
PROGRAMS = ('phases', 'serial', 'locked', 'eat')


def waited(pid):
    """Seconds that its threads have waited for a CPU."""
    total = 0
    for tid in os.listdir('/proc/%d/task' % pid):
        with open('/proc/%d/task/%s/schedstat' % (pid, tid)) as counters:
            total += int(counters.read().split()[1])
    return total / 1e9


def predict(wallsample, target, kind):
    """{function: (gain, low, high, verdict)} in points, at SPEEDUP; None: the machine was busy."""
    with Program(target, kind, UNIT) as program:
        words = [wallsample, 'causal', '-p', str(program.pid), '--progress', 'var:progress',
                 '--select', '^(%s)$' % '|'.join(UNITS[kind]), '--speedups',
                 '0,%g' % (100 * SPEEDUP), '-o', '-', *WORDS]
        before, began = waited(program.pid), time.monotonic()
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        share = (waited(program.pid) - before) / (time.monotonic() - began)
    if done.returncode not in (0, 1):
        sys.exit('FAILED: %s: status %d: %s' % (kind, done.returncode, done.stderr))
    print('%-8s its threads waited for a CPU for %.1f %% of the time' % (kind, 100 * share))
    if share > WAITED:
        return None
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


def cpu_of(pid, name):
    """Seconds of CPU time of the thread of this name."""
    for tid in os.listdir('/proc/%d/task' % pid):
        with open('/proc/%d/task/%s/comm' % (pid, tid)) as comm:
            if comm.read().strip() != name:
                continue
        with open('/proc/%d/task/%s/schedstat' % (pid, tid)) as counters:
            return int(counters.read().split()[0]) / 1e9
    sys.exit('FAILED: no thread %s' % name)


def without_right():
    """Words before a command that must not have a right to go first; None: it cannot be taken."""
    words = ['setpriv', '--bounding-set', '-sys_nice']
    if os.geteuid() != 0:
        return []
    if shutil.which(words[0]) is None or subprocess.run(
            [*words, 'true'], stderr=subprocess.DEVNULL).returncode != 0:
        return None
    return words


def not_first(wallsample, target):
    """Where it has no right to go first, the threads that it lets go take its CPU for long. However
    late it is then, in virtual time a thread has at least as much time as it had CPU time."""
    words = without_right()
    if words is None:
        print('not first: not tried, the right cannot be taken')
        return None
    with Program(target, 'phases', 'unit=2') as program:
        waited_before, began = waited(program.pid), time.monotonic()
        before, cpu_before = program.ask(), cpu_of(program.pid, 'first')
        done = subprocess.run([
            *words, 'nice', '-n', '19', wallsample, 'causal', '-p', str(program.pid),
            '--progress', 'var:progress', '--select', '^phase_first$', '--speedups', '0,50',
            '--tick', '5ms', '-d', '12s', '-f', 'json', '-q', '-o', '-'],
            stdin=subprocess.DEVNULL, capture_output=True, text=True)
        after, cpu_after = program.ask(), cpu_of(program.pid, 'first')
        share = (waited(program.pid) - waited_before) / (time.monotonic() - began)
    # The sampler has the least right to a CPU: beside other load it may end no experiment.
    if done.returncode == 2 and share > WAITED:
        print('not first: not measured, the threads waited for a CPU for %.1f %% of the time' % (
            100 * share))
        return None
    if done.returncode not in (0, 1):
        return 'status %d: %s' % (done.returncode, done.stderr)
    usual = [made for made in json.loads(done.stdout)['experiments'] if made['speedup'] == 0]
    events = sum(made['readings'][0]['count'] for made in usual)
    virtual = sum(made['wall_ns'] - made['held_ns'] for made in usual) / 1e9
    cpu = events * (cpu_after - cpu_before) / (after['progress'] - before['progress'])
    print('not first: %.2f s of CPU time in %.2f s of virtual time' % (cpu, virtual))
    if events == 0 or cpu > (1 + NOT_FIRST) * virtual:
        return 'more CPU time than virtual time'
    return None


def shares_its_cpus(wallsample, target):
    """Three threads want two CPUs, and ticks are short: every running thread is held all the same.
    Threads of the target that were spared made a gain of 67 % one of 140 %."""
    with Program(target, 'pipeline', 'unit=3') as program:
        before, began = waited(program.pid), time.monotonic()
        done = subprocess.run([
            wallsample, 'causal', '-p', str(program.pid), '--progress', 'var:progress',
            '--select', '^stage_work$', '--speedups', '0,100', '--tick', '1ms', '-d', '15s',
            '-f', 'json', '-q', '-o', '-'], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        share = (waited(program.pid) - before) / (time.monotonic() - began)
    if done.returncode not in (0, 1, 2):
        return 'status %d: %s' % (done.returncode, done.stderr)
    if share > PIPELINE_WAITED:
        print('pipeline: not judged, its threads waited for a CPU for %.1f %% of the time' % (
            100 * share))
        return None
    result = json.loads(done.stdout)
    unheld = result['run']['unheld'] / sum(made['ticks'] for made in result['experiments'])
    last = result['curves'][0]['gains'][-1]
    true = gain('pipeline', 'stage_work', 1)
    print('pipeline: true %.2f, predicted %.2f (%.2f, %.2f), %.3f threads a tick not held' % (
        true, last['gain'], last['low'], last['high'], unheld))
    if unheld > UNHELD:
        return 'threads were not held'
    if not last['low'] - POINTS / 100 <= true <= last['high'] + POINTS / 100:
        return 'the interval does not cover the truth'
    return None


def ticks_of(wallsample, target, unit):
    """Time between ticks that is chosen for units of `unit` ms, length of bursts (infinite: not
    known) and of an experiment, all in ms, and what stderr says before the experiments."""
    with Program(target, 'serial', 'unit=%g' % unit) as program:
        done = subprocess.run([
            wallsample, 'causal', '-p', str(program.pid), '--progress', 'var:progress',
            '--speedups', '0,50', '--candidates', '1', '--profile-time', '200ms', '-d', '400ms',
            '-f', 'json', '-o', '-'], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode not in (0, 1, 2):
        sys.exit('FAILED: unit %g: status %d: %s' % (unit, done.returncode, done.stderr))
    lines = done.stderr.split('experiments on')[0]
    report = json.loads(done.stdout)
    method, burst_ns = report['method'], report['run']['burst_ns'] or math.inf
    return (method['tick_ns'] / 1e6, burst_ns / 1e6, method['experiment_ns'] / 1e6,
            'bursts of' in lines, 'wait for a CPU' in lines)


def wrong_ticks(wallsample, target):
    """Ticks follow the bursts where the threads have their CPUs, and bursts that are too short for
    the ticks are reported. Other load may starve one thread for the time of the measurement: then
    no bursts are known."""
    for unit, least, most, warned in ((4, 1.2, 2, False), (0.05, 1, 1, True)):
        for _ in range(TICK_TRIES):
            tick, burst, length, warns, waits = ticks_of(wallsample, target, unit)
            if abs(length - 50 * max(tick, min(burst / 2, LONG_UNIT))) > 1e-3:
                yield 'a run of 0.2 s: experiments of %g ms, bursts of %g ms' % (length, burst)
            print('unit %g: ticks every %g ms%s%s' % (
                unit, tick, ', a warning' if warns else '', ', too few CPUs' if waits else ''))
            if tick == 5 if waits else least <= tick <= most and warns == warned:
                break
        else:
            yield 'unit %g: ticks every %g ms' % (unit, tick)


def main():
    wallsample, target = sys.argv[1:]
    failed = False
    judged = 0

    for kind in PROGRAMS:
        found = predict(wallsample, target, kind)
        if found is None:
            continue
        judged += 1
        for complaint in complaints(kind, found):
            print('FAILED: %s: %s' % (kind, complaint))
            failed = True
    for check in not_first, shares_its_cpus:
        complaint = check(wallsample, target)
        if complaint:
            print('FAILED: %s: %s' % (check.__name__, complaint))
            failed = True
    for complaint in wrong_ticks(wallsample, target):
        print('FAILED: %s' % complaint)
        failed = True
    if judged == 0:
        print('the machine was busy all the time')
    sys.exit(1 if failed else 0 if judged > 0 else 77)


main()
