/* SPDX-License-Identifier: MIT */
/*
 * test_wait_calls.c - what a thread waits for by its system call: descriptors, time, children.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/futex.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../scene/wait_scene.h"
#include "wallsample/base/base.h"
#include "wallsample/wait/system_v.h"

static void
test_calls(void **state)
{
	static const struct {
		const char *name;
		enum wait_kind kind;
		int fd;
		bool writes;
	} calls[] = {
		{ "read", WAIT_DESCRIPTOR, 5, false }, { "write", WAIT_DESCRIPTOR, 5, true },
		{ "pread64", WAIT_DESCRIPTOR, 5, false }, { "writev", WAIT_DESCRIPTOR, 5, true },
		{ "preadv2", WAIT_DESCRIPTOR, 5, false }, { "pwritev2", WAIT_DESCRIPTOR, 5, true },
		{ "ioctl", WAIT_DESCRIPTOR, 5, false }, { "splice", WAIT_DESCRIPTOR, 5, false },
		{ "sendfile", WAIT_DESCRIPTOR, 5, true }, { "fsync", WAIT_FILE, 5, false },
		{ "fdatasync", WAIT_FILE, 5, false }, { "flock", WAIT_FILE_LOCK, 5, false },
		{ "copy_file_range", WAIT_FILE, 5, false }, { "getdents64", WAIT_FILE, 5, false },
		{ "recvfrom", WAIT_SOCKET_READ, 5, false },
		{ "recvmsg", WAIT_SOCKET_READ, 5, false },
		{ "recvmmsg", WAIT_SOCKET_READ, 5, false },
		{ "sendto", WAIT_SOCKET_WRITE, 5, true },
		{ "sendmsg", WAIT_SOCKET_WRITE, 5, true },
		{ "sendmmsg", WAIT_SOCKET_WRITE, 5, true },
		{ "accept", WAIT_ACCEPT, 5, false }, { "accept4", WAIT_ACCEPT, 5, false },
		{ "connect", WAIT_CONNECT, 5, false }, { "epoll_pwait", WAIT_EPOLL, 5, false },
		{ "epoll_pwait2", WAIT_EPOLL, 5, false }, { "epoll_wait", WAIT_EPOLL, 5, false },
		{ "io_uring_enter", WAIT_IO_URING, 5, false }, { "pause", WAIT_SIGNAL, -1, false },
		{ "rt_sigsuspend", WAIT_SIGNAL, -1, false }, { "wait4", WAIT_CHILD, -1, false },
		{ "rt_sigtimedwait", WAIT_SIGNAL, -1, false },
		{ "semop", WAIT_SYSTEM_SEMAPHORE, -1, false },
		{ "semtimedop", WAIT_SYSTEM_SEMAPHORE, -1, false },
		{ "msgsnd", WAIT_MESSAGE_SEND, -1, false },
		{ "msgrcv", WAIT_MESSAGE_RECEIVE, -1, false },
		{ "io_getevents", WAIT_OTHER, -1, false },
		{ "mq_timedreceive", WAIT_DESCRIPTOR, 5, false },
		{ "vfork", WAIT_VFORK, -1, false },
		{ "mq_timedsend", WAIT_DESCRIPTOR, 5, true }, { "openat", WAIT_OTHER, -1, false },
		{ "futex_waitv", WAIT_FUTEX, -1, false }, { "nanosleep", WAIT_SLEEP, -1, false },
	};
	struct wait wait;

	(void)state;
	scene_clear();
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		struct wait_call call = {.state = RUN_SLEEPING, .args = {5}};

		call.number = syscall_number(calls[i].name);
		if (call.number == SYSCALL_UNKNOWN) /* not on this architecture */
			continue;
		wait_classify(&scene_source, &call, &wait);
		if (wait.kind != calls[i].kind)
			fail_msg("%s: %s", calls[i].name, wait_kind_text(wait.kind));
		assert_int_equal(wait.fd, calls[i].fd);
		assert_int_equal(wait.writes, calls[i].writes);
		call.state = RUN_UNINTERRUPTIBLE;
		wait_classify(&scene_source, &call, &wait);
		if (strcmp(calls[i].name, "openat") == 0)
			assert_int_equal(wait.kind, WAIT_FILE);
		else if (calls[i].fd < 0 && calls[i].kind != WAIT_CHILD &&
			 calls[i].kind != WAIT_VFORK)
			assert_int_equal(wait.kind, WAIT_OTHER);
	}
}

static struct wait
classify(const char *name, enum run_state run, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
	 uint64_t e)
{
	const struct wait_call call = {
		.state = run, .number = syscall_number(name), .args = {a, b, c, d, e}};
	struct wait wait;

	wait_classify(&scene_source, &call, &wait);
	return wait;
}

static void
test_states(void **state)
{
	struct wait_call call = {.state = RUN_RUNNING, .number = syscall_number("read")};
	struct wait wait;

	(void)state;
	scene_clear();
	wait_classify(&scene_source, &call, &wait);
	assert_int_equal(wait.kind, WAIT_NONE);
	call.state = RUN_STOPPED;
	wait_classify(&scene_source, &call, &wait);
	assert_int_equal(wait.kind, WAIT_STOPPED);
	call = (struct wait_call){.state = RUN_UNINTERRUPTIBLE, .number = SYSCALL_NONE};
	wait_classify(&scene_source, &call, &wait);
	assert_int_equal(wait.kind, WAIT_FAULT);
	call.number = SYSCALL_UNKNOWN;
	call.state = RUN_SLEEPING;
	wait_classify(&scene_source, &call, &wait);
	assert_int_equal(wait.kind, WAIT_OTHER);
	wait = classify("read", RUN_UNINTERRUPTIBLE, 7, 0, 0, 0, 0);
	assert_int_equal(wait.kind, WAIT_DESCRIPTOR);
	assert_int_equal(wait_kind_of_descriptor(&wait, DESCRIPTOR_FILE), WAIT_FILE);
	assert_int_equal(classify("futex", RUN_UNINTERRUPTIBLE, 7, 0, 0, 0, 0).kind, WAIT_OTHER);
}

/* Calls that use a path wait for that file if the sleep is uninterruptible. */
static void
test_paths(void **state)
{
	struct wait wait;

	(void)state;
	scene_clear();
	wait = classify("openat", RUN_UNINTERRUPTIBLE, (uint64_t)AT_FDCWD, MEMORY, 0, 0, 0);
	assert_int_equal(wait.kind, WAIT_FILE);
	assert_int_equal(wait.path, MEMORY);
	assert_int_equal(wait.fd, AT_FDCWD);
	wait = classify("statfs", RUN_UNINTERRUPTIBLE, MEMORY, 7, 0, 0, 0);
	assert_int_equal(wait.kind, WAIT_FILE);
	assert_int_equal(wait.path, MEMORY);
	assert_int_equal(wait.fd, -1);
	/* futimens passes no path: the file is that of the descriptor. */
	wait = classify("utimensat", RUN_UNINTERRUPTIBLE, 7, 0, 0, 0, 0);
	assert_int_equal(wait.kind, WAIT_FILE);
	assert_int_equal(wait.path, 0);
	assert_int_equal(wait.fd, 7);
	/* open of a FIFO */
	wait = classify("openat", RUN_SLEEPING, (uint64_t)AT_FDCWD, MEMORY, 0, 0, 0);
	assert_int_equal(wait.kind, WAIT_OTHER);
	assert_int_equal(wait.path, 0);
	/* waits for another thread that maps or unmaps memory */
	wait = classify("munmap", RUN_UNINTERRUPTIBLE, MEMORY, PAGE, 0, 0, 0);
	assert_int_equal(wait.kind, WAIT_OTHER);
}

static void
test_children(void **state)
{
	struct wait wait;

	(void)state;
	scene_clear();
	assert_int_equal(classify("wait4", RUN_SLEEPING, 55, 0, 0, 0, 0).child, 55);
	assert_int_equal(classify("wait4", RUN_SLEEPING, 0xffffffff, 0, 0, 0, 0).child, -1);
	assert_int_equal(classify("waitid", RUN_SLEEPING, P_ALL, 55, 0, 0, 0).child, -1);
	assert_int_equal(classify("waitid", RUN_SLEEPING, P_PID, 55, 0, 0, 0).child, 55);
	assert_int_equal(classify("waitid", RUN_SLEEPING, P_PGID, 55, 0, 0, 0).child, -55);
	assert_int_equal(classify("waitid", RUN_SLEEPING, 3, 9, 0, 0, 0).fd, 9);
	wait = classify("clone", RUN_UNINTERRUPTIBLE, CLONE_VFORK, 0, 0, 0, 0);
	assert_int_equal(wait.kind, WAIT_VFORK);
	wait = classify("clone", RUN_UNINTERRUPTIBLE, CLONE_VM, 0, 0, 0, 0);
	assert_int_equal(wait.kind, WAIT_OTHER);
	put64(MEMORY, CLONE_VFORK | CLONE_VM);
	wait = classify("clone3", RUN_UNINTERRUPTIBLE, MEMORY, 0, 0, 0, 0);
	assert_int_equal(wait.kind, WAIT_VFORK);
	assert_int_equal(classify("clone3", RUN_UNINTERRUPTIBLE, 8, 0, 0, 0, 0).kind, WAIT_OTHER);
}

static void
test_times(void **state)
{
	struct timespec now;
	struct wait wait;

	(void)state;
	scene_clear();
	scene.time.fraction = 5;
	wait = classify("nanosleep", RUN_SLEEPING, TIMES, 0, 0, 0, 0);
	assert_true(wait.timed && wait.left_ns == 100 * NS_PER_SEC + 5);
	wait = classify("pselect6", RUN_SLEEPING, 0, 0, 0, 0, TIMES);
	assert_true(wait.kind == WAIT_SLEEP && wait.left_ns == 100 * NS_PER_SEC + 5);
	clock_gettime(CLOCK_MONOTONIC, &now);
	scene.time.seconds = now.tv_sec + 100;
	wait = classify("clock_nanosleep", RUN_SLEEPING, CLOCK_MONOTONIC, TIMER_ABSTIME, TIMES, 0,
			0);
	assert_true(wait.timed && wait.left_ns <= 101 * NS_PER_SEC);
	scene.time.seconds = 0;
	wait = classify("clock_nanosleep", RUN_SLEEPING, CLOCK_REALTIME, TIMER_ABSTIME, TIMES, 0,
			0);
	assert_true(wait.timed && wait.left_ns == 0);
	wait = classify("clock_nanosleep", RUN_SLEEPING, CLOCK_PROCESS_CPUTIME_ID, 0, TIMES, 0, 0);
	assert_true(wait.timed && wait.left_ns == UINT64_MAX);
	/* no times at all */
	scene.time.fraction = NS_PER_SEC;
	assert_true(classify("nanosleep", RUN_SLEEPING, TIMES, 0, 0, 0, 0).left_ns == UINT64_MAX);
	scene.time.fraction = -1;
	assert_true(classify("nanosleep", RUN_SLEEPING, TIMES, 0, 0, 0, 0).left_ns == UINT64_MAX);
	scene.time.fraction = 0;
	scene.time.seconds = INT64_MAX;
	assert_true(classify("nanosleep", RUN_SLEEPING, TIMES, 0, 0, 0, 0).left_ns == UINT64_MAX);
	assert_true(classify("nanosleep", RUN_SLEEPING, 8, 0, 0, 0, 0).left_ns == UINT64_MAX);
	assert_true(classify("epoll_pwait", RUN_SLEEPING, 3, 0, 0, 30, 0).left_ns ==
		    30 * NS_PER_MS);
	assert_false(classify("epoll_pwait", RUN_SLEEPING, 3, 0, 0, 0xffffffff, 0).timed);
}

static void
put_flock(short type, short whence, int64_t start, int64_t length)
{
	const struct flock wanted = {
		.l_type = type, .l_whence = whence, .l_start = start, .l_len = length
	};
	uint64_t words[sizeof(wanted) / 8];

	memcpy(words, &wanted, sizeof(wanted));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		put64(MEMORY + 8 * i, words[i]);
}

static void
test_file_locks(void **state)
{
	struct wait wait;

	(void)state;
	scene_clear();
	wait = classify("flock", RUN_SLEEPING, 5, LOCK_SH, 0, 0, 0);
	assert_int_equal(wait.kind, WAIT_FILE_LOCK);
	assert_int_equal(wait.lock.type, FILE_LOCK_FLOCK);
	assert_false(wait.lock.exclusive);
	assert_true(classify("flock", RUN_SLEEPING, 5, LOCK_EX, 0, 0, 0).lock.exclusive);
	put_flock(F_RDLCK, SEEK_END, -5, 3);
	wait = classify("fcntl", RUN_SLEEPING, 5, F_SETLKW, MEMORY, 0, 0);
	assert_int_equal(wait.kind, WAIT_FILE_LOCK);
	assert_int_equal(wait.fd, 5);
	assert_int_equal(wait.lock.type, FILE_LOCK_POSIX);
	assert_true(wait.lock.has_range && !wait.lock.exclusive);
	assert_int_equal(wait.lock.whence, SEEK_END);
	assert_int_equal(wait.lock.start, -5);
	assert_int_equal(wait.lock.length, 3);
	put_flock(F_WRLCK, SEEK_SET, 0, 0);
	wait = classify("fcntl", RUN_SLEEPING, 5, F_OFD_SETLKW, MEMORY, 0, 0);
	assert_int_equal(wait.lock.type, FILE_LOCK_OFD);
	assert_true(wait.lock.has_range && wait.lock.exclusive);
	/* memory that cannot be read */
	wait = classify("fcntl", RUN_SLEEPING, 5, F_SETLKW, 8, 0, 0);
	assert_int_equal(wait.kind, WAIT_FILE_LOCK);
	assert_false(wait.lock.has_range);
	/* The file or its server does not answer. */
	wait = classify("fcntl", RUN_UNINTERRUPTIBLE, 5, F_SETLKW, MEMORY, 0, 0);
	assert_int_equal(wait.kind, WAIT_FILE);
	assert_int_equal(classify("flock", RUN_UNINTERRUPTIBLE, 5, LOCK_EX, 0, 0, 0).kind,
			 WAIT_FILE);
}

static void
put_operation(unsigned index, unsigned short number, short value)
{
	const struct sembuf operation = { .sem_num = number, .sem_op = value };
	unsigned char bytes[sizeof(operation)];

	memcpy(bytes, &operation, sizeof(bytes));
	memcpy(scene.bytes + index * sizeof(bytes), bytes, sizeof(bytes));
}

/* Which semaphore a thread waits for: operations that add to one do not block. */
static void
test_semaphores(void **state)
{
	struct wait wait;

	(void)state;
	scene_clear();
	put_operation(0, 2, -1);
	put_operation(1, 3, 1);
	wait = classify("semop", RUN_SLEEPING, 9, MEMORY, 2, 0, 0);
	assert_int_equal(wait.system_id, 9);
	assert_int_equal(wait.semaphore, 2);
	put_operation(1, 2, 0);
	assert_int_equal(classify("semop", RUN_SLEEPING, 9, MEMORY, 2, 0, 0).semaphore, 2);
	put_operation(1, 4, -1);
	assert_int_equal(classify("semop", RUN_SLEEPING, 9, MEMORY, 2, 0, 0).semaphore, -1);
	assert_int_equal(classify("semop", RUN_SLEEPING, 9, MEMORY, 501, 0, 0).semaphore, -1);
	assert_int_equal(classify("semop", RUN_SLEEPING, 9, 8, 1, 0, 0).semaphore, -1);
	assert_int_equal(classify("semop", RUN_SLEEPING, 9, MEMORY, 0, 0, 0).semaphore, -1);
	assert_true(classify("semtimedop", RUN_SLEEPING, 9, MEMORY, 1, TIMES, 0).timed);
	assert_int_equal(classify("msgrcv", RUN_SLEEPING, 11, 0, 0, 0, 0).system_id, 11);
}

static void
test_system_v_objects(void **state)
{
	/* an id that no set has */
	struct wait wait = { .kind = WAIT_SYSTEM_SEMAPHORE, .system_id = -1, .semaphore = 2 };
	const int set = semget(IPC_PRIVATE, 3, 0600);
	struct sembuf add = { .sem_num = 1, .sem_op = 1 };
	struct strbuf text = STRBUF_INIT;

	(void)state;
	system_v_add_object(&wait, 0, &text);
	assert_string_equal(text.data, "2 of set -1");
	assert_int_equal(system_v_last_pid(-1, 2), 0);
	strbuf_clear(&text);
	wait.semaphore = -1;
	system_v_add_object(&wait, 4026531999, &text);
	assert_string_equal(text.data, "of set -1 of IPC namespace 4026531999");
	strbuf_clear(&text);
	wait.kind = WAIT_MESSAGE_SEND;
	system_v_add_object(&wait, 0, &text);
	assert_string_equal(text.data, "-1");
	strbuf_release(&text);
	if (set < 0) /* the kernel has no semaphores of System V */
		return;
	assert_int_equal(system_v_last_pid(set, 1), 0);
	assert_int_equal(semop(set, &add, 1), 0);
	assert_int_equal(system_v_last_pid(set, 1), getpid());
	assert_int_equal(system_v_last_pid(set, -1), 0);
	assert_int_equal(semctl(set, 0, IPC_RMID), 0);
}

/* Calls of which an argument says what they are. */
static void
test_commands(void **state)
{
	struct wait wait;

	(void)state;
	scene_clear();
	assert_int_equal(classify("fcntl", RUN_SLEEPING, 5, F_GETFL, 0, 0, 0).kind,
			 WAIT_DESCRIPTOR);
	/* struct io_uring_getevents_arg has its time-out at 16 */
	put64(MEMORY + 16, TIMES);
	wait = classify("io_uring_enter", RUN_SLEEPING, 5, 0, 1, 1 << 3, MEMORY);
	assert_true(wait.fd == 5 && wait.timed && wait.left_ns == 100 * NS_PER_SEC);
	assert_false(classify("io_uring_enter", RUN_SLEEPING, 5, 0, 1, 0, MEMORY).timed);
	assert_int_equal(classify("io_uring_enter", RUN_SLEEPING, 5, 0, 1, 1 << 4, 0).fd, -1);
	/* struct futex_waitv: value, address, flags */
	put64(MEMORY + 8, 0x1234);
	wait = classify("futex_waitv", RUN_SLEEPING, MEMORY, 1, 0, TIMES, CLOCK_MONOTONIC);
	assert_true(wait.object == 0x1234 && wait.timed && wait.left_ns != UINT64_MAX);
	assert_true(wait.shared);
	put32(MEMORY + 16, 2 | FUTEX_PRIVATE_FLAG); /* 2: a word of 32 bits */
	assert_false(classify("futex_waitv", RUN_SLEEPING, MEMORY, 1, 0, 0, 0).shared);
	assert_true(classify("futex_waitv", RUN_SLEEPING, MEMORY, 2, 0, 0, 0).object == 0);
	wait = classify("futex_wait", RUN_SLEEPING, 0x1234, 7, 1, 2, TIMES);
	assert_true(wait.object == 0x1234 && wait.shared && wait.timed);
	assert_false(classify("futex_wait", RUN_SLEEPING, 0x1234, 7, 1, 2 | FUTEX_PRIVATE_FLAG, 0)
			     .shared);
	wait = classify("mq_timedreceive", RUN_SLEEPING, 5, 0, 0, 0, TIMES);
	assert_true(wait.timed && wait.left_ns == 0);
}

static void
test_several(void **state)
{
	const struct pollfd fds[] = {
		{.fd = -1}, {.fd = 9, .events = POLLOUT}, {.fd = 11, .events = POLLIN}};
	struct wait wait;

	(void)state;
	scene_clear();
	memcpy(scene.bytes, fds, sizeof(fds));
	wait = classify("ppoll", RUN_SLEEPING, MEMORY, 2, 0, 0, 0);
	assert_true(wait.kind == WAIT_POLL && wait.fds == 1 && wait.fd == 9 && wait.writes);
	assert_false(wait.timed);
	wait = classify("ppoll", RUN_SLEEPING, MEMORY, 3, TIMES, 0, 0);
	assert_true(wait.fds == 2 && wait.fd == -1 && !wait.writes && wait.timed);
	assert_int_equal(classify("ppoll", RUN_SLEEPING, MEMORY, 0, 0, 0, 0).kind, WAIT_SIGNAL);
	scene.reads = 0;
	wait = classify("ppoll", RUN_SLEEPING, MEMORY, UINT32_MAX, 0, 0, 0);
	assert_true(wait.kind == WAIT_POLL && wait.fds == 0 && scene.reads == 0);
	wait = classify("ppoll", RUN_SLEEPING, UINT64_MAX - 3, 1024, 0, 0, 0);
	assert_true(wait.kind == WAIT_POLL && wait.fds == 0 && wait.fd == -1);

	scene_clear();
	put64(MEMORY + 128, UINT64_C(1) << 6);
	put64(MEMORY + 136, 1);
	wait = classify("pselect6", RUN_SLEEPING, 65, 0, MEMORY + 128, 0, 0);
	assert_true(wait.kind == WAIT_SELECT && wait.fds == 2 && wait.fd == -1);
	/* What lies above the first argument does not count. */
	wait = classify("pselect6", RUN_SLEEPING, 64, 0, MEMORY + 128, 0, 0);
	assert_true(wait.fds == 1 && wait.fd == 6 && wait.writes);
	wait = classify("pselect6", RUN_SLEEPING, 64, MEMORY + 128, MEMORY + 128, 0, 0);
	assert_true(wait.fds == 1 && wait.fd == 6 && !wait.writes);
	assert_int_equal(classify("pselect6", RUN_SLEEPING, 6, MEMORY + 128, 0, 0, 0).kind,
			 WAIT_SIGNAL);
	assert_int_equal(classify("pselect6", RUN_SLEEPING, 0x80000000, 0, 0, 0, 0).kind,
			 WAIT_SIGNAL);
	assert_int_equal(classify("pselect6", RUN_SLEEPING, 99999, MEMORY, 0, 0, 0).fds, 0);
}

static void
test_descriptors(void **state)
{
	struct wait wait = {.kind = WAIT_DESCRIPTOR, .fd = 3};

	(void)state;
	assert_int_equal(wait_kind_of_descriptor(&wait, DESCRIPTOR_PIPE), WAIT_PIPE_READ);
	assert_int_equal(wait_kind_of_descriptor(&wait, DESCRIPTOR_SOCKET), WAIT_SOCKET_READ);
	assert_int_equal(wait_kind_of_descriptor(&wait, DESCRIPTOR_GONE), WAIT_DESCRIPTOR);
	wait.writes = true;
	assert_int_equal(wait_kind_of_descriptor(&wait, DESCRIPTOR_PIPE), WAIT_PIPE_WRITE);
	assert_int_equal(wait_kind_of_descriptor(&wait, DESCRIPTOR_SOCKET), WAIT_SOCKET_WRITE);
	assert_int_equal(wait_kind_of_descriptor(&wait, DESCRIPTOR_TERMINAL), WAIT_TERMINAL);
	assert_int_equal(wait_kind_of_descriptor(&wait, DESCRIPTOR_TIMERFD), WAIT_TIMERFD);
	wait.kind = WAIT_ACCEPT;
	assert_int_equal(wait_kind_of_descriptor(&wait, DESCRIPTOR_SOCKET), WAIT_ACCEPT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_children),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_file_locks),
		cmocka_unit_test(test_semaphores),
		cmocka_unit_test(test_system_v_objects),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
