#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""peers.py - what awaited processes do, beside what targets/peers.c makes them do.

A server sleeps for 50 ms in each request, and runs for less than 1 ms. On a loaded machine it may wait
for a CPU in addition: what is compared is the greater part of the time.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

BUILD, WALLSAMPLE = os.environ["BUILD"], os.environ["WALLSAMPLE"]
SECONDS = "3"
failed = False


def check(what, holds):
    global failed
    if not holds:
        print("FAILED:", what)
        failed = True


class Target:
    def __init__(self, how):
        self.process = subprocess.Popen([f"{BUILD}/tests/live/bin/peers", how],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"
        words = self.process.stdout.readline().split()
        self.pid = {name: int(pid) for name, pid in (word.split("=") for word in words)}

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def sample(target, folder, *options):
    path = os.path.join(folder, "x.json")
    run = subprocess.run(
        [WALLSAMPLE, "-p", ",".join(map(str, target.pid.values())), "--children", "-d", SECONDS,
         "-f", "json", "-o", path, *options], capture_output=True, text=True)
    assert run.returncode in (0, 1), run.stderr
    with open(path) as file:
        return json.load(file), run.stderr


def rows_of(report, kind, text):
    return [w for w in report["waits"] if w["kind"] == kind and text in w["object"]]


def show(rows):
    return [(w["kind"], w["object"], w["wall_ns"],
             [(h["tid"], h["functions"], h["wall_ns"]) for h in w["holders"]]) for w in rows]


def share(rows, says):
    """The part of the waiting time in which the awaited process was as `says` says."""
    whole = sum(w["wall_ns"] for w in rows)
    ns = sum(h["wall_ns"] for w in rows for h in w["holders"] if says(h))
    return ns / whole if whole else 0


def test(folder, how, kind, awaited, says):
    target = Target(how)
    report, _ = sample(target, folder)
    pid = target.pid
    target.end()
    rows = rows_of(report, kind, awaited(pid))
    check(f"{how}: {show(report['waits'])}", share(rows, lambda h: says(h, pid)) > 0.5)
    return report, rows, pid


def is_in(function, name):
    return lambda h, pid: function in h["functions"] and h["tid"] == pid[name]


def test_direct(folder):
    for how, kind, text in (("pipe", "pipe read", "pipe from server ({server})"),
                            ("unix", "socket receive", "unix to server ({server})"),
                            ("tcp", "socket receive", "server ({server})")):
        report, _, _ = test(folder, how, kind, lambda pid: text.format(**pid),
                            is_in("prepare_reply", "server"))
        details = [d for c in report["causes"] for d in c["details"]]
        check(f"{how}: the first screen has {details}",
              any("prepare_reply" in json.dumps(d) for d in details))


def test_chains(folder):
    for how, between, function, last in (("chain", "middle", "prepare_reply", "backend"),
                                         ("lock", "server", "keep_lock", "keeper")):
        def says(h, pid):
            return is_in(function, last)(h, pid) and \
                f"[through {between} ({pid[between]})]" in h["functions"]

        target = Target(how)
        report, _ = sample(target, folder)
        pid = target.pid
        target.end()
        # The row of a server that several processes wait for has the time of all.
        rows = rows_of(report, "socket receive", f"unix to {between} ({pid[between]})")
        client = [dict(w, wall_ns=sum(h["wall_ns"] for h in w["holders"])) for w in rows]
        check(f"{how}: {show(report['waits'])}", share(client, lambda h: says(h, pid)) > 0.5)


def test_child(folder):
    target = Target("child")
    report, _ = sample(target, folder)
    pid = target.pid["parent"]
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        pids = f"{pid},{file.read().strip()}"
    dump = subprocess.run([WALLSAMPLE, "dump", "-p", pids], capture_output=True, text=True).stdout
    target.end()
    check(f"the dump says what the child does: {dump}", re.search(
        r"waits for child child \((\d+)\); thread \1 \(child\) is in work_child \(", dump))
    rows = [w for w in report["waits"] if w["kind"] == "child"]
    check(f"child: {show(report['waits'])}",
          len(rows) == 1 and rows[0]["object"].startswith("child (") and
          share(rows, lambda h: "work_child" in h["functions"] and
                f"child ({h['tid']})" == rows[0]["object"]) > 0.9)


def test_idle(folder):
    _, rows, _ = test(folder, "idle", "socket receive", lambda pid: f"unix to server",
                      lambda h, pid: h["functions"] == ["[both ends wait to read]"])
    check(f"idle: {show(rows)}", all(h["tid"] is None for w in rows for h in w["holders"]))


def reads_all_processes():
    """False if a descriptor of any process is not readable: it may be an end of the pipes."""
    try:
        if os.stat("/proc/self/ns/pid").st_ino != 0xeffffffc:
            return False
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                for fd in os.listdir(f"/proc/{pid}/fd"):
                    os.readlink(f"/proc/{pid}/fd/{fd}")
            except (FileNotFoundError, ProcessLookupError):
                continue
    except PermissionError:
        return False
    return True


def test_stuck(folder):
    target = Target("stuck")
    report, said = sample(target, folder)
    pid = target.pid
    target.end()
    rows = rows_of(report, "pipe write", f"pipe to right ({pid['right']})")
    check(f"stuck: {show(report['waits'])}",
          share(rows, lambda h: is_in("write_all", "right")(h, pid)) > 0.9)
    # A deadlock is certain only if no other process can have an end of the pipes.
    if not reads_all_processes():
        check(f"no deadlock is certain here: {said}", "deadlock" not in said)
        print("not every process is readable: deadlocks of processes are not tested")
        return
    check(f"a deadlock of left and right: {said}",
          "deadlock" in said and f"right-{pid['right']}" in said and
          f"left-{pid['left']}" in said)


def main():
    with tempfile.TemporaryDirectory() as folder:
        test_direct(folder)
        test_chains(folder)
        test_child(folder)
        test_idle(folder)
        test_stuck(folder)
    sys.exit(1 if failed else 0)


main()
