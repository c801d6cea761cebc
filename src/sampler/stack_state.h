/* SPDX-License-Identifier: MIT */
/*
 * stack_state.h - what stack.c keeps from stack to stack.
 */
#ifndef WALLSAMPLE_STACK_STATE_H
#define WALLSAMPLE_STACK_STATE_H

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

#endif
