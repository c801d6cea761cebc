/* SPDX-License-Identifier: MIT */
/*
 * peers.c - processes that wait for one another. The argument says how; the first line is "ready"
 * when all are in place, and the second one has the name and id of each process.
 *
 * pipe, unix, tcp   client asks server, which sleeps in prepare_reply before each reply
 * chain             client asks middle, which asks backend, which sleeps in prepare_reply
 * lock              client asks server, which waits for a mutex that keeper has in keep_lock
 * child             parent waits for child, which sleeps in work_child
 * idle              client and server both wait for the other to write on one connection
 * stuck             left and right write to each other's full pipe, and nobody reads
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "target.h"

#define REPLY_NS 50000000L
#define MEMBERS_MOST 4

static struct member {
	const char *name;
	void (*run)(void);
	pid_t pid;
} member[MEMBERS_MOST];
static int members;

/* The ends of what the members talk over: [0] is the asking end, of a pipe the one that is written
 * to. With pipes back_a leads from the server to the client. */
static int link_a[2] = { -1, -1 }, link_b[2] = { -1, -1 }, back_a[2] = { -1, -1 };
static bool by_pipe;
static pthread_mutex_t *mutex;

FRAME static void
prepare_reply(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = REPLY_NS }, NULL);
	KEEP_FRAME();
}

FRAME static void
ask(int to, int from)
{
	char byte = 'q';

	if (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1)
		_exit(1);
	KEEP_FRAME();
}

static void
answer(int from, int to, void (*prepare)(void))
{
	char byte;

	while (read(from, &byte, 1) == 1) {
		prepare();
		if (write(to, &byte, 1) != 1)
			return;
	}
}

static void
client(void)
{
	close(link_a[1]);
	close(link_b[0]);
	close(link_b[1]);
	if (by_pipe)
		close(back_a[0]);
	while (!target_over)
		ask(link_a[0], by_pipe ? back_a[1] : link_a[0]);
}

static void
server(void)
{
	close(link_a[0]);
	if (by_pipe)
		close(back_a[1]);
	answer(link_a[1], by_pipe ? back_a[0] : link_a[1], prepare_reply);
}

FRAME static void
ask_backend(void)
{
	ask(link_b[0], link_b[0]);
	KEEP_FRAME();
}

static void
middle(void)
{
	close(link_a[0]);
	close(link_b[1]);
	answer(link_a[1], link_a[1], ask_backend);
}

static void
backend(void)
{
	close(link_a[0]);
	close(link_a[1]);
	close(link_b[0]);
	answer(link_b[1], link_b[1], prepare_reply);
}

FRAME static void
take_lock(void)
{
	pthread_mutex_lock(mutex);
	KEEP_FRAME();
}

static void
locker(void)
{
	close(link_a[0]);
	answer(link_a[1], link_a[1], take_lock);
}

FRAME static void
keep_lock(void)
{
	while (!target_over)
		pause();
	KEEP_FRAME();
}

static void
keeper(void)
{
	close(link_a[0]);
	close(link_a[1]);
	pthread_mutex_lock(mutex);
	keep_lock();
}

FRAME static void
work_child(void)
{
	while (!target_over)
		pause();
	KEEP_FRAME();
}

static void
child(void)
{
	prctl(PR_SET_NAME, "child");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	work_child();
}

FRAME static void
reap(void)
{
	waitpid(-1, NULL, 0);
	KEEP_FRAME();
}

static void
parent(void)
{
	if (fork() == 0)
		child();
	reap();
}

FRAME static void
await(void)
{
	char byte;

	if (read(link_a[0], &byte, 1) != 1)
		_exit(1);
	KEEP_FRAME();
}

static void
idle_client(void)
{
	close(link_a[1]);
	await();
}

FRAME static void
write_all(int fd)
{
	static const char block[4096];

	while (write(fd, block, sizeof(block)) > 0)
		;
	KEEP_FRAME();
}

static void
left(void)
{
	close(link_a[1]);
	close(link_b[0]);
	write_all(link_a[0]);
}

static void
right(void)
{
	close(link_a[0]);
	close(link_b[1]);
	write_all(link_b[0]);
}

static void
make_pipe(int ends[2])
{
	int way[2];

	if (pipe(way) != 0)
		target_fail("pipe");
	ends[0] = way[1];
	ends[1] = way[0];
}

static void
make_pair(int ends[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		target_fail("socketpair");
}

static void
make_tcp(int ends[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (listener < 0 || ends[0] < 0 ||
	    bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 1) != 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &size) != 0 ||
	    connect(ends[0], (struct sockaddr *)&address, size) != 0)
		target_fail("tcp");
	ends[1] = accept(listener, NULL, NULL);
	if (ends[1] < 0)
		target_fail("accept");
	close(listener);
}

static void
make_mutex(void)
{
	pthread_mutexattr_t attr;

	mutex = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (mutex == MAP_FAILED)
		target_fail("mmap");
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(mutex, &attr);
}

static void
add(const char *name, void (*run)(void))
{
	member[members++] = (struct member){ .name = name, .run = run };
}

static void
plan(const char *how)
{
	by_pipe = strcmp(how, "pipe") == 0;
	if (by_pipe) {
		make_pipe(link_a);
		make_pipe(back_a);
	} else if (strcmp(how, "tcp") == 0) {
		make_tcp(link_a);
	} else if (strcmp(how, "stuck") == 0) {
		make_pipe(link_a);
		make_pipe(link_b);
	} else if (strcmp(how, "child") != 0) {
		make_pair(link_a);
	}
	if (strcmp(how, "chain") == 0) {
		make_pair(link_b);
		add("client", client);
		add("middle", middle);
		add("backend", backend);
	} else if (strcmp(how, "lock") == 0) {
		make_mutex();
		add("keeper", keeper);
		add("client", client);
		add("server", locker);
	} else if (strcmp(how, "child") == 0) {
		add("parent", parent);
	} else if (strcmp(how, "stuck") == 0) {
		add("left", left);
		add("right", right);
	} else {
		add("client", strcmp(how, "idle") == 0 ? idle_client : client);
		add("server", server);
	}
}

static void
start(struct member *one)
{
	one->pid = fork();
	if (one->pid < 0)
		target_fail("fork");
	if (one->pid > 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, one->name);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	one->run();
	_exit(0);
}

/* The first thread of another process, in the same way as target_is_asleep. */
static bool
member_is_asleep(pid_t pid)
{
	char path[64], text[256];
	ssize_t size = -1;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		size = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	return size > 0 && text[0] >= '0' && text[0] <= '9';
}

int
main(int argc, char **argv)
{
	plan(argc > 1 ? argv[1] : "pipe");
	for (int i = 0; i < members; i++) {
		start(&member[i]);
		/* A keeper must have the mutex before another process asks for it. */
		while (!member_is_asleep(member[i].pid))
			sched_yield();
	}
	for (int end = 0; end < 2; end++) {
		close(link_a[end]);
		close(link_b[end]);
		close(back_a[end]);
	}
	target_ready();
	for (int i = 0; i < members; i++) {
		char line[64];

		snprintf(line, sizeof(line), "%s%s=%d%s", i > 0 ? " " : "", member[i].name,
			 (int)member[i].pid, i + 1 == members ? "\n" : "");
		target_say(line);
	}
	while (target_told())
		;
	_exit(0);
}
