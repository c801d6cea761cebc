# SPDX-License-Identifier: MIT
"""How the program is started and ended, with a stand-in, and once with the real one."""

import ctypes
import os
import re
import signal
import subprocess
import sys
import unittest
from unittest import mock

from support import PATIENCE_S, Folder, ends, real_program, samples

from wallsample import Sampler, SamplingError

JSON = """case "$*" in *json*) echo '{"target": {"pid": 1}, "total": {"samples": 3}}' ;; """
JSON += """*html*) echo '<p>page' ;; *) echo "text $*" ;; esac"""


class SamplerTest(Folder):
    def sampler(self, record=None, report=JSON, **words):
        words.setdefault("timeout_s", PATIENCE_S)
        return Sampler(program=self.stand_in(record, report), **words)

    def fails(self, pattern, record, **words):
        with self.assertRaisesRegex(SamplingError, pattern):
            with self.sampler(record, **words):
                pass

    def test_a_run(self):
        with self.sampler(rate=200, options=["--tid=5"]) as sampler:
            pass
        report = sampler.report
        self.assertEqual((report.html, report.json["total"]), ("<p>page\n", {"samples": 3}))
        self.assertRegex(report.text, r"^text report --tid=5 -f text -n 10 .*recording.wsdb$")
        self.assertIn("3 samples", repr(report))
        self.assertRegex(self.logged(), rf"record --pid {os.getpid()} -o \S+ --tid=5 --rate=200$")
        recording = re.search(r"-o (\S+)", self.logged()).group(1)
        self.assertFalse(os.path.exists(os.path.dirname(recording)))

    def test_it_is_none_of_our_descendants(self):
        with self.sampler():
            pid, parent = map(int, self.logged().split()[:2])
            self.assertNotEqual(os.getsid(pid), os.getsid(0))
            while parent > 1:
                self.assertNotEqual(parent, os.getpid())
                with open(f"/proc/{parent}/stat", encoding="utf-8", errors="replace") as stat:
                    parent = int(stat.read().rpartition(")")[2].split()[1])

    def test_nobody_else_may_trace_afterwards(self):
        with mock.patch("wallsample.tracer.allow_tracer") as allow:
            with self.sampler():
                supervisor = int(self.logged().split()[1])
                self.assertEqual(allow.call_args_list, [mock.call(supervisor)])
            self.assertEqual(allow.call_args_list[1:], [mock.call(0)])
            allow.reset_mock()
            self.fails("no", "echo no >&2; exit 3")
            self.assertEqual(allow.call_args_list[1:], [mock.call(0)])

    def test_the_request_is_what_the_kernel_knows(self):
        with mock.patch("ctypes.CDLL") as library:
            from wallsample.tracer import allow_tracer

            allow_tracer(77)
            library.return_value.prctl.assert_called_once_with(0x59616D61, 77, 0, 0, 0)
        # Where Yama is not there it is refused, and that is no error.
        self.assertIn(ctypes.CDLL(None).prctl(0x59616D61, 0, 0, 0, 0), (0, -1))

    def test_refusals_are_its_own_words(self):
        self.fails("^wallsample: may not$", "echo 'wallsample: may not' >&2; exit 3")
        self.fails("without a word", "exit 3")
        with self.assertRaisesRegex(SamplingError, "/no/such cannot be run: there is no such"):
            Sampler(program="/no/such")
        with mock.patch.dict(os.environ, PATH="/no/such"):
            with self.assertRaisesRegex(SamplingError, "wallsample cannot be run: it is not in"):
                Sampler()
        with self.assertRaisesRegex(SamplingError, "'x' is no option"):
            self.sampler(options=["x"])

    def test_an_end_without_samples(self):
        sampler = self.sampler(samples('print("nothing", file=sys.stderr); sys.exit(2)'))
        with self.assertRaisesRegex(SamplingError, "^nothing$"), sampler:
            pass
        with self.assertRaisesRegex(SamplingError, "^nothing$"):
            sampler.report

    def test_what_is_raised_inside_matters_more(self):
        for record in (samples(), samples("sys.exit(2)")):
            with self.assertRaises(ZeroDivisionError):
                with self.sampler(record) as sampler:
                    1 / 0
        with self.assertRaises(SamplingError):
            sampler.report

    def test_messages_are_kept(self):
        with self.sampler(samples('sys.exit("deadlock")')) as sampler:
            pass
        self.assertEqual(sampler.report.messages, ["deadlock"])

    def test_a_file_that_cannot_be_written_costs_no_report(self):
        with self.sampler(output="/no/such/x.wsdb") as sampler:
            pass
        self.assertIn("/no/such/x.wsdb", sampler.report.messages[0])

    def test_one_that_never_begins_is_killed(self):
        record = "trap '' TERM; read -r line <>\"$FIFO\""
        self.fails("in time", record, timeout_s=0.5)
        # On a busy machine it may not have come so far in half a second.
        if os.path.exists(self.log) and self.logged():
            self.assertTrue(ends(int(self.logged().split()[0])))

    def test_one_that_never_ends_is_killed(self):
        sampler = self.sampler(samples("signal.sigwait((signal.SIGINT,))"))
        sampler.start()
        sampler._timeout_s = 0.2
        with self.assertRaisesRegex(SamplingError, "in time"):
            sampler.stop()
        self.assertTrue(ends(int(self.logged().split()[0])))

    def test_it_ends_with_us(self):
        code = ("import sys, wallsample; wallsample.Sampler(program=sys.argv[1]).start(); "
                "print('started', flush=True); sys.stdin.read()")
        ours = subprocess.Popen([sys.executable, "-c", code, self.stand_in()],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            self.assertEqual(ours.stdout.readline(), b"started\n")
        finally:
            ours.send_signal(signal.SIGKILL)
            ours.communicate()
        self.assertTrue(ends(int(self.logged().split()[0])))

    def test_once_at_a_time(self):
        sampler = self.sampler()
        with self.assertRaises(SamplingError):
            sampler.stop()
        for _ in range(2):
            sampler.start()
            with self.assertRaises(SamplingError):
                sampler.start()
            with self.assertRaises(SamplingError):
                sampler.report
            sampler.stop()
        self.assertEqual(sampler.report.html, "<p>page\n")

    @unittest.skipUnless(real_program(), "WALLSAMPLE is not set")
    def test_the_program_itself(self):
        usleep = ctypes.CDLL(None).usleep
        output = os.path.join(self.folder, "out.folded")
        options = ["-o", output, "--tree", "-n", "1000"]
        with Sampler(rate=100, program=real_program(), options=options) as sampler:
            usleep(500_000)
        report = sampler.report
        self.assertEqual(report.json["target"]["pid"], os.getpid())
        usleep_ns = [row["cum"]["wall_ns"] for row in report.json["functions"]
                     if row["name"] == "usleep"]
        self.assertGreater(sum(usleep_ns), 0)
        with open(output, encoding="utf-8") as stacks:
            for text in (report.html, report.text, stacks.read()):
                self.assertIn("usleep", text)


if __name__ == "__main__":
    unittest.main()
