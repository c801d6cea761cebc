/* SPDX-License-Identifier: MIT */
/*
 * launch.h - starts a command to sample.
 */
#ifndef WALLSAMPLE_PROCESS_LAUNCH_H
#define WALLSAMPLE_PROCESS_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "wallsample/base/error.h"

struct launched {
	pid_t pid; /* -1 when the child has been reaped */
	int gate;  /* socket on which the child waits; -1 after launch_go or launch_cancel */
	const char *command; /* argv[0], borrowed */
};

/*
 * Forks a child that waits for launch_go() and then executes argv[0] (found in PATH). Under sudo
 * (SUDO_UID and SUDO_GID are set, and wallsample is root) the command runs as the user that invoked
 * sudo, with that user's groups, unless `keep_root`; the environment is not changed.
 *
 * The child inherits the caller's signal mask and ignored signals: this must be called before
 * wallsample changes them, so that the command starts with those that wallsample was started with.
 * If wallsample dies before launch_go(), the command never runs.
 *
 * Returns 0 when the child waits, so that the caller can inspect it; a negative error otherwise. A
 * command that cannot be executed is reported by launch_go().
 */
int launch_prepare(char *const argv[], bool keep_root, struct launched *out, struct error *err);

/*
 * Lets the child execute the command and waits until exec is done. Returns 0, or ERROR_EXEC
 * (negated) when exec failed; then the child has exited and is reaped.
 */
int launch_go(struct launched *launched, struct error *err);

/* Kills and reaps a child for which launch_go was not called. */
void launch_cancel(struct launched *launched);

#endif
