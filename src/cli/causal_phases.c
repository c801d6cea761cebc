/* SPDX-License-Identifier: MIT */
/* causal_phases.c - takes a profile, chooses candidates from it, and runs experiments on them. */
#include <stdlib.h>
#include <string.h>

#include "wallsample/format/exporters.h"
#include "cli/causal_command_internal.h"
#include "cli/keeper_internal.h"
#include "wallsample/analysis/result.h"
#include "wallsample/cli/guard.h"

/* tend() waits at most this long for a tick at which no thread is held. */
#define TEND_NS NS_PER_SEC
/*
 * Minimum time between two calls of tend() that remove breakpoints. While the breakpoints are
 * removed, executions of the code that they mark are not counted as progress.
 */
#define NAME_NS (250 * NS_PER_MS)

/* The user is warned if the first progress point has no event in this time after the beginning of
 * the experiments. */
#define SILENCE_NS (5 * NS_PER_SEC)

/* Number of functions that the error names if no function matches --select. */
#define NAMED_MOST 5

/*
 * Seed of the random numbers by which curves are resampled. It is constant: the same experiments
 * always give the same report.
 */
#define CURVES_SEED 1

/* Default number of candidates in a report. */
#define REPORT_ROWS 20

/* --- the profile ------------------------------------------------------------------ */

/* Creates the sampler for the profile (`control` is NULL) or for the experiments. */
static int
causal_create_sampler(struct causal_command *command, const struct sampler_control *control,
		      struct profile *profile, struct error *err)
{
	const struct options *options = command->run.request.options;
	const struct sampler_config config = {
		.rate_hz = control == NULL ? options->rate_hz :
					     (double)NS_PER_SEC / (double)command->result.tick_ns,
		.jitter = true,
		.duration_ns = control == NULL ? options->profile_ns : causal_time_left(command),
		.stack_limit = options->stack_size,
		.max_overhead = 100,
		.unwinder = options->unwinder,
		.runtimes = options->runtimes,
		.threads_only = true,
	};

	return run_create_sampler(&command->run, &config, profile, control, err);
}

static void
record_profile(void *context, bool held)
{
	record_tick(context, held);
}

int
causal_take_profile(struct causal_command *command, struct error *err)
{
	struct run *run = &command->run;
	const struct sampler_hooks hooks = {
		.stop = &signals_stop,
		.suspend = &signals_suspend,
		.on_suspend = run_on_suspend,
		.on_tick = record_profile,
		.on_progress = run_on_progress,
		.context = run,
	};
	int rc = causal_create_sampler(command, NULL, run->source.profile, err);

	if (rc != 0)
		return rc;
	log_say(&run->request.log, LOG_NORMAL, "process %d: profiling for %s to choose functions",
		(int)run->target.pid, say_duration(run->request.options->profile_ns).text);
	status_line_init(&run->status,
			 !run->request.options->quiet && run->request.options->verbose == 0 &&
				 !run->target.is_command,
			 run->request.options->profile_ns);
	run_watch_log(run);
	run->source.end = sampler_run(run->sampler, &hooks);
	run->source.stats = *sampler_stats(run->sampler);
	run_end_sampler(run);
	command->result.profile_ns = run->source.stats.elapsed_ns;
	if (run->source.stats.thread_samples == 0)
		return sample_nothing(run, err);
	if (run->source.end == RUN_END_EXITED)
		return error_set(err, ERROR_NO_PROCESS,
				 "process %d ended before the experiments "
				 "began: there is no result",
				 (int)run->target.pid);
	return 0;
}

/* --- candidates ------------------------------------------------------------------- */

/* A row of the view (a function, line or module) and its Latency, a weight of samples (profile.h):
 * including callees (cum_ns), and without callees (flat_ns). */
struct ranked {
	const struct view_function *function;
	int64_t cum_ns, flat_ns;
};

static int
candidate_compare(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->flat_ns != b->flat_ns)
		return a->flat_ns > b->flat_ns ? -1 : 1;
	if (a->cum_ns != b->cum_ns)
		return a->cum_ns > b->cum_ns ? -1 : 1;
	return strcmp(a->function->name, b->function->name);
}

static bool
candidate_is_wanted(const struct view_function *function, const regex_t *select)
{
	if (view_is_named(function) || !function->known)
		return false;
	return select == NULL || regexec(select, function->name, 0, NULL, 0) == 0;
}

/*
 * Stores the candidates in `out`, those with the most Latency without callees first, and returns
 * their number. Candidates are the rows of the view (functions, lines or modules) that ran and have
 * a known name. With `select`, only rows whose name matches it are stored. Without it, only rows
 * with Latency of their own are stored: the script functions of an interpreted program, or all
 * functions of any other program.
 */
static size_t
candidates_rank(const struct view *view, const regex_t *select, struct ranked *out)
{
	struct top_table table = { .count = 0 };
	size_t count = 0;

	if (select == NULL)
		top_table_make_program(view, WEIGHT_LATENCY, &table);
	if (table.count == 0) {
		top_table_release(&table);
		top_table_make(view, WEIGHT_LATENCY, &table);
	}
	for (size_t i = 0; i < table.count; i++) {
		const struct top_row *row = &table.row[i];
		const struct view_function *function = view_function(view, row->function);
		const int64_t cum_ns = row->cum[WEIGHT_LATENCY];
		const int64_t flat_ns = row->flat[WEIGHT_LATENCY];

		if (candidate_is_wanted(function, select) && cum_ns > 0 &&
		    (select != NULL || flat_ns > 0))
			out[count++] = (struct ranked){ function, cum_ns, flat_ns };
	}
	top_table_release(&table);
	qsort(out, count, sizeof(*out), candidate_compare);
	return count;
}

static int
candidates_refuse(const struct ranked *ranked, size_t count, struct error *err)
{
	struct strbuf known = STRBUF_INIT;
	int rc;

	if (count == 0)
		return error_set(err, ERROR_SYSTEM,
				 "no sampled function has a name: there is nothing to speed up");
	for (size_t i = 0; i < count && i < NAMED_MOST; i++)
		strbuf_add_format(&known, "%s%s", i > 0 ? ", " : "", ranked[i].function->name);
	rc = error_set(err, ERROR_SYSTEM,
		       "no function that ran matches --select; functions that ran most: %s",
		       known.data);
	strbuf_release(&known);
	return rc;
}

static void
candidates_add(struct causal_result *result, const struct view *view, const struct ranked *ranked)
{
	const double total = (double)view_total_ns(view, WEIGHT_LATENCY);
	const struct view_function *function = ranked->function;
	const uint32_t line = view_key(view) == VIEW_BY_LINE ? function->line : 0;
	const uint32_t number = causal_result_add_candidate(result, function->name,
							    function->module, function->file, line);
	struct causal_candidate *candidate = &result->candidate[number];

	candidate->share = total > 0 ? (double)ranked->cum_ns / total : 0;
	candidate->self_share = total > 0 ? (double)ranked->flat_ns / total : 0;
}

int
causal_choose_candidates(struct causal_command *command, struct error *err)
{
	const struct source *source = &command->run.source;
	const struct options *options = command->run.request.options;
	const struct filter filter = {
		.states = 1u << RUN_RUNNING | 1u << RUN_QUEUED,
		.native = NATIVE_MERGED,
	};
	const size_t most = options->select != NULL ? CAUSAL_CANDIDATES_MOST : options->candidates;
	struct view *view = view_create(source->profile, source->symbols, &filter, options->by);
	struct ranked *ranked = xcalloc(view_function_count(view) + 1, sizeof(*ranked));
	const size_t count = candidates_rank(view, options->select, ranked);
	int rc = 0;

	for (size_t i = 0; i < count && i < most; i++)
		candidates_add(&command->result, view, &ranked[i]);
	if (count == 0)
		rc = candidates_refuse(ranked, candidates_rank(view, NULL, ranked), err);
	free(ranked);
	view_free(view);
	return rc;
}

/* --- the report ------------------------------------------------------------------ */

/* The context of write_causal. */
struct causal_writing {
	const struct exporter *exporter;
	const struct causal_input *input;
};

static int
write_causal(void *context, FILE *out, struct error *err)
{
	const struct causal_writing *writing = context;

	(void)err;
	export_write_causal(writing->exporter, writing->input, out);
	return 0;
}

/*
 * Returns SAMPLE_NOTHING if no experiment became WHOLE; SAMPLE_PARTIAL if the verdict on a
 * candidate for the first progress point is UNSURE (causal_curve.h), or if the target or its
 * progress was lost before the end (causal_result.target_gone); else SAMPLE_WHOLE.
 */
static enum sample_status
result_status(const struct causal_result *result, const struct causal_curves *curves)
{
	enum sample_status status = SAMPLE_NOTHING;

	for (size_t i = 0; i < result->experiment_count; i++)
		if (result->experiment[i].end == CAUSAL_WHOLE)
			status = SAMPLE_WHOLE;
	for (size_t i = 0; status == SAMPLE_WHOLE && i < curves->count; i++)
		if (curves->curve[i].point == 0 && curves->curve[i].verdict == CAUSAL_UNSURE)
			status = SAMPLE_PARTIAL;
	return status == SAMPLE_WHOLE && result->target_gone ? SAMPLE_PARTIAL : status;
}

int
causal_write_report(struct causal_command *command, const char *note, bool snapshot,
		    struct error *err)
{
	const struct run *run = &command->run;
	const struct options *options = run->request.options;
	struct causal_curves curves;
	struct causal_input input = {
		.result = &command->result,
		.curves = &curves,
		.columns = output_columns(&run->request.output),
		.limit = options->limit > 0 ? options->limit : REPORT_ROWS,
		.snapshot = snapshot,
		.note = note,
	};
	struct causal_writing writing = { .exporter = run->request.exporter, .input = &input };
	int rc = 0;

	causal_curves_make(&command->result, CURVES_SEED, &curves);
	command->status = result_status(&command->result, &curves);
	if (run->request.exporter != NULL)
		rc = output_write(&run->request.output,
				  source_may_page(options, command->result.target_gone, snapshot),
				  write_causal, &writing, err);
	causal_curves_release(&curves);
	return rc;
}

/* --- the experiments ------------------------------------------------------------ */

/* Prints for each progress point why it may have counted no progress. */
static void
warn_of_silence(struct causal_command *command)
{
	command->warned = true;
	status_line_erase(&command->run.status);
	for (size_t i = 0; i < progress_count(command->progress); i++) {
		struct strbuf text = STRBUF_INIT;

		progress_explain(command->progress, i, &text);
		log_say(&command->run.request.log, LOG_NORMAL, "no progress yet: %s", text.data);
		strbuf_release(&text);
	}
}

/* Names frames and plans experiments if no thread is held, or if this is overdue (TEND_NS). */
static void
tend(struct causal_command *command, bool held)
{
	const uint64_t now = clock_now_ns();
	const bool overdue = held && now - command->tended_ns > TEND_NS;
	const bool leaves = overdue || causal_run_needs_time(command->experiments);

	if (held && !overdue)
		return;
	/*
	 * Breakpoints are removed at intervals of NAME_NS at least: sampler_pause removes them, and
	 * without them the executions that they count as progress are lost.
	 */
	if (leaves && command->counted > 0 && now - command->tended_ns < NAME_NS)
		return;
	command->tended_ns = now;
	if (leaves)
		sampler_pause(command->run.sampler);
	causal_run_tick(command->experiments, false);
	if (leaves)
		sampler_resume(command->run.sampler);
}

/* In the keeper: writes the report that wallsample cannot write any more. */
static int
report_kept(void *context)
{
	struct causal_command *command = context;
	struct run *run = &command->run;
	struct error err;
	int status;

	keeper_begin(run);
	run_leave_target(run);
	causal_run_sum_up(command->experiments, &run->source.stats);
	log_say(&run->request.log, LOG_NORMAL, "the report has the experiments of the first %s",
		say_duration((uint64_t)command->result.wall_ns).text);
	status = say_end(causal_write_report(command, NULL, false, &err), 0, &err);
	keeper_end(run);
	return status;
}

static void
on_tick(void *context, bool held)
{
	struct causal_command *command = context;
	struct causal_status status;

	tend(command, held);
	keeper_renew(&command->run, held, report_kept, command);
	causal_run_status(command->experiments, &status);
	if (!held && !command->warned && status.events == 0 && status.elapsed_ns > SILENCE_NS) {
		sampler_pause(command->run.sampler);
		warn_of_silence(command);
		sampler_resume(command->run.sampler);
	}
	/* After an exec the progress points of the old program count nothing any more. */
	command->over = causal_run_is_over(command->experiments) ||
			sampler_has_execed(command->run.sampler);
	if (command->over)
		signals_stop = SIGTERM;
}

static void
on_progress(void *context, uint64_t elapsed_ns, uint64_t samples, uint32_t threads)
{
	struct causal_command *command = context;
	const struct causal_candidate *candidate;
	struct causal_status status;
	struct strbuf line = STRBUF_INIT;

	(void)samples;
	(void)threads;
	causal_run_status(command->experiments, &status);
	candidate = &command->result.candidate[status.candidate];
	strbuf_add_format(&line, "wallsample: %.0f s, experiment %zu of about %zu: ",
			  (double)elapsed_ns / (double)NS_PER_SEC, status.done + 1,
			  status.wanted > status.done ? status.wanted : status.done + 1);
	strbuf_add_escaped(&line, candidate->name);
	strbuf_add_format(&line, " %.0f %% faster (Ctrl-C ends)", 100 * status.speedup);
	status_line_say(&command->run.status, &line);
	strbuf_release(&line);
}

static void
on_snapshot(void *context)
{
	struct causal_command *command = context;
	struct error err;

	status_line_erase(&command->run.status);
	causal_run_sum_up(command->experiments, sampler_stats(command->run.sampler));
	if (causal_write_report(command, NULL, true, &err) != 0)
		say_error(&err);
}

static void
on_suspend(void *context)
{
	struct causal_command *command = context;

	run_on_suspend(&command->run);
}

static void
set_up_result(struct causal_command *command)
{
	const struct options *options = command->run.request.options;
	struct causal_result *result = &command->result;

	if (progress_left_out(command->progress) > 0)
		log_say(&command->run.request.log, LOG_NORMAL,
			"of the program's points of coz.h the first "
			"%zu are counted, %zu are not; choose with --progress coz:NAME",
			progress_count(command->progress), progress_left_out(command->progress));
	for (size_t i = 0; i < progress_count(command->progress); i++) {
		const char *name, *spec;
		enum causal_point_kind kind;

		progress_point(command->progress, i, &name, &spec, &kind);
		causal_result_add_point(result, name, spec, kind);
	}
	memcpy(result->speedup, options->speedups.value,
	       options->speedups.count * sizeof(*options->speedups.value));
	result->speedup_count = options->speedups.count;
	result->self = options->match == MATCH_SELF;
	causal_choose_ticks(command);
	result->precision = options->precision / 100;
	result->max_hold = options->max_hold / 100;
	result->pid = command->run.target.pid;
	result->command = xstrdup(target_first(&command->run.target)->comm);
	result->started_ns = clock_date_ns();
}

static void
say_candidates(const struct causal_command *command)
{
	const struct causal_result *result = &command->result;
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < result->candidate_count; i++)
		strbuf_add_format(&text, "%s%s", i > 0 ? ", " : "", result->candidate[i].name);
	log_say(&command->run.request.log, LOG_NORMAL, "experiments on %s; Ctrl-C ends them",
		text.data);
	strbuf_release(&text);
}

int
causal_experiment(struct causal_command *command, struct error *err)
{
	struct run *run = &command->run;
	struct sampler_hooks hooks = {
		.stop = &signals_stop,
		.snapshot = &signals_snapshot,
		.on_snapshot = on_snapshot,
		.suspend = &signals_suspend,
		.on_suspend = on_suspend,
		.on_tick = on_tick,
		.context = command,
	};
	struct run_stats stats;
	int rc;

	set_up_result(command);
	say_candidates(command);
	command->profile = profile_create();
	command->experiments = causal_run_create(&command->result, command->progress,
						 command->profile, run->source.symbols, 0);
	if (command->counted > 0)
		guard_watch(target_first(&run->target));
	rc = causal_create_sampler(command, causal_run_control(command->experiments),
				   command->profile, err);
	if (rc != 0) {
		guard_watch(NULL);
		return rc;
	}
	status_line_init(&run->status, run->status.on, 0);
	/* Breakpoints are removed while the status line is drawn: draw it only if it is visible. */
	if (run->status.on)
		hooks.on_progress = on_progress;
	run_watch_log(run);
	sampler_run(run->sampler, &hooks);
	stats = *sampler_stats(run->sampler);
	run_end_sampler(run);
	guard_watch(NULL);
	/* signals_stop was set by on_tick() and not by a signal. */
	if (command->over)
		signals_stop = 0;
	causal_run_finish(command->experiments, &stats);
	return 0;
}
