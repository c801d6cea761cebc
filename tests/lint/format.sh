#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The program's C code is as clang-format writes it. Tables that it would tear apart stand between
# "clang-format off" and "clang-format on". Versions differ in details: .clang-format is for 14.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99

command -v clang-format-14 >/dev/null || { echo 'clang-format-14 is missing'; exit 77; }
find src include -name '*.[ch]' -print0 |
	xargs -0 -n 40 -P 2 clang-format-14 --style=file --dry-run -Werror 2>&1 |
	grep 'error: code should be clang-formatted' && { echo '"make format" mends it'; exit 1; }
exit 0
