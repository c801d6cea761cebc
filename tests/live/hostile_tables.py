# SPDX-License-Identifier: MIT
"""hostile_tables.py WALLSAMPLE CC - programs with hostile unwind tables are sampled in bounded time
and memory: the report names the function that they execute.

Ends with 77 where the programs cannot be built.
"""
import os
import struct
import subprocess
import sys
import tempfile

import assembled
from assembled import SPIN
from sampling import sample

DAMAGED = ('endless', '4 million')  # programs whose stacks cannot be unwound

# The common entry has no augmentation: addresses are absolute.
TABLE = '''
	.text
	.globl _start, spin
	.type _start, @function
_start:	call spin
	.size _start, . - _start
	.type spin, @function
spin:	pause
	jmp spin
	.size spin, . - spin
	.section .eh_frame, "a", @progbits
{entries}
'''

COMMON = '''
common:	.long 2f - 1f
1:	.long 0
	.byte 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0
2:'''
ENTRY = '''
	.long 4f - 3f
3:	.long 3b - common
	.quad spin, 64
	{instructions}
4:'''

ENDLESS = '0x2f, 0xfd, 0xff'  # DW_OP_skip -3: a jump to itself


def many_entries(path):
    """Writes 64 MiB less a little of entries for functions that do not exist."""
    with open(path, 'wb') as file:
        for i in range(((64 << 20) - 4096) // 28):
            # The common entry has 20 bytes; the distance to it grows with each entry.
            file.write(struct.pack('<IIQQI', 24, 20 + 28 * i + 4, 0x10000000 + 16 * i, 16, 0))


def make_sparse(path):
    """Makes .eh_frame a section of 4 GiB that takes no room on the disk."""
    with open(path, 'r+b') as file:
        header = file.read(64)
        shoff, = struct.unpack_from('<Q', header, 40)
        count, names = struct.unpack_from('<HH', header, 60)
        sections = []
        for i in range(count):
            file.seek(shoff + 64 * i)
            sections.append(file.read(64))
        file.seek(struct.unpack_from('<Q', sections[names], 24)[0])
        text = file.read(struct.unpack_from('<Q', sections[names], 32)[0])
        size = os.path.getsize(path)
        for i, section in enumerate(sections):
            name, = struct.unpack_from('<I', section)
            if text[name:].startswith(b'.eh_frame\0'):
                file.seek(shoff + 64 * i + 24)
                file.write(struct.pack('<QQ', size, 4 << 30))
                file.truncate(size + (4 << 30))
                return
    sys.exit('a program without .eh_frame')


def build(compiler, folder, name, text, index=False):
    """Returns the path of the program. With `index`, it has an .eh_frame_hdr."""
    path = os.path.join(folder, name)
    assembled.build(compiler, path, text, '-Wl,--%seh-frame-hdr' % ('' if index else 'no-'))
    return path


def programs(compiler, folder):
    """Yields the name and the path of each program."""
    for name, rule in (('endless expression of the CFA', '.cfi_escape 0x0f, 3, ' + ENDLESS),
                       ('endless expression of a register', '.cfi_escape 0x10, 16, 3, ' + ENDLESS)):
        yield name, build(compiler, folder, name.replace(' ', '_'), SPIN.format(rule=rule),
                          True)
    entry = ENTRY.format(instructions='.fill 4000000, 1, 0x0a')
    yield '4 million remembered rows', build(compiler, folder, 'remember',
                                             TABLE.format(entries=COMMON + entry))
    many_entries(os.path.join(folder, 'many.bin'))
    entries = COMMON + '.incbin "%s/many.bin"\n' % folder
    yield '2 million entries without an index', build(compiler, folder, 'many',
                                                      TABLE.format(entries=entries))
    path = build(compiler, folder, 'sparse', SPIN.format(rule=''))
    make_sparse(path)
    yield 'a sparse section of 4 GiB', path


def main():
    wallsample, compiler = sys.argv[1:3]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, 'out.folded')
        for name, path in programs(compiler, folder):
            target = subprocess.Popen([path], stdin=subprocess.DEVNULL)
            status, text, peak = sample([wallsample], target.pid, out, [])
            target.kill()
            target.wait()
            print('%s: status %s, %d MiB' % (name, status, peak >> 10))
            damaged = '[truncated: damaged unwind tables]' in text
            if (damaged != name.startswith(DAMAGED) or
                    not assembled.is_right(status, text, peak, 'spin', damaged)):
                print('FAILED, output: %s' % text[:400])
                failed = True
    sys.exit(1 if failed else 0)


main()
