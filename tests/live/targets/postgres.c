/* SPDX-License-Identifier: MIT */
/*
 * postgres.c - processes that say what they wait for as PostgreSQL's do: my_wait_event_info points
 * to the number of the event. The program must be linked with -rdynamic and be called "postgres".
 * Each process has the title of a backend, and writes "ready" before it sleeps.
 */
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include "target.h"

static uint32_t event;
/* The server's name for the variable. */
uint32_t *my_wait_event_info = &event;

static sem_t semaphore;

FRAME static void
ProcSleep(void)
{
	struct epoll_event none;

	epoll_wait(epoll_create1(0), &none, 1, -1);
	KEEP_FRAME();
}

FRAME static void
PGSemaphoreLock(void)
{
	sem_wait(&semaphore);
	KEEP_FRAME();
}

FRAME static void
ReadCommand(void)
{
	pause();
	KEEP_FRAME();
}

/* The numbers: src/include/utils/wait_event.h of PostgreSQL, and locktag.h and lwlocklist.h. */
static const struct backend {
	const char *title;
	uint32_t event;
	void (*sleep)(void);
} backends[] = {
	{ "postgres: app shop 10.0.0.7(40001) UPDATE waiting", 0x03000005, ProcSleep },
	{ "postgres: app shop 10.0.0.7(40002) UPDATE waiting", 0x03000004, ProcSleep },
	{ "postgres: app shop 10.0.0.8(40003) idle in transaction", 0x06000000, ReadCommand },
	{ "postgres: app shop [local] INSERT", 0x01000008, PGSemaphoreLock },
	/* No lock of any version; a lock's number while the process waits for something else. */
	{ "postgres: app shop [local] SELECT", 0x0100fff0, PGSemaphoreLock },
	{ "postgres: walwriter", 0x01000008, ReadCommand },
};
#define BACKENDS (sizeof(backends) / sizeof(backends[0]))

static void
be(const struct backend *backend)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	event = backend->event;
	puts("ready");
	fflush(stdout);
	backend->sleep();
}

int
main(int argc, char **argv)
{
	(void)argc;
	for (size_t i = 0; i < BACKENDS; i++)
		if (strcmp(argv[0], backends[i].title) == 0)
			be(&backends[i]);
	for (size_t i = 0; i < BACKENDS; i++) {
		const pid_t pid = fork();

		if (pid == 0) {
			execl(argv[0], backends[i].title, (char *)NULL);
			_exit(98);
		}
		if (pid < 0)
			target_fail("fork");
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
