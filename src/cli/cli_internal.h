/* SPDX-License-Identifier: MIT */
/*
 * cli_internal.h - what the files of src/cli share: commands, options, messages, the
 * target, and the output.
 */
#ifndef WALLSAMPLE_CLI_CLI_INTERNAL_H
#define WALLSAMPLE_CLI_CLI_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "wallsample/base/base.h"
#include "wallsample/report/export.h"
#include "wallsample/cli/options.h"
#include "wallsample/process/process.h"
#include "wallsample/sampler/sampler.h"

/* --- command.c ---------------------------------------------------------- */

/* A command is one row of the registry. */
struct command {
	const char *name; /* the first argument of the call; "": the command without a name */
	unsigned bit;     /* FOR_… of options.h: a bit that marks the options of this command */
	const char *operands; /* operands as the help shows them: "FILE…"; NULL: it takes none */
	/* "report": what the command writes, for the error "a report is not a recording"; NULL: the
	 * command has no such error */
	const char *noun;
	/*
	 * Runs the command. Returns 0 and stores the exit status in *status, which the caller has
	 * set to 0; or sets *err and returns < 0.
	 */
	int (*run)(const struct options *options, int *status, struct error *err);
	const char *help;                      /* one line */
	const char *about, *examples, *ending; /* sections of the help of the command */
};

/* The member `run` of each command. The file that defines the function describes the command. */
int command_sample(const struct options *options, int *status, struct error *err);
int command_dump(const struct options *options, int *status, struct error *err);
int command_report(const struct options *options, int *status, struct error *err);
int command_info(const struct options *options, int *status, struct error *err);
int command_diff(const struct options *options, int *status, struct error *err);
int command_causal(const struct options *options, int *status, struct error *err);

/* --- option_convert.c --------------------------------------------------- */

/* Converts `text` (NULL for flags and counts) and stores the value in the field of *options that
 * the row names. `label` is the option as the user wrote it ("-d", "--duration"), for error
 * messages. Texts are borrowed. Returns 0 or ERROR_USAGE. */
int option_convert(const struct option_row *row, const char *label, const char *text,
		   struct options *options, struct error *err);
/* Appends a borrowed text to the list. */
void option_add_text(struct text_list *list, const char *text);
/* Frees a regular expression that an option of type OPTION_REGEX has stored; accepts NULL. */
void option_free_regex(regex_t *regex);

/* --- help.c, completion.c ----------------------------------------------- */

/* Prints the help of `command`: with `whole` all of it, otherwise what fits a screen. That of the
 * first row of the registry lists all `commands`. */
void help_print(const struct command *command, const struct command *commands, bool whole,
		FILE *out);
/* Adds the topics, separated by ", ". */
void help_add_topics(struct strbuf *out);
/* Executes man(1) for the page about the topic. Returns only if there is no such topic, or no man:
 * sets *err and returns a negative error. */
int help_open_topic(const char *topic, struct error *err);
/* Writes the script that completes commands, for "bash", "zsh" or "fish". */
int completion_print(const struct command *commands, const char *shell, FILE *out,
		     struct error *err);

/* --- say.c: messages on stderr ----------------------------------------- */

/* Prints "wallsample: …", escaped as by strbuf_add_escaped: callers need not escape names. */
void say_error(const struct error *err);
/* Returns `status` if `rc` is 0; otherwise prints the error, and returns its exit status. */
int say_end(int rc, int status, const struct error *err);
/* A short text, returned by value: `text` is valid only in the expression with the call. */
struct say_text {
	char text[32];
};

/* Returns "500 ms", "1.5 s" or "30 s". */
struct say_text say_duration(uint64_t ns);
/* Returns local time, "2026-11-20 20:33:09"; `compact`: "20261120-203309"; on failure "". */
struct say_text say_date(time_t when, bool compact);

/* --- privacy.c ---------------------------------------------------------- */

/* Returns true if outputs about this process are for their owner only: it is another user's. */
bool privacy_of_process(const struct process *process);
/* True if not everyone may read this file (NULL: no file), so that the same holds for an output
 * that is made of it. */
bool privacy_of_file(const char *path);
/* Returns true if this file exists and not everyone may read it: what replaces it is no
 * different. */
bool privacy_of_old(int dirfd, const char *base);
/* With --no-cmdline replaces the command line of the process by "[left out]". */
void privacy_hide_words(const struct options *options, struct process *process);
/* The same for all processes of a profile. */
void privacy_hide_all(const struct options *options, struct profile *profile);
/* Returns the arguments of wallsample; with --no-cmdline only those before "--". The caller frees
 * the result. */
char *privacy_own_words(const struct options *options);

/* --- output_name.c ------------------------------------------------------ */

/*
 * Replaces %p %h %t %{ENV} %% (see --output in option_table.c) in the pattern of -o and stores the
 * result in `name`. Returns ERROR_USAGE for any other % and for an environment variable that is not
 * set.
 */
int output_name_expand(const char *pattern, pid_t pid, struct strbuf *name, struct error *err);
/* Checks that output_name_expand will accept the pattern. A NULL pattern is accepted. */
int output_name_check(const char *pattern, struct error *err);

/*
 * Chooses the exporter by -f, else by the ending of the file name of -o, else the format text.
 * Returns ERROR_USAGE for a format that is unknown, was not built in or does not fit the command,
 * and for an unknown ending, except .txt, .log, or any ending of a path in /dev.
 */
int output_format_choose(const struct options *options, const struct exporter **out,
			 struct error *err);
/* True if the exporter can write the output of the command. */
bool output_format_fits(const struct exporter *exporter, const struct command *command);
/* True if -f and -o ask for a recording, which no exporter writes. */
bool output_is_recording(const struct options *options);

/* --- output.c ----------------------------------------------------------- */

struct output {
	int fd;          /* stdout, a pipe or a device, written directly; -1: a file is replaced */
	int dirfd;       /* the folder of the file to replace; -1: `fd` is used */
	char *base;      /* name of the file in the folder `dirfd` */
	char *path;      /* name of the output for messages; NULL: stdout */
	bool is_private; /* a new file is for its owner only */
};

/* Checks that `path` (NULL or "-": stdout) can be written, and leaves an existing file unchanged.
 * The caller releases *output with output_close. */
int output_open(struct output *output, const char *path, struct error *err);
/* Opens the folder of `path` (O_PATH) and stores a copy of the last component in *base, which the
 * caller frees. As root it follows only links that root owns. Returns the descriptor of the folder,
 * or < 0 with *err set. */
int output_folder_open(const char *path, char **base, struct error *err);

/* Calls `write` with a stream to output->fd, or to a new file that then replaces the old file, so
 * that a reader never sees half a report. An error of `write` discards the new file. `pages`: a
 * pager may show a text for stdout (pager_internal.h). */
int output_write(const struct output *output, bool pages,
		 int (*write)(void *context, FILE *out, struct error *err), void *context,
		 struct error *err);
void output_close(struct output *output);

/* ERROR_USAGE: the format is binary and the output is a terminal. */
int output_check_format(const struct output *output, const struct exporter *exporter,
			struct error *err);
/* Returns the columns of the output's terminal; if it is no terminal, $COLUMNS; 0: unknown. */
unsigned output_columns(const struct output *output);
/* True for a terminal, unless $NO_COLOR is set and not empty, or $TERM is "dumb". */
bool output_shows_colours(const struct output *output);

#endif
