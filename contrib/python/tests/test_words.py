# SPDX-License-Identifier: MIT
"""Options are told apart as the program's own --help has them."""

import unittest

from support import Folder, real_program

from wallsample import SamplingError
from wallsample.words import check, parse_help, split, take_apart


class WordsTest(Folder):
    def apart(self, line):
        words = [word for word, _ in split(line)]
        return take_apart(words, self.stand_in())

    def test_help_is_read(self):
        text = "  -d, --duration T        sample\n      --keep-root         under\n"
        text += "      --parallelism RANGE\n                          --not-one of them\n"
        text += "  record                  --nor-this\n"
        self.assertEqual([tuple(option) for option in parse_help(text)], [
            ("--duration", "d", True), ("--keep-root", None, False), ("--parallelism", None, True),
        ])

    def test_each_option_goes_where_it_belongs(self):
        words = self.apart("-r 200 --nonblocking -X 'a b' --tid=1,2 --tree --parallelism 2-4 "
                           "-o x.svg --program /x")
        self.assertEqual(words.record, ["--rate=200", "--nonblocking", "--tid=1,2"])
        self.assertEqual(words.report, ["--exclude=a b", "--tid=1,2", "--parallelism=2-4"])
        self.assertEqual(words.text, ["--tree"])
        self.assertEqual((words.output, words.rest, words.limited), ("x.svg", [], False))
        self.assertTrue(self.apart("-n5").limited)
        self.assertEqual(self.apart("-n5 -t --sort=cpu").page, ["--limit=5", "--threads"])

    def test_what_is_sampled_is_not_asked_for(self):
        for line in ("-p 1", "--pid=1", "-f json", "--help", "--no-such", "-r", "-o -",
                     "--prog /x"):
            with self.subTest(line), self.assertRaises(SamplingError):
                self.apart(line)

    def test_code_follows_the_options(self):
        line = """-r 200 print("it's",  'a  b')"""
        tokens = split(line)
        rest = take_apart([word for word, _ in tokens], self.stand_in()).rest
        self.assertEqual(line[tokens[len(tokens) - len(rest)][1]:], """print("it's",  'a  b')""")

    def test_another_program_is_none(self):
        for path in ("/bin/true", self.folder):
            with self.subTest(path), self.assertRaises(SamplingError):
                take_apart([], path)

    @unittest.skipUnless(real_program(), "WALLSAMPLE is not set")
    def test_the_program_itself(self):
        program = real_program()
        words = take_apart(["-r", "50", "--sort", "latency", "--tree"], program)
        self.assertEqual((words.record, words.report, words.text),
                         (["--rate=50"], ["--sort=latency"], ["--tree"]))
        check(words, program)
        with self.assertRaisesRegex(SamplingError, "'colour' is none of"):
            check(take_apart(["--sort=colour"], program), program)


if __name__ == "__main__":
    unittest.main()
