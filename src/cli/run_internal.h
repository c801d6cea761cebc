/* SPDX-License-Identifier: MIT */
/*
 * run_internal.h - the objects of one call of the program: the request, the source of its reports,
 * and for a live process the run of the sampler.
 */
#ifndef WALLSAMPLE_CLI_RUN_INTERNAL_H
#define WALLSAMPLE_CLI_RUN_INTERNAL_H

#include "cli/cli_internal.h"
#include "cli/signals_internal.h"
#include "cli/status_line_internal.h"
#include "cli/target_internal.h"
#include "wallsample/analysis/view.h"
#include "wallsample/recording/recording_read.h"

/* --- request.c: the exporter and the output that the options name ------------- */

struct request {
	const struct options *options; /* borrowed */
	struct log log;
	const struct exporter *exporter; /* NULL: not chosen yet, or a recording is written */
	struct output output;
};

/* Initialises the request from `options`, which is borrowed. Warns if --unwinder selects a
 * library. */
void request_init(struct request *request, const struct options *options);
/* Chooses the exporter. Returns ERROR_USAGE if options of the report contradict each other. */
int request_check_report(struct request *request, struct error *err);
/* Opens the output that -o names for the chosen format. `pid` replaces %p in the name. */
int request_open_output(struct request *request, pid_t pid, struct error *err);
void request_release(struct request *request);

/* --- source.c: the data of a report, and writing a report of it ----------------- */

/* The data of a report, from a live process, a core file or recordings. */
struct source {
	struct profile *profile;         /* owned */
	struct modules *modules;         /* owned by the creator of the source */
	struct symbols_config names;     /* borrowed by `symbols` */
	struct symbols *symbols;         /* owned */
	struct async_tasks *async;       /* owned; NULL unless the source is a dump */
	const struct process *process;   /* borrowed */
	const struct core_end *core_end; /* borrowed; how the process ended; NULL: no core file */
	struct run_stats stats;
	enum run_end end;
	uint64_t began_ns; /* CLOCK_REALTIME when sampling began */
	const char *note;  /* borrowed; describes recordings; NULL: a process or core file */
};

/* Raises the limit of open files, then creates source->modules and source->profile. */
void source_init(struct source *source);
/* Creates source->symbols. Borrows root (debug_files_config.root), epochs (may be NULL) and log. */
void source_make_symbols(struct source *source, const struct options *options, const char *root,
			 const struct jit_epochs *epochs, const struct log *log);
void source_release(struct source *source);

/* The part of the sampled time that a report covers. */
struct part {
	struct profile *profile;            /* borrowed; NULL: the profile of the source */
	struct recording *const *recording; /* borrowed, with the times of samples; or NULL */
	size_t recording_count;
	struct strbuf text; /* describes the part; empty if the part is all the time */
};

/* Returns 0 unless --process and --exclude-process leave none of the processes, of the whole source
 * or, if it is not NULL, of the part. The error names those that there are. */
int source_check_processes(const struct request *request, const struct source *source,
			   const struct part *part, struct error *err);
/* True if a pager may show a report: not of a run that continues, and not while a started command,
 * which Ctrl-C in the pager would interrupt, has not ended. */
bool source_may_page(const struct options *options, bool ended, bool snapshot);
/* Writes a report or dump of a source, and prints the path of the written file. `snapshot`:
 * sampling continues. `part` is borrowed. */
int source_write(const struct request *request, const struct source *source,
		 const struct part *part, bool snapshot, struct error *err);

/* Exit statuses of a call without an error. Only a dump has SAMPLE_DEADLOCK. */
enum sample_status { SAMPLE_WHOLE, SAMPLE_PARTIAL, SAMPLE_NOTHING, SAMPLE_DEADLOCK = 4 };

/* SAMPLE_NOTHING: no thread was captured. SAMPLE_PARTIAL, with the reason added to `why`: over 1 %
 * of samples of threads or green tasks failed, or of stacks are incomplete. Else SAMPLE_WHOLE. */
enum sample_status sample_exit_status(const struct run_stats *stats, struct strbuf *why);
/* Returns the exit status after a report was written. For SAMPLE_PARTIAL it prints the reason. */
enum sample_status source_status(const struct request *request, const struct source *source);

/* --- loaded.c: recordings as one source --------------------------------------- */

struct loaded {
	struct source source;
	struct part part;             /* the part of the recordings that the options select */
	struct recording **recording; /* all loaded recordings, open */
	struct recording_load *load;  /* by recording: its group, and the times of the group */
	size_t count;                 /* number of recordings */
	struct recorded_names *names;
	struct process *process;      /* the first process */
	struct strbuf note;           /* when and where the recordings were made */
	uint64_t selected_ns, all_ns; /* sums over the groups: time of the part, whole time */
};

/*
 * Loads the part of `count` recordings that the options select. The log of the request is borrowed
 * until loaded_release, which must be called after an error, too.
 */
int loaded_init(struct loaded *loaded, const struct request *request, const char *const *files,
		size_t count, struct error *err);
void loaded_release(struct loaded *loaded);

/* --- command_sample.c: the run of the sampler on a live process ---------------- */

struct run {
	struct request request;
	struct source source;
	struct target target;
	struct status_line status;
	struct file_proxy *files;  /* by which files of the target are read */
	struct jit_epochs *epochs; /* of the generated code of all processes */
	char root[32];             /* the path of the target's root directory */
	struct sampler *sampler;
	bool records;              /* the output is a recording */
	bool is_private;           /* the target is another user's (privacy_of_process) */
	char *own_words;           /* privacy_own_words, for the recording; owned */
	bool dumps;                /* a dump: every thread is captured once */
	size_t deadlocks_reported; /* number of the profile's deadlocks that are printed already */
	uint64_t keep_ns, keep_every_ns; /* when the next keeper is due (supervisor.h); interval */
	struct recorder *recorder;       /* NULL: the samples are not recorded */
	struct error record_error;       /* why recording ended early; ERROR_NONE: it did not */
};

void run_init(struct run *run, const struct options *options);
void run_release(struct run *run);
/* Finds and opens the target, installs the signal handlers, opens the output, starts the command if
 * the target is one, opens the mappings of the target and the sources of names for them. */
int run_prepare(struct run *run, struct error *err);
/* Creates the sampler of the run for the threads that the options select. `control` may be NULL. */
int run_create_sampler(struct run *run, const struct sampler_config *config,
		       struct profile *profile, const struct sampler_control *control,
		       struct error *err);
/* Reads source.stats.excluded_processes from /proc: no thread of the target may be stopped. */
void run_read_excluded(struct run *run);
/* Makes the log release the threads that the sampler holds, before each line that it writes. */
void run_watch_log(struct run *run);
/* Releases the threads that are still stopped, frees the sampler and erases the status line. */
void run_end_sampler(struct run *run);
/* To be called when no sampler follows: after run_end_sampler(), or in the keeper. Reads the last
 * names of JIT code, ends ws-files and the supervisor, and calls rights_end_sampling(). */
void run_leave_target(struct run *run);
/* For sampler_hooks, with a struct run: erases the status line, and calls signals_suspend_now(). */
void run_on_suspend(void *run);
/* For sampler_hooks, with a struct run: draws the status line. */
void run_on_progress(void *run, uint64_t elapsed_ns, uint64_t samples, uint32_t threads);

/* --- sample_report.c --------------------------------------------------------- */

/* Prints the deadlocks that are not printed yet. May take long: it looks up the names of locks. */
void say_deadlocks(struct run *run);
/* Prints "sampling process 123 (redis-server) …". */
void sample_say_start(const struct run *run);
/* Prints how the target ended, and with -v the statistics of the run. */
void sample_say_end(const struct run *run);
/* Returns ERROR_NO_PROCESS or ERROR_SYSTEM with the reason why there is no sample. */
int sample_nothing(const struct run *run, struct error *err);

/* --- sample_part.c ----------------------------------------------------------- */

/* True if the options select a part of the time. */
bool part_is_wanted(const struct options *options);
/* Returns ERROR_USAGE if --from is not before --to, unless only one of them counts from the end. */
int part_check_words(const struct options *options, struct error *err);
struct recording_selection part_selection(const struct options *options);
/* Stores "while 1 to 2 threads were on a CPU, from 3 s: 12% of the time". */
void part_describe(const struct options *options, uint64_t selected_ns, uint64_t all_ns,
		   struct strbuf *text);
/*
 * Starts recording into an unnamed file if the report needs, or can show, the times of samples:
 * with --from, --to or --parallelism, by lock, or in a format with a time axis.
 */
int part_begin(struct run *run, struct error *err);
/* Discards a recording that failed. Ends sampling, too, if the output needs the recording. */
void part_fail(struct run *run);

/* Writes the report of the run, up to now if `snapshot` is true, and prints the report's path. */
int sample_write(struct run *run, bool snapshot, struct error *err);

/* --- sample_record.c --------------------------------------------------------- */

/* Sets run->records. Returns ERROR_USAGE if an option does not apply to recordings. */
int record_check_words(struct run *run, struct error *err);
/* Returns ERROR_USAGE unless the pattern of -o can name a recording. */
int record_check_name(const char *pattern, struct error *err);
/* Creates the recording. The source must have its profile and modules; it may lack the process. */
int record_begin(struct run *run, struct error *err);
/* Lets only the owner read the outputs from now on if a process that comes is another user's. */
void record_protect(struct run *run, const struct process *process);
/* Writes new samples to the recording if that is due. `held` is as in sampler_hooks.on_tick. */
void record_tick(struct run *run, bool held);
/* Writes new samples to the recording, and prints the size of the file. */
void record_snapshot(struct run *run);
/* Finishes the recording, or discards it if `any` (sample) is false; returns an earlier error. */
int record_end(struct run *run, bool any, struct error *err);

#endif
