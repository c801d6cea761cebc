/* SPDX-License-Identifier: MIT */
/*
 * stack.h - turns call chains of addresses into interned stacks of the profile, for one process or
 * core file; and frames and stacks that stand for locks and for unknown holders.
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
#include "wallsample/wait/wait.h"

struct stack_state {
	/* Borrowed. */
	struct maps *maps;
	struct profile *profile;
	const struct jit *jit;           /* names code made at run time; NULL: such code has none */
	const struct runtimes *runtimes; /* NULL: captures have no frames of language runtimes */
	/* (address, origin) -> frame; cleared when mappings or code made at run time change. */
	struct table frames;
	uint64_t generation; /* maps_generation of `frames` */
	uint32_t epoch;      /* jit_epoch of `frames` */
	/* Address of an object -> size of its bytecode; cleared at each tick. */
	struct table bytecode_sizes;
	uint32_t bytecode_tick; /* number of the tick of bytecode_sizes */
	size_t interpreters; /* number of address ranges of interpreters that the unwinder knows */
	uint32_t *script;    /* by number of a struct runtime_place: its frame, or FRAME_NONE */
	size_t script_count, script_capacity;
	uint32_t failure[FAILURE_COUNT]; /* stacks of stacks_failure; STACK_NONE: not interned */
};

/* All arguments but `stacks` are borrowed; `jit` may be NULL. */
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
/* Returns the frame of an address: with `exact` the address of an instruction, otherwise a return
 * address. */
uint32_t stacks_frame(struct stack_state *stacks, uint64_t address, bool exact);
/* Returns the stack of one named frame with this text, called by the stack `caller`, which may be
 * STACK_NONE. */
uint32_t stack_of_text(struct profile *profile, const char *text, uint32_t caller);
/* Returns the stack of a sample without code: the text of the failure is its only frame. */
uint32_t stacks_failure(struct stack_state *stacks, enum sample_failure failure);

/* Returns the frame of a lock at this address: a variable of a module, or the bare address. */
uint32_t frame_of_data(const struct maps *maps, struct profile *profile, uint64_t address);
/* Returns a stack of one named frame, in place of a lock holder's stack, that says why the holder
 * is not known. */
uint32_t stack_of_unknown_holder(struct profile *profile, const struct wait_owner *owner);

#endif
