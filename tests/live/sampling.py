# SPDX-License-Identifier: MIT
"""sampling.py - for the tests written in Python: runs of wallsample, the states of a target's
threads, control groups with a quota."""
import os
import signal
import subprocess
import sys
import time

BOUND = 20.0        # seconds, for what takes a millisecond
MOST_SECONDS = 60   # of a run of a second: only a run that does not end takes longer
PERIOD = 100000     # us, of a quota


def until(what, condition, bound=BOUND, pause=0.0):
    """Waits until condition() is true, and sleeps for `pause` seconds between two calls; ends the
    test when that takes longer than `bound` seconds."""
    end = time.monotonic() + bound
    while not condition():
        if time.monotonic() > end:
            sys.exit('FAILED: not within %d s: %s' % (bound, what))
        if pause > 0:
            time.sleep(pause)


def field(pid, tid, name):
    """The first word of a field of the thread's status; None if the thread has ended."""
    try:
        with open('/proc/%d/task/%s/status' % (pid, tid)) as status:
            for line in status:
                if line.startswith(name + ':'):
                    return line.split()[1]
    except (FileNotFoundError, ProcessLookupError):
        pass
    return None


def of_threads(pid, name):
    """This field of all threads of the process."""
    try:
        return [field(pid, tid, name) for tid in os.listdir('/proc/%d/task' % pid)]
    except FileNotFoundError:
        return []


def is_traced(pid):
    """True if a thread of the process is traced."""
    return any(tracer not in ('0', None) for tracer in of_threads(pid, 'TracerPid'))


def is_free(pid):
    """True if no thread of the process is traced or stopped."""
    return not is_traced(pid) and not {'t', 'T'} & set(of_threads(pid, 'State'))


def until_free(pid):
    until('all threads of process %d are free' % pid, lambda: is_free(pid), pause=0.001)


def start(wallsample, pid, words):
    """Starts a run that lasts until it is ended."""
    return subprocess.Popen([wallsample, '-p', str(pid), '-d', '60', '-q', *words],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def too_late(number, frame):
    raise TimeoutError


def sample(command, pid, out, words):
    """Samples for a second; `command` is a list that ends with wallsample. Returns the exit status
    (None: the run did not end), the folded stacks, and the peak memory in KiB."""
    run = subprocess.Popen([*command, '-p', str(pid), '-d', '1', '-q', '-f', 'folded', '-o', out,
                            *words], stdin=subprocess.DEVNULL)
    signal.signal(signal.SIGALRM, too_late)
    signal.alarm(MOST_SECONDS)
    try:
        _, status, usage = os.wait4(run.pid, 0)
    except TimeoutError:
        run.kill()
        run.wait()
        return None, '', 0
    finally:
        signal.alarm(0)
    text = ''
    if os.path.exists(out):
        with open(out) as file:
            text = file.read()
        os.remove(out)
    return os.waitstatus_to_exitcode(status), text, usage.ru_maxrss


def make_group():
    """Returns the folder of a new control group that can have a quota of CPU time; None when none
    can be made."""
    for folder, file in (('/sys/fs/cgroup/cpu/', 'cpu.cfs_quota_us'),
                         ('/sys/fs/cgroup/', 'cpu.max')):
        group = folder + 'wallsample-test-%d' % os.getpid()
        try:
            os.mkdir(group)
        except OSError:
            continue
        if os.path.exists(os.path.join(group, file)):
            return group
        os.rmdir(group)
    return None


def set_quota(group, percent):
    """Limits the group to `percent` of a CPU in each PERIOD."""
    quota = PERIOD * percent // 100
    old = os.path.join(group, 'cpu.cfs_quota_us')
    if os.path.exists(old):
        with open(old, 'w') as file:
            file.write('%d' % quota)
    else:
        with open(os.path.join(group, 'cpu.max'), 'w') as file:
            file.write('%d %d' % (quota, PERIOD))


def remove_group(group):
    """Removes the group when its last process has ended."""
    def is_empty():
        with open(os.path.join(group, 'cgroup.procs')) as file:
            return file.read() == ''

    until('the control group is empty', is_empty, pause=0.001)
    os.rmdir(group)


def in_group(group, words):
    """The words of a command that executes `words` in the control group."""
    return ['sh', '-c', 'echo $$ >"$0/cgroup.procs" && exec "$@"', group, *words]
