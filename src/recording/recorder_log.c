/* SPDX-License-Identifier: MIT */
/*
 * recorder_log.c - the write-ahead log of a recording that is being written.
 *
 * A power cut may leave any part of what was written since the last fsync on the disk. Therefore:
 *
 * 1. Commits only append to the log (https://www.sqlite.org/wal.html), whose frames have checksums:
 *    what follows the first frame that is not whole is ignored. A thread (disk_sync.c)
 *    calls fsync for the log.
 * 2. When the log is large, it is copied into the database. Nothing is committed meanwhile, and
 *    each step waits for an fsync. LOG_FULL: the log is synced, so that it can repair a partly
 *    copied database; then the database is written. LOG_COPIED: the database is synced; then the
 *    log is truncated. LOG_EMPTIED: the truncation is synced, so that no old frame can follow a
 *    new one.
 *
 * SQLite itself never calls fsync (synchronous=OFF), because it would do so in the thread of the
 * sampler. The connection has the only lock (locking_mode=EXCLUSIVE), so that SQLite needs no
 * memory that is shared with other processes.
 */
#include "recording/recorder_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "wallsample/base/base.h"

/*
 * Size in bytes from which the log is copied into the database. With a thousand idle threads it
 * has this size after 75 s.
 */
#define LOG_MOST (8 << 20)
/*
 * A commit requests an fsync if the last request is at least this old, in time of the recording.
 * Commits are at most a second apart: a power cut can lose the samples of 4 s, and those of the
 * time that the disk needs.
 */
#define SYNC_PERIOD_NS (3 * NS_PER_SEC)
/* Without further commits, as during experiments, the thread calls fsync after this time. */
#define SYNC_DELAY_NS (4 * NS_PER_SEC)

#define BIT(file) (1U << (file))
#define ALL_FILES (BIT(SYNC_MAIN) | BIT(SYNC_LOG) | BIT(SYNC_FOLDER))

/* --- creation ---------------------------------------------------------------------------- */

int
recorder_log_create(struct recorder *recorder, struct error *err)
{
	struct recorder_log *log = &recorder->log;

	if (recorder->base == NULL)
		return 0;
	/* The first query opens the log. */
	errno = 0;
	recorder_execute(recorder, "PRAGMA journal_mode=WAL; SELECT 1 FROM sqlite_master LIMIT 1");
	if (recorder->rc != SQLITE_OK)
		return recorder_refuse(recorder, err);
	if (place_vfs_log(recorder->vfs) < 0)
		return error_set(err, ERROR_OUTPUT,
				 "cannot write to %s: SQLite has not created a write-ahead log",
				 recorder->path);
	sqlite3_wal_autocheckpoint(recorder->db, 0);
	(void)sqlite3_db_config(recorder->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	/* Fails, without a consequence, for a folder in which names cannot be listed. */
	log->folder = openat(recorder->config.dirfd, ".",
			     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	log->most = LOG_MOST;
	log->step = LOG_OPEN;
	return 0;
}

/* Starts the thread of disk_sync.c unless it runs; the new thread has the capabilities of the
 * calling thread. Returns 0, or ERROR_OUTPUT (negated). */
static int
start_thread(struct recorder *recorder, struct error *err)
{
	struct recorder_log *log = &recorder->log;
	const int fd[SYNC_FILES] = {
		[SYNC_MAIN] = recorder->fd,
		[SYNC_LOG] = place_vfs_log(recorder->vfs),
		[SYNC_FOLDER] = log->folder,
	};

	if (log->sync == NULL)
		log->sync = disk_sync_start(fd);
	if (log->sync != NULL)
		return 0;
	return error_set(err, ERROR_OUTPUT, "cannot write to %s: no thread can be started: %s",
			 recorder->path, strerror(errno));
}

/* --- the steps ----------------------------------------------------------------------------- */

static bool
is_paused(const struct recorder_log *log)
{
	return log->step > LOG_OPEN;
}

static void
begin_step(struct recorder_log *log, enum log_step step, unsigned files)
{
	log->step = step;
	disk_sync_ask(log->sync, files);
}

/* Begins the step after the one whose fsync has returned. */
static int
take_step(struct recorder *recorder, struct error *err)
{
	struct recorder_log *log = &recorder->log;
	const bool empty = log->step == LOG_COPIED;
	int frames = 0, copied = 0, rc;

	if (log->step == LOG_EMPTIED) {
		log->step = LOG_OPEN;
		return 0;
	}
	errno = 0;
	rc = sqlite3_wal_checkpoint_v2(recorder->db, "main",
				       empty ? SQLITE_CHECKPOINT_TRUNCATE :
					       SQLITE_CHECKPOINT_PASSIVE,
				       &frames, &copied);
	recorder_keep_result(recorder, rc);
	if (rc == SQLITE_OK && frames != copied)
		recorder->rc = SQLITE_BUSY;
	if (recorder->rc != SQLITE_OK)
		return recorder_refuse(recorder, err);
	if (empty)
		begin_step(log, LOG_EMPTIED, BIT(SYNC_LOG));
	else
		begin_step(log, LOG_COPIED, BIT(SYNC_MAIN));
	return 0;
}

/* `number` is the errno of an fsync. */
static int
refuse_disk(const struct recorder *recorder, int number, struct error *err)
{
	return error_set(err, ERROR_OUTPUT, "cannot write to %s: %s", recorder->path,
			 strerror(number));
}

int
recorder_log_advance(struct recorder *recorder, bool wait, struct error *err)
{
	struct recorder_log *log = &recorder->log;
	int number = 0, rc = 0;

	if (log->sync == NULL)
		return 0;
	for (;;) {
		bool idle = disk_sync_is_idle(log->sync, &number);

		if (!idle && wait && is_paused(log)) {
			number = disk_sync_wait(log->sync);
			idle = true;
		}
		if (number != 0)
			return refuse_disk(recorder, number, err);
		log->is_durable |= idle && log->is_asked;
		if (!idle || !is_paused(log))
			return 0;
		rc = take_step(recorder, err);
		if (rc != 0)
			return rc;
	}
}

bool
recorder_log_takes_commits(const struct recorder *recorder)
{
	return !is_paused(&recorder->log);
}

bool
recorder_log_can_advance(const struct recorder *recorder)
{
	int number;

	return is_paused(&recorder->log) && disk_sync_is_idle(recorder->log.sync, &number);
}

uint64_t
recorder_log_size(const struct recorder *recorder)
{
	struct stat info;

	if (recorder->log.step == LOG_NONE || fstat(place_vfs_log(recorder->vfs), &info) != 0)
		return 0;
	return (uint64_t)info.st_size;
}

int
recorder_log_committed(struct recorder *recorder, struct error *err)
{
	struct recorder_log *log = &recorder->log;
	const uint64_t now_ns = recorder->spans.wall_ns;
	const bool full = recorder_log_size(recorder) >= log->most;
	int rc;

	if (log->step == LOG_NONE)
		return 0;
	rc = start_thread(recorder, err);
	if (rc != 0)
		return rc;
	if (!full && (!recorder->has_samples ||
		      (log->is_asked && now_ns - log->asked_ns < SYNC_PERIOD_NS))) {
		disk_sync_note(log->sync, BIT(SYNC_LOG), SYNC_DELAY_NS);
		return 0;
	}
	begin_step(log, full ? LOG_FULL : LOG_OPEN, log->is_asked ? BIT(SYNC_LOG) : ALL_FILES);
	log->is_asked = true;
	log->asked_ns = now_ns;
	return 0;
}

/* --- the end --------------------------------------------------------------------------------- */

/*
 * Makes the database one file again. The change is in the first 100 bytes of the file, which a disk
 * writes as a whole, and so needs no journal file.
 */
static int
leave_log(struct recorder *recorder, struct error *err)
{
	int number;

	(void)sqlite3_db_config(recorder->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	errno = 0;
	recorder->rc = SQLITE_OK;
	recorder_execute(recorder, "PRAGMA journal_mode=MEMORY");
	if (recorder->rc != SQLITE_OK)
		return recorder_refuse(recorder, err);
	disk_sync_ask(recorder->log.sync, BIT(SYNC_MAIN) | BIT(SYNC_FOLDER));
	number = disk_sync_wait(recorder->log.sync);
	return number == 0 ? 0 : refuse_disk(recorder, number, err);
}

void
recorder_log_end(struct recorder *recorder)
{
	struct recorder_log *log = &recorder->log;

	disk_sync_end(log->sync);
	log->sync = NULL;
	if (log->folder >= 0)
		close(log->folder);
	log->folder = -1;
	log->step = LOG_NONE;
}

int
recorder_log_conclude(struct recorder *recorder, struct error *err)
{
	struct recorder_log *log = &recorder->log;
	int rc;

	if (log->step == LOG_NONE)
		return 0;
	rc = start_thread(recorder, err);
	if (rc == 0)
		rc = recorder_log_advance(recorder, true, err);
	if (rc == 0) {
		begin_step(log, LOG_FULL, ALL_FILES);
		log->is_asked = true;
		rc = recorder_log_advance(recorder, true, err);
	}
	if (rc == 0)
		rc = leave_log(recorder, err);
	log->is_left = rc != 0;
	recorder_log_end(recorder);
	return rc;
}
