#!/bin/sh
# SPDX-License-Identifier: MIT
# A bounded round of fuzzing over where CPython says its parts are, and over its DWARF.
exec "${BUILD:?}/tests/fuzz/fuzz_python" -s 1 -r "${FUZZ_ROUNDS:-300}" \
	"${SOURCE:?}/tests/fuzz/corpus/python"
