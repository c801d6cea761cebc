/* SPDX-License-Identifier: MIT */
/* test_process_groups.c - target sets of control groups and containers: real groups, in the first
 * hierarchy where this test may make them. Times of looks are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../scene/actors.h"
#include "process/process_groups_internal.h"

/* Ids of containers, with the id of this process. */
#define FIRST_FORMAT "deadbeefa000000000000000000000000000000000000000000000%010x"
#define SECOND_FORMAT "deadbeefb000000000000000000000000000000000000000000000%010x"

/* A group, one below it, and those of two containers: names, directories, paths. */
enum { GROUP, BELOW, FIRST, SECOND, GROUPS };
static char name[GROUPS][96], *directory[GROUPS], *path[GROUPS];
static char first_id[CONTAINER_ID_LENGTH + 1], second_id[CONTAINER_ID_LENGTH + 1];
/* Groups 0 … made - 1 exist. */
static int made;

/* --- making groups --------------------------------------------------------------------------- */

static bool
move_process(pid_t pid, const char *to)
{
	char file[512], number[16];
	const int length = snprintf(number, sizeof(number), "%d", (int)pid);
	bool moved;
	int fd;

	snprintf(file, sizeof(file), "%s/cgroup.procs", to);
	fd = open(file, O_WRONLY | O_CLOEXEC);
	moved = fd >= 0 && write(fd, number, (size_t)length) == length;
	if (fd >= 0)
		close(fd);
	return moved;
}

static void
remove_groups(void)
{
	while (made > 0) {
		made--;
		/* A group has processes for a moment after they have ended. The alarm of the test
		 * bounds this loop. */
		while (rmdir(directory[made]) != 0 && errno != ENOENT)
			sched_yield();
		free(directory[made]);
		free(path[made]);
	}
}

static bool
make_groups(const struct group_mount *mount)
{
	for (; made < GROUPS; made++) {
		struct strbuf sb = STRBUF_INIT;

		strbuf_add_format(&sb, "%s/%s", made == 0 ? mount->point : directory[GROUP],
				  name[made]);
		if (mkdir(sb.data, 0700) != 0) {
			strbuf_release(&sb);
			return false;
		}
		directory[made] = sb.data;
		path[made] = group_mount_path(mount, sb.data);
	}
	return true;
}

/* Makes the groups in a hierarchy where processes can be moved. */
static int
group_setup(void **state)
{
	struct group_mounts mounts = { .item = NULL };
	struct actor actor = actor_fork(actors_first());
	bool usable = false;

	(void)state;
	group_mounts_read(&mounts);
	for (size_t i = 0; i < mounts.count && !usable; i++) {
		usable = make_groups(&mounts.item[i]) && move_process(actor.pid, directory[BELOW]);
		if (!usable)
			remove_groups();
	}
	group_mounts_release(&mounts);
	actor_exit(&actor);
	if (!usable)
		print_message("no permission to make control groups\n");
	return 0;
}

static int
group_teardown(void **state)
{
	(void)state;
	remove_groups();
	return 0;
}

/* --- sets ------------------------------------------------------------------------------------ */

static uint64_t
start_time_of(pid_t pid)
{
	struct task_stat stat;
	char file[32];

	snprintf(file, sizeof(file), "/proc/%d/stat", (int)pid);
	assert_true(task_read_stat(AT_FDCWD, file, &stat));
	return stat.start_time;
}

static bool
has(const struct process_set *set, const struct actor *actor)
{
	return process_set_has(set, actor->pid, start_time_of(actor->pid));
}

static int
create(struct process_set **set, const char *group, const char *container, bool empty,
       struct error *err)
{
	const struct process_set_config config = { .cgroups = { &group, group != NULL },
						   .containers = { &container, container != NULL },
						   .may_start_empty = empty };

	err->text[0] = '\0';
	return process_set_create(&config, set, err);
}

static void
check_error(const char *group, const char *container, enum error_kind kind, const char *words)
{
	struct process_set *set;
	struct error err;

	assert_int_equal(create(&set, group, container, false, &err), -(int)kind);
	assert_null(set);
	if (strstr(err.text, words) == NULL)
		fail_msg("'%s' does not contain '%s'", err.text, words);
}

/* Checks that the set of a group or a container has these two members. */
static void
check_members(const char *group, const char *container, const struct actor *a,
	      const struct actor *b)
{
	struct process_set *set;
	struct error err;

	if (create(&set, group, container, false, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(process_set_count(set), 2);
	assert_true(has(set, a) && has(set, b));
	process_set_free(set);
}

/* --- tests ----------------------------------------------------------------------------------- */

static void
test_at_start(void **state)
{
	struct actor in, below, out;
	char *slash;

	(void)state;
	if (made == 0)
		skip();
	in = actor_fork(actors_first());
	below = actor_fork(actors_first());
	out = actor_fork(actors_first());
	assert_true(move_process(in.pid, directory[GROUP]));
	assert_true(move_process(below.pid, directory[BELOW]));
	check_members(path[GROUP], NULL, &in, &below);
	check_members(path[GROUP] + 1, NULL, &in, &below);
	check_members(directory[GROUP], NULL, &in, &below);
	slash = xmalloc(strlen(path[GROUP]) + 3);
	sprintf(slash, "/%s/", path[GROUP]);
	check_members(slash, NULL, &in, &below);
	free(slash);
	actor_exit(&out);
	actor_exit(&below);
	actor_exit(&in);
}

static void
test_group_errors(void **state)
{
	(void)state;
	check_error("/wallsample-no-such-group", NULL, ERROR_NO_MATCH, "there is no cgroup");
	check_error("/sys/fs/cgroup/wallsample-no-such-group", NULL, ERROR_NO_MATCH,
		    "there is no cgroup");
	if (made == 0)
		skip();
	check_error(path[GROUP], NULL, ERROR_NO_MATCH, "there is no process in the cgroup");
	check_error(directory[GROUP], NULL, ERROR_NO_MATCH, "there is no process in the cgroup");
	/* Without the group above it; the message has the whole path. */
	check_error(name[BELOW], NULL, ERROR_NO_MATCH, path[BELOW]);
}

/* Looks every 5 ms of the time *now_ns until the actor is a member, or `most` times. */
static bool
look_for(struct process_set *set, const struct actor *actor, uint64_t *now_ns, int most)
{
	for (int i = 0; i < most && !has(set, actor); i++)
		process_set_look(set, *now_ns += 5 * NS_PER_MS);
	return has(set, actor);
}

static void
test_later(void **state)
{
	struct process_set *set;
	struct actor young, old, child;
	struct error err;
	uint64_t now_ns = clock_now_ns(), listings;

	(void)state;
	if (made == 0)
		skip();
	old = actor_fork(actors_first());
	assert_int_equal(create(&set, path[GROUP], NULL, true, &err), 0);
	assert_int_equal(process_set_count(set), 0);
	assert_true(process_set_may_grow(set));
	/* A process that is moved soon after its start, at the latest by the listing. */
	young = actor_fork(actors_first());
	process_set_look(set, now_ns);
	assert_false(has(set, &young));
	assert_true(move_process(young.pid, directory[BELOW]));
	assert_true(look_for(set, &young, &now_ns, 2400));
	assert_int_equal(process_set_next_new(set, NULL), young.pid);
	/* A process that a member forks. */
	child = actor_fork(&young);
	process_set_look(set, now_ns);
	assert_int_equal(process_set_next_new(set, NULL), child.pid);
	/* An older process, by the list of the group: after a listing of /proc, not by the next. */
	listings = process_set_stats(set)->listings;
	for (int i = 0; i < 2400 && process_set_stats(set)->listings == listings; i++)
		process_set_look(set, now_ns += 5 * NS_PER_MS);
	listings = process_set_stats(set)->listings;
	assert_true(move_process(old.pid, directory[GROUP]));
	assert_true(look_for(set, &old, &now_ns, 1000));
	assert_int_equal(process_set_next_new(set, NULL), old.pid);
	assert_int_equal(process_set_next_new(set, NULL), 0);
	assert_int_equal(process_set_stats(set)->listings, listings);
	process_set_free(set);
	actor_exit(&child);
	actor_exit(&young);
	actor_exit(&old);
}

static void
test_own_child(void **state)
{
	struct actor in;
	struct process_set *set;
	struct error err;
	pid_t child;

	(void)state;
	if (made == 0)
		skip();
	in = actor_fork(actors_first());
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(move_process(child, directory[GROUP]));
	check_error(path[GROUP], NULL, ERROR_NO_MATCH, "no process is left");
	assert_true(move_process(in.pid, directory[GROUP]));
	assert_int_equal(create(&set, path[GROUP], NULL, false, &err), 0);
	assert_int_equal(process_set_next_new(set, NULL), in.pid);
	assert_int_equal(process_set_next_new(set, NULL), 0);
	process_set_free(set);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	actor_exit(&in);
}

static void
test_containers(void **state)
{
	struct actor a, b, other;
	char part[32];

	(void)state;
	if (made == 0)
		skip();
	a = actor_fork(actors_first());
	b = actor_fork(actors_first());
	other = actor_fork(actors_first());
	assert_true(move_process(a.pid, directory[FIRST]));
	assert_true(move_process(b.pid, directory[FIRST]));
	assert_true(move_process(other.pid, directory[GROUP]));
	check_members(NULL, first_id, &a, &b);
	snprintf(part, sizeof(part), "%.9s", first_id);
	check_members(NULL, part, &a, &b);
	part[8] = 'A';
	check_members(NULL, part, &a, &b);
	part[8] = '\0';
	check_error(NULL, part, ERROR_AMBIGUOUS, "give more digits");
	check_error(NULL, second_id, ERROR_NO_MATCH, "there is no process in the container");
	check_error(NULL, "deadbeefc0", ERROR_NO_MATCH, "there is no container");
	actor_exit(&other);
	actor_exit(&b);
	actor_exit(&a);
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
test_group_descriptors(void **state)
{
	const size_t before = count_descriptors();
	struct process_set *set;
	struct error err;
	uint64_t now_ns = clock_now_ns();

	(void)state;
	assert_int_equal(create(&set, "/", NULL, true, &err), 0);
	for (int i = 0; i < 500; i++)
		process_set_look(set, now_ns += 10 * NS_PER_MS);
	process_set_free(set);
	assert_int_equal(create(&set, "/no-such-group", NULL, false, &err), -ERROR_NO_MATCH);
	assert_int_equal(create(&set, NULL, "0000000000000000", false, &err), -ERROR_NO_MATCH);
	assert_int_equal(count_descriptors(), before);
}

static int
run_all(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_at_start),
		cmocka_unit_test(test_group_errors),
		cmocka_unit_test(test_later),
		cmocka_unit_test(test_own_child),
		cmocka_unit_test(test_containers),
		cmocka_unit_test(test_group_descriptors),
	};

	alarm(120);
	snprintf(first_id, sizeof(first_id), FIRST_FORMAT, (unsigned)getpid());
	snprintf(second_id, sizeof(second_id), SECOND_FORMAT, (unsigned)getpid());
	snprintf(name[GROUP], sizeof(name[GROUP]), "wallsample-test-%d", (int)getpid());
	snprintf(name[BELOW], sizeof(name[BELOW]), "below-%d", (int)getpid());
	snprintf(name[FIRST], sizeof(name[FIRST]), "docker-%s.scope", first_id);
	snprintf(name[SECOND], sizeof(name[SECOND]), "libpod-%s.scope", second_id);
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}

int
main(int argc, char **argv)
{
	return actors_main(argc, argv, run_all);
}
