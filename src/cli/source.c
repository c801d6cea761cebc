/* SPDX-License-Identifier: MIT */
/* source.c - the data of a report. */
#include "cli/run_internal.h"

void
source_make_symbols(struct source *source, const struct options *options, const char *root,
		    const struct jit *jit, const struct log *log)
{
	source->names.demangle = !options->no_demangle;
	source->names.inlines = !options->no_inlines;
	source->names.files = (struct debug_files_config){
		.debug_dirs = options->debug_dirs.text,
		.symfs = options->symfs,
		.debuginfod = options->debuginfod,
		.root = root,
		.log = log,
	};
	source->names.jit = jit;
	source->symbols = symbols_create(source->modules, &source->names);
}

void
source_release(struct source *source)
{
	async_tasks_free(source->tasks);
	symbols_free(source->symbols);
	profile_free(source->profile);
}

enum sample_status
source_status(const struct request *request, const struct source *source)
{
	enum sample_status status;
	struct strbuf why = STRBUF_INIT;

	status = sample_exit_status(&source->stats, &why);
	if (why.length > 0)
		log_say(&request->log, LOG_NORMAL, "%s", why.data);
	strbuf_release(&why);
	return status;
}
