/* SPDX-License-Identifier: MIT */
/* peer_ends.c - keeps the other ends of pipes and connections for which threads wait. */
#include <stdlib.h>
#include <string.h>

#include "sampler/threads_internal.h"

/* Most other ends of one process, and users of ends, that are kept. A table that is full is
 * emptied. */
#define ENDS_MOST 4096
#define USERS_MOST 16384
/* Other ends are searched again after this time, because processes inherit and close descriptors.
 * The time doubles up to PAUSE_MOST_NS as long as the result is the same. */
#define PAUSE_NS NS_PER_SEC
#define PAUSE_MOST_NS (16 * NS_PER_SEC)

static void
ends_clear(struct peer_ends *ends)
{
	for (size_t i = 0; i < ends->ends.count; i++)
		free(ends->end[i].id);
	table_clear(&ends->ends);
	ends->turn = 0;
}

void
peer_ends_release(struct peer_ends *ends)
{
	ends_clear(ends);
	table_release(&ends->ends);
	free(ends->end);
}

void
peers_release(struct peers *peers)
{
	table_release(&peers->users);
	table_release(&peers->through);
	table_release(&peers->named);
}

void
peers_note(struct waits *waits, const struct sampled_thread *thread, struct wait *wait,
	   const char *id)
{
	struct peers *peers = &waits->run->shared.peers;
	struct peer_ends *ends = &waits->peers;
	bool added;
	uint32_t at;

	wait->end = peer_key(id, wait->writes);
	if (waits->run->processes.count < 2)
		return;
	if (peers->users.count >= USERS_MOST)
		table_clear(&peers->users);
	*table_insert(&peers->users, wait->end, 0, 0, NULL) = (uint32_t)thread->watch.tid;
	if (ends->ends.count >= ENDS_MOST)
		ends_clear(ends);
	at = *table_insert(&ends->ends, wait->end, 0, (uint32_t)ends->ends.count, &added);
	if (added) {
		ends->end = xgrow(ends->end, &ends->capacity, (size_t)at + 1, sizeof(*ends->end));
		ends->end[at] = (struct peer_end){ .id = xstrdup(id), .pause_ns = PAUSE_NS };
	}
	ends->end[at].fd = wait->fd;
	ends->end[at].tick = waits->run->tick.number;
}

struct peer_end *
peers_find_end(struct waits *waits, uint64_t end)
{
	uint32_t at;

	return end != 0 && table_find(&waits->peers.ends, end, 0, &at) ? &waits->peers.end[at] :
									 NULL;
}

static bool
is_same_peer(const struct peer *a, const struct peer *b)
{
	return a->end == b->end && a->count == b->count && a->own == b->own &&
	       a->whole == b->whole && memcmp(a->pid, b->pid, a->count * sizeof(a->pid[0])) == 0;
}

static void
search_end(struct waits *waits, struct peer_end *end)
{
	struct peer found;
	bool same;

	if (!peer_find(waits->descriptors, end->fd, end->id, &found))
		found = end->peer; /* closed meanwhile: the last result remains */
	same = is_same_peer(&found, &end->peer) && end->next_ns != 0;
	end->pause_ns = !same                         ? PAUSE_NS :
			end->pause_ns < PAUSE_MOST_NS ? end->pause_ns * 2 :
							PAUSE_MOST_NS;
	end->peer = found;
	end->next_ns = clock_now_ns() + end->pause_ns;
}

uint64_t
peers_search(struct waits *waits, uint64_t until)
{
	struct peer_ends *ends = &waits->peers;
	const uint32_t tick = waits->run->tick.number;
	uint64_t now = clock_now_ns();

	for (size_t i = 0; i < ends->ends.count && now < until; i++) {
		struct peer_end *end;

		ends->turn = (ends->turn + 1) % ends->ends.count;
		end = &ends->end[ends->turn];
		/* Ends for which no thread waits are searched only once. */
		if (now < end->next_ns || (end->next_ns != 0 && end->tick != tick))
			continue;
		search_end(waits, end);
		now = clock_now_ns();
	}
	return now;
}
