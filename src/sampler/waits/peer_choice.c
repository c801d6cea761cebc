/* SPDX-License-Identifier: MIT */
/* peer_choice.c - decides which process and which thread a thread waits for, if it waits for the
 * other end of a pipe or connection, and follows chains of such waits. */
#include "sampler/waits/peers_internal.h"

size_t
peer_choose_process(const struct peer_candidate *candidate, size_t count)
{
	size_t chosen = PEER_NONE;

	if (count == 1)
		return candidate[0].sampled ? 0 : PEER_NONE;
	for (size_t i = 0; i < count; i++) {
		if (!candidate[i].sampled || !candidate[i].active)
			continue;
		if (chosen != PEER_NONE)
			return PEER_NONE;
		chosen = i;
	}
	return chosen;
}

/* Returns the only thread for which `has` is true; PEER_NONE: there is none, or several. */
static size_t
only_thread(const struct peer_thread *thread, size_t count,
	    bool (*has)(const struct peer_thread *thread))
{
	size_t found = PEER_NONE;

	for (size_t i = 0; i < count; i++) {
		if (!has(&thread[i]))
			continue;
		if (found != PEER_NONE)
			return PEER_NONE;
		found = i;
	}
	return found;
}

static bool
thread_uses_end(const struct peer_thread *thread)
{
	return thread->uses_end;
}

static bool
thread_is_last_user(const struct peer_thread *thread)
{
	return thread->last_user && !thread->waits_elsewhere;
}

static bool
thread_works(const struct peer_thread *thread)
{
	return thread->works;
}

size_t
peer_choose_thread(const struct peer_thread *thread, size_t count)
{
	size_t chosen;

	if (count == 1)
		return 0;
	chosen = only_thread(thread, count, thread_uses_end);
	if (chosen == PEER_NONE)
		chosen = only_thread(thread, count, thread_is_last_user);
	if (chosen == PEER_NONE)
		chosen = only_thread(thread, count, thread_works);
	return chosen;
}

size_t
peer_follow(uint32_t from, uint32_t (*next)(void *context, uint32_t from), void *context,
	    uint32_t path[PEER_HOPS_MOST])
{
	size_t hops = 0;
	uint32_t at = from;

	while (hops < PEER_HOPS_MOST) {
		at = next(context, at);
		if (at == PEER_NO_HOP || at == from)
			break;
		for (size_t i = 0; i < hops; i++)
			if (path[i] == at)
				return hops;
		path[hops++] = at;
	}
	return hops;
}
