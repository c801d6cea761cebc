# SPDX-License-Identifier: MIT
"""fuse.py - for the tests written in Python: a file system in user space with one file, which the
test itself serves, by the protocol of include/uapi/linux/fuse.h."""
import ctypes
import errno
import os
import signal
import struct
import sys

# Constants of sched.h and sys/mount.h.
CLONE_NEWNS, MS_REC, MS_PRIVATE, MNT_DETACH = 0x20000, 0x4000, 0x40000, 2

LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH, INIT = 1, 2, 3, 14, 15, 17, 18, 25, 26
# Flags of the reply to OPEN: read(2) always asks the server; what is mapped stays in memory.
DIRECT_IO, KEEP_CACHE = 1, 2
ATTRIBUTES_S = 3600     # seconds for which the kernel keeps names and attributes
MOST_READ = 1 << 17     # bytes of a request


def attributes(node, size):
    directory = node == 1
    return struct.pack('<QQQQQQIIIIIIIIII', node, 0 if directory else size, 8, 0, 0, 0, 0, 0, 0,
                       0o40755 if directory else 0o100755, 1, 0, 0, 0, 4096, 0)


def reply_to(operation, node, size, flags):
    """The body of the reply; None: the operation is not supported."""
    if operation == INIT:
        return struct.pack('<IIIIHHIII', 7, 19, 65536, 0, 12, 10, 4096, 0, 0) + bytes(28)
    if operation == LOOKUP:
        return struct.pack('<QQQQII', 2, 0, ATTRIBUTES_S, ATTRIBUTES_S, 0, 0) + attributes(2, size)
    if operation == GETATTR:
        return struct.pack('<QII', ATTRIBUTES_S, 0, 0) + attributes(node, size)
    if operation == OPEN:
        return struct.pack('<QII', 1, flags, 0)
    if operation == STATFS:
        return struct.pack('<QQQQQIIII', 0, 0, 0, 1, 0, 4096, 255, 4096, 0) + bytes(24)
    if operation in (RELEASE, FLUSH):
        return b''
    return None


def serve(fd, size, flags, gate, read):
    """Answers requests. `gate(operation, tid)` is called first for each, and may wait; a request
    for which it returns false gets no answer. `read(offset, size)` returns bytes of the file."""
    while True:
        try:
            request = os.read(fd, 1 << 17)
        except OSError as error:
            if error.errno in (errno.EINTR, errno.ENOENT):
                continue
            return
        _, operation, unique, node, _, _, tid = struct.unpack_from('<IIQQIII', request)
        if operation == FORGET or not gate(operation, tid):
            continue
        if operation == READ:
            _, offset, wanted = struct.unpack_from('<QQI', request, 40)
            body = read(offset, wanted)
        else:
            body = reply_to(operation, node, size, flags)
        status = -errno.ENOSYS if body is None else 0
        body = body or b''
        try:
            os.write(fd, struct.pack('<IiQ', 16 + len(body), status, unique) + body)
        except OSError as error:
            if error.errno != errno.ENOENT:  # the request was interrupted
                return


class Mount:
    """The file system, mounted on `folder` for the user `owner` in a mount namespace of the test;
    every name in it is the file. The server is a child of the test: when the test ends, the kernel
    ends all requests. Ends the test with 77 where no such file system can be mounted."""

    def __init__(self, folder, owner, size, gate, read=None, flags=0):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.folder = folder
        try:
            fd = os.open('/dev/fuse', os.O_RDWR)
        except OSError as error:
            print('/dev/fuse cannot be opened: %s' % error.strerror)
            sys.exit(77)
        if self.libc.unshare(CLONE_NEWNS) != 0 or \
                self.libc.mount(b'none', b'/', None, MS_REC | MS_PRIVATE, None) != 0:
            print('no mount namespace can be made: %s' % os.strerror(ctypes.get_errno()))
            sys.exit(77)
        options = 'fd=%d,rootmode=40000,user_id=%d,group_id=%d,allow_other' % (fd, owner, owner)
        if self.libc.mount(b'wallsample-test', folder.encode(), b'fuse.test', 0,
                           options.encode()) != 0:
            print('no file system in user space can be mounted: %s' %
                  os.strerror(ctypes.get_errno()))
            sys.exit(77)
        self.server = os.fork()
        if self.server == 0:
            try:
                serve(fd, size, flags, gate, read)
            finally:
                os._exit(0)
        os.close(fd)

    def end(self):
        """Ends the server; the kernel then ends all requests with an error."""
        os.kill(self.server, signal.SIGKILL)
        os.waitpid(self.server, 0)
        self.libc.umount2(self.folder.encode(), MNT_DETACH)
