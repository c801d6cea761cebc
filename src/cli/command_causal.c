/* SPDX-License-Identifier: MIT */
/* command_causal.c - the command that finds out what a faster function would bring. */
#include <stdlib.h>
#include <string.h>

#include "causal_candidates.h"
#include "loaded.h"
#include "sample_run.h"
#include "wallsample/causal_curve.h"
#include "wallsample/causal_run.h"
#include "wallsample/guard.h"
#include "wallsample/progress.h"
#include "wallsample/progress_coz.h"

#define DURATION_NS (300 * NS_PER_SEC)

/* Nothing has moved for so long: something is wrong, and the user is waiting. */
#define SILENCE_NS (5 * NS_PER_SEC)

/* Of the bootstrap: the same experiments always give the same report. */
#define CURVES_SEED 1

#define REPORT_ROWS 20

struct causal_command {
	struct sample_run run;   /* of the profile; its target, names and output serve both */
	regex_t select_regex;
	const regex_t *select;   /* NULL: none */
	struct progress *progress;
	struct causal_result result;
	struct profile *profile; /* of the experiments */
	struct causal_run *experiments;
	volatile sig_atomic_t stop;
	size_t counted;          /* addresses of code that want breakpoints */
	bool warned;             /* that nothing moves */
	enum sample_status status;
};

/* --- what can be wrong before anything is touched ------------------------------ */

static int
check_unit(struct causal_command *command, struct error *err)
{
	switch (command->run.options->by) {
	case VIEW_BY_FUNCTION:
		command->result.unit = CAUSAL_BY_FUNCTION;
		return 0;
	case VIEW_BY_LINE:
		command->result.unit = CAUSAL_BY_LINE;
		return 0;
	case VIEW_BY_MODULE:
		command->result.unit = CAUSAL_BY_MODULE;
		return 0;
	default:
		return error_set(err, ERROR_USAGE, "--by: what can be made faster is a function, "
				 "a line or a module");
	}
}

static int
compile_select(struct causal_command *command, struct error *err)
{
	const char *text = command->run.options->select;
	char why[256];
	int rc;

	if (text == NULL)
		return 0;
	rc = regcomp(&command->select_regex, text, REG_EXTENDED | REG_NOSUB);
	if (rc == 0) {
		command->select = &command->select_regex;
		return 0;
	}
	regerror(rc, &command->select_regex, why, sizeof(why));
	return error_set(err, ERROR_USAGE, "--select: '%s' is not a regular expression: %s", text,
			 why);
}

static int
check_progress(struct causal_command *command, struct error *err)
{
	const struct options *options = command->run.options;
	int rc = progress_check(options->progress, options->progress_count, &command->counted,
				err);

	if (rc == 0 && command->counted > 0 && !options->intrusive)
		rc = error_set(err, ERROR_USAGE, "--progress: to count how often code is run takes "
			       "hardware breakpoints in all threads; --intrusive permits it, and "
			       "wallsample-causal(1) says what the risk is");
	return rc;
}

static int
check_output(struct causal_command *command, struct error *err)
{
	const struct options *options = command->run.options;
	struct strbuf name;
	int rc = 0;

	command->run.records = output_is_recording(options->format, options->output);
	if (!command->run.records)
		rc = output_format_choose(options, &command->run.exporter, err);
	else if (options->output == NULL || strcmp(options->output, "-") == 0)
		rc = error_set(err, ERROR_USAGE, "-o: a recording is a file, not a stream: name "
			       "one, such as x.wsdb");
	strbuf_init(&name);
	if (rc == 0 && options->output != NULL)
		rc = output_name_expand(options->output, 0, &name, err);
	strbuf_release(&name);
	return rc;
}

/* Of a recording: the experiments have been made. */
static int
check_file(struct causal_command *command, struct error *err)
{
	const struct options *options = command->run.options;
	const struct option_row *wrong = option_given_beyond(options, FOR_CAUSAL_FILE);

	if (options->file_count > 1)
		return error_set(err, ERROR_USAGE, "one recording at a time");
	if (wrong != NULL)
		return error_set(err, ERROR_USAGE, "--%s is about experiments, and those of a "
				 "recording have been made", wrong->name);
	if (output_is_recording(options->format, options->output))
		return error_set(err, ERROR_USAGE, "a report is not a recording");
	return output_format_choose(options, &command->run.exporter, err);
}

static int
check_words(struct causal_command *command, struct error *err)
{
	const struct options *options = command->run.options;
	int rc;

	if (options->file_count > 0)
		return check_file(command, err);
	rc = target_check_usage(options, err);
	if (rc == 0)
		rc = check_unit(command, err);
	if (rc == 0)
		rc = compile_select(command, err);
	if (rc == 0)
		rc = check_progress(command, err);
	if (rc == 0 && options->duration_ns != 0 && options->duration_ns <= options->profile_ns)
		rc = error_set(err, ERROR_USAGE, "-d: nothing is left for experiments after the "
			       "profile; --profile-time makes that shorter");
	if (rc == 0)
		rc = check_output(command, err);
	return rc;
}

/* --- the profile: what there is to try ----------------------------------------- */

static int
create_sampler(struct causal_command *command, const struct sampler_control *control,
	       struct profile *profile, struct error *err)
{
	struct sample_run *run = &command->run;
	const struct options *options = run->options;
	const uint64_t all = options->duration_ns != 0 ? options->duration_ns : DURATION_NS;
	const uint64_t rest = all > command->result.profile_ns ?
				      all - command->result.profile_ns : 1;
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
		.jit = run->jit,
		.jit_objects = run->jit_objects,
		.control = control,
	};

	return sampler_create(run->target.process, &config, run->maps, profile, &run->log,
			      &run->sampler, err);
}

static void
end_sampler(struct sample_run *run, struct sampler_stats *stats)
{
	*stats = *sampler_stats(run->sampler);
	run->log.before = run->log.after = NULL;
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

static void
before_line(void *context)
{
	sampler_leave(context);
}

static void
after_line(void *context)
{
	sampler_return(context);
}

static void
begin_sampler(struct sample_run *run)
{
	run->log.before = before_line;
	run->log.after = after_line;
	run->log.context = run->sampler;
}

static int
take_profile(struct causal_command *command, struct error *err)
{
	struct sample_run *run = &command->run;
	const struct sampler_hooks hooks = {
		.stop = &signals_stop, .on_tick = record_profile, .on_progress = draw_profile,
		.context = command,
	};
	char time[SAY_TEXT_SIZE];
	int rc = create_sampler(command, NULL, run->profile, err);

	if (rc != 0)
		return rc;
	log_say(&run->log, LOG_NORMAL, "process %d: a profile of %s, to know what there is to try",
		(int)run->target.pid, say_duration(run->options->profile_ns, time));
	status_line_init(&run->status,
			 !run->options->quiet && run->options->verbose == 0 &&
				 !run->target.is_command, run->options->profile_ns);
	begin_sampler(run);
	run->end = sampler_run(run->sampler, &hooks);
	end_sampler(run, &run->stats);
	status_line_erase(&run->status);
	command->result.profile_ns = run->stats.elapsed_ns;
	if (run->stats.thread_samples == 0)
		return sample_nothing(run, err);
	if (run->end == SAMPLER_GONE)
		return error_set(err, ERROR_NO_PROCESS, "process %d ended before the experiments "
				 "began: there is nothing to tell", (int)run->target.pid);
	return 0;
}

static int
choose_candidates(struct causal_command *command, struct error *err)
{
	struct sample_run *run = &command->run;
	const struct filter filter = {
		.states = 1u << RUN_RUNNING | 1u << RUN_QUEUED,
		.native = NATIVE_MERGED,
	};
	const size_t most = command->select != NULL ? CAUSAL_CANDIDATES_MOST :
						      run->options->candidates;
	struct view *view = view_create(run->profile, run->symbols, &filter,
					(enum view_key)run->options->by);
	int rc = causal_candidates_choose(view, command->select, run->options->select, most,
					  &command->result, err);

	view_free(view);
	return rc;
}

/* --- the report ------------------------------------------------------------------ */

struct causal_writing {
	const struct exporter *exporter;
	const struct causal_input *input;
};

static int
write_causal(void *context, FILE *out, struct error *err)
{
	const struct causal_writing *writing = context;

	(void)err;
	writing->exporter->write_causal(writing->input, out);
	return 0;
}

/* Nothing, if there was no experiment; partial, if something stayed unknown. */
static enum sample_status
status_of(const struct causal_result *result, const struct causal_curves *curves)
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

static int
write_report(struct causal_command *command, bool snapshot, struct error *err)
{
	struct sample_run *run = &command->run;
	struct causal_curves curves;
	struct causal_input input = {
		.result = &command->result,
		.curves = &curves,
		.columns = output_columns(&run->output),
		.limit = run->options->limit > 0 ? run->options->limit : REPORT_ROWS,
		.snapshot = snapshot,
		.note = run->note,
	};
	struct causal_writing writing = { .exporter = run->exporter, .input = &input };
	int rc = 0;

	causal_curves_make(&command->result, CURVES_SEED, &curves);
	command->status = status_of(&command->result, &curves);
	if (run->exporter != NULL)
		rc = output_write(&run->output, write_causal, &writing, err);
	causal_curves_release(&curves);
	return rc;
}

/* --- the experiments ------------------------------------------------------------ */

/* Within seconds, not at the end of minutes: nothing that was asked for has moved. */
static void
warn_of_silence(struct causal_command *command)
{
	struct strbuf text;

	command->warned = true;
	status_line_erase(&command->run.status);
	for (size_t i = 0; i < progress_count(command->progress); i++) {
		strbuf_init(&text);
		progress_explain(command->progress, i, &text);
		log_say(&command->run.log, LOG_NORMAL, "no progress yet: %s", text.data);
		strbuf_release(&text);
	}
}

static void
on_tick(void *context, bool held)
{
	struct causal_command *command = context;

	causal_run_tick(command->experiments, held);
	if (signals_stop != 0 || causal_run_is_over(command->experiments))
		command->stop = 1;
}

static void
on_progress(void *context, uint64_t elapsed_ns, uint64_t samples, uint32_t threads)
{
	struct causal_command *command = context;
	const struct causal_candidate *candidate;
	struct causal_status status;
	struct strbuf line;

	(void)samples;
	(void)threads;
	causal_run_status(command->experiments, &status);
	if (!command->warned && status.events == 0 && elapsed_ns > SILENCE_NS)
		warn_of_silence(command);
	candidate = &command->result.candidate[status.candidate];
	strbuf_init(&line);
	strbuf_add_format(&line, "wallsample: %.0f s, experiment %zu of about %zu: ",
			  (double)elapsed_ns / (double)NS_PER_SEC, status.done + 1,
			  status.wanted > status.done ? status.wanted : status.done + 1);
	strbuf_add_foreign(&line, candidate->name);
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
	if (write_report(command, true, &err) != 0)
		say_error(&err);
}

static void
set_up_result(struct causal_command *command)
{
	const struct options *options = command->run.options;
	struct causal_result *result = &command->result;

	for (size_t i = 0; i < progress_count(command->progress); i++) {
		const char *name, *spec;
		enum causal_point_kind kind;

		progress_point(command->progress, i, &name, &spec, &kind);
		causal_result_add_point(result, name, spec, kind);
	}
	memcpy(result->speedup, options->speedups,
	       options->speedup_count * sizeof(*options->speedups));
	result->speedup_count = options->speedup_count;
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
	struct strbuf text;

	strbuf_init(&text);
	for (size_t i = 0; i < result->candidate_count; i++) {
		strbuf_add_text(&text, i > 0 ? ", " : "");
		strbuf_add_foreign(&text, result->candidate[i].name);
	}
	log_say(&command->run.log, LOG_NORMAL, "experiments on %s; Ctrl-C ends them", text.data);
	strbuf_release(&text);
}

static int
experiment(struct causal_command *command, struct error *err)
{
	struct sample_run *run = &command->run;
	const struct sampler_hooks hooks = {
		.stop = &command->stop,
		.snapshot = &signals_snapshot,
		.on_snapshot = on_snapshot,
		.on_tick = on_tick,
		.on_progress = on_progress,
		.context = command,
	};
	struct sampler_stats stats;
	int rc;

	set_up_result(command);
	say_candidates(command);
	command->profile = profile_create();
	command->experiments = causal_run_create(&command->result, command->progress,
						 command->profile, run->symbols, 0);
	if (command->counted > 0)
		guard_watch(run->target.process);
	rc = create_sampler(command, causal_run_control(command->experiments), command->profile,
			    err);
	if (rc != 0)
		return rc;
	status_line_init(&run->status, run->status.on, 0);
	begin_sampler(run);
	sampler_run(run->sampler, &hooks);
	end_sampler(run, &stats);
	guard_watch(NULL);
	status_line_erase(&run->status);
	causal_run_finish(command->experiments, &stats);
	return 0;
}

/* A program that was built with coz.h counts its points if somebody lends it the counters. */
static void
lend_counters(const struct options *options)
{
	const char *before = getenv("LD_PRELOAD");
	struct strbuf list;
	char *path;

	if (options->command == NULL || !progress_wants_preload(options->command[0]))
		return;
	path = progress_preload_path();
	if (path == NULL)
		return;
	strbuf_init(&list);
	strbuf_add_text(&list, path);
	if (before != NULL && before[0] != '\0')
		strbuf_add_format(&list, ":%s", before);
	setenv("LD_PRELOAD", list.data, 1);
	strbuf_release(&list);
	free(path);
}

static int
prepare(struct causal_command *command, struct error *err)
{
	struct sample_run *run = &command->run;
	const struct options *options = run->options;
	int rc;

	lend_counters(options);
	rc = target_find(&run->target, options, err);

	if (rc != 0)
		return rc;
	signals_install();
	rc = target_open(&run->target, true, err);
	if (rc != 0)
		return rc;
	sample_raise_descriptor_limit();
	run->modules = modules_create();
	run->profile = profile_create();
	rc = run->records ? record_begin(run, err) : sample_open_output(run, run->target.pid, err);
	if (rc == 0)
		rc = target_begin(&run->target, err);
	if (rc != 0)
		return rc;
	if (run->records)
		recorder_set_process(run->recorder, run->target.process);
	sample_open_names(run);
	return 0;
}

static int
measure(struct causal_command *command, struct error *err)
{
	struct sample_run *run = &command->run;
	const struct options *options = run->options;
	int rc = prepare(command, err);

	if (rc == 0)
		rc = progress_open(options->progress, options->progress_count,
				   run->target.process, run->maps, run->symbols,
				   &command->progress, err);
	if (rc == 0)
		rc = take_profile(command, err);
	if (rc == 0)
		rc = choose_candidates(command, err);
	if (rc == 0 && signals_stop == 0)
		rc = experiment(command, err);
	if (rc == 0)
		rc = write_report(command, false, err);
	if (rc == 0 && run->records)
		rc = recorder_put_causal(run->recorder, &command->result, err);
	if (rc == 0 && run->records)
		rc = record_end(run, true, err);
	return rc;
}

static int
report_file(struct causal_command *command, struct error *err)
{
	struct sample_run *run = &command->run;
	const struct options *options = run->options;
	struct loaded loaded;
	int rc = loaded_init(&loaded, options, options->files, 1, &run->log, err);

	if (rc == 0)
		rc = recording_read_causal(loaded.recording[0], &command->result, err);
	if (rc == 0)
		rc = sample_open_output(run, command->result.pid, err);
	if (rc == 0) {
		run->note = loaded.note.data;
		rc = write_report(command, false, err);
	}
	loaded_release(&loaded);
	return rc;
}

static void
release(struct causal_command *command)
{
	causal_run_free(command->experiments);
	progress_free(command->progress);
	sample_run_release(&command->run);
	profile_free(command->profile);
	causal_result_release(&command->result);
	if (command->select != NULL)
		regfree(&command->select_regex);
}

/* From the words on: of the child, where there are breakpoints. */
static int
run_command(void *context)
{
	struct causal_command *command = context;
	struct error err;
	int rc;

	if (command->run.options->file_count > 0)
		rc = report_file(command, &err);
	else
		rc = measure(command, &err);
	if (rc == 0)
		return (int)command->status;
	say_error(&err);
	return error_exit_status(err.kind);
}

int
command_causal(const struct options *options)
{
	struct causal_command command = { .select = NULL };
	struct error err;
	int status;

	sample_run_init(&command.run, options);
	causal_result_init(&command.result);
	if (check_words(&command, &err) != 0)
		status = -(int)err.kind;
	else if (command.counted > 0)
		status = guard_run(run_command, &command, &err);
	else
		status = run_command(&command);
	release(&command);
	if (status < 0) {
		say_error(&err);
		status = error_exit_status(err.kind);
	}
	return status;
}
