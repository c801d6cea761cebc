# SPDX-License-Identifier: MIT
"""hostile_memory.py WALLSAMPLE CC - the stack of a thread is a file of a file system in user space
that never answers: sampling ends, and no thread stays stopped, also when wallsample is killed,
stopped or throttled.

Ends with 77 where no such file system can be mounted. The server of the file system is a child of
this script; when the script ends, the kernel ends all requests.
"""
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

import fuse
from sampling import (MOST_SECONDS, field, in_group, is_free, make_group, of_threads, remove_group,
                      sample, set_quota, start, until, until_free)

NOBODY = 65534         # the user that has mounted the file system, and of the program
SIZE = 1 << 20         # of the file
FAST = ['-r', '2000', '--max-overhead', '100', '--max-stopped', '100']
MOMENTS = 10           # signals at random moments
MOST_WAIT = 0.3        # seconds until such a signal
QUOTA = 10             # percent of a CPU

# `spin` executes with its stack pointer in the file. With "flip" another thread replaces the page
# there by one that is in memory, and drops it again.
TARGET = r'''
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static char *area;
static void *flip(void *unused) {
	(void)unused;
	for (;;) {
		mmap(area, 65536, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE, -1, 0);
		mmap(area, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, 3, 0);
	}
	return 0;
}
__asm__(".text\n.type spin, @function\nspin:\n mov %rdi, %rsp\n1: pause\n jmp 1b\n"
	".size spin, . - spin\n");
void spin(void *);
int main(int argc, char **argv) {
	pthread_t thread;
	int fd = open(argv[1], O_RDONLY);
	if (fd < 0)
		return 1;
	dup2(fd, 3);
	area = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE, 3, 0);
	if (area == MAP_FAILED)
		return 1;
	if (argc > 2)
		pthread_create(&thread, 0, flip, 0);
	puts("ready");
	fflush(stdout);
	spin(area + 8192);
}
'''


@contextlib.contextmanager
def executing(program, path, mode):
    """The program, while it executes `spin`."""
    target = subprocess.Popen([program, path, *mode], stdout=subprocess.PIPE, text=True,
                              user=NOBODY, group=NOBODY, extra_groups=[])
    try:
        if target.stdout.readline() != 'ready\n':
            sys.exit('FAILED: the program has not begun')
        yield target.pid
    finally:
        target.kill()
        target.communicate()


def check_run(name, command, pid, out, words, frames=('spin',)):
    """Samples the program: no thread stays stopped, and one of the frames is in the report."""
    status, text, _ = sample(command, pid, out, words)
    print('%s: status %s' % (name, status), flush=True)
    if (status not in (0, 1) or not is_free(pid) or
            not any(frame in text for frame in frames)):
        sys.exit('FAILED: threads %s; output: %s' % (of_threads(pid, 'State'), text[:300]))


def check_moments(wallsample, pid, number):
    """Sends the signal to a wallsample at random moments: no thread stays stopped."""
    chance = random.Random(number)
    for _ in range(MOMENTS):
        run = start(wallsample, pid, FAST)
        time.sleep(chance.random() * MOST_WAIT)
        run.send_signal(number)
        until_free(pid)
        run.kill()
        run.wait()
    until_free(pid)


def readers():
    """The processes named ws-reader that run or are stopped."""
    return {pid for pid in map(int, filter(str.isdigit, os.listdir('/proc')))
            if field(pid, pid, 'Name') == 'ws-reader' and field(pid, pid, 'State') != 'Z'}


def check_reader(wallsample, pid, number):
    """Sends the signal to wallsample's reader: wallsample goes on."""
    others = readers()
    run = start(wallsample, pid, FAST)
    until('there is a reader', lambda: readers() - others, pause=0.001)
    reader, = readers() - others
    os.kill(reader, number)
    if number == signal.SIGKILL:
        until('there is a new reader', lambda: readers() - others - {reader}, pause=0.001)
    else:
        # A reader that hangs does not stop, but does not answer either.
        until('the reader is stopped, or hangs',
              lambda: field(reader, reader, 'State') in ('T', 'D'), pause=0.001)
        time.sleep(MOST_WAIT)
    run.send_signal(signal.SIGINT)
    try:
        status = run.wait(MOST_SECONDS)
    except subprocess.TimeoutExpired:
        sys.exit('FAILED: wallsample does not end')
    # It has ended with wallsample, unless it waits for the page that never comes.
    until('the reader has ended, or hangs',
          lambda: field(reader, reader, 'State') not in ('R', 'S', 'T'), pause=0.001)
    print('%s to the reader: status %d' % (number.name, status), flush=True)
    if status not in (0, 1) or not is_free(pid):
        sys.exit('FAILED: threads %s' % of_threads(pid, 'State'))


def main():
    wallsample, compiler = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        source, program, out = folder + '/target.c', folder + '/target', folder + '/out.folded'
        with open(source, 'w') as file:
            file.write(TARGET)
        subprocess.run([compiler, '-O1', '-pthread', '-o', program, source], check=True)
        silent = folder + '/silent'
        os.mkdir(silent)
        mounted = fuse.Mount(silent, NOBODY, SIZE, lambda operation, _: operation != fuse.READ)
        path = silent + '/file'
        group = make_group()
        try:
            with executing(program, path, []) as pid:
                check_run('a page that is not there', [wallsample], pid, out, [])
                check_run('the same, --stop-all', [wallsample], pid, out, ['--stop-all'])
            with executing(program, path, ['flip']) as pid:
                check_run('a page that comes and goes', [wallsample], pid, out, FAST)
                check_moments(wallsample, pid, signal.SIGKILL)
                check_moments(wallsample, pid, signal.SIGSTOP)
                check_reader(wallsample, pid, signal.SIGSTOP)
                check_reader(wallsample, pid, signal.SIGKILL)
                if group is None:
                    print('left out: no control group with a quota of CPU time can be made here')
                else:
                    set_quota(group, QUOTA)
                    throttled = in_group(group, [wallsample])
                    check_run('throttled', throttled, pid, out, FAST)
                    # When the quota ends in the first stops, --max-stopped allows no more of them.
                    check_run('throttled, few stops', throttled, pid, out, FAST[:-2],
                              ['spin', '[running: not stopped]'])
        finally:
            mounted.end()
            if group is not None:
                remove_group(group)  # now that the readers do not hang any more


main()
