/* SPDX-License-Identifier: MIT */
/* tracer_hold.c - collects the stops of a tick, and holds threads until they are released. */
#include "tracer/tracer_internal.h"

void
tracer_collect(struct tracer *tracer, uint64_t bound_ns, bool hold, void (*held)(void *),
	       void *context)
{
	struct waiting waiting = { .deadline_ns = clock_now_ns() + bound_ns, .hold = hold };

	tracer_wait_for_new(tracer, &waiting);
	if (hold && held != NULL)
		held(context);
	tracer_release_new(tracer);
}

void
tracer_collect_held(struct tracer *tracer, uint64_t bound_ns)
{
	struct waiting waiting = { .deadline_ns = clock_now_ns() + bound_ns,
				   .hold = true,
				   .runners_only = true };
	uint64_t now;

	tracer_wait_for_new(tracer, &waiting);
	now = clock_now_ns();
	/* A thread that was killed in its stop is no longer in the list. */
	for (size_t i = 0; i < tracer->seized.count; i++) {
		struct seized *entry = &tracer->seized.item[i];

		if (!entry->is_new || entry->request == NULL || !entry->request->held)
			continue;
		entry->request->stopped_ns = now - entry->request->asked_ns;
		seized_hold(entry);
	}
	tracer_release_new(tracer);
}

bool
tracer_release_held(struct tracer *tracer, pid_t tid)
{
	struct seized *entry = seized_find(&tracer->seized, tid);

	if (entry == NULL || !entry->held)
		return false;
	seized_remove(&tracer->seized, entry);
	tracer_release(tracer, tid, 0, false);
	tracer->stats.stops++;
	return true;
}

void
tracer_release_all_held(struct tracer *tracer)
{
	tracer->hold_late = false;
	/* A thread that was killed cannot be detached: it is put back at the end, not held. */
	for (size_t i = 0; i < tracer->seized.count;)
		if (!tracer_release_held(tracer, tracer->seized.item[i].tid))
			i++;
}

void
tracer_hold_late(struct tracer *tracer)
{
	tracer->hold_late = true;
}

bool
tracer_is_held(const struct tracer *tracer, pid_t tid)
{
	const struct seized *entry = seized_find(&tracer->seized, tid);

	return entry != NULL && entry->held;
}

size_t
tracer_held_count(const struct tracer *tracer)
{
	size_t held = 0;

	for (size_t i = 0; i < tracer->seized.count; i++)
		held += tracer->seized.item[i].held;
	return held;
}
