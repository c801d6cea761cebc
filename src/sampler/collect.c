/* SPDX-License-Identifier: MIT */
/* collect.c - the stacks of a tick: stops what runs, walks what was copied. */
#include <string.h>

#include "sampler_state.h"

/* The copies of more than these would not stay in the caches until they are needed. */
#define REHEARSALS_MOST 8

/* To ask takes three microseconds. */
#define ASKS_UNSERVED 16

/* A thread that has a CPU has stopped by then, nearly always. */
#define LEAST_BOUND_NS (150 * NS_PER_US)
#define HOLD_BOUND_NS (500 * NS_PER_US)

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
capture_runtimes(void *context, pid_t tid, uint64_t sp)
{
	const struct in_stop *in_stop = context;

	runtime_capture_take(in_stop->capture, tid, sp, true);
	/* Of one that is late nobody knows when it will stop: that is now. */
	if (in_stop->thread->late != NULL)
		tasks_of_stopped(in_stop->sampler, in_stop->thread);
}

static void
make_request(struct sampler *sampler, const struct pending *pending)
{
	struct stop_request *request = pending->request;

	request->stopped = NULL;
	*pending->in_stop = (struct in_stop){
		.sampler = sampler, .thread = pending->thread, .capture = pending->capture,
	};
	request->context = pending->in_stop;
	if (pending->capture != NULL && runtimes_any(sampler->runtimes))
		request->stopped = capture_runtimes;

	request->watch = &pending->thread->watch;
	request->before = pending->thread->sched;
	request->stack_want = pending->thread->stack_need;
	request->sp_before = pending->thread->sp;
	request->tick_ns = sampler->pace.began_ns;
	request->looked_ns = pending->looked_ns;
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

	make_request(sampler, pending);
	tracer_ask(sampler->tracer, pending->request);
	tracer_collect(sampler->tracer, SAMPLER_STOP_BOUND_NS, false, NULL, NULL);
	if (request->end == STOP_LATE) {
		late_begin(sampler, pending);
		return;
	}
	if (request->end != STOP_CAPTURED) {
		pending->thread->untouchable = request->end == STOP_FOREIGN;
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

static void
finish_stop(struct sampler *sampler, struct pending *pending)
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
	case STOP_FOREIGN:
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
			finish_stop(sampler, thread->late);
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

/* A sleeper that has run since it was read is read again, if it sleeps again. */
static bool
read_again(struct sampler *sampler, struct pending *pending)
{
	struct tracked *thread = pending->thread;
	struct snapshot *snapshot = &pending->request->snapshot;

	if (watch_read_syscall(&thread->watch, sampler->process, &pending->info) != LOOK_OK ||
	    tracer_read_sleeper(sampler->process, &thread->watch, &thread->sched, &pending->info,
				thread->stack_need, snapshot) != READ_CAPTURED)
		return false;
	return capture_sleeper(sampler, pending, true);
}

/* --stop-all: everything that ran is held. What was woken before that is told apart. */
static void
while_held(void *context)
{
	struct sampler *sampler = context;

	tasks_of_held(sampler);
	tasks_while_held(sampler);

	for (size_t i = 0; i < sampler->sleepers.count; i++) {
		struct pending *pending = &sampler->sleepers.pending[i];
		struct sched now;
		enum look look =
			watch_read_sched(&pending->thread->watch, sampler->process, &now);

		if (look == LOOK_OK && now.switches == pending->thread->sched.switches)
			continue;
		if (look == LOOK_OK)
			pending->thread->sched = now;
		pending->moved = look != LOOK_OK || !read_again(sampler, pending);
	}
}

/*
 * No longer than until the next tick is due: what has not stopped by then is taken while we sleep,
 * so that one thread that waits for a CPU does not put off the next tick.
 */
static uint64_t
stop_bound(const struct sampler *sampler)
{
	const uint64_t tick = (uint64_t)((double)NS_PER_SEC / sampler->pace.wanted_hz);
	const uint64_t least = tick / 8 < LEAST_BOUND_NS ? tick / 8 : LEAST_BOUND_NS;
	const uint64_t now = clock_now_ns(), due = sampler->pace.due_ns;
	uint64_t bound = tick / 2 < SAMPLER_STOP_BOUND_NS ? tick / 2 : SAMPLER_STOP_BOUND_NS;

	if (sampler->config.stop_all)
		return SAMPLER_STOP_BOUND_NS;
	/* All stand still meanwhile. */
	if (hold_is_wanted(sampler))
		return tick / 8 < HOLD_BOUND_NS ? tick / 8 : HOLD_BOUND_NS;
	if (due < now + bound)
		bound = due > now + least ? due - now : least;
	return bound;
}

/* What is read of a runtime while the thread runs makes no sense, but is in the caches then: that
 * takes a fifth off the stop. */
static void
rehearse(struct pending *pending)
{
	tracer_rehearse(pending->request);
	if (pending->request->stopped != NULL)
		runtime_capture_take(pending->capture, pending->thread->watch.tid, 0, true);
}

static void
ask(struct sampler *sampler, struct pending *pending, size_t number)
{
	const bool holds = hold_is_wanted(sampler);

	/* An exec waits until those that are held, and killed by it, have been waited for; and we
	 * would wait for the exec. */
	if (holds && sampler->hold.before > 0)
		tracer_poll(sampler->tracer);
	tracer_ask(sampler->tracer, pending->request);
	/* Those that were asked first do not wait for the last one. */
	if (number % ASKS_UNSERVED == ASKS_UNSERVED - 1 && !sampler->config.stop_all && !holds)
		tracer_poll(sampler->tracer);
}

/* Before anybody stands still; but where all stand still anyway, and that time is counted, what is
 * done before would take a CPU from them that nobody counts. */
static void
prepare_stops(struct sampler *sampler)
{
	struct batch *runners = &sampler->runners;

	for (size_t i = 0; i < runners->count; i++)
		make_request(sampler, &runners->pending[i]);
	if (runners->count == 0 || hold_is_wanted(sampler))
		return;
	tasks_rehearse(sampler);
	for (size_t i = 0; i < runners->count && i < REHEARSALS_MOST; i++)
		rehearse(&runners->pending[i]);
}

void
collect_all(struct sampler *sampler)
{
	struct batch *runners = &sampler->runners;
	const bool holds = hold_is_wanted(sampler);

	/* What runs comes first, so that its sample is of this moment. */
	prepare_stops(sampler);
	if (holds)
		hold_begin(sampler);
	for (size_t i = 0; i < runners->count; i++)
		ask(sampler, &runners->pending[i], i);
	if (runners->count > 0 && holds)
		tracer_catch(sampler->tracer, stop_bound(sampler));
	else if (runners->count > 0)
		tracer_collect(sampler->tracer, stop_bound(sampler), sampler->config.stop_all,
			       while_held, sampler);
	for (size_t i = 0; i < runners->count; i++) {
		struct pending *pending = &runners->pending[i];

		late_serve(sampler);
		finish_stop(sampler, pending);
		if (pending->request->held)
			hold_add(sampler, pending->thread);
	}
	if (holds)
		hold_decide(sampler);
	runners->count = 0;
	collect_sleepers(sampler);
}
