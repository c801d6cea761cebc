#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fails when C code of the program is not formatted as clang-format 14 formats it; other versions
# differ in details. Data tables may be excluded by "clang-format off" and "clang-format on".
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99

command -v clang-format-14 >/dev/null || { echo 'clang-format-14 is missing'; exit 77; }
find src include -name '*.[ch]' -print0 |
	xargs -0 -n 40 -P 2 clang-format-14 --style=file --dry-run -Werror 2>&1 |
	grep 'error: code should be clang-formatted' && { echo '"make format" formats changed lines; clang-format-14 -i FILE a whole file'; exit 1; }
exit 0
