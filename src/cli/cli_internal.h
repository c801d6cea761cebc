/* SPDX-License-Identifier: MIT */
/*
 * cli_internal.h - what the files of src/cli share: commands, options, messages, signals, the
 * target, and the output.
 */
#ifndef WALLSAMPLE_CLI_CLI_INTERNAL_H
#define WALLSAMPLE_CLI_CLI_INTERNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "wallsample/base/base.h"
#include "wallsample/report/export.h"
#include "wallsample/process/launch.h"
#include "wallsample/cli/options.h"
#include "wallsample/process/process.h"
#include "wallsample/sampler/sampler.h"

/* --- command.c ---------------------------------------------------------- */

/* A command is one row of the registry. */
struct command {
	const char *name;     /* the first argument of the call; "": the command without a name */
	unsigned bit;         /* FOR_… of options.h: selects the options that it takes */
	const char *operands; /* placeholder of its operands: "FILE…"; NULL: it takes none */
	int (*run)(const struct options *options);
	const char *help;                      /* one line */
	const char *about, *examples, *ending; /* sections of the command's own help */
};

/* --- option_convert.c --------------------------------------------------- */

/*
 * Converts `text` (NULL for flags and counts) and stores it in the field of the row. `label` is the
 * option as the user wrote it ("-d", "--duration"), for ERROR_USAGE. Texts are borrowed.
 */
int option_convert(const struct option_row *row, const char *label, const char *text,
		   struct options *options, struct error *err);
/* Appends a borrowed text. */
void option_add_text(struct text_list *list, const char *text);
/* Releases what OPTION_REGEX stored; NULL is allowed. */
void option_free_regex(regex_t *regex);

/* --- help.c ------------------------------------------------------------- */

/* Prints the help of `command`. `commands` is the registry; the help of its first row lists all. */
void help_print(const struct command *command, const struct command *commands, FILE *out);

/* --- command_sample.c, command_dump.c ----------------------------------- */

/* Sample a process and write the output; return the exit status. A dump may read a core file. */
int command_sample(const struct options *options);
int command_dump(const struct options *options);

/* --- command_report.c, command_info.c, command_diff.c ------------------- */

/* Report on recordings; describe their contents; compare two. Return the exit status. */
int command_report(const struct options *options);
int command_info(const struct options *options);
int command_diff(const struct options *options);

/* --- command_causal.c --------------------------------------------------- */

/* Predicts the effect of faster functions by experiments on a process, or reports on a recording of
 * such experiments. Returns the exit status. */
int command_causal(const struct options *options);

/* --- say.c: messages on stderr ----------------------------------------- */

#define SAY_TEXT_SIZE 32

/* Prints "wallsample: …"; control characters are escaped. */
void say_error(const struct error *err);

/* "1,234,567" */
const char *say_count(uint64_t count, char text[SAY_TEXT_SIZE]);
/* "500 ms", "1.5 s", "30 s" */
const char *say_duration(uint64_t ns, char text[SAY_TEXT_SIZE]);

/* --- signals.c ---------------------------------------------------------- */

/* The signal that ended sampling; 0: none has arrived. */
extern volatile sig_atomic_t signals_stop;
/* Set by USR1, cleared by the code that writes the snapshot. */
extern volatile sig_atomic_t signals_snapshot;

/*
 * From now on INT, TERM and HUP set signals_stop (a second one ends the program at once) and
 * interrupt system calls. Call it after target_find: a started command must inherit the original
 * signal dispositions.
 */
void signals_install(void);

/* --- target_choice.c ---------------------------------------------------- */

struct target {
	pid_t pid;
	struct process *process;  /* NULL until opened */
	struct launched launched; /* if is_command: the process that wallsample started */
	bool is_command, is_running;
};

/* ERROR_USAGE unless exactly one of -p, --name and -- was given. */
int target_check_usage(const struct options *options, struct error *err);

/*
 * Finds the process, or forks the process of the command, which waits before its exec. Call it
 * before signals_install: the command inherits the signal dispositions.
 */
int target_find(struct target *target, const struct options *options, struct error *err);

/*
 * Opens the process and checks that it may be sampled. A command is started afterwards, by
 * target_begin: a command that may not be sampled is never started.
 */
int target_open(struct target *target, bool may_stop, struct error *err);
int target_begin(struct target *target, struct error *err);
/* Returns true and stores the wait status if the command has ended. */
bool target_reap(const struct target *target, int *status);
/* Appends "the command ended with exit status 7"; `status` is a wait status. */
void target_add_end(struct strbuf *sb, int status);
/* Sets the error for a command that ended before it was sampled. */
int target_refuse_ended(int status, struct error *err);
/* Kills a command whose exec is still pending; a command that has begun continues. */
void target_release(struct target *target);

/* Returns an error unless at least one thread of --tid exists. */
int target_check_tids(const struct target *target, const struct options *options,
		      struct error *err);

/* --- output_name.c ------------------------------------------------------ */

/*
 * Replaces %p %h %t %{ENV} %% of the pattern and appends the result to `name`. ERROR_USAGE for any
 * other % and for a variable that is not set.
 */
int output_name_expand(const char *pattern, pid_t pid, struct strbuf *name, struct error *err);

/*
 * Chooses the exporter by -f, else by the ending of -o, else text. ERROR_USAGE for an unknown
 * format (the error lists the known ones), and for one that does not fit the command.
 */
int output_format_choose(const struct options *options, const struct exporter **out,
			 struct error *err);
/* True if the output of the command can be written by the exporter. */
bool output_format_fits(const struct exporter *exporter, const struct command *command);
/* True if -f and -o ask for a recording, which no exporter writes. */
bool output_is_recording(const char *format, const char *output);

/* --- output.c ----------------------------------------------------------- */

struct output {
	int fd;     /* stdout, a pipe or a device, written directly; -1: a file is replaced */
	int dirfd;  /* the folder of the file that is replaced as a whole; -1: fd is used */
	char *base; /* the file's name in that folder */
	char *path; /* for messages; NULL: stdout */
};

/*
 * Checks that `path` (NULL or "-": stdout) can be written, and changes nothing there yet. Release
 * with output_close.
 */
int output_open(struct output *output, const char *path, struct error *err);

/*
 * Calls `write` with a stream to the pipe or device, or to a new file that then replaces the old
 * one: a reader never sees half a report. An error of `write` discards the file.
 */
int output_write(const struct output *output,
		 int (*write)(void *context, FILE *out, struct error *err), void *context,
		 struct error *err);
void output_close(struct output *output);

/* Refuses a binary format on a terminal. */
int output_check_format(const struct output *output, const struct exporter *exporter,
			struct error *err);

/* Returns the width of the output's terminal in columns, else $COLUMNS; 0: unknown. */
unsigned output_columns(const struct output *output);

/* --- output_folder.c ---------------------------------------------------- */

/*
 * Opens the folder of `path` (O_PATH) and stores a copy of the last component in *base, which the
 * caller frees. As root it follows only links that root owns. Returns the descriptor, or < 0.
 */
int output_folder_open(const char *path, char **base, struct error *err);

/* --- sample_exit.c ------------------------------------------------------ */

/* Exit statuses of a run that was not refused; DEADLOCK is a dump's. */
enum sample_status { SAMPLE_WHOLE, SAMPLE_PARTIAL, SAMPLE_NOTHING, SAMPLE_DEADLOCK = 4 };

/* SAMPLE_PARTIAL if more than 1 % of the samples failed: the reason is appended to `why` then. */
enum sample_status sample_exit_status(const struct run_stats *stats, struct strbuf *why);

#endif
