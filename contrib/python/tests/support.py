# SPDX-License-Identifier: MIT
"""Shared by the tests: a stand-in for the program, and the path of the program under test."""

import os
import shutil
import tempfile
import time
import unittest
from typing import Optional

# Bound for steps that take milliseconds on an idle machine.
PATIENCE_S = 60.0

# A program that gives the help texts of the program under test, and samples nothing.
_STAND_IN = """#!/bin/sh
case "$*" in
'record --help'|'report --help') exec '{program}' "$@" ;;
esac
case $1 in
record) echo "$$ $PPID $*" >'{log}'; : >"$5"; {record} ;;
report) {report} ;;
esac
"""
# A shell command for `record` that runs as the program does when nothing fails, until its end.
SAMPLES = (
    "trap 'exit 0' TERM; trap 'exit 9' INT; exec 5<>\"$FIFO\"; "
    "echo 'wallsample: sampling process 1 (x) 100 times a second' >&2; "
    "while :; do read -r line <&5; done"
)


class Folder(unittest.TestCase):
    """A test that has its own folder."""

    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="wallsample-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        # A shell that reads from this pipe waits until it gets a signal: nothing is ever written.
        self.fifo = os.path.join(self.folder, "fifo")
        os.mkfifo(self.fifo)
        os.environ["FIFO"] = self.fifo
        self.log = os.path.join(self.folder, "log")

    def stand_in(self, record: str = SAMPLES, report: str = "echo '{}'") -> str:
        """Writes a stand-in that runs these shell commands. Returns its path."""
        program = real_program()
        if program is None:
            self.skipTest("WALLSAMPLE does not name the program, which has the help texts")
        path = os.path.join(self.folder, "wallsample")
        with open(path, "w", encoding="utf-8") as script:
            script.write(_STAND_IN.format(program=program, log=self.log, record=record,
                                          report=report))
        os.chmod(path, 0o755)
        return path

    def logged(self) -> str:
        """The pid of the stand-in for record, the pid of its parent, and its arguments."""
        with open(self.log, encoding="utf-8") as log:
            return log.read()


def real_program() -> Optional[str]:
    """The path of the program under test, or None."""
    return os.environ.get("WALLSAMPLE")


def ends(pid: int) -> bool:
    """Waits until the process has exited (or is a zombie); False after PATIENCE_S."""
    # Python 3.8 has no pidfd, so that the folder of the process in /proc is read again and again.
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
                if stat.read().rpartition(")")[2].split()[0] in "ZX":
                    return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False
