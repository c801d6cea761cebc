#!/bin/bash
# SPDX-License-Identifier: MIT
# Functions of the scripts that pages and pictures embed, in node: what needs no browser.
set -u
top=${SOURCE:-$(dirname "$0")/../../..}
command -v node >/dev/null 2>&1 || { echo 'node is not there'; exit 77; }
exec node "$top/tests/unit/web/test_scripts.js" "$top"
