/* SPDX-License-Identifier: MIT */
/*
 * options.h - the command line as data.
 *
 * Each option is one row of the registry (src/cli/option_table.c): name, letter, argument, type,
 * range, default, help. A row stores into one field of struct options; a row whose type is not the
 * type of its field does not compile. One parser, --help and the check of the manual walk the
 * rows. No module below src/cli/ includes this header.
 */
#ifndef WALLSAMPLE_CLI_OPTIONS_H
#define WALLSAMPLE_CLI_OPTIONS_H

#include "wallsample/analysis/view.h"
#include "wallsample/base/base.h"
#include "wallsample/base/error.h"
#include "wallsample/causal/causal.h"
#include "wallsample/dwarf/debug_file.h"
#include "wallsample/unwind/unwind.h"

struct command;

/* X(NAME, word): --tasks, whether green tasks (green_task.h) have samples of their own */
#define GREEN_USES(X) X(AUTO, "auto") X(OFF, "off")
/* X(NAME, word): --match, whether `self` in struct causal_result (causal.h) is false or true */
#define CAUSAL_MATCHES(X) X(STACK, "stack") X(SELF, "self")

enum green_use {
#define X(name, word) GREEN_USE_##name,
	GREEN_USES(X)
#undef X
};

enum causal_match {
#define X(name, word) MATCH_##name,
	CAUSAL_MATCHES(X)
#undef X
};

/* A time since the beginning of the run; a negative time is before the end of the run. */
struct option_moment {
	bool given;
	int64_t ns;
};

/* Numbers from `least` to `most`, both included. */
struct option_range {
	bool given;
	uint64_t least, most;
};

struct option_speedups {
	double value[CAUSAL_SPEEDUPS_MOST]; /* in [0, 1], in ascending order; the first is 0 */
	size_t count;
};

/* All options. Texts are borrowed from the program's arguments; the struct owns the rest. */
struct options {
	const struct command *verb; /* the command; not NULL after options_parse */
	struct text_list files;     /* operands */
	bool *given;          /* by row of option_table: true if given; NULL: no option was given */
	char *words;          /* the program's arguments, joined by spaces */
	char *const *command; /* command to start: after "--", ended by NULL; NULL: no "--" */
	struct id_list pids;  /* of processes, each once; pids.id is owned */
	const char *name;
	struct text_list cgroups, containers;
	const char *core; /* the path of a core file; NULL: the target is a process */
	const char *exe;
	bool all, children, keep_root; /* all of `name`; descendants, too */
	uint64_t duration_ns;          /* 0: until Ctrl-C or the end of the target */
	double rate_hz;
	bool no_jitter;
	const char *output; /* NULL or "-": stdout */
	const char *format; /* name of the format; NULL: by the ending of `output`, else text */
	uint64_t limit;     /* rows of a table; 0: not given */
	bool full, threads, processes;
	bool stop_all, nonblocking, realtime;
	bool no_cmdline;                  /* outputs do not have the command line of the program */
	double max_stopped, max_overhead; /* limits in percent: of stops, of own CPU time */
	uint64_t stack_size;              /* bytes */
	struct filter filter;
	enum green_use green_use;
	struct option_moment from, to;
	struct option_range parallelism;
	regex_t *focus; /* NULL: not given */
	bool tree;
	uint32_t runtimes; /* a bit set of runtimes (runtime.h) */
	enum unwind_choice unwinder;
	bool lines; /* --lines, which means --by line */
	enum view_key by;
	enum weight sort;
	bool no_demangle;
	bool no_inlines;
	struct text_list debug_dirs;
	const char *symfs;
	enum debuginfod_use debuginfod;
	/* The following members belong to wallsample causal. */
	struct text_list progress;
	regex_t *select; /* names of candidates; NULL: those with the most Latency are chosen */
	enum causal_match match;
	uint64_t candidates, tick_ns, experiment_ns, profile_ns;
	struct option_speedups speedups;
	double precision, max_hold;            /* percentage points; percent of the run */
	bool intrusive;                        /* hardware breakpoints are permitted */
	unsigned verbose;                      /* how many times -v was given */
	bool quiet, version, help, whole_help; /* whole_help: --help, and not -h */
};

/* A bit for each command. A row of the option table has the bits of the commands that take it. */
enum {
	FOR_RUN = 1, /* wallsample without the name of a command: a report of a process */
	FOR_RECORD = 2,
	FOR_REPORT = 4,
	FOR_INFO = 8,
	FOR_DIFF = 16,
	FOR_DUMP = 32,
	FOR_CORE = 64, /* only with FOR_DUMP: dumps of core files take the option, too */
	FOR_CAUSAL = 128,
	FOR_CAUSAL_FILE = 256, /* only with FOR_CAUSAL: reports on recordings take it, too */
	FOR_WORDS = 512,       /* help and completion */
	FOR_REPORT_OF_ONE = FOR_RUN | FOR_REPORT,
	FOR_REPORTS = FOR_REPORT_OF_ONE | FOR_DIFF,
	FOR_SAMPLING = FOR_RUN | FOR_RECORD,
	FOR_ATTACHING = FOR_SAMPLING | FOR_DUMP,
	FOR_THREADS = FOR_ATTACHING | FOR_REPORT | FOR_CORE, /* threads of one process */
	FOR_STACKS = FOR_REPORTS | FOR_DUMP | FOR_CORE,
	FOR_OUTPUT = FOR_SAMPLING | FOR_STACKS,
	FOR_ALL = FOR_OUTPUT | FOR_INFO | FOR_CAUSAL | FOR_CAUSAL_FILE | FOR_WORDS,
};

/* How the text of an argument is converted, and the type of the field that stores it. */
enum option_type {
	OPTION_FLAG,     /* bool; no argument */
	OPTION_COUNT,    /* unsigned: how many times the option was given; no argument */
	OPTION_TEXT,     /* const char * */
	OPTION_TEXTS,    /* struct text_list: each occurrence appends one text */
	OPTION_REGEX,    /* regex_t *, an extended regular expression, compiled */
	OPTION_NUMBER,   /* uint64_t in [min, max] */
	OPTION_PIDS,     /* struct id_list: "812,813", each id once */
	OPTION_FRACTION, /* double in [min, max] */
	OPTION_DURATION, /* uint64_t in ns; the argument is in [min, max] seconds */
	OPTION_SIZE,     /* uint64_t bytes in [min, max] */
	OPTION_MOMENT,   /* struct option_moment: "10" after the beginning, "-10" before the end */
	OPTION_RANGE,    /* struct option_range: "A" or "A-B", at most max */
	OPTION_TIDS,     /* struct id_list: "1,2,3" */
	OPTION_GREEN,    /* struct id_list: "1,0x7f20" */
	OPTION_STATES,   /* unsigned, a bit set from a list of run state letters or names */
	OPTION_GILS,     /* unsigned, a bit set from a list of words of enum gil */
	OPTION_RUNTIMES, /* uint32_t, a bit set from auto, none or a list of names */
	OPTION_SPEEDUPS, /* struct option_speedups: "0,10,25", in percent */
	OPTION_CHOICE,   /* an enum: the position of the word in `choices` */
};

/* What an option leaves out of a report: nothing, samples, or threads. */
enum option_selection { SELECTS_ALL, SELECTS_SAMPLES, SELECTS_THREADS };

struct option_row {
	const char *name;     /* long name without "--" */
	char letter;          /* short name; 0: the option has none */
	const char *argument; /* "PID", "T"; NULL for flags */
	enum option_type type;
	size_t offset;              /* position of the field in struct options, in bytes */
	double min, max;            /* range of a number, inclusive, in the option's unit */
	const char *unit;           /* "Hz", "seconds"; NULL: the value has no unit */
	const char *fallback;       /* the default as an argument; NULL: the field stays all zero */
	const char *const *choices; /* OPTION_CHOICE: words by value of the enum, then NULL */
	const char *former; /* an earlier word, still accepted, for former_choice; or NULL */
	int former_choice;  /* the value of `choices` that `former` selects */
	unsigned commands;  /* FOR_… bits of commands that take the option; 0: FOR_REPORTS */
	enum option_selection selects;
	const char *no_core; /* why the option does not work on core files; NULL: it works */
	bool hidden;         /* the option is in the manual but not in --help */
	const char *brief;   /* its text in the short help (-h); NULL: it is not there */
	const char *group;   /* heading of the options from here on, in --help; NULL: none */
	const char *help;    /* one line */
};

extern const struct option_row option_table[]; /* ended by name == NULL */

/* Returns the FOR_… bits of the commands that take the option. */
unsigned option_commands(const struct option_row *row);
/* Returns the first given option that none of `commands` (FOR_… bits) takes; NULL: none. */
const struct option_row *option_given_beyond(const struct options *options, unsigned commands);
/* Returns the first given option that does not work on core files; NULL: no such option. */
const struct option_row *option_given_without_core(const struct options *options);
/* True if an option was given that leaves samples out. */
bool options_are_filtered(const struct options *options);
/* Appends the names of the given options that leave threads out: "--tid, --thread-name". */
void options_add_thread_filters(const struct options *options, struct strbuf *text);

/* Fills *options from the program's arguments. `commands` is ended by a row without a name; its
 * first row is the command without a name. Returns 0, or -ERROR_USAGE with a text that names the
 * wrong argument and what it should be, or the known name nearest to an unknown option or command.
 * Letters may be bundled (-qt), arguments attached (-d30, --duration=30). "--" ends the options; a
 * command to start or operands follow. Prints nothing. After an error *options owns nothing. */
int options_parse(int argc, char **argv, const struct command *commands, struct options *options,
		  struct error *err);
/* Releases what *options owns. */
void options_release(struct options *options);

#endif
