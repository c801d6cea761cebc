/* SPDX-License-Identifier: MIT */
/* tracer_internal.h - the tracer: its structure, seized threads, waits, timer and SIGCHLD
 * handler. */
#ifndef WALLSAMPLE_TRACER_TRACER_INTERNAL_H
#define WALLSAMPLE_TRACER_TRACER_INTERNAL_H

#include <time.h>

#include "wallsample/base/base.h"
#include "wallsample/thread/own.h"
#include "wallsample/tracer/tracer.h"
#include "wallsample/tracer/tracer_load.h"

/* --- watchdog.c: a timer whose signal ends waitpid(2), which has no time-out ------------- */

/* Interval at which the timer repeats its signal: a signal that arrives just before a wait begins
 * does not end the wait, but the next one does. Threads may be held until the end of the wait, for
 * no longer than 50 us, so that the interval must be shorter than a hold. */
#define WATCHDOG_REPEAT_NS (50 * NS_PER_US)

struct watchdog {
	timer_t timer;
	bool armed;
};

/* Creates the timer, installs a handler of SIGRTMAX that does nothing, and unblocks the signal.
 * Returns 0 or a negative error. */
int watchdog_create(struct watchdog *watchdog, struct error *err);
void watchdog_free(struct watchdog *watchdog);
/* Makes waits for tracees end with EINTR from `at_ns` (CLOCK_MONOTONIC) on, until the next call of
 * this function; 0: never. */
void watchdog_set(struct watchdog *watchdog, uint64_t at_ns);

/* --- release_handler.c ------------------------------------------------------------------ */

/*
 * Installs a handler of SIGCHLD that releases tracees as they stop, for the time in which the
 * tracer is paused: wallsample may wait an hour to write a report to a pager, and does not call the
 * tracer during that time. A thread that was interrupted in a sleep which no signal ends (vfork(2),
 * a disk or a server that does not answer) cannot be detached before it stops; when it stops, the
 * kernel sends SIGCHLD.
 *
 * Tracees that have stopped already are released at once. With `reap` the handler also reaps
 * tracees that have exited. `reap` must be false if the target is a child of wallsample, because
 * the target's exit status is needed.
 */
void release_handler_install(bool reap);
/* Restores the default action of SIGCHLD. */
void release_handler_remove(void);

/* --- seized.c: the threads that are seized ----------------------------------------------- */

struct seized {
	pid_t tid;
	/* its stop was requested after the last tracer_collect or tracer_collect_held */
	bool is_new;
	/* captured, and kept stopped until tracer_release_held or tracer_release_all_held */
	bool held;
	/* Borrowed. NULL: the thread is held, or is exiting, or is to be released without a
	 * snapshot when it stops. */
	struct stop_request *request;
};

/* The seized threads, in no order; usually a few dozen, so the search is linear. A list whose bytes
 * are all zero is empty. */
struct seized_list {
	struct seized *item;
	size_t count, capacity;
	struct tracer_load *load; /* borrowed; NULL: none */
};

/* Stores the number of seized threads plus `more` in load->stops. */
void seized_publish(const struct seized_list *list, size_t more);

void seized_add(struct seized_list *list, pid_t tid, struct stop_request *request);
/* Returns NULL when the thread is not in the list; the pointer is valid until the list changes. */
struct seized *seized_find(const struct seized_list *list, pid_t tid);
/* Removes `item`. Moves the last entry into its place. */
void seized_remove(struct seized_list *list, struct seized *item);
/* Drops the references to this request; to all requests if it is NULL. */
void seized_forget(struct seized_list *list, const struct stop_request *request);
/* Removes threads that are no longer tracees, and sets their requests' `end` to this end. To find
 * out which threads are tracees, interrupts each. */
void seized_drop_untraced(struct seized_list *list, enum stop_end end);

/* --- the tracer ---------------------------------------------------------------------------- */

struct counting;

struct tracer {
	const struct process *process; /* the first one */
	pid_t *pid;                    /* of the other processes; owned */
	size_t pids, pid_capacity;
	struct watchdog watchdog;
	struct seized_list seized;
	size_t cpus;    /* number of online CPUs when the tracer was created */
	bool is_parent; /* the first process is a child of wallsample */
	bool exited;    /* it has exited, with exit_status as wait status */
	int exit_status;
	uint64_t exit_children_ns; /* CPU time of children for which it has waited */
	uint64_t waited_ns;    /* last time at which no stopped tracee waited for tracer_serve() */
	struct own_thread own; /* wallsample's thread */
	/* Total time that wallsample had waited for a CPU (schedstat) when its last blocking wait
	 * began; read after waited_ns was set. */
	uint64_t own_delay_ns;
	bool hold_late;   /* until tracer_release_all_held, threads that stop late are held */
	bool quiet;       /* the last wait found no tracee or child; no stop was requested since */
	bool has_handler; /* the release handler is installed */
	unsigned paused;  /* depth of nested tracer_pause calls */
	struct tracer_stats stats;
	struct counting *counting; /* threads that stay seized (count/counting.c); NULL: none */
};

/* --- tracer_wait.c -------------------------------------------------------------------------- */

/* For stop_wait(); `context` is a struct tracer. */
void tracer_before_reap(void *context, pid_t pid);

/* Result of a wait. */
struct wait_end {
	pid_t tid;      /* result of waitpid(2): a thread id, 0, or -1 with errno set */
	int status;     /* wait status of waitpid(2) */
	uint64_t at_ns; /* when the wait ended */
	bool slept;     /* the wait blocked until the stop; otherwise the thread may have stopped
			 * earlier */
};

/* State of one call that waits. */
struct waiting {
	uint64_t deadline_ns;
	bool hold; /* captured threads stay stopped */
	/* With `hold`: of the captured threads only those that were running stay stopped. */
	bool runners_only;
	size_t pending; /* new requests that have not ended */
};

/* Waits once, spinning for `spin_ns` first, and calls tracer_serve with the result. Returns false
 * when the deadline has passed (errno EINTR) or there is no child or tracee (ECHILD). */
bool tracer_wait_once(struct tracer *tracer, struct waiting *waiting, uint64_t spin_ns);
/* Handles the stop or exit that a wait has returned: captures, releases or holds a stopped thread,
 * and ends the request of a thread that has exited. */
void tracer_serve(struct tracer *tracer, const struct wait_end *end, struct waiting *waiting);

#endif
