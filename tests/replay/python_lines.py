# SPDX-License-Identifier: MIT
"""Writes line tables of this interpreter, and the line of every instruction as it says itself.

    python3 python_lines.py >>python_lines.txt

PyCode_Addr2Line is what f_lineno of a frame is made of; it is compared with co_lines() or, before
3.10, with dis. Without ctypes those alone say it.

For each code object two lines: "code NAME FIRST_LINE LENGTH TABLE", the table in hexadecimal, and
"lines OFFSET:LINE ...", of the first instruction of each run; a line of 0 is none.
"""
import ast
import dis
import sys

PLAIN = '''
@decorator
@another(
    1,
    2)
def decorated(a,
              b=3):
    """Text."""
    return (a
            + b *
            call(a,
                 [b for b in
                  range(a) if b
                  and a],
                 key=lambda x:
                     x + a))


def tried(a):
    try:
        with open(a) as file, \\
                open(a) as other:
            a = file.read()
            if a:
                return a
            else:
                raise ValueError(
                    a)
    except (ValueError,
            OSError) as error:
        print(error)
    except Exception:
        pass
    else:
        a += 1
    finally:
        print(a)
    while a:
        a -= 1
        if a == 3:
            continue
        for b in a:
            if b: break
        else: a = 2
    return {
        k: v
        for k, v
        in a.items()
    }, (x for x in
        a)


class Thing(Base,
            meta=1):
    x: int = 1

    def closure(self):
        a = 1

        def inner():
            nonlocal a

            a += 1
            yield a
            return super().closure(
                a)
        return inner

    async def waits(self):
        async with self as s:
            async for x in s:
                await x
        return [y async for y in
                s]


def nothing():
    pass
'''

MATCH = '''
def matched(a):
    match a:
        case [1, x]:
            return x
        case {"k": v} if v:
            pass
        case Thing(
            x=1
        ) | 3:
            a = 2
        case _:
            a = 1
    return a
'''

GROUPS = '''
def grouped(a):
    try:
        a()
    except* ValueError as error:
        print(error)
    except* (TypeError,
             OSError):
        a = 1
    return a
'''


def far_apart():
    """Lines far apart, forwards and backwards, and code that is long on one line."""
    text = ["def far(a):"]
    text.append("    a = " + " + ".join(["a"] * 90))
    text += [""] * 130
    text.append("    a(")
    text += [""] * 300
    text.append("      a,")
    text += [""] * 128
    text.append("      " + " + ".join(["a"] * 150) + ",")
    text.append("      a.b.c(a))")
    text.append("    for b in a:")
    text += [""] * 127
    text.append("        a = b")
    text += [""] * 255
    text.append("    return a")
    return "\n".join(text) + "\n"


def moved(lines):
    """Statements at the lines that are given, in that order: no source need look so."""
    tree = ast.parse("def moved(a):\n" + "    a += a(a, a)\n" * len(lines))
    for statement, line in zip(tree.body[0].body, lines):
        for node in ast.walk(statement):
            if hasattr(node, "lineno"):
                node.lineno = node.end_lineno = line
    return tree


def truth():
    """A function from a code object and an offset to a line."""
    def by_table(code, offset):
        if not hasattr(code, "co_lines"):
            return [line for start, line in dis.findlinestarts(code) if start <= offset][-1]
        for start, end, line in code.co_lines():
            if start <= offset < end:
                return line or 0
        return 0
    try:
        import ctypes
        by_interpreter = ctypes.pythonapi.PyCode_Addr2Line
        by_interpreter.argtypes = [ctypes.py_object, ctypes.c_int]
    except (ImportError, AttributeError):
        return by_table

    def line_of(code, offset):
        line = max(by_interpreter(code, offset), 0)
        assert by_table(code, offset) == line, (code, offset, line)
        return line
    return line_of


def show(code, line_of):
    lines = []
    last = None
    for offset in range(0, len(code.co_code), 2):
        line = line_of(code, offset)
        if line != last:
            lines.append("%d:%d" % (offset, line))
            last = line
    table = code.co_linetable if hasattr(code, "co_linetable") else code.co_lnotab
    name = getattr(code, "co_qualname", code.co_name)
    print("code", name, code.co_firstlineno, len(code.co_code), table.hex() or "-")
    print("lines", *lines)
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            show(constant, line_of)


def main():
    line_of = truth()
    sources = [PLAIN, far_apart(), moved([20000, 3, 4, 3, 129, 1, 9999])]
    if sys.version_info >= (3, 10):
        sources.append(MATCH)
    if sys.version_info >= (3, 11):
        sources.append(GROUPS)
        sources.append(moved([2000000000, 1, 1000000, 63, 64, 65, 31, 30, 64]))
    print("python %d.%d.%d" % sys.version_info[:3])
    for source in sources:
        show(compile(source, "lines", "exec"), line_of)


main()
