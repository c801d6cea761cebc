/* SPDX-License-Identifier: MIT */
/*
 * pipeline_internal.h - the stages of a tick, and the order in which the driver calls them.
 *
 * A tick passes an array of observations (values_internal.h) from stage to stage. A stage has a
 * context of its own and sees no other; nothing but the driver (tick.c) knows all of them. Threads,
 * processes and the tick itself are values that all stages read.
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
#include "sampler/values_internal.h"

/* --- observe.c ------------------------------------------------------------------------------- */

struct observer {
	const struct tick *tick; /* borrowed, as all pointers in these contexts */
	struct thread_list *threads;
	const struct hold *hold;
	const struct late_stops *late;
	struct run_stats *stats;
	bool stops; /* running threads are stopped; otherwise they have no stack */
};

/* Observes threads that were selected: sets everything but the results of unwinding. */
void observe_threads(struct observer *observer, struct observation *observation, size_t count);
/*
 * Captures the runtime frames of a sleeping thread whose stack was copied. Returns false if it has
 * run since. `stopped`: some thread of the target is or may be stopped.
 */
bool observe_runtimes(const struct observation *observation, bool stopped);

/* --- capture.c ------------------------------------------------------------------------------- */

struct capturer {
	struct tracer *tracer; /* NULL: nothing is stopped */
	const struct process_list *processes;
	const struct pace *pace;
	const struct hold *hold;
	const struct late_stops *late;
	struct thread_list *threads;
	struct coroutines *coroutines;
	struct run_stats *stats;
	bool stop_all; /* all threads stay stopped until the last is captured */
};

/* Fills in the stop requests of all running threads, and warms the caches for their reads. */
void capture_prepare(struct capturer *capturer, struct observation *observation, size_t count);
/* Stops and copies them. With stop_all, copies sleeping threads that have run meanwhile again. */
void capture_running(struct capturer *capturer, struct observation *observation, size_t count);
/* Stops one sleeping thread for its registers, without which it cannot be unwound. */
void capture_registers(struct capturer *capturer, struct observation *observation);
/* Sets the outcome from the end of the request: captured, failed, or still late (deferred). */
void capture_settle(struct capturer *capturer, struct observation *observation);

/* --- unwind_sample.c ------------------------------------------------------------------------- */

struct unwinding {
	const struct tick *tick;
	struct run_stats *stats;
	size_t stack_limit; /* most bytes of stack to read */
	bool may_stop;      /* sleeping threads can be stopped for their registers */
	struct chain chain; /* owned: of the last unwinding */
};

/* Unwinds a sleeping thread. Sets the outcome: UNWOUND, FAILED or REGISTERS. */
void unwind_sleeping(struct unwinding *unwinding, struct observation *observation);
/* Unwinds a captured thread. Sets the outcome to UNWOUND. */
void unwind_captured(struct unwinding *unwinding, struct observation *observation);

/* --- attribute.c ----------------------------------------------------------------------------- */

struct attribution {
	struct selection *selection;
	struct thread_list *threads;
	struct charging *charging;
	struct thread_records *records;
	struct profile *profile;
	struct run_stats *stats;
};

/* Attributes the observations that need no stack, and the past time of all, in the order of the
 * array. Keeps the outcome of those that await capture or unwinding, or whose stop is late. */
void attribute_observed(struct attribution *attribution, struct observation *observation,
			size_t count);
/* Attributes a sample that was unwound or failed. */
void attribute_sample(struct attribution *attribution, struct observation *observation);
/* Attribute samples to the thread's last observation: of any state; of a thread that counts as
 * runnable at this tick; of a sleep that has ended. */
void attribute_time(struct attribution *attribution, struct sampled_thread *thread, int64_t samples,
		    int64_t weight_ns);
void attribute_runnable(struct attribution *attribution, struct sampled_thread *thread,
			int64_t samples, int64_t weight_ns);
void attribute_past(struct attribution *attribution, struct sampled_thread *thread, int64_t samples,
		    int64_t ns);
/* Marks a thread that has exited; the next listing of threads removes it. */
void attribute_exit(struct attribution *attribution, struct sampled_thread *thread);
/* Attributes the time up to the last tick of a thread that a listing has removed. */
void attribute_removed(struct attribution *attribution, struct sampled_thread *thread);

/* --- late.c ---------------------------------------------------------------------------------- */

struct late_stage {
	struct late_stops *stops;
	const struct tick *tick;
	struct attribution *attribution;
};

/* Keeps a deferred observation, with its buffers, until the thread has stopped. */
void late_begin(struct late_stage *stage, struct observation *observation);
/* Adds this tick to the late sample. The stop may have happened since the tick began, or the thread
 * may have exited. */
void late_observe(struct late_stage *stage, struct sampled_thread *thread);
/*
 * Returns true if the stop has happened. Then the sample includes the time up to this tick, and the
 * caller must capture, unwind and attribute thread->late->observation and call late_end. With
 * `give_up` the result is always true, and a stop that has not happened is a failure.
 */
bool late_has_ended(struct late_stage *stage, struct sampled_thread *thread, bool give_up);
void late_end(struct late_stage *stage, struct sampled_thread *thread);
/* Attributes the late samples of a thread that exited before its stack was copied. */
void late_drop(struct late_stage *stage, struct sampled_thread *thread);

#endif
