#!/bin/sh
# SPDX-License-Identifier: MIT
# A bounded round of fuzzing over the messages of the process that finds names.
exec "${BUILD:?}/tests/fuzz/fuzz_names" -s 1 -r "${FUZZ_ROUNDS:-1000}" \
	"${SOURCE:?}/tests/fuzz/corpus/names"
