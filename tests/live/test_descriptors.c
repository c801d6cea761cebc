/* SPDX-License-Identifier: MIT */
/*
 * test_descriptors.c - what is said of a process's descriptors is what they are: of each kind,
 * with the process at the other end, in other namespaces, and when they change meanwhile.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wait/descriptor_internal.h"
#include "harness.h"
#include "wallsample/wait/descriptor.h"

#define NOBODY 65534
#define MANY 300

static const char *const kind_names[] = {
	[DESCRIPTOR_GONE] = "GONE",         [DESCRIPTOR_FILE] = "FILE",
	[DESCRIPTOR_DIRECTORY] = "DIRECTORY", [DESCRIPTOR_PIPE] = "PIPE",
	[DESCRIPTOR_TERMINAL] = "TERMINAL", [DESCRIPTOR_DEVICE] = "DEVICE",
	[DESCRIPTOR_SOCKET] = "SOCKET",     [DESCRIPTOR_EVENTFD] = "EVENTFD",
	[DESCRIPTOR_TIMERFD] = "TIMERFD",   [DESCRIPTOR_SIGNALFD] = "SIGNALFD",
	[DESCRIPTOR_INOTIFY] = "INOTIFY",   [DESCRIPTOR_EPOLL] = "EPOLL",
	[DESCRIPTOR_IO_URING] = "IO_URING", [DESCRIPTOR_OTHER] = "OTHER",
};

/* --- what this machine lets us see ----------------------------------------------------- */

/* Does every link of this folder tell what it is, as long as it is there? */
static bool
reads_links(int folder)
{
	DIR *dir = fdopendir(folder);
	struct dirent *entry;
	char link[1];
	bool all = true;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.' &&
		    readlinkat(folder, entry->d_name, link, sizeof(link)) < 0)
			all &= errno == ENOENT;
	if (dir != NULL)
		closedir(dir);
	return all;
}

/* May the descriptors of all processes be looked at, and are all processes here? */
static bool
sees_everybody(void)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	struct stat st;
	bool all = dir != NULL && access("/proc/1", X_OK) == 0 &&
		   stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == 0xeffffffcu;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		char name[300];
		int fd;

		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		snprintf(name, sizeof(name), "/proc/%s/fd", entry->d_name);
		fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0)
			all &= reads_links(fd) || kill(atoi(entry->d_name), 0) != 0;
		else
			all &= errno == ENOENT || errno == ESRCH;
	}
	if (dir != NULL)
		closedir(dir);
	return all;
}

/* Is there a kernel that tells who is at the other end of a UNIX socket? */
static bool
knows_unix_peers(void)
{
	struct unix_socket socket;
	int ends[2], fd = unix_diag_open();
	struct stat st;
	bool answered;

	if (fd < 0)
		return false;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || fstat(ends[0], &st) != 0)
		harness_die("no pair of sockets");
	answered = unix_diag_ask(fd, st.st_ino, &socket) && socket.peer != 0;
	close(ends[0]);
	close(ends[1]);
	close(fd);
	return answered;
}

/* --- looks ----------------------------------------------------------------------------- */

static struct endpoints *endpoints; /* of the open descriptors */

static struct descriptors *
open_descriptors(pid_t pid, struct process **process)
{
	struct error err;

	if (process_open(pid, process, &err) != 0)
		harness_die("%s", err.text);
	endpoints = endpoints_create();
	return descriptors_create(*process, endpoints);
}

static void
close_descriptors(struct descriptors *descriptors, struct process *process)
{
	descriptors_free(descriptors);
	endpoints_free(endpoints);
	process_free(process);
}

/* The text, in which one "*" stands for anything. */
static bool
is_like(const char *text, const char *pattern)
{
	const char *star = strchr(pattern, '*');
	size_t before = star != NULL ? (size_t)(star - pattern) : 0;
	size_t behind = star != NULL ? strlen(star + 1) : 0;

	if (star == NULL)
		return strcmp(text, pattern) == 0;
	return strlen(text) >= before + behind && strncmp(text, pattern, before) == 0 &&
	       strcmp(text + strlen(text) - behind, star + 1) == 0;
}

/* That nobody has an end of a pipe is said where everybody can be seen, and only there. */
static void
check_nobody(struct descriptors *descriptors, int fd, const char *text, bool everybody)
{
	struct strbuf out;
	const char *id;
	bool known;

	strbuf_init(&out);
	descriptor_look(descriptors, fd, &id);
	known = descriptor_describe(descriptors, fd, id, &out);
	CHECK(!known || strcmp(out.data, text) == 0, "%s is said to be %s", id, out.data);
	if (!known && everybody && sees_everybody())
		CHECK(false, "%s is not known", id);
	strbuf_release(&out);
}

/* Looks and describes; NULL for a text: nothing may be known. */
static void
check_text(struct descriptors *descriptors, int fd, enum descriptor_kind kind, const char *text)
{
	enum descriptor_kind found;
	struct strbuf out;
	const char *id;
	bool known;

	strbuf_init(&out);
	strbuf_add_text(&out, "<");
	found = descriptor_look(descriptors, fd, &id);
	CHECK(found == kind, "%d is said to be %s, is %s: %s", fd, kind_names[found],
	      kind_names[kind], id);
	known = descriptor_describe(descriptors, fd, id, &out);
	CHECK(known == (text != NULL), "%s is %sknown: %s", id, known ? "" : "not ",
	      text != NULL ? text : out.data);
	CHECK(is_like(out.data + 1, text != NULL ? text : ""), "%s is said to be \"%s\", is \"%s\"",
	      id, out.data + 1, text != NULL ? text : "");
	CHECK(out.data[0] == '<', "what was there is lost");
	strbuf_release(&out);
}

/* --- each kind ---------------------------------------------------------------------------- */

static enum descriptor_kind
kind_called(const char *name)
{
	for (size_t i = 0; i < sizeof(kind_names) / sizeof(kind_names[0]); i++)
		if (strcmp(kind_names[i], name) == 0)
			return (enum descriptor_kind)i;
	harness_die("the target knows a kind %s", name);
}

/* One line of the target: "FD KIND TEXT". */
static void
check_line(struct descriptors *descriptors, char *line, bool everybody, bool peers)
{
	char *kind = strchr(line, ' ');
	char *text = kind != NULL ? strchr(kind + 1, ' ') : NULL;

	if (text == NULL)
		harness_die("the target says %s", line);
	*kind++ = '\0';
	*text++ = '\0';
	harness_case("%s", text);
	if (strcmp(text, "pipe from nobody") == 0) {
		check_nobody(descriptors, atoi(line), text, everybody);
		return;
	}
	if (!peers && strncmp(text, "unix ", 5) == 0) {
		harness_skip("this kernel does not tell about UNIX sockets");
		return;
	}
	check_text(descriptors, atoi(line), kind_called(kind), text);
}

static void
remove_folder(const char *folder)
{
	static const char *const names[] = {
		"fifo", "lonely", "socket", "file with spaces", "pipe:[1]",
	};
	char path[4096];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
}

static void
every_kind(void)
{
	char folder[] = "/tmp/wallsample-XXXXXX";
	const bool everybody = sees_everybody(), peers = knows_unix_peers();
	struct descriptors *descriptors;
	struct process *process;
	struct target target;
	char line[1024];
	unsigned count = 0;

	if (mkdtemp(folder) == NULL)
		harness_die("no folder in /tmp");
	target_start(&target, "descriptors", folder, NULL);
	descriptors = open_descriptors(target.pid, &process);
	while (target_read_line(&target, line, sizeof(line)) && strcmp(line, "end") != 0) {
		check_line(descriptors, line, everybody, peers);
		count++;
	}
	harness_case("every line");
	CHECK(count >= 30, "the target has said %u lines only", count);
	check_text(descriptors, 9999, DESCRIPTOR_GONE, NULL);
	check_text(descriptors, -1, DESCRIPTOR_GONE, NULL);
	close_descriptors(descriptors, process);
	target_finish(&target, NULL);
	remove_folder(folder);
}

/* --- another user ---------------------------------------------------------------------------- */

static void
another_user(void)
{
	const pid_t root = getpid();
	int status, ends[2];
	pid_t pid;

	harness_case("another user's process");
	if (geteuid() != 0) {
		harness_skip("not root");
		return;
	}
	if (pipe(ends) != 0 || (pid = fork()) < 0)
		harness_die("no child");
	if (pid == 0) {
		struct strbuf out;
		struct process *process;
		struct descriptors *descriptors;
		struct error err;
		const char *id;
		int failed = 0;

		if (setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
		    setresuid(NOBODY, NOBODY, NOBODY) != 0)
			_exit(99);
		strbuf_init(&out);
		if (process_open(root, &process, &err) != 0)
			_exit(0); /* hidepid */
		endpoints = endpoints_create();
		descriptors = descriptors_create(process, endpoints);
		failed |= descriptor_look(descriptors, ends[0], &id) != DESCRIPTOR_GONE;
		failed |= id[0] != '\0';
		failed |= descriptor_describe(descriptors, ends[0], id, &out);
		failed |= descriptor_describe(descriptors, ends[0], "pipe:[1]", &out);
		failed |= descriptor_describe(descriptors, ends[0], "socket:[x", &out);
		failed |= out.length != 0;
		close_descriptors(descriptors, process);
		strbuf_release(&out);
		_exit(failed);
	}
	waitpid(pid, &status, 0);
	CHECK(status == 0, "status 0x%x", (unsigned)status);
	close(ends[0]);
	close(ends[1]);
}

/* --- change ---------------------------------------------------------------------------------- */

/* The id is of what was looked at, whatever has the number when it is described. */
static void
changes(void)
{
	struct descriptors *descriptors;
	struct process *process;
	struct strbuf out;
	char first[64];
	const char *id;
	int ends[2];

	harness_case("a number that another file gets");
	strbuf_init(&out);
	if (pipe(ends) != 0)
		harness_die("no pipe");
	descriptors = open_descriptors(getpid(), &process);
	descriptor_look(descriptors, ends[0], &id);
	snprintf(first, sizeof(first), "%s", id);
	if (dup2(eventfd(0, 0), ends[0]) < 0)
		harness_die("no eventfd");
	CHECK(!descriptor_describe(descriptors, ends[0], first, &out), "said: %s", out.data);
	check_text(descriptors, ends[0], DESCRIPTOR_EVENTFD, "eventfd");
	close(ends[0]);
	close(ends[1]);

	harness_case("a pipe that was described and is gone");
	if (pipe(ends) != 0)
		harness_die("no pipe");
	descriptor_look(descriptors, ends[0], &id);
	snprintf(first, sizeof(first), "%s", id);
	check_text(descriptors, ends[0], DESCRIPTOR_PIPE, "pipe from itself");
	close(ends[0]);
	close(ends[1]);
	CHECK(descriptor_describe(descriptors, ends[0], first, &out) &&
	      strcmp(out.data, "pipe from itself") == 0, "it is forgotten");
	strbuf_release(&out);
	close_descriptors(descriptors, process);
}

/* To ask about a large epoll would make the target wait. */
static void
many_descriptors(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(0), fd = eventfd(0, 0);
	struct descriptors *descriptors;
	struct process *process;
	struct rlimit limit;

	harness_case("an epoll of a process with many descriptors");
	descriptors = open_descriptors(getpid(), &process);
	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
	check_text(descriptors, epoll, DESCRIPTOR_EPOLL, "epoll of 1: eventfd");
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max < MANY + 100) {
		harness_skip("not so many can be open");
	} else {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
		for (int i = 0; i < MANY; i++)
			if (fcntl(fd, F_DUPFD, 100) < 0)
				harness_die("no descriptor");
		check_text(descriptors, epoll, DESCRIPTOR_EPOLL, "epoll");
		for (int i = 0; i < MANY + 100; i++)
			close(100 + i);
	}
	close_descriptors(descriptors, process);
	close(epoll);
	close(fd);
}

/* --- children with a life of their own ------------------------------------------------------- */

/* What one of them tells the test. */
struct told {
	int fd[4];
	pid_t pid;
};

static pid_t
start_child(void (*run)(int out), int *from)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends) != 0 || (pid = fork()) < 0)
		harness_die("no child");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[0]);
		run(ends[1]);
		_exit(0);
	}
	close(ends[1]);
	*from = ends[0];
	return pid;
}

static void
end_child(pid_t pid, int from)
{
	close(from);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void
tell(int out, const struct told *told)
{
	if (write(out, told, sizeof(*told)) != sizeof(*told))
		_exit(1);
}

/* A listening UNIX socket with an abstract name. */
static int
listen_unix(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	memcpy(address.sun_path + 1, name, strlen(name));
	if (fd < 0 || bind(fd, (void *)&address, (socklen_t)(offsetof(struct sockaddr_un,
			   sun_path) + 1 + strlen(name))) != 0 || listen(fd, 1) != 0)
		_exit(1);
	return fd;
}

/* In new namespaces of its own: a pipe to a process in yet another one, and sockets. */
static void
live_elsewhere(int out)
{
	struct told told = { .pid = -1 };
	int ends[2], pair[2];

	if (unshare(CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWNS) != 0) {
		tell(out, &told);
		_exit(0);
	}
	if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		_exit(1);
	told.pid = fork();
	if (told.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "elsewhere");
		close(ends[0]);
		close(out);
		for (;;)
			pause();
	}
	close(ends[1]);
	told.fd[0] = ends[0];
	told.fd[1] = listen_unix("in another namespace");
	told.fd[2] = pair[0];
	told.fd[3] = socket(AF_INET, SOCK_STREAM, 0);
	if (listen(told.fd[3], 1) != 0)
		_exit(1);
	while (inspect_thread_named(told.pid, "elsewhere", 0) == 0)
		sched_yield();
	tell(out, &told);
	for (;;)
		pause();
}

static void
other_namespaces(void)
{
	struct descriptors *descriptors;
	struct process *process;
	struct told told;
	char text[128];
	int from;
	pid_t pid = start_child(live_elsewhere, &from);

	harness_case("other namespaces");
	if (read(from, &told, sizeof(told)) != sizeof(told))
		harness_die("the child has ended");
	if (told.pid < 0) {
		harness_skip("namespaces are not permitted here");
		end_child(pid, from);
		return;
	}
	descriptors = open_descriptors(pid, &process);
	snprintf(text, sizeof(text), "pipe from elsewhere (%d)", (int)told.pid);
	check_text(descriptors, told.fd[0], DESCRIPTOR_PIPE, text);
	check_text(descriptors, told.fd[1], DESCRIPTOR_SOCKET, "unix @in another namespace");
	check_text(descriptors, told.fd[2], DESCRIPTOR_SOCKET, "unix socket");
	check_text(descriptors, told.fd[3], DESCRIPTOR_SOCKET, "tcp port *");
	close_descriptors(descriptors, process);
	end_child(pid, from);
}

static struct told without_first;

/* Waits until the first thread is a zombie, and says so. */
static void *
outlive(void *arg)
{
	const int out = *(int *)arg;

	while (inspect_state(getpid(), getpid()) != 'Z')
		sched_yield();
	tell(out, &without_first);
	for (;;)
		pause();
	return NULL;
}

static void
lose_first_thread(int out)
{
	static int kept_out;
	pthread_t thread;
	int ends[2];

	kept_out = out;
	if (pipe(ends) != 0)
		_exit(1);
	without_first.fd[0] = ends[0];
	if (pthread_create(&thread, NULL, outlive, &kept_out) != 0)
		_exit(1);
	pthread_exit(NULL);
}

static void
first_thread_gone(void)
{
	struct descriptors *descriptors;
	struct process *process;
	struct told told;
	int from;
	pid_t pid = start_child(lose_first_thread, &from);

	harness_case("a process whose first thread has ended");
	if (read(from, &told, sizeof(told)) != sizeof(told))
		harness_die("the child has ended");
	descriptors = open_descriptors(pid, &process);
	check_text(descriptors, told.fd[0], DESCRIPTOR_PIPE, "pipe from itself");
	end_child(pid, from);

	harness_case("a process that is gone");
	check_text(descriptors, told.fd[0], DESCRIPTOR_GONE, NULL);
	close_descriptors(descriptors, process);
}

int
main(void)
{
	harness_begin(60);
	every_kind();
	another_user();
	changes();
	many_descriptors();
	other_namespaces();
	first_thread_gone();
	return harness_end();
}
