#!/bin/sh
# SPDX-License-Identifier: MIT
# A bounded round of fuzzing over ELF, DWARF, PLT and unwind tables. The corpus is part of the
# sources; a file that once broke something stays in it.
exec "${BUILD:?}/tests/fuzz/fuzz_module" -s 1 -r "${FUZZ_ROUNDS:-150}" \
	"${SOURCE:?}/tests/fuzz/corpus/module"
