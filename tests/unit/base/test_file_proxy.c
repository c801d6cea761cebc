/* SPDX-License-Identifier: MIT */
/* test_file_proxy.c - calls in a second process: results, descriptors, processes that end or hang,
 * and what happens during the wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wallsample/base/file_proxy.h"

#define DEVICE 7
#define OTHER 8
/* More than two calls can read. */
#define FILE_SIZE (3 * FILE_PROXY_OUT_MOST - 5)

static struct file_proxy *proxy;
static volatile sig_atomic_t stopping;
static volatile int handler_fd;

static int
begin(void **state)
{
	(void)state;
	stopping = 0;
	proxy = file_proxy_create();
	return 0;
}

static int
end(void **state)
{
	(void)state;
	file_proxy_free(proxy);
	return 0;
}

static void
tell_pid(struct file_call *call)
{
	const pid_t pid = getpid();

	memcpy(call->out, &pid, sizeof(pid));
	call->got = sizeof(pid);
}

/* Returns the id of the process that makes calls for this file system; 0: there was no answer. */
static pid_t
pid_of_call(uint64_t device)
{
	pid_t pid = 0;
	struct file_call call = { .function = tell_pid,
				  .device = device,
				  .in = "",
				  .in_fd = -1,
				  .out = &pid,
				  .out_size = sizeof(pid) };

	return file_proxy_call(proxy, &call) ? pid : 0;
}

/* Opens the file whose path is the argument; the result is the path's length. */
static void
open_path(struct file_call *call)
{
	const size_t length = strlen(call->in);

	call->out_fd = open(call->in, O_RDONLY | O_CLOEXEC);
	memcpy(call->out, &length, sizeof(length));
	call->got = sizeof(length);
}

static uint8_t
byte_at(size_t at)
{
	return (uint8_t)(at * 31 + at / 251);
}

/* Makes a file whose bytes are byte_at(), and returns its path, which must be freed. */
static char *
make_file(void)
{
	char *path = xstrdup("/tmp/wallsample-test-XXXXXX");
	const int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");

	assert_non_null(file);
	for (size_t i = 0; i < FILE_SIZE; i++)
		fputc(byte_at(i), file);
	assert_int_equal(fclose(file), 0);
	return path;
}

static void
check_bytes(struct file_proxy *by, int fd, uint64_t offset, size_t size, size_t expected)
{
	uint8_t *bytes = xmalloc(size);

	assert_int_equal(file_proxy_read(by, DEVICE, fd, offset, bytes, size), expected);
	assert_int_equal(errno, 0);
	for (size_t i = 0; i < expected; i++)
		assert_int_equal(bytes[i], byte_at(offset + i));
	free(bytes);
}

static void
test_files(void **state)
{
	char *path = make_file();
	size_t length = 0;
	struct file_call call = { .function = open_path,
				  .in = path,
				  .in_size = strlen(path) + 1,
				  .in_fd = -1,
				  .out = &length,
				  .out_size = sizeof(length) };
	struct stat st;

	(void)state;
	assert_true(file_proxy_call(proxy, &call));
	assert_int_equal(length, strlen(path));
	assert_true(call.out_fd >= 0);
	for (int direct = 0; direct < 2; direct++) {
		struct file_proxy *by = direct ? NULL : proxy;

		check_bytes(by, call.out_fd, 0, FILE_SIZE, FILE_SIZE);
		check_bytes(by, call.out_fd, 9, 100, 100);
		check_bytes(by, call.out_fd, FILE_SIZE - 9, 100, 9);
		check_bytes(by, call.out_fd, FILE_SIZE + 9, 100, 0);
		memset(&st, 0, sizeof(st));
		assert_int_equal(file_proxy_stat(by, DEVICE, call.out_fd, &st), 0);
		assert_int_equal(st.st_size, FILE_SIZE);
	}
	memset(&st, 0, sizeof(st));
	assert_int_equal(file_stat_cached(call.out_fd, &st), 0);
	assert_int_equal(st.st_size, FILE_SIZE);
	assert_int_equal(close(call.out_fd), 0);
	unlink(path);
	free(path);
}

/* Bytes that are not in the page cache: a pipe's never are. */
static void
test_not_cached(void **state)
{
	struct stat st;
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(file_proxy_read(proxy, DEVICE, fd[0], 0, &st, sizeof(st)), 0);
	assert_int_equal(file_proxy_stat(proxy, DEVICE, fd[0], &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(file_proxy_stat(proxy, DEVICE, -1, &st), -1);
	assert_int_equal(errno, EBADF);
	close(fd[0]);
	close(fd[1]);
}

static void
end_process(struct file_call *call)
{
	(void)call;
	_exit(0);
}

static void
test_ended(void **state)
{
	struct file_call call = { .function = end_process, .in = "", .in_fd = -1 };
	const pid_t first = pid_of_call(0);

	(void)state;
	assert_true(first > 0 && first != getpid());
	assert_false(file_proxy_call(proxy, &call));
	assert_int_equal(errno, EIO);
	/* Another process makes the next call. */
	assert_true(pid_of_call(DEVICE) > 0);
	assert_true(pid_of_call(DEVICE) != first);
}

/* Waits until the pipe has a byte, or its other end is closed. */
static void
read_pipe(struct file_call *call)
{
	char byte;

	(void)!read(call->in_fd, &byte, 1);
}

/* A call that hangs ends when wallsample is to stop; its file system is not asked again. */
static void
test_hung(void **state)
{
	const struct file_waiting waiting = { .stop = &stopping };
	struct file_call call = { .function = read_pipe, .device = DEVICE, .in = "", .in_fd = -1 };
	int fd[2];

	(void)state;
	assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
	call.in_fd = fd[0];
	file_proxy_set_waiting(proxy, &waiting);
	stopping = SIGINT;
	assert_false(file_proxy_call(proxy, &call));
	assert_int_equal(errno, ETIMEDOUT);
	assert_int_equal(pid_of_call(DEVICE), 0);
	assert_int_equal(errno, ETIMEDOUT);
	assert_true(pid_of_call(OTHER) > 0);
	close(fd[0]);
	close(fd[1]);
}

static void
on_signal(int number)
{
	(void)number;
	(void)!write(handler_fd, "", 1);
}

/* Sends a signal to wallsample, whose handler lets read_pipe() end. */
static void
raise_and_read(struct file_call *call)
{
	pid_t to;

	memcpy(&to, call->in, sizeof(to));
	kill(to, SIGUSR1);
	read_pipe(call);
}

static void
count_wait(void *context)
{
	++*(unsigned *)context;
}

/* Handlers of signals run while wallsample waits. */
static void
test_waiting(void **state)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART }, before;
	unsigned waits = 0;
	const struct file_waiting waiting = { .begin = count_wait,
					      .end = count_wait,
					      .context = &waits };
	const pid_t self = getpid();
	struct file_call call = { .function = raise_and_read,
				  .in = &self,
				  .in_size = sizeof(self) };
	int fd[2];

	(void)state;
	assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
	handler_fd = fd[1];
	call.in_fd = fd[0];
	sigemptyset(&action.sa_mask);
	assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
	file_proxy_set_waiting(proxy, &waiting);
	assert_true(file_proxy_call(proxy, &call));
	assert_int_equal(waits, 2);
	file_proxy_set_waiting(proxy, &(struct file_waiting){ .stop = &stopping });
	assert_true(pid_of_call(0) > 0);
	assert_int_equal(waits, 2);
	sigaction(SIGUSR1, &before, NULL);
	close(fd[0]);
	close(fd[1]);
}

/* A child makes its calls itself. */
static void
test_child(void **state)
{
	const pid_t child = fork();
	int status;

	(void)state;
	if (child == 0)
		_exit(pid_of_call(0) == getpid() ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(pid_of_call(0) > 0);
}

/* A process can be started in the class SCHED_IDLE, which it may not leave. */
static void
test_idle(void **state)
{
	const struct sched_param idle = { .sched_priority = 0 };
	const pid_t child = fork();
	int status;

	(void)state;
	if (child == 0) {
		if (getuid() == 0 && setresuid(65534, 65534, 65534) != 0)
			_exit(77);
		if (sched_setscheduler(0, SCHED_IDLE, &idle) != 0)
			_exit(77);
		proxy = file_proxy_create();
		_exit(pid_of_call(0) > 0 && pid_of_call(0) != getpid() ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* The end of a proxy leaves no process. */
static void
test_end(void **state)
{
	struct file_proxy *other = file_proxy_create();
	siginfo_t info;

	(void)state;
	file_proxy_end(other);
	file_proxy_free(other);
	/* The threads of helpers reap the processes, if need be later. The alarm of the test ends
	 * this loop. */
	while (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | WNOHANG) == 0)
		sched_yield();
	assert_int_equal(errno, ECHILD);
}

/* Writes the id of the calling process to in_fd, then blocks for ever. */
static void
say_pid_and_wait(struct file_call *call)
{
	const pid_t self = getpid();

	(void)!write(call->in_fd, &self, sizeof(self));
	read_pipe(call);
}

/* A process that waits for ever ends when wallsample is killed. */
static void
test_killed(void **state)
{
	struct file_call call = { .function = say_pid_and_wait, .in = "" };
	pid_t child, process;
	int ends[2];

	(void)state;
	/* The process becomes a child of this one when its parent has ended. */
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	child = fork();
	if (child == 0) {
		call.in_fd = ends[1];
		(void)file_proxy_call(file_proxy_create(), &call);
		_exit(1);
	}
	assert_int_equal(read(ends[0], &process, sizeof(process)), sizeof(process));
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(waitpid(process, NULL, 0), process);
	prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
	close(ends[0]);
	close(ends[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_files, begin, end),
		cmocka_unit_test_setup_teardown(test_not_cached, begin, end),
		cmocka_unit_test_setup_teardown(test_ended, begin, end),
		cmocka_unit_test_setup_teardown(test_hung, begin, end),
		cmocka_unit_test_setup_teardown(test_waiting, begin, end),
		cmocka_unit_test_setup_teardown(test_child, begin, end),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_killed),
	};

	alarm(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
