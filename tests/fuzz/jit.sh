#!/bin/sh
# SPDX-License-Identifier: MIT
# A bounded round of fuzzing over what compilers at run time write for profilers (perf maps and
# jitdump files) and hand to debuggers (ELF files in memory).
corpus=${SOURCE:?}/tests/fuzz/corpus
rounds=${FUZZ_ROUNDS:-150}
"${BUILD:?}/tests/fuzz/fuzz_jit" -s 1 -r "$rounds" "$corpus/jit" || exit
exec "$BUILD/tests/fuzz/fuzz_jit_elf" -s 1 -r "$rounds" "$corpus/jit_elf"
