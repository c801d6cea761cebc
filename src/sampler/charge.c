/* SPDX-License-Identifier: MIT */
/*
 * charge.c - to whom a tick's real time is charged, once everybody has been looked at and the
 * number of runnable threads is known.
 */
#include <math.h>
#include <string.h>

#include "sampler/pipeline_internal.h"

/* What is known of so many late threads is a guess for the next. */
#define LATE_MEMORY 16

void
charge_runnable(struct sampler *sampler, struct tracked *thread, uint32_t entry, int64_t samples)
{
	struct charges *charges = &sampler->charges;

	if (thread->late != NULL) {
		/*
		 * Its ticks are over. Those at which it was looked at were charged to it as they
		 * passed; what they have is for all of them.
		 */
		struct late_charge *of = &thread->late->charge;

		if (of->samples > 0)
			profile_charge(sampler->profile, entry,
				       (int64_t)(of->latency_ns * (double)samples /
						 (double)(of->samples + of->fresh)));
		/* The CPU time of those that are not always looked at is counted anyway. */
		if (thread->state == RUN_RUNNING && thread->late->samples == 1)
			sampler->on_cpu_owed += (double)samples;
		if (!of->told)
			sampler->late_ran += ((thread->state == RUN_RUNNING) - sampler->late_ran) /
					     LATE_MEMORY;
		of->told = true;
		return;
	}
	if (samples == 1) {
		sampler->runnable++;
		sampler->queued += thread->state == RUN_QUEUED;
	} else if (thread->state == RUN_QUEUED) {
		sampler->hidden.queued += (double)samples;
	} else {
		sampler->hidden.on_cpu++;
	}
	charges->item = xgrow(charges->item, &charges->capacity, charges->count + 1,
			      sizeof(*charges->item));
	charges->item[charges->count++] = (struct charge){ entry, samples };
}

void
charge_late_end(struct sampler *sampler, const struct late_charge *charge)
{
	sampler->on_cpu_owed -= charge->on_cpu;
}

void
charge_unwanted(struct sampler *sampler, int64_t samples)
{
	if (samples == 1) {
		sampler->runnable++;
		return;
	}
	sampler->hidden.on_cpu++;
	sampler->hidden.unwanted += samples;
}

/* --- threads that are not looked at each tick ---------------------------------------- */

void
charge_count_cpu(struct sampler *sampler, const struct tracked *thread, const struct sched *sched,
		 int64_t ticks)
{
	const uint64_t before = thread->seen ? thread->sched.cpu_ns : 0;

	if (ticks == 1 && sched->cpu_ns > before)
		sampler->hidden.known_ns += sched->cpu_ns - before;
}

/* How many of them have a CPU. What is left of a tick's CPU time is kept for the next. */
static double
count_hidden(struct sampler *sampler)
{
	struct hidden *hidden = &sampler->hidden;
	const double span_ns = (double)sampler->span_ns;
	const double tick_ns = (double)NS_PER_SEC / sampler->pace.wanted_hz;
	const uint64_t before = hidden->cpu_ns;
	double count = 0;

	if (sampler->skipped == 0 || !process_read_cpu_ns(sampler->process, &hidden->cpu_ns)) {
		hidden->cpu_ns = 0;
		hidden->balance_ns = 0;
		return hidden->on_cpu;
	}
	if (before != 0)
		hidden->balance_ns += (int64_t)(hidden->cpu_ns - before - hidden->known_ns);
	/* Counters of who runs are some milliseconds old: less than a tick may be no thread. */
	if (hidden->balance_ns > 0)
		count = floor((double)hidden->balance_ns / (span_ns > tick_ns ? span_ns : tick_ns));
	if (count > sampler->cpus)
		count = sampler->cpus;
	if (count < hidden->on_cpu)
		count = hidden->on_cpu;
	hidden->balance_ns -= (int64_t)(count * span_ns);
	if (hidden->balance_ns < -(int64_t)NS_PER_SEC)
		hidden->balance_ns = -(int64_t)NS_PER_SEC;
	return count;
}

/* Those of them that were seen get what all of them are owed. */
static void
charge_hidden(struct sampler *sampler)
{
	const struct charges *charges = &sampler->charges;
	struct hidden *hidden = &sampler->hidden;
	double samples = (double)hidden->unwanted, owed_ns = hidden->owed_ns;

	for (size_t i = 0; i < charges->count; i++)
		if (charges->item[i].samples != 1)
			samples += (double)charges->item[i].samples;
	if (samples <= 0)
		return;
	hidden->owed_ns = 0;
	for (size_t i = 0; i < charges->count; i++) {
		const struct charge *charge = &charges->item[i];

		if (charge->samples == 1)
			continue;
		profile_charge(sampler->profile, charge->entry,
			       (int64_t)(owed_ns * (double)charge->samples / samples + 0.5));
		hidden->entry = charge->entry;
	}
}

/* Those that have not stopped yet are runnable, too. */
static void
charge_late(struct sampler *sampler, double latency_ns)
{
	size_t left = sampler->late_count;

	for (size_t i = 0; left > 0 && i < sampler->thread_count; i++) {
		struct pending *late = sampler->thread[i]->late;
		struct late_charge *charge;

		if (late == NULL)
			continue;
		left--;
		charge = &late->charge;
		charge->latency_ns += latency_ns * (double)charge->fresh;
		charge->samples += charge->fresh;
		sampler->queued += charge->queued;
		charge->on_cpu += (double)charge->fresh - charge->queued;
		charge->fresh = 0;
		charge->queued = 0;
	}
}

/* --- while nobody runs ------------------------------------------------------------- */

/* "[sleeping in futex: mutex, which copier-12 has]" */
static void
add_kind(struct sampler *sampler, const struct tracked *thread, struct strbuf *out)
{
	const enum wait_kind kind = thread->wait.id != 0 ? thread->wait.what.kind : WAIT_OTHER;
	const struct tracked *holder;

	strbuf_add_text(out, "[");
	run_state_add(out, thread->state, (int32_t)thread->syscall);
	if (kind != WAIT_OTHER && kind != WAIT_SLEEP)
		strbuf_add_format(out, ": %s", wait_kind_text(kind));
	holder = thread->wait.holder != 0 ? thread_of_tid(sampler, thread->wait.holder) : NULL;
	/* Stacks without end, if threads are. */
	if (holder != NULL && !holder->shared)
		strbuf_add_format(out, ", which %s-%jd had", holder->name,
				  (intmax_t)holder->watch.tid);
	strbuf_add_text(out, "]");
}

/* PROFILE_GAP, the kind of wait, and the stack that waited. */
static uint32_t
stack_of_waiting(struct sampler *sampler, const struct tracked *thread)
{
	struct profile *profile = sampler->profile;
	uint32_t *frames = NULL;
	size_t count = 0, capacity = 0;
	struct strbuf text;
	uint32_t stack;

	for (uint32_t at = thread->stack; at != STACK_NONE;) {
		const struct profile_stack *level = profile_stack(profile, at);

		frames = xgrow(frames, &capacity, count + 1, sizeof(*frames));
		frames[count++] = level->frame;
		at = level->caller;
	}
	stack = profile_intern_stack(profile, profile_intern_named(profile, PROFILE_GAP),
				     STACK_NONE);
	strbuf_init(&text);
	add_kind(sampler, thread, &text);
	stack = profile_intern_stack(profile, profile_intern_named(profile, text.data), stack);
	strbuf_release(&text);
	while (count > 0)
		stack = profile_intern_stack(profile, frames[--count], stack);
	free(frames);
	return stack;
}

static void
credit_gap(struct sampler *sampler, struct tracked *thread, uint32_t stack)
{
	struct profile_entry entry = {
		.stack = stack,
		.state = thread->state,
		.syscall = (int32_t)thread->syscall,
		.ns[WEIGHT_LATENCY] = (int64_t)sampler->gap_ns,
	};

	entry.thread = thread_unit(sampler, thread, &entry.carrier);
	profile_add(sampler->profile, &entry);
	sampler->gap_ns = 0;
}

void
charge_end_of_wait(struct sampler *sampler, struct tracked *thread)
{
	if (sampler->gap_ns == 0 || !thread->seen || !thread->asleep)
		return;
	if (thread->selected)
		credit_gap(sampler, thread, stack_of_waiting(sampler, thread));
	else
		sampler->gap_ns = 0; /* it is among the samples that nobody wants */
}

void
charge_rest(struct sampler *sampler)
{
	struct tracked *first = NULL;
	uint32_t stack;

	if (sampler->hidden.entry != UINT32_MAX)
		profile_charge(sampler->profile, sampler->hidden.entry,
			       (int64_t)(sampler->hidden.owed_ns + 0.5));
	else
		sampler->gap_ns += (uint64_t)sampler->hidden.owed_ns;
	sampler->hidden.owed_ns = 0;
	for (size_t i = 0; i < sampler->thread_count && first == NULL; i++)
		if (sampler->thread[i]->selected && sampler->thread[i]->late == NULL)
			first = sampler->thread[i];
	if (sampler->gap_ns == 0 || first == NULL)
		return;
	stack = profile_intern_stack(sampler->profile,
				     profile_intern_named(sampler->profile, PROFILE_GAP),
				     STACK_NONE);
	stack = profile_intern_stack(
		sampler->profile,
		profile_intern_named(sampler->profile, "[nothing ran until the end]"), stack);
	credit_gap(sampler, first, stack);
}

/* --- the tick ------------------------------------------------------------------------ */

/*
 * How many threads were on a CPU, a whole number. Whether one that is late was will only be known
 * later: what then proves to have been too few or too many is made up for by the next ticks, as
 * is what rounding has left over, so that the sum is that of the samples.
 */
static uint32_t
parallelism(struct sampler *sampler, double all, double hidden)
{
	const double most = all < 1 ? 0 : all < sampler->cpus ? all : sampler->cpus;
	const double wanted = sampler->runnable - sampler->queued + hidden + sampler->on_cpu_owed;
	const double on_cpu = wanted < 0 ? 0 : wanted > most ? most : wanted;
	const uint32_t whole = (uint32_t)(on_cpu + 0.5);
	const double owed = wanted - whole;

	/* It is about the last few ticks, not a debt for ever. */
	sampler->on_cpu_owed = owed > sampler->cpus   ? sampler->cpus :
			       owed < -(double)sampler->cpus ? -(double)sampler->cpus :
							       owed;
	return whole;
}

/* The tick's counts begin anew. */
static void
forget_counts(struct sampler *sampler)
{
	struct hidden *hidden = &sampler->hidden;

	sampler->charges.count = 0;
	sampler->runnable = sampler->queued = 0;
	sampler->skipped = 0;
	hidden->on_cpu = hidden->queued = 0;
	hidden->unwanted = 0;
	hidden->known_ns = 0;
}

void
charge_tick(struct sampler *sampler)
{
	struct charges *charges = &sampler->charges;
	const double on_cpu = count_hidden(sampler);
	const double others = on_cpu + sampler->hidden.queued;
	const double all = sampler->runnable + others;
	uint32_t runnable = 0;

	if (all >= 1) {
		const double latency_ns = (double)sampler->span_ns / all;

		for (size_t i = 0; i < charges->count; i++)
			if (charges->item[i].samples == 1)
				profile_charge(sampler->profile, charges->item[i].entry,
					       (int64_t)(latency_ns + 0.5));
		charge_late(sampler, latency_ns);
		sampler->hidden.owed_ns += latency_ns * others;
		charge_hidden(sampler);
		runnable = (uint32_t)(all + 0.5);
	} else {
		/* Below one nobody is: the time is kept for the wait's end. */
		sampler->gap_ns += sampler->span_ns;
	}
	profile_add_tick(sampler->profile, sampler->span_ns, parallelism(sampler, all, on_cpu),
			 runnable);
	forget_counts(sampler);
}
