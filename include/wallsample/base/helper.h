/* SPDX-License-Identifier: MIT */
/* helper.h - starts a process of wallsample's own that serves requests of a socket. */
#ifndef WALLSAMPLE_BASE_HELPER_H
#define WALLSAMPLE_BASE_HELPER_H

#include <stdbool.h>

/*
 * Starts a process with this name (at most 15 bytes, prctl(2)) that calls serve(context, fd) and
 * then ends. It has a copy of wallsample's memory and, of all descriptors, only a duplicate of
 * `fd`, which serve() gets. It is not a child of wallsample (init or a subreaper adopts it), so
 * that wallsample neither waits for it nor reaps it. It is in a session of its own, and all signals
 * are blocked in it. serve() must return when the other end of the socket is closed. Returns false
 * when no process could be started.
 */
bool helper_start(const char *name, int fd, void (*serve)(void *context, int fd), void *context);

/* Gives the calling process, which has one thread, the scheduling class SCHED_OTHER and a nice
 * value of at least 0: a fork of the sampler may have inherited a real-time class or a negative
 * value. */
void helper_be_ordinary(void);

#endif
