# SPDX-License-Identifier: MIT
"""A report: what `wallsample report` makes of a recording, as page, as text and as data."""

import html
import json
import os
import shutil
import subprocess
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from .errors import SamplingError
from .words import Words

# Names of files with reports for people, besides text.
_PAGE_ENDINGS = (".html", ".htm", ".md", ".markdown", ".tex", ".latex", ".man")
_TEXT_ROWS = 10
_TEXT_COLUMNS = 100
_REPORT_TIMEOUT_S = 120
_TITLE = "Interpreter lock (GIL), share of each thread's time"
_HEADINGS = ("thread", "time", "no GIL", "has GIL", "waits for GIL")

# The page has scripts, for its graphs, and hostile names may be in it: nothing but scripts is
# allowed to it, and it has an origin of its own.
_FRAME = (
    '<iframe title="wallsample report" sandbox="allow-scripts" srcdoc="{page}" '
    'style="width:100%;height:800px;border:1px solid #8886;resize:vertical"></iframe>'
)


class GilRow(NamedTuple):
    """What one thread had to do with the interpreter lock."""

    thread: str
    total_s: float
    none_percent: float  # it neither had the lock nor waited for it
    has_percent: float
    wait_percent: float  # until it could go on after having handed it over included

    def cells(self) -> List[str]:
        """The row as text."""
        shares = (self.none_percent, self.has_percent, self.wait_percent)
        return [self.thread, f"{self.total_s:.2f}s"] + [f"{share:.1f}%" for share in shares]


def _gil_row(entry: Dict[str, Any]) -> GilRow:
    def ns(member: str) -> int:
        return entry.get(member) or 0

    total_ns = ns("total_ns")
    scale = 100 / total_ns if total_ns > 0 else 0.0
    waited_ns = ns("wait_ns") + ns("handover_ns")
    shares = [part_ns * scale for part_ns in (ns("none_ns"), ns("has_ns"), waited_ns)]
    return GilRow(str(entry.get("thread", "?")), total_ns / 1e9, *shares)


class Report:
    """What was found. In a notebook it shows itself.

    html: the page, as a whole document.
    text: the report for people; the table of functions has ten rows unless -n says otherwise.
    json: the data, see wallsample-formats(5).
    messages: what wallsample said while it sampled, such as a deadlock it saw.
    """

    def __init__(
        self, html: str, text: str, json: Dict[str, Any], messages: Sequence[str] = ()
    ) -> None:
        self.html = html
        self.text = text
        self.json = json
        self.messages = list(messages)

    @classmethod
    def of_recording(
        cls,
        program: str,
        recording: str,
        words: Words,
        output: Optional[str] = None,
        messages: Sequence[str] = (),
    ) -> "Report":
        """Makes the report of a recording; `output` names a file to be written as well."""

        def make(*options: str) -> str:
            return _run([program, "report", *words.report, *options, recording])

        text = words.page + words.text + ([] if words.limited else ["-n", str(_TEXT_ROWS)])
        data = json.loads(make("-f", "json"))
        html = make("-f", "html", *words.page)
        report = cls(html, make("-f", "text", *text), data, messages)
        if output is not None:
            try:
                if output.endswith(".wsdb"):
                    shutil.copyfile(recording, output)
                else:
                    of_text = output.endswith((".txt", ".text"))
                    of_page = of_text or output.endswith(_PAGE_ENDINGS)
                    make(
                        "-o",
                        output,
                        *(words.page if of_page else ()),
                        *(words.text if of_text else ()),
                    )
            except (OSError, SamplingError) as error:
                # What was sampled is not lost for a file that cannot be written.
                report.messages.append(str(error))
        return report

    @property
    def gil(self) -> Optional[List[GilRow]]:
        """A row for each thread; None where nothing is known of an interpreter lock."""
        gil = self.json.get("gil")
        if not gil:
            return None
        return [_gil_row(entry) for entry in gil.get("threads") or []]

    def __repr__(self) -> str:
        target = self.json.get("target", {})
        total = self.json.get("total", {})
        return f"<wallsample.Report of process {target.get('pid')}: {total.get('samples')} samples>"

    def _gil_text(self) -> str:
        rows = self.gil
        if rows is None:
            return ""
        table = [list(_HEADINGS)] + [row.cells() for row in rows]
        width = max(len(row[0]) for row in table)
        lines = [
            row[0].ljust(width) + "".join(cell.rjust(len(heading) + 3)
                                          for cell, heading in zip(row[1:], _HEADINGS[1:]))
            for row in table
        ]
        return f"\n{_TITLE}\n" + "\n".join(lines) + "\n"

    def _gil_html(self) -> str:
        rows = self.gil
        if rows is None:
            return ""

        def line(cells: Sequence[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells) + "</tr>"

        return (f"<table><caption>{html.escape(_TITLE)}</caption><thead>{line(_HEADINGS, 'th')}"
                f"</thead><tbody>{''.join(line(row.cells(), 'td') for row in rows)}"
                "</tbody></table>")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Dict[str, str]:
        """What IPython shows: the page in a notebook, the text in a terminal."""
        frame = _FRAME.format(page=html.escape(self.html, quote=True))
        return {"text/plain": self.text + self._gil_text(), "text/html": self._gil_html() + frame}


def _run(words: Sequence[str]) -> str:
    columns = shutil.get_terminal_size((_TEXT_COLUMNS, 24)).columns
    try:
        answer = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            env=dict(os.environ, COLUMNS=str(columns)),
            timeout=_REPORT_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SamplingError(f"wallsample: no report: {error}") from None
    # 1: some samples failed, which the report tells.
    if answer.returncode not in (0, 1):
        raise SamplingError(answer.stderr.strip() or
                            f"wallsample: the report ended with status {answer.returncode}")
    return answer.stdout
