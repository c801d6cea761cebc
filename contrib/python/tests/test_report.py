# SPDX-License-Identifier: MIT
"""What a report shows of its data: the table of the interpreter lock, and the page in its frame."""

import html.parser
import unittest

from wallsample import GilRow, Report

GIL = {
    "threads": [
        {"thread": "main-7", "tid": 7, "total_ns": 2_000_000_000, "none_ns": 500_000_000,
         "has_ns": 1_000_000_000, "wait_ns": 300_000_000, "handover_ns": 200_000_000},
        {"thread": "<b>\u00e9-8", "tid": 8, "total_ns": 0},
        {"thread": "new-9", "total_ns": None},
        {},
    ],
    "held_share": 0.42,
    "wait_average": 0.1,
}


class Tags(html.parser.HTMLParser):
    """The elements of a document, and the attributes of each."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


class ReportTest(unittest.TestCase):
    def test_rows(self):
        rows = Report("", "", {"gil": GIL}).gil
        self.assertEqual(rows[0], GilRow("main-7", 2.0, 25.0, 50.0, 25.0))
        self.assertEqual(rows[1], GilRow("<b>\u00e9-8", 0.0, 0.0, 0.0, 0.0))
        self.assertEqual([row.thread for row in rows[2:]], ["new-9", "?"])

    def test_no_lock_no_table(self):
        for data in ({}, {"gil": None}):
            report = Report("<p>page", "text\n", data)
            self.assertIsNone(report.gil)
            bundle = report._repr_mimebundle_()
            self.assertEqual(bundle["text/plain"], "text\n")
            self.assertNotIn("<table", bundle["text/html"])
        self.assertEqual(Report("", "", {"gil": {"threads": []}}).gil, [])

    def test_table(self):
        bundle = Report("", "text\n", {"gil": GIL})._repr_mimebundle_()
        lines = bundle["text/plain"].splitlines()
        self.assertEqual(lines[3].split(), "thread time no GIL has GIL waits for GIL".split())
        self.assertEqual(lines[4].split(), ["main-7", "2.00s", "25.0%", "50.0%", "25.0%"])
        self.assertEqual(len({len(line) for line in lines[3:]}), 1)
        self.assertIn("<td>&lt;b&gt;\u00e9-8</td>", bundle["text/html"])
        self.assertNotIn("b", [tag for tag, _ in Tags(bundle["text/html"]).found])

    def test_the_page_stays_in_its_frame(self):
        page = "<!doctype html><p title=\"a\" class='b'>&amp;\"></iframe><script>alert(1)</script>"
        found = Tags(Report(page, "", {})._repr_mimebundle_()["text/html"]).found
        self.assertEqual([tag for tag, _ in found], ["iframe"])
        self.assertEqual(found[0][1]["srcdoc"], page)
        self.assertEqual(found[0][1]["sandbox"], "allow-scripts")


if __name__ == "__main__":
    unittest.main()
