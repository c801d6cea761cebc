#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints shares of CPU time of the functions of redis-server and MariaDB under load, by wallsample
and by `perf record -e cpu-clock` in the same seconds, on the machine as it is and beside 8 busy
processes: the ten largest, their difference in points, and the margin of that difference (95 %).
Needs perf and the right to use it. A program that is not installed is left out."""
import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time

from accuracy_sides import busy_processes, perf_side, record, wallsample_side

QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
REDIS_PORT = "7391"
GOAL = 3.0   # points


@contextlib.contextmanager
def running(words, **more):
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, **QUIET, **more)
    try:
        yield child.pid
    finally:
        child.terminate()
        try:
            child.wait(20)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def wait_until_true(words):
    for _ in range(300):
        if subprocess.run(words, check=False, **QUIET).returncode == 0:
            return
        time.sleep(0.1)
    raise SystemExit(" ".join(words) + ": the server does not answer")


@contextlib.contextmanager
def redis(_):
    port = ["-p", REDIS_PORT]
    with running(["redis-server", "--port", REDIS_PORT, "--save", "", "--appendonly", "no"]) as pid:
        wait_until_true(["redis-cli", *port, "ping"])
        with running(["redis-benchmark", *port, "-c", "32", "-n", "1000000000", "-t", "get,set",
                      "-q"]):
            yield pid


@contextlib.contextmanager
def mariadb(folder, load):
    data, socket = folder + "/data", folder + "/socket"
    os.chmod(folder, 0o755)
    if not os.path.exists(data):
        subprocess.run(["mariadb-install-db", "--no-defaults", "--user=mysql", "--datadir=" + data],
                       check=True, **QUIET)
        shutil.chown(folder, "mysql")
    with running(["mariadbd", "--no-defaults", "--datadir=" + data, "--socket=" + socket,
                  "--user=mysql", "--skip-networking", "--pid-file=" + folder + "/pid"]) as pid:
        client = ["mariadb", "--no-defaults", "--socket=" + socket, "-uroot", "-e"]
        wait_until_true([*client, "CREATE DATABASE IF NOT EXISTS sbtest"])
        sysbench = ["sysbench", load, "--db-driver=mysql", "--mysql-socket=" + socket,
                    "--mysql-user=root", "--threads=4", "--tables=1", "--table-size=20000"]
        subprocess.run([*sysbench, "cleanup"], check=False, **QUIET)
        subprocess.run([*sysbench, "prepare"], check=True, **QUIET)
        with running([*sysbench, "--time=0", "run"]):
            yield pid


PROGRAMS = {
    "redis-server": (["redis-server", "redis-cli", "redis-benchmark"], redis),
    "mariadbd, point select": (["mariadbd", "mariadb-install-db", "mariadb", "sysbench"],
                               lambda folder: mariadb(folder, "oltp_point_select")),
    "mariadbd, read and write": (["mariadbd", "mariadb-install-db", "mariadb", "sysbench"],
                                 lambda folder: mariadb(folder, "oltp_read_write")),
}


def print_sides(own, perf):
    worst = beyond = 0
    print(f"{'function':<52}{'wallsample':>11}{'perf':>7}{'points':>8}{'±':>6}")
    for function, _ in perf.time.most_common(10):
        difference = own.share(function) - perf.share(function)
        margin = (own.margin(function) ** 2 + perf.margin(function) ** 2) ** 0.5
        worst = max(worst, abs(difference))
        beyond += abs(difference) > GOAL + margin
        print(f"{function[:51]:<52}{own.share(function):11.1f}{perf.share(function):7.1f}"
              f"{difference:8.1f}{margin:6.1f}")
    print(f"largest difference {worst:.1f} points; {beyond} beyond {GOAL:.0f} points and margin; "
          f"{own.samples:.0f} samples ({own.exact:.0f} % exact) and {perf.samples}", flush=True)


def measure(options, name, busy, folder):
    commands, start = PROGRAMS[name]
    missing = [command for command in commands if shutil.which(command) is None]
    if missing:
        print(f"\n{name}: left out, {', '.join(missing)} not installed")
        return
    with start(folder) as pid, busy_processes(busy):
        time.sleep(1)
        recording, data = record(options, pid, folder)
    print(f"\n{name}, beside {busy} busy processes")
    print_sides(wallsample_side(recording), perf_side(data))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wallsample", required=True)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rate", type=int, default=400)
    parser.add_argument("--only", default="", help="names of programs that contain this")
    parser.add_argument("--busy", default="0,8", help="numbers of busy processes")
    options = parser.parse_known_args()[0]
    if shutil.which("perf") is None:
        print("left out: perf is not installed")
        return 0
    for name in PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            for busy in options.busy.split(",") if options.only in name else ():
                measure(options, name, int(busy), folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
