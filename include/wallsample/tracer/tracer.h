/* SPDX-License-Identifier: MIT */
/*
 * tracer.h - takes snapshots of threads, and lets them go.
 *
 * Sleeping threads are read without a stop. Running ones are seized, interrupted,
 * copied and detached: between samples nothing is traced, and a thread that has
 * stopped is released before anything else is done. (Another mode: tracer_count.h.)
 * ptrace(2) is called in stop.c and, of breakpoints, in breakpoint_ARCH.c alone.
 *
 * All stops of one tick are asked for first (tracer_ask), then collected in the
 * order in which the threads reach them (tracer_collect). A thread that does not
 * stop in time waits for a CPU, and executes nothing meanwhile, or is in a long system
 * call: its request stays outstanding, and is captured and released as soon as the
 * thread does stop, during later calls. It must not be asked again until then.
 *
 * If wallsample dies, the kernel detaches what it had seized and the target
 * runs on: that is what SEIZE is for.
 */
#ifndef WALLSAMPLE_TRACER_TRACER_H
#define WALLSAMPLE_TRACER_TRACER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/base/error.h"
#include "wallsample/process/process.h"
#include "wallsample/tracer/snapshot.h"
#include "wallsample/thread/state.h"

/* X(name): what asking for a stop, and waiting for it, came to */
enum stop_end {
	STOP_CAPTURED,  /* the snapshot is good */
	STOP_EXITED,    /* the thread exited before it could stop */
	STOP_DENIED,    /* EPERM: exiting, or somebody else traces it now */
	STOP_LATE,      /* not yet: it is outstanding */
	STOP_MISSED,    /* released without a snapshot, between tracer_pause and tracer_resume */
	STOP_COMPAT32,   /* 32-bit code: stopped and released, best left alone */
	STOP_UNREADABLE, /* stopped and released, registers or counters not read */
};

/* One thread that is to be stopped. The caller owns it, and keeps it where it is and
 * untouched while its end is STOP_LATE. */
struct stop_request {
	/* in */
	struct watch *watch;     /* of the thread: its switch count is read while stopped */
	struct sched before;     /* as read before asking */
	size_t stack_want;       /* bytes of stack to copy */
	uint64_t sp_before;      /* stack pointer at an earlier sample; 0: none */
	uint64_t tick_ns;        /* when the tick began */
	uint64_t looked_ns;      /* when `before` was read */
	struct snapshot snapshot; /* initialised by the caller, filled here */
	/* Called while the thread stands still, with its registers and stack copied: for what
	 * else has to be read just then. Of microseconds; NULL: nothing is. */
	void (*stopped)(void *context, pid_t tid, uint64_t sp);
	void *context;
	/* out */
	enum stop_end end;
	bool queued;             /* it was waiting for a CPU at the tick */
	bool fell_asleep;        /* the interrupt found it asleep in `syscall` after all */
	bool group_stopped;      /* it was stopped by job control and still is */
	bool held;               /* tracer_collect_held has kept it stopped */
	long syscall;            /* number it was in; SYSCALL_NONE when in user code */
	struct sched during;     /* counters while it was stopped */
	uint64_t stopped_ns;     /* how long it was stopped, at most */
	/* the tracer's own */
	uint64_t asked_ns;       /* when */
	int signal;              /* to be passed on with the release */
};

struct tracer;

/* What has happened so far; all counts since tracer_create. */
struct tracer_stats {
	uint64_t stops;          /* threads stopped and released */
	uint64_t repaired;       /* system calls saved from EINTR */
	uint64_t signals_passed; /* signals that arrived at a stop and were passed on */
	uint64_t late;           /* outstanding when tracer_collect returned */
};

/*
 * `process` is borrowed. SIGRTMAX becomes the watchdog of waits (its handler is set
 * here), and waits are for all children of this process: the exit of a child that
 * is not a tracee is kept for tracer_exit_status.
 */
int tracer_create(const struct process *process, struct tracer **out, struct error *err);

/*
 * Releases whatever is still seized: waits up to two seconds for outstanding
 * stops and detaches them; what does not stop by then is released when it does, by a handler
 * of SIGCHLD, or by the kernel when this process ends.
 */
void tracer_free(struct tracer *tracer);

/* The caller is no longer interested in an outstanding request and may free it; the
 * thread is released all the same when it stops. */
void tracer_forget(struct tracer *tracer, const struct stop_request *request);

/* To be called shortly before tracer_ask, of few: shortens the stop. */
void tracer_prefetch(struct stop_request *request);

/* Seizes and interrupts; the end is STOP_LATE, or why that already failed. */
void tracer_ask(struct tracer *tracer, struct stop_request *request);

/*
 * Waits until all requests that were asked since the last call have ended, or
 * `bound_ns` has passed, fills them in and releases each thread at once; with
 * `hold` all are kept stopped until the last is captured, `held` (may be NULL) is
 * called, and then released together.
 */
void tracer_collect(struct tracer *tracer, uint64_t bound_ns, bool hold, void (*held)(void *),
		    void *context);

/*
 * As tracer_collect, but those who ran stay stopped until they are let go: the request's `held`
 * says so, and the request is free for the next stop. A thread that was asleep after all, has a
 * signal to take or is stopped by job control is released at once; so are those that stop later
 * than `bound_ns`.
 *
 * This is for milliseconds. While a thread is held nothing else may be waited for: tracer_pause
 * lets all of them go. One that is killed meanwhile is none of them any more.
 */
void tracer_collect_held(struct tracer *tracer, uint64_t bound_ns);
/* From now on, until all are let go, those that stop too late for it are held like those who were
 * caught. */
void tracer_hold_late(struct tracer *tracer);
bool tracer_is_held(const struct tracer *tracer, pid_t tid);
/* It goes on. False: it was not held (any more). */
bool tracer_release_held(struct tracer *tracer, pid_t tid);
void tracer_release_all_held(struct tracer *tracer);
size_t tracer_held_count(const struct tracer *tracer);

/*
 * Sleeps until the moment `until_ns` (CLOCK_MONOTONIC), capturing and releasing
 * outstanding threads as they stop. A signal handler ends it early, but not always.
 */
void tracer_sleep_until(struct tracer *tracer, uint64_t until_ns);

/* Captures and releases what has stopped by now; waits for nothing. */
void tracer_poll(struct tracer *tracer);

/*
 * Finds outstanding threads that will never stop, because an exec has put another thread in
 * their place without a word to the tracer: their end becomes STOP_EXITED.
 */
void tracer_check(struct tracer *tracer);

/* Captures and releases what is outstanding, for at most `bound_ns`. */
void tracer_finish(struct tracer *tracer, uint64_t bound_ns);

/*
 * Around anything that may take long and is no affair of the tracer (a report, a line on a
 * terminal that Ctrl-S has stopped): what is outstanding and stops meanwhile is released at
 * once, by a handler of SIGCHLD, and its end becomes STOP_MISSED. System calls that
 * SA_RESTART does not restart may fail with EINTR. They nest.
 */
void tracer_pause(struct tracer *tracer);
void tracer_resume(struct tracer *tracer);

/* How many are seized: they would stand still while the caller does anything else. */
size_t tracer_outstanding(const struct tracer *tracer);

/* True and its wait status when the process is our child and has exited. */
bool tracer_exit_status(struct tracer *tracer, int *status);

const struct tracer_stats *tracer_stats(const struct tracer *tracer);

/* --- without a stop ---------------------------------------------------------- */

enum read_end {
	READ_CAPTURED, /* consistent: the thread did not run in between */
	READ_MOVED,    /* it ran meanwhile; or was running */
	READ_GONE,
	READ_FAILED,   /* the stack could not be read */
};

/*
 * Copies the stack of a sleeping thread whose counters were `before` and which
 * then was seen in `info`, and checks that it has not run since.
 */
enum read_end tracer_read_sleeper(const struct process *process, struct watch *watch,
				  const struct sched *before, const struct syscall_info *info,
				  size_t stack_want, struct snapshot *snapshot);

#endif
