/* SPDX-License-Identifier: MIT */
/*
 * pipeline_internal.h - the stages of a tick, and the order in which tick.c, the driver, calls
 * them.
 *
 * A tick passes an array of observations (values_internal.h) from stage to stage. All stages use
 * struct run (threads_internal.h): configuration, processes, threads, the tick. A stage that keeps
 * anything else has a struct of its own for it, and only the driver knows all these structs.
 *
 *   select     select.c. Threads that are due become observations, with their weights.
 *   observe    observe.c. Counters and system call are read from /proc; the stack of a sleeping
 *              thread is copied at once, without a stop. The outcome says which stages come next.
 *   capture    capture.c. All running threads are stopped, their registers and stacks are copied,
 *              and they are released. A thread that does not stop in time is late (late.c): its
 *              sample is completed at a later tick.
 *   unwind     unwind_sample.c. The copies become call chains, and these become stacks of the
 *              profile.
 *   attribute  attribute.c. The sample goes into the profile with its weight, and becomes the
 *              thread's last observation.
 *
 * Consumers are parts of the sampler that use attributed samples: charge.c divides the real time of
 * the tick, weights/ corrects the weights to the times that the kernel has counted, waits/
 * attributes waiters' time to lock holders and finds deadlocks, tasks/ samples green tasks and
 * reads coroutines, hold/ keeps threads stopped for virtual speed-ups.
 *
 * The order of the steps of a tick:
 *   1. late stops that have happened since the last tick: unwind, attribute
 *   2. the first threads. From the moment when the tick is due the CPUs of the target are occupied
 *      (occupy_internal.h), and threads are looked at, due ones and others (look_internal.h). Those
 *      that run, or will soon leave the stack in which they sleep, are observed; their stops are
 *      requested; the occupation ends; they are captured. This step is left out in a run that
 *      holds threads between ticks, and with stop_all or nonblocking (sampler_config)
 *   3. the processes: exec, mappings, code generated at run time. Then the first threads are
 *      unwound and attributed, runtimes are read, and threads are listed if they have changed
 *   4. select the other threads; for 32 of them at a time: observe, and attribute what needs no
 *      stack. As soon as 64 stacks of sleeping threads have been copied, these are unwound and
 *      attributed; with stop_all they are kept until step 6
 *   5. capture of the running ones among them; each is unwound and attributed
 *   6. unwind and attribute the remaining sleeping threads
 *   7. consumers: green tasks, waits, deadlocks, charge
 *   8. if the run holds threads between ticks: hold decides which threads stay stopped. Until then
 *      all are stopped: the time counts as held, whereas work after it would delay one thread
 *      only. With more than 100 threads this step comes before the previous one
 *   9. at the end of a window of about a second, for which the tick has observed all threads,
 *      weights
 * Between slow steps late_serve releases late threads that have stopped meanwhile; while a step
 * waits for a file of the target, they are released by a signal handler (file_wait.c). The buffers
 * for copies are taken from a pool when threads are observed, before the running ones are stopped.
 */
#ifndef WALLSAMPLE_SAMPLER_PIPELINE_INTERNAL_H
#define WALLSAMPLE_SAMPLER_PIPELINE_INTERNAL_H

#include "sampler/tasks/green_internal.h"
#include "sampler/threads_internal.h"

/* Sets the outcome FAILED: there is no stack, for the reason `failure`. */
static inline void
observation_fail(struct observation *observation, enum sample_failure failure)
{
	observation->outcome = OUTCOME_FAILED;
	observation->failure = failure;
}

/* Number of threads observed between two calls of late_serve, which releases late threads: most
 * observations take 1 us, some take 10 us. */
#define OBSERVED_AT_ONCE 32

/* --- observe.c ------------------------------------------------------------------------------- */

/* A thread that was scheduled in more often than once in this time is restless: its stack is copied
 * while the CPUs of the target are occupied, because it is likely to run soon after. */
#define RESTLESS_NS (2 * NS_PER_MS)
/* True if `now`, counters of the thread, show that it has been restless since its last
 * observation. */
static inline bool
observe_restless(const struct run *run, const struct sampled_thread *thread,
		 const struct sched *now)
{
	return (now->switches - thread->sched.switches) * RESTLESS_NS >
	       run->tick.time_ns - thread->last_ns;
}
/* Observes threads: sets `outcome` of the `count` observations, which select_observation has begun,
 * and the members that are valid with it (enum outcome). */
void observe_threads(struct run *run, struct observation *observation, size_t count);
/* Reads the state of a sleeping thread again if job control has stopped its process. Must be called
 * for threads that were observed before the tick read the state of the process. */
void observe_stopped_process(struct observation *observation);
/*
 * Captures the frames of language runtimes of a sleeping thread whose stack was copied. Returns
 * false if the thread has run since the copy, or its counters cannot be read. `stopped`: a thread
 * of the target is or may be stopped, so that only resident memory may be read.
 */
bool observe_runtimes(const struct observation *observation, bool stopped);

/* --- capture.c ------------------------------------------------------------------------------- */

/* Fills in the stop requests of the running threads of the array. Unless run->holds is set, also
 * reads the data that the first stops will read, so that the data are in the CPU caches. */
void capture_prepare(struct run *run, struct observation *observation, size_t count);
/* Stops the running threads of the array and copies their registers and stacks; its first call in a
 * tick ends the occupation. With stop_all, coroutines and green tasks are read while the threads
 * are stopped, and a sleeping thread that has run since its stack was copied is copied again.
 * `held`: some threads are held since an earlier tick. */
void capture_running(struct run *run, struct observation *observation, size_t count, bool held);
/* Stops one sleeping thread to read its registers, without which it cannot be unwound. Sets the
 * outcome: CAPTURED, FAILED or DEFERRED. */
void capture_registers(struct run *run, struct observation *observation);
/* Sets the outcome from the end of the stop request: CAPTURED, FAILED, or, if the stop is still
 * late, DEFERRED. */
void capture_settle(struct run *run, struct observation *observation);
/* Returns the reason for which a sample has failed if its stop request ended in this way;
 * FAILURE_COUNT if the thread was captured. */
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
 * Attributes, in the order of the array, the observations that need no stack. For each thread that
 * has run, or was woken, since its last observation, attributes past_samples and past_ns to that
 * observation. Does not change the outcome of observations that await capture or unwinding, or
 * whose stop is late.
 */
void attribute_observed(struct charging *charging, struct observation *observation, size_t count);
/* Attributes a sample that was unwound or has failed. */
void attribute_sample(struct charging *charging, struct observation *observation);
/* Attributes samples to the stack and state of the thread's last observation. If the thread was
 * runnable then, they are charged (charge_runnable); if it waited for a lock, they are attributed
 * to the holder, too (waits_blame). */
void attribute_time(struct charging *charging, struct sampled_thread *thread, int64_t samples,
		    int64_t weight_ns);
/* As attribute_time, for a stack that the thread has left since: nothing is charged, and the holder
 * of the lock is the one that was read last (waits_blame_last). */
void attribute_past(struct charging *charging, struct sampled_thread *thread, int64_t samples,
		    int64_t ns);
/* Marks a thread that has exited; the next listing of threads removes it. */
void attribute_exit(struct run *run, struct sampled_thread *thread);
/* Attributes the remaining time of a selected thread that leaves the list of threads: from its last
 * observation to the tick before the present one. */
void attribute_removed(struct charging *charging, struct sampled_thread *thread);

/* --- late.c: samples whose stop is late ------------------------------------------------------ */

/* Keeps the observation of a thread that has not stopped in time, with its buffers, in thread->late
 * until the thread has stopped. */
void late_begin(struct charging *charging, struct observation *observation);
/* Adds the time since the thread's last observation to its late sample. If the thread has exited,
 * attributes the late sample (late_drop) and marks the thread as exited. */
void late_observe(struct charging *charging, struct sampled_thread *thread);
/*
 * Returns true if the thread is late and its stop request has ended; with `give_up`, if the thread
 * is late. If the result is true, the time up to the latest tick was added to the sample, and the
 * caller must pass thread->late->observation to capture_settle, unwind and attribute it, and call
 * late_end. With `give_up`, a stop that has not happened (DEFERRED) is the failure FAILURE_LATE.
 */
bool late_has_ended(struct charging *charging, struct sampled_thread *thread, bool give_up);
/* Attributes the samples of the ticks after the stop request, and frees thread->late. */
void late_end(struct charging *charging, struct sampled_thread *thread);
/* Attributes the late samples of a thread that exited before its stack was copied, and frees
 * thread->late. No effect if the thread is not late. */
void late_drop(struct charging *charging, struct sampled_thread *thread);

#endif
