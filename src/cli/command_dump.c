/* SPDX-License-Identifier: MIT */
/* command_dump.c - every thread once, of a live process or of a core file. */
#include "cli/sample_run_internal.h"
#include "wallsample/core/core_sample.h"

/* --- what can be wrong before anything is opened -------------------------------- */

static int
check_words(struct sample_run *run, struct error *err)
{
	const struct options *options = run->options;
	const struct option_row *wrong = option_given_beyond(options, FOR_CORE);
	const struct option_row *nameless = option_given_without_core(options);

	if (options->pid != 0 || options->name != NULL || options->command != NULL)
		return error_set(err, ERROR_USAGE, "either a live process or a core file: -p and "
				 "--name do not go with --core");
	if (wrong != NULL)
		return error_set(err, ERROR_USAGE, "--%s is for live processes, not for core files",
				 wrong->name);
	if (nameless != NULL)
		return error_set(err, ERROR_USAGE, "--%s: %s", nameless->name, nameless->no_core);
	if (output_is_recording(options->format, options->output))
		return error_set(err, ERROR_USAGE, "a dump is not a recording: wallsample record "
				 "makes one");
	return sample_check_report(run, err);
}

/* At least one of the threads of --tid must be there. */
static int
check_tids(const struct core *core, const struct options *options, struct error *err)
{
	for (size_t i = 0; i < options->filter.tids.count; i++)
		for (size_t t = 0; t < core_thread_count(core); t++)
			if ((uint64_t)core_thread_id(core, t) == options->filter.tids.id[i])
				return 0;
	if (options->filter.tids.count == 0)
		return 0;
	return error_set(err, ERROR_USAGE, "--tid: %d is not a thread in %s",
			 (int)options->filter.tids.id[0], options->core);
}

/* --- the core -------------------------------------------------------------------- */

static void
say_missing(const struct sample_run *run, const struct core *core)
{
	char missing[SAY_TEXT_SIZE];

	if (core_missing(core) > 0)
		log_say(&run->log, LOG_NORMAL,
			"%s was cut short: %s bytes of memory are not in it, and stacks may end "
			"early", run->options->core, say_count(core_missing(core), missing));
}

static void
make_symbols(struct sample_run *run)
{
	const struct options *options = run->options;

	run->names = (struct symbols_config){
		.demangle = !options->no_demangle,
		.inlines = !options->no_inlines,
		.files.debug_dirs = options->debug_dirs.text,
		.files.symfs = options->symfs,
		.files.debuginfod = options->debuginfod,
		.files.root = "/",
		.files.log = &run->log,
	};
	run->symbols = symbols_create(run->modules, &run->names);
}

static int
write_threads(struct sample_run *run, const struct core *core, int *status, struct error *err)
{
	const struct core_files files = {
		.exe = run->options->exe, .symfs = run->options->symfs,
	};
	const struct core_sample_config config = {
		.unwinder = run->options->unwinder,
		.runtimes = run->options->runtimes,
		.tasks = run->tasks = async_tasks_create(),
	};
	struct strbuf why;
	int rc;

	say_missing(run, core);
	run->modules = modules_create();
	run->profile = profile_create();
	run->maps = core_maps(core, run->modules, &files, &run->log);
	core_sample(core, run->maps, &config, run->profile, &run->stats);
	make_symbols(run);
	run->began_ns = core_written_ns(core);
	run->end = RUN_END_EXITED;
	run->core_end = core_end(core);
	rc = sample_write(run, &run->stats, false, err);
	strbuf_init(&why);
	if (rc == 0)
		*status = sample_exit_status(&run->stats, &why);
	if (rc == 0 && profile_deadlock_count(run->profile) > 0)
		*status = SAMPLE_DEADLOCK;
	if (rc == 0 && why.length > 0)
		log_say(&run->log, LOG_NORMAL, "%s", why.data);
	strbuf_release(&why);
	return rc;
}

static int
open_and_write(struct sample_run *run, struct core **core, int *status, struct error *err)
{
	int rc = core_open(run->options->core, core, err);

	if (rc == 0)
		rc = check_tids(*core, run->options, err);
	if (rc != 0)
		return rc;
	run->core_process = core_process(*core);
	rc = sample_open_output(run, run->core_process->pid, err);
	return rc == 0 ? write_threads(run, *core, status, err) : rc;
}

static int
dump_core(const struct options *options)
{
	struct core *core = NULL;
	struct sample_run run;
	struct error err;
	int rc, status = 0;

	sample_run_init(&run, options);
	rc = check_words(&run, &err);
	if (rc == 0)
		rc = open_and_write(&run, &core, &status, &err);
	sample_run_release(&run);
	core_free(core);
	if (rc != 0) {
		say_error(&err);
		status = error_exit_status(err.kind);
	}
	return status;
}

int
command_dump(const struct options *options)
{
	struct error err;

	if (options->core != NULL)
		return dump_core(options);
	if (options->exe == NULL)
		return command_sample(options);
	error_set(&err, ERROR_USAGE,
		  "--exe says of which program a core file is: it goes with --core");
	say_error(&err);
	return error_exit_status(err.kind);
}
