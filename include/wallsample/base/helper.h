/* SPDX-License-Identifier: MIT */
/*
 * helper.h - processes of wallsample's own that serve requests of a socket.
 *
 * A helper process is a fork of wallsample. A thread of its own forks it and waits for its end, so
 * that the waits of the tracer (__WNOTHREAD) do not report it, and no zombie is left to PID 1. It
 * is killed when wallsample ends, however that happens.
 */
#ifndef WALLSAMPLE_BASE_HELPER_H
#define WALLSAMPLE_BASE_HELPER_H

#include <stdbool.h>
#include <stdint.h>

struct helper_plan {
	const char *name; /* of the process, at most 15 bytes (prctl(2)) */
	int type;         /* of the socket: SOCK_SEQPACKET or SOCK_STREAM */
	/* What the process does with its end of the socket; it ends when this returns, which must
	 * happen when the other end is closed. All signals are blocked. */
	void (*serve)(void *context, int fd);
	void *context;
	/* If false, all descriptors but the socket are closed before serve(): a reader of a pipe
	 * gets EOF even while the process hangs with a copy of its write end. */
	bool keeps_descriptors;
};

struct helper;

/*
 * Starts a process, with the capabilities of the calling thread, the scheduling class SCHED_OTHER
 * and a nice value of at least 0. Stores this end of the socket, which the caller closes. Returns
 * NULL with errno set when no process could be started.
 */
struct helper *helper_start(const struct helper_plan *plan, int *fd);

/*
 * Kills the process if it still runs, waits up to `wait_ns` for its end, and frees the helper (NULL
 * is permitted). Returns true and stores how it has ended, as waitpid(2). Returns false if it has
 * not: a process that waits for a file system which does not answer ends when that wait does.
 */
bool helper_end(struct helper *helper, uint64_t wait_ns, int *status);

#endif
