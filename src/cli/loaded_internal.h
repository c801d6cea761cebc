/* SPDX-License-Identifier: MIT */
/*
 * loaded_internal.h - recordings, loaded as one profile that can be named: what a report is made
 * of, and each side of a comparison.
 */
#ifndef WALLSAMPLE_CLI_LOADED_INTERNAL_H
#define WALLSAMPLE_CLI_LOADED_INTERNAL_H

#include "cli/cli_internal.h"
#include "wallsample/recording/recording_read.h"

struct loaded {
	struct recording **recording; /* each of them, open */
	size_t count, capacity;
	struct profile *profile;
	struct modules *modules;
	struct symbols *symbols;
	struct recorded_names *names;
	struct symbols_config config; /* of the symbols, which borrow it */
	struct process *process;  /* of the first, as a report speaks of it */
	struct run_stats stats; /* of all */
	struct strbuf note;       /* when and where they were made */
	uint64_t selected_ns, all_ns;
};

/*
 * The part of `count` recordings that the options ask for. `log` is borrowed until the release,
 * which is due after an error, too.
 */
int loaded_init(struct loaded *loaded, const struct options *options, const char *const *files,
		size_t count, const struct log *log, struct error *err);
void loaded_release(struct loaded *loaded);

#endif
