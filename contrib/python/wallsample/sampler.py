# SPDX-License-Identifier: MIT
"""Samples this process from start() to stop(), or inside a with statement."""

import os
import shutil
import tempfile
from typing import Any, Optional, Sequence

from .errors import SamplingError
from .report import Report
from .tracer import Outcome, Tracer
from .words import check, find_program, take_apart

# Statuses of the program: 0 all is there, 1 some samples failed, and the report says which.
_USABLE = (0, 1)


def locate(program: Optional[str]) -> str:
    """The full path of the program, or SamplingError."""
    wanted = program or "wallsample"
    path = shutil.which(wanted)
    if path is None:
        where = "there is no such program" if os.sep in wanted else "it is not in PATH"
        raise SamplingError(f"wallsample: the program {wanted} cannot be run: {where}; install "
                            "wallsample, or say where it is (--program PATH, program=PATH)")
    return os.path.abspath(path)


class Sampler:
    """Samples all threads of this process.

    rate: samples a second; 100 unless given.
    program: wallsample, if it is not in PATH.
    options: further options of `wallsample record` and `wallsample report`, as words.
    output: a file that is written as well, in the format of its ending.
    timeout_s: how long wallsample may take to begin, and to end.
    """

    def __init__(
        self,
        rate: Optional[float] = None,
        *,
        program: Optional[str] = None,
        options: Sequence[str] = (),
        output: Optional[str] = None,
        timeout_s: float = 60.0,
    ) -> None:
        self._program = locate(program or find_program(options))
        self._words = take_apart(options, self._program)
        if self._words.rest:
            raise SamplingError(f"wallsample: '{self._words.rest[0]}' is no option")
        check(self._words, self._program)
        self._record = list(self._words.record)
        if rate is not None:
            self._record.append(f"--rate={rate:.10g}")
        self._output = output if output is not None else self._words.output
        self._timeout_s = timeout_s
        self._folder: Optional[tempfile.TemporaryDirectory] = None
        self._tracer: Optional[Tracer] = None
        self._report: Optional[Report] = None
        self._failure: Optional[SamplingError] = None

    def start(self) -> None:
        """Returns when sampling has begun."""
        if self._tracer is not None:
            raise SamplingError("wallsample: it is sampling already")
        self._report = self._failure = None
        self._folder = tempfile.TemporaryDirectory(prefix="wallsample-")
        words = [self._program, "record", "--pid", str(os.getpid()), "-o", self._recording()]
        try:
            self._tracer = Tracer(words + self._record, self._timeout_s)
        except BaseException:
            self._folder.cleanup()
            raise

    def stop(self) -> Report:
        """Ends sampling and makes the report."""
        if self._tracer is None or self._folder is None:
            raise SamplingError("wallsample: it is not sampling")
        tracer, self._tracer = self._tracer, None
        try:
            self._report = self._make_report(tracer.stop(self._timeout_s))
        except SamplingError as error:
            self._failure = error
            raise
        finally:
            self._folder.cleanup()
        return self._report

    @property
    def report(self) -> Report:
        """What was found; it is there after stop(), or after the with statement."""
        if self._failure is not None:
            raise self._failure
        if self._report is None:
            raise SamplingError("wallsample: there is no report yet")
        return self._report

    def __enter__(self) -> "Sampler":
        self.start()
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        try:
            self.stop()
        except SamplingError:
            # What went wrong inside matters more; .report says what went wrong here.
            if kind is None:
                raise

    def _recording(self) -> str:
        assert self._folder is not None
        return os.path.join(self._folder.name, "recording.wsdb")

    def _make_report(self, outcome: Outcome) -> Report:
        if outcome.status not in _USABLE:
            raise SamplingError("\n".join(outcome.messages) or
                                f"wallsample: it ended with status {outcome.status}")
        return Report.of_recording(self._program, self._recording(), self._words,
                                   self._output, outcome.messages)
