#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""names.py: names of functions that are defined in more than three files of src/."""
import collections
import glob
import re
import sys

MOST = 3
# Callbacks of a contract: every implementation has the same role.
ALLOWED = {"advance", "covers", "state_create", "state_free", "on_slice"}


def defined(path):
    """Names of the functions whose body begins with a brace in the first column."""
    lines = open(path, encoding="utf-8").read().split("\n")
    name = None
    for line in lines:
        if re.match(r"[A-Za-z_].*\(", line) and not line.endswith(";"):
            name = re.sub(r".*[ *]", "", line.split("(")[0])
        elif line == "{" and name is not None:
            yield name
            name = None
        elif line == "}":
            name = None


def main():
    files = collections.defaultdict(list)
    for path in sorted(glob.glob("src/**/*.c", recursive=True)):
        # Files of another architecture implement the same contract.
        for name in set(defined(path)):
            files[name].append(re.sub(r"_(x86_64|aarch64|absent)\.c$", ".c", path))
    failed = False
    for name, paths in sorted(files.items()):
        if len(set(paths)) > MOST and name not in ALLOWED:
            failed = True
            print(f"{name} is defined in {len(set(paths))} files: {' '.join(sorted(set(paths)))}")
    return 1 if failed else 0


sys.exit(main())
