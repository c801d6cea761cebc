/* SPDX-License-Identifier: MIT */
/* recorder.c - creates a recording, commits to it and finishes it. */
#include "recording/recorder_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "config.h"
#include "wallsample/base/base.h"

#define DUE_NS (500 * NS_PER_MS)
#define OVERDUE_NS NS_PER_SEC

/* Writes the description of the machine, and the settings of the recording, into table meta. */
static void
put_target(struct recorder *recorder, const struct run_stats *stats)
{
	const struct recording_config *config = &recorder->config;
	struct utsname machine = { .nodename = "" };

	uname(&machine);
	recorder_put_text(recorder, "host", machine.nodename);
	recorder_put_text(recorder, "machine", machine.machine);
	recorder_put_text(recorder, "kernel", machine.release);
	recorder_put_text(recorder, "version", PACKAGE_VERSION);
	recorder_put_text(recorder, "command", config->command);
	recorder_put_number(recorder, "cpus",
			    stats->cpus > 0 ? stats->cpus :
					      process_allowed_cpus(recorder->process));
	RECORDER_PUT(recorder, META, meta, .key = "rate",
		     .value = { .type = VALUE_REAL, .real = config->rate_hz });
}

/* What a transaction writes. A member that is NULL writes nothing. */
struct contents {
	/* the statistics, and with them the additions to the profile */
	const struct run_stats *stats;
	const char *end;         /* word for the reason why the run ended */
	struct symbols *symbols; /* source of the names of all frames */
	const struct causal_result *causal;
};

static void
put_news(struct recorder *recorder, const struct run_stats *stats)
{
	const struct spans *spans = &recorder->spans;

	if (recorder->process != NULL && !recorder->process_written)
		put_target(recorder, stats);
	/* The date of the first tick is written in the same transaction as this tick. */
	if (spans->ticks > 0 && spans->tick_count == spans->ticks) {
		recorder_put_number(recorder, "began", spans->date_ns / NS_PER_SEC);
		recorder_put_number(recorder, "clock_ns", spans->clock_ns);
	}
	recorder_put_news(recorder, stats);
}

/* Marks all rows of the transaction as written. To be called after its commit. */
static void
mark_written(struct recorder *recorder, const struct run_stats *stats)
{
	recorder->process_written = recorder->process != NULL;
	recorder->stats = *stats;
	recorder->stats_written = true;
	spans_written(&recorder->spans);
	recorder->has_samples = recorder->spans.next_id > 0;
}

/* Runs one transaction, and returns the result of SQLite. After an error the caller rolls back. */
static int
transact(struct recorder *recorder, const struct contents *contents)
{
	errno = 0;
	recorder->rc = SQLITE_OK;
	recorder_execute(recorder, "BEGIN IMMEDIATE");
	if (contents->stats != NULL)
		put_news(recorder, contents->stats);
	if (contents->end != NULL && contents->stats != NULL) {
		if (contents->stats->runtimes[0] != '\0')
			recorder_put_text(recorder, "runtime", contents->stats->runtimes);
		if (contents->stats->unread[0] != '\0')
			recorder_put_text(recorder, "unread", contents->stats->unread);
		if (contents->stats->others[0] != '\0')
			recorder_put_text(recorder, "others", contents->stats->others);
		if (contents->stats->cpu_group[0] != '\0')
			recorder_put_text(recorder, "cpu_group", contents->stats->cpu_group);
		recorder_put_text(recorder, "end", contents->end);
	}
	if (contents->symbols != NULL)
		recorder_put_frame_names(recorder, contents->symbols);
	if (contents->causal != NULL)
		recorder_put_causal_rows(recorder, contents->causal);
	recorder_execute(recorder, "COMMIT");
	if (recorder->rc == SQLITE_OK && contents->stats != NULL)
		mark_written(recorder, contents->stats);
	return recorder->rc;
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
	recorder->fd = recorder->log.folder = -1;
	recorder->base = config->base != NULL ? xstrdup(config->base) : NULL;
	recorder->path = xstrdup(config->path != NULL ? config->path : "a temporary recording");
	rc = recorder_file_create(recorder, err);
	if (rc == 0)
		rc = recorder_log_create(recorder, err);
	if (rc != 0) {
		recorder_discard(recorder);
		return rc;
	}
	recorder->spans.profile = profile;
	recorder->listener = (struct profile_recorder){
		.sample = spans_sample,
		.charge = spans_charge,
		.correct = spans_correct,
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
	profile_add_process(recorder->profile, process->pid, process->start_time, process->comm,
			    process->cmdline);
}

bool
recorder_is_due(const struct recorder *recorder, uint64_t now_ns, bool held)
{
	const uint64_t age_ns = now_ns - recorder->last_ns;

	if (recorder->failed || (held && age_ns < OVERDUE_NS))
		return false;
	if (!recorder_log_takes_commits(recorder))
		return recorder_log_can_advance(recorder);
	return age_ns >= DUE_NS;
}

/* Ends writing after an error, which is returned. The recording holds the earlier commits. */
static int
fail(struct recorder *recorder, int rc)
{
	recorder->failed = true;
	profile_set_recorder(recorder->profile, NULL);
	(void)sqlite3_exec(recorder->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

/* Runs a transaction, and requests that it be written to the disk. */
static int
commit(struct recorder *recorder, const struct contents *contents, struct error *err)
{
	int rc;

	if (transact(recorder, contents) != SQLITE_OK)
		return fail(recorder, recorder_refuse(recorder, err));
	rc = recorder_log_committed(recorder, err);
	return rc == 0 ? 0 : fail(recorder, rc);
}

int
recorder_commit(struct recorder *recorder, const struct run_stats *stats, struct error *err)
{
	const uint64_t cpu_ns = clock_own_cpu_ns();
	int rc;

	/* After a failure the profile has no recorder, so that later samples are not stored. */
	if (recorder->failed)
		return error_set(err, ERROR_OUTPUT, "cannot write to %s: that has failed before",
				 recorder->path);
	rc = recorder_file_check(recorder, err);
	if (rc == 0)
		rc = recorder_log_advance(recorder, false, err);
	if (rc != 0)
		return fail(recorder, rc);
	if (recorder->log.is_durable)
		recorder_file_settle(recorder);
	if (recorder_log_takes_commits(recorder)) {
		recorder->last_ns = clock_now_ns();
		rc = commit(recorder, &(struct contents){ .stats = stats }, err);
	}
	recorder->cpu_ns += clock_own_cpu_ns() - cpu_ns;
	return rc;
}

/*
 * Runs a transaction at the end of a recording. Does nothing and returns 0 after an earlier error.
 */
static int
commit_last(struct recorder *recorder, const struct contents *contents, struct error *err)
{
	int rc = recorder->failed ? 0 : recorder_file_check(recorder, err);

	if (recorder->failed || rc != 0)
		return rc;
	rc = recorder_log_advance(recorder, true, err);
	return rc == 0 ? commit(recorder, contents, err) : fail(recorder, rc);
}

int
recorder_put_causal(struct recorder *recorder, const struct causal_result *result,
		    struct error *err)
{
	return commit_last(recorder, &(struct contents){ .causal = result }, err);
}

int
recorder_finish(struct recorder *recorder, const struct run_stats *stats, enum run_end end,
		struct symbols *symbols, struct error *err)
{
	static const char *const ends[] = {
		[RUN_END_DURATION] = "duration",
		[RUN_END_STOPPED] = "stopped",
		[RUN_END_EXITED] = "gone",
	};
	int rc;

	rc = commit_last(recorder, &(struct contents){ .stats = stats, .end = ends[end] }, err);
	/* Samples are committed before names are resolved, which may take long. */
	if (rc == 0 && symbols != NULL)
		rc = commit_last(recorder, &(struct contents){ .symbols = symbols }, err);
	if (rc == 0 && !recorder->failed)
		rc = recorder_log_conclude(recorder, err);
	return rc;
}

bool
recorder_join(struct recorder *recorder)
{
	(void)recorder_log_conclude(recorder, NULL);
	return !recorder->log.is_left;
}

void
recorder_free(struct recorder *recorder)
{
	if (recorder == NULL)
		return;
	profile_set_recorder(recorder->profile, NULL);
	(void)recorder_join(recorder);
	for (int i = 0; i < RECORDING_TABLE_COUNT; i++)
		sqlite3_finalize(recorder->put[i]);
	sqlite3_close(recorder->db);
	if (recorder->has_samples)
		recorder_file_settle(recorder);
	else
		recorder_file_restore(recorder);
	if (recorder->vfs != NULL && (!recorder->has_samples || !recorder->log.is_left))
		place_vfs_remove_log(recorder->vfs);
	place_vfs_free(recorder->vfs);
	/*
	 * The descriptor is closed after the database, because closing any descriptor of a file
	 * releases SQLite's POSIX locks on the file.
	 */
	if (recorder->fd >= 0)
		close(recorder->fd);
	spans_release(&recorder->spans);
	table_release(&recorder->values);
	free(recorder->base);
	free(recorder->path);
	free(recorder);
}

void
recorder_discard(struct recorder *recorder)
{
	if (recorder->fd >= 0 && recorder_file_check(recorder, NULL) == 0)
		(void)unlinkat(recorder->config.dirfd, recorder->base, 0);
	recorder->has_samples = false;
	recorder_log_end(recorder);
	recorder_free(recorder);
}

uint64_t
recorder_kept_ns(const struct recorder *recorder)
{
	return recorder->stats_written ? recorder->stats.elapsed_ns : 0;
}

uint64_t
recorder_size(const struct recorder *recorder)
{
	struct stat info;

	if (recorder->fd < 0 || fstat(recorder->fd, &info) != 0)
		return 0;
	return (uint64_t)info.st_size + recorder_log_size(recorder);
}

uint64_t
recorder_cpu_ns(const struct recorder *recorder)
{
	return recorder->cpu_ns;
}
