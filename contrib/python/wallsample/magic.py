# SPDX-License-Identifier: MIT
"""The magics %%wallsample and %wallsample of IPython and Jupyter."""

import ast
import io
import sys
import tokenize
from typing import Any, Dict, List, Optional, Tuple

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, needs_local_scope
from IPython.display import display

from .errors import SamplingError
from .sampler import Sampler, locate
from .words import find_program, split, take_apart


@magics_class
class WallsampleMagics(Magics):
    """Runs code while wallsample samples this process, and shows the report."""

    shell: Any  # the running IPython

    @needs_local_scope
    @line_cell_magic
    def wallsample(
        self, line: str, cell: Optional[str] = None, local_ns: Optional[Dict[str, Any]] = None
    ) -> None:
        """Sample this process while code runs.

            %%wallsample [options]      the rest of the cell
            %wallsample [options] CODE  one statement

        -r HZ           so many samples a second (100)
        --program PATH  wallsample, if it is not in PATH
        -o FILE         write a report there, too, in the format of its ending

        and what else `wallsample record` and `wallsample report` know, such as --sort latency,
        -X REGEX or --nonblocking. The report is in the variable _wallsample afterwards.
        """
        options, code = _parse(line, cell)
        sampler = Sampler(options=options)
        pieces = self._compile(code)
        sampler.start()
        failure = self._run(pieces, self.shell.user_ns if local_ns is None else local_ns)
        try:
            report = sampler.stop()
            for message in report.messages:
                print(message, file=sys.stderr)
            self.shell.user_ns["_wallsample"] = report
            display(report)
        except SamplingError as error:
            # The code has run: that there is no report must not undo it.
            print(error, file=sys.stderr)
        if failure is not None:
            raise failure

    def _compile(self, code: str) -> List[Any]:
        """As IPython does: magics work, and the value of a last expression is shown."""
        source = self.shell.transform_cell(code)
        # Some versions of IPython have counted on by now: the last input has the number.
        number = len(self.shell.history_manager.input_hist_raw) - 1
        name = self.shell.compile.cache(source, number)
        tree = self.shell.transform_ast(self.shell.compile.ast_parse(source, filename=name))
        shows = tree.body and isinstance(tree.body[-1], ast.Expr) and not _is_silenced(source)
        last = [tree.body.pop()] if shows else []
        pieces = [self.shell.compile(tree, name, "exec")]
        if last:
            pieces.append(self.shell.compile(ast.Interactive(last), name, "single"))
        return pieces

    def _run(self, pieces: List[Any], local_ns: Dict[str, Any]) -> Optional[BaseException]:
        """Runs the code; returns what it raised."""
        try:
            for piece in pieces:
                exec(piece, self.shell.user_global_ns, local_ns)
        except BaseException as error:
            self._forget_own_frames(error)
            return error
        return None

    def _forget_own_frames(self, error: BaseException) -> None:
        """Has IPython show the traceback that the code would have had without the magic."""
        tb = error.__traceback__.tb_next if error.__traceback__ else None
        if tb is None or isinstance(error, (SyntaxError, SystemExit)):
            return
        lines = self.shell.InteractiveTB.structured_traceback(type(error), error, tb, tb_offset=0)

        def render() -> List[str]:
            # Once: raised again elsewhere, the exception has another traceback.
            del error._render_traceback_  # type: ignore[attr-defined]
            return lines

        try:
            error._render_traceback_ = render  # type: ignore[attr-defined]
        except AttributeError:
            pass  # a class without room for it: the frames of the magic are shown, too


def _is_silenced(source: str) -> bool:
    """Whether a semicolon at the end says that the last value is not to be shown."""
    blank = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
             tokenize.ENDMARKER)
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return ([t.string for t in tokens if t.type not in blank] or [""])[-1] == ";"


def _parse(line: str, cell: Optional[str]) -> Tuple[List[str], str]:
    """The options, and the code."""
    tokens = split(line)
    words = [word for word, _ in tokens]
    rest = take_apart(words, locate(find_program(words))).rest
    options = words[: len(words) - len(rest)]
    if cell is not None:
        if rest:
            raise UsageError(f"%%wallsample: '{rest[0]}' is no option; the code begins below")
        return options, cell
    if not rest:
        raise UsageError("%wallsample: there is no code to run")
    return options, line[tokens[len(options)][1]:]
