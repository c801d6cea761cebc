# SPDX-License-Identifier: MIT
"""The words of a call: which options are there, and which command each is for.

What the options are is asked of the program (--help), since it is installed by itself and may
be of another version than this package.
"""

import getopt
import os
import re
import subprocess
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from .errors import SamplingError

# What is sampled and in which formats it is shown is not for the caller to say here, and help
# and version are no sampling.
_NOT_HERE = {
    "--pid", "--name", "--keep-root", "--format", "--quiet", "--verbose", "--version", "--help",
}
_OURS = {"--program", "--output"}
# Other formats than the text report refuse these.
_TEXT_ONLY = {"--tree", "--focus", "--full"}
# Other formats than reports for people refuse these.
_PAGES_ONLY = {"--limit", "--threads"}

_HELP_LINE = re.compile(r"^ {2,6}(?:-(\w), )?(--[\w-]+)(?: ([A-Z]+))?(?: {2,}|$)")
_TOKEN = re.compile(r"""(?:[^\s"']|"[^"]*"|'[^']*'|["'])+""")
_ANSWER_TIMEOUT_S = 30
_USAGE = 64  # the status of a call whose words are wrong


class Option(NamedTuple):
    """One option of the program."""

    name: str  # with its dashes
    letter: Optional[str]
    takes_value: bool


class Words(NamedTuple):
    """A call taken apart."""

    output: Optional[str]
    record: List[str]  # the options of `wallsample record`
    report: List[str]  # those of `wallsample report`
    text: List[str]  # those that it takes for the text report alone
    rest: List[str]  # what follows the options
    limited: bool  # -n is among those of the report
    page: List[str]  # those that it takes for reports for people alone


def parse_help(text: str) -> List[Option]:
    """The options that a help text lists."""
    found = (_HELP_LINE.match(line) for line in text.splitlines())
    return [Option(m.group(2), m.group(1), m.group(3) is not None) for m in found if m]


def _call(words: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            timeout=_ANSWER_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SamplingError(f"wallsample: {words[0]} cannot be run: {error}") from None


def _ask(program: str, command: str) -> Dict[str, Option]:
    answer = _call([program, command, "--help"])
    options = {option.name: option for option in parse_help(answer.stdout)}
    if answer.returncode != 0 or "--output" not in options:
        raise SamplingError(f"wallsample: {program} does not seem to be wallsample: "
                            f"'{command} --help' lists no options")
    return options


def split(line: str) -> List[Tuple[str, int]]:
    """The words of a line without their quotes, and where in the line each begins."""
    found = []
    for match in _TOKEN.finditer(line):
        # A Python statement may follow the options, in which a lone quote is nothing strange.
        word = re.sub(r""""([^"]*)"|'([^']*)'""", lambda m: m.group(1) or m.group(2) or "",
                      match.group())
        found.append((word, match.start()))
    return found


def find_program(words: Sequence[str]) -> Optional[str]:
    """The argument of --program, which has to be known before options can be told apart."""
    for i, word in enumerate(words):
        if word.startswith("--program="):
            return word[len("--program="):]
        if word == "--program" and i + 1 < len(words):
            return words[i + 1]
    return None


def take_apart(words: Sequence[str], program: str) -> Words:
    """Says what each option is for; they end at the first word that is none."""
    commands = {command: _ask(program, command) for command in ("record", "report")}
    known = {
        name: option
        for options in commands.values()
        for name, option in options.items()
        if name not in _NOT_HERE
    }
    known["--program"] = Option("--program", None, True)
    letters = {"-" + o.letter: o.name for o in known.values() if o.letter}
    try:
        pairs, rest = getopt.getopt(
            list(words),
            "".join(letter[1:] + ":" * known[name].takes_value for letter, name in letters.items()),
            [name[2:] + "=" * option.takes_value for name, option in known.items()],
        )
    except getopt.GetoptError as error:
        raise SamplingError(f"wallsample: {error}") from None

    output = None
    given: Dict[str, List[str]] = {"record": [], "report": [], "text": [], "page": []}
    limited = False
    for option, value in pairs:
        name = letters.get(option, option)
        if name == "--program" and value != find_program(words):
            raise SamplingError("wallsample: --program has to be written out")
        if name == "--output":
            if value == "-":
                raise SamplingError("wallsample: -o names a file here")
            output = value
        limited = limited or name == "--limit"
        for command, options in commands.items():
            if name in options and name not in _OURS:
                where = (
                    "text" if name in _TEXT_ONLY else "page" if name in _PAGES_ONLY else command
                )
                given[where].append(name + "=" + value if known[name].takes_value else name)
    return Words(
        output, given["record"], given["report"], given["text"], rest, limited, given["page"]
    )


def check(words: Words, program: str) -> None:
    """Has the program look at the arguments of its options, before anything has run."""
    html = words.report + words.page
    for options in (html + ["-f", "html"], html + words.text + ["-f", "text"]):
        answer = _call([program, "report", *options, os.devnull])
        if answer.returncode == _USAGE:
            raise SamplingError(answer.stderr.strip())
