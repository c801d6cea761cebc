/* SPDX-License-Identifier: MIT */
/*
 * peer.h - finds the processes that have the other end of a pipe, of a UNIX socket, or of a TCP
 * connection within this machine.
 */
#ifndef WALLSAMPLE_WAIT_PEER_H
#define WALLSAMPLE_WAIT_PEER_H

#include "wallsample/wait/descriptor.h"

/* Maximum number of processes of struct peer. */
#define PEER_PIDS_MOST 8

/* The other end of a pipe or connection. */
struct peer {
	uint64_t end; /* peer_key() of the descriptors at the other end; 0: it was not found */
	/* The processes that have it open, without the target itself. A forked child has the
	 * descriptors of its parent until it closes them. */
	pid_t pid[PEER_PIDS_MOST];
	size_t count; /* number of elements of pid[] */
	bool own;     /* the target itself has the other end open, too */
	bool whole;   /* no further process has it open: all processes were read */
};

/*
 * Returns the number of the end of a pipe or connection that descriptors with the id `id`
 * (descriptor_look()) are; never 0. `writes`: that of a pipe to which the descriptor writes; the
 * two ends of a pipe have the same id. Ignored for sockets. Equal numbers are equal ends, except
 * for collisions of a hash of 64 bits.
 */
uint64_t peer_key(const char *id, bool writes);

/*
 * Finds the other end of the pipe or socket `fd`, whose id descriptor_look() has returned. Returns
 * false, with an empty *out, if the descriptor has another id now, is open for both reading and
 * writing (a fifo), or has no other end on this machine that is known.
 *
 * Takes as long as descriptor_describe(), and is subject to the same restrictions.
 */
bool peer_find(struct descriptors *descriptors, int fd, const char *id, struct peer *out);

#endif
