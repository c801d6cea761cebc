/* SPDX-License-Identifier: MIT */
/*
 * test_process.c - stat and status lines, opening processes, finding them by name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/process_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/process/find.h"
#include "wallsample/process/loadavg.h"
#include "wallsample/process/process.h"

/* Fields 4 to 52 behind the state; the last ones as a kernel prints them. */
#define NUMBERS                                                                                    \
	" 77 4242 4243 34816 4242 4194560 1 2 3 4 5 6 7 8 20 0 9 0 123456 1000 "                   \
	"200 18446744073709551615 1 1 140737488347000 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 1 "         \
	"2 3 140737488348000 4 5 6 0"

static void
check_numbers(const struct task_stat *stat)
{
	assert_int_equal(stat->tid, 4242);
	assert_int_equal(stat->state, 'S');
	assert_int_equal(stat->ppid, 77);
	assert_int_equal(stat->group, 4242);
	assert_int_equal(stat->session, 4243);
	assert_int_equal(stat->children_user_ticks, 7);
	assert_int_equal(stat->children_system_ticks, 8);
	assert_int_equal(stat->flags, 4194560);
	assert_int_equal(stat->num_threads, 9);
	assert_int_equal(stat->start_time, 123456);
	assert_int_equal(stat->start_stack, UINT64_C(140737488347000));
	assert_int_equal(stat->arg_start, UINT64_C(140737488348000));
}

static void
test_stat(void **state)
{
	static const char *const names[] = {
		"cat", "", "a b", ")", "((", "))) R 1 (", ") S 1 2 3", "a\nb", "\n", "1 (x) R",
		"\x80\xff",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct task_stat stat;
		char line[512];

		snprintf(line, sizeof(line), "4242 (%s) S" NUMBERS "\n", names[i]);
		assert_true(task_stat_parse(line, &stat));
		assert_string_equal(stat.comm, names[i]);
		check_numbers(&stat);
	}
}

static void
test_stat_long_name(void **state)
{
	struct task_stat stat;
	char name[301], line[1024];

	(void)state;
	memset(name, 'x', 300);
	name[300] = '\0';
	snprintf(line, sizeof(line), "4242 (%s) S" NUMBERS, name);
	assert_true(task_stat_parse(line, &stat));
	assert_int_equal(strlen(stat.comm), sizeof(stat.comm) - 1);
	check_numbers(&stat);
}

static void
test_stat_hostile(void **state)
{
	static const char *const lines[] = {
		"", "\n", ")", "(", "()", "1", "1 ", "1 (", "1 (x", "1 (x)", "1 (x) ", "1 (x) S",
		"1 (x) S ", "1 (x) S 1", "1 (x)S 1 2 3", "x (x) S" NUMBERS, "-1 (x) S" NUMBERS,
		"0 (x) S" NUMBERS, "99999999999 (x) S" NUMBERS, "1 x) S" NUMBERS, "1(x) S" NUMBERS,
		"1 (x) SS" NUMBERS, "1 (x) \x01" NUMBERS, "1 (x) S 1 2 3x 4", "1 (x) S -1" NUMBERS,
		"1 (x) S 99999999999999999999999" NUMBERS, ") 1 (", "1 )",
	};
	struct task_stat stat;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (task_stat_parse(lines[i], &stat))
			assert_int_equal(stat.tid, 1);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (strcmp(lines[i], "1 (x) S -1" NUMBERS) != 0)
			assert_false(task_stat_parse(lines[i], &stat));
}

/* Cut anywhere before field 22, it is no stat line; it never reads on behind the end. */
static void
test_stat_cut_off(void **state)
{
	static const char line[] = "4242 (a) S" NUMBERS "\n";
	size_t start_time = (size_t)(strstr(line, "123456") - line);

	(void)state;
	for (size_t size = 0; size < sizeof(line); size++) {
		char *part = malloc(size + 1);
		struct task_stat stat;

		assert_non_null(part);
		memcpy(part, line, size);
		part[size] = '\0';
		if (size <= start_time)
			assert_false(task_stat_parse(part, &stat));
		else if (size > start_time + 6)
			assert_true(task_stat_parse(part, &stat));
		free(part);
	}
}

static void
test_status(void **state)
{
	struct task_status status;

	(void)state;
	task_parse_status("Name:\tTgid:\t9\\nTgid: 8\nUmask:\t0022\nState:\tS (sleeping)\n"
			  "Tgid:\t1234\nNgid:\t0\nPid:\t1235\nPPid:\t17\nTracerPid:\t99\n"
			  "Uid:\t1000\t1001\t1002\t1003\nCapEff:\t000001ffffffffff\nSeccomp:\t2\n",
			  &status);
	assert_int_equal(status.tgid, 1234);
	assert_int_equal(status.ppid, 17);
	assert_int_equal(status.tracer, 99);
	assert_int_equal(status.uid, 1000);
	assert_int_equal(status.cap_effective, UINT64_C(0x1ffffffffff));
	assert_int_equal(status.seccomp, 2);
	task_parse_status("", &status);
	assert_int_equal(status.tgid, 0);
	task_parse_status("\nTgid:\nPPid:\t99999999999\nCapEff:\txyz", &status);
	assert_int_equal(status.tgid, 0);
	assert_int_equal(status.ppid, 0);
	assert_int_equal(status.cap_effective, 0);
}

static void
test_printable(void **state)
{
	char small[8], large[64];

	(void)state;
	assert_string_equal(task_printable("a\x1b[2Jb", large, sizeof(large)), "a\\x1b[2Jb");
	assert_string_equal(task_printable("", large, sizeof(large)), "");
	assert_string_equal(task_printable("0123456789", small, sizeof(small)), "0123456");
	/* Six bytes and then a character of two, of which only one would fit. */
	assert_string_equal(task_printable("012345\xc3\xa9", small, sizeof(small)), "012345");
}

/* --- processes --------------------------------------------------------------------- */

static void
check_refused(pid_t pid, enum error_kind kind, const char *word)
{
	struct process *process = (void *)&process;
	struct error err = { 0 };

	assert_int_equal(process_open(pid, &process, &err), -(int)kind);
	assert_null(process);
	assert_int_equal(err.kind, kind);
	assert_non_null(strstr(err.text, word));
	assert_int_equal(process_open(pid, &process, NULL), -(int)kind);
}

static void
test_open_self(void **state)
{
	struct process *process;
	struct error err = { 0 };
	struct task_stat stat;

	(void)state;
	assert_int_equal(prctl(PR_SET_NAME, "a) R (b\nc"), 0);
	assert_int_equal(process_open(getpid(), &process, &err), 0);
	assert_int_equal(process->pid, getpid());
	assert_string_equal(process->comm, "a) R (b\nc");
	assert_non_null(strstr(process->cmdline, "test_process"));
	assert_non_null(strstr(process->exe, "test_process"));
	assert_true(process->start_time > 0);
	assert_true(process_read_task_stat(process, getpid(), &stat));
	assert_int_equal(stat.start_time, process->start_time);
	assert_int_equal(stat.state, 'R');
	assert_int_equal(stat.ppid, getppid());
	assert_true(stat.start_stack != 0);
	assert_false(process_read_task_stat(process, 1 << 30, &stat));
	assert_int_equal(errno, ENOENT);
	process_free(process);
	process_free(NULL);
}

static void
test_no_such_process(void **state)
{
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	check_refused(pid, ERROR_NO_PROCESS, "no process");
	check_refused(0, ERROR_NO_PROCESS, "no process");
	check_refused(-1, ERROR_NO_PROCESS, "no process");
	check_refused(INT32_MAX, ERROR_NO_PROCESS, "no process");
}

static void
test_zombie(void **state)
{
	pid_t pid = fork();
	siginfo_t info;

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	check_refused(pid, ERROR_ZOMBIE, "has exited");
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void
test_kernel_thread(void **state)
{
	struct process *process;
	struct task_stat stat;

	(void)state;
	/* kthreadd, except in a container's own pid namespace. */
	if (!task_read_stat(-1, "/proc/2/stat", &stat) || !task_is_kernel_thread(&stat))
		skip();
	assert_int_equal(process_open(2, &process, NULL), -ERROR_KERNEL);
	check_refused(2, ERROR_KERNEL, "kernel thread");
}

/* --- threads ------------------------------------------------------------------------- */

struct crew {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int ready;
	bool end;
	pid_t tid;
};

static void *
crew_member(void *context)
{
	struct crew *crew = context;

	pthread_mutex_lock(&crew->lock);
	crew->tid = gettid();
	crew->ready++;
	pthread_cond_broadcast(&crew->changed);
	while (!crew->end)
		pthread_cond_wait(&crew->changed, &crew->lock);
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

#define CREW 50

static void
test_threads(void **state)
{
	struct crew crew = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, false, 0 };
	pthread_t thread[CREW];
	struct process *process;
	pid_t *tids = NULL;
	size_t capacity = 0, count, before;
	bool own = false, last = false;

	(void)state;
	assert_int_equal(process_open(getpid(), &process, NULL), 0);
	before = process_list_threads(process, &tids, &capacity);
	assert_true(before >= 1);
	for (int i = 0; i < CREW; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, crew_member, &crew), 0);
	pthread_mutex_lock(&crew.lock);
	while (crew.ready < CREW)
		pthread_cond_wait(&crew.changed, &crew.lock);
	pthread_mutex_unlock(&crew.lock);

	check_refused(crew.tid, ERROR_IS_THREAD, "thread of process");
	for (int round = 0; round < 2; round++) {
		count = (round == 0 ? process_list_threads :
				      process_list_all_threads)(process, &tids, &capacity);
		assert_int_equal(count, before + CREW);
		assert_true(capacity >= count);
		for (size_t i = 0; i < count; i++) {
			own |= tids[i] == getpid();
			last |= tids[i] == crew.tid;
			assert_true(i == 0 || tids[i - 1] < tids[i]);
		}
		assert_true(own && last);
	}
	pthread_mutex_lock(&crew.lock);
	crew.end = true;
	pthread_cond_broadcast(&crew.changed);
	pthread_mutex_unlock(&crew.lock);
	for (int i = 0; i < CREW; i++)
		pthread_join(thread[i], NULL);
	free(tids);
	process_free(process);
}

/* When a process has gone and its id is that of another one, which is this process here. */
static void
test_cpu_time_of_another(void **state)
{
	struct process *process;
	const pid_t child = fork();
	uint64_t cpu_ns;

	(void)state;
	assert_true(child >= 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_int_equal(process_open(child, &process, NULL), 0);
	assert_true(process_read_cpu_ns(process, &cpu_ns));
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	process->pid = getpid();
	assert_false(process_read_cpu_ns(process, &cpu_ns));
	process_free(process);
}

/* Of the CPU time of children, that of those for which the process has waited counts. */
static void
test_cpu_time_of_children(void **state)
{
	struct process *process;
	uint64_t before_ns, after_ns;
	siginfo_t info;
	pid_t child;

	(void)state;
	assert_int_equal(process_open(getpid(), &process, NULL), 0);
	assert_true(process_read_children_cpu_ns(process, &before_ns));
	child = fork();
	if (child == 0) {
		const uint64_t end_ns = clock_own_cpu_ns() + 200 * NS_PER_MS;

		while (clock_own_cpu_ns() < end_ns)
			continue;
		_exit(0);
	}
	assert_true(child > 0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_true(process_read_children_cpu_ns(process, &after_ns));
	assert_int_equal(after_ns, before_ns);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(process_read_children_cpu_ns(process, &after_ns));
	/* Each of two numbers is truncated to 10 ms. */
	assert_true(after_ns >= before_ns + 170 * NS_PER_MS);
	process_free(process);
}

static void
test_allowed_cpus(void **state)
{
	struct process *process;
	cpu_set_t one;
	unsigned before;

	(void)state;
	assert_int_equal(process_open(getpid(), &process, NULL), 0);
	before = process_allowed_cpus(process);
	assert_in_range(before, 1, (unsigned)sysconf(_SC_NPROCESSORS_CONF));
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(process_allowed_cpus(process), 1);
	process_free(process);
}

/* --- names --------------------------------------------------------------------------- */

/* A child of this command name that sleeps until it is killed. */
static pid_t
start_named(const char *name)
{
	int ready[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, name);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void
end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void
test_find(void **state)
{
	pid_t one, two, pid = 0, *pids;
	struct error err = { 0 };
	char name[16], first[16];
	siginfo_t info;

	(void)state;
	/* Names that nobody else in the machine has. */
	snprintf(name, sizeof(name), "ws%x*", (unsigned)getpid());
	snprintf(first, sizeof(first), "ws%xa", (unsigned)getpid());
	assert_int_equal(find_by_name(name, &pids, &err), 0);
	free(pids);
	assert_int_equal(find_one_by_name(name, &pid, &err), -ERROR_NO_MATCH);
	assert_non_null(strstr(err.text, name));

	one = start_named(first);
	assert_int_equal(find_one_by_name(name, &pid, &err), 0);
	assert_int_equal(pid, one);

	first[strlen(first) - 1] = 'b';
	two = start_named(first);
	assert_int_equal(find_by_name(name, &pids, &err), 2);
	assert_true(pids[0] < pids[1]);
	assert_true((pids[0] == one && pids[1] == two) || (pids[0] == two && pids[1] == one));
	free(pids);
	assert_int_equal(find_one_by_name(name, &pid, &err), -ERROR_AMBIGUOUS);
	assert_non_null(strstr(err.text, "test_process"));
	assert_int_equal(find_one_by_name(first, &pid, &err), 0);
	assert_int_equal(pid, two);

	/* A zombie is nothing to sample. */
	kill(two, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)two, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(find_one_by_name(name, &pid, &err), 0);
	assert_int_equal(pid, one);
	end_child(two);
	end_child(one);
}

/* Neither the caller nor what called it is ever found; the first word counts as a name. */
static void
test_find_not_own_family(void **state)
{
	pid_t child = start_named("other"), *pids;
	int count = find_by_name("*", &pids, NULL);
	bool found = false;

	(void)state;
	assert_true(count > 0);
	for (int i = 0; i < count; i++) {
		assert_true(pids[i] != getpid());
		assert_true(pids[i] != getppid());
		found |= pids[i] == child;
	}
	assert_true(found);
	free(pids);
	found = false;
	count = find_by_name("*test_process", &pids, NULL);
	for (int i = 0; i < count; i++)
		found |= pids[i] == child;
	assert_true(found);
	free(pids);
	end_child(child);
}

static void *
end_at_once(void *argument)
{
	return argument;
}

static void
test_loadavg(void **state)
{
	struct loadavg loadavg = { 0 };
	pthread_t thread;

	(void)state;
	loadavg_has_new_thread(&loadavg);
	assert_int_equal(pthread_create(&thread, NULL, end_at_once, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(loadavg.fd < 0 || loadavg_has_new_thread(&loadavg));
	assert_true(loadavg.fd < 0 || loadavg_runnable(&loadavg) >= 1);
	loadavg_release(&loadavg);
	assert_int_equal(loadavg_parse_runnable("0.20 0.18 0.12 13/80 11206\n"), 13);
	assert_int_equal(loadavg_parse_runnable("7/80"), 7);
	assert_int_equal(loadavg_parse_runnable("0.20 0.18 0.12"), 0);
	assert_int_equal(loadavg_parse_runnable("/"), 0);
	assert_int_equal(loadavg_parse_runnable(""), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stat),
		cmocka_unit_test(test_loadavg),
		cmocka_unit_test(test_stat_long_name),
		cmocka_unit_test(test_stat_hostile),
		cmocka_unit_test(test_stat_cut_off),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_printable),
		cmocka_unit_test(test_open_self),
		cmocka_unit_test(test_no_such_process),
		cmocka_unit_test(test_zombie),
		cmocka_unit_test(test_kernel_thread),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_find_not_own_family),
		cmocka_unit_test(test_cpu_time_of_another),
		cmocka_unit_test(test_cpu_time_of_children),
		cmocka_unit_test(test_allowed_cpus),
	};

	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
