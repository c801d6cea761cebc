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
	const char *name;     /* the first word of the call; "" for the one without */
	unsigned bit;         /* FOR_… of options.h: the options that it takes */
	const char *operands; /* words that it takes besides options: "FILE…"; NULL: none */
	int (*run)(const struct options *options);
	const char *help;     /* one line */
	const char *about, *examples, *ending; /* of its own help */
};

/* --- option_convert.c --------------------------------------------------- */

/*
 * Stores `text` (NULL for flags and counts) in the field of the row. `label` is the option as it
 * was written ("-d", "--duration"), for the sentence of ERROR_USAGE. Texts are borrowed.
 */
int option_convert(const struct option_row *row, const char *label, const char *text,
		   struct options *options, struct error *err);
/* Appends a borrowed text. */
void option_add_text(struct text_list *list, const char *text);
/* Releases what OPTION_REGEX stored; NULL is allowed. */
void option_free_regex(regex_t *regex);

/* --- help.c ------------------------------------------------------------- */

/* Prints the help of a command; `commands` are all of them, listed by the first one. */
void help_print(const struct command *command, const struct command *commands, FILE *out);

/* --- command_sample.c, command_dump.c ----------------------------------- */

/* Sample as the options say and write the output; return the exit status. Dumps: of cores, too. */
int command_sample(const struct options *options);
int command_dump(const struct options *options);

/* --- command_report.c, command_info.c, command_diff.c ------------------- */

/* A report of recordings; what they hold; what changed from one to the other. */
int command_report(const struct options *options);
int command_info(const struct options *options);
int command_diff(const struct options *options);

/* --- command_causal.c --------------------------------------------------- */

/* What a faster function would bring: experiments on a process, or a recording of some. */
int command_causal(const struct options *options);

/* --- say.c: messages on stderr ----------------------------------------- */

#define SAY_TEXT_SIZE 32

/* "wallsample: …" with everything in it that could harm a terminal escaped. */
void say_error(const struct error *err);

/* "1,234,567" */
const char *say_count(uint64_t count, char text[SAY_TEXT_SIZE]);
/* "500 ms", "1.5 s", "30 s" */
const char *say_duration(uint64_t ns, char text[SAY_TEXT_SIZE]);

/* --- signals.c ---------------------------------------------------------- */

/* The signal that asked for the end, 0 as long as none has. */
extern volatile sig_atomic_t signals_stop;
/* Set by USR1, cleared by the code that writes the snapshot. */
extern volatile sig_atomic_t signals_snapshot;

/*
 * From now on INT, TERM and HUP set signals_stop (a second one ends the program
 * at once) and interrupt system calls. Call it after target_find: the command keeps
 * what we were started with.
 */
void signals_install(void);

/* --- target_choice.c ---------------------------------------------------- */

struct target {
	pid_t pid;
	struct process *process;  /* NULL until opened */
	struct launched launched; /* when it was started by us */
	bool is_command, is_running;
};

/* ERROR_USAGE unless exactly one of -p, --name and -- was given. */
int target_check_usage(const struct options *options, struct error *err);

/*
 * Finds the process, or makes the one that will be the command and waits behind its
 * gate. Signal handlers are still those that the command is to inherit.
 */
int target_find(struct target *target, const struct options *options, struct error *err);

/*
 * Opens the process and checks that it may be sampled. A command is started afterwards, by
 * target_begin: a command that may not be sampled is never started.
 */
int target_open(struct target *target, bool may_stop, struct error *err);
int target_begin(struct target *target, struct error *err);
/* True and its wait status when the command has ended. */
bool target_reap(const struct target *target, int *status);
/* "the command ended with exit status 7" */
void target_add_end(struct strbuf *sb, int status);
/* The error of a command that was too quick to be sampled. */
int target_refuse_ended(int status, struct error *err);
/* Cancels a command that never began, and leaves one alone that did. */
void target_release(struct target *target);

/* At least one of the threads of --tid must be there. */
int target_check_tids(const struct target *target, const struct options *options,
		      struct error *err);

/* --- output_name.c ------------------------------------------------------ */

/*
 * Fills in %p %h %t %{ENV} %% of the pattern. ERROR_USAGE for any other % and for
 * a variable that is not set.
 */
int output_name_expand(const char *pattern, pid_t pid, struct strbuf *name, struct error *err);

/*
 * -f, else the ending of -o, else text. ERROR_USAGE for an unknown one, with the
 * known ones, and for one that the command's output cannot be written in.
 */
int output_format_choose(const struct options *options, const struct exporter **out,
			 struct error *err);
/* True if the output of the command can be written by the exporter. */
bool output_format_fits(const struct exporter *exporter, const struct command *command);
/* True if -f and -o ask for a recording, which no exporter writes. */
bool output_is_recording(const char *format, const char *output);

/* --- output.c ----------------------------------------------------------- */

struct output {
	int fd;      /* what is written directly: stdout, a pipe, a device; else -1 */
	int dirfd;   /* else the folder of the file that is replaced as a whole; else -1 */
	char *base;  /* the file's name in that folder */
	char *path;  /* for messages; NULL: stdout */
};

/*
 * Finds out whether `path` (NULL or "-": stdout) can be written, without
 * changing anything there yet.
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

/* Columns of the terminal that is written to, else of $COLUMNS; 0: unknown. */
unsigned output_columns(const struct output *output);

/* --- output_folder.c ---------------------------------------------------- */

/*
 * Opens the folder of `path` (O_PATH) and stores the copy of the last part of the
 * name, which the caller frees. As root it follows only links that belong to
 * root. Returns the descriptor, or a negative error.
 */
int output_folder_open(const char *path, char **base, struct error *err);

/* --- sample_exit.c ------------------------------------------------------ */

/* Exit statuses of a run that was not refused; DEADLOCK is a dump's. */
enum sample_status { SAMPLE_WHOLE, SAMPLE_PARTIAL, SAMPLE_NOTHING, SAMPLE_DEADLOCK = 4 };

/* Partial is more than 1 % failed: `why` gets a sentence then. */
enum sample_status sample_exit_status(const struct run_stats *stats, struct strbuf *why);

#endif
