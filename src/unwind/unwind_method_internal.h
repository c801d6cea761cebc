/* SPDX-License-Identifier: MIT */
/*
 * unwind_method_internal.h - the interface of an unwind method, and the walk that it advances.
 *
 * A walk is the unwinding of one snapshot. A method starts from the last frame of the chain, whose
 * registers are walk->regs, appends as many callers as it can find, and leaves in walk->regs the
 * registers of the frame that is then the last.
 */
#ifndef WALLSAMPLE_UNWIND_UNWIND_METHOD_INTERNAL_H
#define WALLSAMPLE_UNWIND_UNWIND_METHOD_INTERNAL_H

#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/process/maps.h"
#include "wallsample/tracer/snapshot.h"
#include "wallsample/unwind/chain.h"
#include "wallsample/unwind/unwind.h"

/* A direct-mapped cache of pages of the target's memory: of stacks beyond the copy, or of code. */
#define LIVE_PAGE ((uint64_t)4096)
#define LIVE_PAGES 16
struct live_cache {
	struct {
		uint64_t address;
		size_t size;   /* number of bytes that were read; 0: not readable */
		uint64_t walk; /* number of the walk that read the page */
		uint8_t bytes[LIVE_PAGE];
	} page[LIVE_PAGES];
	uint64_t walk; /* number of the current walk: pages of other walks are stale */
};

struct walk {
	struct maps *maps;
	const struct snapshot *snapshot;
	struct chain *chain;
	/* Cache of stack memory beyond the copy; NULL: only the copied stack may be read. */
	struct live_cache *live;
	/* Cache of code that is in no file; NULL: such code must not be read. */
	struct live_cache *code;
	const struct address_range *interpreter; /* see unwinder_set_interpreters() */
	size_t interpreter_count;
	struct regs regs; /* registers of the chain's last frame */
	bool exact;       /* regs.pc is not a return address */
	/* Why a method found no caller; the unwinder clears these flags before each method. */
	bool beyond_copy;      /* the needed part of the stack was not copied */
	bool bad_memory;       /* the needed memory is not readable */
	bool missing_register; /* the value of a needed register is not known */
	bool no_info;          /* the address has no unwind tables or no reliable frame pointer */
	bool bad_tables;       /* an entry of the tables is not valid or exceeds a limit */
	/* Number of instructions and operations of unwind tables that were executed in the walk;
	 * see WALK_WORK_MOST (cfi_internal.h). */
	uint32_t work;
	/* The unwinder does not clear the next two members. */
	bool read_live;    /* memory of the live process was read */
	size_t stack_used; /* bytes of the copy up to the highest byte that was read */
};

enum advance {
	ADVANCE_STUCK, /* the method appended all frames that it can find, maybe none */
	ADVANCE_DONE,  /* the last frame is the thread's first function */
	ADVANCE_FULL,  /* chain_add() has refused a frame, and set the chain's `end` */
};

struct unwind_method {
	/* Creates the state that is kept between walks; `maps` is borrowed. NULL: the method has no
	 * state. */
	void *(*create)(struct maps *maps);
	void (*free)(void *state);
	/* Appends callers to the chain, as the head of this file describes. */
	enum advance (*advance)(void *state, struct walk *walk);
	/* Returns true when there are unwind tables for the address. NULL: the method uses none. */
	bool (*covers)(void *state, uint64_t address);
	/* Returns the first address of the function that contains `address`; 0 when it is not
	 * known. NULL: the method cannot find it. */
	uint64_t (*function_start)(void *state, uint64_t address);
};

extern const struct unwind_method unwind_by_pclntab;
extern const struct unwind_method unwind_by_rule;
extern const struct unwind_method unwind_by_signal;
extern const struct unwind_method unwind_by_libunwind;
extern const struct unwind_method unwind_by_libdw;
extern const struct unwind_method unwind_by_epilogue;
extern const struct unwind_method unwind_by_interpreter;
extern const struct unwind_method unwind_by_pointer;

/* Reads a word of the copied stack; false when it is not in the copy, or was not in memory. */
static inline bool
walk_read_copy(struct walk *walk, uint64_t address, uint64_t *value)
{
	size_t end = (size_t)(address - walk->snapshot->stack_address) + sizeof(*value);

	if (!snapshot_read(walk->snapshot, address, value, sizeof(*value)) ||
	    *value == SNAPSHOT_ABSENT)
		return false;
	if (end > walk->stack_used)
		walk->stack_used = end;
	return true;
}

/*
 * Appends a frame with the registers `caller`, which become those of the walk. Returns false, with
 * the walk's registers unchanged, when chain_add() refuses the frame.
 */
bool walk_add(struct walk *walk, const struct regs *caller, enum frame_origin origin, bool exact);
/* Appends the caller of a function of which only the return address and the caller's stack pointer
 * are known; see regs_set_caller() (snapshot.h). Returns as walk_add(). */
bool walk_add_caller(struct walk *walk, uint64_t sp, uint64_t pc, enum frame_origin origin);
/* Appends the caller of a function that has changed no register but the stack pointer. Returns as
 * walk_add(). */
bool walk_add_return(struct walk *walk, uint64_t sp, uint64_t pc, enum frame_origin origin);

/*
 * Makes an array, which is indexed by module number, large enough to have an element for `module`,
 * and returns the array that replaces `array`; the caller frees it. *count is the number of its
 * elements, `size` the size of one. New elements are zero.
 */
static inline void *
array_for_module(void *array, size_t *count, uint32_t module, size_t size)
{
	const size_t before = *count;

	if (module < before)
		return array;
	array = xgrow(array, count, (size_t)module + 1, size);
	memset((uint8_t *)array + before * size, 0, (*count - before) * size);
	return array;
}

/* Reads a word of the stack from the copy, or else, as far as live_limit permits (snapshot.h), from
 * the process or core file. Returns false, with beyond_copy or bad_memory set, when it cannot. */
bool walk_read_word(struct walk *walk, uint64_t address, uint64_t *value);

/*
 * Reads up to `size` bytes of code that is in no file from the memory of the process, and returns
 * the number of bytes read. The thread may have been resumed and the code may have changed since
 * the snapshot, so the caller must accept only byte sequences that do not occur by chance.
 */
size_t walk_read_code(struct walk *walk, uint64_t address, void *to, size_t size);

/* Returns the address by which to look up the code of the walk's last frame: regs.pc, minus 1 if it
 * is a return address. */
uint64_t walk_lookup(const struct walk *walk);

/* Sets `executes` of the chain's last frame: if it is a frame of V8's interpreter, to the reference
 * to the bytecode that it executes, else to 0. */
void interpreter_keep(struct walk *walk);

/* True when the instruction before `vaddr` is a call, so that `vaddr` may be a return address. */
bool arch_is_return_address(const struct image *image, uint64_t vaddr);
/* Finds the direct call that ends at `vaddr`, and stores in *target the address in the image that
 * it calls. Returns false when there is no direct call. */
bool arch_call_target(const struct image *image, uint64_t vaddr, uint64_t *target);
/* If there is a direct jump at *vaddr, replaces *vaddr by the address to which it jumps. */
void arch_follow_jump(const struct image *image, uint64_t *vaddr);

/* Returns true when `code` only removes its frame from the stack and returns; never on aarch64.
 * *frame is then the distance in bytes from the stack pointer up to the return address. Examines at
 * most ARCH_EPILOGUE_BYTES bytes. */
#define ARCH_EPILOGUE_BYTES 8
bool arch_is_epilogue(const uint8_t *code, size_t size, uint64_t *frame);

/* True when the code at `vaddr` is the trampoline to which a signal handler returns. */
bool arch_is_signal_trampoline(const struct image *image, uint64_t vaddr);

/* Reads the registers at the interrupted instruction from the signal frame that the kernel pushed;
 * `sp` is the stack pointer in the trampoline. Returns false, with a flag of the walk set, when the
 * signal frame cannot be read. */
bool arch_signal_registers(struct walk *walk, uint64_t sp, struct regs *interrupted);

/* Finds the caller's registers; `depth` is the function's depth by pclntab_stack_depth(). The saved
 * frame pointer is read only if its place is known, which is rare for a leaf or assembler code;
 * else the caller gets the frame pointer of the function. Returns
 * false, with a flag of the walk set, when the return address is not known. */
bool arch_pclntab_caller(struct walk *walk, uint32_t depth, bool is_assembler, struct regs *caller);

#endif
