/* SPDX-License-Identifier: MIT */
/* sample_record.c - creates, writes and ends the recording of a run. */
#include <string.h>

#include "cli/run_internal.h"
#include "wallsample/report/quantity.h"
#include "wallsample/cli/supervisor.h"

#define DEFAULT_NAME "wallsample-%p-%t.wsdb"

int
record_check_name(const char *pattern, struct error *err)
{
	if (pattern == NULL || strcmp(pattern, "-") == 0)
		return error_set(
			err, ERROR_USAGE,
			"-o: a recording is a file, not a stream: name one, such as x.wsdb");
	return output_name_check(pattern, err);
}

int
record_check_words(struct run *run, struct error *err)
{
	const struct options *options = run->request.options;
	const struct option_row *wrong = option_given_beyond(options, FOR_RECORD);

	run->records = true;
	if (wrong != NULL)
		return error_set(err, ERROR_USAGE,
				 "--%s is for reports; a recording has "
				 "everything, and wallsample report FILE.wsdb takes --%s",
				 wrong->name, wrong->name);
	if (options->format != NULL && strcmp(options->format, "wsdb") != 0)
		return error_set(err, ERROR_USAGE,
				 "-f: a recording is made in the format wsdb; "
				 "wallsample report makes '%s' of it",
				 options->format);
	return record_check_name(options->output != NULL ? options->output : DEFAULT_NAME, err);
}

/* Opens the folder of the recording, which stays open until the end of the run. */
static int
open_folder(struct run *run, struct error *err)
{
	struct output *output = &run->request.output;
	const char *pattern = run->request.options->output;
	struct strbuf name = STRBUF_INIT;
	int rc;

	rc = output_name_expand(pattern != NULL ? pattern : DEFAULT_NAME, run->target.pid, &name,
				err);
	if (rc == 0) {
		output->path = xstrdup(name.data);
		output->dirfd = output_folder_open(name.data, &output->base, err);
		rc = output->dirfd < 0 ? output->dirfd : 0;
	}
	strbuf_release(&name);
	return rc;
}

/* Tells the supervisor what is left if it has to kill wallsample. */
static void
say_kept(const struct run *run)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_add_text(&text, "the recording ");
	strbuf_add_escaped(&text, run->request.output.path);
	strbuf_add_text(&text, " lacks about the last second of samples");
	supervisor_say(text.data);
	strbuf_release(&text);
}

int
record_begin(struct run *run, struct error *err)
{
	struct recording_config config = {
		.modules = run->source.modules,
		.rate_hz = run->request.options->rate_hz,
		.is_private = run->is_private,
	};
	int rc = open_folder(run, err);

	if (rc != 0)
		return rc;
	run->own_words = privacy_own_words(run->request.options);
	config.command = run->own_words;
	config.is_private |= privacy_of_old(run->request.output.dirfd, run->request.output.base);
	config.dirfd = run->request.output.dirfd;
	config.base = run->request.output.base;
	config.path = run->request.output.path;
	rc = recorder_create(&config, run->source.profile, &run->recorder, err);
	if (rc == 0)
		say_kept(run);
	return rc;
}

/*
 * Writes new samples to the recording while no thread of the target is stopped, because a disk may
 * be slow.
 */
static void
commit(struct run *run)
{
	int rc;

	sampler_pause(run->sampler);
	rc = recorder_commit(run->recorder, sampler_stats(run->sampler), &run->record_error);
	sampler_resume(run->sampler);
	if (rc != 0 && !run->records)
		part_fail(run);
	/* Ends sampling, because later samples would be lost. */
	else if (rc != 0)
		signals_stop = SIGTERM;
}

void
record_protect(struct run *run, const struct process *process)
{
	uid_t uid;

	/* The user of a process that has ended is not known; most are those of the others. */
	if (!process_read_uid(process, &uid) || user_is_own(uid))
		return;
	run->is_private = run->request.output.is_private = true;
	if (run->recorder != NULL)
		recorder_make_private(run->recorder);
}

void
record_tick(struct run *run, bool held)
{
	if (run->recorder == NULL || run->record_error.kind != ERROR_NONE)
		return;
	if (recorder_is_due(run->recorder, clock_now_ns(), held))
		commit(run);
}

/* Prints "wrote recording to x.wsdb: 1,000 samples of 3 threads, 2.5 MiB". */
static void
say_written(const struct run *run, const struct run_stats *stats, const char *so_far)
{
	const size_t all = profile_thread_count(run->source.profile);
	size_t tasks = 0;

	for (uint32_t i = 0; i < all; i++)
		tasks += profile_thread(run->source.profile, i)->is_green;
	log_say(&run->request.log, LOG_NORMAL, "wrote recording to %s%s: %s of %s%s%s, %.4g MiB",
		run->request.output.path, so_far,
		quantity_things(stats->thread_samples, "sample", "samples").text,
		tasks > 0 ? quantity_things(tasks, "task", "tasks").text : "",
		tasks > 0 ? " and " : "", quantity_things(all - tasks, "thread", "threads").text,
		(double)recorder_size(run->recorder) / (1 << 20));
	log_say(&run->request.log, LOG_VERBOSE,
		"writing it took %.4g ms of CPU time while sampling",
		(double)recorder_cpu_ns(run->recorder) / (double)NS_PER_MS);
}

void
record_snapshot(struct run *run)
{
	if (run->record_error.kind != ERROR_NONE)
		return;
	commit(run);
	if (run->record_error.kind == ERROR_NONE)
		say_written(run, sampler_stats(run->sampler), " so far");
}

/* Appends to the error text which samples the recording has. Returns false if it has none. */
static bool
say_remainder(const struct run *run, int rc, struct error *err)
{
	const uint64_t kept_ns = recorder_kept_ns(run->recorder);
	struct error before = *err;

	if (kept_ns > 0 && recorder_join(run->recorder))
		error_set(err, (enum error_kind) - rc,
			  "%s; the recording has the samples of the first %s", before.text,
			  quantity_time((int64_t)kept_ns).text);
	else if (kept_ns > 0)
		error_set(
			err, (enum error_kind) - rc,
			"%s; the samples of the first %s are in two files, %s and %s%s: keep both "
			"together",
			before.text, quantity_time((int64_t)kept_ns).text, run->request.output.base,
			run->request.output.base, RECORDING_LOG);
	else
		error_set(err, (enum error_kind) - rc,
			  "%s; nothing was recorded, and the new file was removed", before.text);
	return kept_ns > 0;
}

int
record_end(struct run *run, bool any, struct error *err)
{
	struct recorder *recorder = run->recorder;
	int rc = 0;

	if (run->record_error.kind != ERROR_NONE) {
		*err = run->record_error;
		rc = -(int)err->kind;
	} else if (any) {
		rc = recorder_finish(recorder, &run->source.stats, run->source.end,
				     run->source.symbols, err);
		if (rc == 0)
			say_written(run, &run->source.stats, "");
	}
	if (rc != 0)
		any = say_remainder(run, rc, err);
	run->recorder = NULL;
	if (any)
		recorder_free(recorder);
	else
		recorder_discard(recorder);
	return rc;
}
