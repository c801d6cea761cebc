/* SPDX-License-Identifier: MIT */
/*
 * chain.h - a call chain of raw addresses, and why it ended.
 */
#ifndef WALLSAMPLE_UNWIND_CHAIN_H
#define WALLSAMPLE_UNWIND_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a frame was found. X(name, text) */
#define FRAME_ORIGINS(X)                                                       \
	X(REGISTERS, "registers")   /* the innermost: the thread's own pc */   \
	X(CFI, "unwind tables")     /* .eh_frame or .debug_frame */            \
	X(POINTER, "frame pointer")                                            \
	X(EPILOGUE, "epilogue")     /* JIT code that only returns from there */ \
	X(GUESS, "guess")           /* a return address found by scanning */   \
	X(DATA, "data")             /* no code: the address of an object in memory */ \
	X(SCRIPT, "interpreter")    /* no native code: a function that is interpreted */

enum frame_origin {
#define X(name, text) FRAME_##name,
	FRAME_ORIGINS(X)
#undef X
};

/*
 * Why a chain ended. X(name, whole, frame text). A chain that is not whole gets the
 * frame text as its outermost frame, so that what is missing has a name.
 */
#define CHAIN_ENDS(X)                                                          \
	X(OUTERMOST, true, "")                                                 \
	X(DEPTH, false, "[truncated: deeper than the limit]")                  \
	X(STACK_LIMIT, false, "[truncated: stack larger than the copy]")       \
	X(NO_UNWIND_INFO, false, "[truncated: no unwind information]")         \
	X(BAD_MEMORY, false, "[truncated: stack not readable]")                \
	X(NEEDS_REGISTER, false, "[truncated: a register is not known]")

enum chain_end {
#define X(name, whole, text) CHAIN_##name,
	CHAIN_ENDS(X)
#undef X
	CHAIN_END_COUNT
};

bool chain_end_is_whole(enum chain_end end);
const char *chain_end_text(enum chain_end end); /* the frame text */
const char *frame_origin_text(enum frame_origin origin);

/* Deeper stacks are cut at the outer end. */
#define CHAIN_MAX_DEPTH 16384

struct chain_frame {
	uint64_t address; /* the pc; for a caller, the return address */
	uint8_t origin;   /* enum frame_origin */
	bool exact;       /* address is of the next instruction to run, not a return
			   * address: the innermost frame and those a signal interrupted */
	uint64_t sp;      /* the stack pointer there: what is from here to that of the caller
			   * is the frame's own; 0: not known */
	uint64_t executes; /* in a frame of an interpreter's: the word that tells what it
			    * executes, see unwinder_set_interpreters; else 0 */
};

struct chain { /* innermost first */
	struct chain_frame *frame;
	size_t count, capacity;
	enum chain_end end;
	uint64_t end_address; /* the last pc that could not be unwound; 0 if whole */
	size_t stack_used;    /* bytes of the copied stack that the walk needed */
	bool read_live;       /* memory of the live process was read: check that it slept */
};

void chain_init(struct chain *chain);
void chain_release(struct chain *chain);
void chain_clear(struct chain *chain);
/* False, with end set to CHAIN_DEPTH, at the depth limit. */
bool chain_add(struct chain *chain, uint64_t address, uint64_t sp, enum frame_origin origin,
	       bool exact);

/* The address to look names up by: a return address lies behind its call. */
uint64_t chain_frame_lookup(const struct chain_frame *frame);

#endif
