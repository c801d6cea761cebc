#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compile-commands.py COMPILER FLAG… -- FILE…: compile_commands.json on standard output.

The directory of each entry is the current one, in which make calls the compiler.
"""
import json
import os
import sys


def main():
    end = sys.argv.index("--")
    command = sys.argv[1:end]
    entries = [{"directory": os.getcwd(), "file": name, "arguments": command + ["-c", name]}
               for name in sys.argv[end + 1:]]
    json.dump(entries, sys.stdout, indent=1)
    sys.stdout.write("\n")


main()
