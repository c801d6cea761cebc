/* SPDX-License-Identifier: MIT */
/*
 * pipeline_internal.h - the stages of a tick, and the order in which the driver calls them.
 *
 * A tick passes an array of observations (values_internal.h) from stage to stage. Stages share
 * struct run (threads_internal.h): configuration, processes, threads, the tick. A stage or consumer
 * that keeps anything else has a context of its own; nothing but the driver (tick.c) knows all
 * contexts.
 *
 *   select     select.c. Threads that are due become observations, with their weights.
 *   observe    observe.c. Counters and system call from /proc; the stack of a sleeping thread is
 *              copied at once, without a stop. The outcome says which stages come next.
 *   capture    capture.c. All running threads are stopped, copied and released. A thread that does
 *              not stop in time is late (late.c): its sample is completed at a later tick.
 *   unwind     unwind_sample.c. Copies become call chains, then stacks of the profile.
 *   attribute  attribute.c. The sample goes into the profile with its weight, and becomes the
 *              thread's last observation.
 *
 * Consumers use attributed samples: charge.c divides the real time of the tick, waits/ attributes
 * waiters' time to lock holders and finds deadlocks, tasks/ samples green tasks and reads
 * coroutines, hold/ keeps threads stopped for virtual speed-ups. The profile's recorder is called
 * by the profile.
 *
 * The order of a tick. It fixes which data are read before any stop:
 *   1. late stops that have happened since the last tick: unwind, attribute
 *   2. the processes: exec, mappings, code made at run time, language runtimes; the thread list
 *   3. select; then in chunks of 32 threads: observe, attribute what needs no stack. When 64
 *      stacks of sleeping threads are copied: unwind, attribute (not with stop_all)
 *   4. capture of all running threads; each is unwound and attributed
 *   5. hold: its decision, while all are stopped
 *   6. unwind, attribute the remaining sleeping threads
 *   7. consumers: green tasks, waits, deadlocks, charge
 * Between slow steps late_serve releases late threads that have stopped meanwhile.
 *
 * No stage allocates memory while a thread is stopped: buffers are taken in step 3 and reused.
 */
#ifndef WALLSAMPLE_SAMPLER_PIPELINE_INTERNAL_H
#define WALLSAMPLE_SAMPLER_PIPELINE_INTERNAL_H

#include "sampler/tasks/green_internal.h"
#include "sampler/threads_internal.h"

/* Marks the observation as failed: it has no stack, for the reason `failure`. */
static inline void
observation_fail(struct observation *observation, enum sample_failure failure)
{
	observation->outcome = OUTCOME_FAILED;
	observation->failure = failure;
}

/* --- observe.c ------------------------------------------------------------------------------- */

/* Observes threads that were selected: sets all members but the results of unwinding. */
void observe_threads(struct run *run, struct observation *observation, size_t count);
/*
 * Captures the runtime frames of a sleeping thread whose stack was copied. Returns false if the
 * thread has run since. `stopped`: a thread of the target is or may be stopped, so that only
 * resident memory is read.
 */
bool observe_runtimes(const struct observation *observation, bool stopped);

/* --- capture.c ------------------------------------------------------------------------------- */

/* Fills in the stop requests of all running threads, and fills the CPU caches with data that the
 * stops will read. */
void capture_prepare(struct run *run, struct observation *observation, size_t count);
/* Stops and copies all running threads. With stop_all, a sleeping thread that has run since it was
 * copied is copied again. `held`: threads have been held since an earlier tick. */
void capture_running(struct run *run, struct observation *observation, size_t count, bool held);
/* Stops one sleeping thread for its registers, without which it cannot be unwound. */
void capture_registers(struct run *run, struct observation *observation);
/* Sets the outcome from the end of the stop request: captured, failed, or still late (deferred). */
void capture_settle(struct run *run, struct observation *observation);
/* Returns the failure of a sample whose stop request has this end; FAILURE_COUNT if the thread was
 * captured. */
enum sample_failure capture_failure(const struct stop_request *request);

/* --- unwind_sample.c ------------------------------------------------------------------------- */

struct unwinding {
	struct run *run;    /* borrowed */
	struct chain chain; /* owned: result of the last unwinding */
};

/* Unwinds a sleeping thread. Sets the outcome: UNWOUND, FAILED or REGISTERS. */
void unwind_sleeping(struct unwinding *unwinding, struct observation *observation);
/* Unwinds a captured thread. Sets the outcome to UNWOUND. */
void unwind_captured(struct unwinding *unwinding, struct observation *observation);

/* --- attribute.c: samples become part of the profile, and runnable ones are charged ---------- */

/*
 * Attributes, in the order of the array, the observations that need no stack, and the past time
 * (past_ns) of all observations. Does not change the outcome of observations that await capture or
 * unwinding, or whose stop is late.
 */
void attribute_observed(struct charging *charging, struct observation *observation, size_t count);
/* Attributes a sample that was unwound or has failed. */
void attribute_sample(struct charging *charging, struct observation *observation);
/* Attributes samples to the stack and state of the thread's last observation, and charges them if
 * the thread was runnable. */
void attribute_time(struct charging *charging, struct sampled_thread *thread, int64_t samples,
		    int64_t weight_ns);
/* Attributes samples to the stack and state of the thread's last observation, which the thread has
 * left since. Nothing is charged. */
void attribute_past(struct charging *charging, struct sampled_thread *thread, int64_t samples,
		    int64_t ns);
/* Marks a thread that has exited; the next listing of threads removes it. */
void attribute_exit(struct run *run, struct sampled_thread *thread);
/* Attributes the time, up to the last tick, of a thread that is no longer in the list of
 * threads. */
void attribute_removed(struct charging *charging, struct sampled_thread *thread);

/* --- late.c: samples whose stop is late ------------------------------------------------------ */

/* Keeps a deferred observation, with its buffers, until the thread has stopped. */
void late_begin(struct charging *charging, struct observation *observation);
/* Adds this tick to the thread's late sample. If the thread has exited, attributes the late sample
 * (late_drop) and the exit. */
void late_observe(struct charging *charging, struct sampled_thread *thread);
/*
 * Returns true if the stop of a late thread has happened. Then the sample includes the time up to
 * this tick, and the caller must capture, unwind and attribute thread->late->observation and call
 * late_end. With `give_up` the result is true for every late thread, and a stop that has not
 * happened is a failure.
 */
bool late_has_ended(struct charging *charging, struct sampled_thread *thread, bool give_up);
void late_end(struct charging *charging, struct sampled_thread *thread);
/* Attributes the late samples of a thread that exited before its stack was copied. */
void late_drop(struct charging *charging, struct sampled_thread *thread);

#endif
