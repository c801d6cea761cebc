/* SPDX-License-Identifier: MIT */
/*
 * command.h - runs the command that the program's arguments name.
 */
#ifndef WALLSAMPLE_CLI_COMMAND_H
#define WALLSAMPLE_CLI_COMMAND_H

/*
 * Parses the arguments, runs the command and returns the exit status: 0 complete, 1 partial, 2
 * failed (for example, nothing was sampled or the output could not be written), 3 the target cannot
 * or must not be traced, 4 a dump found a deadlock, 64 usage error. Reports go to stdout or to the
 * file of -o, help to stdout, messages to stderr. Installs signal handlers: call it once, from
 * main.
 */
int command_main(int argc, char **argv);

#endif
