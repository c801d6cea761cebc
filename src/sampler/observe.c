/* SPDX-License-Identifier: MIT */
/* observe.c - reads the counters, the state and the system call of threads, and copies the stacks
 * of sleeping ones, without a stop. */
#include <math.h>

#include "sampler/occupy_internal.h"
#include "sampler/pipeline_internal.h"
#include "wallsample/tracer/sleeper.h"

/* Most attempts to read a sleeping thread, which may wake up between the reads. */
#define READ_ATTEMPTS 3

/* Differences of CPU times that is_another() ignores. The CPU time in schedstat may be up to a
 * scheduler tick (10 ms) too low, at each of two readings. */
#define OTHER_CPU_NS (20 * NS_PER_MS)

static void
observe_failed(struct observation *observation, enum sample_failure failure, enum run_state state)
{
	observation_fail(observation, failure);
	observation->state = state;
}

/*
 * Returns the state of a sleeping thread: SLEEPING, DISK, STOPPED or UNKNOWN. The thread's stat
 * file is read only if job control may have stopped the process, or if the sleep in this system
 * call may be uninterruptible.
 */
static enum run_state
sleep_state(const struct sampled_thread *thread, const struct syscall_info *info)
{
	struct task_stat stat;
	enum run_state state;

	if (thread->process->leader_state != 'T' && syscall_sleeps_interruptible(info->number))
		return RUN_SLEEPING;
	if (!process_read_task_stat(thread->process->process, thread->watch.tid, &stat))
		return RUN_SLEEPING;
	state = run_state_from_letter(stat.state);
	/* A thread that runs now has woken since its stack was copied: the sample is of its
	 * sleep. */
	return state == RUN_RUNNING ? RUN_SLEEPING : state;
}

void
observe_stopped_process(struct observation *observation)
{
	if (observation->outcome != OUTCOME_SLEEPING ||
	    observation->thread->process->leader_state != 'T')
		return;
	*(observation->fell_asleep ?
		  &observation->slept :
		  &observation->state) = sleep_state(observation->thread, &observation->info);
}

bool
observe_runtimes(const struct observation *observation, bool stopped)
{
	struct sampled_thread *thread = observation->thread;
	struct capture_buffer *capture = observation->capture;

	if (capture->runtime == NULL || !runtimes_any(thread->process->runtimes))
		return true;
	runtime_capture_take(capture->runtime, thread->watch.tid, capture->request.snapshot.regs.sp,
			     stopped);
	return thread_is_unmoved(thread);
}

/* Returns the reader for resident pages, which must be used while a thread is stopped or asked to
 * stop; NULL if no thread is. */
static const struct target_memory *
resident_reader_if_stopped(const struct run *run, const struct sampled_thread *thread)
{
	return tracer_outstanding(run->tracer) > 0 ? &thread->process->memory : NULL;
}

/* Copies the stack of a sleeping thread and sets the outcome: SLEEPING, or FAILED if the thread has
 * exited or is not readable. Returns false, without an outcome, if the thread has run since its
 * counters were read. */
static bool
copy_sleeping(struct run *run, struct observation *observation)
{
	struct sampled_thread *thread = observation->thread;
	const struct syscall_info *info = &observation->info;
	struct snapshot *snapshot;
	enum read_end end;

	observation->capture = capture_acquire(thread);
	observation->counters_ns = clock_now_ns();
	snapshot = &observation->capture->request.snapshot;
	end = tracer_read_sleeper(thread->process->process, resident_reader_if_stopped(run, thread),
				  &thread->watch, &thread->sched, info, thread->stack_need,
				  snapshot);
	if (end == READ_CAPTURED &&
	    !observe_runtimes(observation, tracer_outstanding(run->tracer) > 0))
		end = READ_MOVED;
	if (end != READ_CAPTURED) {
		capture_return(observation);
		if (end == READ_MOVED)
			return false;
		observe_failed(observation, end == READ_GONE ? FAILURE_EXITED : FAILURE_UNREADABLE,
			       RUN_UNKNOWN);
		observation->exited = end == READ_GONE;
		return true;
	}
	if (thread->memo != NULL && thread->memo->sp == info->sp && thread->memo->pc == info->pc)
		snapshot->regs = *thread->memo;
	observation->outcome = OUTCOME_SLEEPING;
	observation->state = sleep_state(thread, info);
	if (observation->fell_asleep) {
		observation->slept = observation->state;
		observation->state = RUN_RUNNING;
	}
	observation->info.number = thread_syscall(thread, info);
	return true;
}

/* Sets fell_asleep and importance, and copies the stack as copy_sleeping does. */
static bool
observe_sleeping(struct run *run, struct observation *observation)
{
	const struct sampled_thread *thread = observation->thread;

	observation->fell_asleep = observation->occupied == OCCUPIED_RUNNING ||
				   observation->occupied == OCCUPIED_RAN;
	observation->importance = observation->fell_asleep ? IMPORTANCE_ROUGH : 1.0;
	if (thread->process->runtimes != NULL)
		runtimes_seek(thread->process->runtimes, thread->watch.tid);
	return copy_sleeping(run, observation);
}

/* Reads whether a running thread that is not stopped holds an interpreter's lock, and which green
 * task it runs. Frames of the interpreter are not read, because they would change meanwhile. */
static void
observe_lock(struct observation *observation)
{
	static const uint64_t no_args[6];
	struct sampled_process *process = observation->thread->process;
	uint32_t root;

	if (process->runtimes == NULL || !runtimes_any(process->runtimes))
		return;
	runtime_capture_take(process->lock_capture, observation->thread->watch.tid, 0, false);
	observation->gil = runtime_capture_gil(process->lock_capture, SYSCALL_NONE, no_args);
	observation->green_task = green_of_thread(process->green, process->lock_capture, NULL,
						  &root);
}

static void
observe_running(struct run *run, struct observation *observation)
{
	struct sampled_thread *thread = observation->thread;

	if (run->tracer == NULL || run->tick.stops_no_thread || spare_has(run, thread)) {
		observe_lock(observation);
		observe_failed(observation, FAILURE_NOT_STOPPED, RUN_RUNNING);
		/* The sample has no stack: samples of other ticks outweigh it. */
		if (run->tick.stops_no_thread)
			observation->importance = IMPORTANCE_ROUGH;
	} else if (thread->untouchable) {
		observe_failed(observation, FAILURE_UNREADABLE, RUN_RUNNING);
	} else {
		observation->outcome = OUTCOME_RUNNING;
		observation->state = RUN_RUNNING;
		observation->capture = capture_acquire(thread);
	}
	observation->counters_ns = observation->look.settled ? observation->look.at_ns :
							       clock_now_ns();
}

/* Observes a sleeping thread without its stack. For runs that hold threads between ticks: they do
 * not use the stacks of sleeping threads, and reading these would take CPU time from running
 * threads. */
static void
observe_without_stack(struct observation *observation)
{
	struct sampled_thread *thread = observation->thread;

	thread->mark.waits = waits_word(&observation->info) != 0;
	observation->gil = thread->gil;
	observation->green_task = thread->green_task;
	observation->asleep = true;
	observe_failed(observation, FAILURE_NOT_STOPPED, RUN_SLEEPING);
}

/* Reads the thread's system call, or uses the settled look. */
static enum watch_end
read_call(struct observation *observation)
{
	struct sampled_thread *thread = observation->thread;
	const struct look *look = &observation->look;
	enum watch_end end;

	if (look->settled && look->taken) {
		observation->info = look->call;
		return WATCH_OK;
	}
	end = thread_read_call(thread, &thread->sched, &observation->info);
	if (end == WATCH_OK)
		look_compare(observation, &thread->sched, &observation->info);
	return end;
}

/* Reads the counters of a thread that has run since the tick has looked at it or read it. */
static enum watch_end
read_again(struct observation *observation)
{
	struct sampled_thread *thread = observation->thread;

	observation->look.settled = false;
	observation->occupied = OCCUPIED_UNKNOWN;
	return watch_read_sched(&thread->watch, thread->process->process, &thread->sched);
}

/* Reads the thread's system call, copies its stack if it sleeps, and sets the outcome. Returns
 * false, without an outcome, if the thread woke or fell asleep while it was read. */
static bool
observe_call(struct run *run, struct observation *observation)
{
	switch (read_call(observation)) {
	case WATCH_OK:
		break;
	case WATCH_MOVING:
		return false;
	case WATCH_GONE:
		observe_failed(observation, FAILURE_EXITED, RUN_UNKNOWN);
		observation->exited = true;
		return true;
	default: /* usually EPERM: an exiting thread has given up its memory */
		observe_failed(observation, FAILURE_DENIED, RUN_UNKNOWN);
		return true;
	}
	if (observation->info.running)
		observe_running(run, observation);
	else if (run->holds)
		observe_without_stack(observation);
	else
		return observe_sleeping(run, observation);
	return true;
}

/* Sets the outcome of a selected thread that has run since its last observation, or has not been
 * observed before. If READ_ATTEMPTS reads fail because the thread wakes or falls asleep meanwhile,
 * or its counters become unreadable, the outcome is FAILED (FAILURE_MOVED). */
static void
observe_closely(struct run *run, struct observation *observation)
{
	for (int attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
		if (observe_call(run, observation))
			return;
		if (read_again(observation) != WATCH_OK)
			break;
	}
	observe_failed(observation, FAILURE_MOVED, RUN_SLEEPING);
}

/*
 * Reads the state and the system call of a thread that is not selected: the state, because it
 * counts if it is runnable, and the call, because it may hold a lock that a selected thread waits
 * for, and may itself wait for one.
 */
static void
observe_unselected(struct observation *observation)
{
	observation->outcome = OUTCOME_UNSELECTED;
	observation->state = RUN_UNKNOWN;
	if (read_call(observation) == WATCH_OK)
		observation->state = observation->info.running ? RUN_RUNNING : RUN_SLEEPING;
}

/* True if the thread was on a CPU and the search of this tick may find such threads, due or not. */
static bool
is_found(const struct run *run, const struct observation *observation)
{
	return run->tick.searched > 0 && look_seeks(observation->thread) &&
	       observation->occupied == OCCUPIED_RUNNING && observation->look.settled &&
	       observation->look.call.running;
}

/*
 * Returns the number of ticks for which an observation stands: 1 / the probability that this tick
 * observes the thread. Each tick does so with a probability of 1/period; a tick that searches also
 * finds a thread that is on a CPU and not due, with the probability tick.searched. A number that is
 * not whole is rounded at random.
 */
static int64_t
ticks_of_changed(struct run *run, const struct observation *observation)
{
	const uint32_t period = observation->thread->period;
	const double missed = (1 - 1.0 / period) * (1 - run->tick.searched);
	const double ticks = 1 / (1 - missed);

	if (!is_found(run, observation))
		return period;
	return (int64_t)ticks + (rng_uniform(&run->rng) < ticks - floor(ticks));
}

/* Sets the weights of an observation of a thread that has run since its last observation, as the
 * comment on select_observation (select.c) explains. */
static void
weigh_changed(struct run *run, struct observation *observation)
{
	const struct sampled_thread *thread = observation->thread;
	int64_t ticks, weight_ns;

	if (!thread->seen || !(thread->backed_off || (thread->asleep && run->searches)))
		return;
	ticks = ticks_of_changed(run, observation);
	weight_ns = ticks * (int64_t)run->tick.span_ns;
	if (thread->selected && observation->samples != ticks) {
		observation->past_samples = observation->samples - ticks;
		observation->past_ns = observation->weight_ns - weight_ns;
	}
	/* For charge.c a thread with one sample is observed at each tick, and its cpu_ns counts. */
	if (ticks != 1)
		observation->cpu_ns = 0;
	else if (observation->samples != 1 && is_found(run, observation))
		observation->cpu_ns = run->tick.span_ns;
	observation->samples = ticks;
	observation->weight_ns = weight_ns;
}

static void
observe_changed(struct run *run, struct observation *observation, const struct sched *sched,
		enum watch_end end)
{
	struct sampled_thread *thread = observation->thread;

	observation->changed = true;
	observation->thread->process->stirred = true;
	if (end == WATCH_GONE) {
		/* The thread has exited since the previous tick: its time up to that tick is
		 * attributed. */
		observation->outcome = OUTCOME_GONE;
		if (thread->seen && thread->selected) {
			observation->past_samples = observation->samples - 1;
			observation->past_ns = observation->weight_ns - (int64_t)run->tick.span_ns;
		}
		return;
	}
	weigh_changed(run, observation);
	if (end == WATCH_OK) {
		thread_set_counters(run, thread, sched);
		observation->renamed = threads_count_capture(run, thread);
	}
	if (!thread->selected)
		observe_unselected(observation);
	else if (end == WATCH_OK)
		observe_closely(run, observation);
	else
		observe_failed(observation, FAILURE_DENIED, RUN_UNKNOWN);
}

/*
 * True if the thread is the first one of its process, and another thread has probably taken its id
 * by an exec. One of these signs is enough:
 *   - A counter is smaller than at the last observation.
 *   - The CPU time has grown by more than the time since then. If the thread ran then, the process
 *     must have lost threads, too: on a CPU without a scheduler tick (nohz_full) the CPU time of a
 *     running thread is counted once a second.
 *   - The thread did not run then, and the process has called exec since. If the first thread
 *     itself has woken up and called exec, the result is wrong; then the CPU time that it has used
 *     since it woke up counts as "CPU time without a sample".
 * The last two signs need a difference of at least OTHER_CPU_NS. weights/weigh.c compares counters,
 * too, because those of a window may be from a late sample.
 */
static bool
is_another(const struct sampled_thread *thread, const struct sched *now)
{
	const struct sampled_process *process = thread->process;
	const bool rested = thread->asleep || thread->state != RUN_RUNNING;
	struct task_stat stat;
	uint64_t used;

	if (!thread->seen || thread->watch.tid != process->process->pid)
		return false;
	if (now->cpu_ns < thread->sched.cpu_ns || now->switches < thread->sched.switches)
		return true;
	used = now->cpu_ns - thread->sched.cpu_ns;
	if (used < OTHER_CPU_NS ||
	    !process_read_task_stat(process->process, thread->watch.tid, &stat))
		return false;
	if ((rested || stat.num_threads < thread->process_threads) &&
	    used > clock_now_ns() - thread->last_ns + OTHER_CPU_NS)
		return true;
	/* The exec may be later than sampled_process_read of this tick. */
	return rested && (thread->process_execs != process->execs ||
			  (stat.start_stack > 1 && stat.start_stack != process->start_stack));
}

/* Sets `woken` of a thread that was asleep at its last observation. If it is woken, reads *sched
 * again: only if that is unchanged, the thread had no CPU when its state was read. */
static enum watch_end
observe_woken(const struct run *run, struct observation *observation, struct sched *sched)
{
	struct sampled_thread *thread = observation->thread;

	if (observation->look.settled)
		observation->woken = observation->look.woken;
	else if (observation->look.at_ns == 0 || observation->look.woken)
		observation->woken = thread_is_woken(run, thread);
	if (observation->look.settled || !observation->woken)
		return WATCH_OK;
	return watch_read_sched(&thread->watch, thread->process->process, sched);
}

static void
observe_thread(struct run *run, struct observation *observation)
{
	struct sampled_thread *thread = observation->thread;
	const uint64_t cpu_ns = (thread->seen ? &thread->sched : &thread->window.counted)->cpu_ns;
	struct sched sched = observation->look.sched;
	enum watch_end end = WATCH_OK;

	run->stats.looks++;
	if (thread->late != NULL || thread->held) {
		observation->outcome = thread->late != NULL ? OUTCOME_LATE : OUTCOME_HELD;
		return;
	}
	if (!observation->look.settled)
		end = watch_read_sched(&thread->watch, thread->process->process, &sched);
	if (end == WATCH_OK && thread->asleep && sched.switches == thread->sched.switches)
		end = observe_woken(run, observation, &sched);
	if (end == WATCH_OK && is_another(thread, &sched))
		end = WATCH_GONE;
	if (end == WATCH_OK && observation->samples == 1 && sched.cpu_ns > cpu_ns)
		observation->cpu_ns = sched.cpu_ns - cpu_ns;
	if (end == WATCH_OK && sched_differ(&sched, &thread->sched))
		thread->window.moved_ns = thread->last_ns;
	if (end != WATCH_OK || !thread->asleep || sched.switches != thread->sched.switches) {
		observe_changed(run, observation, &sched, end);
		return;
	}
	observation->outcome = OUTCOME_UNCHANGED;
	if (observation->woken && !thread->woken)
		weigh_changed(run, observation);
}

void
observe_threads(struct run *run, struct observation *observation, size_t count)
{
	for (size_t i = 0; i < count; i++)
		observe_thread(run, &observation[i]);
}
