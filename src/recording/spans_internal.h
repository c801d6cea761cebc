/* SPDX-License-Identifier: MIT */
/*
 * spans_internal.h - samples become spans: what a thread goes on doing is one row that grows.
 *
 * A span's ticks say when, its samples and times what it weighs. The two may differ: what the
 * sampler corrects later (sampler.h) has a weight, below zero even, and no place in time.
 */
#ifndef WALLSAMPLE_RECORDING_SPANS_INTERNAL_H
#define WALLSAMPLE_RECORDING_SPANS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/profile/profile.h"
#include "wallsample/base/table.h"

struct span {
	int64_t id;          /* 0, 1, 2, … in the order in which they began */
	struct profile_entry sum;
	uint64_t first, ticks;
};

struct open_span {
	struct span span;
	bool is_open, changed; /* since it was last written */
	uint64_t next;         /* the thread is accounted for up to this tick */
	uint64_t told;         /* the tick at which it was first told of */
	int64_t extra;         /* samples less ticks that were told of it */
};

struct tick_row {
	uint64_t start_ns, span_ns;
	uint32_t parallelism, runnable, ready;
};

/* What a holder is blamed for between two commits, in the ticks from `first` up to `end`. */
struct blame_span {
	struct profile_blame sum;
	uint64_t first, end;
};

struct spans {
	const struct profile *profile; /* borrowed */
	struct open_span *open; /* by thread of the profile */
	size_t open_count, open_capacity;
	/*
	 * Of what many share (task 0, thread 0), who do different things at one tick: one for
	 * each of these. `next` is all that is used of where it is.
	 */
	struct open_span *side;
	size_t side_count, side_capacity;
	struct table doings;    /* (GIL, state and system call, wait and carrier) -> number */
	struct table sides;     /* (thread and stack, that number) -> index */
	struct span *closed;    /* not written yet, as are */
	size_t closed_count, closed_capacity;
	struct tick_row *tick;
	size_t tick_count, tick_capacity;
	struct blame_span *blame;
	size_t blame_count, blame_capacity;
	struct table blame_table; /* (wait and thread, stack and state) */
	uint64_t blame_written; /* how many came before these */
	uint64_t ticks;         /* so far: the number of the tick in progress */
	uint64_t written;       /* ticks when all that there was had been written */
	uint64_t wall_ns;
	uint64_t clock_ns, date_ns; /* CLOCK_MONOTONIC, CLOCK_REALTIME when the first began */
	int64_t next_id;
	/* Ticks with nobody runnable that no wait has been charged with yet. */
	uint64_t gap_first, gap_end;
};

void spans_init(struct spans *spans, const struct profile *profile);
void spans_release(struct spans *spans);

/* The four of struct profile_recorder. */
void spans_sample(void *context, const struct profile_entry *sample);
void spans_charge(void *context, const struct profile_entry *entry, int64_t latency_ns);
void spans_blame(void *context, const struct profile_blame *blame);
void spans_tick(void *context, uint64_t span_ns, uint32_t parallelism, uint32_t runnable,
		uint32_t ready);

/* All that there is has been written. */
void spans_written(struct spans *spans);

#endif
