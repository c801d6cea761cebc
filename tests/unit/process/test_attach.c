/* SPDX-License-Identifier: MIT */
/*
 * test_attach.c - who may be traced, why not, and that asking disturbs nobody.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/process_internal.h"
#include "wallsample/process/attach.h"
#include "wallsample/base/base.h"

#define NOBODY 65534
#define NOT_POSSIBLE 77 /* exit status of a child that cannot be what it should */
#define WRONG_WORDS 78

static bool
be_nobody(void)
{
	return setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0;
}

static bool
be_dumpable_nobody(void)
{
	return be_nobody() && prctl(PR_SET_DUMPABLE, 1) == 0;
}

static bool
be_protected_nobody(void)
{
	return be_nobody() && prctl(PR_SET_DUMPABLE, 0) == 0;
}

static bool
be_root_without_capability(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (geteuid() != 0 || syscall(SYS_capget, &header, data) != 0)
		return false;
	data[0].effective &= ~(1u << CAP_SYS_PTRACE);
	data[0].permitted &= ~(1u << CAP_SYS_PTRACE);
	data[0].inheritable &= ~(1u << CAP_SYS_PTRACE);
	return syscall(SYS_capset, &header, data) == 0;
}

static bool
be_in_a_sandbox(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = ARRAY_SIZE(code), .filter = code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

static bool
be_anyone(void)
{
	return true;
}

/* A private /proc/sys/kernel in which Yama seems to be, set to `scope`. */
static bool
see_yama(const char *scope)
{
	int fd;
	bool written;

	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", "/proc/sys/kernel", "tmpfs", 0, NULL) != 0 ||
	    mkdir("/proc/sys/kernel/yama", 0755) != 0)
		return false;
	fd = open("/proc/sys/kernel/yama/ptrace_scope", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	written = fd >= 0 && write(fd, scope, strlen(scope)) == (ssize_t)strlen(scope);
	close(fd);
	return written;
}

static bool
be_nobody_under_yama_1(void)
{
	return see_yama("1\n") && be_nobody();
}

static bool
be_nobody_under_yama_2(void)
{
	return see_yama("2\n") && be_nobody();
}

static bool
be_nobody_under_yama_3(void)
{
	return see_yama("3\n") && be_nobody();
}

/* --- targets ----------------------------------------------------------------------- */

static void
wait_for_ever(void)
{
	for (;;)
		pause();
}

/* Ends with 1 if a wait without time-out, which no restart repairs, came back. */
static void
wait_in_epoll(void)
{
	struct epoll_event event;
	int fd = epoll_create1(EPOLL_CLOEXEC);

	epoll_wait(fd, &event, 1, -1);
	_exit(1);
}

/* A child that says when it is ready and then does `wait`. */
static pid_t
start_target(bool (*become)(void), void (*wait)(void))
{
	int ready[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		/* A change of user clears the request. */
		if (!become() || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ||
		    write(ready[1], "x", 1) != 1)
			_exit(NOT_POSSIBLE);
		wait();
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1) {
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(ready[0]);
	return pid;
}

static void
end_target(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

/* What a process made by `become` is told about the target: an error_kind. */
static int
kind_told_to(bool (*become)(void), pid_t target, bool may_stop, const char *words)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct process *process;
		struct error err = { 0 };
		int rc;

		if (!become())
			_exit(NOT_POSSIBLE);
		rc = process_open(target, &process, &err);
		if (rc == 0)
			rc = attach_check(process, may_stop, &err);
		if (rc != 0 && (-rc != (int)err.kind || !strstr(err.text, words)))
			fprintf(stderr, "kind %d: %s\n", -rc, err.text);
		_exit(rc != 0 && !strstr(err.text, words) ? WRONG_WORDS : -rc);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Skips where the test cannot be set up: not root, or without this or that. */
static void
expect_told(bool (*become)(void), pid_t target, enum error_kind kind, const char *words)
{
	int told = kind_told_to(become, target, true, words);

	if (told == NOT_POSSIBLE) {
		end_target(target);
		skip();
	}
	assert_int_equal(told, kind);
}

static pid_t
start_or_skip(bool (*become)(void))
{
	pid_t pid = start_target(become, wait_for_ever);

	if (pid < 0)
		skip();
	return pid;
}

static struct task_stat
stat_of(pid_t pid)
{
	struct task_stat stat;
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
	assert_true(task_read_stat(AT_FDCWD, name, &stat));
	return stat;
}

static pid_t
tracer_of(pid_t pid)
{
	struct task_status status;
	char name[32];
	int dirfd;

	snprintf(name, sizeof(name), "/proc/%d", (int)pid);
	dirfd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(dirfd >= 0);
	assert_true(task_read_status(dirfd, &status));
	close(dirfd);
	return status.tracer;
}

/* --- allowed ------------------------------------------------------------------------ */

static void
test_own_child(void **state)
{
	pid_t target = start_target(be_anyone, wait_for_ever);
	struct process *process;
	struct error err = { 0 };

	(void)state;
	assert_int_equal(process_open(target, &process, &err), 0);
	assert_int_equal(attach_check(process, true, &err), 0);
	assert_int_equal(attach_check(process, false, &err), 0);
	process_free(process);
	end_target(target);
}

/* Asked about fifty times, it stays in a wait that any stop would end with EINTR. */
static void
test_asking_disturbs_nothing(void **state)
{
	pid_t target = start_target(be_anyone, wait_in_epoll);

	(void)state;
	while (stat_of(target).state != 'S')
		sched_yield();
	for (int i = 0; i < 50; i++) {
		int told = kind_told_to(be_anyone, target, true, "");

		if (told != 0) { /* where only ancestors may trace */
			end_target(target);
			skip();
		}
		assert_int_equal(tracer_of(target), 0);
		assert_int_equal(stat_of(target).state, 'S');
	}
	/* Ended by the signal, not by its wait. */
	end_target(target);
}

static void
test_stopped_target_stays_stopped(void **state)
{
	pid_t target = start_target(be_anyone, wait_for_ever);
	int status;

	(void)state;
	assert_int_equal(kill(target, SIGSTOP), 0);
	assert_int_equal(waitpid(target, &status, WUNTRACED), target);
	assert_true(WIFSTOPPED(status));
	expect_told(be_anyone, target, ERROR_NONE, "");
	/* The kernel moves it from one kind of stop to the other by way of running. */
	while (stat_of(target).state == 'R')
		sched_yield();
	assert_int_equal(stat_of(target).state, 'T');
	assert_int_equal(kill(target, SIGCONT), 0);
	assert_int_equal(waitpid(target, &status, WCONTINUED), target);
	assert_true(WIFCONTINUED(status));
	end_target(target);
}

static void *
outlive_first_thread(void *context)
{
	(void)context;
	wait_for_ever();
	return NULL;
}

static void
leave_to_second_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, outlive_first_thread, NULL) == 0)
		pthread_exit(NULL);
}

static void
test_first_thread_ended(void **state)
{
	pid_t target = start_target(be_anyone, leave_to_second_thread);

	(void)state;
	while (stat_of(target).state != 'Z')
		sched_yield();
	expect_told(be_anyone, target, ERROR_NONE, "");
	end_target(target);
}

/* --- refused -------------------------------------------------------------------------- */

static void
test_own_family(void **state)
{
	struct process *process;
	struct error err = { 0 };

	(void)state;
	assert_int_equal(process_open(getpid(), &process, &err), 0);
	assert_int_equal(attach_check(process, true, &err), -ERROR_SELF);
	assert_int_equal(attach_check(process, false, &err), -ERROR_SELF);
	process_free(process);
	assert_int_equal(kind_told_to(be_anyone, getpid(), true, "ancestor"), ERROR_SELF);
	if (getppid() > 0)
		assert_int_equal(kind_told_to(be_anyone, getppid(), true, "ancestor"), ERROR_SELF);
}

static void
test_traced(void **state)
{
	pid_t target = start_target(be_anyone, wait_for_ever);
	char words[64];

	(void)state;
	if (ptrace(PTRACE_SEIZE, target, NULL, NULL) != 0) {
		end_target(target);
		skip();
	}
	snprintf(words, sizeof(words), "traced by process %d (test_attach)", (int)getpid());
	expect_told(be_anyone, target, ERROR_TRACED, words);
	assert_int_equal(tracer_of(target), getpid());
	/* Who only reads does not mind. */
	assert_int_equal(kind_told_to(be_anyone, target, false, ""), ERROR_NONE);
	end_target(target);
}

/* Has it traced until this process, which is its parent, has to wait for that. */
static void
trace_until_waited_for(pid_t target, int ready, int go)
{
	char byte;

	if (ptrace(PTRACE_SEIZE, target, NULL, NULL) != 0 || write(ready, "x", 1) != 1 ||
	    read(go, &byte, 1) != 1)
		_exit(NOT_POSSIBLE);
	while (stat_of(getppid()).state != 'S')
		sched_yield();
	_exit(0);
}

/* Another wallsample's tick is no tracer that has to be ended first. */
static void
test_traced_for_a_moment(void **state)
{
	pid_t target = start_target(be_anyone, wait_for_ever), tracer;
	int ready[2], go[2], status;
	struct process *process;
	struct error err = { 0 };
	bool traced;
	char byte;

	(void)state;
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	assert_int_equal(process_open(target, &process, &err), 0);
	tracer = fork();
	assert_true(tracer >= 0);
	if (tracer == 0)
		trace_until_waited_for(target, ready[1], go[0]);
	close(ready[1]);
	traced = read(ready[0], &byte, 1) == 1; /* but where only ancestors may trace */
	if (traced) {
		assert_int_equal(tracer_of(target), tracer);
		assert_int_equal(write(go[1], "x", 1), 1);
		assert_int_equal(attach_check(process, true, &err), 0);
		assert_int_equal(tracer_of(target), 0);
	}
	assert_int_equal(waitpid(tracer, &status, 0), tracer);
	assert_int_equal(WEXITSTATUS(status), traced ? 0 : NOT_POSSIBLE);
	close(ready[0]);
	close(go[0]);
	close(go[1]);
	process_free(process);
	end_target(target);
	if (!traced)
		skip();
}

static void
test_other_user(void **state)
{
	pid_t target = start_target(be_anyone, wait_for_ever);

	(void)state;
	if (getuid() == NOBODY) {
		end_target(target);
		skip();
	}
	expect_told(be_nobody, target, ERROR_OTHER_USER, "belongs to user");
	assert_int_equal(kind_told_to(be_nobody, target, false, "sudo"), ERROR_OTHER_USER);
	end_target(target);
}

static void
test_no_capability(void **state)
{
	pid_t target = start_or_skip(be_dumpable_nobody);

	(void)state;
	expect_told(be_root_without_capability, target, ERROR_NO_CAPABILITY,
		    "--cap-add SYS_PTRACE");
	end_target(target);
}

static void
test_not_dumpable(void **state)
{
	pid_t target = start_or_skip(be_protected_nobody);

	(void)state;
	if (access("/proc/sys/kernel/yama/ptrace_scope", F_OK) == 0) {
		end_target(target);
		skip();
	}
	expect_told(be_nobody, target, ERROR_NOT_DUMPABLE, "PR_SET_DUMPABLE");
	end_target(target);
}

static void
test_yama(void **state)
{
	pid_t target = start_or_skip(be_protected_nobody);

	(void)state;
	expect_told(be_nobody_under_yama_1, target, ERROR_YAMA, "ptrace_scope is 1");
	expect_told(be_nobody_under_yama_2, target, ERROR_YAMA, "ptrace_scope is 2");
	expect_told(be_nobody_under_yama_3, target, ERROR_YAMA, "until the next boot");
	end_target(target);
}

static void
test_seccomp(void **state)
{
	pid_t target = start_target(be_anyone, wait_for_ever);

	(void)state;
	expect_told(be_in_a_sandbox, target, ERROR_SECCOMP, "seccomp filter");
	end_target(target);
}

/* It ends between being opened and being asked about. */
static void
test_ends_meanwhile(void **state)
{
	pid_t target = start_target(be_anyone, wait_for_ever);
	struct process *process;
	struct error err = { 0 };
	siginfo_t info;

	(void)state;
	assert_int_equal(process_open(target, &process, &err), 0);
	assert_int_equal(kill(target, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)target, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(attach_check(process, true, &err), -ERROR_ZOMBIE);
	assert_int_equal(attach_check(process, false, &err), -ERROR_ZOMBIE);
	assert_int_equal(waitpid(target, NULL, 0), target);
	assert_int_equal(attach_check(process, true, &err), -ERROR_NO_PROCESS);
	assert_int_equal(attach_check(process, false, &err), -ERROR_NO_PROCESS);
	process_free(process);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_child),
		cmocka_unit_test(test_asking_disturbs_nothing),
		cmocka_unit_test(test_stopped_target_stays_stopped),
		cmocka_unit_test(test_first_thread_ended),
		cmocka_unit_test(test_own_family),
		cmocka_unit_test(test_traced),
		cmocka_unit_test(test_traced_for_a_moment),
		cmocka_unit_test(test_other_user),
		cmocka_unit_test(test_no_capability),
		cmocka_unit_test(test_not_dumpable),
		cmocka_unit_test(test_yama),
		cmocka_unit_test(test_seccomp),
		cmocka_unit_test(test_ends_meanwhile),
	};

	return cmocka_run_group_tests_name("attach", tests, NULL, NULL);
}
