/* SPDX-License-Identifier: MIT */
/*
 * export.h - from a view to bytes: one exporter per output format.
 *
 * To add a format: one file src/format/NAME.c that defines a const struct exporter, its declaration
 * in format/exporters.h, and one row in the registry (format/export.c). --help, --format, the
 * choice by file name ending and the tests walk the registry.
 */
#ifndef WALLSAMPLE_REPORT_EXPORT_H
#define WALLSAMPLE_REPORT_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "wallsample/causal/causal_curve.h"
#include "wallsample/core/core.h"
#include "wallsample/analysis/diff.h"
#include "wallsample/process/process.h"
#include "wallsample/recording/recording_read.h"
#include "wallsample/runtime/async_tasks.h"
#include "wallsample/profile/run_stats.h"
#include "wallsample/analysis/view.h"

/* Whether a format shows the order of time, which needs a recording. */
enum export_time {
	EXPORT_TIMELESS,
	EXPORT_TIME_TOO,  /* if there is one */
	EXPORT_TIME,      /* required */
};

struct export_input {
	const struct view *view;
	/* What the view is of, for those that show time, each loaded; NULL: there are none. */
	struct recording *const *recordings;
	size_t recording_count;
	struct error *error; /* what was wrong with them goes here; ERROR_NONE before */
	const struct view *functions; /* the same by function; NULL: `view` is that */
	const struct process *process;
	const struct modules *modules;
	const char *names_hint; /* a sentence on how to get missing symbols; NULL: none */
	const struct run_stats *stats;
	uint64_t began_ns;    /* CLOCK_REALTIME at the beginning; 0: not known */
	enum run_end end;
	bool snapshot;        /* made by a signal while sampling goes on */
	bool by_thread;       /* -t: threads are kept apart */
	enum weight sort;     /* what tables of functions are ordered by */
	size_t limit;         /* rows of a table; at least 1 */
	size_t tree;          /* lines of the call tree; 0: none */
	const regex_t *focus; /* functions whose callers and callees are wanted; or NULL */
	size_t thread_limit;  /* the same for the table of one thread */
	unsigned columns;     /* width to fit in; 0: not known, then 100 */
	const char *note;     /* about the recordings that this is of; NULL: it is live */
	const char *part;     /* which ticks were asked for, in words; NULL: all */
	bool filtered;        /* some samples were left out by options */
	const struct async_tasks *tasks; /* of a dump: those there are; NULL: not looked for */
	const struct core_end *core_end; /* of a dump of a core file: how it ended; else NULL */
};

/* Two runs, compared. */
struct diff_input {
	const struct diff *diff;
	/* What is said of each of them: view, process, stats, began_ns, note and part. */
	struct export_input run[DIFF_SIDES];
	size_t limit;         /* rows of a table; at least 1 */
	unsigned columns;     /* width to fit in; 0: not known, then 100 */
	bool filtered;        /* some samples were left out by options */
};

/* Virtual speed-up experiments, and what follows from them. */
struct causal_input {
	const struct causal_result *result;
	const struct causal_curves *curves;
	unsigned columns;     /* width to fit in; 0: not known, then 100 */
	size_t limit;         /* candidates that are told of; at least 1 */
	bool snapshot;        /* made by a signal while experiments go on */
	const char *note;     /* about the recording that this is of; NULL: it is live */
};

struct exporter {
	const char *name;     /* "folded" */
	const char *help;     /* a few words for --help */
	const char *endings;  /* "folded,collapsed": of file names, without the first dot */
	const char *noun;     /* of what it writes: "stacks" */
	bool binary;          /* nothing for a terminal */
	enum export_time time;
	bool in_words;        /* says what limits the program: wants input->functions */
	bool by_address;      /* wants a view of VIEW_BY_ADDRESS, whatever else was asked for */
	bool has_callers;     /* shows the call tree (--tree) and callers (--focus) */
	const char *absent;   /* why this build cannot write it, a sentence; NULL: it can */
	/* Writes to `out`. Errors of the stream are the caller's to check. */
	void (*write)(const struct export_input *input, FILE *out);
	/* The same of what changed between two runs; NULL: this format has no such thing. */
	void (*write_diff)(const struct diff_input *input, FILE *out);
	const char *diff_help; /* of that, if it is less than `help` says; else NULL */
	/* The same of every thread once: a view of one tick, by address. Or NULL. */
	void (*write_dump)(const struct export_input *input, FILE *out);
	/* Of causal profiles; or NULL. A format of nothing else has no `write`. */
	void (*write_causal)(const struct causal_input *input, FILE *out);
	const char *causal_help; /* of that, if `help` says something else; else NULL */
};

#endif
