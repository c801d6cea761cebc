/* SPDX-License-Identifier: MIT */
/*
 * charge.c - to whom a tick's real time is charged, once everybody has been looked at and the
 * number of runnable threads is known.
 */
#include <string.h>

#include "sampler_state.h"

/* What is known of so many late threads is a guess for the next. */
#define LATE_MEMORY 16

void
charge_runnable(struct sampler *sampler, struct tracked *thread, uint32_t entry, int64_t samples)
{
	struct charges *charges = &sampler->charges;

	if (thread->late != NULL) {
		/* Its ticks are over, and were charged to it as they passed. */
		struct late_charge *of = &thread->late->charge;

		if (of->samples > 0)
			profile_charge(sampler->profile, entry,
				       (int64_t)(of->latency_ns * (double)samples /
						 (double)of->samples));
		if (thread->state == RUN_RUNNING)
			sampler->on_cpu_owed += (double)samples;
		if (!of->told)
			sampler->late_ran += ((thread->state == RUN_RUNNING) - sampler->late_ran) /
					     LATE_MEMORY;
		of->told = true;
		return;
	}
	if (thread->state == RUN_QUEUED)
		sampler->queued += (double)samples;
	charges->item = xgrow(charges->item, &charges->capacity, charges->count + 1,
			      sizeof(*charges->item));
	charges->item[charges->count++] = (struct charge){ entry, samples };
}

void
charge_late_end(struct sampler *sampler, const struct late_charge *charge)
{
	sampler->on_cpu_owed -= charge->on_cpu;
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

/* PROFILE_GAP, the kind of wait, and the stack that waited. */
static uint32_t
stack_of_waiting(struct sampler *sampler, const struct tracked *thread)
{
	struct profile *profile = sampler->profile;
	const char *call = syscall_name(thread->syscall);
	uint32_t *frames = NULL;
	size_t count = 0, capacity = 0;
	char text[96];
	uint32_t stack;

	for (uint32_t at = thread->stack; at != STACK_NONE;) {
		const struct profile_stack *level = profile_stack(profile, at);

		frames = xgrow(frames, &capacity, count + 1, sizeof(*frames));
		frames[count++] = level->frame;
		at = level->caller;
	}
	stack = profile_intern_stack(profile, profile_intern_named(profile, PROFILE_GAP),
				     STACK_NONE);
	snprintf(text, sizeof(text), "[%s%s%s]", run_state_text(thread->state),
		 call != NULL ? " in " : "", call != NULL ? call : "");
	stack = profile_intern_stack(profile, profile_intern_named(profile, text), stack);
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

	if (thread->profile_thread == UINT32_MAX)
		thread_enter_profile(sampler, thread);
	entry.thread = thread->profile_thread;
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
parallelism(struct sampler *sampler)
{
	const double most = sampler->runnable < 1 ? 0 :
			    sampler->runnable < sampler->cpus ? sampler->runnable : sampler->cpus;
	const double wanted = sampler->runnable - sampler->queued + sampler->on_cpu_owed;
	const double on_cpu = wanted < 0 ? 0 : wanted > most ? most : wanted;
	const uint32_t whole = (uint32_t)(on_cpu + 0.5);
	const double owed = wanted - whole;

	/* It is about the last few ticks, not a debt for ever. */
	sampler->on_cpu_owed = owed > sampler->cpus   ? sampler->cpus :
			       owed < -(double)sampler->cpus ? -(double)sampler->cpus :
							       owed;
	return whole;
}

void
charge_tick(struct sampler *sampler)
{
	struct charges *charges = &sampler->charges;
	uint32_t runnable = 0;

	if (sampler->runnable >= 1) {
		const double latency_ns = (double)sampler->span_ns / sampler->runnable;

		for (size_t i = 0; i < charges->count; i++)
			profile_charge(sampler->profile, charges->item[i].entry,
				       (int64_t)((double)charges->item[i].samples * latency_ns +
						 0.5));
		charge_late(sampler, latency_ns);
	} else {
		sampler->gap_ns += sampler->span_ns;
	}
	charges->count = 0;
	/* Below one nobody is: that is when the time was kept for the wait's end. */
	if (sampler->runnable >= 1)
		runnable = (uint32_t)(sampler->runnable + 0.5);
	profile_add_tick(sampler->profile, sampler->span_ns, parallelism(sampler), runnable);
}
