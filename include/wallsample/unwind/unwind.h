/* SPDX-License-Identifier: MIT */
/*
 * unwind.h - from a snapshot to a call chain.
 *
 * Several methods stand behind one table (struct unwind_method in unwind_method.h):
 * rules compiled from the unwind tables, libunwind with our own accessors, libdw's
 * CFI, the code itself where it has no file and only returns, and frame pointers;
 * behind them a scan for return addresses whose frames are marked as guessed. The first
 * that can take the walk further does; each frame remembers how it was found.
 */
#ifndef WALLSAMPLE_UNWIND_UNWIND_H
#define WALLSAMPLE_UNWIND_UNWIND_H

#include "wallsample/unwind/chain.h"
#include "wallsample/process/maps.h"
#include "wallsample/tracer/snapshot.h"

/* X(NAME, word) */
#define UNWIND_CHOICES(X)                                                      \
	X(AUTO, "auto")           /* all methods, the quick rules first */     \
	X(LIBUNWIND, "libunwind") /* tables are read by this library alone, for comparisons */ \
	X(LIBDW, "libdw")

enum unwind_choice {
#define X(name, word) UNWIND_##name,
	UNWIND_CHOICES(X)
#undef X
};

struct unwinder;

/* `maps` is borrowed. */
struct unwinder *unwinder_create(struct maps *maps, enum unwind_choice choice);
void unwinder_free(struct unwinder *unwinder);

/*
 * Walks the snapshot; *chain is cleared first and always has the innermost frame
 * and an end. For a sleeper whose frame pointer is not known it is guessed from
 * the stack, and the guess is accepted only when the walk then reaches the
 * thread's first function. When that fails and the caller could stop the thread
 * (`may_stop`), which gives all registers, the chain's end is CHAIN_NEEDS_REGISTER;
 * else the walk goes on by guessing return addresses.
 */
void unwinder_walk(struct unwinder *unwinder, const struct snapshot *snapshot, bool may_stop,
		   struct chain *chain);

/*
 * Where V8's interpreter lies, by address (copied); chains then have `executes` for its
 * frames. None (as at first) cost nothing.
 *
 * What the interpreter executes it keeps in its frame, the address of an array of bytecode (see
 * jit.h). What it calls for a single bytecode often has no frame, and the frame pointer
 * then leads past the interpreter's own return address: it is looked for.
 */
void unwinder_set_interpreters(struct unwinder *unwinder, const struct address_range *range,
			       size_t count);

struct unwinder_stats {
	uint64_t walks, frames;
	uint64_t by_pointer, by_guess; /* frames found that way */
	uint64_t guessed_registers; /* walks that a guessed frame pointer completed */
};
const struct unwinder_stats *unwinder_stats(const struct unwinder *unwinder);

#endif
