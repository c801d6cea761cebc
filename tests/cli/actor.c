/* SPDX-License-Identifier: MIT */
/*
 * actor.c - a process in a wanted situation, which it announces by one line on
 * stdout. It ends with the shell that started it.
 *
 *   actor park          one thread that waits
 *   actor busy          one thread that computes
 *   actor thread        a second thread "second"; the line is its id
 *   actor rename        the same; at SIGUSR1 it takes the name "renamed" and is busy
 *   actor noise         threads "noise-1" and "noise-2" that compute, the first one waits; the line
 *                       is their ids
 *   actor zombie        a child that has exited; the line is its id
 *   actor seize PID     traces a process, which runs on; status 77: it may not
 *   actor undumpable    has asked not to be traced
 *   actor crowd N       N threads "crowd" that wait in the same place; the line comes then
 *   actor grow N        one thread that waits; at SIGUSR1, the threads of "actor crowd N"
 *   actor together N    N threads that sleep together for the first 0.4 s of each second, and
 *                       wait for a semaphore in the rest of it
 *   actor naps A B TIME sleeps A ms in nap_first, then B ms in nap_second, and so on for
 *                       TIME ms; the line comes then: how many ns it was in each
 *
 * And one that is no process to sample:
 *
 *   actor terminal COLUMNS COMMAND…
 *                       runs a command whose stderr is a terminal of that width
 *                       and copies what it writes there to its own stderr
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * For the leak checker of a build with sanitizers: it stops its own process with ptrace
 * when that exits, which fails where a sampler has the thread just then, and ends it
 * before its output is written.
 */
int __lsan_is_turned_off(void);

int
__lsan_is_turned_off(void)
{
	return 1;
}

static void
announce(long number)
{
	printf("%ld\n", number);
	fflush(stdout);
	/* whoever waits for the end of our output need not wait for ours */
	close(STDOUT_FILENO);
}

static void
wait_forever(void)
{
	for (;;)
		pause();
}

static void
act_park(char **arguments)
{
	(void)arguments;
	announce(getpid());
	wait_forever();
}

static void
compute_forever(void)
{
	volatile unsigned long count = 0;

	for (;;)
		count = count + 1;
}

static void
act_busy(char **arguments)
{
	(void)arguments;
	announce(getpid());
	compute_forever();
}

static void *
second_thread(void *argument)
{
	(void)argument;
	prctl(PR_SET_NAME, "second");
	announce(syscall(SYS_gettid));
	wait_forever();
	return NULL;
}

static void
act_thread(char **arguments)
{
	pthread_t thread;

	(void)arguments;
	if (pthread_create(&thread, NULL, second_thread, NULL) == 0)
		wait_forever();
}

static void *
renamed_thread(void *signals)
{
	int signo;

	prctl(PR_SET_NAME, "second");
	announce(syscall(SYS_gettid));
	sigwait(signals, &signo);
	prctl(PR_SET_NAME, "renamed");
	compute_forever();
	return NULL;
}

static void
act_rename(char **arguments)
{
	pthread_t thread;
	sigset_t signals;

	(void)arguments;
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	/* blocked in both: it is for sigwait alone */
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	if (pthread_create(&thread, NULL, renamed_thread, &signals) == 0)
		wait_forever();
}

static pid_t noise_tid[2];

static void *
noise_thread(void *number)
{
	char name[16];

	snprintf(name, sizeof(name), "noise-%d", *(int *)number);
	prctl(PR_SET_NAME, name);
	__atomic_store_n(&noise_tid[*(int *)number - 1], (pid_t)syscall(SYS_gettid),
			 __ATOMIC_RELEASE);
	compute_forever();
	return NULL;
}

static void
act_noise(char **arguments)
{
	static int numbers[2] = { 1, 2 };
	pthread_t thread;

	(void)arguments;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread, NULL, noise_thread, &numbers[i]) != 0)
			return;
	for (int i = 0; i < 2; i++)
		while (__atomic_load_n(&noise_tid[i], __ATOMIC_ACQUIRE) == 0)
			sched_yield();
	printf("%d %d\n", (int)noise_tid[0], (int)noise_tid[1]);
	fflush(stdout);
	close(STDOUT_FILENO);
	wait_forever();
}

static void
act_zombie(char **arguments)
{
	siginfo_t info;
	pid_t child = fork();

	(void)arguments;
	if (child == 0)
		_exit(0);
	if (child > 0 && waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) == 0) {
		announce(child);
		wait_forever();
	}
}

static void
act_seize(char **arguments)
{
	long pid = arguments[0] != NULL ? strtol(arguments[0], NULL, 10) : 0;

	if (ptrace(PTRACE_SEIZE, (pid_t)pid, NULL, NULL) == 0) {
		announce(getpid());
		wait_forever();
	}
	fprintf(stderr, "actor: cannot seize %ld: %s\n", pid, strerror(errno));
	_exit(77);
}

static void
act_undumpable(char **arguments)
{
	(void)arguments;
	if (prctl(PR_SET_DUMPABLE, 0) == 0) {
		announce(getpid());
		wait_forever();
	}
}

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static volatile int napped; /* the naps are no tail calls, and no two are the same code */

__attribute__((noinline)) static void
nap_first(useconds_t us)
{
	usleep(us);
	napped = 1;
}

__attribute__((noinline)) static void
nap_second(useconds_t us)
{
	usleep(us);
	napped = 2;
}

static void
act_naps(char **arguments)
{
	const useconds_t first = (useconds_t)strtoul(arguments[0], NULL, 10) * 1000;
	const useconds_t second = (useconds_t)strtoul(arguments[1], NULL, 10) * 1000;
	const uint64_t end = now_ns() + strtoul(arguments[2], NULL, 10) * 1000000;
	uint64_t in_first = 0, in_second = 0, since = now_ns(), middle;

	while (since < end) {
		nap_first(first);
		middle = now_ns();
		nap_second(second);
		in_first += middle - since;
		since = now_ns();
		in_second += since - middle;
	}
	printf("%llu %llu\n", (unsigned long long)in_first, (unsigned long long)in_second);
	exit(0);
}

static pthread_barrier_t crowd_is_there;

static void *
be_in_crowd(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "crowd");
	pthread_barrier_wait(&crowd_is_there);
	wait_forever();
	return NULL;
}

/* Asleep, and no longer before the barrier, as far as /proc says. */
static bool
is_in_place(const char *tid)
{
	char path[64], text[16] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/syscall", tid);
	file = fopen(path, "re");
	if (file == NULL || fgets(text, sizeof(text), file) == NULL)
		text[0] = '\0';
	if (file != NULL)
		fclose(file);
	return isdigit((unsigned char)text[0]) && strtol(text, NULL, 10) != SYS_futex;
}

/* Are all in their place, but the one that asks? */
static bool
crowd_sleeps(unsigned long count)
{
	DIR *folder = opendir("/proc/self/task");
	struct dirent *entry;

	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		const long tid = strtol(entry->d_name, NULL, 10);

		/* not of "." and "..", which is the first thread's, who is at work here */
		count -= tid > 0 && tid != getpid() && is_in_place(entry->d_name);
	}
	closedir(folder);
	return count == 0;
}

static void
make_crowd(unsigned long count)
{
	pthread_barrier_init(&crowd_is_there, NULL, (unsigned)count + 1);
	for (unsigned long i = 0; i < count; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, be_in_crowd, NULL) != 0)
			_exit(98);
	}
	pthread_barrier_wait(&crowd_is_there);
	while (!crowd_sleeps(count))
		sched_yield();
}

static void
act_crowd(char **arguments)
{
	make_crowd(strtoul(arguments[0], NULL, 10));
	announce(getpid());
	for (;;)
		sleep(1000);
}

static void
act_grow(char **arguments)
{
	sigset_t signals;
	int number;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	announce(getpid());
	sigwait(&signals, &number);
	make_crowd(strtoul(arguments[0], NULL, 10));
	for (;;)
		sleep(1000);
}

static void *
be_together(void *never)
{
	for (;;) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec = 400000000;
		clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL);
		until.tv_sec++;
		until.tv_nsec = 0;
		sem_timedwait(never, &until);
	}
	return NULL;
}

static void
act_together(char **arguments)
{
	static sem_t never;

	for (unsigned long i = strtoul(arguments[0], NULL, 10); i > 0; i--) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, be_together, &never) != 0)
			_exit(98);
	}
	announce(getpid());
	for (;;)
		pause();
}

/* The other end of a terminal reads as EIO when nobody has it open any more. */
static void
copy_terminal(int master)
{
	char text[4096];
	ssize_t got;

	while ((got = read(master, text, sizeof(text))) > 0)
		if (write(STDERR_FILENO, text, (size_t)got) != got)
			return;
}

static void
act_terminal(char **arguments)
{
	struct winsize size = { .ws_row = 24 };
	int master = posix_openpt(O_RDWR | O_NOCTTY), status;
	pid_t child;

	if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0 || arguments[0] == NULL)
		_exit(98);
	size.ws_col = (unsigned short)strtoul(arguments[0], NULL, 10);
	ioctl(master, TIOCSWINSZ, &size);
	child = fork();
	if (child == 0) {
		setsid();
		/* the first terminal that a leader of a session opens becomes its own */
		dup2(open(ptsname(master), O_RDWR), STDERR_FILENO);
		close(master);
		execvp(arguments[1], arguments + 1);
		_exit(98);
	}
	copy_terminal(master);
	waitpid(child, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 97);
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*act)(char **arguments);
	} acts[] = {
		{ "park", act_park },     { "busy", act_busy },   { "thread", act_thread },
		{ "zombie", act_zombie }, { "seize", act_seize }, { "undumpable", act_undumpable },
		{ "terminal", act_terminal }, { "rename", act_rename },
		{ "crowd", act_crowd },   { "together", act_together },
		{ "naps", act_naps },     { "noise", act_noise },
		{ "grow", act_grow },
	};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Yama's scope 1 would let only our ancestors sample us */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	for (size_t i = 0; argc > 1 && i < sizeof(acts) / sizeof(acts[0]); i++)
		if (strcmp(argv[1], acts[i].name) == 0)
			acts[i].act(argv + 2);
	fprintf(stderr, "actor: see the head of actor.c\n");
	return 99;
}
