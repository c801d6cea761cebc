/* SPDX-License-Identifier: MIT */
/* tracer_internal.h - internal structures and functions of the tracer. */
#ifndef WALLSAMPLE_TRACER_TRACER_INTERNAL_H
#define WALLSAMPLE_TRACER_TRACER_INTERNAL_H

#include <time.h>

#include "wallsample/base/base.h"
#include "wallsample/tracer/tracer.h"

/* --- watchdog.c: a timer whose signal ends waitpid(2), which has no time-out ------------- */

/* The timer repeats: a signal that arrives just before a wait begins delays the end of the wait
 * by no more than this. */
#define WATCHDOG_REPEAT_NS (2 * NS_PER_MS)

struct watchdog {
	timer_t timer;
	bool armed;
};

/* Installs a handler of SIGRTMAX that does nothing, and unblocks the signal. */
int watchdog_create(struct watchdog *watchdog, struct error *err);
void watchdog_free(struct watchdog *watchdog);
/* Waits end with EINTR at `at_ns` (CLOCK_MONOTONIC) or a little later, repeatedly; 0: disarms. */
void watchdog_set(struct watchdog *watchdog, uint64_t at_ns);

/* --- own_delay.c: time that the sampler itself was runnable without a CPU ---------------- */

/* A descriptor of the calling thread's schedstat; -1 where the kernel does not count. */
int own_delay_open(void);
/* Nanoseconds since the thread began; 0 without a descriptor. Takes half a microsecond. */
uint64_t own_delay_read(int fd);

/* --- release_handler.c ------------------------------------------------------------------ */

/*
 * A handler of SIGCHLD that releases tracees as they stop, while the tracer is paused: a report
 * is written, and its reader may take an hour. A thread that was interrupted in a sleep which no
 * signal ends (vfork(2), a disk or a server that does not answer) cannot be detached before it
 * stops; the kernel sends SIGCHLD when it does.
 *
 * Releases at once what has stopped already. With `reap` the handler also takes the exits of
 * tracees; it must not where the target is a child of wallsample, whose exit status is needed.
 */
void release_handler_install(bool reap);
void release_handler_remove(void);

/* --- seized.c: the threads that are seized ----------------------------------------------- */

struct seized {
	pid_t tid;
	bool is_new;                  /* requested since the last tracer_collect */
	bool held;                    /* captured, and stopped until tracer_release_held */
	struct stop_request *request; /* borrowed; NULL: to be released without a snapshot */
};

/* Usually a few dozen entries, so the search is linear. Zeros are an empty list. */
struct seized_list {
	struct seized *item;
	size_t count, capacity;
};

void seized_add(struct seized_list *list, pid_t tid, struct stop_request *request);
/* NULL when the thread is not in the list; the pointer is valid until the list changes. */
struct seized *seized_find(const struct seized_list *list, pid_t tid);
/* Moves the last entry into the place of `item`. */
void seized_remove(struct seized_list *list, struct seized *item);
/* Marks a captured thread as held; its request is free for another stop. */
void seized_hold(struct seized *entry);
/* Drops the reference to this request; NULL: to all requests. */
void seized_forget(struct seized_list *list, const struct stop_request *request);
/* Removes threads that are no longer tracees; their requests get this end. */
void seized_drop_untraced(struct seized_list *list, enum stop_end end);
size_t seized_count_new(const struct seized_list *list);
void seized_release(struct seized_list *list);

/* --- the tracer ---------------------------------------------------------------------------- */

struct counting;

struct tracer {
	const struct process *process;
	struct watchdog watchdog;
	struct seized_list seized;
	bool is_parent; /* the process is a child of wallsample */
	bool exited;    /* the process has exited, with exit_status as wait status */
	int exit_status;
	uint64_t waited_ns; /* the last moment at which no unserved tracee was stopped */
	int own_delay_fd;
	uint64_t own_delay_ns; /* own delay at that moment, or a little before */
	bool hold_late;        /* hold threads that stop late, too, until all are released */
	bool quiet;            /* no tracee exists, and none was requested since */
	bool has_handler;      /* the release handler is installed */
	unsigned paused;       /* depth of nested tracer_pause calls */
	struct tracer_stats stats;
	struct counting *counting; /* NULL: no thread is seized between stops */
};

/* --- tracer_wait.c -------------------------------------------------------------------------- */

/* Result of a wait. */
struct wait_end {
	pid_t tid; /* as of waitpid(2); < 0: none, see errno */
	int status;
	uint64_t at_ns;
	bool slept; /* the wait blocked until the stop; else the thread may have stopped
		       * long before */
};

/* State of one call that waits. */
struct waiting {
	uint64_t deadline_ns;
	bool hold;         /* captured threads stay stopped */
	bool runners_only; /* of these, only threads that were running */
	size_t pending;    /* new requests that have not ended */
};

/* Waits once, spinning for `spin_ns` first, and serves the result. False when the deadline has
 * passed (errno EINTR) or there is nothing to wait for (ECHILD). */
bool tracer_wait_once(struct tracer *tracer, struct waiting *waiting, uint64_t spin_ns);
/* Waits until all new requests have ended or the deadline has passed. */
void tracer_wait_for_new(struct tracer *tracer, struct waiting *waiting);
/* Serves a stop or an exit. */
void tracer_serve(struct tracer *tracer, const struct wait_end *end, struct waiting *waiting);
/* Releases the threads stopped since tracer_wait_for_new; those that have not stopped become
 * outstanding. */
void tracer_release_new(struct tracer *tracer);
/* Releases a thread that is not in the list any more, with a signal if it is not 0; a thread in
 * a group stop stays in it. */
void tracer_release(struct tracer *tracer, pid_t tid, int signo, bool group_stopped);

#endif
