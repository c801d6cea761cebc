/* SPDX-License-Identifier: MIT */
/*
 * stack.h - what stack.c keeps from stack to stack, of a live process or of a core file.
 */
#ifndef WALLSAMPLE_SAMPLER_STACK_H
#define WALLSAMPLE_SAMPLER_STACK_H

#include "wallsample/unwind/chain.h"
#include "wallsample/jit/jit.h"
#include "wallsample/process/maps.h"
#include "wallsample/profile/profile.h"
#include "wallsample/runtime/runtime.h"
#include "wallsample/base/table.h"

struct stack_state {
	/* All borrowed. */
	struct maps *maps;
	struct profile *profile;
	const struct jit *jit; /* names code made at run time; or NULL */
	/* (address, origin) -> frame, forgotten when mappings change, or code made at run time. */
	struct table frames;
	uint64_t generation;
	uint32_t epoch;
	/* Address of an object -> how long the bytecode in it is, forgotten at each tick. */
	struct table bytecode_sizes;
	uint32_t bytecode_tick;
	size_t interpreters; /* as many as the unwinder knows */
	const struct runtimes *runtimes; /* borrowed; or NULL */
	uint32_t *script;     /* place of the runtimes -> frame */
	size_t script_count, script_capacity;
};

void stacks_init(struct stack_state *stacks, struct maps *maps, struct profile *profile,
		 const struct jit *jit);
void stacks_release(struct stack_state *stacks);

/* The interned stack of the chain, with the frames of runtimes (capture may be NULL) at their
 * places in it; `tick`: the number of this one; `root`: the stack that calls it, or STACK_NONE. */
uint32_t stacks_intern(struct stack_state *stacks, const struct chain *chain,
		       struct runtime_capture *capture, uint32_t tick, uint32_t root);
/* The frame of this address: an instruction's, or (`exact` false) that which a call returns to. */
uint32_t stacks_frame(struct stack_state *stacks, uint64_t address, bool exact);

#endif
