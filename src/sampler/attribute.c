/* SPDX-License-Identifier: MIT */
/* attribute.c - the stacks of a tick: walks what was copied. */
#include "sampler/pipeline_internal.h"

static void
walk(struct sampler *sampler, const struct snapshot *snapshot, bool may_stop)
{
	uint64_t began = clock_now_ns();

	unwinder_walk(sampler->unwinder, snapshot, may_stop, &sampler->chain);
	sampler->stats.unwind_ns += clock_now_ns() - began;
	sampler->stats.unwind_frames += sampler->chain.count;
}

/* How much to copy next time: what was needed and a margin, slowly less, quickly more. */
static void
learn_stack_need(struct sampler *sampler, struct tracked *thread)
{
	const struct chain *chain = &sampler->chain;
	size_t need = chain->stack_used + STACK_MARGIN;
	size_t least = thread->stack_need - thread->stack_need / 64;

	if (chain->end == CHAIN_STACK_LIMIT)
		need = thread->stack_need * 4;
	else if (need < least)
		need = least;
	if (need < STACK_LEAST)
		need = STACK_LEAST;
	need = (need + STACK_MARGIN - 1) / STACK_MARGIN * STACK_MARGIN;
	thread->stack_need =
		need < sampler->config.stack_limit ? need : sampler->config.stack_limit;
}

/*
 * In a build without a lock all threads may be held, those too that sleep: they then sleep on in
 * the same call, and it is no wait of that kind any more.
 */
static bool
waits_for_moment(const struct tracked *thread)
{
	return thread->gil == GIL_WAIT && thread->wait.what.kind != WAIT_GIL;
}

/* The walk's result becomes what the thread is seen doing. */
static void
finish(struct sampler *sampler, struct pending *pending, bool asleep)
{
	struct tracked *thread = pending->thread;

	learn_stack_need(sampler, thread);
	sampler->stats.chains[sampler->chain.end]++;
	thread->stack = stack_intern(sampler, &sampler->chain, pending->capture,
				     tasks_of_thread(sampler, thread, pending->capture));
	thread->gil = GIL_UNKNOWN;
	if (pending->capture != NULL)
		thread->gil = runtime_capture_gil(pending->capture, pending->info.number,
						  pending->info.args);
	thread->state = pending->state;
	thread->syscall = run_state_runnable(pending->state) ? SYSCALL_NONE : pending->info.number;
	if (!run_state_runnable(pending->state))
		waits_classify(sampler, thread, pending->state, &pending->info);
	thread->sp = pending->info.sp;
	thread->pc = pending->info.pc;
	if (run_state_runnable(pending->state))
		credit_runnable(sampler, thread, pending->samples, pending->weight_ns);
	else
		credit(sampler, thread, pending->samples, pending->weight_ns);
	look_settle(sampler, thread, asleep && !waits_for_moment(thread));
}

void
sample_failed(struct sampler *sampler, struct tracked *thread, enum sample_failure failure,
	      enum run_state state, int64_t samples, int64_t weight_ns)
{
	thread->stack = stack_of_failure(sampler, failure);
	if (failure != FAILURE_NOT_STOPPED) {
		thread->gil = GIL_UNKNOWN;
		thread->task = THREAD_NONE;
	}
	thread->wait.id = 0;
	thread->state = state;
	thread->syscall = SYSCALL_NONE;
	if (run_state_runnable(state))
		credit_runnable(sampler, thread, samples, weight_ns);
	else
		credit(sampler, thread, samples, weight_ns);
	sampler->stats.failed[failure] += (uint64_t)samples;
	look_settle(sampler, thread, false);
}

static void
fail(struct sampler *sampler, struct pending *pending, enum sample_failure failure)
{
	sample_failed(sampler, pending->thread, failure, pending->state, pending->samples,
		      pending->weight_ns);
}

/*
 * After its stop a sleeper goes back to sleep by itself. It has done nothing else if it
 * was scheduled in once and sleeps at the same place.
 */
static bool
sleeps_again(struct sampler *sampler, struct pending *pending)
{
	struct tracked *thread = pending->thread;
	struct syscall_info info;
	struct sched sched;

	if (watch_read_sched(&thread->watch, sampler->process, &sched) != LOOK_OK ||
	    watch_read_syscall(&thread->watch, sampler->process, &info) != LOOK_OK)
		return false;
	if (info.running || info.sp != pending->info.sp || info.pc != pending->info.pc ||
	    sched.switches != pending->request->during.switches + 1)
		return false;
	thread->sched = sched;
	memcpy(pending->info.args, info.args, sizeof(pending->info.args));
	return true;
}

static void
count_stop(struct sampler *sampler, const struct stop_request *request)
{
	histogram_add(&sampler->stats.stop_ns, request->stopped_ns);
	sampler->stats.stopped++;
}

/* May this sleeper be stopped for the sake of its registers? Never in a system call that
 * a stop would disturb. */
static bool
may_stop_sleeper(const struct sampler *sampler, const struct pending *pending)
{
	return sampler->tracer != NULL && !pending->thread->untouchable &&
	       pending->state == RUN_SLEEPING &&
	       !syscall_minds_a_stop(pending->info.number) && pending->thread->memo == NULL &&
	       pending->thread->late == NULL;
}

/* Walks a stack of which more than the copy may be read, because its thread sleeps. False
 * when it turned out not to. */
static bool
walk_asleep(struct sampler *sampler, struct pending *pending, bool may_stop)
{
	struct tracked *thread = pending->thread;
	struct sched after;

	pending->request->snapshot.live_limit = sampler->config.stack_limit;
	walk(sampler, &pending->request->snapshot, may_stop);
	return !sampler->chain.read_live ||
	       (watch_read_sched(&thread->watch, sampler->process, &after) == LOOK_OK &&
		after.switches == thread->sched.switches);
}

/* A stopped thread that was asleep goes on sleeping: its registers serve every later sleep
 * at the same place. */
static void
finish_woken(struct sampler *sampler, struct pending *pending)
{
	struct tracked *thread = pending->thread;
	bool asleep;

	if (thread->memo == NULL)
		thread->memo = xmalloc(sizeof(*thread->memo));
	*thread->memo = pending->request->snapshot.regs;
	asleep = sleeps_again(sampler, pending) && walk_asleep(sampler, pending, false);
	if (!asleep) {
		/* It has gone on: only what was copied is of that moment. */
		pending->request->snapshot.live_limit = 0;
		walk(sampler, &pending->request->snapshot, false);
	}
	finish(sampler, pending, asleep);
}

static void
finish_captured(struct sampler *sampler, struct pending *pending)
{
	struct stop_request *request = pending->request;

	count_stop(sampler, request);
	pending->info.number = request->syscall;
	for (size_t i = 0; i < ARRAY_SIZE(pending->info.args); i++)
		if (!regs_get(&request->snapshot.regs, regs_argument[i], &pending->info.args[i]))
			pending->info.args[i] = 0;
	pending->info.sp = request->snapshot.regs.sp;
	pending->info.pc = request->snapshot.regs.pc;
	pending->info.number = true_syscall(pending->thread, &pending->info);
	if (request->queued || pending->thread->late != NULL)
		hold_spare(sampler, pending->thread);
	if (request->group_stopped)
		pending->state = RUN_STOPPED;
	else if (request->queued)
		pending->state = RUN_QUEUED;
	if (request->fell_asleep) {
		/* It ran when it was looked at, and that is what this sample says. */
		finish_woken(sampler, pending);
		pending->thread->state = RUN_SLEEPING;
		pending->thread->syscall = pending->info.number;
		if (pending->thread->asleep)
			waits_classify(sampler, pending->thread, RUN_SLEEPING, &pending->info);
		return;
	}
	walk(sampler, &request->snapshot, false);
	finish(sampler, pending, false);
}

/* A sleeper whose frame pointer nobody could guess: one stop tells all registers. */
static void
stop_for_registers(struct sampler *sampler, struct pending *pending)
{
	struct stop_request *request = pending->request;

	stops_request(sampler, pending);
	tracer_ask(sampler->tracer, pending->request);
	tracer_collect(sampler->tracer, SAMPLER_STOP_BOUND_NS, false, NULL, NULL);
	if (request->end == STOP_LATE) {
		late_begin(sampler, pending);
		return;
	}
	if (request->end != STOP_CAPTURED) {
		pending->thread->untouchable = request->end == STOP_COMPAT32;
		fail(sampler, pending, FAILURE_MOVED);
	} else if (request->snapshot.regs.sp != pending->info.sp ||
		   request->snapshot.regs.pc != pending->info.pc) {
		/* It woke just then: its sample is that of a thread that runs. */
		pending->state = RUN_RUNNING;
		finish_captured(sampler, pending);
	} else {
		count_stop(sampler, request);
		finish_woken(sampler, pending);
	}
}

static void
walk_sleeper(struct sampler *sampler, struct pending *pending)
{
	bool may_stop = may_stop_sleeper(sampler, pending);

	if (pending->moved || !walk_asleep(sampler, pending, may_stop)) {
		fail(sampler, pending, FAILURE_MOVED);
		return;
	}
	if (sampler->chain.end == CHAIN_NEEDS_REGISTER && may_stop) {
		stop_for_registers(sampler, pending);
		return;
	}
	sampler->stats.read++;
	finish(sampler, pending, true);
}

void
collect_sleepers(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->sleepers.count; i++) {
		late_serve(sampler);
		walk_sleeper(sampler, &sampler->sleepers.pending[i]);
	}
	sampler->sleepers.count = 0;
}

/* PF_EXITING of include/linux/sched.h: EPERM is what an exiting thread answers. */
static bool
is_exiting(struct sampler *sampler, const struct tracked *thread)
{
	struct task_stat stat;

	return !process_read_task_stat(sampler->process, thread->watch.tid, &stat) ||
	       stat.state == 'Z' || stat.state == 'X' || (stat.flags & 0x4) != 0;
}

void
collect_stop(struct sampler *sampler, struct pending *pending)
{
	switch (pending->request->end) {
	case STOP_CAPTURED:
		finish_captured(sampler, pending);
		break;
	case STOP_EXITED:
		sampler->relist = true;
		fail(sampler, pending, FAILURE_EXITED);
		break;
	case STOP_DENIED:
		fail(sampler, pending,
		     is_exiting(sampler, pending->thread) ? FAILURE_EXITED : FAILURE_DENIED);
		break;
	case STOP_LATE:
		late_begin(sampler, pending);
		break;
	case STOP_MISSED:
		fail(sampler, pending, FAILURE_LATE);
		break;
	case STOP_COMPAT32:
		pending->thread->untouchable = true;
		fail(sampler, pending, FAILURE_UNREADABLE);
		break;
	case STOP_UNREADABLE:
		fail(sampler, pending, FAILURE_UNREADABLE);
		break;
	}
}

void
collect_late(struct sampler *sampler, bool give_up)
{
	if (sampler->tracer != NULL)
		tracer_poll(sampler->tracer);
	if (sampler->late_count > 0)
		tracer_check(sampler->tracer);
	for (size_t i = 0; sampler->late_count > 0 && i < sampler->thread_count; i++) {
		struct tracked *thread = sampler->thread[i];

		if (thread->late == NULL)
			continue;
		if (thread->late->request->end == STOP_LATE && !give_up)
			continue;
		/* Since the last look at it, too, it did nothing else. */
		late_extend(sampler, thread, thread->late->part_state);
		if (thread->late->request->end != STOP_LATE)
			collect_stop(sampler, thread->late);
		else
			fail(sampler, thread->late, FAILURE_LATE);
		late_end(sampler, thread);
		hold_add_late(sampler, thread);
	}
}

bool
capture_sleeper(struct sampler *sampler, struct pending *pending, bool held)
{
	struct sched after;

	if (pending->capture == NULL || !runtimes_any(sampler->runtimes))
		return true;
	runtime_capture_take(pending->capture, pending->thread->watch.tid,
			     pending->request->snapshot.regs.sp, held || sampler->late_count > 0);
	return watch_read_sched(&pending->thread->watch, sampler->process, &after) == LOOK_OK &&
	       after.switches == pending->thread->sched.switches;
}
