#!/bin/sh
# SPDX-License-Identifier: MIT
# A bounded round of fuzzing over tables of Go's functions. The programs are those
# of tests/unit/scene/made_go.c.
exec "${BUILD:?}/tests/fuzz/fuzz_go" -s 1 -r "${FUZZ_ROUNDS:-300}" \
	"${SOURCE:?}/tests/fuzz/corpus/go"
