#!/bin/sh
# SPDX-License-Identifier: MIT
# A bounded round of fuzzing over the parsers of files below /proc.
exec "${BUILD:?}/tests/fuzz/fuzz_proc" -s 1 -r "${FUZZ_ROUNDS:-150}" \
	"${SOURCE:?}/tests/fuzz/corpus/proc"
