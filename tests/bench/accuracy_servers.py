# SPDX-License-Identifier: MIT
"""accuracy_servers.py - programs under load for the accuracy benches: servers that others wrote,
and small HTTP servers in Go and Java (accuracy_http.go, AccuracyHttp.java).

PROGRAMS maps a name to the commands that the program needs, and to a context manager f(folder,
more): it starts the program with `folder` as a directory of its own and `more` as arguments of
subprocess.Popen, and yields the PID to sample."""
import contextlib
import glob
import os
import shutil
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
REDIS_PORT = "7391"
HTTP_PORT = "7392"
POSTGRES = "/usr/lib/postgresql/*/bin"


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
def redis(_, more):
    port = ["-p", REDIS_PORT]
    with running(["redis-server", "--port", REDIS_PORT, "--save", "", "--appendonly", "no"],
                 **more) as pid:
        wait_until_true(["redis-cli", *port, "ping"])
        with running(["redis-benchmark", *port, "-c", "32", "-n", "1000000000", "-t", "get,set",
                      "-q"]):
            yield pid


@contextlib.contextmanager
def mariadb(folder, more, load):
    data, socket = folder + "/data", folder + "/socket"
    os.chmod(folder, 0o755)
    if not os.path.exists(data):
        subprocess.run(["mariadb-install-db", "--no-defaults", "--user=mysql", "--datadir=" + data],
                       check=True, **QUIET)
        shutil.chown(folder, "mysql")
    with running(["mariadbd", "--no-defaults", "--datadir=" + data, "--socket=" + socket,
                  "--user=mysql", "--skip-networking", "--pid-file=" + folder + "/pid"],
                 **more) as pid:
        client = ["mariadb", "--no-defaults", "--socket=" + socket, "-uroot", "-e"]
        wait_until_true([*client, "CREATE DATABASE IF NOT EXISTS sbtest"])
        sysbench = ["sysbench", load, "--db-driver=mysql", "--mysql-socket=" + socket,
                    "--mysql-user=root", "--threads=4", "--tables=1", "--table-size=20000"]
        subprocess.run([*sysbench, "cleanup"], check=False, **QUIET)
        subprocess.run([*sysbench, "prepare"], check=True, **QUIET)
        with running([*sysbench, "--time=0", "run"]):
            yield pid


@contextlib.contextmanager
def http_load(path="/"):
    """Keeps 16 connections sending requests."""
    url = f"http://127.0.0.1:{HTTP_PORT}{path}"
    wait_until_true(["curl", "-sf", "-o", "/dev/null", url])
    with running(["wrk", "-t", "1", "-c", "16", "-d", "86400", url]):
        yield


NGINX = """daemon off; master_process off; pid {0}/pid; error_log {0}/errors;
events {{ worker_connections 64; }}
http {{ access_log off; server {{ listen 127.0.0.1:{1}; root {0}; }} }}
"""


@contextlib.contextmanager
def nginx(folder, more):
    with open(folder + "/index.html", "w") as page, open(folder + "/conf", "w") as conf:
        page.write("0123456789abcdef" * 256)
        conf.write(NGINX.format(folder, HTTP_PORT))
    os.chmod(folder, 0o755)
    with running(["nginx", "-c", folder + "/conf"], **more) as pid, http_load():
        yield pid


@contextlib.contextmanager
def go_http(folder, more):
    subprocess.run(["go", "build", "-buildmode=pie", "-o", folder + "/server",
                    HERE + "/accuracy_http.go"], check=True,
                   env={**os.environ, "GO111MODULE": "off"}, **QUIET)
    with running([folder + "/server", HTTP_PORT], **more) as pid, http_load():
        yield pid


@contextlib.contextmanager
def java_http(folder, more):
    subprocess.run(["javac", "-d", folder, HERE + "/AccuracyHttp.java"], check=True, **QUIET)
    with running(["java", "-cp", folder, "AccuracyHttp", HTTP_PORT], **more) as pid, http_load():
        time.sleep(5)   # for the compiler threads to compile the handler
        yield pid


@contextlib.contextmanager
def fio(folder, more):
    words = ["fio", "--name=direct", "--thread", "--direct=1", "--rw=randread", "--bs=4k",
             "--size=64m", "--ioengine=psync", "--time_based", "--runtime=86400",
             "--directory=" + folder]
    with running(words, **more) as pid:
        time.sleep(3)   # it writes the file first
        yield pid


@contextlib.contextmanager
def postgres(folder, more):
    """Yields the backend of one of two read-only connections of pgbench."""
    binaries = os.path.dirname(glob.glob(POSTGRES + "/initdb")[0])
    data, user = folder + "/data", ["setpriv", "--reuid=postgres", "--clear-groups", "--"]
    shutil.chown(folder, "postgres")
    address = ["-h", folder, "-p", "7393"]
    if not os.path.exists(data):
        subprocess.run([*user, binaries + "/initdb", "-D", data, "-A", "trust"], check=True,
                       **QUIET)
    with running([*user, binaries + "/postgres", "-D", data, "-k", folder, "-p", "7393", "-c",
                  "listen_addresses="], **more):
        wait_until_true([*user, binaries + "/pg_isready", *address])
        pgbench = [*user, binaries + "/pgbench", *address]
        subprocess.run([*pgbench, "-i", "-q", "postgres"], check=True, **QUIET)
        with running([*pgbench, "-S", "-c", "2", "-T", "86400", "postgres"]):
            time.sleep(1)
            query = "SELECT pid FROM pg_stat_activity WHERE application_name = 'pgbench' LIMIT 1"
            found = subprocess.run([binaries + "/psql", *address, "-U", "postgres", "-Atc", query],
                                   capture_output=True, text=True, check=True)
            yield int(found.stdout)


PROGRAMS = {
    "redis-server": (["redis-server", "redis-cli", "redis-benchmark"], redis),
    "mariadbd, point select": (["mariadbd", "mariadb-install-db", "mariadb", "sysbench"],
                               lambda *words: mariadb(*words, "oltp_point_select")),
    "mariadbd, read and write": (["mariadbd", "mariadb-install-db", "mariadb", "sysbench"],
                                 lambda *words: mariadb(*words, "oltp_read_write")),
    "nginx": (["nginx", "wrk", "curl"], nginx),
    "postgres backend": ([POSTGRES + "/initdb", POSTGRES + "/pgbench", "setpriv"], postgres),
    "fio, direct reads": (["fio"], fio),
    "Go HTTP server": (["go", "wrk", "curl"], go_http),
    "Java HTTP server": (["java", "javac", "wrk", "curl"], java_http),
}


def is_installed(name):
    """Returns whether all commands of the program are installed; prints the missing ones."""
    missing = [command for command in PROGRAMS[name][0]
               if shutil.which(command) is None and not glob.glob(command)]
    if missing:
        print(f"\n{name}: left out, {', '.join(missing)} not installed")
    return not missing


@contextlib.contextmanager
def start(name, folder, **more):
    """Yields the PID of PROGRAMS[name]. `more`: arguments of subprocess.Popen for the server."""
    with PROGRAMS[name][1](folder, more) as pid:
        time.sleep(1)
        yield pid
