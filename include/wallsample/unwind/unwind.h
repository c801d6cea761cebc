/* SPDX-License-Identifier: MIT */
/*
 * unwind.h - unwinds the snapshot of a thread (snapshot.h) into a call chain (chain.h).
 *
 * The unwinder tries several methods in this order: the function table of pclntab.h, rules compiled
 * from the unwind tables, the kernel's signal frame, the instructions of JIT code that only
 * returns, the frames of V8's interpreter, and frame pointers. The first method that finds the
 * caller adds the frame. Where no method can find it, because a file has no unwind tables or the
 * frame pointer is not known, the unwinder searches the stack for a return address or a frame
 * record. It marks a frame that it finds in this way as guessed, unless the return address follows
 * a direct call of the function whose caller is wanted. Each frame records how it was found (enum
 * frame_origin).
 */
#ifndef WALLSAMPLE_UNWIND_UNWIND_H
#define WALLSAMPLE_UNWIND_UNWIND_H

#include "wallsample/unwind/chain.h"
#include "wallsample/process/maps.h"
#include "wallsample/tracer/snapshot.h"

/* Which code reads the unwind tables. X(NAME, argument of the option --unwinder). With LIBUNWIND or
 * LIBDW it is the library of this name, so that its chains can be compared. Time and memory that
 * the library takes for damaged tables are not bounded. */
#define UNWIND_CHOICES(X)                                                                          \
	X(AUTO, "auto") /* reads unwind tables itself */                                           \
	X(LIBUNWIND, "libunwind")                                                                  \
	X(LIBDW, "libdw")

enum unwind_choice {
#define X(name, word) UNWIND_##name,
	UNWIND_CHOICES(X)
#undef X
};

struct unwinder;

/* Creates an unwinder for the process of `maps`, which is borrowed. The result must be freed with
 * unwinder_free(), which accepts NULL. */
struct unwinder *unwinder_create(struct maps *maps, enum unwind_choice choice);
void unwinder_free(struct unwinder *unwinder);

/*
 * Unwinds the snapshot into *chain, which is cleared first. The chain always has the leaf and a
 * reason for its end. `may_stop` is true if the caller can stop the thread and call again with a
 * snapshot of all registers.
 *
 * If the chain needs the frame pointer and its value is not known (as for a sleeping thread), the
 * unwinder tries frame records that it finds on the stack: up to 8 whose return address follows a
 * direct call of the frame's function, and then, unless `may_stop`, up to 8 others. It accepts the
 * first with which it reaches the thread's first function, the depth limit or the end of the copied
 * stack. If it accepts none, and the frame is in a file without unwind tables, it also searches the
 * stack for a return address, unless `may_stop`. If no caller is found, chain->end is
 * CHAIN_NEEDS_REGISTER.
 */
void unwinder_walk(struct unwinder *unwinder, const struct snapshot *snapshot, bool may_stop,
		   struct chain *chain);

/*
 * Sets the address ranges of V8's interpreters, in ascending order. They are copied, and replace
 * the ranges of an earlier call. Frames whose address is in a range get `executes`: the
 * interpreter's reference to the bytecode array that it executes (jit.h). If there are no ranges,
 * as after unwinder_create(), frames are not searched for such references.
 *
 * The code of a single bytecode often sets up no frame. Following the frame pointer from there
 * would leave out the interpreter's frame, so the unwinder searches the stack for the return
 * address into the interpreter.
 */
void unwinder_set_interpreters(struct unwinder *unwinder, const struct address_range *range,
			       size_t count);

#endif
