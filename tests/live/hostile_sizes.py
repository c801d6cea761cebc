# SPDX-License-Identifier: MIT
"""hostile_sizes.py WALLSAMPLE CC MANY_FILES - programs that map 20,000 files, or have symbol tables
of 200 MB with 1 GB of names, are sampled in bounded memory: the report names their functions, but
not those at an address that has too many symbols.

Ends with 77 where the programs cannot be built.
"""
import os
import struct
import subprocess
import sys
import tempfile

import assembled
from sampling import sample

SYMBOLS = 8 << 20     # symbols of 24 bytes: 192 MiB
NAMES = 1 << 30       # bytes of names, of which all but the first page are a hole

# Addresses in this section are those of no memory.
FAR, FAR_SIZE = 0x200000000, 0x100000000


def sections_of(data):
    """The section headers of the file, as lists of their ten fields."""
    at, = struct.unpack_from('<Q', data, 40)
    count, = struct.unpack_from('<H', data, 60)
    return [list(struct.unpack_from('<IIQQQQIIQQ', data, at + 64 * i)) for i in range(count)]


def write_symbols(file, symbol, same):
    """Writes SYMBOLS symbols in pieces: the peak memory of this process, at the time of a fork,
    counts as that of the child."""
    for i in range(SYMBOLS >> 16):
        piece = bytearray(symbol * 65536)
        if not same:
            # Of 256 bytes each, one behind the other from FAR on.
            piece[9::24] = bytes(range(256)) * 256
            piece[10::24] = b''.join(bytes([high]) * 256 for high in range(256))
            piece[11::24] = bytes([i]) * 65536
        file.write(piece)


def enlarge(path, same):
    """Adds SYMBOLS symbols to the symbol table, and makes its names NAMES bytes long. All symbols
    are those of spin's address if `same`, else of addresses that nothing executes."""
    with open(path, 'r+b') as file:
        data = file.read()
        sections = sections_of(data)
        table = next(s for s in sections if s[1] == 2)
        names = sections[table[6]]
        old = data[table[4]:table[4] + table[5]]
        text = data[names[4]:names[4] + names[5]] + b'other\0'
        spin = next(old[i:i + 24] for i in range(0, len(old), 24)
                    if text[struct.unpack_from('<I', old, i)[0]:].startswith(b'spin\0'))
        section, = struct.unpack_from('<H', spin, 6)
        place = spin[8:] if same else struct.pack('<QQ', FAR, 256)
        symbol = struct.pack('<IBBH', len(text) - 6, 2, 0,
                             section if same else len(sections)) + place
        sections.append([0, 1, 6, FAR, 0, FAR_SIZE, 0, 0, 1, 0])
        file.seek(0, os.SEEK_END)
        at = (file.tell() + 4095) & ~4095
        file.seek(at)
        table[4], table[5] = at, len(old) + 24 * SYMBOLS
        file.write(old)
        write_symbols(file, symbol, same)
        headers = (file.tell() + 4095) & ~4095
        names[4], names[5] = headers + 4096, NAMES
        file.seek(headers)
        file.write(b''.join(struct.pack('<IIQQQQIIQQ', *s) for s in sections))
        file.seek(names[4])
        file.write(text)
        file.truncate(names[4] + NAMES)
        file.seek(40)
        file.write(struct.pack('<Q', headers))
        file.seek(60)
        file.write(struct.pack('<H', len(sections)))


def main():
    wallsample, compiler, many_files = sys.argv[1:4]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        def check(name, target, wanted):
            nonlocal failed
            status, text, peak = sample([wallsample], target.pid, os.path.join(folder, 'out'), [])
            target.kill()
            target.wait()
            print('%s: status %s, %d MiB' % (name, status, peak >> 10))
            if not assembled.is_right(status, text, peak, wanted):
                print('FAILED, output: %s' % text[:400])
                failed = True

        target = subprocess.Popen([many_files], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if target.stdout.readline() != b'ready\n':
            sys.exit('FAILED: %s does not start' % many_files)
        check('20,000 files', target, 'files_f0;files_leaf')
        for name, same, wanted in (('8 million functions', False, '_start;spin'),
                                   ('8 million names of a function', True, 'large+0x')):
            path = os.path.join(folder, 'large')
            assembled.build(compiler, path, assembled.SPIN.format(rule=''))
            enlarge(path, same)
            check(name, subprocess.Popen([path], stdin=subprocess.DEVNULL), wanted)
    sys.exit(1 if failed else 0)


main()
