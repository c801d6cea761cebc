/* SPDX-License-Identifier: MIT */
/* crowds.h - how many threads wait on one futex at once. */
#ifndef WALLSAMPLE_SAMPLER_CROWDS_H
#define WALLSAMPLE_SAMPLER_CROWDS_H

#include <stdint.h>

#include "wallsample/base/table.h"

struct sampler;

struct crowds {
	struct table words;   /* futex word -> how many threads were last seen to wait on it */
	struct table larger;  /* (wait of the profile, word) that may be of more than it says */
	uint64_t next_ns;     /* when they are counted again */
};

void crowds_init(struct crowds *crowds);
void crowds_release(struct crowds *crowds);

/* A thread waits on the word, or on another one from now on; 0: none. */
void crowd_join(struct sampler *sampler, uint64_t word);
void crowd_leave(struct sampler *sampler, uint64_t word);
/* How many were last seen to wait there: some of them may have left since. */
uint32_t crowd_seen(const struct sampler *sampler, uint64_t word);
/* The word that this wait is for: more may be there at once than the profile says. */
void crowd_note(struct sampler *sampler, uint32_t wait, uint64_t word);
/* Everybody was looked at: counts those who surely wait at the same moment. */
void crowds_tick(struct sampler *sampler);

#endif
