#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""causal_real.py - compares the gains that `wallsample causal` predicts with the gains obtained if
the work of a function is reduced while the program runs, for redis, an HTTP server in Go and a
Python program with threads.

redis-server does additional work after each write() (causal_work.c), and redis-benchmark has 32
clients. Reducing the work of a function leaves the cost of its call. The load of the servers needs
a CPU of its own. Ends with status 0 whatever it finds.
"""
import argparse
import contextlib
import mmap
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from accuracy_servers import HERE, HTTP_PORT, REDIS_PORT, running, wait_until_true
from causal_predict import Tally, add_prediction, by_turns, examine, gains_of, percents, text

SETTLE = 0.3   # seconds
TURN = 1.0


class Program:
    """`names`: its functions that can be made faster; `usual`: their work, in units of the program;
    `progress`: word for --progress."""

    def __init__(self, start, needs, names, usual, progress):
        self.start, self.needs, self.names, self.usual = start, needs, names, usual
        self.progress = progress
        self.work = None

    @contextlib.contextmanager
    def run(self, options):
        """Yields the PID."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "work")
            with open(path, "wb") as file:
                file.truncate(8 * (len(self.usual) + 1))
            with open(path, "r+b") as file:
                self.work = memoryview(mmap.mmap(file.fileno(), 0)).cast("Q")
            self.reset()
            with self.start(options, folder, dict(os.environ, WORK_FILE=path)) as pid:
                yield pid

    def reset(self):
        for i, steps in enumerate(self.usual):
            self.work[i] = steps

    def rate(self):
        """Progress a second."""
        time.sleep(SETTLE)
        began, before = time.monotonic(), self.work[len(self.usual)]
        time.sleep(TURN)
        return (self.work[len(self.usual)] - before) / (time.monotonic() - began)

    def take_turns(self, function, speedup):
        """The gain in rate if the function takes 1 - speedup of its time; 0 without progress."""
        usual = self.rate()
        self.work[function] = round(self.usual[function] * (1 - speedup))
        faster = self.rate()
        self.reset()
        return faster / usual - 1 if usual > 0 else 0


@contextlib.contextmanager
def redis(options, _, environment):
    with running(["redis-server", "--port", REDIS_PORT, "--save", "", "--appendonly", "no"],
                 env=dict(environment, LD_PRELOAD=options.library)) as pid:
        wait_until_true(["redis-cli", "-p", REDIS_PORT, "ping"])
        with running(["redis-benchmark", "-p", REDIS_PORT, "-c", "32", "-n", "1000000000", "-t",
                      "get", "-q"]):
            yield pid


@contextlib.contextmanager
def go_http(_, folder, environment):
    program = os.path.join(folder, "http")
    subprocess.run(["go", "build", "-o", program, os.path.join(HERE, "causal_http.go")],
                   check=True, env=dict(environment, GO111MODULE="off"))
    address = "http://127.0.0.1:%s/" % HTTP_PORT
    with running([program, HTTP_PORT], env=environment) as pid:
        wait_until_true(["curl", "-sf", address])
        with running(["wrk", "-t1", "-c4", "-d86400", address]):
            yield pid


@contextlib.contextmanager
def python(options, _, environment):
    with running([sys.executable, os.path.join(HERE, "causal_threads.py"), options.library],
                 env=environment) as pid:
        time.sleep(1)
        yield pid


PROGRAMS = {
    "redis": Program(redis, ["redis-server", "redis-benchmark", "redis-cli"],
                     ["additional_work"], [10000], "var:work_done"),
    "go": Program(go_http, ["go", "wrk", "curl"], ["main.score", "main.rank"], [300000, 200000],
                  "var:main.served"),
    "python": Program(python, [], ["parse", "compress"], [30000, 180000], "var:work_done"),
}


def examine_program(options, name, speedups):
    program = PROGRAMS[name]
    with program.run(options) as pid:
        time.sleep(SETTLE)
        result = examine(options.wallsample, pid, [
            "--progress", "p=" + program.progress, "--select", "^(%s)$" % "|".join(program.names),
            "--speedups", percents(speedups), "-d", options.duration, *options.words])
        found = gains_of(result) if result else {}
        for function, label in enumerate(program.names):
            for speedup in speedups:
                turns = [program.take_turns(function, speedup) for _ in range(options.turns)]
                yield label, speedup, by_turns(turns), found.get(("p", label, speedup))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--library", required=True, help="tests/bench/bin/causal_work.so")
    add_prediction(parser)
    parser.add_argument("--only", choices=PROGRAMS, action="append")
    parser.add_argument("--speedups", default="25,50,75,100", help="percents")
    parser.add_argument("--turns", type=int, default=5, help="measurements of each kind")
    parser.add_argument("-d", "--duration", default="60s", help="of each prediction")
    return parser.parse_args()


def main():
    # Programs that run in `with` end, too, if this is terminated.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    options = parse_arguments()
    speedups = [float(word) / 100 for word in options.speedups.split(",")]
    tally = Tally()

    print("%-8s %-16s %3s %22s %22s" % ("program", "function", "%", "obtained", "predicted"))
    for name in options.only or PROGRAMS:
        missing = [word for word in PROGRAMS[name].needs if shutil.which(word) is None]
        if missing:
            print("%-8s needs %s" % (name, ", ".join(missing)))
            continue
        for label, speedup, real, found in examine_program(options, name, speedups):
            line = "%-8s %-16s %3.0f %s %s" % (name, label, 100 * speedup, text(real), text(found))
            if found is not None:
                line += "" if tally.add([real[0]], found) else " OFF"
            print(line, flush=True)
    tally.print()


if __name__ == "__main__":
    sys.exit(main())
