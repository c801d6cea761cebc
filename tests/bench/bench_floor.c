/* SPDX-License-Identifier: MIT */
/*
 * The floor of the bench: nothing but the kernel calls that one sample cannot do
 * without, at a rate, on an even schedule. No profiler that stops threads from
 * outside can be gentler to its target.
 *
 * A thread that is stopped: SEIZE, INTERRUPT, wait, GETREGSET, 16 KiB of stack,
 * DETACH. All of one tick are asked first and released in the order in which they stop. A
 * sleeping thread: one pread of its schedstat.
 *
 * bench_floor -p PID -r RATE -d SECONDS [-t TID,TID…] [-s | -m]
 *   -t  threads that are stopped each tick
 *   -s  read schedstat of all other threads each tick
 *   -m  the same, and stop those that ran since and are running now
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench_board.h"

#define STACK_COPY (16 << 10)
#define REGISTER_WORDS 64
#define MOST_TIMES 65536

/* Where the stack pointer stands among the registers of NT_PRSTATUS. */
#if defined(__x86_64__)
#define SP_WORD 19 /* struct user_regs_struct of <sys/user.h>: rsp */
#elif defined(__aarch64__)
#define SP_WORD 31 /* struct user_pt_regs of <asm/ptrace.h>: sp */
#else
#error "the floor does not know this architecture's registers"
#endif

struct floor_thread {
	pid_t tid;
	bool stop, stop_always;
	int sched_fd, syscall_fd;
	unsigned long long switches;
};

struct floor {
	pid_t pid;
	bool watch_others, stop_movers;
	struct floor_thread *thread;
	size_t count, capacity;
	size_t outstanding;
	uint64_t ticks, stops, late_ticks;
	uint64_t stop_ns[MOST_TIMES]; /* of the first stops: from the wait's end to the release */
};

static struct floor_thread *
add_thread(struct floor *floor, pid_t tid)
{
	struct floor_thread *thread;

	if (floor->count == floor->capacity) {
		floor->capacity = 2 * floor->capacity + 16;
		floor->thread =
			realloc(floor->thread, floor->capacity * sizeof(*floor->thread));
		if (floor->thread == NULL)
			bench_die("memory");
	}
	thread = &floor->thread[floor->count++];
	memset(thread, 0, sizeof(*thread));
	thread->tid = tid;
	thread->sched_fd = thread->syscall_fd = -1;
	return thread;
}

static int
open_task_file(pid_t pid, pid_t tid, const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool
is_known(const struct floor *floor, pid_t tid)
{
	for (size_t i = 0; i < floor->count; i++) {
		if (floor->thread[i].tid == tid)
			return true;
	}
	return false;
}

static void
add_others(struct floor *floor)
{
	struct rlimit limit;
	struct dirent *entry;
	char path[64];
	DIR *dir;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	snprintf(path, sizeof(path), "/proc/%d/task", (int)floor->pid);
	dir = opendir(path);
	if (dir == NULL)
		bench_die(path);
	while ((entry = readdir(dir)) != NULL) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		struct floor_thread *thread;

		if (tid <= 0 || is_known(floor, tid))
			continue;
		thread = add_thread(floor, tid);
		thread->sched_fd = open_task_file(floor->pid, tid, "schedstat");
		if (floor->stop_movers)
			thread->syscall_fd = open_task_file(floor->pid, tid, "syscall");
	}
	closedir(dir);
}

static void
ask_to_stop(struct floor *floor, pid_t tid)
{
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
		return;
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0)
		floor->outstanding++;
}

/* A tracer stop carries its event above the signal; a signal that was on its way is passed on. */
static int
signal_to_pass(int status)
{
	return status >> 16 == 0 ? WSTOPSIG(status) : 0;
}

static void
collect_stops(struct floor *floor)
{
	static unsigned char stack[STACK_COPY];

	while (floor->outstanding > 0) {
		uint64_t words[REGISTER_WORDS] = { 0 };
		struct iovec registers = { words, sizeof(words) };
		struct iovec local = { stack, sizeof(stack) }, remote;
		int status;
		pid_t tid = waitpid(-1, &status, __WALL);
		uint64_t stopped = bench_now_ns();

		if (tid < 0 && errno == EINTR)
			continue;
		if (tid < 0)
			bench_die("waitpid");
		floor->outstanding--;
		if (!WIFSTOPPED(status))
			continue;
		ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &registers);
		remote.iov_base = (void *)(uintptr_t)words[SP_WORD];
		remote.iov_len = sizeof(stack);
		process_vm_readv(floor->pid, &local, 1, &remote, 1, 0);
		ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)signal_to_pass(status));
		floor->stop_ns[floor->stops++ % MOST_TIMES] = bench_now_ns() - stopped;
	}
}

/* Did it run since the last tick? A tick costs this one read of a sleeper. */
static bool
has_moved(struct floor_thread *thread)
{
	char text[128];
	ssize_t n = pread(thread->sched_fd, text, sizeof(text) - 1, 0);
	unsigned long long switches;
	const char *last;

	if (n <= 0)
		return false;
	text[n] = '\0';
	last = strrchr(text, ' ');
	switches = last != NULL ? strtoull(last, NULL, 10) : 0;
	if (switches == thread->switches)
		return false;
	thread->switches = switches;
	return true;
}

static bool
is_running(const struct floor_thread *thread)
{
	char text[256];

	return pread(thread->syscall_fd, text, sizeof(text), 0) > 0 && text[0] == 'r';
}

static void
one_tick(struct floor *floor)
{
	for (size_t i = 0; i < floor->count; i++) {
		struct floor_thread *thread = &floor->thread[i];

		thread->stop = thread->stop_always;
		if (!thread->stop_always && has_moved(thread) && floor->stop_movers)
			thread->stop = is_running(thread);
	}
	/* All reading first: nobody is to stand while others are read. */
	for (size_t i = 0; i < floor->count; i++) {
		if (floor->thread[i].stop)
			ask_to_stop(floor, floor->thread[i].tid);
	}
	collect_stops(floor);
	floor->ticks++;
}

static void
run(struct floor *floor, double rate, double seconds)
{
	uint64_t period = (uint64_t)(1e9 / rate);
	uint64_t next = bench_now_ns(), end = next + (uint64_t)(seconds * 1e9);

	while (next < end && kill(floor->pid, 0) == 0) {
		struct timespec at;

		one_tick(floor);
		next += period;
		if (bench_now_ns() > next) { /* never made up for, as in the sampler */
			next = bench_now_ns();
			floor->late_ticks++;
		}
		at.tv_sec = (time_t)(next / UINT64_C(1000000000));
		at.tv_nsec = (long)(next % UINT64_C(1000000000));
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	}
}

static int
by_time(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void
print_counts(struct floor *floor)
{
	size_t count = floor->stops < MOST_TIMES ? (size_t)floor->stops : MOST_TIMES;
	double median = 0, p99 = 0;

	qsort(floor->stop_ns, count, sizeof(floor->stop_ns[0]), by_time);
	if (count > 0) {
		median = (double)floor->stop_ns[count / 2] / 1e3;
		p99 = (double)floor->stop_ns[count * 99 / 100] / 1e3;
	}
	printf("%llu ticks, %llu late, %llu stops: median %.1f us, p99 %.1f us\n",
	       (unsigned long long)floor->ticks, (unsigned long long)floor->late_ticks,
	       (unsigned long long)floor->stops, median, p99);
}

static void
parse_tids(struct floor *floor, char *text)
{
	for (char *word = text; word != NULL && strcmp(text, "-") != 0;) {
		char *comma = strchr(word, ',');

		if (comma != NULL)
			*comma = '\0';
		add_thread(floor, (pid_t)bench_number(word, 1, INT32_MAX))->stop_always = true;
		word = comma != NULL ? comma + 1 : NULL;
	}
}

int
main(int argc, char **argv)
{
	static struct floor floor;
	double rate = 100, seconds = 5;
	int option;

	while ((option = getopt(argc, argv, "p:r:d:t:sm")) != -1) {
		switch (option) {
		case 'p':
			floor.pid = (pid_t)bench_number(optarg, 1, INT32_MAX);
			break;
		case 'r':
			rate = (double)bench_number(optarg, 1, 100000);
			break;
		case 'd':
			seconds = strtod(optarg, NULL);
			break;
		case 't':
			parse_tids(&floor, optarg);
			break;
		case 'm':
			floor.stop_movers = floor.watch_others = true;
			break;
		case 's':
			floor.watch_others = true;
			break;
		default:
			return 64;
		}
	}
	if (floor.pid == 0)
		return 64;
	if (floor.watch_others)
		add_others(&floor);
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	run(&floor, rate, seconds);
	print_counts(&floor);
	return 0;
}
