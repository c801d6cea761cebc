/* SPDX-License-Identifier: MIT */
/* chain.c - call chains: arrays of frames that grow up to a limit. */
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/unwind/chain.h"

static const struct {
	bool whole;
	const char *text;
} ends[] = {
#define X(name, is_whole, frame_text) [CHAIN_##name] = { is_whole, frame_text },
	CHAIN_ENDS(X)
#undef X
};

static const char *const origins[] = {
#define X(name, text) [FRAME_##name] = text,
	FRAME_ORIGINS(X)
#undef X
};

bool
chain_end_is_whole(enum chain_end end)
{
	return ends[end].whole;
}

const char *
chain_end_text(enum chain_end end)
{
	return ends[end].text;
}

const char *
frame_origin_text(enum frame_origin origin)
{
	return origins[origin];
}

void
chain_init(struct chain *chain)
{
	memset(chain, 0, sizeof(*chain));
}

void
chain_release(struct chain *chain)
{
	free(chain->frame);
	chain_init(chain);
}

void
chain_clear(struct chain *chain)
{
	chain->count = 0;
	chain->end = CHAIN_OUTERMOST;
	chain->end_address = 0;
	chain->stack_used = 0;
	chain->read_live = false;
}

static bool
is_same_frame(const struct chain_frame *a, const struct chain_frame *b)
{
	return a->sp != 0 && a->sp == b->sp && a->address == b->address;
}

/*
 * Returns the distance from the last frame to an earlier one that equals it; 0 when none is found.
 * Compares with one frame only, whose index is the largest power of two below that of the last
 * frame: as the chain grows, this finds a repetition of any length (R. Brent, "An improved Monte
 * Carlo factorization algorithm", BIT 20, 1980).
 */
static size_t
chain_find_period(const struct chain *chain)
{
	size_t last = chain->count - 1, anchor = 1;

	if (last == 0)
		return 0;
	while (anchor * 2 < last)
		anchor *= 2;
	if (last == 1)
		anchor = 0;
	return is_same_frame(&chain->frame[last], &chain->frame[anchor]) ? last - anchor : 0;
}

/* Removes the frames that repeat frames `period` places before them, and the frames from the first
 * in the repetition that is not above its callee on the stack. */
static void
chain_cut_cycle(struct chain *chain, size_t period)
{
	size_t start = chain->count - 1 - period, count;

	while (start > 0 &&
	       is_same_frame(&chain->frame[start - 1], &chain->frame[start - 1 + period]))
		start--;
	count = start + 1;
	while (count < start + period && chain->frame[count].sp > chain->frame[count - 1].sp)
		count++;
	chain->count = count;
}

bool
chain_add(struct chain *chain, uint64_t address, uint64_t sp, enum frame_origin origin, bool exact)
{
	size_t period;

	if (chain->count == CHAIN_MAX_DEPTH) {
		chain->end = CHAIN_DEPTH;
		return false;
	}
	if (chain->count == chain->capacity)
		chain->frame = xgrow(chain->frame, &chain->capacity, chain->count + 1,
				     sizeof(*chain->frame));
	chain->frame[chain->count++] = (struct chain_frame){
		.address = address, .sp = sp, .origin = (uint8_t)origin, .exact = exact
	};
	period = chain_find_period(chain);
	if (period == 0)
		return true;
	chain_cut_cycle(chain, period);
	chain->end = CHAIN_CYCLE;
	return false;
}

uint64_t
chain_frame_lookup(const struct chain_frame *frame)
{
	return frame->exact ? frame->address : frame->address - 1;
}
