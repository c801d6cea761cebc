/* SPDX-License-Identifier: MIT */
/* capture.c - what runs at a tick is stopped, all of it together. */
#include "sampler/pipeline_internal.h"

/* The copies of more than these would not stay in the caches until they are needed. */
#define REHEARSALS_MOST 8

/* To ask takes three microseconds. */
#define ASKS_UNSERVED 16

/* A thread that has a CPU has stopped by then, nearly always. */
#define LEAST_BOUND_NS (150 * NS_PER_US)
#define HOLD_BOUND_NS (500 * NS_PER_US)

static void
capture_runtimes(void *context, pid_t tid, uint64_t sp)
{
	const struct in_stop *in_stop = context;

	runtime_capture_take(in_stop->capture, tid, sp, true);
	/* Of one that is late nobody knows when it will stop: that is now. */
	if (in_stop->thread->late != NULL)
		tasks_of_stopped(in_stop->sampler, in_stop->thread);
}

void
stops_request(struct sampler *sampler, const struct pending *pending)
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
	tracer_prefetch(pending->request);
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
		stops_request(sampler, &runners->pending[i]);
	if (runners->count == 0 || hold_is_wanted(sampler))
		return;
	tasks_rehearse(sampler);
	for (size_t i = 0; i < runners->count && i < REHEARSALS_MOST; i++)
		rehearse(&runners->pending[i]);
}

void
stops_tick(struct sampler *sampler)
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
		tracer_collect_held(sampler->tracer, stop_bound(sampler));
	else if (runners->count > 0)
		tracer_collect(sampler->tracer, stop_bound(sampler), sampler->config.stop_all,
			       while_held, sampler);
	for (size_t i = 0; i < runners->count; i++) {
		struct pending *pending = &runners->pending[i];

		late_serve(sampler);
		collect_stop(sampler, pending);
		if (pending->request->held)
			hold_add(sampler, pending->thread);
	}
	if (holds)
		hold_decide(sampler);
	runners->count = 0;
	collect_sleepers(sampler);
}
