/* SPDX-License-Identifier: MIT */
/*
 * profile.c - adds samples, ticks and blame to the sums of a profile, to the sums since its last
 * mark, and passes them to its recorder.
 */
#include "wallsample/profile/profile.h"

#include <stdlib.h>

#include "profile/profile_internal.h"
#include "wallsample/base/base.h"

const char *
weight_word(enum weight weight)
{
	static const char *const words[] = {
#define X(name, title, word) word,
		WEIGHTS(X)
#undef X
	};

	return words[weight];
}

struct profile *
profile_create(void)
{
	struct profile *profile = xcalloc(1, sizeof(*profile));

	profile->names = names_create();
	profile_add_wait(profile, &(struct profile_wait){ .object = FRAME_NONE });
	return profile;
}

void
profile_free(struct profile *profile)
{
	if (profile == NULL)
		return;
	if (!profile->is_window)
		names_free(profile->names);
	sums_release(&profile->sums);
	free(profile);
}

void
profile_set_recorder(struct profile *profile, const struct profile_recorder *recorder)
{
	profile->recorder = recorder;
}

/* --- samples ---------------------------------------------------------------------------------- */

uint32_t
profile_add(struct profile *profile, const struct profile_entry *sample)
{
	if (profile->recorder != NULL)
		profile->recorder->sample(profile->recorder->context, sample);
	if (profile->since_mark != NULL)
		sums_add_entry(profile->since_mark, profile->names, sample);
	return sums_add_entry(&profile->sums, profile->names, sample);
}

/*
 * Adds samples and time to an existing entry. Returns a sample with the entry's key and only the
 * added samples and time.
 */
static struct profile_entry
add_to_entry(struct profile *profile, uint32_t entry, int64_t samples, enum weight weight,
	     int64_t ns)
{
	struct profile_entry *to = &profile->sums.entry[entry], sample = *to;

	to->samples += samples;
	to->ns[weight] += ns;
	profile->sums.latency_ns += weight == WEIGHT_LATENCY ? ns : 0;
	sample.samples = samples;
	for (int w = 0; w < WEIGHT_COUNT; w++)
		sample.ns[w] = w == (int)weight ? ns : 0;
	if (profile->since_mark != NULL)
		sums_add_entry(profile->since_mark, profile->names, &sample);
	return sample;
}

void
profile_add_again(struct profile *profile, uint32_t entry, int64_t samples, int64_t wall_ns)
{
	const struct profile_entry sample = add_to_entry(profile, entry, samples, WEIGHT_WALL,
							 wall_ns);

	if (profile->recorder != NULL)
		profile->recorder->sample(profile->recorder->context, &sample);
}

void
profile_correct(struct profile *profile, const struct profile_entry *correction,
		uint64_t first_tick, uint64_t ticks)
{
	const struct profile_recorder *recorder = profile->recorder;

	if (recorder != NULL && recorder->correct != NULL)
		recorder->correct(recorder->context, correction, first_tick, ticks);
	else if (recorder != NULL)
		recorder->sample(recorder->context, correction);
	if (profile->since_mark != NULL)
		sums_add_entry(profile->since_mark, profile->names, correction);
	sums_add_entry(&profile->sums, profile->names, correction);
}

void
profile_charge(struct profile *profile, uint32_t entry, int64_t latency_ns)
{
	(void)add_to_entry(profile, entry, 0, WEIGHT_LATENCY, latency_ns);
	if (profile->recorder != NULL)
		profile->recorder->charge(profile->recorder->context, &profile->sums.entry[entry],
					  latency_ns);
}

size_t
profile_entry_count(const struct profile *profile)
{
	return profile->sums.entry_count;
}

const struct profile_entry *
profile_entry(const struct profile *profile, size_t index)
{
	return &profile->sums.entry[index];
}

/* --- ticks ------------------------------------------------------------------------------------ */

void
profile_set_ready(struct profile *profile, uint32_t ready)
{
	profile->ready = ready;
}

void
profile_add_tick(struct profile *profile, uint64_t span_ns, uint32_t parallelism, uint32_t runnable)
{
	const struct profile_tick tick = { span_ns, parallelism, runnable, profile->ready };

	if (profile->recorder != NULL)
		profile->recorder->tick(profile->recorder->context, span_ns, parallelism, runnable,
					profile->ready);
	if (profile->since_mark != NULL)
		sums_add_tick(profile->since_mark, &tick);
	sums_add_tick(&profile->sums, &tick);
	profile->ready = 0;
}

uint64_t
profile_tick_count(const struct profile *profile)
{
	return profile->sums.ticks;
}

uint64_t
profile_wall_ns(const struct profile *profile)
{
	return profile->sums.wall_ns;
}

int64_t
profile_latency_ns(const struct profile *profile)
{
	return profile->sums.latency_ns;
}

double
profile_ready_ns(const struct profile *profile)
{
	return profile->sums.ready_ns;
}

uint32_t
profile_ready_most(const struct profile *profile)
{
	return profile->sums.ready_most;
}

size_t
profile_parallelism_count(const struct profile *profile)
{
	return profile->sums.parallelism_count;
}

const struct profile_parallelism *
profile_parallelism(const struct profile *profile, size_t parallelism)
{
	return &profile->sums.parallelism[parallelism];
}

/* --- blame and deadlocks ---------------------------------------------------------------------- */

void
profile_add_blame(struct profile *profile, const struct profile_blame *blame)
{
	if (profile->recorder != NULL && profile->recorder->blame != NULL)
		profile->recorder->blame(profile->recorder->context, blame);
	if (profile->since_mark != NULL)
		sums_add_blame(profile->since_mark, blame);
	sums_add_blame(&profile->sums, blame);
}

void
profile_add_deadlock(struct profile *profile, const struct profile_stuck *stuck, size_t count,
		     size_t ring)
{
	if (profile->since_mark != NULL)
		sums_add_deadlock(profile->since_mark, stuck, count, ring);
	sums_add_deadlock(&profile->sums, stuck, count, ring);
}

size_t
profile_blame_count(const struct profile *profile)
{
	return profile->sums.blame_count;
}

const struct profile_blame *
profile_blame(const struct profile *profile, size_t index)
{
	return &profile->sums.blame[index];
}

size_t
profile_deadlock_count(const struct profile *profile)
{
	return profile->sums.deadlock_count;
}

const struct profile_deadlock *
profile_deadlock(const struct profile *profile, size_t index)
{
	return &profile->sums.deadlock[index];
}
