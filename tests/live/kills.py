# SPDX-License-Identifier: MIT
"""kills.py WALLSAMPLE TIMES FOLDER - kills wallsample at random moments while it samples programs
that get signals: Go with timers, Python with an alarm, a C program with 400 signals a second, a
JVM, and PostgreSQL under load. What is not installed is left out.

After each kill no thread is traced or stopped. At the end each program still counts: its timer, its
signals or its queries. The speeds before and afterwards are printed. FOLDER is for files.
"""
import glob
import os
import random
import shutil
import signal
import subprocess
import sys
import time

from sampling import start, until, until_free

MOST_WAIT = 0.15  # seconds until a kill
MEASURE = 2.0    # seconds in which the speed is measured

GO = '''package main
import ("bufio"; "fmt"; "os"; "sync/atomic"; "time")
func main() {
	var count atomic.Int64
	for i := 0; i < 4; i++ {
		go func() { for range time.Tick(time.Millisecond) { count.Add(1) } }()
		go func() { x := 0; for { x++; if x%1000000 == 0 { time.Sleep(time.Millisecond) } } }()
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() { fmt.Println(count.Load()) }
}
'''
PYTHON = '''import signal, sys, threading
count = 0
def tick(number, frame):
    global count
    count += 1
signal.signal(signal.SIGALRM, tick)
signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
def work():
    while True:
        sum(range(1000))
threading.Thread(target=work, daemon=True).start()
for line in sys.stdin:
    print(count, flush=True)
'''
C = '''#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
static volatile long count;
static void tick(int n) { (void)n; count++; }
static void *work(void *x) { sigset_t s; sigfillset(&s); pthread_sigmask(SIG_BLOCK, &s, 0);
	for (;;) *(volatile int *)x += 1; }
int main(void) {
	struct sigaction a = { .sa_handler = tick, .sa_flags = SA_RESTART };
	struct itimerval t = { { 0, 2500 }, { 0, 2500 } };
	static int x; pthread_t p; char line[16];
	pthread_create(&p, 0, work, &x);
	sigaction(SIGALRM, &a, 0); setitimer(ITIMER_REAL, &t, 0);
	while (fgets(line, sizeof(line), stdin)) { printf("%ld\\n", count); fflush(stdout); }
	return 0; }
'''
JAVA = '''import java.util.concurrent.atomic.*; import java.util.*;
public class Kills { public static void main(String[] a) throws Exception {
	AtomicLong count = new AtomicLong();
	Timer timer = new Timer(true);
	timer.scheduleAtFixedRate(new TimerTask() { public void run() { count.incrementAndGet(); } },
			1, 1);
	for (int i = 0; i < 3; i++) { Thread t = new Thread(() -> { long x = 0; while (true) { x++;
		if (x % 100000000 == 0) System.gc(); } }); t.setDaemon(true); t.start(); }
	Scanner in = new Scanner(System.in);
	while (in.hasNextLine()) { in.nextLine(); System.out.println(count.get()); } } }
'''


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, 'w') as file:
        file.write(text)
    return path


def has(*programs):
    return all(shutil.which(program) for program in programs)


class Asked:
    """A program that prints its count when it is asked."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.pid = self.process.pid
        self.count()

    def count(self):
        self.process.stdin.write('\n')
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def end(self):
        self.process.kill()
        self.process.wait()


class Postgres:
    """A server with one busy client; the process that serves it is sampled, and counts."""

    def __init__(self, folder, tools):
        self.folder = os.path.join(folder, 'postgres')
        os.mkdir(self.folder, 0o700)
        shutil.chown(self.folder, 'postgres')
        os.chmod(folder, 0o755)
        self.tools, self.user = tools, ['setpriv', '--reuid=postgres', '--clear-groups', '--']
        data = self.folder + '/data'
        self.run('initdb', '-D', data, '-A', 'trust')
        self.server = subprocess.Popen(
            self.user + [tools + '/postgres', '-D', data, '-k', self.folder, '-h', ''],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until('the server answers', lambda: self.query('select 1') == '1')
        self.query('create sequence n')
        self.query('create table t as select generate_series(1, 1000) as x')
        self.load = subprocess.Popen(
            self.user + [tools + '/psql', '-h', self.folder, '-d', 'postgres', '-q', '-c',
                         'do $$ begin loop perform sum(x) from t; perform pg_sleep(0.0005); '
                         'perform nextval(\'n\'); end loop; end $$'],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until('the client is served', self.serves)

    def run(self, tool, *words):
        subprocess.run(self.user + [self.tools + '/' + tool, *words], check=True, cwd='/',
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def query(self, text):
        run = subprocess.run(self.user + [self.tools + '/psql', '-h', self.folder, '-d', 'postgres',
                                          '-At', '-c', text],
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd='/',
                             check=False)
        return run.stdout.strip()

    def serves(self):
        found = self.query("select pid from pg_stat_activity where query like 'do $$ begin loop%'")
        self.pid = int(found or 0)
        return self.pid != 0

    def count(self):
        return int(self.query('select last_value from n'))

    def end(self):
        self.load.kill()
        self.load.wait()
        self.server.send_signal(signal.SIGINT)
        self.server.wait()


def programs(folder):
    """Yields the name of each program, and a function that starts it."""
    if has('go'):
        path = write(folder, 'kills.go', GO)
        target = os.path.join(folder, 'kills-go')
        if subprocess.run(['go', 'build', '-o', target, path], check=False).returncode == 0:
            yield 'Go with timers', lambda: Asked([target])
    yield 'Python with SIGALRM', lambda: Asked([sys.executable, '-u', '-c', PYTHON])
    if has('cc'):
        path = write(folder, 'kills.c', C)
        program = os.path.join(folder, 'kills-c')
        subprocess.run(['cc', '-O1', '-pthread', '-o', program, path], check=True)
        yield 'C with 400 signals a second', lambda: Asked([program])
    if has('java', 'javac'):
        path = write(folder, 'Kills.java', JAVA)
        subprocess.run(['javac', '-d', folder, path], check=True)
        yield 'JVM', lambda: Asked(['java', '-cp', folder, 'Kills'])
    tools = sorted(glob.glob('/usr/lib/postgresql/*/bin'))
    if tools and has('setpriv') and os.geteuid() == 0:
        yield 'PostgreSQL under load', lambda: Postgres(folder, tools[-1])


def speed(program):
    before, began = program.count(), time.monotonic()
    time.sleep(MEASURE)
    return (program.count() - before) / (time.monotonic() - began)


def kill(wallsample, pid, chance):
    words = [[], ['--stop-all'], ['-r', '5000', '--max-overhead', '100', '--max-stopped', '100']]
    sampler = start(wallsample, pid, chance.choice(words))
    time.sleep(chance.random() * MOST_WAIT)
    sampler.kill()
    sampler.wait()
    until_free(pid)


def main():
    wallsample, times, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    chance = random.Random(19)
    for name, make in programs(folder):
        program = make()
        before = speed(program)
        for _ in range(times):
            kill(wallsample, program.pid, chance)
        after = speed(program)
        print('%s: %d kills, speed %.0f before, %.0f afterwards' % (name, times, before, after),
              flush=True)
        reached = program.count()
        until(name + ' counts on', lambda: program.count() > reached)
        program.end()


main()
