# SPDX-License-Identifier: MIT
"""What the tests share: a stand-in for the program, and where the real one is."""

import os
import shutil
import tempfile
import time
import unittest
from typing import Optional

# Bounds for what should take milliseconds, on machines that are busy.
PATIENCE_S = 60.0

# Says what the program says, and samples nothing.
_HELP = """Options:
  -p, --pid PID           sample this running process
  -r, --rate HZ           look at the threads this often a second (default 100)
      --nonblocking       never stop anything
  -o, --output FILE       write there
  -f, --format F          what to write
      --tid LIST          only these threads"""
_REPORT_HELP = """Options:
  -o, --output FILE       write there
  -f, --format F          what to write
  -n, --limit N           rows of a table
  -X, --exclude REGEX     only stacks that have none
      --tid LIST          only these threads
      --parallelism RANGE
                          only the time in which so many threads were on a CPU
      --tree              add the call tree to the text report"""
_STAND_IN = """#!/bin/sh
case "$*" in
'record --help') cat <<'TXT'
{help}
TXT
exit ;;
'report --help') cat <<'TXT'
{report_help}
TXT
exit ;;
esac
case $1 in
record) echo "$$ $PPID $*" >'{log}'; : >"$5"; {record} ;;
report) {report} ;;
esac
"""
# The way of a run that goes well, up to its end.
SAMPLES = (
    "trap 'exit 0' TERM; trap 'exit 9' INT; exec 5<>\"$FIFO\"; "
    "echo 'wallsample: sampling process 1 (x) 100 times a second' >&2; "
    "while :; do read -r line <&5; done"
)


class Folder(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="wallsample-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        # A shell that reads from it waits until a signal comes: nobody ever writes.
        self.fifo = os.path.join(self.folder, "fifo")
        os.mkfifo(self.fifo)
        os.environ["FIFO"] = self.fifo
        self.log = os.path.join(self.folder, "log")

    def stand_in(self, record: str = SAMPLES, report: str = "echo '{}'") -> str:
        """The path of a program that does this."""
        path = os.path.join(self.folder, "wallsample")
        with open(path, "w", encoding="utf-8") as script:
            script.write(_STAND_IN.format(help=_HELP, report_help=_REPORT_HELP, log=self.log,
                                          record=record, report=report))
        os.chmod(path, 0o755)
        return path

    def logged(self) -> str:
        """Its own pid, its parent's and its words, as it began."""
        with open(self.log, encoding="utf-8") as log:
            return log.read()


def real_program() -> Optional[str]:
    """The program under test, where there is one."""
    return os.environ.get("WALLSAMPLE")


def ends(pid: int) -> bool:
    """Waits until there is no such process any more, or only what is left of one."""
    # A pidfd would say so, but Python 3.8 has none: its folder in /proc is watched instead.
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
