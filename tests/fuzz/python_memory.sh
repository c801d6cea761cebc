#!/bin/sh
# SPDX-License-Identifier: MIT
# A bounded round of fuzzing over the memory of Python interpreters.
exec "${BUILD:?}/tests/fuzz/fuzz_python_memory" -s 1 -r "${FUZZ_ROUNDS:-3000}"
