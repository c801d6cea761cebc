/* SPDX-License-Identifier: MIT */
/* test_process_set_parts.c - parts of a target set, without processes: new ids, what is examined
 * again, what is known, containers and control groups in texts, words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/process_set_internal.h"

/* --- new ids --------------------------------------------------------------------------------- */

/* Checks that the ids that wait are first … last - 1, then again … end, and nothing else. */
static void
check_ids(struct new_ids *ids, pid_t first, pid_t last, pid_t again, pid_t end)
{
	assert_int_equal(new_ids_count(ids), last - first + (end - again + 1));
	for (pid_t id = first; id < last; id++)
		assert_int_equal(new_ids_next(ids), id);
	for (pid_t id = again; id <= end; id++)
		assert_int_equal(new_ids_next(ids), id);
	assert_int_equal(new_ids_next(ids), 0);
	assert_int_equal(new_ids_count(ids), 0);
}

static void
test_ids(void **state)
{
	struct new_ids ids = { .known = true, .newest = 1000 };

	(void)state;
	assert_int_equal(new_ids_next(&ids), 0);
	new_ids_extend(&ids, 1000, 0);
	assert_int_equal(new_ids_count(&ids), 0);
	new_ids_extend(&ids, 1001, 0);
	check_ids(&ids, 1001, 1001, 1001, 1001);
	new_ids_extend(&ids, 1004, 0);
	assert_int_equal(new_ids_next(&ids), 1002);
	new_ids_extend(&ids, 1010, 0);
	check_ids(&ids, 1003, 1003, 1003, 1010);
}

static void
test_ids_wrap(void **state)
{
	struct new_ids ids = { .known = true, .newest = 32760 };

	(void)state;
	new_ids_extend(&ids, 305, 32768);
	check_ids(&ids, 32761, 32768, 300, 305);

	/* The largest id was the newest one. */
	ids = (struct new_ids){ .known = true, .newest = 32767 };
	new_ids_extend(&ids, 300, 32768);
	check_ids(&ids, 32768, 32768, 300, 300);

	/* The range grows while it waits, before and after the first id. */
	ids = (struct new_ids){ .known = true, .newest = 32764 };
	new_ids_extend(&ids, 32766, 0);
	assert_int_equal(new_ids_next(&ids), 32765);
	new_ids_extend(&ids, 301, 32768);
	assert_int_equal(new_ids_next(&ids), 32766);
	assert_int_equal(new_ids_next(&ids), 32767);
	assert_int_equal(new_ids_next(&ids), 300);
	new_ids_extend(&ids, 303, ids.limit);
	check_ids(&ids, 301, 301, 301, 303);
	new_ids_extend(&ids, 304, ids.limit);
	check_ids(&ids, 304, 304, 304, 304);

	/* The next id was set to one below the first one of a wrap. */
	ids = (struct new_ids){ .known = true, .newest = 398 };
	new_ids_extend(&ids, 12, 400);
	check_ids(&ids, 399, 400, 1, 12);
}

static void
test_ids_hostile(void **state)
{
	struct new_ids ids = { .known = true, .newest = 4194303 };
	size_t count = 0;

	(void)state;
	/* A limit below the newest id, which was lowered meanwhile. */
	new_ids_extend(&ids, 310, 1000);
	check_ids(&ids, 4194304, 4194304, 300, 310);
	new_ids_extend(&ids, 309, PROCESS_ID_LIMIT);
	assert_int_equal(new_ids_count(&ids), PROCESS_ID_LIMIT - 311 + 10);
	while (new_ids_next(&ids) > 0)
		count++;
	assert_int_equal(count, PROCESS_ID_LIMIT - 311 + 10);
}

static void
sleep_until_killed(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

/* The newest id from its file, as in a container whose /proc/loadavg is that of lxcfs. */
static void
test_ids_of_sysctl(void **state)
{
	struct new_ids ids = { .loadavg = { .opened = true, .fd = -1 } };
	bool found = false;
	pid_t child, id;

	(void)state;
	if (access("/proc/sys/kernel/ns_last_pid", R_OK) != 0) {
		assert_false(new_ids_read(&ids));
		skip();
	}
	assert_true(new_ids_read(&ids));
	assert_int_equal(new_ids_count(&ids), 0);
	child = fork();
	if (child == 0)
		sleep_until_killed();
	assert_true(child > 0);
	assert_true(new_ids_read(&ids));
	while ((id = new_ids_next(&ids)) > 0)
		found |= id == child;
	assert_true(found);
	assert_int_equal(new_ids_state(child), ID_PROCESS);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	new_ids_release(&ids);
}

static void
test_id_states(void **state)
{
	(void)state;
	assert_int_equal(new_ids_state(getpid()), ID_PROCESS);
	assert_int_equal(new_ids_state(1), ID_PROCESS);
	/* No id is that large. */
	assert_int_equal(new_ids_state(PROCESS_ID_LIMIT + 1), ID_UNUSED);
}

/* --- what is examined again ------------------------------------------------------------------ */

#define MS(n) ((n)*NS_PER_MS)

static void
test_later(void **state)
{
	static const uint64_t looks_ms[] = { 5, 15, 35, 75, 155, 255, 355, 455 };
	struct later_list list = { .count = 0 };
	struct later item;

	(void)state;
	assert_true(later_add(&list, 17, 99, MS(1000)));
	for (size_t i = 0; i < ARRAY_SIZE(looks_ms); i++) {
		const uint64_t due_ns = MS(1000 + looks_ms[i]);

		assert_false(later_is_due(&list, due_ns - 1));
		assert_false(later_next(&list, due_ns - 1, &item));
		assert_true(later_is_due(&list, due_ns));
		assert_true(later_next(&list, due_ns, &item));
		assert_int_equal(item.pid, 17);
		assert_int_equal(item.start_time, 99);
		assert_int_equal(item.first_ns, MS(1000));
		assert_int_equal(list.count, 0);
		later_repeat(&list, &item, due_ns);
	}
	assert_int_equal(list.count, 1);
	later_release(&list);
}

/* Items of several steps, more than a ring has at first. */
static void
test_later_many(void **state)
{
	struct later_list list = { .count = 0 };
	struct later item;
	pid_t next = 1;
	size_t count = 0;

	(void)state;
	for (uint64_t ms = 0; ms < 1000; ms++) {
		assert_true(later_add(&list, next++, 1, MS(ms)));
		while (later_next(&list, MS(ms), &item)) {
			assert_true(item.due_ns <= MS(ms));
			if (item.step < 2)
				later_repeat(&list, &item, MS(ms));
			count++;
		}
	}
	/* Those of 0 to 964 ms were examined three times, the next 20 twice, the next 10 once. */
	assert_int_equal(count, 965 * 3 + 20 * 2 + 10);
	assert_int_equal(list.count, 35);
	while (later_add(&list, next, 1, MS(1000)))
		next++;
	assert_int_equal(list.count, 16384);
	for (count = 0; later_next(&list, MS(9000), &item); count++)
		continue;
	assert_int_equal(count, 16384);
	later_release(&list);
}

/* --- what is known --------------------------------------------------------------------------- */

static void
test_known(void **state)
{
	struct known_list list = { .item = NULL };
	struct known *known;

	(void)state;
	assert_null(known_find(&list, 17));
	known = known_add(&list, 17, 500);
	assert_false(known_has_descendants(known));
	known_set_kind(&list, known, KNOWN_MEMBER);
	assert_int_equal(list.members, 1);
	assert_true(known_has_descendants(known));
	/* Another process with this id. */
	known = known_add(&list, 17, 600);
	assert_int_equal(list.members, 0);
	assert_int_equal(known_find(&list, 17)->start_time, 600);
	known_set_kind(&list, known, KNOWN_DROPPED);
	assert_null(known_find(&list, 17));
	known = known_add(&list, 17, 700);
	assert_ptr_equal(known, known_find(&list, 17));
	assert_int_equal(list.count, 1);
	known_release(&list);
}

/* Members stay; of those that were removed the last ones stay; the others are forgotten. */
static void
test_known_many(void **state)
{
	const pid_t members = 100, all = 100000;
	struct known_list list = { .item = NULL };

	(void)state;
	for (pid_t pid = 1; pid <= all; pid++) {
		struct known *known = known_add(&list, pid, 1);

		known_set_kind(&list, known, KNOWN_MEMBER);
		if (pid > members)
			known_set_kind(&list, known, KNOWN_REMOVED);
	}
	assert_int_equal(list.members, members);
	assert_true(list.count < 20000);
	for (pid_t pid = 1; pid <= members; pid++)
		assert_int_equal(known_find(&list, pid)->kind, KNOWN_MEMBER);
	for (pid_t pid = all - 4095; pid <= all; pid++)
		assert_int_equal(known_find(&list, pid)->kind, KNOWN_REMOVED);
	assert_null(known_find(&list, all / 2));
	known_release(&list);
}

/* The CPU time of excluded processes counts after their entries have been freed, and no process
 * counts twice. */
static void
test_known_excluded(void **state)
{
	struct known_list list = { .item = NULL };
	struct known *known = known_add(&list, PROCESS_ID_LIMIT - 1, 1);

	(void)state;
	known_set_kind(&list, known, KNOWN_EXCLUDED);
	known->first_ticks = 10;
	known->last_ticks = 25;
	assert_int_equal(list.excluded, 0);
	/* Enough to free those that have ended, which the largest id has. */
	for (pid_t pid = 1; pid <= 5000; pid++)
		known_set_kind(&list, known_add(&list, pid, 1), KNOWN_DROPPED);
	assert_null(known_find(&list, PROCESS_ID_LIMIT - 1));
	assert_int_equal(list.excluded, 1);
	assert_int_equal(list.excluded_ticks, 15);
	known_release(&list);
}

/* --- containers ------------------------------------------------------------------------------ */

#define ID_A "3f2a5c7d9e0111223344556677889900aabbccddeeff00112233445566778899"
#define ID_B "b0b1b2b3b4b5b6b7b8b9babbbcbdbebf000102030405060708090a0b0c0d0e0f"
#define POD "pod0a1b2c3d-1111-2222-3333-444455556666"
#define POD_SLICE "kubepods-burstable-pod0a1b2c3d_1111_2222_3333_444455556666.slice"

static void
test_container_paths(void **state)
{
	static const char *const paths[] = {
		"/docker/" ID_A,
		"/system.slice/docker-" ID_A ".scope",
		"/system.slice/docker-" ID_A ".scope/init",
		"/machine.slice/libpod-" ID_A ".scope",
		"/machine.slice/libpod-" ID_A ".scope/container",
		"/libpod_parent/libpod-" ID_A,
		"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-payload-" ID_A,
		"/kubepods/" POD "/" ID_A,
		"/kubepods/besteffort/" POD "/" ID_A,
		"/kubepods.slice/kubepods-burstable.slice/" POD_SLICE "/cri-containerd-" ID_A
		".scope",
		"/kubepods.slice/kubepods-burstable.slice/" POD_SLICE "/crio-" ID_A ".scope",
		"/kubepods.slice/kubepods-burstable.slice/" POD_SLICE "/docker-" ID_A ".scope",
		"/system.slice/containerd.service/" POD_SLICE ":cri-containerd:" ID_A,
		"/system.slice/nerdctl-" ID_A ".scope",
		"/ecs/0123456789abcdef0123456789abcdef/" ID_A,
		"/actions_job/" ID_A "/",
		ID_A,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		const char *cursor = paths[i], *id = container_id_next(&cursor);

		assert_non_null(id);
		assert_memory_equal(id, ID_A, CONTAINER_ID_LENGTH);
		assert_null(container_id_next(&cursor));
		assert_true(container_id_in_path(paths[i], ID_A));
		assert_true(container_id_in_path(paths[i], "3f2a"));
		assert_false(container_id_in_path(paths[i], "2a5c"));
		assert_false(container_id_in_path(paths[i], ID_B));
	}
}

static void
test_no_container_paths(void **state)
{
	static const char *const paths[] = {
		"", "/", "//", "/docker", "/system.slice/nginx.service",
		/* Monitors of containers. */
		"/machine.slice/libpod-conmon-" ID_A ".scope", "/x/crio-conmon-" ID_A ".scope",
		/* A mount of a container, an id with a digit more or less, other letters. */
		"/system.slice/var-lib-docker-containers-" ID_A "-mounts-shm.mount",
		"/docker/" ID_A "0", "/docker/0" ID_A, "/docker/x" ID_A, "/docker/" ID_A ".slice",
		"/docker/f2a5c7d9e0111223344556677889900aabbccddeeff00112233445566778899",
		"/docker/3F2A5C7D9E0111223344556677889900AABBCCDDEEFF00112233445566778899",
		"/docker/gf2a5c7d9e0111223344556677889900aabbccddeeff00112233445566778899",
		"/kubepods/besteffort/" POD, ".scope", "/.scope", "/-.scope",
		/* The next line. */
		"/a\n/docker/" ID_A,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		const char *cursor = paths[i];

		assert_null(container_id_next(&cursor));
		assert_false(container_id_in_path(paths[i], "3f2a"));
	}
}

/* A process in a container in another container belongs to both. */
static void
test_nested_containers(void **state)
{
	static const char *const paths[] = {
		"/docker/" ID_A "/docker/" ID_B,
		"/system.slice/docker-" ID_A ".scope/system.slice/docker-" ID_B ".scope",
		"/docker/" ID_A "/kubepods/besteffort/" POD "/" ID_B,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		const char *cursor = paths[i];

		assert_memory_equal(container_id_next(&cursor), ID_A, CONTAINER_ID_LENGTH);
		assert_memory_equal(container_id_next(&cursor), ID_B, CONTAINER_ID_LENGTH);
		assert_null(container_id_next(&cursor));
		assert_true(container_id_in_path(paths[i], ID_A));
		assert_true(container_id_in_path(paths[i], ID_B));
	}
}

static void
test_container_digits(void **state)
{
	static const char *const bad[] = { "", "web", "3f2", "12 4", "abcg", "0x1234", ID_A "0" };
	char digits[CONTAINER_ID_LENGTH + 1];
	struct error err;

	(void)state;
	assert_int_equal(container_id_check("3F2a", digits, &err), 0);
	assert_string_equal(digits, "3f2a");
	assert_int_equal(container_id_check(ID_A, digits, &err), 0);
	assert_string_equal(digits, ID_A);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(container_id_check(bad[i], digits, &err), -ERROR_USAGE);
	container_id_check("3f2", digits, &err);
	assert_non_null(strstr(err.text, "too short"));
	container_id_check("web", digits, &err);
	assert_non_null(strstr(err.text, "not a container id"));
}

/* --- control groups -------------------------------------------------------------------------- */

static const char v2_text[] = "0::/system.slice/nginx.service\n";
static const char v1_text[] = "12:cpu,cpuacct:/docker/" ID_A "\n"
			      "11:name=systemd:/docker/" ID_A "\n"
			      "3:memory:/jobs/one\n"
			      "2:rdma:/\n"
			      "0::/\n";

static bool
is_in(const char *text, const char *path, const struct group_mount *mount)
{
	char *copy = xstrdup(path);
	struct group_rule rule = { .path = copy, .mount = mount };
	struct group_rules rules = { .rule = &rule, .count = 1 };
	const bool matches = group_rules_match(&rules, text);

	assert_int_equal(rule.met, matches);
	free(copy);
	return matches;
}

static void
test_groups(void **state)
{
	(void)state;
	assert_true(is_in(v2_text, "/system.slice/nginx.service", NULL));
	assert_true(is_in(v2_text, "/system.slice", NULL));
	assert_true(is_in(v2_text, "/", NULL));
	assert_false(is_in(v2_text, "/system.slice/nginx", NULL));
	assert_false(is_in(v2_text, "/system.slice/nginx.service/a", NULL));
	assert_false(is_in(v2_text, "/system", NULL));
	assert_false(is_in(v2_text, "/slice", NULL));
	assert_true(is_in(v1_text, "/jobs", NULL));
	assert_true(is_in(v1_text, "/docker/" ID_A, NULL));
	assert_false(is_in(v1_text, "/docker/" ID_B, NULL));
	assert_false(is_in("", "/", NULL));
	assert_false(is_in("\n\n", "/", NULL));
	assert_false(is_in("0:", "/", NULL));
	assert_false(is_in("0\n:\n:/\n", "/", NULL));
	assert_true(is_in("0::/a", "/a", NULL));
}

static void
test_groups_of_hierarchy(void **state)
{
	char cpu[] = "rw,cpu,cpuacct", memory[] = "rw,memory", named[] = "rw,xattr,name=systemd";
	const struct group_mount v2 = { .options = NULL }, v1_cpu = { .options = cpu },
				 v1_memory = { .options = memory }, v1_named = { .options = named };

	(void)state;
	assert_true(is_in(v1_text, "/docker", &v1_cpu));
	assert_true(is_in(v1_text, "/docker", &v1_named));
	assert_false(is_in(v1_text, "/docker", &v1_memory));
	assert_false(is_in(v1_text, "/docker", &v2));
	assert_true(is_in(v1_text, "/jobs/one", &v1_memory));
	assert_false(is_in(v1_text, "/jobs/one", &v1_cpu));
	assert_true(is_in(v1_text, "/", &v2));
	assert_true(is_in(v2_text, "/system.slice", &v2));
	assert_false(is_in(v2_text, "/system.slice", &v1_cpu));
}

static void
check_place(const struct group_mount *mount, const char *path, const char *directory)
{
	char *found = group_mount_directory(mount, path), *back = NULL;

	if (directory == NULL) {
		assert_null(found);
		return;
	}
	assert_string_equal(found, directory);
	back = group_mount_path(mount, found);
	assert_string_equal(back, path);
	free(found);
	free(back);
}

static void
test_mounts(void **state)
{
	char text[] =
		"24 31 0:22 / /proc rw,nosuid shared:12 - proc proc rw\n"
		"32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup c rw,cpu,cpuacct\n"
		"33 31 0:30 /docker/a /mnt/my\\040cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n"
		"34 31 0:31 / / rw - ext4 /dev/sda1 rw\n"
		"35 - cgroup cgroup rw\n36 31 0:29 / /x rw - cgroup\n\n - \nno mount\n";
	struct group_mounts mounts = { .item = NULL };

	(void)state;
	group_mounts_parse(&mounts, text);
	assert_int_equal(mounts.count, 2);
	assert_string_equal(mounts.item[0].point, "/sys/fs/cgroup/cpu,cpuacct");
	assert_string_equal(mounts.item[0].options, "rw,cpu,cpuacct");
	assert_string_equal(mounts.item[1].point, "/mnt/my cgroup");
	assert_string_equal(mounts.item[1].root, "/docker/a");
	assert_null(mounts.item[1].options);
	check_place(&mounts.item[0], "/", "/sys/fs/cgroup/cpu,cpuacct");
	check_place(&mounts.item[0], "/a/b", "/sys/fs/cgroup/cpu,cpuacct/a/b");
	check_place(&mounts.item[1], "/docker/a", "/mnt/my cgroup");
	check_place(&mounts.item[1], "/docker/a/b", "/mnt/my cgroup/b");
	check_place(&mounts.item[1], "/docker/ab", NULL);
	check_place(&mounts.item[1], "/", NULL);
	group_mounts_release(&mounts);
}

/* --- words ----------------------------------------------------------------------------------- */

static void
check_words(const struct process_set *set, const char *words)
{
	struct strbuf sb = STRBUF_INIT;

	process_set_describe(set, &sb);
	assert_string_equal(sb.data, words);
	strbuf_release(&sb);
}

static void
test_words(void **state)
{
	char postgres[] = "postgres", nginx[] = "nginx", web[] = "web*", escape[] = "\x1b[2J";
	char id[] = ID_A, path[] = "/system.slice/nginx.service";
	char *given[] = { postgres, nginx, postgres, nginx }, *globs[] = { web, escape };
	pid_t pids[] = { 812, 17, 18, 19 };
	struct group_rule rules[] = { { .text = id }, { .text = path, .path = path } };
	struct process_set set = { .given = given, .given_pids = pids, .given_count = 1 };

	(void)state;
	check_words(&set, "postgres (812)");
	set.descendants = true;
	check_words(&set, "postgres (812) and its descendants");
	set.given_count = 2;
	check_words(&set, "postgres (812) and nginx (17), and their descendants");
	set.given_count = 4;
	check_words(&set, "4 processes and their descendants");
	set.given_count = 0;
	set.names = (struct name_rules){ .glob = globs, .count = 2 };
	check_words(&set, "processes named web* or \\x1b[2J and their descendants");
	set.descendants = false;
	set.groups = (struct group_rules){ .rule = rules, .count = 2 };
	set.given_count = 1;
	set.names.count = 1;
	set.excluded = (struct name_rules){ .glob = globs, .count = 1 };
	check_words(&set, "postgres (812), processes named web*, container 3f2a5c7d9e01 and cgroup "
			  "/system.slice/nginx.service, except those named web*");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_ids_wrap),
		cmocka_unit_test(test_ids_hostile),
		cmocka_unit_test(test_ids_of_sysctl),
		cmocka_unit_test(test_id_states),
		cmocka_unit_test(test_later),
		cmocka_unit_test(test_later_many),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_known_many),
		cmocka_unit_test(test_known_excluded),
		cmocka_unit_test(test_container_paths),
		cmocka_unit_test(test_no_container_paths),
		cmocka_unit_test(test_nested_containers),
		cmocka_unit_test(test_container_digits),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_groups_of_hierarchy),
		cmocka_unit_test(test_mounts),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
