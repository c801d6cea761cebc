/* SPDX-License-Identifier: MIT */
/*
 * options.h - the command line as data.
 *
 * Each option is one row of the registry (src/cli/option_table.c): name, letter,
 * argument, type, range, default, help. One parser walks the rows and fills one
 * struct options; --help and the man page check walk the same rows. Parsing never
 * acts. No module below src/cli/ includes this.
 */
#ifndef WALLSAMPLE_CLI_OPTIONS_H
#define WALLSAMPLE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/causal/causal.h"
#include "wallsample/base/error.h"
#include "wallsample/unwind/unwind.h"

struct command;

struct options {
	const struct command *verb; /* which command: never NULL once parsed */
	const char **files;      /* words that are no options, for commands that take them; owned */
	size_t file_count;
	uint64_t given;          /* bit 1 << row of option_table: was given */
	char *words;             /* of the call, joined by spaces; owned */
	uint64_t pid;            /* 0: not given */
	const char *name;        /* --name */
	char *const *command;    /* behind --; NULL: none; ends with NULL */
	const char *core;        /* --core: a file, in place of a process; or NULL */
	const char *exe;         /* --exe */
	bool keep_root;
	uint64_t duration_ns;    /* 0: until Ctrl-C or exit */
	double rate_hz;
	bool no_jitter;
	const char *output;      /* NULL or "-": stdout */
	const char *format;      /* NULL: from the output's ending, else text */
	uint64_t limit;          /* 0: not given */
	bool threads;
	bool stop_all;
	bool nonblocking;
	double max_overhead;     /* percent of one CPU */
	uint64_t stack_size;
	const char *include, *exclude; /* regular expressions */
	pid_t *tids;             /* --tid; owned */
	size_t tid_count;
	const char *thread_name;
	uint64_t *tasks;         /* --task; owned */
	size_t task_count;
	int task_use;            /* enum task_use: --tasks */
	bool created_by;         /* stacks of tasks go on outwards with where these were made */
	struct option_moment {   /* --from, --to */
		bool given;
		int64_t ns;      /* since the beginning; below zero: before the end */
	} from, to;
	struct option_range {    /* --parallelism */
		bool given;
		uint64_t least, most;
	} parallelism;
	const char *focus;       /* --focus */
	bool tree;
	bool blame;              /* holders' stacks with waiters' time */
	unsigned states;         /* bit 1 << enum run_state */
	uint32_t runtimes;       /* --runtime: see runtime.h */
	unsigned gils;           /* bit 1 << enum gil */
	enum unwind_choice unwinder;
	bool lines;              /* --lines: the same as --by line */
	int by;                  /* enum view_key */
	int sort;                /* enum weight */
	int native;              /* enum view_native */
	bool interpreter_frames;
	bool no_demangle;
	bool no_inlines;
	const char **debug_dirs; /* --debug-dir; owned, NULL at the end; NULL: none */
	size_t debug_dir_count;
	const char *symfs;
	int debuginfod;          /* enum debuginfod_use */
	/* wallsample causal */
	const char **progress;   /* --progress; owned, NULL at the end; NULL: none */
	size_t progress_count;
	const char *select;      /* --select: a regular expression */
	int match;               /* enum causal_match: --match */
	uint64_t candidates;
	double speedups[CAUSAL_SPEEDUPS_MOST]; /* --speedups: in [0, 1], ascending, from 0 on */
	size_t speedup_count;
	uint64_t tick_ns, experiment_ns, profile_ns;
	double precision;        /* in points: percent */
	double max_hold;         /* percent of the run */
	bool intrusive;          /* hardware breakpoints are permitted */
	bool quiet;
	unsigned verbose;        /* times -v was given */
	bool version, help;
};

/* --tasks: are tasks that a runtime schedules samples of their own? In the order of its words. */
enum task_use { TASKS_AUTO, TASKS_OFF };

/* --match: where in a stack a candidate counts. In the order of its words. */
enum causal_match { MATCH_STACK, MATCH_SELF };

/* Which commands take an option. */
enum {
	FOR_RUN = 1,    /* wallsample without the name of a command */
	FOR_RECORD = 2,
	FOR_REPORT = 4,
	FOR_INFO = 8,
	FOR_DIFF = 16,
	FOR_DUMP = 32,
	FOR_CORE = 64, /* of a dump: also of one of a core file */
	FOR_CAUSAL = 128,
	FOR_CAUSAL_FILE = 256, /* of that: also of a recording of one */
	FOR_REPORT_OF_ONE = FOR_RUN | FOR_REPORT,
	FOR_REPORTS = FOR_REPORT_OF_ONE | FOR_DIFF,
	FOR_SAMPLING = FOR_RUN | FOR_RECORD,
	FOR_ATTACHING = FOR_SAMPLING | FOR_DUMP,
	FOR_THREADS = FOR_ATTACHING | FOR_REPORT | FOR_CORE, /* those of one process have ids */
	FOR_STACKS = FOR_REPORTS | FOR_DUMP | FOR_CORE,
	FOR_OUTPUT = FOR_SAMPLING | FOR_STACKS,
	FOR_ALL = FOR_OUTPUT | FOR_INFO | FOR_CAUSAL | FOR_CAUSAL_FILE,
};

enum option_type {
	OPTION_FLAG,      /* bool */
	OPTION_COUNT,     /* unsigned, one more each time */
	OPTION_TEXT,      /* const char * */
	OPTION_NUMBER,    /* uint64_t in [min, max] */
	OPTION_PID,       /* uint64_t, the id of one process */
	OPTION_FRACTION,  /* double in [min, max] */
	OPTION_DURATION,  /* uint64_t ns in [min, max] seconds */
	OPTION_MOMENT,    /* struct option_moment: a time, or one before the end: -10 */
	OPTION_RANGE,     /* struct option_range: A or A-B, in [min, max] */
	OPTION_SIZE,      /* uint64_t bytes in [min, max] */
	OPTION_TIDS,      /* tids and tid_count from 1,2,3 */
	OPTION_TASKS,     /* tasks and task_count from 1,0x7f20 */
	OPTION_STATES,    /* bit set from a list of run state letters or names */
	OPTION_RUNTIMES,  /* uint32_t, a bit set of runtime.h: auto, none or a list of names */
	OPTION_GILS,      /* bit set from a list of words of enum gil */
	OPTION_DIRS,      /* debug_dirs and debug_dir_count, one more each time */
	OPTION_PROGRESS,  /* progress and progress_count, one more each time */
	OPTION_SPEEDUPS,  /* speedups and speedup_count from 0,10,25 in percent */
	OPTION_CHOICE,    /* int from a list of words: choices */
};

struct option_row {
	const char *name;     /* long name without "--" */
	char letter;          /* 0: none */
	const char *argument; /* "PID", "T"; NULL for flags */
	enum option_type type;
	size_t offset;        /* of the field in struct options */
	double min, max;      /* for numbers, inclusive, in the option's unit */
	const char *unit;     /* "Hz", "seconds"; NULL: none */
	const char *fallback; /* default as text, parsed like an argument; NULL: zero */
	const char *choices;  /* OPTION_CHOICE: "auto|libunwind|libdw" in order of value */
	unsigned commands;    /* FOR_…: which take it; 0: those that report, FOR_REPORTS */
	bool hidden;          /* not in --help (for tests), but in the man page */
	const char *help;     /* one line */
};

extern const struct option_row option_table[]; /* ended by name == NULL */

/* FOR_… bits of the commands that take it. */
unsigned option_commands(const struct option_row *row);
/* The first option that was given and that none of these commands takes; NULL: none. */
const struct option_row *option_given_beyond(const struct options *options, unsigned commands);

/*
 * Fills *options from the words; ERROR_USAGE says which word is wrong and what it
 * should be. An unknown option names the nearest known one. Letters may be
 * bundled (-qt), arguments attached (-d30, --duration=30). "--" ends the options;
 * what follows is the command.
 */
int options_parse(int argc, char **argv, struct options *options, struct error *err);
void options_release(struct options *options);

#endif
