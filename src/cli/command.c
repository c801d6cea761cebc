/* SPDX-License-Identifier: MIT */
/* command.c - the registry of commands; runs the command that the arguments name. */
#include "wallsample/cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_internal.h"
#include "cli/rights_internal.h"
#include "config.h"

#define SIGNALS                                                                                    \
	"\n"                                                                                       \
	"Signals: INT (Ctrl-C) and TERM end sampling and write what there is, a second\n"          \
	"one leaves at once; USR1 writes what there is so far and sampling continues.\n"           \
	"\n"

static const char signals_text[] = SIGNALS
	"Exit status: 0 whole; 1 partial, more than 1 % of samples or stacks failed;\n"
	"2 nothing sampled or not written; 3 not permitted; 64 wrong usage.\n";

#define OF_RECORDINGS                                                                              \
	"\n"                                                                                       \
	"Exit status: 0 whole; 1 partial, more than 1 % of samples or stacks failed;\n"            \
	"2 not read or not written; 64 wrong usage.\n"

static int command_help(const struct options *options, int *status, struct error *err);
static int command_completion(const struct options *options, int *status, struct error *err);

/* clang-format off */
static const struct command commands[] = {
	{ .name = "", .bit = FOR_RUN, .run = command_sample,
	  .about = "Usage: wallsample [OPTIONS] -p PID\n"
		   "       wallsample [OPTIONS] --name GLOB\n"
		   "       wallsample [OPTIONS] -- CMD [ARGS]\n"
		   "       wallsample COMMAND …\n"
		   "\n"
		   "Samples every thread of a running program and prints where its wall time\n"
		   "goes, time spent blocked included. The program needs no preparation and is\n"
		   "left as it was found.\n",
	  .examples =
		  "\n"
		  "Examples:\n"
		  "  wallsample -p 1234 -d 30               a text report of 30 seconds\n"
		  "  wallsample --name redis-server -d 10   the same, found by its name\n"
		  "  wallsample -d 5 -- ./server 8080       start a program and sample it\n"
		  "  wallsample -p 1234 -d 10 -o out.svg    a flame graph for a browser\n"
		  "  wallsample -p 1234 -d 10 -o out.folded for flamegraph.pl\n"
		  "  wallsample -p 1234 -d 10 -t --state R  what each thread does while it runs\n",
	  .ending = signals_text },
	{ .name = "record", .bit = FOR_RECORD, .run = command_sample,
	  .help = "sample into a recording, for wallsample report",
	  .about = "Usage: wallsample record [OPTIONS] -p PID | --name GLOB | -- CMD [ARGS]\n"
		   "\n"
		   "Samples every thread of a running program into a recording. It is an SQLite\n"
		   "database, written once a second during sampling, for wallsample report\n"
		   "and any SQL tool. Without -o it is called wallsample-PID-TIME.wsdb.\n",
	  .examples = "\n"
		      "Examples:\n"
		      "  wallsample record -p 1234 -d 60 -o x.wsdb   a minute of process 1234\n"
		      "  wallsample report x.wsdb                    where its time went\n",
	  .ending = signals_text },
	{ .name = "report", .bit = FOR_REPORT, .operands = "FILE…", .noun = "report",
	  .run = command_report,
	  .help = "any report, from one recording or several",
	  .about = "Usage: wallsample report [OPTIONS] FILE…\n"
		   "\n"
		   "Makes a report of a recording, as often and with whatever options are wanted.\n"
		   "Several recordings become one report, whose threads are labelled by host and\n"
		   "process id.\n",
	  .examples = "\n"
		      "Examples:\n"
		      "  wallsample report x.wsdb                   where the time went\n"
		      "  wallsample report -t --state R x.wsdb      of each thread, while it ran\n"
		      "  wallsample report --from -10 x.wsdb        of the last ten seconds\n"
		      "  wallsample report --parallelism 1 x.wsdb   while one thread ran alone\n"
		      "  wallsample report -o x.folded x.wsdb       for a flame graph\n",
	  .ending = OF_RECORDINGS },
	{ .name = "dump", .bit = FOR_DUMP, .noun = "dump", .run = command_dump,
	  .help = "every thread of a process once, with its stack",
	  .about = "Usage: wallsample dump [OPTIONS] -p PID\n"
		   "       wallsample dump [OPTIONS] --name GLOB\n"
		   "       wallsample dump [OPTIONS] --core FILE\n"
		   "\n"
		   "Says what each thread of a running program does at this moment, and where:\n"
		   "its state, the system call it sleeps in, and its stack. Threads that do the\n"
		   "same in the same place are one group. All are of one moment: those that run\n"
		   "are held until everybody's stack has been taken. Of a program that is no more\n"
		   "a core file gives the same.\n",
	  .examples = "\n"
		      "Examples:\n"
		      "  wallsample dump -p 1234                    what a hung program waits for\n"
		      "  wallsample dump --nonblocking -p 1234      without stopping it\n"
		      "  wallsample dump --state R -p 1234          what runs right now\n"
		      "  wallsample dump -f json -p 1234            for programs\n"
		      "  wallsample dump --core core                where a program crashed\n",
	  .ending = "\n"
		    "Exit status: 0 whole; 1 partial, more than 1 % of the stacks failed; 2 no\n"
		    "thread or not written; 3 not permitted; 4 a deadlock; 64 wrong usage.\n" },
	{ .name = "diff", .bit = FOR_DIFF, .operands = "BEFORE AFTER",
	  .noun = "comparison", .run = command_diff,
	  .help = "what changed from one recording to another",
	  .about = "Usage: wallsample diff [OPTIONS] BEFORE AFTER\n"
		   "\n"
		   "Compares two recordings, function by function, in seconds for each second\n"
		   "that passed, and lists what changed by more than its margin of error.\n",
	  .examples = "\n"
		      "Examples:\n"
		      "  wallsample diff old.wsdb new.wsdb                  what changed\n"
		      "  wallsample diff --sort cpu old.wsdb new.wsdb       in CPU time\n"
		      "  wallsample diff -f folded old.wsdb new.wsdb | flamegraph.pl >diff.svg\n"
		      "                                                     as a flame graph\n",
	  .ending = OF_RECORDINGS },
	{ .name = "causal", .bit = FOR_CAUSAL, .operands = "[FILE]", .run = command_causal,
	  .help = "what a faster function would bring, by experiment",
	  .about = "Usage: wallsample causal [OPTIONS] --progress SPEC -p PID\n"
		   "       wallsample causal [OPTIONS] --progress SPEC --name GLOB\n"
		   "       wallsample causal [OPTIONS] --progress SPEC -- CMD [ARGS]\n"
		   "       wallsample causal [OPTIONS] FILE.wsdb\n"
		   "\n"
		   "Finds out by experiment what a running program would gain if some code were\n"
		   "faster. While a thread is in that code the others that run are held for a\n"
		   "part of the time, which has the effect on them that faster code would have;\n"
		   "the program's own progress is measured meanwhile. No thread is held for\n"
		   "longer than a few milliseconds at a time but at a speed-up of 100 %.\n",
	  .examples =
		  "\n"
		  "Examples:\n"
		  "  wallsample causal -p 1234 --progress var:requests_done   a counter in memory\n"
		  "  wallsample causal -p 1234 --progress syscalls:write      of any server\n"
		  "  wallsample causal -p 1234 --progress var:n --select '^parse$' -d 1m\n"
		  "  wallsample causal -p 1234 --progress var:n -o x.wsdb     keep it, and\n"
		  "  wallsample causal -f html -o x.html x.wsdb               ask it again\n",
	  .ending = SIGNALS
		    "Exit status: 0 whole; 1 partial, some candidate without enough data or the\n"
		    "process ended too soon; 2 no experiment or not written; 3 not permitted; 64\n"
		    "wrong usage.\n" },
	{ .name = "info", .bit = FOR_INFO, .operands = "FILE…", .run = command_info,
	  .help = "what a recording holds",
	  .about = "Usage: wallsample info FILE…\n"
		   "\n"
		   "Says what recordings hold: of which process, how they were made, how much\n"
		   "there is, what was missed and what it cost.\n",
	  .examples = "",
	  .ending = "\nExit status: 0; 2 not read; 64 wrong usage.\n" },
	{ .name = "help", .bit = FOR_WORDS, .operands = "[COMMAND]", .run = command_help,
	  .help = "the help of a command, or a page of the manual",
	  .about = "Usage: wallsample help [COMMAND|TOPIC]\n"
		   "\n"
		   "Prints the help of a command, as wallsample COMMAND --help does, or shows a\n"
		   "page of the manual about a topic.\n",
	  .examples = "",
	  .ending = "\nExit status: 0; 2 man(1) cannot be started; 64 wrong usage.\n" },
	{ .name = "completion", .bit = FOR_WORDS, .operands = "SHELL", .run = command_completion,
	  .help = "a script that completes commands in a shell",
	  .about = "Usage: wallsample completion bash|zsh|fish\n"
		   "\n"
		   "Prints a script with which the shell completes commands, options and their\n"
		   "arguments.\n",
	  .examples = "\n"
		      "Examples:\n"
		      "  eval \"$(wallsample completion bash)\"     in ~/.bashrc\n"
		      "  wallsample completion zsh >_wallsample    in a directory of $fpath\n"
		      "  wallsample completion fish | source       in config.fish\n",
	  .ending = "\nExit status: 0; 64 wrong usage.\n" },
	{ .name = NULL },
};
/* clang-format on */

static int
command_help(const struct options *options, int *status, struct error *err)
{
	const char *name = options->files.count > 0 ? options->files.text[0] : "";

	(void)status;
	if (options->files.count > 1)
		return error_set(err, ERROR_USAGE, "give one command: wallsample help record");
	for (const struct command *command = commands; command->name != NULL; command++)
		if (strcmp(command->name, name) == 0) {
			help_print(command, commands, true, stdout);
			return 0;
		}
	return help_open_topic(name, err);
}

static int
command_completion(const struct options *options, int *status, struct error *err)
{
	(void)status;
	if (options->files.count != 1)
		return error_set(err, ERROR_USAGE,
				 "name a shell: wallsample completion bash, zsh or fish");
	return completion_print(commands, options->files.text[0], stdout, err);
}

/*
 * A program may be started with standard streams closed. The next opened file would then get the
 * descriptor of a standard stream, and a report would be written to that file. This function
 * therefore opens /dev/null as the missing streams.
 */
static void
fill_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", O_RDONLY);
}

static int
command_run(const struct options *options, int *status, struct error *err)
{
	int rc = 0;

	if (options->help)
		help_print(options->verb, commands, options->whole_help, stdout);
	else if (options->version)
		puts("wallsample " PACKAGE_VERSION);
	else
		rc = rights_check(options, err);
	if (rc == 0 && !options->help && !options->version)
		rc = options->verb->run(options, status, err);
	if (rc == 0 && (fflush(stdout) != 0 || ferror(stdout)))
		rc = error_set(err, ERROR_OUTPUT, "cannot write to stdout: %s", strerror(errno));
	return rc;
}

int
command_main(int argc, char **argv)
{
	struct options options;
	struct error err;
	int rc, status = 0;

	fill_standard_streams();
	rc = options_parse(argc, argv, commands, &options, &err);
	if (rc == 0)
		rc = command_run(&options, &status, &err);
	options_release(&options);
	return say_end(rc, status, &err);
}
