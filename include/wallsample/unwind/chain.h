/* SPDX-License-Identifier: MIT */
/*
 * chain.h - a call chain of raw addresses, and the reason why it ended.
 */
#ifndef WALLSAMPLE_UNWIND_CHAIN_H
#define WALLSAMPLE_UNWIND_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a frame was found. X(name, text) */
#define FRAME_ORIGINS(X)                                                                           \
	X(REGISTERS, "registers") /* the leaf: the thread's own pc */                              \
	X(CFI, "unwind tables") /* .eh_frame, .debug_frame, pclntab (pclntab.h), a signal frame */ \
	X(POINTER, "frame pointer") /* a frame record, or a frame of V8's interpreter */           \
	X(EPILOGUE, "epilogue")     /* by decoding JIT code that is about to return */             \
	X(GUESS, "guess")           /* a possible caller, found by searching the stack */          \
	X(DATA, "data")             /* not code: address of a lock or other data */                \
	X(SCRIPT, "interpreter")    /* not native code: an interpreted function */

enum frame_origin {
#define X(name, text) FRAME_##name,
	FRAME_ORIGINS(X)
#undef X
};

/*
 * Why a chain ended. X(name, whole, frame text): the chain is whole when it reaches the thread's
 * first function. Reports show the frame text as the outermost frame of a chain that is not whole.
 */
#define CHAIN_ENDS(X)                                                                              \
	X(OUTERMOST, true, "")                                                                     \
	X(DEPTH, false, "[truncated: deeper than the limit]")                                      \
	X(STACK_LIMIT, false, "[truncated: stack larger than the copy]")                           \
	X(NO_UNWIND_INFO, false, "[truncated: no unwind information]")                             \
	X(BAD_MEMORY, false, "[truncated: stack not readable]")                                    \
	X(NEEDS_REGISTER, false, "[truncated: a register is not known]")                           \
	X(CYCLE, false, "[truncated: the callers repeat]")                                         \
	X(BAD_TABLES, false, "[truncated: damaged unwind tables]")

enum chain_end {
#define X(name, whole, text) CHAIN_##name,
	CHAIN_ENDS(X) CHAIN_END_COUNT
#undef X
};

/* True when a chain with this end reaches the thread's first function. */
bool chain_end_is_whole(enum chain_end end);
/* Return the frame text of an end ("" if the chain is whole) and the text of an origin, as constant
 * strings. */
const char *chain_end_text(enum chain_end end);
const char *frame_origin_text(enum frame_origin origin);

/* Largest number of frames in a chain; the outer frames of deeper stacks are dropped. */
#define CHAIN_MAX_DEPTH 16384

struct chain_frame {
	uint64_t address; /* the pc; for a caller, the return address */
	uint8_t origin;   /* enum frame_origin */
	/*
	 * The address is that of the next instruction to run, not a return address: true for the
	 * leaf, for code that a signal interrupted, and for a signal handler's return trampoline.
	 */
	bool exact;
	/* The frame's stack pointer: the frame occupies the stack from here to the caller's sp. 0
	 * when not known. */
	uint64_t sp;
	/* In a frame of V8's interpreter, the reference to the bytecode that the frame executes,
	 * see unwinder_set_interpreters(); else 0. */
	uint64_t executes;
};

struct chain { /* innermost first */
	struct chain_frame *frame;
	size_t count, capacity;
	enum chain_end end;
	uint64_t end_address; /* the pc that could not be unwound; 0 if whole */
	/* Number of bytes from the start of the copied stack (snapshot.h) up to the highest byte
	 * that was read. */
	size_t stack_used;
	/* Stack memory beyond the copy was read from the process: the chain is valid only if the
	 * thread slept until the chain was complete. */
	bool read_live;
};

void chain_init(struct chain *chain);
/* Frees the frames; the chain is then as after chain_init(). */
void chain_release(struct chain *chain);
void chain_clear(struct chain *chain); /* removes all frames, keeps the memory */
/*
 * Appends a frame as the outermost one, with `executes` 0. Returns false, with `end` set to
 * CHAIN_DEPTH, when the chain has CHAIN_MAX_DEPTH frames. Returns false, with `end` set to
 * CHAIN_CYCLE, when the last frames repeat the frames before them, address and stack pointer
 * alike: the walk would never end. The chain then keeps the frames up to the first one in the
 * repetition whose caller does not have a higher stack pointer. Frames with `sp` 0 do not count.
 */
bool chain_add(struct chain *chain, uint64_t address, uint64_t sp, enum frame_origin origin,
	       bool exact);

/* Returns the address by which to look up symbols: the frame's address, minus 1 if it is a return
 * address, because that may be the first address behind the calling function. */
uint64_t chain_frame_lookup(const struct chain_frame *frame);

#endif
