/* SPDX-License-Identifier: MIT */
/*
 * unwind_method_internal.h - one way to find the caller of a frame, and the walk it works on.
 *
 * The unwinder owns the walk. A method takes it further from the last frame of the
 * chain, whose registers are walk->regs, as far as it can, and leaves the registers
 * of the frame that is then the last.
 */
#ifndef WALLSAMPLE_UNWIND_UNWIND_METHOD_INTERNAL_H
#define WALLSAMPLE_UNWIND_UNWIND_METHOD_INTERNAL_H

#include "wallsample/unwind/chain.h"
#include "wallsample/process/maps.h"
#include "wallsample/tracer/snapshot.h"
#include "wallsample/unwind/unwind.h"

/* Pages of the target that were read beyond the copy. */
#define LIVE_PAGE ((uint64_t)4096)
#define LIVE_PAGES 16
struct live_cache {
	struct {
		uint64_t address;
		size_t size; /* 0: not readable */
		uint64_t walk;
		uint8_t bytes[LIVE_PAGE];
	} page[LIVE_PAGES];
	uint64_t walk; /* pages of another walk are stale */
};

struct walk {
	struct maps *maps;
	const struct snapshot *snapshot;
	struct chain *chain;
	struct live_cache *live;
	struct live_cache *code; /* of code without a file; NULL: not to be read */
	const struct address_range *interpreter; /* see unwinder_set_interpreters */
	size_t interpreter_count;
	struct regs regs;      /* of the chain's last frame */
	bool exact;            /* regs.pc is no return address */
	/* What stood in the way; the unwinder clears them before each method. */
	bool beyond_copy;      /* stack was needed that was not copied */
	bool bad_memory;       /* memory was needed that nobody can read */
	bool missing_register; /* a register was needed that is not known */
	bool no_info;          /* there are no unwind tables for the address */
	/* Never cleared: */
	bool read_live;        /* memory of the live process was read */
	size_t stack_used;     /* bytes of the copy up to the highest that was read */
};

enum advance {
	ADVANCE_STUCK,   /* as far as it goes: by any number of frames, 0 included */
	ADVANCE_DONE,    /* the last frame is the thread's first function */
	ADVANCE_FULL,    /* depth limit */
};

struct unwind_method {
	const char *name;
	/* State that lasts over walks; NULL when the method has none. */
	void *(*create)(struct maps *maps);
	void (*free)(void *state);
	enum advance (*advance)(void *state, struct walk *walk);
	/* Are there unwind tables for the address? NULL: never. */
	bool (*covers)(void *state, const struct mapping *mapping, uint64_t address);
	/* Where the function that holds the address begins; 0: not known. NULL: never. */
	uint64_t (*function_start)(void *state, const struct mapping *mapping, uint64_t address);
};

extern const struct unwind_method unwind_by_go;
extern const struct unwind_method unwind_by_rule;
extern const struct unwind_method unwind_by_signal;
extern const struct unwind_method unwind_by_libunwind;
extern const struct unwind_method unwind_by_libdw;
extern const struct unwind_method unwind_by_epilogue;
extern const struct unwind_method unwind_by_interpreter;
extern const struct unwind_method unwind_by_pointer;

/* A word of the copied stack; false when it is not in the copy. */
static inline bool
walk_read_copy(struct walk *walk, uint64_t address, uint64_t *value)
{
	size_t end = (size_t)(address - walk->snapshot->stack_address) + sizeof(*value);

	if (!snapshot_read(walk->snapshot, address, value, sizeof(*value)))
		return false;
	if (end > walk->stack_used)
		walk->stack_used = end;
	return true;
}

/*
 * Memory of the stack: from the copy, else from the sleeping process. Sets the
 * walk's flag that fits and returns false when it cannot be had.
 */
bool walk_read_word(struct walk *walk, uint64_t address, uint64_t *value);

/*
 * Code that no file has, from the process as it is now: up to `size` bytes, as many as can be
 * read. Returns how many. The thread may have gone on, and code may have changed since:
 * the caller believes only what could not be there by chance.
 */
size_t walk_read_code(struct walk *walk, uint64_t address, void *to, size_t size);

/* The address that the code of the walk's last frame is looked up by. */
uint64_t walk_lookup(const struct walk *walk);

/* Fills in `executes` of the chain's last frame, which is an interpreter's or not. */
void interpreter_keep(struct walk *walk);

/* Does code before `address` call something, so that it can be a return address? */
bool arch_is_return_address(const struct image *image, uint64_t vaddr);

/* What the direct call before `address` calls; false when there is none. */
bool arch_call_target(const struct image *image, uint64_t vaddr, uint64_t *target);

/*
 * Does the code take its whole frame off the stack and return, and does nothing else? Then
 * *frame is how far above the stack pointer the return address lies.
 */
#define ARCH_EPILOGUE_BYTES 8 /* as many as are looked at */
bool arch_is_epilogue(const uint8_t *code, size_t size, uint64_t *frame);

/* Is this the code that returns from a signal handler? */
bool arch_is_signal_trampoline(const struct image *image, uint64_t vaddr);

/* The registers that a signal interrupted, from the frame the kernel has pushed: `sp` is
 * the stack pointer in the trampoline. */
bool arch_signal_registers(struct walk *walk, uint64_t sp, struct regs *interrupted);

/*
 * The caller of a function of pclntab.h whose frame is `depth` bytes above the stack pointer. Where
 * its frame pointer is saved is known but for assembler code. False, with the walk's flag set, when
 * the return address cannot be had.
 */
bool arch_pclntab_caller(struct walk *walk, uint32_t depth, bool is_assembler, struct regs *caller);

/*
 * Guesses (by_guess.c). Both look through the copied stack from the stack pointer up.
 *
 * The next frame record at *cursor or above, whose address is stored; *cursor moves behind
 * it. With `function`, where the function of the walk's last frame begins, any two words are
 * one of which the second follows a direct call of that function. Without (0), the first
 * must look like a frame pointer, and the second follow any call.
 */
bool guess_frame_record(struct walk *walk, uint64_t function, uint64_t *cursor,
			uint64_t *record);

/*
 * A function that has set up no frame (yet), or whose frame pointer is not known: a word
 * above the stack pointer, and below the caller's frame record if that is known, is the
 * return address of a direct call of this very function. Takes one step if there is one.
 */
bool guess_frameless(struct walk *walk);

/* The next return address into code at *cursor or above, below the frame record that a known
 * frame pointer leads to; likewise. */
bool guess_return_address(struct walk *walk, uint64_t *cursor, uint64_t *address);

#endif
