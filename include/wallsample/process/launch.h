/* SPDX-License-Identifier: MIT */
/*
 * launch.h - starts the command that is to be sampled.
 */
#ifndef WALLSAMPLE_PROCESS_LAUNCH_H
#define WALLSAMPLE_PROCESS_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "wallsample/base/error.h"

struct launched {
	pid_t pid;
	int gate; /* launch_go opens it, closing it ends the child; -1 afterwards */
	const char *command; /* argv[0], borrowed */
};

/*
 * Forks a child that waits behind a gate and then becomes argv[0] (found in
 * PATH). Under sudo (SUDO_UID, SUDO_GID set and we are root) the command runs
 * as the invoking user with that user's groups, unless keep_root; the environment
 * stays as it is.
 *
 * Its signal mask and ignored signals are those of the caller, by plain
 * inheritance: call this before setting any, so that the command gets what
 * wallsample itself was started with. If wallsample dies before launch_go, the
 * command never runs.
 *
 * Returns 0 with the child waiting: the caller may look at it first. A command
 * that cannot be started is reported by launch_go.
 */
int launch_prepare(char *const argv[], bool keep_root, struct launched *out, struct error *err);

/*
 * Opens the gate and waits until exec has happened. ERROR_EXEC when it could
 * not: the child is gone and reaped then.
 */
int launch_go(struct launched *launched, struct error *err);

/* Ends a child that was prepared and never let go; reaps it. */
void launch_cancel(struct launched *launched);

#endif
