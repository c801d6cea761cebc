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

bool
chain_add(struct chain *chain, uint64_t address, uint64_t sp, enum frame_origin origin, bool exact)
{
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
	return true;
}

uint64_t
chain_frame_lookup(const struct chain_frame *frame)
{
	return frame->exact ? frame->address : frame->address - 1;
}
