/* SPDX-License-Identifier: MIT */
/* unwind_sample.c - unwinds the copied stack of a thread into a call chain, and makes a stack of
 * the profile of it. */
#include <stdlib.h>
#include <string.h>

#include "sampler/pipeline_internal.h"

/* STACK_LEAST: fewest bytes of stack that are copied. STACK_MARGIN: bytes that are copied beyond
 * those that the last unwinding needed; sizes are multiples of it. */
#define STACK_LEAST ((size_t)8 << 10)
#define STACK_MARGIN ((size_t)4 << 10)

static void
unwind_snapshot(struct unwinding *unwinding, const struct observation *observation, bool may_stop)
{
	const uint64_t began = clock_now_ns();

	unwinder_walk(observation->thread->process->unwinder,
		      &observation->capture->request.snapshot, may_stop, &unwinding->chain);
	unwinding->run->stats.unwind_ns += clock_now_ns() - began;
	unwinding->run->stats.unwind_frames += unwinding->chain.count;
	runtime_capture_trim(observation->capture->runtime, &unwinding->chain);
}

/*
 * Sets the number of bytes of stack that the next capture of the thread copies: those that this
 * unwinding needed and a margin. The number grows at once to what was needed, or to 4 times its
 * value if the copy was too short. It shrinks by at most 1/64 for each unwound stack; because it is
 * then rounded up to a multiple of STACK_MARGIN, a number below 256 KiB does not shrink.
 */
static void
learn_stack_need(const struct unwinding *unwinding, struct sampled_thread *thread)
{
	const struct chain *chain = &unwinding->chain;
	size_t need = chain->stack_used + STACK_MARGIN;
	const size_t least = thread->stack_need - thread->stack_need / 64;
	const size_t limit = unwinding->run->config.stack_limit;

	if (chain->end == CHAIN_STACK_LIMIT)
		need = thread->stack_need * 4;
	else if (need < least)
		need = least;
	if (need < STACK_LEAST)
		need = STACK_LEAST;
	need = (need + STACK_MARGIN - 1) / STACK_MARGIN * STACK_MARGIN;
	thread->stack_need = need < limit ? need : limit;
}

/* Sets the results of the observation from the call chain: stack, green task, state of the
 * interpreter's lock. `asleep`: the thread still sleeps at that stack. */
static void
finish_unwinding(struct unwinding *unwinding, struct observation *observation, bool asleep)
{
	struct sampled_thread *thread = observation->thread;
	struct sampled_process *process = thread->process;
	struct runtime_capture *runtime = observation->capture->runtime;
	uint32_t root;

	learn_stack_need(unwinding, thread);
	observation->green_task = green_of_thread(process->green, runtime, &unwinding->chain,
						  &root);
	observation->stack = stacks_intern(&process->stacks, &unwinding->chain, runtime,
					   unwinding->run->tick.number, root);
	unwinding->run->stats.chains[runtime_capture_end(runtime, &unwinding->chain)]++;
	if (runtime != NULL)
		observation->gil = runtime_capture_gil(runtime, observation->info.number,
						       observation->info.args);
	observation->asleep = asleep;
	observation->outcome = OUTCOME_UNWOUND;
}

/*
 * True if a sleeping thread that was stopped has gone back to sleep and done nothing else: it was
 * scheduled in once and sleeps at the same place.
 */
static bool
sleeps_again(const struct run *run, struct observation *observation)
{
	struct sampled_thread *thread = observation->thread;
	const struct process *process = thread->process->process;
	struct syscall_info info;
	struct sched sched;

	if (watch_read_sched(&thread->watch, process, &sched) != WATCH_OK ||
	    watch_read_syscall(&thread->watch, process, &info) != WATCH_OK)
		return false;
	if (info.running || info.sp != observation->info.sp || info.pc != observation->info.pc ||
	    sched.switches != observation->capture->request.during.switches + 1)
		return false;
	thread_set_counters(run, thread, &sched);
	memcpy(observation->info.args, info.args, sizeof(observation->info.args));
	return true;
}

/* True if this sleeping thread may be stopped for its registers: its sleep is interruptible, a stop
 * does not disturb its system call, no earlier stop has read its registers (memo), its stop is not
 * late, it runs no 32-bit code, and the run is not nonblocking. */
static bool
may_stop_sleeping(const struct unwinding *unwinding, const struct observation *observation)
{
	const struct sampled_thread *thread = observation->thread;

	return unwinding->run->tracer != NULL && !thread->untouchable &&
	       (observation->state == RUN_SLEEPING ||
		(observation->fell_asleep && observation->slept == RUN_SLEEPING &&
		 syscall_sleeps_interruptible(observation->info.number))) &&
	       !syscall_minds_a_stop(observation->info.number) && thread->memo == NULL &&
	       thread->late == NULL;
}

/* Unwinds the stack of a sleeping thread. Bytes beyond the copy are read from the thread's memory.
 * Returns false if such bytes were read and the thread has run since it was copied. */
static bool
unwind_asleep(struct unwinding *unwinding, struct observation *observation, bool may_stop)
{
	observation->capture->request.snapshot.live_limit = unwinding->run->config.stack_limit;
	unwind_snapshot(unwinding, observation, may_stop);
	return !unwinding->chain.read_live || thread_is_unmoved(observation->thread);
}

void
unwind_sleeping(struct unwinding *unwinding, struct observation *observation)
{
	const bool may_stop = may_stop_sleeping(unwinding, observation);

	if (observation->moved || !unwind_asleep(unwinding, observation, may_stop)) {
		observation_fail(observation, FAILURE_MOVED);
		return;
	}
	if (unwinding->chain.end == CHAIN_NEEDS_REGISTER && may_stop) {
		observation->outcome = OUTCOME_REGISTERS;
		return;
	}
	unwinding->run->stats.read++;
	finish_unwinding(unwinding, observation, true);
}

/* Unwinds a thread whose sleep was interrupted by the stop. Such a thread usually sleeps again in
 * the same system call by now. Keeps the registers in thread->memo, for later sleeps at the same
 * place. */
static void
unwind_in_sleep(struct unwinding *unwinding, struct observation *observation)
{
	struct sampled_thread *thread = observation->thread;
	struct snapshot *snapshot = &observation->capture->request.snapshot;
	bool asleep;

	if (thread->memo == NULL)
		thread->memo = xmalloc(sizeof(*thread->memo));
	*thread->memo = snapshot->regs;
	asleep = sleeps_again(unwinding->run, observation) &&
		 unwind_asleep(unwinding, observation, false);
	if (!asleep) {
		/* The thread has run since the stop: the stack in its memory may differ from the
		 * copy. */
		snapshot->live_limit = 0;
		unwind_snapshot(unwinding, observation, false);
	}
	finish_unwinding(unwinding, observation, asleep);
}

void
unwind_captured(struct unwinding *unwinding, struct observation *observation)
{
	if (observation->in_sleep) {
		unwind_in_sleep(unwinding, observation);
		return;
	}
	unwind_snapshot(unwinding, observation, false);
	finish_unwinding(unwinding, observation, false);
}
