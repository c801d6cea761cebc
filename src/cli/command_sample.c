/* SPDX-License-Identifier: MIT */
/* command_sample.c - the command that samples a process and writes a report. */
#include <string.h>
#include <sys/resource.h>

#include "cli/sample_run_internal.h"

/* --- what can be wrong before anything is touched ------------------------------ */

static int
check_blame(const struct sample_run *run, struct error *err)
{
	if (run->options->sort != WEIGHT_WALL)
		return error_set(err, ERROR_USAGE,
				 "--blame is about time that others waited, which has no %s",
				 weight_word(run->options->sort));
	if (run->exporter->time == EXPORT_TIME)
		return error_set(err, ERROR_USAGE, "--blame sums up, and %s shows when things "
				 "happened: use another format", run->exporter->name);
	return 0;
}

int
sample_check_report(struct sample_run *run, struct error *err)
{
	const struct options *options = run->options;
	int rc = output_format_choose(options, &run->exporter, err);

	if (rc == 0 && options->lines && options->by != VIEW_BY_FUNCTION &&
	    options->by != VIEW_BY_LINE)
		rc = error_set(err, ERROR_USAGE, "--lines shows lines, and --by asks for something "
			       "else: give one of the two");
	if (rc == 0 && (options->tree || options->focus != NULL) &&
	    strcmp(run->exporter->name, "text") != 0)
		rc = error_set(err, ERROR_USAGE, "%s is for the text report, not for %s",
			       options->tree ? "--tree" : "--focus", run->exporter->name);
	if (rc == 0 && options->filter.blame)
		rc = check_blame(run, err);
	if (rc == 0 && options->task_use == TASKS_OFF &&
	    (options->filter.created_by || options->filter.tasks.count > 0))
		rc = error_set(err, ERROR_USAGE, "--tasks=off has no tasks, and %s is about them",
			       options->filter.created_by ? "--created-by" : "--task");
	if (rc == 0)
		rc = part_check_words(options, err);
	return rc;
}

/* The pattern of -o is tried without a process: only the number is missing yet. */
static int
check_words(struct sample_run *run, struct error *err)
{
	const struct options *options = run->options;
	struct strbuf name;
	int rc = target_check_usage(options, err);

	if (rc != 0)
		return rc;
	if (run->dumps && output_is_recording(options->format, options->output))
		return error_set(err, ERROR_USAGE, "a dump is not a recording: wallsample record "
				 "makes one");
	if (options->verb->bit == FOR_RECORD ||
	    output_is_recording(options->format, options->output)) {
		return record_check_words(run, err);
	}
	strbuf_init(&name);
	rc = sample_check_report(run, err);
	if (rc == 0 && options->output != NULL)
		rc = output_name_expand(options->output, 0, &name, err);
	strbuf_release(&name);
	return rc;
}

/* --- the run --------------------------------------------------------------------- */

int
sample_open_output(struct sample_run *run, pid_t pid, struct error *err)
{
	const char *pattern = run->options->output;
	struct strbuf name;
	int rc = 0;

	strbuf_init(&name);
	if (pattern != NULL)
		rc = output_name_expand(pattern, pid, &name, err);
	if (rc == 0)
		rc = output_open(&run->output, name.data, err);
	if (rc == 0)
		rc = output_check_format(&run->output, run->exporter, err);
	strbuf_release(&name);
	return rc;
}

/* The command has been given its limit. */
void
sample_raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

static bool
is_selected(void *context, pid_t tid, const char *name)
{
	const struct sample_run *run = context;

	return filter_thread(&run->options->filter, tid, name);
}

static bool
is_excluded(void *context, pid_t tid, const char *name)
{
	const struct sample_run *run = context;

	(void)tid;
	return filter_excludes_thread(&run->options->filter, name);
}

void
sample_select_threads(struct sample_run *run, struct sampler_config *config)
{
	const struct filter *filter = &run->options->filter;

	config->selected = filter_selects_threads(filter) ? is_selected : NULL;
	config->excluded = filter->exclude_thread.count > 0 ? is_excluded : NULL;
	config->selected_context = run;
}

void
sample_open_names(struct sample_run *run)
{
	const struct options *options = run->options;

	run->maps = maps_create(run->target.process, run->modules);
	run->jit = jit_create(run->target.process, run->maps, &run->log);
	snprintf(run->root, sizeof(run->root), "/proc/%d/root", (int)run->target.pid);
	run->names = (struct symbols_config){
		.demangle = !options->no_demangle,
		.inlines = !options->no_inlines,
		.files.debug_dirs = options->debug_dirs.text,
		.files.symfs = options->symfs,
		.files.debuginfod = options->debuginfod,
		.files.root = run->root,
		.jit = run->jit,
		.files.log = &run->log,
	};
	run->symbols = symbols_create(run->modules, &run->names);
	run->jit_objects = jit_objects_create(run->target.process, run->maps, &run->log);
}

static int
create_sampler(struct sample_run *run, struct error *err)
{
	const struct options *options = run->options;
	struct sampler_config config = {
		.rate_hz = options->rate_hz,
		.jitter = !options->no_jitter,
		.duration_ns = options->duration_ns,
		.stack_limit = options->stack_size,
		.max_overhead = options->max_overhead,
		.stop_all = options->stop_all,
		.nonblocking = options->nonblocking,
		.unwinder = options->unwinder,
		.runtimes = options->runtimes,
		.threads_only = options->task_use == TASKS_OFF,
	};

	/* one tick, at which all are held until everybody's stack is taken */
	if (run->dumps) {
		config.duration_ns = 1;
		config.stop_all = !options->nonblocking;
		config.exact = true;
		config.all_tasks = true;
		config.tasks = run->tasks = async_tasks_create();
	}
	sample_select_threads(run, &config);
	sample_open_names(run);
	config.jit = run->jit;
	config.jit_objects = run->jit_objects;
	return sampler_create(run->target.process, &config, run->maps, run->profile, &run->log,
			      &run->sampler, err);
}

static void
on_snapshot(void *context)
{
	struct sample_run *run = context;
	struct error err;

	status_line_erase(&run->status);
	if (run->records) {
		record_snapshot(run);
		return;
	}
	/* it may well work the next time */
	if (sample_write(run, sampler_stats(run->sampler), true, &err) != 0)
		say_error(&err);
}

static void
on_tick(void *context, bool held)
{
	struct sample_run *run = context;

	record_tick(run, held);
	if (!held && profile_deadlock_count(run->profile) > run->deadlocks_said) {
		sampler_leave(run->sampler);
		say_deadlocks(run);
		sampler_return(run->sampler);
	}
}

static void
on_progress(void *context, uint64_t elapsed_ns, uint64_t samples, uint32_t threads)
{
	struct sample_run *run = context;

	status_line_draw(&run->status, elapsed_ns, samples, threads);
}

/* A line of status may wait for its reader. */
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

void
sample_watch_log(struct sample_run *run)
{
	run->log.before = before_line;
	run->log.after = after_line;
	run->log.context = run->sampler;
}

static void
run_sampler(struct sample_run *run)
{
	const struct options *options = run->options;
	const struct sampler_hooks hooks = {
		.stop = &signals_stop,
		.snapshot = &signals_snapshot,
		.on_snapshot = on_snapshot,
		.on_tick = on_tick,
		.on_progress = on_progress,
		.context = run,
	};

	/* a command writes to the same terminal, and so does -v */
	status_line_init(&run->status,
		      !options->quiet && options->verbose == 0 && !run->target.is_command &&
			      !run->dumps,
		      options->duration_ns);
	if (!run->dumps)
		sample_say_start(run);
	sample_watch_log(run);
	run->began_ns = clock_date_ns();
	run->end = sampler_run(run->sampler, &hooks);
	run->stats = *sampler_stats(run->sampler);
	/* a command that was sampled without a stop is nobody's to reap but ours */
	if (run->target.is_command && !run->stats.child_exited && run->end == RUN_END_EXITED)
		run->stats.child_exited = target_reap(&run->target, &run->stats.child_status);
	/* whatever is still held is let go before time is spent on the report */
	run->log.before = run->log.after = NULL;
	sampler_free(run->sampler);
	run->sampler = NULL;
	status_line_erase(&run->status);
	/* a dump shows it itself */
	if (!run->dumps)
		say_deadlocks(run);
}

/* From the target to the sampler, which is then ready to run. */
static int
prepare(struct sample_run *run, struct error *err)
{
	int rc = target_find(&run->target, run->options, err);

	if (rc != 0)
		return rc;
	signals_install();
	rc = target_open(&run->target, !run->options->nonblocking, err);
	if (rc == 0)
		rc = target_check_tids(&run->target, run->options, err);
	if (rc != 0)
		return rc;
	sample_raise_descriptor_limit();
	run->modules = modules_create();
	run->profile = profile_create();
	rc = run->records ? record_begin(run, err) : sample_open_output(run, run->target.pid, err);
	if (rc == 0 && !run->records && !run->dumps)
		rc = part_begin(run, err);
	if (rc == 0)
		rc = target_begin(&run->target, err);
	if (rc == 0 && run->recorder != NULL)
		recorder_set_process(run->recorder, run->target.process);
	if (rc == 0)
		rc = create_sampler(run, err);
	return rc;
}

static int
sample(struct sample_run *run, int *status, struct error *err)
{
	struct strbuf why;
	int rc = prepare(run, err);

	if (rc != 0)
		return rc;
	run_sampler(run);
	strbuf_init(&why);
	*status = sample_exit_status(&run->stats, &why);
	if (*status != SAMPLE_NOTHING)
		sample_say_end(run);
	if (run->dumps && profile_deadlock_count(run->profile) > 0)
		*status = SAMPLE_DEADLOCK;
	if (run->records)
		rc = record_end(run, *status != SAMPLE_NOTHING, err);
	if (rc == 0 && *status == SAMPLE_NOTHING)
		rc = sample_nothing(run, err);
	else if (rc == 0 && !run->records)
		rc = sample_write(run, &run->stats, false, err);
	if (rc == 0 && why.length > 0)
		log_say(&run->log, LOG_NORMAL, "%s", why.data);
	strbuf_release(&why);
	return rc;
}

void
sample_run_release(struct sample_run *run)
{
	sampler_free(run->sampler);
	if (run->recorder != NULL)
		recorder_discard(run->recorder);
	async_tasks_free(run->tasks);
	symbols_free(run->symbols);
	profile_free(run->profile);
	jit_objects_free(run->jit_objects);
	jit_free(run->jit);
	maps_free(run->maps);
	modules_free(run->modules);
	output_close(&run->output);
	target_release(&run->target);
}

void
sample_run_init(struct sample_run *run, const struct options *options)
{
	const unsigned level = LOG_NORMAL + (options->verbose < 2 ? options->verbose : 2);

	*run = (struct sample_run){
		.options = options,
		.dumps = options->verb->bit == FOR_DUMP,
		.log = { .level = options->quiet ? LOG_QUIET : (enum log_level)level,
			 .stream = stderr },
		.output = { .fd = -1, .dirfd = -1 },
	};
}

int
command_sample(const struct options *options)
{
	struct sample_run run;
	struct error err;
	int rc, status = 0;

	sample_run_init(&run, options);
	rc = check_words(&run, &err);
	if (rc == 0)
		rc = sample(&run, &status, &err);
	sample_run_release(&run);
	if (rc != 0) {
		say_error(&err);
		status = error_exit_status(err.kind);
	}
	return status;
}
