/* SPDX-License-Identifier: MIT */
/*
 * counted.c MODE - calls a function, and counts how often.
 *
 * Counter 0 is how often `counted` was run, 1 how often `other` was; 8 and 9 are their addresses.
 * Counter 2 is one more after each piece of work, 3 how much has gone wrong, 4 how often the
 * program's own handlers have run.
 *
 * Modes: see the table. A piece of work is done for each line of the test's.
 */
#include <signal.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "target.h"

#define THREADS 4
#define CALLS 25000
#define YOUNG 250
#define YOUNG_CALLS 20
#define CHILDREN 20

static struct target_counters *counters;
static struct target_thread workers[THREADS];

static FRAME void
counted(void)
{
	counters->value[0]++;
	KEEP_FRAME();
}

static FRAME void
other(void)
{
	counters->value[1]++;
	KEEP_FRAME();
}

static void *
call_many(void *arg)
{
	const int calls = *(const int *)arg;

	for (int i = 0; i < calls; i++) {
		counted();
		if (i % 100 == 0)
			other();
	}
	return NULL;
}

static void
run_threads(int threads, int calls)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, call_many, &calls) != 0)
			target_fail("pthread_create");
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
}

static void
busy(void)
{
	run_threads(THREADS, CALLS);
}

/* Threads that come and go. */
static void
churn(void)
{
	for (int i = 0; i < YOUNG; i++)
		run_threads(THREADS, YOUNG_CALLS);
}

static void
on_alarm(int signo)
{
	(void)signo;
	counters->value[4]++;
	counted();
}

/* Signals with a handler that calls the function, too; and one that is ignored. */
static void
handler(void)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	const struct itimerval often = { .it_interval = { .tv_usec = 300 },
					 .it_value = { .tv_usec = 300 } };
	const struct itimerval never = { .it_value = { 0 } };

	sigaction(SIGALRM, &action, NULL);
	signal(SIGUSR1, SIG_IGN);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < CALLS; i++) {
		counted();
		if (i % 50 == 0)
			kill(getpid(), SIGUSR1);
	}
	setitimer(ITIMER_REAL, &never, NULL);
}

/* Its children run the function, too, and are no affair of the tracer. */
static void
forks(void)
{
	for (int i = 0; i < CHILDREN; i++) {
		/* One without an exit signal is a clone to the tracer. */
		pid_t child = i % 2 == 0 ? fork()
					 : (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
		int status;

		if (child == 0) {
			for (int k = 0; k < 100; k++)
				counted();
			_exit(7);
		}
		counters->value[5] += 100; /* not ours */
		if (waitpid(child, &status, __WALL) != child || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != 7)
			counters->value[3]++;
		counted();
	}
}

static void
on_trap(int signo)
{
	(void)signo;
	counters->value[4]++;
}

static void
own_trap(void)
{
	struct sigaction action = { .sa_handler = on_trap };

	sigaction(SIGTRAP, &action, NULL);
	for (int i = 0; i < 200; i++) {
		counted();
		raise(SIGTRAP);
#ifdef __x86_64__
		__asm__ volatile("int3");
#else
		raise(SIGTRAP);
#endif
		other();
	}
}

#ifdef __x86_64__
/*
 * The thread sends itself the signal of a breakpoint whose exception has no status: SIGTRAP with
 * TRAP_BRKPT and the address of the next instruction, after_signal. (The instruction int1 causes
 * it, too, but on virtual machines on some AMD processors its exception has the address of int1
 * itself, so that int1 is executed again and again.)
 */
void signal_before(pid_t pid, pid_t tid, const siginfo_t *info, _Atomic uint64_t *count);
extern const char after_signal[];
__asm__(".text\n"
	".type signal_before, @function\n"
	"signal_before: movq %rcx, %r8\n"
	"movq %rdx, %r10\n"
	"movl $5, %edx\n"    /* SIGTRAP */
	"movl $297, %eax\n"  /* rt_tgsigqueueinfo(2) */
	"syscall\n"
	"after_signal: incq (%r8)\n"
	"ret\n"
	".size signal_before, . - signal_before\n");

static void
no_status(void)
{
	struct sigaction action = { .sa_handler = on_trap };
	siginfo_t info = { .si_signo = SIGTRAP, .si_code = TRAP_BRKPT };

	info.si_addr = (void *)(uintptr_t)after_signal;
	sigaction(SIGTRAP, &action, NULL);
	for (int i = 0; i < 200; i++) {
		signal_before(getpid(), gettid(), &info, &counters->value[0]);
		other();
	}
}
#endif

static void
become_another(void)
{
	for (int i = 0; i < 10; i++)
		counted();
	counters->value[2]++;
	execl("/proc/self/exe", "counted", "after", (char *)NULL);
	target_fail("execl");
}

/* Forever, a call every now and then. */
static void
worker(void)
{
	const struct timespec moment = { .tv_nsec = 20000 };

	target_here();
	while (!target_over) {
		counted();
		counters->value[16 + (target_self - workers)]++;
		nanosleep(&moment, NULL);
	}
}

static void
more(void)
{
	for (int i = 0; i < 1000; i++)
		counted();
}

/* Waits that a stop would cut short: each of them has to last. */
static void
waits(void)
{
	struct epoll_event event;
	int fd = epoll_create1(EPOLL_CLOEXEC);

	for (int i = 0; i < 500; i++) {
		counted();
		if (epoll_wait(fd, &event, 1, 1) != 0)
			counters->value[3]++;
	}
	close(fd);
}

static const struct {
	const char *name;
	void (*work)(void);
	bool has_workers;
} modes[] = {
	{ "busy", busy, false },
	{ "churn", churn, false },
	{ "handler", handler, false },
	{ "forks", forks, false },
	{ "trap", own_trap, false },
#ifdef __x86_64__
	{ "no status", no_status, false },
#endif
	{ "exec", become_another, true },
	{ "after", more, false },
	{ "workers", more, true },
	{ "waits", waits, false },
};

int
main(int argc, char **argv)
{
	/* In a group without a parent in its session, as a test that runs in the background may be,
	 * the kernel ignores SIGTSTP. */
	setpgid(0, 0);
	counters = target_counters();
	counters->value[8] = (uint64_t)(uintptr_t)counted;
	counters->value[9] = (uint64_t)(uintptr_t)other;
#ifdef __x86_64__
	if (argc > 1 && strcmp(argv[1], "no status") == 0)
		counters->value[8] = (uint64_t)(uintptr_t)after_signal;
#endif
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (argc < 2 || strcmp(argv[1], modes[i].name) != 0)
			continue;
		for (size_t k = 0; modes[i].has_workers && k < THREADS; k++)
			workers[k] = (struct target_thread){ .name = "worker", .run = worker };
		target_start(workers, modes[i].has_workers ? THREADS : 0, 0);
		target_wait(workers, modes[i].has_workers ? THREADS : 0);
		target_ready();
		while (target_told()) {
			modes[i].work();
			counters->value[2]++;
		}
		_exit(0);
	}
	return 64;
}
