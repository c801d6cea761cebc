#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""groups.py BUILD: strongly connected groups of object files, and calls up the layers.

An arrow leads from the object that needs a symbol to the object that defines it. Prints each
group that is larger than ALLOWED says, and each arrow from a directory to one that the table of
layering.sh lists later; fails if there is one.
"""
import os
import re
import subprocess
import sys

# Directory: files that may be in its groups, all groups together. A missing one: none.
ALLOWED = {}


def object_files(build):
    for directory, _, names in os.walk(os.path.join(build, "src")):
        for name in sorted(names):
            if name.endswith(".o") and "wallsample-" not in name.replace("libwallsample_a-", ""):
                yield os.path.join(directory, name)


def source_name(build, path):
    return os.path.relpath(path, build).replace("libwallsample_a-", "")[len("src/"):-len(".o")]


def read_arrows(build):
    """{name: {names it needs symbols of}} of all objects of the library."""
    defined, needed = {}, {}
    for path in object_files(build):
        name = source_name(build, path)
        needed[name] = set()
        listing = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
        for line in listing.splitlines():
            words = line.split()
            if words[-2] == "U":
                needed[name].add(words[-1])
            elif words[-2] in "TDBRCVW":
                defined[words[-1]] = name
    return {name: {defined[symbol] for symbol in symbols if symbol in defined} - {name}
            for name, symbols in needed.items()}


def find_groups(arrows):
    """Tarjan's algorithm: the strongly connected components of two files or more."""
    number, lowest, stack, on_stack, groups = {}, {}, [], set(), []

    def visit(name):
        number[name] = lowest[name] = len(number)
        stack.append(name)
        on_stack.add(name)
        for other in sorted(arrows[name]):
            if other not in number:
                visit(other)
                lowest[name] = min(lowest[name], lowest[other])
            elif other in on_stack:
                lowest[name] = min(lowest[name], number[other])
        if lowest[name] == number[name]:
            group = []
            while not group or group[-1] != name:
                group.append(stack.pop())
                on_stack.discard(group[-1])
            if len(group) > 1:
                groups.append(sorted(group))

    sys.setrecursionlimit(10000)
    for name in sorted(arrows):
        if name not in number:
            visit(name)
    return groups


def read_layers():
    """The directories in the order of layering.sh, the lowest first."""
    text = open("tests/lint/layering.sh", encoding="utf-8").read()
    rows = re.search(r"^rows='\n(.*?)\n'", text, re.M | re.S).group(1)
    return [row.split()[0] for row in rows.splitlines()]


def main():
    arrows = read_arrows(sys.argv[1])
    layers = read_layers()
    failed = False
    sizes = {}
    groups = find_groups(arrows)
    for group in groups:
        directory = group[0].split("/")[0]
        sizes[directory] = sizes.get(directory, 0) + len(group)
    for directory, size in sorted(sizes.items()):
        if size > ALLOWED.get(directory, 0):
            failed = True
            print(f"src/{directory}: {size} files in strongly connected groups, "
                  f"at most {ALLOWED.get(directory, 0)} allowed:")
            for group in groups:
                if group[0].startswith(directory + "/"):
                    print("    " + " ".join(group))
    for name, others in sorted(arrows.items()):
        for other in sorted(others):
            if layers.index(other.split("/")[0]) > layers.index(name.split("/")[0]):
                failed = True
                print(f"src/{name}.c calls up the layers into src/{other}.c")
    return 1 if failed else 0


sys.exit(main())
