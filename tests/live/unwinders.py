# SPDX-License-Identifier: MIT
"""unwinders.py WALLSAMPLE [PID... | TARGETS] - wallsample's own reading of unwind tables finds all
callers that libunwind and libdw find.

TARGETS is the folder of the test programs: some of them, and programs of the system, are started.
With process ids, these processes are examined. Only threads that do not run in the meantime are
compared.
"""
import json
import os
import subprocess
import sys
import time

STARTING = 200  # attempts, 0.1 s apart, until a program has started
LIBRARIES = ('libunwind', 'libdw')
SYSTEM = (['sleep', '1000'], ['cat'], ['sh', '-c', 'read x'], ['perl', '-e', 'sleep 1000'],
          ['python3', '-c', 'import threading, time\n'
                            'for i in range(3): threading.Thread(target=time.sleep, '
                            'args=(1000,)).start()'])
# Programs built with frame pointers are left out: without a stop the register is unknown, and callers
# are guessed.
SHAPES = ('shape', 'shape_nopie', 'shape_static', 'shape_static_pie', 'shape_dynsym',
          'shape_debug_frame', 'shape_debug_frame_gz', 'shape_no_hdr', 'shape_writable')


def switches(pid):
    """How often each thread was switched to, by id."""
    counts = {}
    for tid in os.listdir('/proc/%d/task' % pid):
        with open('/proc/%d/task/%s/status' % (pid, tid)) as file:
            counts[int(tid)] = [line for line in file if 'ctxt_switches' in line]
    return counts


def stacks(wallsample, pid, unwinder):
    """The stack of each sleeping thread, innermost frame first, by id."""
    # Without a stop, so that the threads are not woken: see switches().
    run = subprocess.run([wallsample, 'dump', '-p', str(pid), '-q', '-f', 'json', '--nonblocking',
                          '--debuginfod=off', '--runtime=none', '--no-inlines',
                          '--unwinder=' + unwinder],
                         stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1):
        sys.exit('status %d: %s' % (run.returncode, run.stderr))
    found = {}
    for group in json.loads(run.stdout)['groups']:
        for thread in group['threads']:
            if group['state'] == 'sleeping':
                found[thread['tid']] = [frame['function'] for frame in group['stack']]
    return found


def is_part(part, whole):
    """True when all of `part` is in `whole`, in the same order."""
    rest = iter(whole)
    return all(frame in rest for frame in part)


def compare(wallsample, pid, name):
    """Returns the numbers of threads that were compared, and that differ."""
    compared = differ = 0
    before = switches(pid)
    own = stacks(wallsample, pid, 'auto')
    others = [(library, stacks(wallsample, pid, library)) for library in LIBRARIES]
    after = switches(pid)
    for tid, stack in own.items():
        if before.get(tid) is None or before[tid] != after.get(tid):
            continue
        compared += 1
        for library, found in others:
            frames = [frame for frame in found.get(tid, ()) if not frame.startswith('[')]
            if is_part(frames, stack):
                continue
            differ += 1
            print('%s, thread %d:\n%s: %s\nwallsample: %s' %
                  (name, tid, library, ' < '.join(frames), ' < '.join(stack)))
    return compared, differ


def wait_until_asleep(process):
    """Waits until the program blocks, or has ended."""
    while process.poll() is None:
        with open('/proc/%d/stat' % process.pid) as file:
            if file.read().rpartition(')')[2].split()[0] == 'S':
                return
        time.sleep(0.01)


def examine(wallsample, command):
    """Starts the program, and compares its stacks as compare() does."""
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    except OSError:
        print('%s is not there' % command[0])
        return 0, 0
    try:
        wait_until_asleep(process)
        # A program that has just started runs now and then.
        for _ in range(STARTING):
            compared, differ = compare(wallsample, process.pid, ' '.join(command))
            if compared > 0:
                return compared, differ
            time.sleep(0.1)
        sys.exit('no thread of %s could be compared' % ' '.join(command))
    finally:
        process.kill()
        process.wait()
        process.stdin.close()


def main():
    wallsample, *rest = sys.argv[1:]
    compared = differ = 0
    for word in rest:
        if word.isdigit():
            counts = [compare(wallsample, int(word), 'process ' + word)]
        else:
            commands = [[os.path.join(word, shape), mode] for shape in SHAPES
                        for mode in ('basic', 'odd') if os.path.exists(os.path.join(word, shape))]
            counts = [examine(wallsample, command) for command in commands + list(SYSTEM)]
        compared += sum(count[0] for count in counts)
        differ += sum(count[1] for count in counts)
    print('%d threads were compared' % compared)
    sys.exit(1 if differ > 0 or compared == 0 else 0)


main()
