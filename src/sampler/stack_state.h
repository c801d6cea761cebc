/* SPDX-License-Identifier: MIT */
/*
 * stack_state.h - stack.c: what it keeps from stack to stack.
 */
#ifndef WALLSAMPLE_STACK_STATE_H
#define WALLSAMPLE_STACK_STATE_H

#include "wallsample/sampler.h"
#include "wallsample/table.h"

struct stack_state {
	/* (address, origin) -> frame, forgotten when mappings change, or code made at run time. */
	struct table frames;
	uint64_t generation;
	uint32_t epoch;
	/* Address of an object -> how long the bytecode in it is, forgotten at each tick. */
	struct table bytecode_sizes;
	uint32_t bytecode_tick;
	size_t interpreters; /* as many as the unwinder knows */
};

uint32_t stack_intern(struct sampler *sampler, const struct chain *chain);
uint32_t stack_of_failure(struct sampler *sampler, enum sample_failure failure);

#endif
