/* SPDX-License-Identifier: MIT */
/*
 * sample_run_internal.h - everything that one run of the sampling command owns.
 */
#ifndef WALLSAMPLE_CLI_SAMPLE_RUN_INTERNAL_H
#define WALLSAMPLE_CLI_SAMPLE_RUN_INTERNAL_H

#include "cli/cli_internal.h"
#include "cli/status_line_internal.h"
#include "wallsample/recording/recording_read.h"
#include "wallsample/analysis/view.h"

struct sample_run {
	const struct options *options;
	struct log log;
	const struct exporter *exporter;
	struct target target;
	struct output output;
	struct status_line status;
	struct modules *modules;
	struct maps *maps;
	struct jit *jit;
	struct jit_objects *jit_objects;
	struct symbols_config names;
	char root[32]; /* the target's file system */
	struct profile *profile;
	struct symbols *symbols;
	struct sampler *sampler;
	uint64_t began_ns;     /* CLOCK_REALTIME when sampling began */
	struct run_stats stats; /* when it has ended */
	enum run_end end;
	bool records;              /* the output is a recording, and there is no exporter */
	struct async_tasks *tasks; /* of a dump; or NULL */
	bool dumps;                /* it is every thread once */
	size_t deadlocks_said;     /* of the profile */
	struct recorder *recorder; /* NULL: none */
	struct recording **recordings; /* that a report is of, loaded; a live run has none here */
	size_t recording_count;
	const char *note;          /* about them; or NULL */
	const char *part;          /* which ticks were asked for; or NULL */
	const struct process *core_process; /* of a core file: who it was; else NULL */
	const struct core_end *core_end;    /* likewise: how it ended */
	struct error record_error; /* why there is not more of it */
};

/* --- command_sample.c -------------------------------------------------------- */

/* Zeroed but for what the options say of output and log. */
void sample_run_init(struct sample_run *run, const struct options *options);
/* What can be wrong with the words about a report. */
int sample_check_report(struct sample_run *run, struct error *err);
/* Opens what -o names, in which %p is this process, for the format that was chosen. */
int sample_open_output(struct sample_run *run, pid_t pid, struct error *err);
void sample_run_release(struct sample_run *run);
/* Threads that the filter does not select are not stopped. The run is borrowed. */
void sample_select_threads(struct sample_run *run, struct sampler_config *config);
/* From now on the sampler leaves its target alone while a line is written. */
void sample_watch_log(struct sample_run *run);
/* Each thread keeps two descriptors open. */
void sample_raise_descriptor_limit(void);
/* What is mapped where in the target, and what that is called. */
void sample_open_names(struct sample_run *run);

/* --- say_deadlock.c ---------------------------------------------------------- */

/* Tells of those that have not been told yet. It may take long. */
void say_deadlocks(struct sample_run *run);

/* --- sample_report.c --------------------------------------------------------- */

/* "sampling process 123 (redis-server) …" */
void sample_say_start(const struct sample_run *run);

/* Writes what there is, so far (`snapshot`) or in the end, and says where. */
int sample_write(struct sample_run *run, const struct run_stats *stats, bool snapshot,
		 struct error *err);

/* How the target ended, and with -v the numbers of the run. */
void sample_say_end(const struct sample_run *run);

/* ERROR_NO_PROCESS or ERROR_SYSTEM, with why there is not one sample. */
int sample_nothing(const struct sample_run *run, struct error *err);

/* --- sample_part.c ----------------------------------------------------------- */

/* Do the options ask for a part of the time? */
bool part_is_wanted(const struct options *options);
/* ERROR_USAGE when there can be nothing in it. */
int part_check_words(const struct options *options, struct error *err);
struct recording_selection part_selection(const struct options *options);
/* "1 to 2 threads on a CPU, from 3 s on: 12 % of the time" */
void part_describe(const struct options *options, uint64_t selected_ns, uint64_t all_ns,
		   struct strbuf *text);
/*
 * A live run that a part is wanted of, or whose output shows time, records into a file without
 * a name.
 */
int part_begin(struct sample_run *run, struct error *err);
/* It cannot be written any more: the run goes on without if the output can do without. */
void part_fail(struct sample_run *run);

struct part {
	struct profile *profile;     /* NULL: there is no recording of this run */
	struct recording *recording; /* that it was loaded from */
	struct strbuf text;          /* which part it is; empty: all */
};

/* Of what there is so far, that which is wanted. */
int part_load(struct sample_run *run, const struct run_stats *stats, struct part *part,
	      struct error *err);
void part_release(struct part *part);

/* --- sample_record.c --------------------------------------------------------- */

/* What is asked for is a recording: are these words for one? */
int record_check_words(struct sample_run *run, struct error *err);
/* Makes the file. The profile and the modules are there, the process is not yet. */
int record_begin(struct sample_run *run, struct error *err);
/* Between two ticks; `held` is as in struct sampler_hooks. */
void record_tick(struct sample_run *run, bool held);
/* Writes what there is so far. */
void record_snapshot(struct sample_run *run);
/* The end of the run, with or without a sample. */
int record_end(struct sample_run *run, bool any, struct error *err);

#endif
