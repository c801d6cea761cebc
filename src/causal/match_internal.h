/* SPDX-License-Identifier: MIT */
/* match_internal.h - which candidates a stack of the profile has in it. */
#ifndef WALLSAMPLE_CAUSAL_MATCH_INTERNAL_H
#define WALLSAMPLE_CAUSAL_MATCH_INTERNAL_H

#include "wallsample/causal/causal.h"
#include "wallsample/profile/profile.h"
#include "wallsample/symbol/symbol.h"

/* All borrowed but the memos, which begin as zeros. */
struct match {
	const struct causal_result *result;
	const struct profile *profile;
	struct symbols *symbols;
	/* By number of the profile's frame: bit n of `mask` is candidate n; `inner` of its
	 * innermost function alone. */
	struct match_frame {
		uint64_t mask, inner;
		bool known, asked;
	} *frame;
	size_t frames, frame_capacity;
	uint32_t *asked;  /* frames that were met and not named yet */
	size_t asked_count, asked_capacity;
	struct symbol *symbol;
};

void match_release(struct match *match);
/*
 * Bit n: candidate n. Frames that have no name yet are in no candidate, and asked for: to name
 * them may take as long as it takes to read a file, and threads stand still now.
 */
uint64_t match_stack(struct match *match, uint32_t stack);
/* Names what was asked for. */
void match_name_asked(struct match *match);

#endif
