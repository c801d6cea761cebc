#!/bin/sh
# SPDX-License-Identifier: MIT
# A library in a file system that answers late, or never, stops no thread of the program.
. "${SOURCE:?}/tests/cli/common.sh"

[ "$(id -u)" -eq 0 ] || { echo 'only root can mount'; exit 77; }
python_test slow_files.py "$WALLSAMPLE" "${CC:-cc}"
