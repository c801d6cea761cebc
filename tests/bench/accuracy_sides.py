# SPDX-License-Identifier: MIT
"""accuracy_sides.py - shares of CPU time of the functions of a process, by wallsample and by
`perf record -e cpu-clock` in the same seconds.

A function is the code from one symbol of a module to the next, for both tools: so names differ in
neither. Time in the kernel belongs to the function of user space that made the system call.
"""
import bisect
import collections
import contextlib
import functools
import math
import os
import re
import sqlite3
import subprocess
import sys

KERNEL = 0xffff000000000000
FRAME = re.compile(r"\s*([0-9a-f]+) (.*) \(([^()]*)(?: \(deleted\))?\)$")

# Leaf functions of running threads, as (module, address), and their CPU time.
RUNNING = """
SELECT m.path, f.address, sum(s.overhead_ns) FROM spans s JOIN stacks k ON k.id = s.stack
JOIN frames f ON f.id = k.frame LEFT JOIN modules m ON m.id = f.module
WHERE s.state = 'R' GROUP BY f.id"""


class Side:
    """What one tool has found: `time` by function, and the number of samples that divided it."""

    def __init__(self, time, samples, exact=None):
        self.time, self.samples, self.exact = collections.Counter(time), samples, exact

    def share(self, function):
        """In percent."""
        return 100 * self.time[function] / (sum(self.time.values()) or 1)

    def margin(self, function):
        """Half the width of the 95 % interval of the share, in points: that of Wilson."""
        share, n, z = self.share(function) / 100, max(self.samples, 1), 1.96
        return 100 * z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + (z / n / 2) ** 2)


@functools.lru_cache(maxsize=None)
def symbols(path):
    """([address], [name]) of the functions of a module, by address."""
    found = {}
    for words in (["nm", "-D", "--defined-only", path], ["nm", "--defined-only", path]):
        out = subprocess.run(words, capture_output=True, text=True, check=False).stdout
        for address, kind, name in (line.split(None, 2) for line in out.splitlines()):
            if kind in "tTwWiu":
                name = name.split("@")[0]
                number = int(address, 16)
                found[number] = min(found.get(number, name), name)
    return sorted(found), [found[address] for address in sorted(found)]


def function_at(path, address):
    if path is None or not os.path.exists(path):
        return "other"
    addresses, names = symbols(os.path.realpath(path))
    at = bisect.bisect_right(addresses, address) - 1
    return (names[at] if at >= 0 else "other") + " " + os.path.basename(path)


def wallsample_side(path):
    time = collections.Counter()
    with contextlib.closing(sqlite3.connect(path)) as recording:
        for module, address, ns in recording.execute(RUNNING):
            time[function_at(module, address or 0)] += ns
        cost = dict(recording.execute("SELECT name, value FROM cost"))
    samples = float(cost.get("division.ns", 0)) ** 2 / (float(cost.get("division.squares", 0)) or 1)
    running = int(cost.get("running_samples", 0))
    return Side(time, min(samples, running) if samples > 1 else running,
                100 * int(cost.get("running_exact", 0)) / (running or 1))


@functools.lru_cache(maxsize=None)
def bias(path):
    """Address minus file offset of a module's code; perf prints file offsets."""
    segments = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=False)
    for words in map(str.split, segments.stdout.splitlines()):
        if words[:1] == ["LOAD"] and "E" in words[6:8]:
            return int(words[2], 16) - int(words[1], 16)
    return 0


def perf_stacks(path):
    """The frames of user space of each sample, innermost first, as (module, address, name)."""
    out = subprocess.run(["perf", "script", "-i", path, "-F", "ip,sym,dso", "--no-inline"],
                         capture_output=True, text=True, check=True).stdout
    for block in out.split("\n\n"):
        frames = [match.groups() for match in map(FRAME.match, block.splitlines()) if match]
        if frames:
            yield [(dso, int(ip, 16) + bias(dso), name) for ip, name, dso in frames
                   if int(ip, 16) < KERNEL and (dso[:1] != "[" or dso == "[vdso]")]


def perf_side(path):
    time = collections.Counter()
    for frames in perf_stacks(path):
        time[function_at(*frames[0][:2]) if frames else "other"] += 1
    return Side(time, sum(time.values()))


def record_alone(options, pid, folder):
    """Runs wallsample record for options.seconds. Returns the path of the recording."""
    recording = folder + "/recording.wsdb"
    with contextlib.suppress(FileNotFoundError):
        os.remove(recording)
    subprocess.run([options.wallsample, "record", "-p", str(pid), "-d", str(options.seconds), "-r",
                    str(options.rate), "--max-overhead", "100", *getattr(options, "words", ()),
                    "-o", recording], stderr=subprocess.DEVNULL, check=False)
    return recording


def record(options, pid, folder, words=("-F", "999", "-g")):
    """Both tools for options.seconds. Returns the paths of their files."""
    data = folder + "/perf.data"
    perf = subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock", *words, "-o", data, "-p",
                             str(pid), "--", "sleep", str(options.seconds)],
                            stderr=subprocess.DEVNULL)
    recording = record_alone(options, pid, folder)
    perf.wait()
    return recording, data


@contextlib.contextmanager
def busy_processes(count):
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()
