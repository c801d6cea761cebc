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
	pid_t pid; /* the child; -1 when it has been reaped */
	/* wallsample's end of a socket pair: the child waits at the other end for one byte; -1
	 * after launch_go or launch_cancel */
	int gate;
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
 * Returns 0 after the fork, or a negative error. Until launch_go() the caller can open the child as
 * a process (process_open) and check the permission to trace it. A command that cannot be executed
 * is reported by launch_go().
 */
int launch_prepare(char *const argv[], bool keep_root, struct launched *out, struct error *err);

/*
 * Lets the child execute the command and waits until exec has succeeded or failed. Returns 0, or
 * ERROR_EXEC (negated) when exec failed, when the child could not change to the user that invoked
 * sudo, or when the child had already been killed. After an error the child has been reaped.
 */
int launch_go(struct launched *launched, struct error *err);

/* Kills and reaps a child for which launch_go was not called. */
void launch_cancel(struct launched *launched);

#endif
