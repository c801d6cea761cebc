/* SPDX-License-Identifier: MIT */
/* tracer_hold.c - stops that last: for one tick (tracer_collect), or until somebody lets go. */
#include "tracer/stop_internal.h"
#include "tracer/tracer_internal.h"

void
tracer_collect(struct tracer *tracer, uint64_t bound_ns, bool hold, void (*held)(void *),
	       void *context)
{
	struct waiting waiting = { .deadline_ns = clock_now_ns() + bound_ns, .hold = hold };

	tracer_wait_for_fresh(tracer, &waiting);
	if (hold && held != NULL)
		held(context);
	tracer_release_fresh(tracer);
}

void
tracer_hold(struct seized *entry)
{
	entry->request = NULL;
	entry->held = true;
	entry->fresh = false;
}

void
tracer_catch(struct tracer *tracer, uint64_t bound_ns)
{
	struct waiting waiting = { .deadline_ns = clock_now_ns() + bound_ns,
				   .hold = true, .runners_only = true };

	uint64_t now;

	tracer_wait_for_fresh(tracer, &waiting);
	now = clock_now_ns();
	/* One that was killed while it stood still is on the list no more. */
	for (size_t i = 0; i < tracer->seized.count; i++) {
		struct seized *entry = &tracer->seized.item[i];

		if (!entry->fresh || entry->request == NULL || !entry->request->held)
			continue;
		entry->request->stopped_ns = now - entry->request->asked_ns;
		tracer_hold(entry);
	}
	tracer_release_fresh(tracer);
}

bool
tracer_let_go(struct tracer *tracer, pid_t tid)
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
tracer_let_all_go(struct tracer *tracer)
{
	tracer->keep_late = false;
	/* What cannot be detached, because it was killed, is put back at the end, and not held. */
	for (size_t i = 0; i < tracer->seized.count;)
		if (!tracer_let_go(tracer, tracer->seized.item[i].tid))
			i++;
}

void
tracer_keep_late(struct tracer *tracer)
{
	tracer->keep_late = true;
}

bool
tracer_is_held(const struct tracer *tracer, pid_t tid)
{
	const struct seized *entry = seized_find(&tracer->seized, tid);

	return entry != NULL && entry->held;
}

size_t
tracer_held(const struct tracer *tracer)
{
	size_t held = 0;

	for (size_t i = 0; i < tracer->seized.count; i++)
		held += tracer->seized.item[i].held;
	return held;
}
