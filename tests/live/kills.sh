#!/bin/sh
# SPDX-License-Identifier: MIT
# A wallsample that is killed at a random moment leaves no thread traced or stopped, and the program
# continues. `python3 kills.py WALLSAMPLE 200 FOLDER` kills it 1,000 times.
. "${SOURCE:?}/tests/cli/common.sh"

GOFLAGS=-mod=mod
export GOFLAGS
python_test kills.py "$WALLSAMPLE" 10 "$dir"
