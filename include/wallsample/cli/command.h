/* SPDX-License-Identifier: MIT */
/*
 * command.h - the program: from the words of the call to the exit status.
 */
#ifndef WALLSAMPLE_CLI_COMMAND_H
#define WALLSAMPLE_CLI_COMMAND_H

/*
 * Parses the words, does what they say and returns the exit status: 0 whole, 1
 * partial, 2 nothing sampled or not written, 3 not permitted, 64 usage. Reports go
 * to stdout, everything else to stderr. Installs signal handlers: to be called
 * once, from main.
 */
int command_main(int argc, char **argv);

#endif
