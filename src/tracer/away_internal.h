/* SPDX-License-Identifier: MIT */
/*
 * away_internal.h - lets stopped tracees go on while nobody waits for them: a report is written,
 * and its reader may take an hour.
 *
 * A thread that was asked to stop and sleeps where no signal wakes it (in vfork(2), on a disk or
 * a server that does not answer) cannot be detached before it stops. The kernel sends SIGCHLD
 * when it does.
 */
#ifndef WALLSAMPLE_TRACER_AWAY_INTERNAL_H
#define WALLSAMPLE_TRACER_AWAY_INTERNAL_H

#include <stdbool.h>

/*
 * From now on, and at once, whatever has stopped is released by the handler of SIGCHLD. With
 * `reap` it also takes the exits of tracees; they are left alone where the target is our
 * child, whose exit status is still wanted.
 */
void away_begin(bool reap);
void away_end(void);

#endif
