/* SPDX-License-Identifier: MIT */
/*
 * export.h - the interface of exporters: each writes a view in one output format.
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

/* Whether a format shows events in the order of time, which needs a recording. */
enum export_time {
	EXPORT_TIMELESS,
	EXPORT_TIME_TOO, /* if there is a recording */
	EXPORT_TIME,     /* a recording is required */
};

struct export_input {
	const struct view *view;
	/* The loaded recordings of the view, for formats that show time; NULL: none. */
	struct recording *const *recordings;
	size_t recording_count;
	struct error *error;          /* set if reading a recording fails; ERROR_NONE before */
	const struct view *functions; /* the same by function; NULL: `view` is by function */
	const struct process *process;
	const struct modules *modules;
	const char *names_hint; /* a sentence on how to get missing symbols; NULL: none */
	const struct run_stats *stats;
	uint64_t began_ns; /* CLOCK_REALTIME at the start; 0: not known */
	enum run_end end;
	bool snapshot;        /* made by a signal while sampling continues */
	bool by_thread;       /* -t: threads are kept apart */
	enum weight sort;     /* order of tables of functions */
	size_t limit;         /* rows of a table; at least 1 */
	size_t tree;          /* lines of the call tree; 0: none */
	const regex_t *focus; /* functions whose callers and callees are shown; or NULL */
	size_t thread_limit;  /* rows of the table of one thread */
	unsigned columns;     /* width of the output in cells; 0: not known, 100 is used */
	const char *note;     /* describes the recordings; NULL: a live run */
	const char *part;     /* describes the selected ticks; NULL: all */
	bool filtered;        /* options have excluded some samples */
	const struct async_tasks *tasks; /* of a dump: user-space tasks; NULL: not read */
	const struct core_end *core_end; /* of a core file: how its process ended; else NULL */
};

/* Two runs, compared. */
struct diff_input {
	const struct diff *diff;
	/* Only these members are used: view, process, stats, began_ns, note and part. */
	struct export_input run[DIFF_SIDES];
	size_t limit;     /* rows of a table; at least 1 */
	unsigned columns; /* width of the output in cells; 0: not known, 100 is used */
	bool filtered;    /* options have excluded some samples */
};

/* Virtual speed-up experiments, and the curves computed from them. */
struct causal_input {
	const struct causal_result *result;
	const struct causal_curves *curves;
	unsigned columns; /* width of the output in cells; 0: not known, 100 is used */
	size_t limit;     /* candidates to report; at least 1 */
	bool snapshot;    /* made by a signal while experiments continue */
	const char *note; /* describes the recording; NULL: a live run */
};

struct exporter {
	const char *name;    /* "folded" */
	const char *help;    /* a short description for --help */
	const char *endings; /* endings of file names without the first dot: "folded,collapsed" */
	const char *noun;    /* names the content of the output: "stacks" */
	bool binary;         /* not to be written to a terminal */
	enum export_time time;
	bool in_words;      /* reports what limits the program: needs input->functions */
	bool by_address;    /* needs a view of VIEW_BY_ADDRESS, whatever key the user chose */
	bool has_callers;   /* shows the call tree (--tree) and callers (--focus) */
	const char *absent; /* a sentence: why this build lacks the format; NULL: it has it */
	/* Writes a report to `out`. The caller checks the stream for errors, here and below. */
	void (*write)(const struct export_input *input, FILE *out);
	/* Writes a comparison of two runs; NULL: the format has none. */
	void (*write_diff)(const struct diff_input *input, FILE *out);
	const char *diff_help; /* description of it, if it has less than `help` says; else NULL */
	/* Writes a dump, from a view of one tick, by address; NULL: the format has none. */
	void (*write_dump)(const struct export_input *input, FILE *out);
	/* Writes a causal profile; NULL: the format has none. `write` is NULL if this is all. */
	void (*write_causal)(const struct causal_input *input, FILE *out);
	const char *causal_help; /* description of it, if it differs from `help`; else NULL */
};

#endif
