# SPDX-License-Identifier: MIT
"""hostile_memory.py WALLSAMPLE CC - the stack of a thread is a file of a file system in user space
that never answers: sampling ends, and no thread stays stopped.

Ends with 77 where no such file system can be mounted. The server of the file system is a child of
this script; when the script ends, the kernel ends all requests.
"""
import ctypes
import errno
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

NOBODY = 65534         # the user that has mounted the file system, and of the program
SIZE = 1 << 20         # of the file
MOST_SECONDS = 60      # of a run of one second: only a run that does not end takes longer

# Operations of include/uapi/linux/fuse.h.
LOOKUP, FORGET, GETATTR, OPEN, READ, RELEASE, INIT = 1, 2, 3, 14, 15, 18, 26

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


def attributes(node):
    directory = node == 1
    return struct.pack('<QQQQQQIIIIIIIIII', node, 0 if directory else SIZE, 8, 0, 0, 0, 0, 0, 0,
                       0o40755 if directory else 0o100644, 1, 0, 0, 0, 4096, 0)


def reply_to(operation, node):
    """The body of the reply, or None: no reply."""
    if operation == INIT:
        return struct.pack('<IIIIHHIII', 7, 19, 65536, 0, 12, 10, 4096, 0, 0) + bytes(28)
    if operation == LOOKUP:
        return struct.pack('<QQQQII', 2, 0, 1, 1, 0, 0) + attributes(2)
    if operation == GETATTR:
        return struct.pack('<QII', 1, 0, 0) + attributes(node)
    if operation == OPEN:
        return struct.pack('<QII', 1, 0, 0)
    if operation == RELEASE:
        return b''
    return None


def serve(fd):
    """Answers all requests but reads."""
    while True:
        try:
            request = os.read(fd, 1 << 17)
        except OSError as error:
            if error.errno in (errno.EINTR, errno.ENOENT):
                continue
            return
        _, operation, unique, node = struct.unpack_from('<IIQQ', request)
        if operation in (FORGET, READ):
            continue
        body = reply_to(operation, node)
        status = -errno.ENOSYS if body is None else 0
        body = body or b''
        os.write(fd, struct.pack('<IiQ', 16 + len(body), status, unique) + body)


def mount(folder):
    """Mounts the file system, and returns the process id of its server."""
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        fd = os.open('/dev/fuse', os.O_RDWR)
    except OSError as error:
        print('/dev/fuse cannot be opened: %s' % error.strerror)
        sys.exit(77)
    options = 'fd=%d,rootmode=40000,user_id=%d,group_id=%d,allow_other' % (fd, NOBODY, NOBODY)
    if libc.mount(b'silent', folder.encode(), b'fuse.silent', 0, options.encode()) != 0:
        print('no file system in user space can be mounted: %s' %
              os.strerror(ctypes.get_errno()))
        sys.exit(77)
    pid = os.fork()
    if pid == 0:
        serve(fd)
        os._exit(0)
    os.close(fd)
    return pid, libc


def stopped(pid):
    """The threads of the process that are traced or stopped."""
    found = []
    for tid in os.listdir('/proc/%d/task' % pid):
        with open('/proc/%d/task/%s/status' % (pid, tid)) as file:
            text = file.read()
        if re.search(r'^State:\t[tT]', text, re.M) or not re.search(r'^TracerPid:\t0$', text, re.M):
            found.append(tid)
    return found


def sample(wallsample, pid, out, words):
    """Samples for a second; returns the exit status, None if the run did not end."""
    run = subprocess.Popen([wallsample, '-p', str(pid), '-d', '1', '-q', '-f', 'folded', '-o', out,
                            *words], stdin=subprocess.DEVNULL)
    try:
        return run.wait(MOST_SECONDS)
    except subprocess.TimeoutExpired:
        run.kill()
        return None


def check(wallsample, program, path, mode, words):
    """Returns whether sampling the program was as it should be."""
    target = subprocess.Popen([program, path, *mode], stdout=subprocess.PIPE, text=True,
                              user=NOBODY, group=NOBODY, extra_groups=[])
    name = ' '.join([*mode, *words]) or 'a page that is not there'
    good = target.stdout.readline() == 'ready\n'
    out = path_of_output(program)
    status = sample(wallsample, target.pid, out, words)
    text = ''
    if os.path.exists(out):
        with open(out) as file:
            text = file.read()
        os.remove(out)
    left = stopped(target.pid)
    print('%s: status %s' % (name, status), flush=True)
    if not good or status not in (0, 1) or left or 'spin' not in text:
        print('FAILED: stopped threads: %s; output: %s' % (' '.join(left), text[:300]), flush=True)
        good = False
    target.kill()
    return good


def path_of_output(program):
    return program + '.folded'


def main():
    wallsample, compiler = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        source, program = folder + '/target.c', folder + '/target'
        with open(source, 'w') as file:
            file.write(TARGET)
        subprocess.run([compiler, '-O1', '-pthread', '-o', program, source], check=True)
        silent = folder + '/silent'
        os.mkdir(silent)
        server, libc = mount(silent)
        good = True
        try:
            for mode, words in (([], []), ([], ['--stop-all']),
                                (['flip'], ['-r', '2000', '--max-overhead', '100'])):
                good &= check(wallsample, program, silent + '/file', mode, words)
        finally:
            os.kill(server, signal.SIGKILL)  # the kernel ends all requests with an error
            os.waitpid(server, 0)
            libc.umount2(silent.encode(), 2)
            time.sleep(0.1)
    sys.exit(0 if good else 1)


main()
