# SPDX-License-Identifier: MIT
"""assembled.py - small programs in assembly language whose file is then damaged or enlarged."""
import subprocess
import sys

MOST_KIB = 200 << 10  # peak memory of a run

# _start calls spin, which runs for ever. `rule` is an instruction of the unwind table of spin.
SPIN = '''
	.text
	.globl _start, spin
	.type _start, @function
_start:	.cfi_startproc
	.cfi_undefined %rip
	call spin
	.cfi_endproc
	.size _start, . - _start
	.type spin, @function
spin:	.cfi_startproc
	{rule}
1:	pause
	jmp 1b
	.cfi_endproc
	.size spin, . - spin
'''


def build(compiler, path, text, *words):
    """Builds the program without a C library; ends the test with 77 where that is not possible."""
    with open(path + '.s', 'w') as file:
        file.write(text)
    run = subprocess.run([compiler, '-nostdlib', '-static', '-no-pie', '-Wl,--build-id=none',
                          *words, '-o', path, path + '.s'], capture_output=True, text=True,
                         check=False)
    if run.returncode != 0:
        print('%s cannot be built: %s' % (path, run.stderr.strip()))
        sys.exit(77)


def is_right(status, text, peak, wanted, partial=False):
    """True if the run has succeeded in bounded memory, and its output has `wanted`; `partial`: some
    stacks are not whole."""
    # On a busy machine some threads are not stopped in time.
    partial = partial or '[failed: not stopped' in text
    return (status == 0 or (status == 1 and partial)) and peak <= MOST_KIB and wanted in text
