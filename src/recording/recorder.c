/* SPDX-License-Identifier: MIT */
/* recorder.c - creates a recording, commits to it and finishes it. */
#include "recording/recorder_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "config.h"
#include "wallsample/base/base.h"

#define DUE_NS (500 * NS_PER_MS)
#define OVERDUE_NS NS_PER_SEC

static int
execute(struct recorder *recorder, const char *sql)
{
	return sqlite3_exec(recorder->db, sql, NULL, NULL, NULL);
}

static int
put_text(struct recorder *recorder, const char *key, const char *value)
{
	return RECORDER_PUT(recorder, META, meta, .key = key,
			    .value = { .type = VALUE_TEXT, .text = value });
}

static int
put_number(struct recorder *recorder, const char *key, int64_t value)
{
	return RECORDER_PUT(recorder, META, meta, .key = key, .value = { .number = value });
}

static int
put_texts(struct recorder *recorder, const char *const (*rows)[2], size_t count)
{
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < count; i++)
		if (rows[i][1] != NULL)
			rc = put_text(recorder, rows[i][0], rows[i][1]);
	return rc;
}

/* Writes what is known of the process and the machine, up to the first error. */
static int
put_target(struct recorder *recorder)
{
	const struct recording_config *config = &recorder->config;
	const struct process *process = recorder->process;
	struct utsname machine = { .nodename = "" };
	const char *const texts[][2] = {
		{ "comm", process->comm },      { "cmdline", process->cmdline },
		{ "host", machine.nodename },   { "machine", machine.machine },
		{ "kernel", machine.release },  { "version", PACKAGE_VERSION },
		{ "command", config->command },
	};
	int rc;

	uname(&machine);
	rc = put_texts(recorder, texts, ARRAY_SIZE(texts));
	if (rc == SQLITE_OK)
		rc = put_number(recorder, "pid", process->pid);
	if (rc == SQLITE_OK)
		rc = put_number(recorder, "start_time", (int64_t)process->start_time);
	if (rc == SQLITE_OK)
		rc = put_number(recorder, "cpus", process_allowed_cpus(process));
	if (rc == SQLITE_OK)
		rc = RECORDER_PUT(recorder, META, meta, .key = "rate",
				  .value = { .type = VALUE_REAL, .real = config->rate_hz });
	if (rc != SQLITE_OK)
		return rc;
	return RECORDER_PUT(recorder, PROCESSES, processes, .id = 0, .pid = process->pid,
			    .start_time = (int64_t)process->start_time, .name = process->comm,
			    .cmdline = process->cmdline);
}

/* Writes when the first tick began. */
static int
put_beginning(struct recorder *recorder)
{
	int rc = put_number(recorder, "began", (int64_t)(recorder->spans.date_ns / NS_PER_SEC));

	return rc == SQLITE_OK ?
		       put_number(recorder, "clock_ns", (int64_t)recorder->spans.clock_ns) :
		       rc;
}

/*
 * Calls `rows` in one transaction. SQLITE_BUSY: another process reads; the caller rolls back.
 */
static int
transact(struct recorder *recorder, int (*rows)(struct recorder *, void *), void *context)
{
	int rc;

	errno = 0;
	rc = execute(recorder, "BEGIN IMMEDIATE");
	if (rc == SQLITE_OK)
		rc = rows(recorder, context);
	if (rc == SQLITE_OK)
		rc = execute(recorder, "COMMIT");
	/* SQLite does not always keep errno. */
	if (rc != SQLITE_OK)
		recorder->error_number = errno;
	return rc;
}

int
recorder_create(const struct recording_config *config, struct profile *profile,
		struct recorder **out, struct error *err)
{
	struct recorder *recorder = xcalloc(1, sizeof(*recorder));
	int rc;

	*out = NULL;
	recorder->config = *config;
	recorder->profile = profile;
	recorder->fd = -1;
	recorder->base = config->base != NULL ? xstrdup(config->base) : NULL;
	recorder->path = xstrdup(config->path != NULL ? config->path : "a temporary recording");
	table_init(&recorder->written.syscalls);
	rc = recorder_file_create(recorder, err);
	if (rc != 0) {
		recorder_discard(recorder);
		return rc;
	}
	spans_init(&recorder->spans, profile);
	recorder->listener = (struct profile_recorder){
		.sample = spans_sample,
		.charge = spans_charge,
		.blame = spans_blame,
		.tick = spans_tick,
		.context = &recorder->spans,
	};
	profile_set_recorder(profile, &recorder->listener);
	recorder->last_ns = clock_now_ns();
	*out = recorder;
	return 0;
}

void
recorder_set_process(struct recorder *recorder, const struct process *process)
{
	recorder->process = process;
}

bool
recorder_is_due(const struct recorder *recorder, uint64_t now_ns)
{
	return !recorder->failed && now_ns - recorder->last_ns >= DUE_NS;
}

bool
recorder_is_overdue(const struct recorder *recorder, uint64_t now_ns)
{
	return !recorder->failed && now_ns - recorder->last_ns >= OVERDUE_NS;
}

static int
news_rows(struct recorder *recorder, void *stats)
{
	int rc = SQLITE_OK;

	if (recorder->process != NULL && !recorder->process_written)
		rc = put_target(recorder);
	/* The first tick is not written yet: the start time goes out with it. */
	if (rc == SQLITE_OK && recorder->spans.ticks > 0 &&
	    recorder->spans.tick_count == recorder->spans.ticks)
		rc = put_beginning(recorder);
	return rc == SQLITE_OK ? recorder_put_news(recorder, stats) : rc;
}

static void
mark_written(struct recorder *recorder, const struct run_stats *stats)
{
	recorder->process_written = recorder->process != NULL;
	recorder_mark_written(recorder, stats);
	if (recorder->spans.next_id > 0)
		recorder_file_settle(recorder);
}

/* Undoes the transaction; its rows are written again at the next commit. */
static void
roll_back(struct recorder *recorder)
{
	(void)execute(recorder, "ROLLBACK");
	table_clear(&recorder->written.syscalls);
}

/* Is another process reading? SQLite's error code stays as it is, for recorder_refuse. */
static bool
is_busy(int rc)
{
	return (rc & 0xff) == SQLITE_BUSY || (rc & 0xff) == SQLITE_LOCKED;
}

static int
fail(struct recorder *recorder, struct error *err)
{
	const int rc = recorder_refuse(recorder, err);

	recorder->failed = true;
	profile_set_recorder(recorder->profile, NULL);
	roll_back(recorder);
	return rc;
}

int
recorder_commit(struct recorder *recorder, const struct run_stats *stats, struct error *err)
{
	const uint64_t cpu_ns = clock_own_cpu_ns();
	struct run_stats copy = *stats;
	int rc;

	/* Samples since the failure are lost: the profile has no recorder any more. */
	if (recorder->failed)
		return error_set(err, ERROR_OUTPUT, "cannot write to %s: that has failed before",
				 recorder->path);
	rc = recorder_file_check(recorder, err);
	recorder->last_ns = clock_now_ns();
	if (rc != 0) {
		recorder->failed = true;
		profile_set_recorder(recorder->profile, NULL);
		return rc;
	}
	rc = transact(recorder, news_rows, &copy);
	if (rc == SQLITE_OK)
		mark_written(recorder, stats);
	else if (is_busy(rc))
		roll_back(recorder);
	recorder->cpu_ns += clock_own_cpu_ns() - cpu_ns;
	return rc == SQLITE_OK || is_busy(rc) ? 0 : fail(recorder, err);
}

struct last {
	const struct run_stats *stats;
	enum run_end end;
	struct symbols *symbols;
};

static int
last_rows(struct recorder *recorder, void *context)
{
	static const char *const ends[] = {
		[RUN_END_DURATION] = "duration",
		[RUN_END_STOPPED] = "stopped",
		[RUN_END_EXITED] = "gone",
	};
	const struct last *last = context;
	struct run_stats copy = *last->stats;
	int rc = news_rows(recorder, &copy);

	if (rc == SQLITE_OK && copy.runtimes[0] != '\0')
		rc = put_text(recorder, "runtime", copy.runtimes);
	if (rc == SQLITE_OK)
		rc = put_text(recorder, "end", ends[last->end]);
	return rc;
}

static int
name_rows(struct recorder *recorder, void *context)
{
	const struct last *last = context;

	return recorder_put_names(recorder, last->symbols);
}

/* How long the last commits wait for a reader: as long as a report may take. */
#define LAST_WAIT_MS 30000

static int
causal_rows(struct recorder *recorder, void *context)
{
	const struct causal_result *const *result = context;

	return recorder_put_causal_rows(recorder, *result);
}

int
recorder_put_causal(struct recorder *recorder, const struct causal_result *result,
		    struct error *err)
{
	int rc = recorder->failed ? 0 : recorder_file_check(recorder, err);

	if (recorder->failed || rc != 0)
		return rc;
	sqlite3_busy_timeout(recorder->db, LAST_WAIT_MS);
	if (transact(recorder, causal_rows, &result) != SQLITE_OK)
		return fail(recorder, err);
	recorder_file_settle(recorder);
	return 0;
}

int
recorder_finish(struct recorder *recorder, const struct run_stats *stats, enum run_end end,
		struct symbols *symbols, struct error *err)
{
	struct last last = { stats, end, symbols };
	int rc = recorder->failed ? 0 : recorder_file_check(recorder, err);

	if (recorder->failed || rc != 0)
		return rc;
	sqlite3_busy_timeout(recorder->db, LAST_WAIT_MS);
	/* Samples are committed before names are resolved, which may take long. */
	if (transact(recorder, last_rows, &last) != SQLITE_OK)
		return fail(recorder, err);
	mark_written(recorder, stats);
	recorder_file_settle(recorder);
	if (symbols != NULL && transact(recorder, name_rows, &last) != SQLITE_OK)
		return fail(recorder, err);
	/* Readers see all of it already; fsync is for a crash of the machine. */
	if (recorder->fd >= 0 && fsync(recorder->fd) != 0)
		return error_set(err, ERROR_OUTPUT, "cannot write to %s: %s", recorder->path,
				 strerror(errno));
	return 0;
}

void
recorder_free(struct recorder *recorder)
{
	if (recorder == NULL)
		return;
	profile_set_recorder(recorder->profile, NULL);
	for (int i = 0; i < RECORDING_TABLE_COUNT; i++)
		sqlite3_finalize(recorder->put[i]);
	sqlite3_close(recorder->db);
	place_vfs_free(recorder->vfs);
	recorder_file_restore(recorder);
	/* Last: closing any descriptor of a file drops SQLite's POSIX locks on it. */
	if (recorder->fd >= 0)
		close(recorder->fd);
	spans_release(&recorder->spans);
	table_release(&recorder->written.syscalls);
	free(recorder->written.names);
	free(recorder->written.most);
	free(recorder->base);
	free(recorder->path);
	free(recorder);
}

void
recorder_discard(struct recorder *recorder)
{
	if (recorder->fd >= 0 && recorder_file_check(recorder, NULL) == 0)
		(void)unlinkat(recorder->config.dirfd, recorder->base, 0);
	recorder_free(recorder);
}

uint64_t
recorder_size(const struct recorder *recorder)
{
	struct stat info;

	return recorder->fd >= 0 && fstat(recorder->fd, &info) == 0 ? (uint64_t)info.st_size : 0;
}

uint64_t
recorder_cpu_ns(const struct recorder *recorder)
{
	return recorder->cpu_ns;
}
