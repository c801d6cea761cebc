/* SPDX-License-Identifier: MIT */
/*
 * charge.c - charges the real time of a tick (weight LATENCY, charge_internal.h) to threads, when
 * all threads are observed and the number of runnable ones is known.
 */
#include <math.h>
#include <stdlib.h>

#include "sampler/threads_internal.h"

/* Number of late threads (late.c) over which late_ran is the running mean. */
#define LATE_MEMORY 16

/* Keeps latency that was charged without a sample of the window, for its calibration. */
static void
keep_gap(struct charging *charging, uint32_t entry, int64_t ns)
{
	charging->gap = xgrow(charging->gap, &charging->gap_capacity, charging->gap_count + 1,
			      sizeof(*charging->gap));
	charging->gap[charging->gap_count++] = (struct charged_gap){ entry, ns };
}

void
charge_entry(struct charging *charging, struct sampled_thread *thread, uint32_t entry,
	     int64_t latency_ns)
{
	profile_charge(charging->run->profile, entry, latency_ns);
	if (thread != NULL)
		window_charge(&thread->window, entry, latency_ns);
	else
		keep_gap(charging, entry, latency_ns);
}

void
charge_removed(struct charging *charging, const struct sampled_thread *thread)
{
	for (size_t i = 0; i < charging->count; i++)
		if (charging->item[i].thread == thread)
			charging->item[i].thread = NULL;
}

void
charge_runnable(struct charging *charging, struct sampled_thread *thread, uint32_t entry,
		int64_t samples)
{
	if (thread->late != NULL) {
		struct late_charge *late = &thread->late->charge;

		/* The real time of all ticks since the stop request is divided among all samples of
		 * the late thread. */
		if (late->samples > 0)
			charge_entry(charging, thread, entry,
				     (int64_t)(late->latency_ns * (double)samples /
					       (double)(late->samples + late->new_samples)));
		/* A thread whose sample stands for several ticks is hidden (charge_internal.h): it
		 * is among those that count_hidden has counted as on a CPU. */
		if (thread->state == RUN_RUNNING && thread->late->observation.samples == 1)
			charging->on_cpu_missed += (double)samples;
		if (!late->settled)
			charging->late_ran += ((thread->state == RUN_RUNNING) -
					       charging->late_ran) /
					      LATE_MEMORY;
		late->settled = true;
		return;
	}
	if (samples == 1) {
		charging->runnable++;
		charging->queued += thread->state == RUN_QUEUED;
	} else if (thread->state == RUN_QUEUED) {
		charging->hidden.queued += (double)samples;
	} else {
		charging->hidden.on_cpu++;
	}
	charging->item = xgrow(charging->item, &charging->capacity, charging->count + 1,
			       sizeof(*charging->item));
	charging->item[charging->count++] = (struct charged){ thread, entry, samples };
}

void
charge_late_begin(struct charging *charging, const struct observation *observation, double queued,
		  struct late_charge *late)
{
	int64_t new_samples = 0;

	if (queued > 1 - charging->late_ran)
		queued = 1 - charging->late_ran;
	if (observation->samples != 1)
		/* a hidden thread: count_hidden estimates how many of these are on a CPU */
		queued = 1;
	/* A sleeping thread that was stopped for its registers is not runnable. */
	if (run_state_runnable(observation->state))
		new_samples = observation->samples;
	*late = (struct late_charge){
		.samples = observation->samples - new_samples,
		.new_samples = new_samples,
		.queued = (double)new_samples * queued,
	};
	charging->runnable += (double)new_samples;
}

void
charge_unselected(struct charging *charging, enum run_state state, int64_t samples)
{
	const bool queued = state == RUN_QUEUED;

	if (samples == 1) {
		charging->runnable++;
		charging->queued += queued;
		return;
	}
	if (queued)
		charging->hidden.queued += (double)samples;
	else
		charging->hidden.on_cpu++;
	charging->hidden.unselected += samples;
}

/* --- hidden threads: not observed at each tick -------------------------------------------- */

/* Returns an estimate of the number of hidden threads on a CPU: at most the number of CPUs, but at
 * least the number that this tick observed on a CPU. Their CPU time that this number does not
 * account for is kept in balance_ns for the next tick. */
static double
count_hidden(struct charging *charging)
{
	struct run *run = charging->run;
	struct hidden *hidden = &charging->hidden;
	const double span_ns = (double)run->tick.span_ns;
	const double tick_ns = (double)NS_PER_SEC / run->config.rate_hz;
	const uint64_t before = hidden->cpu_ns;
	double count = 0;

	if (run->tick.skipped == 0) {
		hidden->cpu_ns = 0;
		hidden->balance_ns = 0;
		return hidden->on_cpu;
	}
	hidden->cpu_ns = processes_cpu_soon(&run->processes);
	if (before != 0)
		hidden->balance_ns += (int64_t)(hidden->cpu_ns - before - hidden->known_ns);
	/* The CPU time that the kernel reports of a running thread lags by some milliseconds: a
	 * balance of less than one tick counts as no thread. */
	if (hidden->balance_ns > 0)
		count = floor((double)hidden->balance_ns / (span_ns > tick_ns ? span_ns : tick_ns));
	if (count > run->stats.cpus)
		count = run->stats.cpus;
	if (count < hidden->on_cpu)
		count = hidden->on_cpu;
	hidden->balance_ns -= (int64_t)(count * span_ns);
	if (hidden->balance_ns < -(int64_t)NS_PER_SEC)
		hidden->balance_ns = -(int64_t)NS_PER_SEC;
	return count;
}

/* Charges the real time of hidden threads that is not charged yet (uncharged_ns) to the runnable
 * hidden threads that this tick observed, in proportion to their numbers of samples. The share of
 * unselected threads is dropped. If there is no such thread, the time is kept. */
static void
charge_hidden(struct charging *charging)
{
	struct hidden *hidden = &charging->hidden;
	double samples = (double)hidden->unselected, uncharged_ns = hidden->uncharged_ns;

	for (size_t i = 0; i < charging->count; i++)
		if (charging->item[i].samples != 1)
			samples += (double)charging->item[i].samples;
	if (samples <= 0)
		return;
	hidden->uncharged_ns = 0;
	for (size_t i = 0; i < charging->count; i++) {
		const struct charged *charge = &charging->item[i];

		if (charge->samples == 1)
			continue;
		charge_entry(charging, charge->thread, charge->entry,
			     (int64_t)(uncharged_ns * (double)charge->samples / samples + 0.5));
		hidden->last_entry = charge->entry;
	}
}

/* Adds to each late thread that counts as runnable its share of the real time of this tick, which
 * is charged when the thread has stopped. `latency_ns`: real time of the tick per runnable
 * thread. */
static void
charge_all_late(struct charging *charging, double latency_ns)
{
	const struct thread_list *threads = &charging->run->threads;
	size_t left = charging->run->late_count;

	for (size_t i = 0; left > 0 && i < threads->count; i++) {
		struct late_stop *late = threads->thread[i]->late;
		struct late_charge *charge;

		if (late == NULL)
			continue;
		left--;
		charge = &late->charge;
		charge->latency_ns += latency_ns * (double)charge->new_samples;
		charge->samples += charge->new_samples;
		charging->queued += charge->queued;
		charge->on_cpu += (double)charge->new_samples - charge->queued;
		charge->new_samples = 0;
		charge->queued = 0;
	}
}

/* --- while no thread is runnable --------------------------------------------------------- */

/* Appends the name of the frame for the thread's wait, such as "[sleeping in futex: mutex, which
 * copier-12 had]". */
static void
add_kind(struct charging *charging, const struct sampled_thread *thread, struct strbuf *out)
{
	const enum wait_kind kind = thread->wait.id != 0 ? thread->wait.what.kind : WAIT_OTHER;
	const struct sampled_thread *holder;

	strbuf_add_text(out, "[");
	run_state_add(out, thread->state, (int32_t)thread->syscall);
	if (kind != WAIT_OTHER && kind != WAIT_FAULT && kind != WAIT_SLEEP)
		strbuf_add_format(out, ": %s", wait_kind_text(kind));
	holder = threads_find(&charging->run->threads, thread->wait.holder);
	/* A lock holder that shares its record in the profile with other threads is not named, so
	 * that the number of different stacks is bounded. */
	if (holder != NULL && !holder->shared)
		strbuf_add_format(out, ", which %s-%jd had", holder->name,
				  (intmax_t)holder->watch.tid);
	strbuf_add_text(out, "]");
}

/* Returns the stack that consists, from the outermost frame on, of the frame PROFILE_GAP, a frame
 * for the kind of wait, and the call chain of the waiting thread. */
static uint32_t
stack_of_waiting(struct charging *charging, const struct sampled_thread *thread)
{
	struct profile *profile = charging->run->profile;
	uint32_t *frames = NULL;
	size_t count = 0, capacity = 0;
	struct strbuf text = STRBUF_INIT;
	uint32_t stack;

	for (uint32_t at = thread->stack; at != STACK_NONE;) {
		const struct profile_stack *level = profile_stack(profile, at);

		frames = xgrow(frames, &capacity, count + 1, sizeof(*frames));
		frames[count++] = level->frame;
		at = level->caller;
	}
	add_kind(charging, thread, &text);
	stack = stack_of_text(profile, text.data, stack_of_text(profile, PROFILE_GAP, STACK_NONE));
	strbuf_release(&text);
	while (count > 0)
		stack = profile_intern_stack(profile, frames[--count], stack);
	free(frames);
	return stack;
}

static void
charge_gap(struct charging *charging, uint32_t entry, int64_t ns)
{
	profile_charge(charging->run->profile, entry, ns);
	keep_gap(charging, entry, ns);
}

static void
credit_gap(struct charging *charging, struct sampled_thread *thread, uint32_t stack)
{
	struct profile_entry entry = {
		.stack = stack,
		.state = thread->state,
		.syscall = (int32_t)thread->syscall,
		.ns[WEIGHT_LATENCY] = (int64_t)charging->gap_ns,
	};

	entry.thread = thread_record_of_sample(charging->run, thread, &entry.carrier);
	keep_gap(charging, profile_add(charging->run->profile, &entry), (int64_t)charging->gap_ns);
	charging->gap_ns = 0;
}

void
charge_end_of_wait(struct charging *charging, struct sampled_thread *thread, bool selected)
{
	if (charging->gap_ns == 0 || !thread->seen || !thread->asleep || thread->woken)
		return;
	if (selected)
		credit_gap(charging, thread, stack_of_waiting(charging, thread));
	else
		charging->gap_ns = 0; /* samples of unselected threads are not in the profile */
}

void
charge_rest(struct charging *charging)
{
	struct profile *profile = charging->run->profile;
	const struct thread_list *threads = &charging->run->threads;
	struct hidden *hidden = &charging->hidden;
	struct sampled_thread *first = NULL;
	uint32_t stack;

	if (hidden->last_entry != UINT32_MAX)
		charge_gap(charging, hidden->last_entry, (int64_t)(hidden->uncharged_ns + 0.5));
	else
		charging->gap_ns += (uint64_t)hidden->uncharged_ns;
	hidden->uncharged_ns = 0;
	for (size_t i = 0; i < threads->count && first == NULL; i++)
		if (threads->thread[i]->selected && threads->thread[i]->late == NULL)
			first = threads->thread[i];
	if (charging->gap_ns == 0 || first == NULL)
		return;
	stack = stack_of_text(profile, PROFILE_GAP, STACK_NONE);
	credit_gap(charging, first, stack_of_text(profile, "[nothing ran until the end]", stack));
}

/* --- the tick ------------------------------------------------------------------------ */

/*
 * Returns the number of threads on a CPU at this tick, rounded. `all`: number of runnable threads;
 * `hidden`: number of hidden threads on a CPU. The state of a late thread becomes known at a later
 * tick: on_cpu_missed carries the error of the count, and that of the rounding, to the next ticks,
 * so that the sum over all ticks equals the number of samples on a CPU.
 */
static uint32_t
parallelism(struct charging *charging, double all, double hidden)
{
	const double cpus = charging->run->stats.cpus;
	const double most = all < 1 ? 0 : fmin(all, cpus);
	const double wanted = charging->runnable - charging->queued + hidden +
			      charging->on_cpu_missed;
	const uint32_t whole = (uint32_t)(fmin(fmax(wanted, 0), most) + 0.5);

	/* The error carried to the next tick is limited to the number of CPUs. */
	charging->on_cpu_missed = fmax(fmin(wanted - whole, cpus), -cpus);
	return whole;
}

/* Charges the real time of the tick, which `all` runnable threads share, `others` of them
 * hidden. */
static void
charge_runnables(struct charging *charging, double all, double others)
{
	const struct tick *tick = &charging->run->tick;
	const double latency_ns = (double)tick->span_ns / all;

	for (size_t i = 0; i < charging->count; i++)
		if (charging->item[i].samples == 1)
			charge_entry(charging, charging->item[i].thread, charging->item[i].entry,
				     (int64_t)(latency_ns + 0.5));
	charge_all_late(charging, latency_ns);
	if (tick->skipped > tick->excluded)
		charging->hidden.uncharged_ns += latency_ns * others *
						 (double)(tick->skipped - tick->excluded) /
						 (double)tick->skipped;
	charge_hidden(charging);
}

void
charge_tick(struct charging *charging)
{
	struct hidden *hidden = &charging->hidden;
	const double on_cpu = count_hidden(charging);
	const double others = on_cpu + hidden->queued;
	const double all = charging->runnable + others;
	const uint64_t span_ns = charging->run->tick.span_ns;
	const uint32_t runnable = all >= 1 ? (uint32_t)(all + 0.5) : 0;

	if (runnable > 0)
		charge_runnables(charging, all, others);
	else
		/* Less than one runnable thread (the number is an estimate) counts as none. The
		 * time is charged by charge_end_of_wait. */
		charging->gap_ns += span_ns;
	profile_add_tick(charging->run->profile, span_ns, parallelism(charging, all, on_cpu),
			 runnable);
	charging->count = 0;
	charging->runnable = charging->queued = 0;
	hidden->on_cpu = hidden->queued = 0;
	hidden->unselected = 0;
	hidden->known_ns = 0;
}

void
charge_absence(struct charging *charging, uint64_t span_ns, double on_cpu, double runnable)
{
	struct hidden *hidden = &charging->hidden;

	/* The CPU time of this span is charged: the next tick must not search for hidden threads
	 * that used it. */
	hidden->cpu_ns = 0;
	hidden->balance_ns = 0;
	if (runnable <= 0)
		charging->gap_ns += span_ns;
	profile_add_tick(charging->run->profile, span_ns, (uint32_t)(on_cpu + 0.5),
			 (uint32_t)ceil(runnable));
}
