#!/bin/sh
# SPDX-License-Identifier: MIT
# No line of a text report is wider than the page, on pages of 60, 80 and 120 columns, whatever is
# shown.
set -u
command -v python3 >/dev/null || { echo 'no python3'; exit 77; }
replay=${SOURCE:?}/tests/replay

PYTHONDONTWRITEBYTECODE=1 exec python3 - "${WALLSAMPLE:?}" "$replay/recordings" <<'PY'
import os
import subprocess
import sys
import unicodedata

wallsample, directory = sys.argv[1:]
# Filters and orders bring other columns; --blame and --by other tables.
OPTIONS = ["", "--full", "--full -t", "--full --tree", "--full --by lock", "--full --by thread",
           "--full --by gil", "--full --blame", "--full --sort latency --lines",
           "--full --sort cpu --by source", "--full --focus .", "--full -n 3 --state S,D"]
RECORDINGS = ["hostile", "job", "locks-v7", "python-v7"]


def cells(text):
    """The width of a text on a terminal."""
    return sum(0 if unicodedata.combining(letter) else
               2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


failed = shown = 0
for name in RECORDINGS:
    for options in OPTIONS:
        for columns in 60, 80, 120:
            run = subprocess.run([wallsample, "report", "-q", "--debuginfod=off",
                                  *options.split(), os.path.join(directory, name + ".wsdb")],
                                 env=dict(os.environ, COLUMNS=str(columns)),
                                 stdout=subprocess.PIPE, check=False)
            # 1: some stacks of the recording are incomplete
            if run.returncode not in (0, 1):
                sys.exit("status %d of %s %s" % (run.returncode, options, name))
            for line in run.stdout.decode().splitlines():
                shown += 1
                if cells(line) > columns:
                    print("%d cells of %d, %s %s: %s" % (cells(line), columns, name, options, line))
                    failed += 1
print("%d lines" % shown)
# Each report has more than ten lines.
sys.exit(failed > 0 or shown < 10 * len(RECORDINGS) * len(OPTIONS) * 3)
PY
