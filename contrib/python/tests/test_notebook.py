# SPDX-License-Identifier: MIT
"""The magics in a real Jupyter kernel: what a notebook would be told to show."""

import os
import re
import sys
import tempfile
import unittest
from html import unescape
from unittest import mock

from support import PATIENCE_S, real_program

try:
    import ipykernel  # noqa: F401
    from jupyter_client import KernelManager
except ImportError:
    KernelManager = None

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Shown:
    """What came back from one cell."""

    def __init__(self, client, code):
        self.bundles, self.values, self.errors = [], [], []
        self.text = {"stdout": "", "stderr": ""}
        self.order = []
        # What is asked right after an error is not run otherwise.
        reply = client.execute_interactive(code, timeout=PATIENCE_S, output_hook=self._take,
                                           allow_stdin=False, stop_on_error=False)
        self.status = reply["content"]["status"]
        self.number = reply["content"]["execution_count"]

    def _take(self, message):
        kind, content = message["msg_type"], message["content"]
        self.order.append(kind)
        if kind == "display_data":
            self.bundles.append(content["data"])
        elif kind == "execute_result":
            self.values.append(content["data"]["text/plain"])
        elif kind == "error":
            self.errors.append(content)
        elif kind == "stream":
            self.text[content["name"]] += content["text"]


@unittest.skipUnless(KernelManager, "ipykernel and jupyter_client are not there")
@unittest.skipUnless(real_program(), "WALLSAMPLE is not set")
class NotebookTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Nothing of the user's own settings, and nothing left behind in them.
        home = tempfile.TemporaryDirectory(prefix="wallsample-test-")
        cls.addClassCleanup(home.cleanup)
        names = ("HOME", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR",
                 "JUPYTER_RUNTIME_DIR")
        patch = mock.patch.dict(os.environ, {name: home.name for name in names},
                                PYTHONPATH=FOLDER)
        patch.start()
        cls.addClassCleanup(patch.stop)
        cls.manager = KernelManager()
        cls.manager.kernel_spec.argv[0] = sys.executable
        cls.manager.start_kernel()
        cls.addClassCleanup(cls.manager.shutdown_kernel, now=True)
        cls.client = cls.manager.blocking_client()
        cls.client.start_channels()
        cls.addClassCleanup(cls.client.stop_channels)
        cls.client.wait_for_ready(timeout=PATIENCE_S)
        cls.run_cell("%load_ext wallsample\nimport ctypes\nlibc = ctypes.CDLL(None)\n"
                     "def doze():\n    libc.usleep(300_000)\n    return 'dozed'")

    @classmethod
    def run_cell(cls, code):
        return Shown(cls.client, code)

    def magic(self, code, words=""):
        return self.run_cell(f"%%wallsample --program '{real_program()}' {words}\n{code}")

    def check_report(self, shown):
        """One report, of the code that was run: its page in a frame, and as text."""
        self.assertEqual(len(shown.bundles), 1, shown.text)
        page = shown.bundles[0]["text/html"]
        self.assertIn('sandbox="allow-scripts"', page)
        # The function of the cell, and the one of libc that it calls; neither is code shown there.
        for name in ("doze", "usleep"):
            self.assertIn(name, unescape(page))
        self.assertIn("Functions by Wall", shown.bundles[0]["text/plain"])

    def check_alive(self):
        self.assertEqual(self.run_cell("6 * 7").values, ["42"])

    def test_cell(self):
        shown = self.magic("kept = 5\ndoze()", "-r 200")
        self.assertEqual((shown.status, shown.values), ("ok", ["'dozed'"]))
        self.check_report(shown)
        self.assertEqual(shown.text["stdout"], "")
        asked = "(kept, _wallsample.json['sampling']['rate_hz'], _wallsample.json['target']['pid'])"
        self.assertEqual(self.run_cell(f"import os\n{asked[:-1]} == os.getpid())").values,
                         ["(5, 200.0, True)"])

    def test_cell_is_as_any_other(self):
        shown = self.magic("%time None\n!echo shell\nprint('out')\n1;")
        self.assertIn("shell", shown.text["stdout"])
        self.assertIn("out\n", shown.text["stdout"])
        self.assertEqual((shown.status, shown.values), ("ok", []))
        self.assertEqual(len(shown.bundles), 1)

    def test_line(self):
        shown = self.run_cell(f"%wallsample --program={real_program()} doze()")
        self.assertEqual((shown.status, shown.values), ("ok", ["'dozed'"]))
        self.check_report(shown)
        shown = self.run_cell("def f(local):\n"
                              f"    %wallsample --program={real_program()} local()\n"
                              "f(doze)")
        self.assertEqual(shown.status, "ok")
        self.check_report(shown)

    def test_exception(self):
        shown = self.magic("doze()\ndef fail():\n    1 / 0\nfail()")
        self.check_report(shown)
        self.assertEqual(shown.status, "error")
        self.assertEqual([error["ename"] for error in shown.errors], ["ZeroDivisionError"])
        trace = "\n".join(shown.errors[0]["traceback"])
        self.assertIn("fail", trace)
        # "Cell In[3]" or "In [3]", in colours.
        numbers = re.findall(r"In ?\[(\d+)\]", re.sub("\x1b\\[[0-9;]*m", "", trace))
        self.assertEqual(set(numbers), {str(shown.number)})
        for own in ("magic.py", "run_cell_magic", "sampler.py"):
            self.assertNotIn(own, trace)
        self.check_alive()

    def test_syntax(self):
        shown = self.magic("def\n")
        self.assertEqual([error["ename"] for error in shown.errors], ["SyntaxError"])
        self.assertEqual(shown.bundles, [])
        self.check_alive()

    def check_sentence(self, shown, text):
        """An error without a traceback, which the code has not run for."""
        self.assertEqual((shown.status, shown.bundles, shown.values), ("error", [], []))
        said = "".join(line for error in shown.errors for line in error["traceback"])
        said += shown.text["stderr"]
        self.assertIn(text, said)
        self.assertEqual(len(said.strip().splitlines()), 1)
        self.assertEqual(shown.text["stdout"], "")
        self.check_alive()

    def test_missing_program(self):
        self.check_sentence(self.run_cell("%%wallsample --program /no/such\nprint('ran')"),
                            "/no/such cannot be run")

    def test_wrong_words(self):
        self.check_sentence(self.magic("print('ran')", "--sort colour"), "'colour' is none of")
        self.check_sentence(self.magic("print('ran')", "--no-such"), "--no-such not recognized")
        self.check_sentence(self.magic("print('ran')", "5"), "'5' is no option")
        self.check_sentence(self.magic("print('ran')", "-r x"), "'x'")
        self.check_sentence(self.run_cell(f"%wallsample --program={real_program()}"), "no code")

    def test_interrupt(self):
        # The signal goes to the kernel's whole group, as from a notebook's stop button.
        shown = self.magic("import os, signal\nos.killpg(os.getpgid(0), signal.SIGINT)\ndoze()")
        self.assertEqual([error["ename"] for error in shown.errors], ["KeyboardInterrupt"])
        self.assertEqual(len(shown.bundles), 1, shown.text)
        self.check_alive()


if __name__ == "__main__":
    unittest.main()
