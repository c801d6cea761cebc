/* SPDX-License-Identifier: MIT */
/*
 * command_sample.c - wallsample without the name of a command, and wallsample record: sample a
 * process. Also the functions of struct run, which the commands dump and causal use, too.
 */
#include <stdlib.h>

#include "cli/keeper_internal.h"
#include "cli/memory_limit_internal.h"
#include "cli/rights_internal.h"
#include "cli/run_internal.h"
#include "wallsample/base/file_proxy.h"
#include "wallsample/cli/supervisor.h"

/*
 * Checks the options before anything is opened. In the pattern of -o, %p is replaced by 0 for this
 * check, because the process id is not known yet.
 */
static int
sample_check_options(struct run *run, struct error *err)
{
	const struct options *options = run->request.options;
	int rc = target_check_usage(options, err);

	if (rc != 0)
		return rc;
	if (options->verb->bit == FOR_RECORD || (!run->dumps && output_is_recording(options)))
		return record_check_words(run, err);
	rc = request_check_report(&run->request, err);
	return rc == 0 ? output_name_check(options->output, err) : rc;
}

/* --- parts that wallsample causal shares ------------------------------------------ */

void
run_init(struct run *run, const struct options *options)
{
	*run = (struct run){ .dumps = options->verb->bit == FOR_DUMP };
	request_init(&run->request, options);
}

void
run_release(struct run *run)
{
	sampler_free(run->sampler);
	if (run->recorder != NULL)
		recorder_discard(run->recorder);
	free(run->own_words);
	source_release(&run->source);
	target_release(&run->target);
	jit_epochs_free(run->epochs);
	modules_free(run->source.modules);
	file_proxy_free(run->files);
	request_release(&run->request);
	supervisor_end();
}

static void
start_supervisor(struct run *run)
{
	struct error err;

	if (!run->request.options->nonblocking && supervisor_start(&err) != 0)
		log_say(&run->request.log, LOG_NORMAL,
			"%s; if wallsample is stopped (SIGSTOP), threads of the program may stay "
			"stopped until it continues",
			err.text);
}

static void
warn_of_freezer(const struct run *run)
{
	bool may_freeze = false;

	for (size_t i = 0; i < run->target.count && !may_freeze; i++)
		may_freeze = supervisor_may_freeze(run->target.member[i]->process->dirfd);
	if (!run->request.options->nonblocking && may_freeze)
		log_say(&run->request.log, LOG_NORMAL,
			"the program is in another control group than wallsample: while that of "
			"wallsample is frozen (docker pause), threads of the program may stay "
			"stopped");
}

static void
open_names(struct run *run)
{
	const struct file_waiting waiting = { .stop = &signals_stop };

	run->files = file_proxy_create();
	file_proxy_set_waiting(run->files, &waiting);
	modules_set_proxy(run->source.modules, run->files);
	run->epochs = jit_epochs_create();
	for (size_t i = 0; i < run->target.count; i++)
		target_open_code(run->target.member[i], run->source.modules, run->epochs,
				 &run->request.log);
	snprintf(run->root, sizeof(run->root), "/proc/%d/root", (int)run->target.pid);
	run->source.process = target_first(&run->target);
	source_make_symbols(&run->source, run->request.options, run->root, run->epochs,
			    &run->request.log);
}

int
run_prepare(struct run *run, struct error *err)
{
	const struct options *options = run->request.options;
	int rc = options->realtime ? sampler_check_realtime(err) : 0;

	if (rc == 0)
		rc = target_find(&run->target, options, err);
	if (rc != 0)
		return rc;
	signals_install();
	start_supervisor(run);
	rc = target_open(&run->target, options, &run->request.log, err);
	if (rc == 0)
		rc = target_check_tids(&run->target, options, err);
	if (rc != 0)
		return rc;
	warn_of_freezer(run);
	/* The command, which has been forked, keeps the original limit of open files. */
	source_init(&run->source);
	for (size_t i = 0; i < run->target.count; i++)
		run->is_private |= privacy_of_process(run->target.member[i]->process);
	rc = run->records ? record_begin(run, err) :
			    request_open_output(&run->request, run->target.pid, err);
	run->request.output.is_private |= run->is_private;
	if (rc == 0 && !run->records && options->verb->bit == FOR_RUN)
		rc = part_begin(run, err);
	if (rc == 0)
		rc = target_begin(&run->target, err);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < run->target.count; i++)
		privacy_hide_words(options, run->target.member[i]->process);
	if (run->recorder != NULL)
		recorder_set_process(run->recorder, target_first(&run->target));
	rights_reduce(&run->request.output, &run->target);
	open_names(run);
	memory_limit_set();
	return 0;
}

/*
 * Called before a line of the log is written. Writing may block, so the sampler releases the
 * threads that it holds.
 */
static void
before_line(void *context)
{
	sampler_pause(context);
}

static void
after_line(void *context)
{
	sampler_resume(context);
}

void
run_watch_log(struct run *run)
{
	run->request.log.before = before_line;
	run->request.log.after = after_line;
	run->request.log.context = run->sampler;
}

void
run_end_sampler(struct run *run)
{
	run->request.log.before = run->request.log.after = NULL;
	sampler_free(run->sampler);
	run->sampler = NULL;
	status_line_erase(&run->status);
	signals_noticed();
	signals_defer_suspend(false);
	if (signals_suspend != 0)
		signals_suspend_now();
}

void
run_leave_target(struct run *run)
{
	target_refresh_code(&run->target);
	/* ws-files and the supervisor's thread have the capabilities for sampling, too: they end
	 * first. */
	file_proxy_end(run->files);
	supervisor_end();
	rights_end_sampling();
}

void
run_on_suspend(void *context)
{
	struct run *run = context;

	status_line_erase(&run->status);
	signals_suspend_now();
}

void
run_on_progress(void *context, uint64_t elapsed_ns, uint64_t samples, uint32_t threads)
{
	struct run *run = context;

	status_line_draw(&run->status, elapsed_ns, samples, threads);
}

/* --- sampling -------------------------------------------------------------------- */

/* Share of the CPU quota of wallsample's cgroup that sampling may use. A wallsample that has used
 * up its quota does not run for the rest of a period (100 ms), and threads that it has stopped
 * stay stopped. A single tick may use several times the mean, and other processes of the cgroup use
 * the quota, too. */
#define QUOTA_PART 0.25

/* Returns the limit of wallsample's CPU time in percent of one CPU: that of the option, or less
 * because of a quota. */
static double
limit_overhead(struct run *run)
{
	const double wanted = run->request.options->max_overhead;
	const double quota = 100 * cpus_own_quota();

	if (QUOTA_PART * quota >= wanted || run->request.options->nonblocking)
		return wanted;
	log_say(&run->request.log, LOG_NORMAL,
		"the control group of wallsample has a quota of %.3g%% of one CPU: sampling uses "
		"at most %.3g%% of one CPU, so that wallsample can always release threads",
		quota, QUOTA_PART * quota);
	return QUOTA_PART * quota;
}

static int
sample_create(struct run *run, struct error *err)
{
	const struct options *options = run->request.options;
	struct sampler_config config = {
		.rate_hz = options->rate_hz,
		.jitter = !options->no_jitter,
		.duration_ns = options->duration_ns,
		.stack_limit = options->stack_size,
		.max_overhead = limit_overhead(run),
		.max_stopped = options->max_stopped,
		.stop_all = options->stop_all,
		.nonblocking = options->nonblocking,
		.realtime = options->realtime,
		.unwinder = options->unwinder,
		.runtimes = options->runtimes,
		.threads_only = options->green_use == GREEN_USE_OFF,
		.names_others = !run->dumps && !options->no_cmdline,
	};

	/* A dump is one tick, at which running threads stay stopped until all threads are
	 * captured. */
	if (run->dumps) {
		config.duration_ns = 1;
		config.stop_all = !options->nonblocking;
		config.exact = true;
		config.all_green = true;
		run->source.async = async_tasks_create();
	}
	return run_create_sampler(run, &config, run->source.profile, NULL, err);
}

static void
on_snapshot(void *context)
{
	struct run *run = context;
	struct error err;

	status_line_erase(&run->status);
	if (run->records) {
		record_snapshot(run);
		return;
	}
	/* An error does not end the run: a later snapshot may succeed. */
	run->source.stats = *sampler_stats(run->sampler);
	run_read_excluded(run);
	if (sample_write(run, true, &err) != 0)
		say_error(&err);
}

/* In the keeper: writes the report that wallsample cannot write any more. */
static int
report_kept(void *context)
{
	struct run *run = context;
	struct error err;
	int status;

	keeper_begin(run);
	run_leave_target(run);
	log_say(&run->request.log, LOG_NORMAL, "the report has the samples of the first %s",
		say_duration(run->source.stats.elapsed_ns).text);
	status = say_end(sample_write(run, false, &err), 0, &err);
	keeper_end(run);
	return status;
}

static void
on_tick(void *context, bool held)
{
	struct run *run = context;

	if (!run->dumps)
		keeper_renew(run, held, report_kept, run);
	record_tick(run, held);
	if (!held && profile_deadlock_count(run->source.profile) > run->deadlocks_reported) {
		sampler_pause(run->sampler);
		say_deadlocks(run);
		sampler_resume(run->sampler);
	}
}

static void
sample_run(struct run *run)
{
	const struct options *options = run->request.options;
	const struct sampler_hooks hooks = {
		.stop = &signals_stop,
		.snapshot = &signals_snapshot,
		.on_snapshot = on_snapshot,
		.suspend = &signals_suspend,
		.on_suspend = run_on_suspend,
		.on_tick = on_tick,
		.on_progress = run_on_progress,
		.context = run,
	};
	struct run_stats *stats = &run->source.stats;

	/* No status line if other text goes to the same terminal: that of a started command, or
	 * of -v. */
	status_line_init(&run->status,
			 !options->quiet && options->verbose == 0 && !run->target.is_command &&
				 !run->dumps,
			 options->duration_ns);
	if (!run->dumps)
		sample_say_start(run);
	run_watch_log(run);
	run->source.began_ns = clock_date_ns();
	target_begin_set(&run->target);
	run->source.end = sampler_run(run->sampler, &hooks);
	*stats = *sampler_stats(run->sampler);
	run_read_excluded(run);
	/* If there was no tracer (--nonblocking), nothing has reaped the command yet. */
	if (run->target.is_command && !stats->child_exited && run->source.end == RUN_END_EXITED)
		stats->child_exited = target_reap(&run->target, &stats->child_status);
	run_end_sampler(run);
	run_leave_target(run);
	/* The report of a dump contains the deadlocks. */
	if (!run->dumps)
		say_deadlocks(run);
}

static int
sample(struct run *run, int *status, struct error *err)
{
	struct strbuf why = STRBUF_INIT;
	int rc = run_prepare(run, err);

	if (rc == 0)
		rc = sample_create(run, err);
	/* No other process can come, and the names do not change soon. */
	if (rc == 0 && !run->records && !run->target.is_command && !target_may_grow(&run->target))
		rc = source_check_processes(&run->request, &run->source, NULL, err);
	if (rc != 0)
		return rc;
	sample_run(run);
	*status = sample_exit_status(&run->source.stats, &why);
	if (*status == SAMPLE_WHOLE && run->target.left_out > 0)
		*status = SAMPLE_PARTIAL;
	if (*status != SAMPLE_NOTHING)
		sample_say_end(run);
	if (run->dumps && profile_deadlock_count(run->source.profile) > 0)
		*status = SAMPLE_DEADLOCK;
	if (run->records)
		rc = record_end(run, *status != SAMPLE_NOTHING, err);
	if (rc == 0 && *status == SAMPLE_NOTHING)
		rc = sample_nothing(run, err);
	else if (rc == 0 && !run->records)
		rc = sample_write(run, false, err);
	if (rc == 0 && why.length > 0)
		log_say(&run->request.log, LOG_NORMAL, "%s", why.data);
	strbuf_release(&why);
	return rc;
}

int
command_sample(const struct options *options, int *status, struct error *err)
{
	struct run run;
	int rc;

	run_init(&run, options);
	rc = sample_check_options(&run, err);
	if (rc == 0)
		rc = sample(&run, status, err);
	run_release(&run);
	return rc;
}
