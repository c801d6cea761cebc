# SPDX-License-Identifier: MIT
"""Says where its code objects are and what they are called, and lives until its input ends.

The first line is "python PID MINOR FREE_THREADED". Then "code ADDRESS FIRST_LINE NAME FILE
OFFSET:LINE ...", texts as the hexadecimal digits of UTF-8, for each code object; "none ADDRESS"
for other objects; and "ready".
"""
import argparse  # noqa: for its code, which is plenty
import os
import sys
import sysconfig

CODE = type((lambda: 0).__code__)


class Text(str):
    """Its characters are not behind the object."""


def encode(text):
    return str(text).replace("\0", "\\x00").encode("utf-8", "backslashreplace").hex() or "-"


def lines_of(code):
    if hasattr(code, "co_lines"):
        return [(start, line or 0) for start, end, line in code.co_lines() if end > start]
    import dis
    return list(dis.findlinestarts(code))


def collect(code, found):
    found.append(code)
    for constant in code.co_consts:
        if isinstance(constant, CODE):
            collect(constant, found)


def codes_of_modules():
    found = []
    for module in list(sys.modules.values()):
        for value in list(vars(module).values()):
            members = list(vars(value).values()) if isinstance(value, type) else [value]
            for member in members:
                member = getattr(member, "__func__", member)
                if isinstance(getattr(member, "__code__", None), CODE):
                    collect(member.__code__, found)
    return found


def special_codes():
    code = compile("\n\ndef f():\n  return (a,\n b)\n", "plain.py", "exec")
    names = ["caf\xe9", "\u20acuro", "\U0001f40d", "caf\udce9.py", "a\0b", "", "tab\there",
             Text("derived"), Text("d\u0435rived"), Text("d\xe9riv\xe9"), "\ud800\U0001f40d",
             "x" * 1024, "\u0436" * 1024, "".join(map(chr, range(1, 256)))]
    found = []
    for name in names:
        changes = {"co_name": name, "co_filename": name + "/" + name}
        if hasattr(code, "co_qualname"):
            changes["co_qualname"] = name
        found.append(code.replace(**changes))
    return found


def main():
    if sys.implementation.name != "cpython" or sys.version_info < (3, 8):
        return
    codes = codes_of_modules() + special_codes()
    codes = list({id(code): code for code in codes}.values())
    free_threaded = sysconfig.get_config_var("Py_GIL_DISABLED") or 0
    print("python", os.getpid(), sys.version_info[1], free_threaded)
    for code in codes:
        name = getattr(code, "co_qualname", code.co_name)
        print("code", id(code), code.co_firstlineno, encode(name), encode(code.co_filename),
              *["%d:%d" % pair for pair in lines_of(code)])
    others = [None, code, CODE, "text", b"bytes", {}, [], main, sys, 1, 1.5, ("a",) * 40]
    for other in others:
        if not isinstance(other, CODE):
            print("none", id(other))
    print("ready", flush=True)
    sys.stdin.read()


main()
