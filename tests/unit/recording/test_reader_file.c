/* SPDX-License-Identifier: MIT */
/* test_reader_file.c - recordings that consist of several files: with a journal, with a log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "../scene/recording_scene.h"
#include "wallsample/base/base.h"
#include "wallsample/recording/recording_read.h"

/* What is beside it looks like a journal, but cannot be copied: it is said why. */
static void
test_journal_that_is_a_pipe(void **state)
{
	static const uint8_t magic[] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
	struct recording *recording;
	struct place place;
	struct error err;
	int fd;

	(void)state;
	place_make(&place);
	make_recording(&place, 10, false);
	assert_int_equal(mkfifoat(place.dirfd, "x.wsdb-journal", 0600), 0);
	fd = openat(place.dirfd, "x.wsdb-journal", O_RDWR | O_CLOEXEC);
	assert_int_equal(write(fd, magic, sizeof(magic)), sizeof(magic));
	assert_int_equal(setenv("TMPDIR", place.folder, 1), 0);
	assert_int_equal(recording_open(place.path, &recording, &err), -ERROR_SYSTEM);
	assert_int_equal(unsetenv("TMPDIR"), 0);
	if (strstr(err.text, "Invalid argument") == NULL)
		fail_msg("%s", err.text);
	close(fd);
	place_remove(&place);
}

/* Another program cannot open a recording that is being written, and does not disturb its writer;
 * the reader can, and leaves no file behind. */
static void
test_read_while_written(void **state)
{
	uint32_t worker, idle;
	struct profile *profile = make_profile(&worker, &idle), *back;
	struct modules *modules = modules_create();
	struct recorder *recorder;
	struct recording_info info;
	struct place place;
	struct error err;
	sqlite3 *other;

	(void)state;
	place_make(&place);
	recorder = record_in(&place, profile, modules);
	for (int i = 0; i < 3; i++) {
		sample_ticks(profile, worker, idle, 50);
		assert_int_equal(recorder_commit(recorder, &no_stats, &err), 0);
		assert_int_equal(sqlite3_open(place.path, &other), SQLITE_OK);
		assert_int_equal(sqlite3_exec(other, "SELECT * FROM spans", NULL, NULL, NULL),
				 SQLITE_BUSY);
		sqlite3_close(other);
		back = load(place.path, NULL, &info);
		assert_true(info.being_written);
		assert_same(profile, back);
		profile_free(back);
	}
	assert_int_equal(recorder_finish(recorder, &no_stats, RUN_END_STOPPED, NULL, &err), 0);
	recorder_free(recorder);
	assert_int_equal(ask(place.path, "SELECT count(*) FROM ticks"), 150);
	back = load(place.path, NULL, NULL);
	assert_same(profile, back);
	profile_free(back);
	profile_free(profile);
	modules_free(modules);
	place_remove(&place);
}

/* Leaves a recording of 50 ticks with a log, as a killed writer does. */
static void
make_killed(const struct place *place)
{
	const pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		uint32_t worker, idle;
		struct profile *profile = make_profile(&worker, &idle);
		struct recorder *recorder = record_in(place, profile, modules_create());

		sample_ticks(profile, worker, idle, 50);
		_exit(recorder_commit(recorder, &no_stats, NULL) != 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* Opens a recording and loads it. Returns the number of its ticks, or the negated kind of error. */
static int
ticks_of(const struct place *place, struct error *err)
{
	struct recording_load to = { .profile = profile_create() };
	struct recording *recording;
	int rc = recording_open(place->path, &recording, err);

	if (rc == 0) {
		rc = recording_load(recording, &to, err);
		if (rc == 0)
			rc = (int)recording_info(recording)->ticks;
		recording_close(recording);
	}
	profile_free(to.profile);
	return rc;
}

static int
open_log(const struct place *place, int flags)
{
	const int fd = openat(place->dirfd, "x.wsdb-wal", flags | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	return fd;
}

/* Without its log, or behind a link, a recording has what was copied into the file. */
static void
test_log_is_missing(void **state)
{
	struct place place;
	struct error err;

	(void)state;
	place_make(&place);
	make_killed(&place);
	assert_int_equal(ticks_of(&place, &err), 50);
	assert_int_equal(renameat(place.dirfd, "x.wsdb-wal", place.dirfd, "moved"), 0);
	assert_int_equal(ticks_of(&place, &err), 0);
	assert_int_equal(symlinkat("moved", place.dirfd, "x.wsdb-wal"), 0);
	assert_int_equal(ticks_of(&place, &err), 0);
	assert_int_equal(renameat(place.dirfd, "moved", place.dirfd, "x.wsdb-wal"), 0);
	assert_int_equal(ticks_of(&place, &err), 50);
	place_remove(&place);
}

static void
test_log_is_hostile(void **state)
{
	struct place place;
	struct error err;
	int fd;

	(void)state;
	place_make(&place);
	make_killed(&place);
	/* too large */
	fd = open_log(&place, O_RDWR);
	assert_int_equal(ftruncate(fd, (INT64_C(1) << 30) + 1), 0);
	assert_int_equal(ticks_of(&place, &err), -ERROR_FORMAT);
	assert_non_null(strstr(err.text, "is too large"));
	/* a hole after the last frame */
	assert_int_equal(ftruncate(fd, INT64_C(1) << 30), 0);
	assert_int_equal(ticks_of(&place, &err), 50);
	close(fd);
	/* a pipe */
	assert_int_equal(unlinkat(place.dirfd, "x.wsdb-wal", 0), 0);
	assert_int_equal(mkfifoat(place.dirfd, "x.wsdb-wal", 0600), 0);
	assert_int_equal(ticks_of(&place, &err), -ERROR_SYSTEM);
	assert_non_null(strstr(err.text, "Invalid argument"));
	place_remove(&place);
}

/* Each byte of the log is changed: the rest is read, or an error is reported. */
static void
test_log_is_damaged(void **state)
{
	struct place place;
	struct error err;
	off_t size;
	int fd;

	(void)state;
	place_make(&place);
	make_killed(&place);
	fd = open_log(&place, O_RDWR);
	size = lseek(fd, 0, SEEK_END);
	for (off_t at = 0; at < size; at += at < 64 ? 1 : 997) {
		uint8_t byte, other;
		int ticks;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		other = byte ^ 0x55;
		assert_int_equal(pwrite(fd, &other, 1, at), 1);
		ticks = ticks_of(&place, &err);
		assert_true(ticks == 0 || ticks == 50 || ticks == -ERROR_FORMAT);
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	assert_int_equal(ticks_of(&place, &err), 50);
	close(fd);
	place_remove(&place);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_journal_that_is_a_pipe),
		cmocka_unit_test(test_read_while_written),
		cmocka_unit_test(test_log_is_missing),
		cmocka_unit_test(test_log_is_hostile),
		cmocka_unit_test(test_log_is_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
