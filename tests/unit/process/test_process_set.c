/* SPDX-License-Identifier: MIT */
/* test_process_set.c - which processes belong to a target set, at the start and later: processes
 * given by id, descendants, names, excluded names. Times of looks are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../scene/actors.h"
#include "process/process_internal.h"
#include "wallsample/process/process_set.h"

/* Names that no other process of the machine has. */
static char name_a[16], name_b[16], name_long[64], directory[64];

static uint64_t
start_time_of(pid_t pid)
{
	struct task_stat stat;
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
	assert_true(task_read_stat(AT_FDCWD, name, &stat));
	return stat.start_time;
}

static bool
has(const struct process_set *set, const struct actor *actor)
{
	return process_set_has(set, actor->pid, start_time_of(actor->pid));
}

/* Checks that the next new member is the actor; NULL: that there is none. */
static void
check_new(struct process_set *set, const struct actor *actor)
{
	uint64_t start_time = 0;
	const pid_t pid = process_set_next_new(set, &start_time);

	assert_int_equal(pid, actor != NULL ? actor->pid : 0);
	if (actor != NULL)
		assert_int_equal(start_time, start_time_of(pid));
}

static struct process_set *
create(const struct process_set_config *config)
{
	struct process_set *set;
	struct error err = { .text = "" };

	if (process_set_create(config, &set, &err) != 0)
		fail_msg("%s", err.text);
	assert_non_null(set);
	return set;
}

static struct process_set *
create_of_actor(const struct actor *actor, bool descendants)
{
	return create(&(struct process_set_config){
		.pids = &actor->pid, .pid_count = 1, .descendants = descendants });
}

static struct process_set *
create_of_name(const char *glob, bool descendants)
{
	return create(&(struct process_set_config){
		.names = { &glob, 1 }, .descendants = descendants, .may_start_empty = true });
}

static void
check_error(const struct process_set_config *config, enum error_kind kind, const char *words)
{
	struct process_set *set = (void *)&set;
	struct error err = { .text = "" };

	assert_int_equal(process_set_create(config, &set, &err), -(int)kind);
	assert_null(set);
	if (strstr(err.text, words) == NULL)
		fail_msg("'%s' does not contain '%s'", err.text, words);
}

/* Looks every 5 ms of the time *now_ns until the actor is a member or not, as wanted, for 12 s of
 * that time at most: a process is found by its first examinations, or in the listing after 10 s. */
static void
look_until(struct process_set *set, const struct actor *actor, bool member, uint64_t *now_ns)
{
	for (int i = 0; i < 2400 && has(set, actor) != member; i++) {
		*now_ns += 5 * NS_PER_MS;
		process_set_look(set, *now_ns);
	}
	assert_true(has(set, actor) == member);
}

/* --- processes given by id ------------------------------------------------------------------- */

static void
test_given(void **state)
{
	struct actor a = actor_fork(actors_first()), b = actor_fork(actors_first()), c;
	const pid_t pids[] = { b.pid, a.pid, b.pid };
	struct process_set *set =
		create(&(struct process_set_config){ .pids = pids, .pid_count = 3 });

	(void)state;
	check_new(set, &b);
	check_new(set, &a);
	check_new(set, NULL);
	assert_int_equal(process_set_count(set), 2);
	assert_true(has(set, &a) && has(set, &b));
	assert_false(process_set_has(set, a.pid, start_time_of(a.pid) + 1));
	assert_false(process_set_has(set, getpid(), start_time_of(getpid())));
	assert_false(process_set_may_grow(set));
	c = actor_fork(&a);
	process_set_look(set, clock_now_ns());
	check_new(set, NULL);
	process_set_remove(set, a.pid, start_time_of(a.pid) + 1);
	assert_int_equal(process_set_count(set), 2);
	process_set_remove(set, a.pid, start_time_of(a.pid));
	assert_int_equal(process_set_count(set), 1);
	process_set_free(set);
	process_set_free(NULL);
	actor_exit(&c);
	actor_exit(&b);
	actor_exit(&a);
}

static void
test_errors(void **state)
{
	struct actor a = actor_fork(actors_first()), b = actor_fork(&a);
	const char *glob = name_a, *all = "*", *id = "zzzz", *none = "0000000000000000";
	const pid_t gone = b.pid, missing[] = { a.pid, gone };

	(void)state;
	check_error(&(struct process_set_config){ .descendants = true }, ERROR_USAGE, "no process");
	actor_exit(&b);
	check_error(&(struct process_set_config){ .pids = missing, .pid_count = 2 },
		    ERROR_NO_PROCESS, "no process");
	check_error(&(struct process_set_config){ .names = { &glob, 1 } }, ERROR_NO_MATCH, glob);
	check_error(&(struct process_set_config){ .pids = missing,
						  .pid_count = 1,
						  .excluded = { &all, 1 } },
		    ERROR_NO_MATCH, "excluded");
	check_error(&(struct process_set_config){ .containers = { &id, 1 } }, ERROR_USAGE,
		    "not a container id");
	check_error(&(struct process_set_config){ .containers = { &none, 1 } }, ERROR_NO_MATCH,
		    "no container");
	actor_exit(&a);
}

/* --- descendants ----------------------------------------------------------------------------- */

static void
test_descendants(void **state)
{
	struct actor root = actor_fork(actors_first()), child = actor_fork(&root),
		     grandchild = actor_fork(&child), other = actor_fork(actors_first());
	struct process_set *set = create_of_actor(&root, true);
	struct actor later, later_child;

	(void)state;
	assert_int_equal(process_set_count(set), 3);
	assert_true(has(set, &root) && has(set, &child) && has(set, &grandchild));
	assert_false(has(set, &other));
	while (process_set_next_new(set, NULL) > 0)
		continue;
	/* Threads and processes of others do not belong. */
	actor_start_thread(&root);
	later = actor_fork(&grandchild);
	later_child = actor_fork(&later);
	actor_start_thread(&other);
	process_set_look(set, clock_now_ns());
	check_new(set, &later);
	check_new(set, &later_child);
	check_new(set, NULL);
	assert_int_equal(process_set_count(set), 5);
	assert_true(process_set_stats(set)->ids >= 4);
	assert_int_equal(process_set_stats(set)->listings, 0);
	assert_true(process_set_may_grow(set));
	actor_exit(&later_child);
	actor_exit(&later);
	actor_exit(&grandchild);
	actor_exit(&child);
	assert_true(process_set_may_grow(set));
	actor_exit(&root);
	assert_false(process_set_may_grow(set));
	process_set_free(set);
	actor_exit(&other);
}

/* A member that ended before the look is not returned, and its child is found by its first
 * parent. */
static void
test_short_member(void **state)
{
	struct actor root = actor_fork(actors_first()), child;
	struct process_set *set = create_of_actor(&root, true);
	const struct process_set_stats *stats = process_set_stats(set);
	uint64_t now_ns = clock_now_ns();

	(void)state;
	check_new(set, &root);
	child = actor_fork(&root);
	actor_exit(&child);
	process_set_look(set, now_ns);
	assert_int_equal(stats->ids_ended, 0);
	check_new(set, NULL);
	/* An id that is not visible may become so for 255 ms. */
	for (int i = 0; i < 60; i++)
		process_set_look(set, now_ns += 5 * NS_PER_MS);
	assert_true(stats->ids_ended >= 1);
	assert_int_equal(process_set_count(set), 1);
	process_set_free(set);
	actor_exit(&root);
}

/* Orphans are descendants if a member, or a process that was one, leads their session or group. */
static void
test_orphans(void **state)
{
	struct actor session = actor_fork(actors_first()), group = actor_fork(actors_first()),
		     plain = actor_fork(actors_first()), parent[3], orphan[3];
	const pid_t pids[] = { session.pid, group.pid, plain.pid };
	struct process_set *set;

	(void)state;
	actor_new_session(&session);
	actor_set_group(&group, 0);
	set = create(&(struct process_set_config){
		.pids = pids, .pid_count = 3, .descendants = true });
	parent[0] = actor_fork(&session);
	parent[1] = actor_fork(&group);
	parent[2] = actor_fork(&plain);
	for (int i = 0; i < 3; i++) {
		orphan[i] = actor_fork(&parent[i]);
		actor_exit(&parent[i]);
	}
	process_set_look(set, clock_now_ns());
	assert_int_equal(process_set_count(set), 5);
	assert_true(has(set, &orphan[0]) && has(set, &orphan[1]));
	/* Nothing shows of which process this orphan descends. */
	assert_false(has(set, &orphan[2]));
	process_set_free(set);
	for (int i = 0; i < 3; i++)
		actor_exit(&orphan[i]);
	actor_exit(&session);
	actor_exit(&group);
	actor_exit(&plain);
}

/* A daemon: the leader of its session was a member, and has ended. */
static void
test_daemon(void **state)
{
	struct actor root = actor_fork(actors_first()), middle = actor_fork(&root), daemon;
	struct process_set *set = create_of_actor(&root, true);
	const uint64_t start_time = start_time_of(middle.pid);

	(void)state;
	assert_int_equal(process_set_count(set), 2);
	actor_new_session(&middle);
	daemon = actor_fork(&middle);
	actor_exit(&middle);
	process_set_remove(set, middle.pid, start_time);
	check_new(set, &root);
	check_new(set, NULL);
	process_set_look(set, clock_now_ns());
	check_new(set, &daemon);
	process_set_free(set);
	actor_exit(&daemon);
	actor_exit(&root);
}

/* Another process in the process group of a member, with a child: two programs of a pipeline. */
static void
test_pipeline(void **state)
{
	struct actor root = actor_fork(actors_first()), other, child;
	struct process_set *set = create_of_actor(&root, true);
	struct task_stat stat;
	char name[32];
	bool late;

	(void)state;
	actor_set_group(&root, 0);
	other = actor_fork(actors_first());
	actor_set_group(&other, root.pid);
	child = actor_fork(&other);
	snprintf(name, sizeof(name), "/proc/%d/stat", (int)child.pid);
	assert_true(task_read_stat(AT_FDCWD, name, &stat));
	assert_int_equal(stat.group, root.pid);
	process_set_look(set, clock_now_ns());
	/* On a busy machine the second one may have started a second later than the first. */
	late = start_time_of(other.pid) - start_time_of(root.pid) >=
	       (uint64_t)sysconf(_SC_CLK_TCK);
	if (!late) {
		assert_false(has(set, &other));
		assert_false(has(set, &child));
	}
	process_set_free(set);
	actor_exit(&child);
	actor_exit(&other);
	actor_exit(&root);
}

/* A member that is not to be sampled is not found again, but its children are. */
static void
test_removed(void **state)
{
	struct actor root = actor_fork(actors_first()), child;
	struct process_set *set = create_of_actor(&root, true);

	(void)state;
	process_set_remove(set, root.pid, start_time_of(root.pid));
	assert_int_equal(process_set_count(set), 0);
	check_new(set, NULL);
	assert_true(process_set_may_grow(set));
	child = actor_fork(&root);
	process_set_look(set, clock_now_ns());
	check_new(set, &child);
	check_new(set, NULL);
	process_set_free(set);
	actor_exit(&child);
	actor_exit(&root);
}

/* The first actor is an ancestor of the test, and has the test as a child: neither belongs, but all
 * other descendants of the first actor's parent do. */
static void
test_own(void **state)
{
	const pid_t ancestor = getppid();
	struct actor a = actor_fork(actors_first()), b;
	const char *none = name_b, *glob = "test_process_s*";
	struct process_set *set = create(&(struct process_set_config){
		.pids = &ancestor, .pid_count = 1, .descendants = true, .excluded = { &none, 1 } });
	const pid_t child = fork();

	(void)state;
	assert_true(child >= 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(has(set, &a));
	assert_false(process_set_has(set, getpid(), start_time_of(getpid())));
	b = actor_fork(&a);
	process_set_look(set, clock_now_ns());
	assert_true(has(set, &b));
	assert_false(process_set_has(set, child, start_time_of(child)));
	process_set_free(set);

	set = create_of_name(glob, true);
	assert_true(has(set, &a) && has(set, &b));
	assert_false(process_set_has(set, getpid(), start_time_of(getpid())));
	assert_false(process_set_has(set, ancestor, start_time_of(ancestor)));
	assert_false(process_set_has(set, child, start_time_of(child)));
	process_set_free(set);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	actor_exit(&b);
	actor_exit(&a);
}

/* --- names ----------------------------------------------------------------------------------- */

static void
test_name(void **state)
{
	struct actor a = actor_fork(actors_first()), b;
	struct process_set *set;
	uint64_t now_ns = clock_now_ns();

	(void)state;
	actor_set_name(&a, name_a);
	set = create_of_name(name_a, false);
	check_new(set, &a);
	check_new(set, NULL);
	assert_true(process_set_may_grow(set));
	/* The child has the name of its parent. */
	b = actor_fork(&a);
	process_set_look(set, now_ns);
	check_new(set, &b);
	/* It has another name: it leaves, and returns. */
	actor_set_name(&b, name_b);
	look_until(set, &b, false, &now_ns);
	assert_int_equal(process_set_next_left(set, NULL), b.pid);
	assert_int_equal(process_set_next_left(set, NULL), 0);
	check_new(set, NULL);
	actor_set_name(&b, name_a);
	look_until(set, &b, true, &now_ns);
	check_new(set, &b);
	assert_int_equal(process_set_count(set), 2);
	process_set_free(set);
	actor_exit(&b);
	actor_exit(&a);
}

/* An exec is found by the command name, or by the first word of the command line. */
static void
test_exec(void **state)
{
	struct actor a, b, c, child;
	struct process_set *by_name = create_of_name(name_a, true),
			   *by_word = create_of_name(name_long, false);
	char path[128];
	uint64_t now_ns = clock_now_ns();

	(void)state;
	a = actor_fork(actors_first());
	child = actor_fork(&a);
	b = actor_fork(actors_first());
	process_set_look(by_name, now_ns);
	process_set_look(by_word, now_ns);
	check_new(by_name, NULL);
	check_new(by_word, NULL);
	snprintf(path, sizeof(path), "%s/%s", directory, name_a);
	actor_exec(&a, path, "other");
	snprintf(path, sizeof(path), "%s/other", directory);
	actor_exec(&b, path, name_long);
	c = actor_fork(&child);
	look_until(by_name, &a, true, &now_ns);
	check_new(by_name, &a);
	look_until(by_word, &b, true, &now_ns);
	check_new(by_word, &b);
	/* Children that were there before the exec. */
	look_until(by_name, &child, true, &now_ns);
	look_until(by_name, &c, true, &now_ns);
	assert_false(has(by_name, &b));
	assert_false(has(by_word, &a));
	process_set_free(by_name);
	process_set_free(by_word);
	actor_exit(&c);
	actor_exit(&child);
	actor_exit(&b);
	actor_exit(&a);
}

/* A process that is examined a last time after a second is found in the listing after 10 s. */
static void
test_late_name(void **state)
{
	struct actor a = actor_fork(actors_first());
	struct process_set *set = create_of_name(name_a, false);
	uint64_t now_ns = clock_now_ns();

	(void)state;
	for (int i = 0; i < 300; i++)
		process_set_look(set, now_ns += 10 * NS_PER_MS);
	actor_set_name(&a, name_a);
	for (int i = 0; i < 300; i++)
		process_set_look(set, now_ns += 10 * NS_PER_MS);
	assert_false(has(set, &a));
	look_until(set, &a, true, &now_ns);
	check_new(set, &a);
	process_set_free(set);
	actor_exit(&a);
}

/* --- excluded names -------------------------------------------------------------------------- */

static void
test_excluded(void **state)
{
	struct actor root = actor_fork(actors_first()), shell = actor_fork(&root), child;
	const char *glob = name_b;
	struct process_set *set;
	uint64_t now_ns = clock_now_ns(), count, cpu_ns;

	(void)state;
	actor_set_name(&shell, name_b);
	set = create(&(struct process_set_config){
		.pids = &root.pid, .pid_count = 1, .descendants = true, .excluded = { &glob, 1 } });
	check_new(set, &root);
	check_new(set, NULL);
	process_set_read_excluded(set, &count, &cpu_ns);
	assert_int_equal(count, 1);
	/* A child has the name of its parent, until it has another one. */
	child = actor_fork(&shell);
	process_set_look(set, now_ns);
	check_new(set, NULL);
	actor_set_name(&child, name_a);
	look_until(set, &child, true, &now_ns);
	check_new(set, &child);
	actor_set_name(&child, name_b);
	look_until(set, &child, false, &now_ns);
	assert_int_equal(process_set_next_left(set, NULL), child.pid);
	actor_exit(&child);
	/* CPU time counts from the moment when it was excluded. Its resolution is 2 times 10 ms. */
	actor_use_cpu(&shell, 200);
	process_set_read_excluded(set, &count, &cpu_ns);
	assert_int_equal(count, 3);
	assert_true(cpu_ns >= 150 * NS_PER_MS);
	actor_exit(&shell);
	process_set_read_excluded(set, &count, &cpu_ns);
	assert_true(cpu_ns >= 150 * NS_PER_MS);
	process_set_free(set);
	actor_exit(&root);
}

/* --- bounds ---------------------------------------------------------------------------------- */

/* With too many new ids, /proc is listed. */
static void
test_many_ids(void **state)
{
	struct actor root = actor_fork(actors_first()), first, second;
	struct process_set *set = create_of_actor(&root, true);
	uint64_t now_ns = clock_now_ns();

	(void)state;
	first = actor_fork(&root);
	actor_run_threads(&root, 4200);
	second = actor_fork(&first);
	look_until(set, &second, true, &now_ns);
	assert_true(has(set, &first));
	assert_true(process_set_stats(set)->ids < 4200);
	for (int i = 0; i < 2000 && process_set_stats(set)->listings == 0; i++)
		process_set_look(set, now_ns += 5 * NS_PER_MS);
	assert_true(process_set_stats(set)->listings >= 1);
	process_set_free(set);
	actor_exit(&second);
	actor_exit(&first);
	actor_exit(&root);
}

static size_t
count_descriptors(void)
{
	DIR *opened = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(opened);
	while (readdir(opened) != NULL)
		count++;
	closedir(opened);
	return count;
}

static void
test_descriptors(void **state)
{
	const size_t before = count_descriptors();
	struct process_set *set = create_of_name(name_a, true);
	uint64_t now_ns = clock_now_ns();

	(void)state;
	for (int i = 0; i < 2000; i++)
		process_set_look(set, now_ns += 10 * NS_PER_MS);
	assert_int_equal(process_set_stats(set)->looks, 2000);
	assert_true(process_set_stats(set)->listings >= 1);
	/* /proc and /proc/loadavg. */
	assert_true(count_descriptors() <= before + 2);
	process_set_free(set);
	assert_int_equal(count_descriptors(), before);
}

/* --- a PID namespace ------------------------------------------------------------------------- */

#define WRAP_CHILDREN 10

static void
write_number(const char *name, long number)
{
	char text[24];
	const int length = snprintf(text, sizeof(text), "%ld", number);
	const int fd = open(name, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, (size_t)length) != length)
		_exit(2);
	close(fd);
}

/* Forks and answers with the id of a child that sleeps, for each byte that it reads. */
static void
forker(int in, int out)
{
	char byte;

	while (read(in, &byte, 1) == 1) {
		const pid_t pid = fork();

		while (pid == 0)
			pause();
		if (write(out, &pid, sizeof(pid)) != sizeof(pid))
			_exit(1);
	}
	_exit(0);
}

struct forker {
	pid_t pid;
	int to, from;
};

static pid_t
forker_fork(const struct forker *forker)
{
	pid_t pid;

	if (write(forker->to, "", 1) != 1 || read(forker->from, &pid, sizeof(pid)) != sizeof(pid))
		_exit(2);
	return pid;
}

static void
ensure(bool condition, int line)
{
	if (condition)
		return;
	fprintf(stderr, "%s:%d: not true in the PID namespace\n", __FILE__, line);
	_exit(1);
}
#define ENSURE(condition) ensure(condition, __LINE__)

/* The kernel hands out the largest ids, and then small ones. */
static void
wrap_ids(const struct forker *forker, struct process_set *set, uint64_t limit)
{
	uint64_t now_ns = clock_now_ns();
	pid_t pids[WRAP_CHILDREN];

	for (int i = 0; i < WRAP_CHILDREN; i++)
		pids[i] = forker_fork(forker);
	ENSURE((uint64_t)pids[0] > limit - WRAP_CHILDREN / 2);
	ENSURE(pids[WRAP_CHILDREN - 1] < 1000);
	process_set_look(set, now_ns);
	for (int i = 0; i < WRAP_CHILDREN; i++)
		ENSURE(process_set_next_new(set, NULL) == pids[i]);
	ENSURE(process_set_next_new(set, NULL) == 0);
	ENSURE(process_set_stats(set)->ids == WRAP_CHILDREN);
	ENSURE(process_set_stats(set)->listings == 0);
}

static void
kill_and_wait(pid_t pid)
{
	kill(pid, SIGKILL);
	while (kill(pid, 0) == 0)
		sched_yield();
}

/* A member ends without being removed, and after a wrap its id is that of another one. */
static void
reuse_id(const struct forker *forker, struct process_set *set, uint64_t limit)
{
	const pid_t pid = forker_fork(forker);
	uint64_t first = 0, second = 0, now_ns = clock_now_ns();
	pid_t again;

	process_set_look(set, now_ns);
	ENSURE(process_set_next_new(set, &first) == pid);
	kill_and_wait(pid);
	/* Until its start time, which has a resolution of 10 ms, is another one. The kernel may
	 * free the id some time after the process has ended. */
	for (again = 0; again != pid || start_time_of(pid) == first;) {
		if (again > 0)
			kill_and_wait(again);
		write_number("/proc/sys/kernel/ns_last_pid", (long)limit - 1);
		process_set_look(set, now_ns += NS_PER_SEC);
		again = forker_fork(forker);
	}
	process_set_look(set, now_ns += NS_PER_SEC);
	ENSURE(process_set_next_new(set, &second) == pid);
	ENSURE(second == start_time_of(pid));
	ENSURE(process_set_next_new(set, NULL) == 0);
	process_set_remove(set, pid, first);
	ENSURE(process_set_has(set, pid, second));
}

/* The first process of the namespace. */
static void
in_namespace(void)
{
	const pid_t own = getpid();
	struct forker forker_end;
	struct process_set_config config = { .pids = &forker_end.pid,
					     .pid_count = 1,
					     .descendants = true };
	struct process_set *set;
	struct error err = { .text = "" };
	int to[2], from[2];
	uint64_t limit;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (own != 1 || mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("proc", "/proc", "proc", 0, NULL) != 0 || pipe(to) != 0 || pipe(from) != 0 ||
	    !file_read_number(AT_FDCWD, "/proc/sys/kernel/pid_max", &limit) ||
	    access("/proc/sys/kernel/ns_last_pid", W_OK) != 0)
		_exit(77);
	signal(SIGCHLD, SIG_IGN);
	forker_end.pid = fork();
	if (forker_end.pid == 0) {
		close(to[1]);
		forker(to[0], from[1]);
	}
	forker_end.to = to[1];
	forker_end.from = from[0];
	write_number("/proc/sys/kernel/ns_last_pid", (long)limit - WRAP_CHILDREN / 2);
	if (process_set_create(&config, &set, &err) != 0)
		fprintf(stderr, "%s\n", err.text);
	ENSURE(set != NULL && process_set_next_new(set, NULL) == forker_end.pid);
	wrap_ids(&forker_end, set, limit);
	reuse_id(&forker_end, set, limit);
	process_set_free(set);
	_exit(0);
}

static void
test_namespace(void **state)
{
	int status;
	const pid_t outer = fork();

	(void)state;
	assert_true(outer >= 0);
	if (outer == 0) {
		pid_t inner;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0)
			_exit(77);
		inner = fork();
		if (inner == 0)
			in_namespace();
		if (inner < 0 || waitpid(inner, &status, 0) != inner || !WIFEXITED(status))
			_exit(99);
		_exit(WEXITSTATUS(status));
	}
	assert_int_equal(waitpid(outer, &status, 0), outer);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("no permission to make a PID namespace\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int
run_all(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_given),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_descendants),
		cmocka_unit_test(test_short_member),
		cmocka_unit_test(test_orphans),
		cmocka_unit_test(test_daemon),
		cmocka_unit_test(test_pipeline),
		cmocka_unit_test(test_removed),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_late_name),
		cmocka_unit_test(test_excluded),
		cmocka_unit_test(test_many_ids),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_namespace),
	};
	int failed;

	alarm(120);
	snprintf(name_a, sizeof(name_a), "wsa%d", (int)getpid());
	snprintf(name_b, sizeof(name_b), "wsb%d", (int)getpid());
	snprintf(name_long, sizeof(name_long), "ws-with-a-long-name-%d", (int)getpid());
	snprintf(directory, sizeof(directory), "/tmp/wallsample-set-%d-XXXXXX", (int)getpid());
	if (mkdtemp(directory) == NULL)
		return 99;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(directory);
	return failed;
}

int
main(int argc, char **argv)
{
	return actors_main(argc, argv, run_all);
}
