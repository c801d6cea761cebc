#!/bin/sh
# SPDX-License-Identifier: MIT
# A bounded round of fuzzing over core files: headers, notes, lists of files, memory and stacks.
exec "${BUILD:?}/tests/fuzz/fuzz_core" -s 1 -r "${FUZZ_ROUNDS:-400}" \
	"${SOURCE:?}/tests/fuzz/corpus/core"
