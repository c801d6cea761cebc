#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Names of functions say what they work on: a backtrace shows nothing else. One name may stand
# in at most three files, apart from the ones that names.py lists.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99
command -v python3 >/dev/null 2>&1 || { echo 'python3 is missing'; exit 77; }
exec python3 tests/lint/names.py
