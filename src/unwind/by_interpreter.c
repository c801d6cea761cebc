/* SPDX-License-Identifier: MIT */
/*
 * by_interpreter.c - frames of V8's interpreter: finds the bytecode array that a frame executes,
 * and steps from the code of a single bytecode to the interpreter's frame.
 */
#include "unwind/unwind_method_internal.h"

#include "wallsample/base/search.h"

/*
 * The words below the frame pointer of an interpreter frame (V8, src/execution/frame-constants.h),
 * from the frame pointer down: context, function, number of arguments (since V8 8.9, Node 16),
 * bytecode array, offset in the bytecode array. Context, function and array are references to
 * objects, whose lowest two bits are 01. The offset is a small integer, whose lowest bit is 0
 * (include/v8-internal.h, kHeapObjectTag and kSmiTag).
 */
#define FRAME_WORDS 5
enum { OFFSET, ARRAY, ARGUMENTS, FUNCTION, CONTEXT }; /* in ascending order of addresses */
/* Without the number of arguments, these two words are one place higher. */
enum { OLD_OFFSET = OFFSET + 1, OLD_ARRAY = ARRAY + 1 };

/* Number of words, from the stack pointer upwards, that are searched for the return address into
 * the interpreter. Measured: it is at the stack pointer in nine of ten cases, and up to 11 words
 * above it in the others. */
#define PUSHED_WORDS 32

static bool
is_reference(uint64_t word)
{
	return (word & 3) == 1;
}

static bool
is_interpreter(const struct walk *walk, uint64_t address)
{
	const struct address_range *range = walk->interpreter;
	size_t next;

	SEARCH_FIRST_NOT(next, walk->interpreter_count, range[next].start <= address);
	return next > 0 && address - range[next - 1].start < range[next - 1].size;
}

/* Reads the words below the frame pointer, from the copied stack or from the process. Returns
 * false, with the walk's flags unchanged, when the frame pointer is not known, the frame is too
 * small for the words, or they cannot be read. */
static bool
read_frame(struct walk *walk, uint64_t word[FRAME_WORDS])
{
	const struct walk before = *walk;
	uint64_t fp;
	bool good;

	good = regs_get(&walk->regs, regs_fp_number, &fp) && fp % sizeof(*word) == 0 &&
	       fp > walk->regs.sp && fp - walk->regs.sp >= FRAME_WORDS * sizeof(*word);
	for (size_t i = 0; good && i < FRAME_WORDS; i++)
		good = walk_read_word(walk, fp - (FRAME_WORDS - i) * sizeof(*word), &word[i]);
	if (!good) {
		walk->beyond_copy = before.beyond_copy;
		walk->bad_memory = before.bad_memory;
	}
	return good;
}

void
interpreter_keep(struct walk *walk)
{
	struct chain_frame *frame = &walk->chain->frame[walk->chain->count - 1];
	uint64_t word[FRAME_WORDS];

	frame->executes = 0;
	if (!is_interpreter(walk, walk_lookup(walk)) || !read_frame(walk, word))
		return;
	if (is_reference(word[ARRAY]))
		frame->executes = word[ARRAY];
	else if (is_reference(word[OLD_ARRAY]))
		frame->executes = word[OLD_ARRAY];
}

/* Returns true when the words below the frame pointer have the tag bits that V8 gives them in a
 * frame of the interpreter. In frames of other code the words rarely have these bits. */
static bool
is_interpreted(struct walk *walk)
{
	uint64_t word[FRAME_WORDS];

	if (!read_frame(walk, word) || !is_reference(word[CONTEXT]) ||
	    !is_reference(word[FUNCTION]))
		return false;
	return (is_reference(word[ARRAY]) && word[OFFSET] % 2 == 0) ||
	       (is_reference(word[OLD_ARRAY]) && word[OLD_OFFSET] % 2 == 0);
}

/*
 * The interpreter calls the code of a bytecode, which jumps to the code of the next bytecode. The
 * code of simple bytecodes sets up no frame: the return address into the interpreter is at or near
 * the stack pointer.
 */
static enum advance
advance_one(void *state, struct walk *walk)
{
	uint64_t sp = walk->regs.sp, fp, address;

	(void)state;
	if (walk->interpreter_count == 0 || !walk->exact || is_interpreter(walk, walk->regs.pc) ||
	    !is_interpreted(walk) || !regs_get(&walk->regs, regs_fp_number, &fp))
		return ADVANCE_STUCK;
	for (unsigned i = 0; i < PUSHED_WORDS && sp < fp; i++, sp += sizeof(address)) {
		if (!walk_read_word(walk, sp, &address))
			return ADVANCE_STUCK;
		if (!is_interpreter(walk, address - 1))
			continue;
		if (!walk_add_caller(walk, sp + sizeof(address), address, FRAME_POINTER))
			return ADVANCE_FULL;
		return ADVANCE_STUCK;
	}
	return ADVANCE_STUCK;
}

const struct unwind_method unwind_by_interpreter = {
	.advance = advance_one,
};
