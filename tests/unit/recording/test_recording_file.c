/* SPDX-License-Identifier: MIT */
/*
 * test_recording_file.c - the file of a recording: what happens to it while it is written, and
 * what is said of files that are none.
 */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "../scene/recording_scene.h"
#include "wallsample/base/base.h"
#include "wallsample/recording/recording_read.h"

/* --- what happens to a writer ------------------------------------------------------------ */

/* In a child that writes until it is killed: what it said was written is there. */
static void
test_killed(void **state)
{
	struct recording_info info;
	struct profile *back;
	struct place place;
	int said[2], committed = 0, status;
	pid_t child;

	(void)state;
	place_make(&place);
	assert_int_equal(pipe(said), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		uint32_t worker, idle;
		struct profile *profile = make_profile(&worker, &idle);
		struct modules *modules = modules_create();
		struct recorder *recorder = record_in(&place, profile, modules);

		for (;;) {
			sample_ticks(profile, worker, idle, 100);
			if (recorder_commit(recorder, &no_stats, NULL) != 0 ||
			    write(said[1], "x", 1) != 1)
				_exit(1);
		}
	}
	close(said[1]);
	for (char byte; committed < 20 && read(said[0], &byte, 1) == 1;)
		committed++;
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	for (char byte; read(said[0], &byte, 1) == 1;)
		committed++;
	close(said[0]);
	back = load(place.path, NULL, &info);
	assert_false(info.ended);
	assert_true(info.ticks >= (uint64_t)committed * 100);
	assert_int_equal(info.ticks % 100, 0);
	assert_int_equal(sum_of(back, WEIGHT_WALL), 2 * (int64_t)profile_wall_ns(back));
	profile_free(back);
	place_remove(&place);
}

static void
die_in_a_transaction(const char *path)
{
	sqlite3 *db;

	if (sqlite3_open(path, &db) != SQLITE_OK ||
	    sqlite3_exec(db, "PRAGMA cache_size = 2; BEGIN; UPDATE spans SET wall_ns = 1; "
			     "UPDATE ticks SET span_ns = 1", NULL, NULL, NULL) != SQLITE_OK)
		_exit(1);
	_exit(0);
}

/* Killed in the middle of a commit: half of it is in the file, and what was there beside it. */
static void
test_torn(void **state)
{
	struct recording_info info;
	struct profile *before, *back;
	struct place place;
	struct stat journal, after;
	pid_t child;
	int status;

	(void)state;
	place_make(&place);
	make_recording(&place, 5000, false);
	before = load(place.path, NULL, NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		die_in_a_transaction(place.path);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(fstatat(place.dirfd, "x.wsdb-journal", &journal, 0), 0);
	assert_true(journal.st_size > 0);
	back = load(place.path, NULL, &info);
	assert_int_equal(info.ticks, 5000);
	assert_same(before, back);
	/* In a copy: the file itself is as it was left. */
	assert_int_equal(fstatat(place.dirfd, "x.wsdb-journal", &after, 0), 0);
	assert_int_equal(journal.st_size, after.st_size);
	profile_free(before);
	profile_free(back);
	place_remove(&place);
}

/* What a killed writer has left beside a recording belongs to it by whatever link it is read. */
static void
test_torn_behind_link(void **state)
{
	struct profile *before, *back;
	struct place place;
	char link[96];
	pid_t child;
	int status;

	(void)state;
	place_make(&place);
	make_recording(&place, 5000, false);
	before = load(place.path, NULL, NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		die_in_a_transaction(place.path);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(symlinkat("x.wsdb", place.dirfd, "link"), 0);
	snprintf(link, sizeof(link), "%s/link", place.folder);
	back = load(link, NULL, NULL);
	assert_same(before, back);
	profile_free(before);
	profile_free(back);
	assert_int_equal(unlinkat(place.dirfd, "link", 0), 0);
	place_remove(&place);
}

/* In a child that may write no more than that: what a reader says of a torn recording then. */
static void
read_with_little_room(const char *path, const char *folder)
{
	const struct rlimit little = { 100000, RLIM_INFINITY };
	struct recording *recording;
	struct error err = { .kind = ERROR_NONE };

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &little);
	setenv("TMPDIR", folder, 1);
	if (recording_open(path, &recording, &err) == 0)
		_exit(0);
	_exit(strstr(err.text, "File too large") != NULL ? 1 :
	      strstr(err.text, "No such file") != NULL	 ? 2 : 3);
}

static int
room(const char *path, const char *folder)
{
	const pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0)
		read_with_little_room(path, folder);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

/* The copy in which a torn one is put in order: a hole takes no room; what is missing is said. */
static void
test_torn_room(void **state)
{
	struct place place;
	pid_t child;
	int status;

	(void)state;
	place_make(&place);
	make_recording(&place, 5000, false);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		die_in_a_transaction(place.path);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WEXITSTATUS(room(place.path, place.folder)), 1);
	assert_int_equal(WEXITSTATUS(room(place.path, "/nowhere")), 2);
	assert_int_equal(truncate(place.path, INT64_C(1) << 40), 0);
	assert_int_equal(setenv("TMPDIR", place.folder, 1), 0);
	profile_free(load(place.path, NULL, NULL));
	assert_int_equal(unsetenv("TMPDIR"), 0);
	place_remove(&place);
}

static void
die_in_a_commit(const struct place *place)
{
	const struct rlimit little = { 100000, RLIM_INFINITY };
	uint32_t worker, idle;
	struct profile *profile = make_profile(&worker, &idle);
	struct modules *modules = modules_create();
	struct recorder *recorder = record_in(place, profile, modules);

	if (fchmodat(place->dirfd, "x.wsdb", 0644, 0) != 0)
		_exit(1);
	signal(SIGXFSZ, SIG_DFL);
	setrlimit(RLIMIT_FSIZE, &little);
	do
		sample_ticks(profile, worker, idle, 100);
	while (recorder_commit(recorder, &no_stats, NULL) == 0);
	_exit(1);
}

/*
 * A recording that root made, whose writer was killed: who may read it may read what makes it
 * whole again. Who may not is told so: what is in the file alone is half a commit.
 */
static void
test_torn_of_another(void **state)
{
	const uid_t user = geteuid();
	struct recording *recording;
	struct place place;
	struct stat log;
	struct error err;
	pid_t child;
	int status, rc;

	(void)state;
	place_make(&place);
	assert_int_equal(chmod(place.folder, 0755), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		die_in_a_commit(&place);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ);
	assert_int_equal(fstatat(place.dirfd, "x.wsdb-wal", &log, 0), 0);
	assert_int_equal(log.st_mode & 0777, 0644);
	profile_free(load(place.path, NULL, NULL));
	assert_int_equal(fchmodat(place.dirfd, "x.wsdb-wal", 0, 0), 0);
	if (user == 0)
		assert_int_equal(seteuid(65534), 0);
	rc = recording_open(place.path, &recording, &err);
	assert_int_equal(seteuid(user), 0);
	assert_int_equal(rc, -ERROR_SYSTEM);
	assert_non_null(strstr(err.text, "x.wsdb-wal"));
	assert_non_null(strstr(err.text, "Permission denied"));
	place_remove(&place);
}

/* No room any more: what was written before is whole, and the sentence says what it was. */
static void
test_no_room(void **state)
{
	const struct rlimit little = { 100000, RLIM_INFINITY };
	uint32_t worker, idle;
	struct profile *profile = make_profile(&worker, &idle), *back;
	struct modules *modules = modules_create();
	struct recording_info info;
	struct recorder *recorder;
	struct rlimit before;
	struct place place;
	struct error err;
	int rounds = 0;

	(void)state;
	place_make(&place);
	recorder = record_in(&place, profile, modules);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	setrlimit(RLIMIT_FSIZE, &little);
	do
		sample_ticks(profile, worker, idle, 100);
	while (recorder_commit(recorder, &no_stats, &err) == 0 && ++rounds < 1000);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_in_range(rounds, 1, 999);
	assert_int_equal(err.kind, ERROR_OUTPUT);
	assert_non_null(strstr(err.text, place.path));
	if (strstr(err.text, "File too large") == NULL)
		fail_msg("%s", err.text);
	/* There is room again, but what came meanwhile was not taken. */
	sample_ticks(profile, worker, idle, 100);
	assert_int_equal(recorder_commit(recorder, &no_stats, &err), -ERROR_OUTPUT);
	recorder_free(recorder);
	back = load(place.path, NULL, &info);
	assert_int_equal(info.ticks, rounds * 100);
	profile_free(back);
	profile_free(profile);
	modules_free(modules);
	place_remove(&place);
}

static void
refuse_to_record(const struct place *place, const char *why)
{
	struct profile *profile = profile_create();
	struct modules *modules = modules_create();
	const struct recording_config config = {
		.dirfd = place->dirfd, .base = "x.wsdb", .path = place->path, .modules = modules,
	};
	struct recorder *recorder;
	struct error err;

	assert_int_equal(recorder_create(&config, profile, &recorder, &err), -ERROR_OUTPUT);
	assert_null(recorder);
	if (strstr(err.text, why) == NULL)
		fail_msg("'%s' instead of '%s'", err.text, why);
	profile_free(profile);
	modules_free(modules);
}

static void
test_two_writers(void **state)
{
	uint32_t worker, idle;
	struct profile *profile = make_profile(&worker, &idle), *back;
	struct modules *modules = modules_create();
	struct recorder *recorder;
	struct recording_info info;
	struct place place;
	struct error err;

	(void)state;
	place_make(&place);
	recorder = record_in(&place, profile, modules);
	sample_ticks(profile, worker, idle, 10);
	assert_int_equal(recorder_commit(recorder, &no_stats, &err), 0);
	refuse_to_record(&place, "another wallsample is writing it");
	back = load(place.path, NULL, &info);
	assert_true(info.being_written);
	assert_int_equal(info.ticks, 10);
	profile_free(back);
	/* Somebody removes it: that is said, and no other file of that name is touched. */
	assert_int_equal(unlinkat(place.dirfd, "x.wsdb", 0), 0);
	sample_ticks(profile, worker, idle, 10);
	assert_int_equal(recorder_commit(recorder, &no_stats, &err), -ERROR_OUTPUT);
	assert_non_null(strstr(err.text, "removed or replaced"));
	assert_int_not_equal(access(place.path, F_OK), 0);
	recorder_free(recorder);
	profile_free(profile);
	modules_free(modules);
	place_remove(&place);
}

/* How many files there are in the folder. */
static int
count_files(const struct place *place)
{
	DIR *folder = opendir(place->folder);
	int count = 0;

	assert_non_null(folder);
	while (readdir(folder) != NULL)
		count++;
	closedir(folder);
	return count - 2; /* . and .. */
}

/* A recording that comes to nothing costs nobody the one that had its name. */
static void
test_old_one_stays(void **state)
{
	const struct rlimit nothing = { 0, RLIM_INFINITY };
	struct profile *profile = profile_create();
	struct modules *modules = modules_create();
	struct recording_info info;
	struct recorder *recorder;
	struct rlimit before;
	struct place place;
	struct error err;
	uint32_t thread;

	(void)state;
	place_make(&place);
	make_recording(&place, 100, true);
	/* nothing to record */
	recorder = record_in(&place, profile, modules);
	recorder_discard(recorder);
	profile_free(load(place.path, NULL, &info));
	assert_int_equal(info.ticks, 100);
	/* no room from the beginning */
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	setrlimit(RLIMIT_FSIZE, &nothing);
	refuse_to_record(&place, "File too large");
	setrlimit(RLIMIT_FSIZE, &before);
	profile_free(load(place.path, NULL, &info));
	assert_int_equal(info.ticks, 100);
	/* no room for the first samples */
	recorder = record_in(&place, profile, modules);
	thread = profile_add_thread(profile, 0, 5, 5, "t");
	add(profile, thread, "m", RUN_RUNNING, 1);
	profile_add_tick(profile, TICK, 1, 1);
	setrlimit(RLIMIT_FSIZE, &nothing);
	assert_int_equal(recorder_commit(recorder, &no_stats, &err), -ERROR_OUTPUT);
	setrlimit(RLIMIT_FSIZE, &before);
	recorder_free(recorder);
	profile_free(load(place.path, NULL, &info));
	assert_int_equal(info.ticks, 100);
	assert_int_equal(count_files(&place), 1);
	profile_free(profile);
	modules_free(modules);
	place_remove(&place);
}

/* With it goes what its killed writer has left, and comes back. */
static void
test_old_torn_one_stays(void **state)
{
	struct profile *profile = profile_create(), *before, *back;
	struct modules *modules = modules_create();
	struct place place;
	pid_t child;
	int status;

	(void)state;
	place_make(&place);
	make_recording(&place, 5000, false);
	before = load(place.path, NULL, NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		die_in_a_transaction(place.path);
	assert_int_equal(waitpid(child, &status, 0), child);
	recorder_discard(record_in(&place, profile, modules));
	back = load(place.path, NULL, NULL);
	assert_same(before, back);
	/* Samples take its place for good. */
	make_recording(&place, 10, true);
	assert_int_equal(count_files(&place), 1);
	profile_free(before);
	profile_free(back);
	profile_free(profile);
	modules_free(modules);
	place_remove(&place);
}

static void
test_links(void **state)
{
	struct place place;
	struct stat info;

	(void)state;
	place_make(&place);
	assert_int_equal(symlinkat("/dev/null", place.dirfd, "x.wsdb"), 0);
	refuse_to_record(&place, "no regular file");
	assert_int_equal(fstatat(place.dirfd, "x.wsdb", &info, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISLNK(info.st_mode));
	assert_int_equal(unlinkat(place.dirfd, "x.wsdb", 0), 0);
	/* The journal's name is taken by a link: it is removed, and nothing is written there. */
	assert_int_equal(symlinkat("planted", place.dirfd, "x.wsdb-journal"), 0);
	make_recording(&place, 100, true);
	assert_int_not_equal(faccessat(place.dirfd, "planted", F_OK, 0), 0);
	place_remove(&place);
}

/* --- what is no recording ---------------------------------------------------------------- */

static void
refuse_to_read(const char *path, const char *why)
{
	struct recording_load to = { .profile = profile_create() };
	struct recording *recording;
	struct error err = { .kind = ERROR_NONE };

	if (recording_open(path, &recording, &err) == 0) {
		(void)recording_load(recording, &to, &err);
		recording_close(recording);
	}
	profile_free(to.profile);
	assert_int_equal(err.kind, ERROR_FORMAT);
	if (strstr(err.text, why) == NULL)
		fail_msg("'%s' instead of '%s'", err.text, why);
}

/* Damages of a whole recording, and what the reader says of each. */
static const struct {
	const char *sql, *why;
} damage[] = {
	{ "UPDATE stacks SET caller = id", "its stacks cannot be right" },
	{ "UPDATE stacks SET caller = 3 WHERE id = 1", "its stacks cannot be right" },
	{ "UPDATE stacks SET frame = 1000", "its stacks cannot be right" },
	{ "UPDATE frames SET module = 9", "its frames cannot be right" },
	{ "UPDATE frames SET origin = 'interpreter', line = -1", "its frames cannot be right" },
	{ "UPDATE frames SET origin = 'interpreter', line = 'x'", "its frames cannot be right" },
	{ "UPDATE frames SET origin = 'interpreter', module = 0", "its frames cannot be right" },
#define ADD_MODULE "INSERT INTO modules VALUES(0, '/x', 'file', 0, NULL, NULL, 0);"
	{ ADD_MODULE "UPDATE frames SET module = 0, epoch = 0", "its frames cannot be right" },
	{ ADD_MODULE "UPDATE frames SET module = 0, address = 0", "its frames cannot be right" },
	{ "UPDATE spans SET thread = 2", "its samples cannot be right" },
	{ "UPDATE spans SET stack = 1 << 40", "its samples cannot be right" },
	{ "UPDATE spans SET wall_ns = 1 << 62", "its samples cannot be right" },
	{ "UPDATE spans SET wall_ns = 1 << 59", "its samples cannot be right" },
	{ "UPDATE spans SET wall_ns = (1 << 60) + 1 WHERE id = 0", "its samples cannot be right" },
	{ "INSERT INTO blame VALUES((1 << 60) + 1, 0, 0, 0, 'R', 0, 1, 1, 1)", "table 'blame'" },
	{ "UPDATE spans SET samples = 'many'", "its samples cannot be right" },
	{ "UPDATE ticks SET parallelism = 1 << 30", "its ticks cannot be right" },
	{ "UPDATE ticks SET span_ns = -1", "its ticks cannot be right" },
	{ "DELETE FROM ticks WHERE n = 50", "its ticks cannot be right" },
	{ "UPDATE meta SET value = 1 << 33 WHERE key = 'began'",
	  "its table 'meta' cannot be right" },
	{ "DROP TABLE spans", "its table 'spans' is not there" },
	{ "DROP TABLE spans; CREATE VIEW spans AS SELECT 1 AS id", "its table 'spans'" },
	{ "ALTER TABLE spans ADD COLUMN x AS (hex(wall_ns))", "its table 'spans'" },
	{ "UPDATE spans SET wait = 9", "its samples cannot be right" },
	{ "UPDATE waits SET object = 1000", "its waits cannot be right" },
	{ "INSERT INTO blame VALUES(0, 0, 0, 1000, 'R', 0, 1, 1, 1)",
	  "its table 'blame' cannot be right" },
	{ "INSERT INTO deadlocks VALUES(0, 1, 1, 0, 0, 0)", "table 'deadlocks' cannot be right" },
	{ "INSERT INTO deadlocks VALUES(0, 0, 0, 0, 0, 0), (0, 1, 1, 0, 0, 0)",
	  "its table 'deadlocks' cannot be right" },
	{ "DROP TABLE processes", "its table 'processes' is not there" },
	{ "REPLACE INTO processes VALUES(5, 1, 1, '', '', 0)",
	  "table 'processes' cannot be right" },
	{ "REPLACE INTO processes VALUES(0, -1, 1, '', '', 0)",
	  "table 'processes' cannot be right" },
	{ "UPDATE processes SET pid = pid + 1", "its table 'processes' cannot be right" },
	{ "INSERT INTO syscalls VALUES(1 << 31, 'read')", "its table 'syscalls' cannot be right" },
	{ "UPDATE threads SET task = 7", "its threads cannot be right" },
	{ "UPDATE threads SET process = 1", "its threads cannot be right" },
	{ "INSERT INTO modules VALUES(0, '/', 'file', 0, '', '', 1)", "modules cannot be right" },
	{ "PRAGMA user_version = 9", "made by a newer wallsample" },
	/* tables that are not those of the version */
	{ "PRAGMA user_version = 5", "its table 'modules' is not there" },
	{ "PRAGMA user_version = 4", "made by an older wallsample" },
	{ "PRAGMA user_version = 0", "was never begun" },
	{ "PRAGMA application_id = 1", "is not a recording" },
};

static void
test_damaged(void **state)
{
	struct place place;

	(void)state;
	place_make(&place);
	for (size_t i = 0; i < ARRAY_SIZE(damage); i++) {
		make_recording(&place, 100, true);
		change(place.path, damage[i].sql);
		refuse_to_read(place.path, damage[i].why);
	}
	make_recording(&place, 100, true);
	assert_int_equal(truncate(place.path, 20000), 0);
	refuse_to_read(place.path, "is truncated");
	assert_int_equal(truncate(place.path, 99), 0);
	refuse_to_read(place.path, "is not a recording");
	assert_int_equal(truncate(place.path, 0), 0);
	refuse_to_read(place.path, "is empty");
	refuse_to_read(place.folder, "is not a file");
	refuse_to_read("/dev/null", "is not a file");
	place_remove(&place);
}

/* --- pages that are no tree ---------------------------------------------------------------- */

/* The file's pages, to be changed and written back. See https://www.sqlite.org/fileformat.html */
#define PAGE 4096

struct pages {
	uint8_t *bytes;
	size_t count;
};

static uint32_t
get_number(const uint8_t *at, size_t size)
{
	uint32_t value = 0;

	for (size_t i = 0; i < size; i++)
		value = value << 8 | at[i];
	return value;
}

static void
put_number(uint8_t *at, uint32_t value)
{
	for (size_t i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> (24 - 8 * i));
}

static uint8_t *
page_of(const struct pages *pages, uint32_t number)
{
	assert_in_range(number, 1, pages->count);
	return pages->bytes + (size_t)(number - 1) * PAGE;
}

static void
pages_read(struct pages *pages, const char *path, size_t more)
{
	const int fd = open(path, O_RDONLY);
	struct stat info;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &info), 0);
	pages->count = (size_t)info.st_size / PAGE + more;
	pages->bytes = calloc(pages->count, PAGE);
	assert_non_null(pages->bytes);
	assert_int_equal(read(fd, pages->bytes, pages->count * PAGE), info.st_size);
	close(fd);
}

static void
pages_write(struct pages *pages, const char *path)
{
	const int fd = open(path, O_WRONLY | O_TRUNC);

	assert_true(fd >= 0);
	put_number(pages->bytes + 28, (uint32_t)pages->count);
	assert_int_equal(write(fd, pages->bytes, pages->count * PAGE), pages->count * PAGE);
	close(fd);
	free(pages->bytes);
}

/* An inner page of an index: all of its children become the same. */
static void
aim(uint8_t *page, uint32_t child)
{
	assert_int_equal(page[0], 2);
	put_number(page + 8, child);
	for (uint32_t i = 0; i < get_number(page + 3, 2); i++)
		put_number(page + get_number(page + 12 + (size_t)2 * i, 2), child);
}

/* Eight levels of pages that have only one child, many times: a walk over them does not end. */
static void
test_ring(void **state)
{
	enum { LEVELS = 8 };
	struct place place;
	struct pages pages;
	uint32_t root, leaf, first;

	(void)state;
	place_make(&place);
	make_recording(&place, 10, true);
	change(place.path, "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE "
			   "i < 5000) INSERT INTO symbols SELECT i, 0, 'f', '', 0, 0, '' FROM n");
	root = (uint32_t)ask(place.path,
				  "SELECT rootpage FROM sqlite_master WHERE name = 'symbols'");
	pages_read(&pages, place.path, LEVELS);
	first = (uint32_t)pages.count - LEVELS + 1;
	leaf = get_number(page_of(&pages, root) + 8, 4);
	for (uint32_t i = 0; i < LEVELS; i++) {
		memcpy(page_of(&pages, first + i), page_of(&pages, root), PAGE);
		aim(page_of(&pages, first + i), i + 1 < LEVELS ? first + i + 1 : leaf);
	}
	aim(page_of(&pages, root), first);
	pages_write(&pages, place.path);
	alarm(60);
	refuse_to_read(place.path, "its names cannot be right");
	alarm(0);
	place_remove(&place);
}

/* Rows whose texts lie in the same pages: they would take many times the file in memory. */
static void
test_shared_pages(void **state)
{
	/* So long that little of each is in the page of the row: 256 whole pages are not. */
	enum { ROWS = 7, CHAIN = 256 };
	struct place place;
	struct pages pages;
	uint32_t end = PAGE, chain = 0;
	uint8_t *page;

	(void)state;
	place_make(&place);
	make_recording(&place, 0, true);
	change(place.path, "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE "
			   "i < 6) INSERT INTO frames SELECT i, NULL, NULL, NULL, '', "
			   "i || hex(zeroblob(524024)), 0, 0, NULL, NULL FROM n");
	pages_read(&pages, place.path, 0);
	page = page_of(&pages, (uint32_t)ask(place.path, "SELECT rootpage FROM sqlite_master "
							      "WHERE name = 'frames'"));
	assert_int_equal(page[0], 13);
	assert_int_equal(get_number(page + 3, 2), ROWS);
	/* A cell ends, at the beginning of the one before, with the number of the next page. */
	for (size_t i = 0; i < ROWS; i++) {
		if (i == 0)
			chain = get_number(page + end - 4, 4);
		put_number(page + end - 4, chain);
		end = get_number(page + 8 + 2 * i, 2);
	}
	assert_true(pages.count > chain + 2 * CHAIN);
	pages.count = chain + CHAIN;
	pages_write(&pages, place.path);
	refuse_to_read(place.path, "its frames cannot be right");
	place_remove(&place);
}

/* --- reading alone --------------------------------------------------------------------- */

/* While it is held like one that is being written, a log would be made for it, and beside it. */
static void
test_no_log(void **state)
{
	struct place place;
	int fd;

	(void)state;
	place_make(&place);
	make_recording(&place, 100, true);
	fd = open(place.path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "\2", 1, 19), 1);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	refuse_to_read(place.path, "is not a recording");
	close(fd);
	place_remove(&place); /* which is empty but for the file */
}

/* Reading leaves the file, and what lies beside it, as it was. */
static void
test_unchanged(void **state)
{
	struct stat before, after;
	struct place place;

	(void)state;
	place_make(&place);
	make_recording(&place, 100, false);
	assert_int_equal(chmod(place.path, 0400), 0);
	assert_int_equal(stat(place.path, &before), 0);
	profile_free(load(place.path, NULL, NULL));
	assert_int_equal(stat(place.path, &after), 0);
	assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof(before.st_mtim));
	assert_int_equal(before.st_size, after.st_size);
	place_remove(&place);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_torn),
		cmocka_unit_test(test_torn_room),
		cmocka_unit_test(test_torn_behind_link),
		cmocka_unit_test(test_torn_of_another),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_two_writers),
		cmocka_unit_test(test_old_one_stays),
		cmocka_unit_test(test_old_torn_one_stays),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_shared_pages),
		cmocka_unit_test(test_no_log),
		cmocka_unit_test(test_unchanged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
