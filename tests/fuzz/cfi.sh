#!/bin/sh
# SPDX-License-Identifier: MIT
# A bounded round of fuzzing over entries of unwind tables, their instructions and expressions.
exec "${BUILD:?}/tests/fuzz/fuzz_cfi" -s 1 -r "${FUZZ_ROUNDS:-150}" \
	"${SOURCE:?}/tests/fuzz/corpus/cfi"
