/* SPDX-License-Identifier: MIT */
/*
 * export.h - the interface of exporters, and their input. An exporter writes one output format.
 * --help, --format, the choice by file name ending and the tests read the registry, which is in
 * format/exporters.h. src/README, "An exporter", has the steps that add one.
 */
#ifndef WALLSAMPLE_REPORT_EXPORT_H
#define WALLSAMPLE_REPORT_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "wallsample/causal/causal_curve.h"
#include "wallsample/core/core.h"
#include "wallsample/analysis/diff.h"
#include "wallsample/analysis/tree.h"
#include "wallsample/process/process.h"
#include "wallsample/recording/recording_read.h"
#include "wallsample/runtime/async_tasks.h"
#include "wallsample/profile/run_stats.h"
#include "wallsample/analysis/view.h"

/*
 * Whether a format shows events in the order of time. A profile has only sums of samples; a
 * recording also has the times of the samples.
 */
enum export_time {
	EXPORT_TIMELESS, /* never */
	EXPORT_TIME_TOO, /* if the input has recordings */
	EXPORT_TIME,     /* always: the format needs a recording */
};

/* How to get names that functions lack; NULL: no advice. */
struct names_advice {
	char *files;     /* of functions in files: a sentence */
	char *generated; /* of code generated at run time: "Java: jcmd 4711 Compiler.perfmap" */
	/* advice for the module that lacks most names, to stand in parentheses: "names are in
	 * nginx-dbgsym", or the text of `generated` */
	char *brief;
};

struct export_input {
	const struct view *view;
	/* The loaded recordings of the view, for formats that show time. NULL: there are none, or
	 * the view shows lock holders (filter.blame in view.h), whose samples have no times. */
	struct recording *const *recordings;
	size_t recording_count;
	/* Exporters set this error if a recording cannot be read. Before the call its kind is
	 * ERROR_NONE. */
	struct error *error;
	/* A view by function. NULL: `view` is by function, or exporter.in_words is false. */
	const struct view *functions;
	/* A view by line, for the source lines of a first screen. NULL: without source lines. */
	const struct view *lines;
	const struct process *process;     /* the first process; the profile has all of them */
	const struct modules *modules;     /* the modules of the process; NULL: not known */
	const struct names_advice *advice; /* how to get missing names; NULL: no advice */
	const struct run_stats *stats;
	uint64_t began_ns; /* CLOCK_REALTIME at the start of sampling; 0: not known */
	enum run_end end;
	bool snapshot; /* the report is intermediate: sampling continues */
	/* Beginning and end of a command that reports the same program or recordings again; NULL:
	 * there is none. */
	const char *again_before, *again_after;
	bool full;            /* a text report has all parts (option --full) */
	bool table;           /* a first screen is followed by the table of functions */
	bool by_process;      /* processes are kept apart (option --processes) */
	bool by_thread;       /* each thread has a table of its own (option -t) */
	enum weight sort;     /* order of tables of functions */
	size_t limit;         /* maximum number of rows of a table; at least 1 */
	size_t tree;          /* maximum number of lines of the call tree; 0: no call tree */
	const regex_t *focus; /* functions whose callers and callees are shown; NULL: no function */
	size_t thread_limit;  /* maximum number of rows of the table of one thread */
	unsigned columns;     /* width of the output in cells; 0: not known, 100 is used */
	bool colour;          /* the output is a terminal that shows colours */
	const char *note;     /* describes the recordings; NULL for a live run */
	const char *part;     /* describes the selected ticks; NULL: all ticks are selected */
	bool filtered;        /* an option that excludes samples is in force */
	/* the coroutines of a dump, called async tasks (async_tasks.h); NULL: not read */
	const struct async_tasks *async;
	/* how the process of a core file ended; NULL: the input is no core file */
	const struct core_end *core_end;
};

/* The comparison of two runs. */
struct diff_input {
	const struct diff *diff;
	/* The CPU time of processes. NULL: both runs have one, or `diff` is of processes. */
	const struct diff *processes;
	/* Only the members view, process, stats, began_ns, note and part are used. */
	struct export_input run[DIFF_SIDES];
	size_t limit;     /* maximum number of rows of a table; at least 1 */
	unsigned columns; /* width of the output in cells; 0: not known, 100 is used */
	bool filtered;    /* an option that excludes samples is in force */
};

/* A causal profile: virtual speed-up experiments, and the curves computed from them (causal.h). */
struct causal_input {
	const struct causal_result *result;
	const struct causal_curves *curves;
	unsigned columns; /* width of the output in cells; 0: not known, 100 is used */
	/*
	 * Maximum number of candidates that are reported for each progress point, at least 1. It
	 * limits separately the candidates with a rank and those without enough data.
	 */
	size_t limit;
	bool snapshot;    /* the report is intermediate: experiments continue */
	const char *note; /* describes the recording; NULL for a live run */
};

/* What an exporter writes: one member is set, the others are NULL. */
struct export_subject {
	const struct export_input *report;
	const struct diff_input *diff;
	const struct causal_input *causal;
};

/* Options that only some formats have. Every other option changes what is sampled, or which samples
 * are selected, and works with all formats. */
#define EXPORT_BY (1u << 0)        /* --by function, line and module, and --lines */
#define EXPORT_BY_OTHER (1u << 1)  /* --by lock and thread */
#define EXPORT_THREADS (1u << 2)   /* -t */
#define EXPORT_LIMIT (1u << 3)     /* -n */
#define EXPORT_SORT (1u << 4)      /* --sort */
#define EXPORT_CALLERS (1u << 5)   /* --tree and --focus, and --full */
#define EXPORT_PROCESSES (1u << 6) /* --processes */
/* The options of the formats of stacks, and of those of a complete report. */
#define EXPORT_STACKS                                                                              \
	(EXPORT_BY | EXPORT_BY_OTHER | EXPORT_PROCESSES | EXPORT_THREADS | EXPORT_SORT)
#define EXPORT_REPORT (EXPORT_STACKS | EXPORT_LIMIT)

struct exporter {
	const char *name;    /* "folded" */
	const char *help;    /* a short description for --help */
	const char *endings; /* endings of file names without the first dot: "folded,collapsed" */
	const char *noun;    /* names the content of the output: "stacks" */
	bool binary;         /* the output must not be written to a terminal */
	enum export_time time;
	bool in_words;      /* the output has causes and places: needs functions and lines */
	bool by_address;    /* input->view must have the key VIEW_BY_ADDRESS */
	unsigned options;   /* the options that change a report in this format: EXPORT_BY … */
	const char *absent; /* why this build lacks the format, a sentence; NULL: it is built in */
	/*
	 * The functions below write to `out`, which the caller checks for errors. They are called
	 * through export_write() and the other functions of format/exporters.h.
	 */
	/* Writes a subject of any kind. NULL: `write` writes a report, write_diff a comparison and
	 * write_causal a causal profile. */
	void (*write_any)(const struct export_subject *subject, FILE *out);
	/* Writes a report. */
	void (*write)(const struct export_input *input, FILE *out);
	/* Writes a comparison of two runs; NULL: the format cannot show comparisons. */
	void (*write_diff)(const struct diff_input *input, FILE *out);
	const char *diff_help; /* replaces `help` for comparisons; NULL: `help` is used */
	/* Writes a dump, from a view of one tick with the key VIEW_BY_ADDRESS; NULL: the format
	 * cannot show dumps. */
	void (*write_dump)(const struct export_input *input, FILE *out);
	/* Writes a causal profile; NULL: the format cannot show causal profiles. */
	void (*write_causal)(const struct causal_input *input, FILE *out);
	const char *causal_help; /* replaces `help` for causal profiles; NULL: `help` is used */
};

/* Returns the outermost frames that options add to the stacks: a set of enum flame_frames. */
static inline unsigned
export_outer_frames(const struct export_input *input)
{
	return (input->by_process ? FLAME_PROCESSES : 0u) | (input->by_thread ? FLAME_THREADS : 0u);
}

/* True if the input is of a live run whose process has not exited. */
static inline bool
export_is_live(const struct export_input *input)
{
	return input->note == NULL && input->end != RUN_END_EXITED;
}

#endif
