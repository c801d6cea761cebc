/* SPDX-License-Identifier: MIT */
/*
 * tracer.h - takes snapshots of threads: seizes, stops, captures and releases them.
 *
 * A sleeping thread is read without a stop. A running thread is seized and interrupted; when it
 * stops, its registers and stack are copied (captured), and it is detached at once, unless it is to
 * be held (tracer_collect_held). So between samples nothing is traced. tracer_count.h adds a mode
 * in which threads stay seized.
 *
 * All stops of one tick (sampler.h) are requested first (tracer_ask), then collected in the order
 * in which the threads stop (tracer_collect). A thread that does not stop in time is waiting for a
 * CPU, and executes nothing until it gets one, or is in a long system call: its request stays
 * outstanding. Later calls capture and release the thread as soon as it stops; until then the
 * caller must not make a second request for it.
 *
 * If wallsample dies, the kernel detaches all seized threads and the target continues. PTRACE_SEIZE
 * is used, because PTRACE_ATTACH sends SIGSTOP and could leave the target stopped.
 */
#ifndef WALLSAMPLE_TRACER_TRACER_H
#define WALLSAMPLE_TRACER_TRACER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/base/error.h"
#include "wallsample/thread/state.h"
#include "wallsample/tracer/snapshot.h"

struct target_memory;

/* Outcome of a stop request. */
enum stop_end {
	STOP_CAPTURED,   /* the snapshot is valid */
	STOP_EXITED,     /* the thread exited before it could stop */
	STOP_DENIED,     /* EPERM: the thread is exiting, or another tracer traces it */
	STOP_LATE,       /* the thread has not stopped yet: the request is outstanding */
	STOP_MISSED,     /* released without a snapshot, by tracer_pause or tracer_count_stop */
	STOP_COMPAT32,   /* the thread runs 32-bit code; released, not to be stopped again */
	STOP_UNREADABLE, /* registers or counters were not readable; released */
};

/* What a stopped thread did at the tick: ran, waited for a CPU, or slept and was woken since. */
enum tick_state { TICK_RUNNING, TICK_QUEUED, TICK_ASLEEP };
/* Whether a thread was on a CPU when the timers of the tick expired; RAN: shortly before. */
enum occupied_thread { OCCUPIED_UNKNOWN, OCCUPIED_RUNNING, OCCUPIED_RAN, OCCUPIED_NOT_RUNNING };

/* Request to stop one thread, owned by the caller. It must be neither moved nor changed while its
 * end is STOP_LATE. */
struct stop_request {
	const struct process *process;      /* in: the thread's process */
	struct watch *watch;                /* in: for reading the thread's counters in the stop */
	const struct target_memory *memory; /* for reading the stack; NULL: all pages are read */
	struct sched before;                /* counters read before the request */
	size_t stack_want;                  /* bytes of stack to copy */
	uint64_t sp_before;                 /* stack pointer at an earlier sample; 0: none */
	uint64_t tick_ns, counters_ns;      /* when the tick began, and `before` was read */
	uint64_t occupied_ns[2]; /* when due; until when CPUs may have been taken; 0: not planned */
	enum occupied_thread occupied;
	struct snapshot snapshot; /* initialised by the caller, filled by the tracer */
	/* Called in the stop, after registers and stack are copied, for other reads that need the
	 * stop. Must take microseconds only; may be NULL. */
	void (*stopped)(void *context, pid_t tid, uint64_t sp);
	void *context;
	/* out */
	enum stop_end end;
	enum tick_state at_tick;
	bool fell_asleep;    /* the interrupt ended a sleep in `syscall` */
	bool group_stopped;  /* job control has stopped the thread, and keeps it stopped */
	bool held;           /* tracer_collect_held keeps the thread stopped */
	long syscall;        /* as returned by kernel_regs_syscall (regs_arch.h) */
	struct sched during; /* counters that were read while the thread was stopped */
	/* Upper bound of the duration of the stop, in ns. For a held thread only the part up to the
	 * end of the tracer_collect_held in which it stopped; 0 if it stopped after that call. */
	uint64_t stopped_ns;
	uint64_t kept_ns; /* lower bound of the duration of the stop; 0 for a held thread */
	/* private to the tracer */
	uint64_t asked_ns; /* when the thread was interrupted */
	uint64_t found_ns; /* a moment at which the thread was stopped already */
	int signal;        /* signal to be delivered with the release; 0: none */
};

struct tracer;
/* Counts since tracer_create. */
struct tracer_stats {
	uint64_t repaired;       /* system calls restarted in place of EINTR */
	uint64_t signals_passed; /* signals that arrived at a stop and were delivered */
};

/*
 * Creates a tracer of the threads of `process`, which is borrowed; to be freed with tracer_free.
 * Installs a handler of a timer signal, SIGRTMAX. The waits of the tracer reap every child of
 * wallsample that exits: only the exit status of `process` is kept, for tracer_exit_status. Returns
 * 0 or the error.
 */
int tracer_create(const struct process *process, struct tracer **out, struct error *err);

/* From now on, or until tracer_remove_process, requests may be made for threads of this process,
 * too. Breakpoints (tracer_count.h) are for the first process alone. */
void tracer_add_process(struct tracer *tracer, pid_t pid);
void tracer_remove_process(struct tracer *tracer, pid_t pid);

/*
 * Releases all seized threads and frees the tracer; NULL is allowed. Threads must stop to be
 * released: waits up to 2 s for those with an outstanding request, and without a bound for those
 * with breakpoints (tracer_count.h). A thread that stops after the 2 s is released by a handler of
 * SIGCHLD, or by the kernel when wallsample ends.
 */
void tracer_free(struct tracer *tracer);

/* Abandons an outstanding request, which the caller may free afterwards. Its thread is released
 * when it stops. */
void tracer_forget(struct tracer *tracer, const struct stop_request *request);

/* Reads the stack from request->sp_before on, to fill the CPU caches: the copy during the stop then
 * takes less time. To be called shortly before tracer_ask, for few requests. */
void tracer_prefetch(struct stop_request *request);

/* Seizes and interrupts the thread. Sets `end`: STOP_LATE; on failure STOP_EXITED or _DENIED. */
void tracer_ask(struct tracer *tracer, struct stop_request *request);

/*
 * Waits until all requests made since the previous call of this function or of tracer_collect_held
 * have ended, or `bound_ns` has passed; captures and releases each thread as it stops. With `hold`
 * all threads without a pending signal stay stopped until the last is captured or `bound_ns` has
 * passed, and held(context) has returned (`held` may be NULL). They are then released together.
 */
void tracer_collect(struct tracer *tracer, uint64_t bound_ns, bool hold, void (*held)(void *),
		    void *context);

/*
 * As tracer_collect, but threads that were running stay stopped (held) until the caller calls
 * tracer_release_held or tracer_release_all_held. `held` of the request is set, and the caller may
 * use the request for another stop. A thread that was asleep, that has a pending signal or that job
 * control has stopped is released at once. So is a thread that stops later than `bound_ns`, unless
 * tracer_hold_late was called.
 *
 * Threads may be held for milliseconds only. Before it waits for anything but this tracer, the
 * caller must release them, as tracer_pause does. A held thread that is killed is no longer held.
 */
void tracer_collect_held(struct tracer *tracer, uint64_t bound_ns);
/* From now on until tracer_release_all_held, running threads that stop late are held, too. */
void tracer_hold_late(struct tracer *tracer);
bool tracer_is_held(const struct tracer *tracer, pid_t tid);
/* Resumes a held thread. Returns false if it was not held. */
bool tracer_release_held(struct tracer *tracer, pid_t tid);
void tracer_release_all_held(struct tracer *tracer);
size_t tracer_held_count(const struct tracer *tracer);

/*
 * Sleeps until `until_ns` (CLOCK_MONOTONIC). Threads with an outstanding request that stop in this
 * time are captured and released. A signal handler may end the sleep early. If `tracer` is NULL,
 * this function only sleeps.
 */
void tracer_sleep_until(struct tracer *tracer, uint64_t until_ns);

/* Captures and releases, without waiting, the threads with a request that have stopped. */
void tracer_poll(struct tracer *tracer);

/*
 * Ends requests for threads that will never stop: when a thread calls exec, the kernel removes the
 * other threads, and does not always report that to the tracer. The end of these requests becomes
 * STOP_EXITED.
 */
void tracer_check(struct tracer *tracer);

/* Waits up to `bound_ns` until all threads with an outstanding request have stopped; captures and
 * releases those that stop. */
void tracer_finish(struct tracer *tracer, uint64_t bound_ns);

/*
 * The caller must call tracer_pause before anything that may take long without calls of the tracer
 * (a report, a line on a terminal that Ctrl-S has stopped), and tracer_resume after it.
 * tracer_pause releases all held threads and stops counting (tracer_count_stop). A thread with an
 * outstanding request that stops before tracer_resume is released at once, by a handler of SIGCHLD,
 * and the end of the request becomes STOP_MISSED. Because of that handler, system calls that
 * SA_RESTART does not restart may fail with EINTR meanwhile. Calls nest.
 */
void tracer_pause(struct tracer *tracer);
void tracer_resume(struct tracer *tracer);

/* Returns the number of threads that are held, or were interrupted and have not stopped yet, even
 * if tracer_forget has abandoned the request. 0 if `tracer` is NULL. */
size_t tracer_outstanding(const struct tracer *tracer);

/* Sets *status to the wait status and returns true when the process is a child of wallsample and
 * has exited. */
bool tracer_exit_status(struct tracer *tracer, int *status);
/* Returns the CPU time in ns of the children for which that process had waited; 0: not known, or it
 * has not exited. */
uint64_t tracer_exit_children_ns(const struct tracer *tracer);

const struct tracer_stats *tracer_stats(const struct tracer *tracer);

#endif
