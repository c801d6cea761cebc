/* SPDX-License-Identifier: MIT */
/* hold.c - keeps threads stopped from one tick to the next (holds them), resumes them, and counts
 * the hold time (hold_internal.h). */
#include "sampler/hold/hold_internal.h"

#include <math.h>

#include "sampler/hold/hold_occupy_internal.h"
#include "sampler/priority_internal.h"
#include "sampler/threads_internal.h"
#include "wallsample/tracer/tracer_count.h"

/* LAG_MEMORY: number of ticks in the running mean lag_ns (learn_lag). LAG_MOST: the largest time
 * that enters it, as a share of the tick interval. */
#define LAG_MEMORY 16.0
#define LAG_MOST 0.5

/* Largest debt (learn_debt), as a share of the tick interval: one tick adds or omits no more hold
 * time than that to compensate for earlier ticks. */
#define DEBT_MOST 0.5

/*
 * Updates lag_ns, the mean time from the moment at which a tick is due to its first stop; in that
 * time the sampler wakes and observes all threads. At a tick interval of 5 ms it is 2 % of the
 * interval. A hold that ended at the moment at which the next tick is due would let held threads
 * run for that time.
 */
static void
learn_lag(struct hold *hold)
{
	const double most = LAG_MOST * (double)NS_PER_SEC / hold->run->config.rate_hz;
	double lag;

	if (hold->due_ns == 0 || hold->asked_ns < hold->due_ns)
		return;
	lag = (double)(hold->asked_ns - hold->due_ns);
	hold->lag_ns += ((lag < most ? lag : most) - hold->lag_ns) / LAG_MEMORY;
}

void
hold_begin(struct hold *hold, uint64_t since_ns)
{
	/*
	 * `before` excludes the `count` threads that were late, have stopped since the last tick,
	 * and are held since. One of them may have been killed meanwhile, so that `count` may
	 * exceed the number of held threads.
	 */
	hold->before = tracer_held_count(hold->run->tracer);
	hold->before -= hold->count < hold->before ? hold->count : hold->before;
	hold->asked_ns = since_ns != 0 ? since_ns : clock_now_ns();
	learn_lag(hold);
	hold->due_ns = hold->run->pace.due_ns;
}

static void
add_stopped(struct hold *hold, const struct sampled_thread *thread)
{
	hold->stopped = xgrow(hold->stopped, &hold->capacity, hold->count + 1,
			      sizeof(*hold->stopped));
	hold->stopped[hold->count++] = (struct stopped_thread){
		.tid = thread->watch.tid,
		.stack = thread->stack,
	};
}

void
hold_observe(struct hold *hold, const struct stop_request *request, struct sampled_thread *thread)
{
	const bool late = thread->late != NULL;

	if (!hold->run->holds)
		return;
	spare_observe(&hold->spare, hold->run, request, thread);
	if (late)
		thread->held = tracer_is_held(hold->run->tracer, thread->watch.tid);
	if (!late)
		hold_occupy_count(hold->run->hold_occupy, request);
	/* A wait for a file (leave_for_file) may have released the thread since it was captured. */
	if (late ? thread->held :
		   request->held && tracer_is_held(hold->run->tracer, thread->watch.tid))
		add_stopped(hold, thread);
}

/* Ends the count of the hold time, and reports the time that was counted to control->held. Resumes
 * no thread. */
static void
end_count(struct hold *hold, uint64_t now_ns)
{
	const struct sampler_control *control = hold->run->context.control;
	uint64_t until = hold->until_ns < now_ns ? hold->until_ns : now_ns;

	if (!hold->on)
		return;
	/* If threads are still held, they are resumed now, not at until_ns. */
	if (tracer_held_count(hold->run->tracer) > 0)
		until = now_ns;
	hold->on = false;
	until = until > hold->from_ns ? until - hold->from_ns : 0;
	hold->counted_ns = (double)until;
	control->held(control->context, (int64_t)until);
}

static void
resume_all(struct hold *hold)
{
	tracer_release_all_held(hold->run->tracer);
	hold->count = 0;
	for (size_t i = 0; i < hold->run->threads.count; i++)
		hold->run->threads.thread[i]->held = false;
}

void
hold_end(struct hold *hold)
{
	const uint64_t now = clock_now_ns();

	if (!hold->run->holds)
		return;
	end_count(hold, now);
	resume_all(hold);
}

/* Reports the mean resume delay of the last tick as hold time, because threads are stopped until
 * they run again: that of the resumed threads if the tick held none, or that of the held threads if
 * it held them for a part of the interval. */
static void
count_delays(struct hold *hold)
{
	const struct sampler_control *control = hold->run->context.control;
	double more = 0;

	if (hold->part <= 0)
		more = hold_mean_delay(hold, HOLD_RESUMED);
	else if (hold->part < 1 && hold->others > 0)
		more = hold_mean_delay(hold, HOLD_HELD);
	if (more != 0)
		control->held(control->context, (int64_t)more);
}

double
hold_debt(double debt_ns, double part, double length_ns, double held_ns, double most_ns)
{
	debt_ns += part * length_ns - held_ns;
	if (debt_ns > most_ns)
		return most_ns;
	return debt_ns < -most_ns ? -most_ns : debt_ns;
}

/*
 * Updates debt_ns. The last tick had to forecast when this tick would stop the threads. Now that
 * moment is known, and so are estimates of the resume delays and of the time in which the hold had
 * an effect. Later holds compensate for one that was too short or too long, so that over all ticks
 * threads are held for the share of the time that control->decide returned.
 */
static void
learn_debt(struct hold *hold, double used_ns)
{
	const double most = DEBT_MOST * (double)NS_PER_SEC / hold->run->config.rate_hz;
	const double resumed = hold_mean_delay(hold, HOLD_RESUMED);
	const double late = hold->others > 0 ? hold_mean_delay(hold, HOLD_HELD) : 0;

	if (hold->part > 0 && hold->part < 1)
		hold->debt_ns = hold_debt(hold->debt_ns, hold->part,
					  (double)(hold->asked_ns - hold->from_ns) - resumed,
					  used_ns + late - resumed, most);
}

static uint64_t
end_of_part(const struct hold *hold, double part)
{
	const double due = (double)hold->due_ns + hold->lag_ns - (double)hold->from_ns;
	const double length = part * due + hold->debt_ns;

	return hold->from_ns + (length > 0 ? (uint64_t)length : 0);
}

static void
report_counts(struct hold *hold)
{
	const struct sampler_control *control = hold->run->context.control;
	uint64_t total[TRACER_COUNT_MOST];

	if (control->addresses == 0)
		return;
	tracer_counts(hold->run->tracer, total);
	control->counted(control->context, total, control->addresses);
}

/*
 * Resumes the stopped threads, with `holds` only those that control->decide chose. Returns the mean
 * moment at which threads were resumed. These moments may differ by milliseconds: a resumed thread
 * may take the sampler's CPU, if the sampler cannot preempt it (priority_internal.h), and the next
 * threads wait for the sampler.
 */
static uint64_t
resume_chosen(struct hold *hold, bool holds)
{
	const uint64_t began = clock_now_ns();
	uint64_t sum = 0, count = 0;

	for (size_t i = 0; i < hold->count; i++) {
		const struct stopped_thread *stopped = &hold->stopped[i];
		struct sampled_thread *thread = threads_find(&hold->run->threads, stopped->tid);
		const bool resume = !holds || stopped->resume;

		if (thread != NULL)
			thread->held = !resume;
		if (!resume)
			continue;
		sum += clock_now_ns() - began;
		count++;
		tracer_release_held(hold->run->tracer, stopped->tid);
	}
	return began + (count > 0 ? sum / count : 0);
}

void
hold_decide(struct hold *hold)
{
	const struct sampler_control *control = hold->run->context.control;
	struct tick_snapshot snapshot = {
		.stopped = hold->stopped,
		.count = hold->count,
		.held = hold->before,
		.missed = hold->run->late_count + hold->spared,
	};
	double part, used;
	uint64_t now;

	spare_read_load(&hold->spare, hold->run, snapshot.missed);
	/* The previous hold counts until this tick began to stop the other threads. */
	end_count(hold, hold->asked_ns);
	hold_measure_delays(hold);
	count_delays(hold);
	used = hold_effective(hold, hold->counted_ns);
	learn_debt(hold, used);
	snapshot.stopped_ns = hold->decided_ns +
			      (uint64_t)fmax(0, hold_mean_delay(hold, HOLD_RESUMED));
	snapshot.idle_ns = (uint64_t)(hold->counted_ns - used);
	report_counts(hold);
	snapshot.standing_ns = clock_now_ns() - hold->asked_ns;
	part = control->decide(control->context, &snapshot);
	hold->part = part;
	hold->counted_ns = 0;
	hold_mark_threads(hold, part > 0);
	/* The sampler keeps the real-time class until hold_pause: if it left the class before it
	 * sleeps, it would get no CPU for the next 3 ms, and be late for the next tick. */
	priority_urgent(hold->priority, true);
	now = resume_chosen(hold, part > 0);
	if (part <= 0)
		resume_all(hold);
	hold->count = hold->spared = 0;
	/* standing_ns ended before `decide`: here the time from then to the mean moment of resuming
	 * is added, in which the threads were stopped, too. */
	hold->decided_ns = now - hold->asked_ns - snapshot.standing_ns;
	control->held(control->context, (int64_t)hold->decided_ns);
	hold->from_ns = now;
	if (part <= 0)
		return;
	/* A late thread may get a CPU and stop during the hold: it is then held, too. */
	tracer_hold_late(hold->run->tracer);
	hold->on = true;
	hold->until_ns = part < 1 ? end_of_part(hold, part) : UINT64_MAX;
}

uint64_t
hold_due(const struct hold *hold)
{
	return hold->on ? hold->until_ns : UINT64_MAX;
}

void
hold_serve(struct hold *hold, uint64_t now_ns)
{
	if (now_ns >= hold_due(hold))
		hold_end(hold);
}

void
hold_pause(struct hold *hold)
{
	hold_end(hold);
	hold_occupy_cancel(hold->run->hold_occupy);
	priority_urgent(hold->priority, false);
	if (hold->run->tracer != NULL)
		tracer_pause(hold->run->tracer);
}

void
hold_resume(struct hold *hold)
{
	if (hold->run->tracer != NULL)
		tracer_resume(hold->run->tracer);
}
