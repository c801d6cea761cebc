/* SPDX-License-Identifier: MIT */
/*
 * actor.c - a process in a wanted situation, which it announces by one line on
 * stdout. It ends with the shell that started it.
 *
 *   actor park          one thread that waits
 *   actor busy          one thread that computes
 *   actor thread        a second thread "second"; the line is its id
 *   actor zombie        a child that has exited; the line is its id
 *   actor seize PID     traces a process, which runs on
 *   actor undumpable    has asked not to be traced
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

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
act_park(const char *argument)
{
	(void)argument;
	announce(getpid());
	wait_forever();
}

static void
act_busy(const char *argument)
{
	volatile unsigned long count = 0;

	(void)argument;
	announce(getpid());
	for (;;)
		count = count + 1;
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
act_thread(const char *argument)
{
	pthread_t thread;

	(void)argument;
	if (pthread_create(&thread, NULL, second_thread, NULL) == 0)
		wait_forever();
}

static void
act_zombie(const char *argument)
{
	siginfo_t info;
	pid_t child = fork();

	(void)argument;
	if (child == 0)
		_exit(0);
	if (child > 0 && waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) == 0) {
		announce(child);
		wait_forever();
	}
}

static void
act_seize(const char *argument)
{
	long pid = argument != NULL ? strtol(argument, NULL, 10) : 0;

	if (ptrace(PTRACE_SEIZE, (pid_t)pid, NULL, NULL) == 0) {
		announce(getpid());
		wait_forever();
	}
	fprintf(stderr, "actor: cannot seize %ld: %s\n", pid, strerror(errno));
}

static void
act_undumpable(const char *argument)
{
	(void)argument;
	if (prctl(PR_SET_DUMPABLE, 0) == 0) {
		announce(getpid());
		wait_forever();
	}
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*act)(const char *argument);
	} acts[] = {
		{ "park", act_park },     { "busy", act_busy },   { "thread", act_thread },
		{ "zombie", act_zombie }, { "seize", act_seize }, { "undumpable", act_undumpable },
	};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; argc > 1 && i < sizeof(acts) / sizeof(acts[0]); i++)
		if (strcmp(argv[1], acts[i].name) == 0)
			acts[i].act(argv[2]);
	fprintf(stderr, "usage: actor park|busy|thread|zombie|seize PID|undumpable\n");
	return 99;
}
