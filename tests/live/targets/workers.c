/* SPDX-License-Identifier: MIT */
/*
 * workers.c - a server of four processes, as exports and reports of several processes show them:
 *
 *     "workers: parent"   waits for the test
 *     "workers: serve 1"  and "workers: serve 2": the thread of the process computes, and holds a
 *                         mutex in memory that both share for a part of that; the thread "flush"
 *                         sleeps
 *     "logger"            computes less, and sleeps
 *
 * The titles are written over the arguments, which must have 32 bytes at least. Behind "ready" it
 * says the ids of the processes, in this order. All end with the parent.
 */
#include <signal.h>
#include <sys/wait.h>

#include "target.h"

#define CHILDREN 3

struct shared {
	pthread_mutex_t mutex;
	unsigned long served;
};

static struct shared *shared;
static char *title;
static size_t title_size;
static int ready[2];

static void
set_title(const char *text)
{
	memset(title, 0, title_size);
	snprintf(title, title_size, "%s", text);
}

FRAME static void
compute(int rounds)
{
	for (int i = 0; i < rounds * 100000; i++)
		target_sink++;
	KEEP_FRAME();
}

FRAME static void
update_shared(void)
{
	pthread_mutex_lock(&shared->mutex);
	compute(20);
	shared->served++;
	pthread_mutex_unlock(&shared->mutex);
	KEEP_FRAME();
}

FRAME static void
serve(void)
{
	while (!target_over) {
		compute(20);
		update_shared();
	}
	KEEP_FRAME();
}

FRAME static void *
flush(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "flush");
	while (!target_over)
		pause();
	KEEP_FRAME();
	return NULL;
}

FRAME static void
write_log(void)
{
	while (!target_over) {
		compute(5);
		usleep(20000);
	}
	KEEP_FRAME();
}

static void
run_child(int number)
{
	pthread_t thread;
	char text[32];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	if (number == CHILDREN) {
		prctl(PR_SET_NAME, "logger");
		set_title("logger");
	} else {
		snprintf(text, sizeof(text), "workers: serve %d", number);
		set_title(text);
		if (pthread_create(&thread, NULL, flush, NULL) != 0)
			_exit(97);
	}
	if (write(ready[1], "r", 1) != 1)
		_exit(97);
	if (number == CHILDREN)
		write_log();
	else
		serve();
	_exit(0);
}

static void
make_shared(void)
{
	pthread_mutexattr_t attr;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		target_fail("mmap");
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared->mutex, &attr);
}

int
main(int argc, char **argv)
{
	char line[64], byte;
	int length;

	title = argv[0];
	title_size = (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) + 1 - argv[0]);
	length = snprintf(line, sizeof(line), "%d", (int)getpid());
	make_shared();
	if (pipe(ready) != 0)
		target_fail("pipe");
	for (int i = 1; i <= CHILDREN; i++) {
		const pid_t pid = fork();

		if (pid < 0)
			target_fail("fork");
		if (pid == 0)
			run_child(i);
		length += snprintf(line + length, sizeof(line) - (size_t)length, " %d", (int)pid);
		if (read(ready[0], &byte, 1) != 1)
			target_fail("a child");
	}
	set_title("workers: parent");
	target_ready();
	snprintf(line + length, sizeof(line) - (size_t)length, "\n");
	target_say(line);
	while (target_told())
		;
	_exit(0);
}
