/* SPDX-License-Identifier: MIT */
/* command_dump.c - wallsample dump: captures every thread of a process or core file once. */
#include "cli/run_internal.h"
#include "wallsample/report/quantity.h"
#include "wallsample/core/core_sample.h"

/* --- checks before anything is opened -------------------------------------------- */

static int
dump_check_options(struct request *request, struct error *err)
{
	const struct options *options = request->options;
	const struct option_row *wrong = option_given_beyond(options, FOR_CORE);
	const struct option_row *nameless = option_given_without_core(options);

	if (options->pids.count > 0 || options->name != NULL || options->command != NULL)
		return error_set(err, ERROR_USAGE,
				 "either a live process or a core file: -p and "
				 "--name do not go with --core");
	if (wrong != NULL)
		return error_set(err, ERROR_USAGE, "--%s is for live processes, not for core files",
				 wrong->name);
	if (nameless != NULL)
		return error_set(err, ERROR_USAGE, "--%s: %s", nameless->name, nameless->no_core);
	return request_check_report(request, err);
}

/* Returns ERROR_USAGE if --tid was given and the core file has none of the listed threads. */
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
say_missing(const struct request *request, const struct core *core)
{

	if (core_missing(core) > 0)
		log_say(&request->log, LOG_NORMAL,
			"%s was cut short: %s bytes of memory are not in it, and stacks may end "
			"early",
			request->options->core, quantity_count(core_missing(core)).text);
}

/* Samples the threads of the core file. The caller frees *maps. */
static void
sample_threads(const struct request *request, struct core *core, struct source *source,
	       struct maps **maps)
{
	const struct options *options = request->options;
	const struct core_files files = { .exe = options->exe, .symfs = options->symfs };
	const struct core_sample_config config = {
		.unwinder = options->unwinder,
		.runtimes = options->runtimes,
		.async = source->async = async_tasks_create(),
	};

	source_init(source);
	*maps = core_maps(core, source->modules, &files, &request->log);
	core_sample(core, *maps, &config, source->profile, &source->stats);
	source_make_symbols(source, options, "/", NULL, &request->log);
	privacy_hide_words(options, core_process(core));
	source->process = core_process(core);
	source->began_ns = core_written_ns(core);
	source->end = RUN_END_EXITED;
	source->core_end = core_end(core);
}

static int
write_threads(const struct request *request, struct core *core, int *status, struct error *err)
{
	const struct part all = { .profile = NULL };
	struct source source = { .profile = NULL };
	struct maps *maps;
	int rc;

	say_missing(request, core);
	sample_threads(request, core, &source, &maps);
	rc = source_write(request, &source, &all, false, err);
	if (rc == 0)
		*status = source_status(request, &source);
	if (rc == 0 && profile_deadlock_count(source.profile) > 0)
		*status = SAMPLE_DEADLOCK;
	source_release(&source);
	maps_free(maps);
	modules_free(source.modules);
	return rc;
}

static int
dump_core(struct request *request, struct core **core, int *status, struct error *err)
{
	int rc = dump_check_options(request, err);

	if (rc == 0)
		rc = core_open(request->options->core, core, err);
	if (rc == 0)
		rc = check_tids(*core, request->options, err);
	if (rc == 0)
		rc = request_open_output(request, core_process(*core)->pid, err);
	return rc == 0 ? write_threads(request, *core, status, err) : rc;
}

int
command_dump(const struct options *options, int *status, struct error *err)
{
	struct core *core = NULL;
	struct request request;
	int rc;

	if (options->core == NULL && options->exe != NULL)
		return error_set(err, ERROR_USAGE,
				 "--exe says of which program a core file is: it goes with --core");
	if (options->core == NULL)
		return command_sample(options, status, err);
	request_init(&request, options);
	rc = dump_core(&request, &core, status, err);
	request_release(&request);
	core_free(core);
	return rc;
}
