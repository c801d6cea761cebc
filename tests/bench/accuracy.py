#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints shares of CPU time by wallsample, by `perf record -e cpu-clock` in the same seconds, and by
the program's own count, of bench_calls: two functions and a system call every 20, 100, 1,000 us, on
the machine as it is and beside 8 busy processes. Needs perf and the right to use it."""
import argparse
import collections
import subprocess
import sys
import tempfile

NAMES = "first", "second", "call"


def function_of(frames):
    """Returns the innermost of NAMES in a stack, innermost frame first."""
    for frame in frames:
        name = frame.split(" ")[0].split("+")[0]
        if name in NAMES:
            return name
    return "other"


def shares(counts):
    total = sum(counts.values()) or 1
    return [100 * counts[name] / total for name in NAMES]


def wallsample_shares(path):
    counts = collections.Counter()
    with open(path) as lines:
        for line in lines:
            stack, weight = line.rsplit(" ", 1)
            counts[function_of(reversed(stack.split(";")))] += int(weight)
    return shares(counts)


def perf_shares(path):
    counts = collections.Counter()
    out = subprocess.run(["perf", "script", "-i", path, "-F", "ip,sym"], capture_output=True,
                         text=True, check=True).stdout
    for block in out.split("\n\n"):
        frames = [line.split(None, 1)[1] for line in block.splitlines()
                  if len(line.split(None, 1)) > 1]
        if frames:
            counts[function_of(frames)] += 1
    # Without frame pointers perf finds no caller of the C library and the kernel.
    counts["call"] += counts.pop("other", 0)
    return shares(counts)


def measure(options, us, call, folder):
    target = subprocess.Popen([options.target, us, call, str(options.seconds + 1)],
                              stdout=subprocess.PIPE, text=True)
    pid = target.stdout.readline().strip()
    data, folded = folder + "/perf", folder + "/folded"
    perf = subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock", "-F", "999", "-g", "-o", data,
                             "-p", pid, "--", "sleep", str(options.seconds)])
    subprocess.run([options.wallsample, "-p", pid, "-d", str(options.seconds), "-r",
                    str(options.rate), "--max-overhead", "100", "-f", "folded", "--state", "R",
                    "-o", folded], stderr=subprocess.DEVNULL, check=False)
    perf.wait()
    truth = target.communicate()[0].split()[1:]
    rows = wallsample_shares(folded), perf_shares(data), [float(share) for share in truth]
    for name, row in zip(("wallsample", "perf", "own count"), rows):
        print(f"{us:>7} us  {call:<8} {name:<11}" + "".join(f"{share:9.1f}" for share in row))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wallsample", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rate", type=int, default=400)
    options = parser.parse_known_args()[0]
    for busy in 0, 8:
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
        print(f"\nbeside {busy} busy processes; shares in percent\n" + " " * 32 +
              "".join(f"{name:>9}" for name in NAMES))
        try:
            for us in "20", "100", "1000":
                for call in "getppid", "zero":
                    with tempfile.TemporaryDirectory() as folder:
                        measure(options, us, call, folder)
        finally:
            for other in others:
                other.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main())
