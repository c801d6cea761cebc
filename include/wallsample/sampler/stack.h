/* SPDX-License-Identifier: MIT */
/*
 * stack.h - turns call chains of addresses into interned stacks of the profile, for one process or
 * core file.
 */
#ifndef WALLSAMPLE_SAMPLER_STACK_H
#define WALLSAMPLE_SAMPLER_STACK_H

#include "wallsample/base/table.h"
#include "wallsample/jit/jit.h"
#include "wallsample/process/maps.h"
#include "wallsample/profile/profile.h"
#include "wallsample/profile/run_stats.h"
#include "wallsample/runtime/runtime.h"
#include "wallsample/unwind/chain.h"

struct stack_state {
	/* All borrowed. */
	struct maps *maps;
	struct profile *profile;
	const struct jit *jit;           /* names code made at run time; or NULL */
	const struct runtimes *runtimes; /* or NULL */
	/* (address, origin) -> frame; cleared when mappings or code made at run time change. */
	struct table frames;
	uint64_t generation;
	uint32_t epoch;
	/* Address of an object -> size of its bytecode; cleared at each tick. */
	struct table bytecode_sizes;
	uint32_t bytecode_tick;
	size_t interpreters; /* address ranges of interpreters that the unwinder knows */
	uint32_t *script;    /* place of a language runtime -> frame */
	size_t script_count, script_capacity;
	uint32_t failure[FAILURE_COUNT]; /* stacks, or STACK_NONE: not interned yet */
};

void stacks_init(struct stack_state *stacks, struct maps *maps, struct profile *profile,
		 const struct jit *jit);
void stacks_release(struct stack_state *stacks);

/*
 * Returns the interned stack of the chain, with the frames of language runtimes (`capture` may be
 * NULL) at their places in it. `tick`: the number of the present tick. `root`: the stack that calls
 * the outermost frame, or STACK_NONE.
 */
uint32_t stacks_intern(struct stack_state *stacks, const struct chain *chain,
		       struct runtime_capture *capture, uint32_t tick, uint32_t root);
/* Returns the frame of an address: that of an instruction (`exact`), or a return address. */
uint32_t stacks_frame(struct stack_state *stacks, uint64_t address, bool exact);
/* Returns the stack of a sample without code: the text of the failure is its only frame. */
uint32_t stacks_failure(struct stack_state *stacks, enum sample_failure failure);

#endif
