/* SPDX-License-Identifier: MIT */
/*
 * stack.h - turns call chains of addresses into stacks of the profile, for one process or core
 * file; and makes the frames that stand for locks, and the stacks that stand for unknown lock
 * holders.
 *
 * A stack or frame is given by its number in the profile. Both are interned: equal ones have the
 * same number.
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
	/* names of code generated at run time; NULL: such code gets no names */
	const struct jit *jit;
	/* NULL: stacks have only frames of native code */
	const struct runtimes *runtimes;
	const struct memory *reader; /* reads the memory of the target; NULL in core files */
	/* (address, enum frame_origin) -> frame. Cleared when mappings or code generated at run
	 * time change. */
	struct table frames;
	uint64_t generation; /* value of maps_generation() for which `frames` is valid */
	uint32_t epoch;      /* value of jit_epoch() for which `frames` is valid */
	/* Address of a bytecode array (jit.h) -> size of its bytecode. Cleared at each tick. */
	struct table bytecode_sizes;
	/* number of the tick at which bytecode_sizes was filled */
	uint32_t bytecode_tick;
	/* number of ranges that jit_interpreters returned at the last tick */
	size_t interpreters;
	/* By number of a struct runtime_place (a function and line of an interpreted program): its
	 * frame; FRAME_NONE: not interned yet. */
	uint32_t *script;
	size_t script_count, script_capacity;
	/* by enum sample_failure: the stack that stacks_failure returns; STACK_NONE: not interned
	 * yet */
	uint32_t failure[FAILURE_COUNT];
};

/* Initialises *stacks, whose contents are to be freed with stacks_release. The other arguments are
 * borrowed; `jit` may be NULL. The caller may set `runtimes` afterwards. */
void stacks_init(struct stack_state *stacks, struct maps *maps, struct profile *profile,
		 const struct jit *jit);
void stacks_release(struct stack_state *stacks);

/*
 * Returns the stack of the chain, with the captured frames of language runtimes at their places in
 * it (`capture`; NULL: there are none). If the chain did not reach the thread's first function, a
 * frame that gives the reason is the caller of its outermost frame. `tick`: number of the present
 * tick. `root`: the stack that calls the outermost of these frames, or STACK_NONE.
 */
uint32_t stacks_intern(struct stack_state *stacks, const struct chain *chain,
		       struct runtime_capture *capture, uint32_t tick, uint32_t root);
/* Returns the frame of native code at this address. `exact`: it is the address of an instruction;
 * otherwise it is a return address. */
uint32_t stacks_frame(struct stack_state *stacks, uint64_t address, bool exact);
/* Returns the stack of one named frame with this text, called by the stack `caller`, which may be
 * STACK_NONE. */
uint32_t stack_of_text(struct profile *profile, const char *text, uint32_t caller);
/* Returns the stack of a sample without a call chain: its only frame is the text of the failure. */
uint32_t stacks_failure(struct stack_state *stacks, enum sample_failure failure);

/* Returns the frame that stands for a lock at this address: if the address is in the data of a
 * module, a frame of origin FRAME_DATA; otherwise a named frame with the address as its text. */
uint32_t frame_of_data(const struct maps *maps, struct profile *profile, uint64_t address);
/* Returns a stack of one named frame that says why the holder of a lock is not known. It is used in
 * place of the holder's stack. */
uint32_t stack_of_unknown_holder(struct profile *profile, const struct wait_owner *owner);

#endif
