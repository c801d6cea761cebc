#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""process_exports.py - exports of a program of four processes, beside what /proc says of them.

The program is targets/workers.c. A recording is made of all processes, and one of two of them at a
time; formats must have each thread in its process, with the id, the name and the title that /proc
has. Filters must select the samples of the processes that they name.
"""
import collections
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

BUILD, WALLSAMPLE = os.environ["BUILD"], os.environ["WALLSAMPLE"]
failed = False


def check(what, holds):
    global failed
    if not holds:
        print("FAILED:", what)
        failed = True


class Server:
    def __init__(self):
        # The titles need room.
        self.process = subprocess.Popen([f"{BUILD}/tests/live/bin/workers", "-" * 32],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"
        self.pids = [int(word) for word in self.process.stdout.readline().split()]
        self.titles = {pid: self.read(pid, "cmdline").strip("\0") for pid in self.pids}
        self.names = {pid: self.read(pid, "comm").strip() for pid in self.pids}
        self.process_of = {int(tid): pid for pid in self.pids
                           for tid in os.listdir(f"/proc/{pid}/task")}

    @staticmethod
    def read(pid, name):
        with open(f"/proc/{pid}/{name}") as file:
            return file.read()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def run(*words):
    done = subprocess.run([WALLSAMPLE, *words], capture_output=True, text=True)
    check(f"{words}: status {done.returncode}: {done.stderr}", done.returncode in (0, 1))
    return done.stdout


class Recorder:
    """Records until it is told to end. Several of them record the same seconds."""

    def __init__(self, path, *words):
        self.path = path
        self.wallsample = subprocess.Popen([WALLSAMPLE, "record", "-o", path, *words],
                                           stderr=subprocess.PIPE, text=True)
        self.said = ""
        self.until("sampling")
        self.samples()

    def until(self, word):
        line = ""
        while word not in line:
            line = self.wallsample.stderr.readline()
            assert line, self.said
            self.said += line

    def samples(self):
        """Writes what there is so far. Returns the number of samples."""
        self.wallsample.send_signal(signal.SIGUSR1)
        self.until("so far")
        return int(re.findall(r"([\d,]+) samples? of", self.said)[-1].replace(",", ""))


    def end(self):
        self.wallsample.send_signal(signal.SIGINT)
        self.said += self.wallsample.stderr.read()
        status = self.wallsample.wait()
        check(f"{self.path}: status {status}: {self.said}", status in (0, 1))


def record(folder, server):
    """A recording of all processes, and two of two each, all of the same seconds."""
    pids = server.pids
    wanted = {"all": pids, "some": pids[:2], "others": pids[2:]}
    recorders = [Recorder(os.path.join(folder, name + ".wsdb"), "-p", ",".join(map(str, some)))
                 for name, some in wanted.items()]
    for recorder in recorders:
        while recorder.samples() < 100:
            pass
    for recorder in recorders:
        recorder.end()
    return [recorder.path for recorder in recorders]


def check_json(server, report):
    targets = report["targets"]
    check("processes of JSON", {t["pid"]: (t["name"], t["command_line"]) for t in targets} ==
          {pid: (server.names[pid], server.titles[pid]) for pid in server.pids})
    found = {t["tid"]: targets[t["process"]]["pid"] for t in report["threads"]}
    check(f"threads of JSON: {found}", found == server.process_of)
    check("processes of stacks", all(
        stack["process"] == report["threads"][stack["thread"]]["process"]
        for stack in report["stacks"]))


def check_folded(server, path, report):
    """With --processes and -t: the process, then its thread, with the times of the report."""
    times = collections.Counter()
    for line in run("report", "-q", "-f", "folded", "--processes", "-t", path).splitlines():
        stack, us = line.rsplit(" ", 1)
        process, thread = stack.split(";")[:2]
        pid, tid = int(process.rsplit("(", 1)[1].rstrip(")")), int(thread.rsplit("-", 1)[1])
        check(f"{process};{thread}", process == f"{server.titles[pid]} ({pid})" and
              server.process_of[tid] == pid)
        times[tid] += int(us)
    for thread in report["threads"]:
        # Each line is rounded to a microsecond.
        check(f"time of {thread['tid']}: {times[thread['tid']]} us, not {thread['wall_ns']} ns",
              abs(times[thread["tid"]] - thread["wall_ns"] / 1000) <= len(report["stacks"]) + 1)


def check_traces(server, path):
    events = json.loads(run("report", "-q", "-f", "chrome", path))["traceEvents"]
    found = {(e["tid"] % (1 << 30), e["pid"]) for e in events if e["ph"] == "X"}
    check(f"tracks of chrome: {found}", found == set(server.process_of.items()))
    found = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    check(f"processes of chrome: {found}", found == server.titles)
    threads = json.loads(run("report", "-q", "-f", "firefox", path))["threads"]
    found = {(t["tid"], int(t["pid"]), t["processName"]) for t in threads}
    check(f"threads of firefox: {found}",
          found == {(tid, pid, server.titles[pid]) for tid, pid in server.process_of.items()})
    check("main threads of firefox", all(t["isMainThread"] == (str(t["tid"]) == t["pid"])
                                         for t in threads))
    records = re.findall(r"^\S+ +(\d+)/(\d+) ", run("report", "-q", "-f", "perf", path), re.M)
    check("records of perf", {(int(tid), int(pid)) for pid, tid in records} ==
          set(server.process_of.items()))
    profiles = json.loads(run("report", "-q", "-f", "speedscope", path))["profiles"]
    found = {re.fullmatch(r"(\S+) \((\d+)\): \S+-(\d+)", p["name"]).groups()
             for p in profiles[1:]}
    check(f"profiles of speedscope: {found}",
          found == {(server.names[pid], str(pid), str(tid))
                    for tid, pid in server.process_of.items()})


def check_filters(server, path, report):
    parent, first, second, logger = server.pids
    times = collections.Counter()
    for thread in report["threads"]:
        times[server.process_of[thread["tid"]]] += thread["wall_ns"]
    for words, wanted in ((("--process", str(first)), {first}),
                          (("--process", f"{logger},*serve 2"), {second, logger}),
                          (("--process", "workers*", "--exclude-process", "*serve*"), {parent}),
                          (("--exclude-process", "workers"), {logger})):
        part = json.loads(run("report", "-q", "-f", "json", *words, path))
        found = {part["targets"][t["process"]]["pid"] for t in part["threads"]}
        check(f"{words}: {found}", found == wanted)
        check(f"time of {words}", part["total"]["wall_ns"] == sum(times[pid] for pid in wanted))


def check_joint(server, paths, report):
    """Recordings made apart at the same time are one run of all their processes."""
    joint = json.loads(run("report", "-q", "-f", "json", *paths))
    check_json(server, joint)
    check_traces_of_two(server, paths)
    lengths = [json.loads(run("report", "-q", "-f", "json", path))["sampling"]["elapsed_ns"]
               for path in paths]
    elapsed = joint["sampling"]["elapsed_ns"]
    check(f"{elapsed} ns, of recordings of {lengths}", max(lengths) <= elapsed < sum(lengths))


def check_traces_of_two(server, paths):
    events = json.loads(run("report", "-q", "-f", "chrome", *paths))["traceEvents"]
    found = {(e["tid"] % (1 << 30), e["pid"]) for e in events if e["ph"] == "X"}
    check(f"tracks of two recordings: {found}", found == set(server.process_of.items()))


def main():
    server = Server()
    with tempfile.TemporaryDirectory() as folder:
        whole, *parts = record(folder, server)
        report = json.loads(run("report", "-q", "-f", "json", whole))
        check_json(server, report)
        check_folded(server, whole, report)
        check_traces(server, whole)
        check_filters(server, whole, report)
        check_joint(server, parts, report)
    server.end()
    sys.exit(1 if failed else 0)


main()
