/* SPDX-License-Identifier: MIT */
/*
 * test_power_cut.c - what a power cut leaves of a recording that is being written.
 *
 * A disk is simulated below SQLite's file system and below the C library: for each file it has the
 * contents at the last fsync and the changes since then. A power cut leaves any part of these
 * changes: each sector of a write, each truncation and each name may have reached the disk or not.
 * The cuts are before writes that a seed chooses, also during the copying of the log.
 *
 * fsync returns when the test lets it (disk_turn), at most 0.8 s of recorded time after the
 * recorder has requested it, and covers what was written before the request and nothing later. The
 * test therefore does not depend on when the recorder's thread runs.
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "../scene/recording_scene.h"
#include "recording/recorder_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/recording/recording_read.h"

#define SECTOR 512
/* Most bytes of a file that the test expects. */
#define SIZE_MOST (4 << 20)
/* Most time of a recording that a power cut may lose, in ns: the promise of wallsample(1). */
#define LOST_MOST (5 * NS_PER_SEC)

static struct rng rng;

static uint32_t
draw(uint32_t bound)
{
	return (uint32_t)(rng_next(&rng) >> 32) % bound;
}

/* --- the disk ------------------------------------------------------------------------- */

struct bytes {
	uint8_t *data;
	size_t size;
};

struct change {
	size_t at;
	struct bytes bytes; /* data NULL: the file is truncated to `at` bytes */
};

/* A file: what the disk certainly has, and the changes since then. */
struct disk_file {
	const char *name;
	struct bytes whole;
	struct change *change;
	size_t count, capacity;
	size_t marked;          /* number of changes that the present fsync covers */
	bool exists, is_listed; /* is_listed: the disk certainly has the name, or lacks it */
};

static struct disk {
	struct disk_file file[2];
	pthread_mutex_t mutex;
	pthread_cond_t opened;
	bool is_open;      /* fsync may return */
	bool is_requested; /* an fsync was requested, and `marked` is set */
	bool covers_all;   /* fsync covers all changes, because the recorder waits for it */
	unsigned writes;   /* until the next cut */
	int cuts;          /* cuts that have been made in the folder `cut` */
	struct place *place, *cut;
} disk = {
	.file = { { .name = "x.wsdb" }, { .name = "x.wsdb-wal" } },
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.opened = PTHREAD_COND_INITIALIZER,
};

static void
apply(struct bytes *whole, const struct change *change, size_t from, size_t size)
{
	const size_t at = change->at + from;

	if (change->bytes.data == NULL) {
		whole->size = at < whole->size ? at : whole->size;
		return;
	}
	assert_true(at + size <= SIZE_MOST);
	if (at > whole->size)
		memset(whole->data + whole->size, 0, at - whole->size);
	memcpy(whole->data + at, change->bytes.data + from, size);
	if (at + size > whole->size)
		whole->size = at + size;
}

/* Which sectors have reached the disk: runs of a mean length of `run` have, or have not. */
struct loss {
	bool is_kept;
	uint32_t run;
};

static bool
is_kept(struct loss *loss)
{
	loss->is_kept ^= draw(loss->run) == 0;
	return loss->is_kept;
}

static void
apply_torn(struct bytes *whole, const struct change *change, struct loss *loss)
{
	size_t size;

	if (change->bytes.data == NULL && is_kept(loss))
		apply(whole, change, 0, 0);
	for (size_t from = 0; from < change->bytes.size; from += size) {
		size = SECTOR - (change->at + from) % SECTOR;
		if (size > change->bytes.size - from)
			size = change->bytes.size - from;
		if (is_kept(loss))
			apply(whole, change, from, size);
	}
}

/* Writes what the disk has of a file after a power cut to the folder `cut`. */
static void
leave_file(const struct disk_file *file)
{
	const bool exists = file->is_listed || draw(2) == 0 ? file->exists : !file->exists;
	struct loss loss = { draw(2) == 0, 2U << draw(10) };
	struct bytes whole = { malloc(SIZE_MOST), file->whole.size };
	int fd;

	assert_non_null(whole.data);
	memcpy(whole.data, file->whole.data, file->whole.size);
	for (size_t i = 0; i < file->count; i++)
		apply_torn(&whole, &file->change[i], &loss);
	(void)syscall(SYS_unlinkat, disk.cut->dirfd, file->name, 0);
	if (exists) {
		fd = openat(disk.cut->dirfd, file->name, O_WRONLY | O_CREAT | O_EXCL, 0600);
		assert_true(fd >= 0);
		assert_int_equal(syscall(SYS_pwrite64, fd, whole.data, whole.size, 0), whole.size);
		close(fd);
	}
	free(whole.data);
}

/* To be called before a change: cuts the power there if the seed has chosen this change. */
static void
cut_power(void)
{
	if (disk.cut == NULL || disk.cuts > 0 || disk.writes-- > 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(disk.file); i++)
		leave_file(&disk.file[i]);
	disk.cuts++;
}

/* Returns the simulated file of a descriptor, or NULL. */
static struct disk_file *
file_of(int fd)
{
	char link[32], path[128], wanted[128];
	ssize_t size;

	if (disk.place == NULL)
		return NULL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	size = readlink(link, path, sizeof(path) - 1);
	path[size < 0 ? 0 : size] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(disk.file); i++) {
		snprintf(wanted, sizeof(wanted), "%s/%s", disk.place->folder, disk.file[i].name);
		if (strcmp(path, wanted) == 0)
			return &disk.file[i];
	}
	return NULL;
}

static bool
is_folder(int fd)
{
	struct stat a, b;

	return disk.place != NULL && fstat(fd, &a) == 0 && fstat(disk.place->dirfd, &b) == 0 &&
	       a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

static void
add_change(struct disk_file *file, size_t at, const void *data, size_t size)
{
	struct change change = { at, { NULL, size } };

	cut_power();
	pthread_mutex_lock(&disk.mutex);
	if (!file->exists)
		file->is_listed = false;
	file->exists = true;
	if (data != NULL) {
		change.bytes.data = malloc(size);
		assert_non_null(change.bytes.data);
		memcpy(change.bytes.data, data, size);
	}
	file->change = xgrow(file->change, &file->capacity, file->count + 1, sizeof(change));
	file->change[file->count++] = change;
	pthread_mutex_unlock(&disk.mutex);
}

/* --- system calls of SQLite and of the recorder --------------------------------------------- */

static ssize_t
disk_pwrite(int fd, const void *data, size_t size, off_t at)
{
	struct disk_file *file = file_of(fd);

	if (file != NULL)
		add_change(file, (size_t)at, data, size);
	return syscall(SYS_pwrite64, fd, data, size, at);
}

static ssize_t
disk_write(int fd, const void *data, size_t size)
{
	struct disk_file *file = file_of(fd);

	if (file != NULL)
		add_change(file, (size_t)lseek(fd, 0, SEEK_CUR), data, size);
	return syscall(SYS_write, fd, data, size);
}

static int
disk_truncate(int fd, off_t size)
{
	struct disk_file *file = file_of(fd);

	if (file != NULL)
		add_change(file, (size_t)size, NULL, 0);
	return (int)syscall(SYS_ftruncate, fd, size);
}

/* In place of the C library's. */
int
unlinkat(int dirfd, const char *name, int flags)
{
	const int rc = (int)syscall(SYS_unlinkat, dirfd, name, flags);

	for (size_t i = 0; i < ARRAY_SIZE(disk.file); i++) {
		struct disk_file *file = &disk.file[i];

		if (rc != 0 || !is_folder(dirfd) || strcmp(name, file->name) != 0)
			continue;
		cut_power();
		pthread_mutex_lock(&disk.mutex);
		file->exists = file->is_listed = false;
		pthread_mutex_unlock(&disk.mutex);
	}
	return rc;
}

static void
make_whole(struct disk_file *file)
{
	if (disk.covers_all)
		file->marked = file->count;
	for (size_t i = 0; i < file->marked; i++) {
		apply(&file->whole, &file->change[i], 0, file->change[i].bytes.size);
		free(file->change[i].bytes.data);
	}
	file->count -= file->marked;
	memmove(file->change, file->change + file->marked, file->count * sizeof(*file->change));
	file->marked = 0;
}

/* In place of the C library's. */
int
fsync(int fd)
{
	struct disk_file *file = file_of(fd);

	pthread_mutex_lock(&disk.mutex);
	while (disk.place != NULL && !disk.is_open)
		pthread_cond_wait(&disk.opened, &disk.mutex);
	if (file != NULL)
		make_whole(file);
	for (size_t i = 0; is_folder(fd) && i < ARRAY_SIZE(disk.file); i++)
		disk.file[i].is_listed = true;
	pthread_mutex_unlock(&disk.mutex);
	return 0;
}

/* --- the test ------------------------------------------------------------------------------ */

static void
set_open(bool is_open)
{
	pthread_mutex_lock(&disk.mutex);
	disk.is_open = is_open;
	pthread_cond_broadcast(&disk.opened);
	pthread_mutex_unlock(&disk.mutex);
}

static void
mark_all(void)
{
	pthread_mutex_lock(&disk.mutex);
	for (size_t i = 0; i < ARRAY_SIZE(disk.file); i++)
		disk.file[i].marked = disk.file[i].count;
	pthread_mutex_unlock(&disk.mutex);
}

/*
 * To be called after each commit. A new request for an fsync covers what has been written by now.
 * If `lets` is true, the fsync that was requested returns.
 */
static void
disk_turn(struct recorder *recorder, bool lets)
{
	struct disk_sync *sync = recorder->log.sync;
	int number;

	if (sync == NULL || disk_sync_is_idle(sync, &number))
		return;
	if (!disk.is_requested)
		mark_all();
	disk.is_requested = true;
	if (!lets)
		return;
	set_open(true);
	assert_int_equal(disk_sync_wait(sync), 0);
	set_open(false);
	disk.is_requested = false;
}

/* Checks the files that the power cut at this time of the recording has left, and removes them. */
static void
check_cut(uint64_t time_ns)
{
	struct recording_load to = { .profile = profile_create() };
	struct recording *recording = NULL;
	struct error err = { .text = "" };
	int rc = recording_open(disk.cut->path, &recording, &err);

	if (rc == 0)
		rc = recording_load(recording, &to, &err);
	if (time_ns > LOST_MOST) {
		if (rc != 0)
			fail_msg("after %.2f s: %s", (double)time_ns / 1e9, err.text);
		if (profile_wall_ns(to.profile) + LOST_MOST < time_ns)
			fail_msg("after %.2f s: %.2f s are left", (double)time_ns / 1e9,
				 (double)profile_wall_ns(to.profile) / 1e9);
		assert_int_equal(sum_of(to.profile, WEIGHT_WALL),
				 2 * (int64_t)profile_wall_ns(to.profile));
		assert_int_equal(ask(disk.cut->path, "SELECT count(*) = 1 AND "
						     "max(integrity_check) = 'ok' "
						     "FROM pragma_integrity_check"),
				 1);
	}
	recording_close(recording);
	profile_free(to.profile);
	(void)syscall(SYS_unlinkat, disk.cut->dirfd, "x.wsdb-shm", 0);
}

static void
choose_cut(void)
{
	disk.cuts = 0;
	disk.writes = draw(120);
}

static void
disk_begin(struct place *place, struct place *cut)
{
	for (size_t i = 0; i < ARRAY_SIZE(disk.file); i++) {
		disk.file[i].whole = (struct bytes){ malloc(SIZE_MOST), 0 };
		assert_non_null(disk.file[i].whole.data);
	}
	disk.is_open = disk.is_requested = disk.covers_all = false;
	disk.place = place;
	disk.cut = cut;
	choose_cut();
}

static void
disk_end(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(disk.file); i++) {
		struct disk_file *file = &disk.file[i];

		for (size_t k = 0; k < file->count; k++)
			free(file->change[k].bytes.data);
		free(file->change);
		free(file->whole.data);
		*file = (struct disk_file){ .name = file->name };
	}
	disk.place = disk.cut = NULL;
}

/* The number of times that the log was copied into the database. */
static int copies;

/*
 * Records 150 times 20 ticks of 10 ms, with a commit after each 20, and checks each power cut. An
 * fsync takes up to 4 commits, 0.8 s.
 */
static void
record_and_cut(struct recorder *recorder, struct profile *profile, uint32_t worker, uint32_t idle)
{
	struct error err;
	int waits = 0;

	for (int i = 0; i < 150; i++) {
		const enum log_step before = recorder->log.step;

		sample_ticks(profile, worker, idle, 20);
		if (recorder_commit(recorder, &no_stats, &err) != 0)
			fail_msg("%s", err.text);
		copies += before == LOG_FULL && recorder->log.step == LOG_COPIED;
		waits = draw(2) == 0 ? 0 : waits - 1;
		disk_turn(recorder, waits <= 0);
		if (waits <= 0)
			waits = 4;
		if (disk.cuts > 0) {
			check_cut(profile_wall_ns(profile));
			choose_cut();
		}
	}
}

/* Conclusion of a recording: no cut loses samples that were on the disk. */
static void
finish_and_cut(struct recorder *recorder, const struct profile *profile)
{
	struct error err;

	disk.writes = draw(60);
	disk.cuts = 0;
	disk.covers_all = true;
	set_open(true);
	if (recorder_finish(recorder, &no_stats, RUN_END_STOPPED, NULL, &err) != 0)
		fail_msg("%s", err.text);
	if (disk.cuts > 0)
		check_cut(profile_wall_ns(profile));
	/* After the end all is on the disk. */
	disk.cuts = 0;
	disk.writes = 0;
	cut_power();
	check_cut(profile_wall_ns(profile) + LOST_MOST);
}

static void
test_cuts(void **state)
{
	enum { SEEDS = 20 };
	struct place place, cut;

	(void)state;
	for (uint64_t i = 1; i <= SEEDS; i++) {
		uint32_t worker, idle;
		struct profile *profile = make_profile(&worker, &idle);
		struct modules *modules = modules_create();
		struct recorder *recorder;

		rng_seed(&rng, i);
		place_make(&place);
		place_make(&cut);
		disk_begin(&place, &cut);
		recorder = record_in(&place, profile, modules);
		recorder->log.most = i % 2 == 0 ? 64 << 10 : 1 << 20;
		record_and_cut(recorder, profile, worker, idle);
		finish_and_cut(recorder, profile);
		recorder_free(recorder);
		disk_end();
		profile_free(profile);
		modules_free(modules);
		place_remove(&place);
		place_remove(&cut);
	}
	assert_true(copies > SEEDS);
}

static int
set_calls(void **state)
{
	static const struct {
		const char *name;
		sqlite3_syscall_ptr call;
	} calls[] = {
		{ "pwrite", (sqlite3_syscall_ptr)disk_pwrite },
		{ "pwrite64", (sqlite3_syscall_ptr)disk_pwrite },
		{ "write", (sqlite3_syscall_ptr)disk_write },
		{ "ftruncate", (sqlite3_syscall_ptr)disk_truncate },
	};
	sqlite3_vfs *vfs = sqlite3_vfs_find("unix");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (vfs->xSetSystemCall(vfs, calls[i].name, calls[i].call) != SQLITE_OK)
			return -1;
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cuts),
	};

	return cmocka_run_group_tests(tests, set_calls, NULL);
}
