# SPDX-License-Identifier: MIT
"""slow_files.py WALLSAMPLE CC - while wallsample waits for the file of a library, all threads of
the program run, and when the file was read, stacks of the library have all frames.

The file is in a file system in user space. Its server (a child of this script) answers a request of
wallsample when each busy thread of the program has executed since the request, however long that
takes; or never. A thread that is stopped, or that stops at its next instruction, executes nothing.

Ends with 77 where no such file system can be mounted.
"""
import contextlib
import mmap
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time

import fuse
from sampling import (BOUND, MOST_SECONDS, field, in_group, make_group, of_threads, remove_group,
                      set_quota, until, until_free)

BUSY = 6               # threads that count outside of the library: more than CPUs
LINE = 64              # bytes of a counter; those of the busy threads are behind the words
WORDS = ('target', 'mode', 'requests', 'failures', 'requester')
ANSWER, WHEN_ALL_RUN, NEVER = range(3)
WAITED_FOR = (fuse.GETATTR, fuse.OPEN, fuse.READ, fuse.STATFS, fuse.FLUSH)
FAST = ['-r', '1000', '--max-overhead', '100', '--max-stopped', '100']
STACK = ';start_thread;in_library;outer;inner '

# The unwind tables are behind `gap`, in other parts of the file than the program headers.
LIBRARY = r'''
const char gap[1 << 20] = { 1 };
static __attribute__((noinline)) void inner(volatile unsigned long *count) {
	for (;;)
		++*count;
}
void outer(volatile unsigned long *count) {
	inner(count);
	++*count;
}
'''

TARGET = r'''
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
static void (*outer)(volatile unsigned long *);
static void *busy(void *count) {
	for (;;)
		++*(volatile unsigned long *)count;
	return 0;
}
static void *in_library(void *count) {
	outer(count);
	return 0;
}
int main(int argc, char **argv) {
	const int busy_count = atoi(argv[3]);
	char *shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, open(argv[2], O_RDWR), 0);
	unsigned long count[2];
	pthread_t thread;
	void *library;
	if (argc != 4 || shared == MAP_FAILED)
		return 1;
	for (int i = 0; i < busy_count; i++)
		pthread_create(&thread, 0, busy, shared + 64 * (i + 1));
	puts("ready");
	fflush(stdout);
	getchar();
	library = dlopen(argv[1], RTLD_NOW);
	if (library == 0)
		return 1;
	outer = (void (*)(volatile unsigned long *))dlsym(library, "outer");
	for (int i = 0; i < 2; i++)
		pthread_create(&thread, 0, in_library, &count[i]);
	puts("loaded");
	fflush(stdout);
	pthread_join(thread, 0);
}
'''


class Shared:
    """Memory shared by the script, the server and the program: numbers of 64 bits."""

    def __init__(self, path):
        with open(path, 'wb') as file:
            file.write(bytes(4096))
        with open(path, 'r+b') as file:
            self.map = mmap.mmap(file.fileno(), 4096)

    def __getitem__(self, word):
        return struct.unpack_from('<Q', self.map, 8 * WORDS.index(word))[0]

    def __setitem__(self, word, value):
        struct.pack_into('<Q', self.map, 8 * WORDS.index(word), value)

    def counts(self):
        return [struct.unpack_from('<Q', self.map, LINE * (i + 1))[0] for i in range(BUSY)]

    def wait_for_all(self):
        """Waits until each busy thread has executed; False if that does not happen."""
        before, end = self.counts(), time.monotonic() + BOUND
        while any(now == then for now, then in zip(self.counts(), before)):
            if time.monotonic() > end:
                return False
            time.sleep(0.001)
        return True

    def gate(self, operation, tid):
        """Called by the server for each request; see fuse.serve."""
        if self['mode'] == ANSWER or operation not in WAITED_FOR or \
                os.path.exists('/proc/%d/task/%d' % (self['target'], tid)):
            return True
        self['requester'] = tid
        self['requests'] += 1
        if not self.wait_for_all():
            self['failures'] += 1
        return self['mode'] != NEVER


@contextlib.contextmanager
def running(program, library, path, shared):
    target = subprocess.Popen([program, library, path, str(BUSY)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    try:
        if target.stdout.readline() != 'ready\n':
            sys.exit('FAILED: the program has not begun')
        shared['target'], shared['requests'] = target.pid, 0
        yield target
    finally:
        target.kill()
        target.communicate()


def load(target):
    target.stdin.write('\n')
    target.stdin.flush()
    if target.stdout.readline() != 'loaded\n':
        sys.exit('FAILED: the program has not loaded the library')


def start(wallsample, target, out, words):
    """Starts a run, and returns it when it samples."""
    run = subprocess.Popen([wallsample, '-p', str(target.pid), '-f', 'folded', '-o', out, *FAST,
                            *words], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in run.stderr:
        if 'sampling process' in line:
            return run
    sys.exit('FAILED: no run, status %s' % run.wait())


def end(run, target, shared, name):
    try:
        _, text = run.communicate(timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        run.kill()
        sys.exit('FAILED: %s: wallsample does not end' % name)
    print('%s: status %d, %d requests' % (name, run.returncode, shared['requests']), flush=True)
    until_free(target.pid)
    if run.returncode not in (0, 1) or shared['requests'] == 0 or shared['failures'] > 0:
        sys.exit('FAILED: threads %s; %s' % (of_threads(target.pid, 'State'), text))
    return text


def check_late(wallsample, target, out, shared):
    """Reads are answered when all threads have run."""
    shared['mode'] = WHEN_ALL_RUN
    run = start(wallsample, target, out, ['-d', '20'])
    load(target)
    until('there are requests', lambda: shared['requests'] > 0, pause=0.001)
    run.send_signal(signal.SIGINT)
    end(run, target, shared, 'late answers')


def check_read(wallsample, target, out, shared):
    run = start(wallsample, target, out, ['-d', '1'])
    end(run, target, shared, 'late answers from the beginning')
    with open(out) as file:
        text = file.read()
    if STACK not in text:
        sys.exit('FAILED: no stack has %s: %s' % (STACK, text))


def check_silent(wallsample, target, out, shared):
    """No request is answered: wallsample goes on without the library."""
    shared['mode'] = NEVER
    run = start(wallsample, target, out, ['-d', '1'])
    load(target)
    end(run, target, shared, 'no answer')


def check_interrupted(wallsample, target, out, shared):
    shared['requests'] = 0
    run = subprocess.Popen([wallsample, '-p', str(target.pid), '-q', '-o', out, *FAST],
                           stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until('there is a request', lambda: shared['requests'] > 0, pause=0.001)
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=MOST_SECONDS)
    print('no answer, then SIGINT: status %d' % run.returncode, flush=True)
    until_free(target.pid)
    if shared['failures'] > 0:
        sys.exit('FAILED: threads %s' % of_threads(target.pid, 'State'))


def check_attacked(wallsample, target, out, shared, who, number):
    """Sends a signal to wallsample or ws-files while a request is unanswered: no thread of the
    program stays stopped."""
    shared['requests'] = 0
    run = subprocess.Popen([wallsample, '-p', str(target.pid), '-q', '-d', '2', '-o', out, *FAST],
                           stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until('there is a request', lambda: shared['requests'] > 0, pause=0.001)
    pid = run.pid if who == 'wallsample' else shared['requester']
    if field(pid, pid, 'Name') != who:
        sys.exit('FAILED: the request is by %s' % field(pid, pid, 'Name'))
    os.kill(pid, number)
    until_free(target.pid)
    if not shared.wait_for_all():
        sys.exit('FAILED: threads %s' % of_threads(target.pid, 'State'))
    if number == signal.SIGSTOP:
        os.kill(pid, signal.SIGCONT)
    run.communicate(timeout=MOST_SECONDS)
    print('%s for %s: status %d' % (number.name, who, run.returncode), flush=True)
    until_free(target.pid)
    killed = who == 'wallsample' and number == signal.SIGKILL
    if run.returncode not in ((-signal.SIGKILL,) if killed else (0, 1)) or shared['failures'] > 0:
        sys.exit('FAILED: threads %s' % of_threads(target.pid, 'State'))


def check_throttled(wallsample, target, out, shared, group):
    """Limits wallsample and ws-files to a tenth of a CPU: all threads run while a request is
    unanswered."""
    shared['requests'] = 0
    set_quota(group, 10)
    command = in_group(group, [wallsample, '-p', str(target.pid), '-q', '-o', out, *FAST])
    run = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until('there is a request', lambda: shared['requests'] > 0, pause=0.001)
    if not shared.wait_for_all():
        sys.exit('FAILED: threads %s' % of_threads(target.pid, 'State'))
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=MOST_SECONDS)
    print('throttled: status %d' % run.returncode, flush=True)
    until_free(target.pid)
    if run.returncode not in (0, 1) or shared['failures'] > 0:
        sys.exit('FAILED: threads %s' % of_threads(target.pid, 'State'))


def build(compiler, folder):
    for name, text, words in (('library', LIBRARY, ['-shared', '-fPIC']),
                              ('target', TARGET, ['-pthread', '-ldl'])):
        with open('%s/%s.c' % (folder, name), 'w') as file:
            file.write(text)
        subprocess.run([compiler, '-O1', '-o', '%s/%s' % (folder, name),
                        '%s/%s.c' % (folder, name), *words], check=True)
    with open(folder + '/library', 'rb') as file:
        return file.read()


def main():
    wallsample, compiler = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        library = build(compiler, folder)
        slow, program, out = folder + '/slow', folder + '/target', folder + '/out.folded'
        os.mkdir(slow)
        shared = Shared(folder + '/shared')
        mounted = fuse.Mount(slow, 0, len(library), shared.gate,
                             lambda offset, size: library[offset:offset + size],
                             fuse.DIRECT_IO | fuse.KEEP_CACHE)
        group = make_group()
        words = (program, slow + '/library.so', folder + '/shared', shared)
        try:
            with running(*words) as target:
                check_late(wallsample, target, out, shared)
                check_read(wallsample, target, out, shared)
            with running(*words) as target:
                check_silent(wallsample, target, out, shared)
                check_interrupted(wallsample, target, out, shared)
                for who, number in (('ws-files', signal.SIGSTOP), ('ws-files', signal.SIGKILL),
                                    ('wallsample', signal.SIGSTOP),
                                    ('wallsample', signal.SIGKILL)):
                    check_attacked(wallsample, target, out, shared, who, number)
                if group is None:
                    print('left out: no control group with a quota of CPU time can be made here')
                else:
                    check_throttled(wallsample, target, out, shared, group)
        finally:
            mounted.end()
            # A ws-files that waits for an answer can end only now.
            if group is not None:
                remove_group(group)


main()
