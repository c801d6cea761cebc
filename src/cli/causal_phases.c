/* SPDX-License-Identifier: MIT */
/* causal_phases.c - takes a profile, chooses candidates from it, and runs experiments on them. */
#include <stdlib.h>
#include <string.h>

#include "cli/causal_command_internal.h"
#include "wallsample/analysis/result.h"
#include "wallsample/cli/guard.h"

/* --- candidates -------------------------------------------------------------------------------- */

/* Functions named in the error when none matches --select. */
#define NAMED_MOST 5

/* A function with its Latency: with its callees, and its own. */
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

/* Fills the table with the script functions of an interpreted program, else with all functions. */
static void
make_table(const struct view *view, struct top_table *table)
{
	top_table_make_program(view, WEIGHT_LATENCY, table);
	if (table->count > 0)
		return;
	top_table_release(table);
	top_table_make(view, WEIGHT_LATENCY, table);
}

static bool
candidate_is_wanted(const struct view_function *function, const regex_t *select)
{
	if (view_is_named(function) || !function->known)
		return false;
	return select == NULL || regexec(select, function->name, 0, NULL, 0) == 0;
}

static size_t
rank(const struct view *view, const regex_t *select, struct ranked *out)
{
	struct top_table table;
	size_t count = 0;

	/* --select may choose any function, not only those of the interpreted program. */
	if (select == NULL)
		make_table(view, &table);
	else
		top_table_make(view, WEIGHT_LATENCY, &table);
	for (size_t i = 0; i < table.count; i++) {
		const struct top_row *row = &table.row[i];
		const struct view_function *function = view_function(view, row->function);

		if (candidate_is_wanted(function, select) && row->cum[WEIGHT_LATENCY] > 0 &&
		    (select != NULL || row->flat[WEIGHT_LATENCY] > 0))
			out[count++] = (struct ranked){
				.function = function,
				.cum_ns = row->cum[WEIGHT_LATENCY],
				.flat_ns = row->flat[WEIGHT_LATENCY],
			};
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

	for (size_t i = 0; i < count && i < NAMED_MOST; i++) {
		strbuf_add_text(&known, i > 0 ? ", " : "");
		strbuf_add_escaped(&known, ranked[i].function->name);
	}
	if (count == 0)
		rc = error_set(err, ERROR_SYSTEM,
			       "no sampled function has a name: there is nothing to speed up");
	else
		rc = error_set(err, ERROR_SYSTEM,
			       "no function that ran matches --select; functions that ran most: %s",
			       known.data);
	strbuf_release(&known);
	return rc;
}

int
causal_candidates_choose(const struct view *view, const regex_t *select, size_t most,
			 struct causal_result *result, struct error *err)
{
	const double total = (double)view_total_ns(view, WEIGHT_LATENCY);
	struct ranked *ranked = xcalloc(view_function_count(view) + 1, sizeof(*ranked));
	size_t count = rank(view, select, ranked);
	int rc = 0;

	if (count == 0) {
		count = rank(view, NULL, ranked);
		rc = candidates_refuse(ranked, count, err);
		count = 0;
	}
	for (size_t i = 0; i < count && i < most; i++) {
		const struct view_function *function = ranked[i].function;
		const uint32_t number = causal_result_add_candidate(result, function->name,
								    function->module,
								    function->file,
								    view_key(view) == VIEW_BY_LINE ?
									    function->line :
									    0);
		struct causal_candidate *candidate = &result->candidate[number];

		candidate->share = total > 0 ? (double)ranked[i].cum_ns / total : 0;
		candidate->self_share = total > 0 ? (double)ranked[i].flat_ns / total : 0;
	}
	free(ranked);
	return rc;
}

#define DURATION_NS (300 * NS_PER_SEC)

/* Longest time that naming and planning wait for a tick at which no thread is held. */
#define TEND_NS NS_PER_SEC
/* Shortest time between removals of breakpoints for naming: runs are not counted meanwhile. */
#define NAME_NS (250 * NS_PER_MS)

/* The user is warned when no progress point has moved for this long. */
#define SILENCE_NS (5 * NS_PER_SEC)

/* --- the profile: which code is a candidate ----------------------------------------- */

static int
create_sampler(struct causal_command *command, const struct sampler_control *control,
	       struct profile *profile, struct error *err)
{
	struct run *run = &command->run;
	const struct options *options = run->request.options;
	const uint64_t all = options->duration_ns != 0 ? options->duration_ns : DURATION_NS;
	const uint64_t rest = all > command->result.profile_ns ? all - command->result.profile_ns :
								 1;
	const struct sampler_config config = {
		.rate_hz = control == NULL ? options->rate_hz :
					     (double)NS_PER_SEC / (double)options->tick_ns,
		.jitter = true,
		.duration_ns = control == NULL ? options->profile_ns : rest,
		.stack_limit = options->stack_size,
		.max_overhead = 100,
		.unwinder = options->unwinder,
		.runtimes = options->runtimes,
		.threads_only = true,
	};
	struct sampler_context context = {
		.process = run->target.process,
		.maps = run->maps,
		.profile = profile,
		.log = &run->request.log,
		.jit = run->jit,
		.jit_objects = run->jit_objects,
		.control = control,
	};

	run_select_threads(run, &context);
	return sampler_create(&config, &context, &run->sampler, err);
}

static void
end_sampler(struct run *run, struct run_stats *stats)
{
	*stats = *sampler_stats(run->sampler);
	run->request.log.before = run->request.log.after = NULL;
	sampler_free(run->sampler);
	run->sampler = NULL;
}

static void
draw_profile(void *context, uint64_t elapsed_ns, uint64_t samples, uint32_t threads)
{
	struct causal_command *command = context;

	status_line_draw(&command->run.status, elapsed_ns, samples, threads);
}

static void
record_profile(void *context, bool held)
{
	struct causal_command *command = context;

	record_tick(&command->run, held);
}

int
causal_take_profile(struct causal_command *command, struct error *err)
{
	struct run *run = &command->run;
	const struct sampler_hooks hooks = {
		.stop = &signals_stop,
		.on_tick = record_profile,
		.on_progress = draw_profile,
		.context = command,
	};
	char time[SAY_TEXT_SIZE];
	int rc = create_sampler(command, NULL, run->source.profile, err);

	if (rc != 0)
		return rc;
	log_say(&run->request.log, LOG_NORMAL, "process %d: profiling for %s to choose functions",
		(int)run->target.pid, say_duration(run->request.options->profile_ns, time));
	status_line_init(&run->status,
			 !run->request.options->quiet && run->request.options->verbose == 0 &&
				 !run->target.is_command,
			 run->request.options->profile_ns);
	run_watch_log(run);
	run->source.end = sampler_run(run->sampler, &hooks);
	end_sampler(run, &run->source.stats);
	status_line_erase(&run->status);
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

int
causal_choose_candidates(struct causal_command *command, struct error *err)
{
	struct run *run = &command->run;
	const struct filter filter = {
		.states = 1u << RUN_RUNNING | 1u << RUN_QUEUED,
		.native = NATIVE_MERGED,
	};
	const size_t most = run->request.options->select != NULL ? CAUSAL_CANDIDATES_MOST :
								   run->request.options->candidates;
	struct view *view = view_create(run->source.profile, run->source.symbols, &filter,
					run->request.options->by);
	int rc = causal_candidates_choose(view, run->request.options->select, most,
					  &command->result, err);

	view_free(view);
	return rc;
}

/* --- the experiments ------------------------------------------------------------ */

/* Reports the progress points that have not moved; the experiments continue. */
static void
warn_of_silence(struct causal_command *command)
{
	struct strbuf text;

	command->warned = true;
	status_line_erase(&command->run.status);
	for (size_t i = 0; i < progress_count(command->progress); i++) {
		strbuf_init(&text);
		progress_explain(command->progress, i, &text);
		log_say(&command->run.request.log, LOG_NORMAL, "no progress yet: %s", text.data);
		strbuf_release(&text);
	}
}

/* Names frames and plans experiments when no thread is held, or when that is overdue. */
static void
tend(struct causal_command *command, bool held)
{
	const uint64_t now = clock_now_ns();
	const bool overdue = held && now - command->tended_ns > TEND_NS;
	const bool leaves = overdue || causal_run_needs_time(command->experiments);

	if (held && !overdue)
		return;
	/* A thread that hits a breakpoint stays stopped until this function returns. */
	if (leaves && command->counted > 0 && now - command->tended_ns < NAME_NS)
		return;
	command->tended_ns = now;
	if (leaves)
		sampler_pause(command->run.sampler);
	causal_run_tick(command->experiments, false);
	if (leaves)
		sampler_resume(command->run.sampler);
}

static void
on_tick(void *context, bool held)
{
	struct causal_command *command = context;
	struct causal_status status;

	tend(command, held);
	causal_run_status(command->experiments, &status);
	if (!held && !command->warned && status.events == 0 && status.elapsed_ns > SILENCE_NS) {
		sampler_pause(command->run.sampler);
		warn_of_silence(command);
		sampler_resume(command->run.sampler);
	}
	/* After exec, progress points of the old program do not move any more. */
	command->over = causal_run_is_over(command->experiments) ||
			sampler_stats(command->run.sampler)->execed;
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
	result->tick_ns = options->tick_ns;
	result->experiment_ns = options->experiment_ns;
	result->precision = options->precision / 100;
	result->max_hold = options->max_hold / 100;
	result->pid = command->run.target.pid;
	result->command = xstrdup(command->run.target.process->comm);
	result->started_ns = clock_date_ns();
}

static void
say_candidates(const struct causal_command *command)
{
	const struct causal_result *result = &command->result;
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < result->candidate_count; i++) {
		strbuf_add_text(&text, i > 0 ? ", " : "");
		strbuf_add_escaped(&text, result->candidate[i].name);
	}
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
		guard_watch(run->target.process);
	rc = create_sampler(command, causal_run_control(command->experiments), command->profile,
			    err);
	if (rc != 0) {
		guard_watch(NULL);
		return rc;
	}
	status_line_init(&run->status, run->status.on, 0);
	/* The status line costs a moment without breakpoints: only if it is visible. */
	if (run->status.on)
		hooks.on_progress = on_progress;
	run_watch_log(run);
	sampler_run(run->sampler, &hooks);
	end_sampler(run, &stats);
	guard_watch(NULL);
	/* The signal was raised by on_tick, not by the user. */
	if (command->over)
		signals_stop = 0;
	status_line_erase(&run->status);
	causal_run_finish(command->experiments, &stats);
	return 0;
}
