#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The C code is formatted as .clang-format says. Other versions of clang-format give other
# results for the same file, so that only version 14 is asked; `make format` formats the tree.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99
tool=$(command -v clang-format-14 || command -v clang-format) || { echo 'clang-format is missing'; exit 77; }
case $("$tool" --version) in
*'version 14.'*) ;;
*) echo "version 14 of clang-format is needed, this is $("$tool" --version)"; exit 77 ;;
esac
find src include tests tools -name '*.[ch]' -not -path 'tests/replay/*' -print0 |
	xargs -0 "$tool" --style=file --dry-run --Werror 2>&1 | grep -A2 'error:' | head -n 60
[ "${PIPESTATUS[1]}" = 0 ]
