/* SPDX-License-Identifier: MIT */
/*
 * unwind.h - unwinds the snapshot of a thread into a call chain.
 *
 * The unwinder tries several methods in order: rules compiled from the unwind tables, libunwind
 * with accessors that read the snapshot, libdw's CFI, the instructions of JIT code that only
 * returns, and frame pointers. The fallback is a scan of the stack for return addresses; its frames
 * are marked as guessed. The first method that finds the caller adds the frame, and each frame
 * records how it was found (enum frame_origin).
 */
#ifndef WALLSAMPLE_UNWIND_UNWIND_H
#define WALLSAMPLE_UNWIND_UNWIND_H

#include "wallsample/unwind/chain.h"
#include "wallsample/process/maps.h"
#include "wallsample/tracer/snapshot.h"

/* The methods that an unwinder uses. X(NAME, word of the option) */
#define UNWIND_CHOICES(X)                                                                          \
	X(AUTO, "auto")           /* all methods, the fast rules first */                          \
	X(LIBUNWIND, "libunwind") /* only this library reads unwind tables, for comparisons */     \
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
 * reason for its end. If a sleeping thread's frame pointer is not known, the unwinder guesses it
 * from the stack, and accepts a guess only if the walk then reaches the thread's first function. If
 * no guess is accepted and the caller can stop the thread (`may_stop`), which makes all registers
 * readable, the chain ends as CHAIN_NEEDS_REGISTER; otherwise the walk continues by guessing return
 * addresses.
 */
void unwinder_walk(struct unwinder *unwinder, const struct snapshot *snapshot, bool may_stop,
		   struct chain *chain);

/*
 * Sets the address ranges of V8's interpreter, sorted by start (copied, replacing earlier ones).
 * Frames in them get `executes`: the address of the bytecode array that the interpreter keeps in
 * its frame (see jit.h). Without ranges, the initial state, this costs nothing.
 *
 * The code of a single bytecode often sets up no frame. The frame pointer then skips the
 * interpreter's own return address, so the unwinder searches the stack for it.
 */
void unwinder_set_interpreters(struct unwinder *unwinder, const struct address_range *range,
			       size_t count);

#endif
