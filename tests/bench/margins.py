#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts in how many short runs the true share of a function lies within the 95 % margin of error of
the report. The program bench_shares counts its work itself. Of 100 runs 95 are expected on
average, and at least 91 in 19 of 20 cases. A bias of the samples counts as an error, too: the column
"bias" is the mean error, in points, and "deviation" that of single runs."""
import argparse
import math
import re
import subprocess
import sys
import tempfile

# title: threads, microseconds of each sleep, weight
CASES = {
    "busy": (1, 0, "cpu"),
    "sleeps": (1, 2000, "wall"),
    "sleeps-cpu": (1, 2000, "cpu"),
    "threads": (20, 20000, "cpu"),
    "threads-wall": (20, 20000, "wall"),
    "crowd": (4, 0, "cpu"),
}
ROW = re.compile(r"^\s*\S+\s+([\d.]+)%\s+±([\d.]+)%.*\s(first|second) \(", re.MULTILINE)


def run(options, steps, case):
    """Returns {function: (share, margin, true share)} in percent; {} if the run has failed."""
    threads, sleep, weight = CASES[case]
    with tempfile.TemporaryDirectory() as folder:
        report = folder + "/report"
        done = subprocess.run(
            [options.wallsample, "--sort", weight, "-r", str(options.rate), "-f", "text", "-o", report,
             "--state", "R,S,D", "--", options.target, steps, str(threads), str(sleep), str(options.seconds)],
            capture_output=True, text=True, check=False, env={"COLUMNS": "160", "PATH": "/usr/bin:/bin"})
        rounds, cpu, life = map(float, done.stdout.split())
        # A round is 1 ms of work; beside other processes caches make it longer.
        work = cpu if sleep == 0 else min(rounds * 1e-3, cpu)
        work *= 100 / (cpu if weight == "cpu" else life)
        truth = {"first": 0.3 * work, "second": 0.7 * work}
        with open(report) as lines:
            text = lines.read()
    least = re.search(r"±([\d.]+)% at 1%", text)
    if least is None:
        return {}
    # A function without a sample has no row: its share is 0.
    found = {name: (0.0, float(least[1]), truth[name]) for name in truth}
    for row in reversed(ROW.findall(text)):
        found[row[2]] = float(row[0]), float(row[1]), truth[row[2]]
    return found


def summary(rows):
    errors = [share - true for share, _, true in rows]
    mean = sum(errors) / len(errors)
    deviation = math.sqrt(sum((error - mean) ** 2 for error in errors) / max(len(errors) - 1, 1))
    held = sum(abs(share - true) <= margin for share, margin, true in rows)
    margin = sum(margin for _, margin, _ in rows) / len(rows)
    true = sum(true for _, _, true in rows) / len(rows)
    return f"{true:9.2f}{mean:9.2f}{deviation:11.2f}{margin:9.2f}{held:6d} of {len(rows)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wallsample", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--rate", type=int, default=100)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--busy", type=int, default=0, help="number of busy processes beside")
    parser.add_argument("case", nargs="*", default=list(CASES), help=", ".join(CASES))
    options = parser.parse_args()
    steps = subprocess.run([options.target], capture_output=True, text=True, check=True).stdout.strip()
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.busy)]
    print(f"{'case':<14}{'function':<9}{'true':>9}{'bias':>9}{'deviation':>11}{'margin':>9}  held")
    try:
        for case in options.case:
            runs = [run(options, steps, case) for _ in range(options.runs)]
            for name in "first", "second":
                rows = [shares[name] for shares in runs if name in shares]
                print(f"{case:<14}{name:<9}" + (summary(rows) if rows else "  no row"), flush=True)
    finally:
        for other in others:
            other.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main())
