/* SPDX-License-Identifier: MIT */
/*
 * unwind.h - unwinds the snapshot of a thread into a call chain.
 *
 * The unwinder tries several methods in this order: the function table of pclntab.h, rules compiled
 * from the unwind tables, the kernel's signal frame, libunwind with accessors that read the
 * snapshot, libdw's CFI, the instructions of JIT code that only returns, the frames of V8's
 * interpreter, and frame pointers. The first method that finds the caller adds the frame. Where no
 * method finds it, the unwinder searches the stack for a return address, and marks the frame as
 * guessed. Each frame records how it was found (enum frame_origin).
 */
#ifndef WALLSAMPLE_UNWIND_UNWIND_H
#define WALLSAMPLE_UNWIND_UNWIND_H

#include "wallsample/unwind/chain.h"
#include "wallsample/process/maps.h"
#include "wallsample/tracer/snapshot.h"

/* The methods that an unwinder uses. X(NAME, word of the option). With LIBUNWIND or LIBDW, only
 * this library reads unwind tables, for comparisons. */
#define UNWIND_CHOICES(X)                                                                          \
	X(AUTO, "auto") /* all methods */                                                          \
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
 * reason for its end. `may_stop` says that the caller can stop the thread and try again, because
 * all registers can be read then.
 *
 * When the value of a register is not known (the frame pointer of a sleeping thread), the unwinder
 * tries frame records that it finds on the stack, and accepts the first with which the walk reaches
 * the thread's first function, the depth limit or the end of the copied stack. If there is none,
 * the chain ends as CHAIN_NEEDS_REGISTER. Unless `may_stop`, return addresses are guessed first if
 * the frame is in a file without unwind tables.
 */
void unwinder_walk(struct unwinder *unwinder, const struct snapshot *snapshot, bool may_stop,
		   struct chain *chain);

/*
 * Sets the address ranges of V8's interpreters, ascending (they are copied and replace earlier
 * ones). Frames whose address is in a range get `executes`: the interpreter's reference to the
 * bytecode array that it executes (jit.h). Without ranges, as after unwinder_create(), this costs
 * nothing.
 *
 * The code of a single bytecode often sets up no frame. Following the frame pointer from there
 * would leave out the interpreter's frame, so the unwinder searches the stack for the return
 * address into the interpreter.
 */
void unwinder_set_interpreters(struct unwinder *unwinder, const struct address_range *range,
			       size_t count);

#endif
