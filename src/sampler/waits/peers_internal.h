/* SPDX-License-Identifier: MIT */
/*
 * peers_internal.h - threads that wait for another sampled process: for the other end of a pipe or
 * connection, or for a child. Their time is attributed to what that process does meanwhile.
 */
#ifndef WALLSAMPLE_SAMPLER_WAITS_PEERS_INTERNAL_H
#define WALLSAMPLE_SAMPLER_WAITS_PEERS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/table.h"
#include "wallsample/wait/peer.h"
#include "wallsample/wait/wait.h"

struct blamed;
struct run;
struct sampled_thread;
struct waits;

/* --- peer_choice.c: decisions ---------------------------------------------------------------- */

#define PEER_NONE SIZE_MAX
#define PEER_NO_HOP UINT32_MAX
/* Maximum number of waits that are followed from one thread to the next. */
#define PEER_HOPS_MOST 8

/* A process, other than the waiter's, that has the other end open. */
struct peer_candidate {
	bool sampled;
	/* One of its threads is runnable, waits for a lock or a disk, or waits for this end. */
	bool active;
};

/*
 * Returns the index of the process for which the thread waits; PEER_NONE: it is not known, or not
 * sampled. A wrong answer is worse than none. If only one process has the end, it is that one. Of
 * several, most have inherited the end from their parent and do not use it: the only sampled one
 * that is active is chosen, and none if there is not exactly one.
 */
size_t peer_choose_process(const struct peer_candidate *candidate, size_t count);

/* A thread of the awaited process. */
struct peer_thread {
	bool uses_end;        /* its present system call waits for this end */
	bool last_user;       /* it was the last one that was seen waiting for this end */
	bool waits_elsewhere; /* it waits for another event: another descriptor, a condition */
	bool works;           /* it is runnable, or waits for a lock or a disk */
};

/*
 * Returns the index of the thread for which the other process waits; PEER_NONE: it is not known. It
 * is the only thread of the process; otherwise the one that uses this end now; otherwise the one
 * that was the last to wait for this end, unless it waits for something else; otherwise the only
 * one that works.
 */
size_t peer_choose_thread(const struct peer_thread *thread, size_t count);

/*
 * Follows the waits of the thread `from`: `next` returns the thread for which a thread waits,
 * PEER_NO_HOP if there is none. Stores the threads behind `from` in `path`, and returns their
 * number. Ends before a thread that the path has already, `from` included.
 */
size_t peer_follow(uint32_t from, uint32_t (*next)(void *context, uint32_t from), void *context,
		   uint32_t path[PEER_HOPS_MOST]);

/* --- peer_ends.c ----------------------------------------------------------------------------- */

/* The other end of a pipe or connection for which a thread of a process waits. */
struct peer_end {
	char *id; /* text of the link of the waiter's descriptor in /proc; owned */
	int fd;
	struct peer peer;  /* count is 0 as long as none was found */
	uint64_t next_ns;  /* the earliest moment of the next search, CLOCK_MONOTONIC */
	uint64_t pause_ns; /* time from the last search to next_ns */
	uint32_t tick;     /* the last tick at which a thread waited for it */
};

/* The other ends for which threads of one process wait. A struct whose bytes are all zero is
 * empty. */
struct peer_ends {
	struct table ends; /* (key of the waiter's end) -> index in end[] */
	struct peer_end *end;
	size_t capacity;
	size_t turn; /* index of the element that peers_search looks at next */
};

/* What the peers of all processes have in common. A struct whose bytes are all zero is empty. */
struct peers {
	struct table users;   /* (key of an end) -> id of the thread that was last seen waiting */
	struct table through; /* (stack, frame of a "[through …]") -> the stack below that frame */
	struct table named;   /* set of the hashes of texts that are frames */
	uint32_t tick;        /* the tick to which `scanned` and `waited` belong */
	size_t scanned;       /* threads that were examined at this tick */
	size_t waited, waited_before; /* waits for peers at this tick, and at the one before */
};

void peer_ends_release(struct peer_ends *ends);
void peers_release(struct peers *peers);

/* True if the wait may be one for another process of the run. */
static inline bool
wait_may_have_peer(const struct wait *wait)
{
	return wait->end != 0 || wait->child_pid > 0;
}

/* Records that a thread waits for the pipe or socket wait->fd with this id: sets wait->end, and in
 * runs of several processes notes that the other end is to be searched. */
void peers_note(struct waits *waits, const struct sampled_thread *thread, struct wait *wait,
		const char *id);

/* Searches other ends of one process until `until`, CLOCK_MONOTONIC. Returns the time after that.
 * Must not be called while a thread is stopped. */
uint64_t peers_search(struct waits *waits, uint64_t until);
/* Returns the other end of `end`, for which a thread of the process waits; NULL: none is noted. */
struct peer_end *peers_find_end(struct waits *waits, uint64_t end);

/* --- peer_blame.c ---------------------------------------------------------------------------- */

/*
 * Attributes time that waits_blame has stored of threads that wait for another process, to the
 * thread that they wait for. If that thread itself waits for a lock of another thread, or for
 * another process, the chain is followed, and the stack is that of the last thread of the chain;
 * its outermost frame is then "[through NAME (PID)]", with the processes between. Time of waiters
 * whose awaited process is not known, or not sampled, is not attributed. Removes it from `blamed`.
 */
void peers_blame(struct waits *waits);

/*
 * Returns the thread without which the waiting thread can never continue: it is the only thread of
 * the only process that has the other end of the pipe, or of the child. NULL: there is none, or
 * that is not certain; always for sockets, whose time-outs (SO_RCVTIMEO) cannot be read.
 */
struct sampled_thread *peers_find_sole(struct waits *waits, const struct sampled_thread *thread);

#endif
