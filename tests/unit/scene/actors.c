/* SPDX-License-Identifier: MIT */
/* actors.c - processes that act at a test's command; see the header. Each connects to a socket of
 * the test, and reads commands from this connection. */
#include "actors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wallsample/base/base.h"

/* The first argument of an actor that was executed; the second is the id in the socket's name. */
#define ACTOR_ARGUMENT "actor"

enum command {
	FORK,
	NEW_SESSION,
	SET_GROUP,
	SET_NAME,
	EXEC,
	START_THREAD,
	RUN_THREADS,
	USE_CPU,
	EXIT,
	END
};

struct message {
	enum command command;
	unsigned number;
	char text[128], word[64];
};

/* In the test: the socket on which it listens, and the connection of the first actor. */
static int listener;
static struct actor first;

/* --- actors ---------------------------------------------------------------------------------- */

static socklen_t
socket_name(struct sockaddr_un *name, pid_t id)
{
	*name = (struct sockaddr_un){ .sun_family = AF_UNIX };
	/* An abstract name begins with a zero. */
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   (size_t)snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1,
					    "wallsample-actors-%d", (int)id));
}

static int
actor_connect(pid_t id)
{
	const pid_t own = getpid();
	struct sockaddr_un name;
	const socklen_t length = socket_name(&name, id);
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&name, length) != 0 ||
	    send(fd, &own, sizeof(own), MSG_NOSIGNAL) != sizeof(own))
		_exit(1);
	return fd;
}

static void *
sleep_for_ever(void *context)
{
	for (;;)
		pause();
	return context;
}

static void *
end_at_once(void *context)
{
	return context;
}

static void
run_threads(unsigned n)
{
	pthread_t thread;

	while (n-- > 0)
		if (pthread_create(&thread, NULL, end_at_once, NULL) != 0 ||
		    pthread_join(thread, NULL) != 0)
			_exit(1);
}

static void
use_cpu(unsigned ms)
{
	const uint64_t end = clock_own_cpu_ns() + ms * NS_PER_MS;

	while (clock_own_cpu_ns() < end)
		continue;
}

static void
act_exec(const struct message *message, pid_t id)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", (int)id);
	execl(message->text, message->word, ACTOR_ARGUMENT, number, (char *)NULL);
	_exit(1);
}

/* Does what the message says. Returns the connection of the process: a fork has its own. */
static int
act(int fd, const struct message *message, pid_t id)
{
	pthread_t thread;

	switch (message->command) {
	case FORK:
		if (fork() == 0) {
			close(fd);
			return actor_connect(id);
		}
		break;
	case NEW_SESSION:
		setsid();
		break;
	case SET_GROUP:
		setpgid(0, (pid_t)message->number);
		break;
	case SET_NAME:
		prctl(PR_SET_NAME, message->text);
		break;
	case EXEC:
		act_exec(message, id);
		break;
	case START_THREAD:
		pthread_create(&thread, NULL, sleep_for_ever, NULL);
		break;
	case RUN_THREADS:
		run_threads(message->number);
		break;
	case USE_CPU:
		use_cpu(message->number);
		break;
	case EXIT:
		_exit(0);
	case END:
		signal(SIGCHLD, SIG_DFL);
		break;
	}
	if (send(fd, "", 1, MSG_NOSIGNAL) != 1)
		_exit(1);
	return fd;
}

/* Serves until the test closes the connection, or ends. */
static void
actor_serve(int fd, pid_t id)
{
	struct message message;

	while (recv(fd, &message, sizeof(message), 0) == sizeof(message))
		fd = act(fd, &message, id);
	close(fd);
}

/* --- in the test ----------------------------------------------------------------------------- */

static struct actor
actor_accept(void)
{
	struct actor actor = { .fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC) };

	assert_true(actor.fd >= 0);
	assert_int_equal(recv(actor.fd, &actor.pid, sizeof(actor.pid), 0), sizeof(actor.pid));
	return actor;
}

static void
actor_send(const struct actor *actor, const struct message *message)
{
	assert_int_equal(send(actor->fd, message, sizeof(*message), MSG_NOSIGNAL),
			 sizeof(*message));
}

static void
actor_do(const struct actor *actor, const struct message *message)
{
	char byte;

	actor_send(actor, message);
	assert_int_equal(recv(actor->fd, &byte, 1, 0), 1);
}

const struct actor *
actors_first(void)
{
	return &first;
}

struct actor
actor_fork(const struct actor *parent)
{
	actor_do(parent, &(struct message){ .command = FORK });
	return actor_accept();
}

void
actor_new_session(const struct actor *actor)
{
	actor_do(actor, &(struct message){ .command = NEW_SESSION });
}

void
actor_set_group(const struct actor *actor, pid_t group)
{
	actor_do(actor, &(struct message){ .command = SET_GROUP, .number = (unsigned)group });
}

void
actor_set_name(const struct actor *actor, const char *name)
{
	struct message message = { .command = SET_NAME };

	snprintf(message.text, sizeof(message.text), "%s", name);
	actor_do(actor, &message);
}

void
actor_exec(struct actor *actor, const char *path, const char *word)
{
	struct message message = { .command = EXEC };
	char own[512];
	const ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	const pid_t pid = actor->pid;

	assert_true(length > 0);
	own[length] = '\0';
	unlink(path);
	assert_int_equal(symlink(own, path), 0);
	snprintf(message.text, sizeof(message.text), "%s", path);
	snprintf(message.word, sizeof(message.word), "%s", word);
	actor_send(actor, &message);
	close(actor->fd);
	*actor = actor_accept();
	assert_int_equal(actor->pid, pid);
	assert_int_equal(unlink(path), 0);
}

void
actor_start_thread(const struct actor *actor)
{
	actor_do(actor, &(struct message){ .command = START_THREAD });
}

void
actor_run_threads(const struct actor *actor, unsigned n)
{
	actor_do(actor, &(struct message){ .command = RUN_THREADS, .number = n });
}

void
actor_use_cpu(const struct actor *actor, unsigned ms)
{
	actor_do(actor, &(struct message){ .command = USE_CPU, .number = ms });
}

void
actor_exit(struct actor *actor)
{
	actor_send(actor, &(struct message){ .command = EXIT });
	/* The alarm of the test bounds this loop. */
	while (kill(actor->pid, 0) == 0 || errno != ESRCH)
		sched_yield();
	close(actor->fd);
	actor->fd = -1;
}

/* --- main ------------------------------------------------------------------------------------ */

static int
serve_tests(int (*tests)(void))
{
	int status;

	first = actor_accept();
	status = tests();
	actor_do(&first, &(struct message){ .command = END });
	return status;
}

int
actors_main(int argc, char **argv, int (*tests)(void))
{
	const pid_t own = getpid();
	struct sockaddr_un name;
	socklen_t length;
	int status = 0, fd;
	pid_t test;

	if (argc == 3 && strcmp(argv[1], ACTOR_ARGUMENT) == 0) {
		const pid_t id = (pid_t)strtol(argv[2], NULL, 10);

		actor_serve(actor_connect(id), id);
		_exit(0);
	}
	length = socket_name(&name, own);
	listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&name, length) != 0 || listen(listener, 64) != 0)
		return 99;
	test = fork();
	if (test == 0)
		exit(serve_tests(tests));
	close(listener);
	fd = actor_connect(own);
	/* The kernel reaps ended actors, until the test has sent END. */
	signal(SIGCHLD, SIG_IGN);
	actor_serve(fd, own);
	if (getpid() != own)
		_exit(0);
	if (waitpid(test, &status, 0) != test)
		return 99;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}
