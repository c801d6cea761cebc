# SPDX-License-Identifier: MIT
"""Shared by the tests: a stand-in for the program, and the path of the program under test."""

import os
import shutil
import sys
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
# What `record` does when nothing fails. A shell that waits in `read` or `wait` may miss a signal that
# comes just before; sigwait() cannot.
_SAMPLES = """
import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
print("wallsample: sampling process 1 (x) 100 times a second", file=sys.stderr, flush=True)
if signal.sigwait((signal.SIGINT, signal.SIGTERM)) == signal.SIGINT:
    sys.exit(9)
{at_end}
"""


def samples(at_end: str = "") -> str:
    """A shell command for `record` that runs as the program does when nothing fails. `at_end`:
    Python code that runs when it ends."""
    return f"exec '{sys.executable}' -S -c '{_SAMPLES.format(at_end=at_end)}'"


class Folder(unittest.TestCase):
    """A test that has its own folder."""

    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="wallsample-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        # A shell that reads from this pipe waits until it is killed: nothing is ever written.
        self.fifo = os.path.join(self.folder, "fifo")
        os.mkfifo(self.fifo)
        os.environ["FIFO"] = self.fifo
        self.log = os.path.join(self.folder, "log")

    def stand_in(self, record: Optional[str] = None, report: str = "echo '{}'") -> str:
        """Writes a stand-in that runs these shell commands; without `record`, samples(). Returns
        its path."""
        program = real_program()
        if program is None:
            self.skipTest("WALLSAMPLE does not name the program, which has the help texts")
        path = os.path.join(self.folder, "wallsample")
        with open(path, "w", encoding="utf-8") as script:
            script.write(_STAND_IN.format(program=program, log=self.log, report=report,
                                          record=record or samples()))
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
