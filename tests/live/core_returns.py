# SPDX-License-Identifier: MIT
"""core_returns.py CORE TID - the thread is about to return from its system call.

In the core file, of x86-64, a sleep that the core's making cut short becomes one whose time was
up at that moment: -ETIMEDOUT is what it returns. It may be that already. Status 3: it is neither.
"""
import errno
import mmap
import struct
import sys

PT_NOTE, NT_PRSTATUS = 4, 1
# struct elf_prstatus of x86-64: pr_pid, and of pr_reg rax and orig_rax
PID, RAX, ORIG_RAX, SIZE = 32, 112 + 10 * 8, 112 + 15 * 8, 336
# include/linux/errno.h: the sleep was to begin anew
FITTING = {-512, -513, -514, -516, -errno.ETIMEDOUT}


def notes(core):
    """Where each NT_PRSTATUS begins."""
    start, = struct.unpack_from('<Q', core, 32)
    size, count = struct.unpack_from('<HH', core, 54)
    for header in range(start, start + size * count, size):
        kind, = struct.unpack_from('<I', core, header)
        at, = struct.unpack_from('<Q', core, header + 8)
        end = at + struct.unpack_from('<Q', core, header + 32)[0]
        while kind == PT_NOTE and at + 12 <= end:
            name, length, note = struct.unpack_from('<III', core, at)
            at += 12 + (name + 3 & ~3)
            if note == NT_PRSTATUS and length == SIZE:
                yield at
            at += length + 3 & ~3


with open(sys.argv[1], 'r+b') as file, mmap.mmap(file.fileno(), 0) as core:
    for at in notes(core):
        if struct.unpack_from('<i', core, at + PID)[0] != int(sys.argv[2]):
            continue
        call, = struct.unpack_from('<q', core, at + ORIG_RAX)
        if call < 0 or struct.unpack_from('<q', core, at + RAX)[0] not in FITTING:
            sys.exit(3)
        struct.pack_into('<q', core, at + RAX, -errno.ETIMEDOUT)
        sys.exit()
sys.exit(f'no thread {sys.argv[2]}')
