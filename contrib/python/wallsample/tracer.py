# SPDX-License-Identifier: MIT
"""Runs the program beside this process, from "sampling process" until it is told to end.

wallsample refuses to sample its own ancestors: stopping a shell or a terminal that it depends on
could stop both. So it is not started as a child. A shell in a session of its own starts it, whose
parent is gone by then; its standard input and output are /dev/null, and only messages come through
a pipe from which it waits for nothing. When this process ends, the shell's standard input ends and
with it the sampling.
"""

import ctypes
import os
import select
import signal
import subprocess
import time
from typing import Dict, List, NamedTuple, Optional, Sequence

from .errors import SamplingError

_SUPERVISOR = r"""
echo $$
read -r word || exit
"$@" </dev/null >/dev/null &
child=$!
exec 2>/dev/null
read -r word
kill -TERM "$child"
wait "$child"
echo $?
"""
# A shell gives what it starts in the background /dev/null to read, hence the detour.
_LAUNCHER = 'exec 3<&0; sh -c "$0" supervisor "$@" <&3 3<&- &'

_PR_SET_PTRACER = 0x59616D61  # include/uapi/linux/prctl.h
_SAYS_IT_BEGINS = "wallsample: sampling process "
_SAYS_IT_WROTE = "wallsample: wrote "


class Outcome(NamedTuple):
    """How a run ended."""

    status: Optional[int]  # None if it was killed together with its shell
    messages: List[str]  # what it said, without what it says each time


def allow_tracer(pid: int) -> None:
    """Lets a process and its descendants trace this one, as Yama wants to be told; 0: nobody.

    Yama's ptrace_scope 1 lets only ancestors trace otherwise. Without Yama it does nothing.
    """
    prctl = ctypes.CDLL(None).prctl
    prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    prctl(_PR_SET_PTRACER, pid, 0, 0, 0)


class Tracer:
    """One run of wallsample, from the constructor to stop()."""

    def __init__(self, words: Sequence[str], timeout_s: float) -> None:
        """Returns when sampling has begun, or says with SamplingError why it has not."""
        self._lines: List[str] = []
        self._said: Dict[int, bytes] = {}
        self._ended = False
        self._shell = subprocess.Popen(
            ["/bin/sh", "-c", _LAUNCHER, _SUPERVISOR, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            # A Ctrl-C in the notebook or terminal is for the code that is sampled.
            start_new_session=True,
        )
        assert self._shell.stdin and self._shell.stdout and self._shell.stderr
        self._control = self._shell.stdin
        self._answers = self._shell.stdout
        self._messages = self._shell.stderr
        try:
            self._begin(time.monotonic() + timeout_s)
        except BaseException:
            self._abandon()
            raise

    def stop(self, timeout_s: float) -> Outcome:
        """Ends sampling and waits until the recording is complete."""
        try:
            self._tell(b"stop\n")
            deadline = time.monotonic() + timeout_s
            status = self._line(self._answers.fileno(), deadline)
            while True:
                line = self._line(self._messages.fileno(), deadline)
                if line is None:
                    break
                self._lines.append(line)
            self._ended = True
        finally:
            self._abandon()
        messages = [line for line in self._lines if not line.startswith(_SAYS_IT_WROTE)]
        return Outcome(int(status) if status else None, messages)

    def _begin(self, deadline: float) -> None:
        self._shell.wait()
        pid = self._line(self._answers.fileno(), deadline)
        if not pid:
            raise SamplingError("wallsample: /bin/sh did not start it")
        # The shell waits for the word: nothing is traced before it is allowed.
        allow_tracer(int(pid))
        self._tell(b"go\n")
        while True:
            line = self._line(self._messages.fileno(), deadline)
            if line is None:
                raise SamplingError("\n".join(self._lines) or "wallsample: it ended without a word")
            if line.startswith(_SAYS_IT_BEGINS):
                return
            self._lines.append(line)

    def _tell(self, word: bytes) -> None:
        try:
            self._control.write(word)
        except BrokenPipeError:
            pass  # it has ended, and what it said tells why

    def _line(self, fd: int, deadline: float) -> Optional[str]:
        """The next line of a pipe; None at its end."""
        said = self._said.get(fd, b"")
        while b"\n" not in said:
            more = self._read(fd, deadline)
            if not more:
                self._said[fd] = b""
                return said.decode("utf-8", "replace") if said else None
            said += more
        line, _, self._said[fd] = said.partition(b"\n")
        return line.decode("utf-8", "replace")

    @staticmethod
    def _read(fd: int, deadline: float) -> bytes:
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        left_ms = max(0, int((deadline - time.monotonic()) * 1000))
        if not poll.poll(left_ms):
            raise SamplingError("wallsample: it did not answer in time")
        return os.read(fd, 65536)

    def _abandon(self) -> None:
        """Lets nothing of the run remain, whatever state it is in."""
        allow_tracer(0)
        if not self._ended:
            try:
                # The group has the id of the first shell, which is not given away while it has
                # a member; when it has none, there is nothing to kill.
                os.killpg(self._shell.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        self._ended = True
        for pipe in (self._control, self._answers, self._messages):
            pipe.close()
