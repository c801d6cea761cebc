/* SPDX-License-Identifier: MIT */
/* by_guess.c - searches the stack for possible frames where no other method finds the caller. */
#include "unwind/guess_internal.h"

/* Largest number of words above the stack pointer that are searched. The frames of system call
 * wrappers, where guesses are needed most, are small. */
#define GUESS_WORDS 2048

/* Largest distance in bytes from the start of a function without a frame to an address in it. */
#define FUNCTION_BYTES 1024

static bool
is_code(struct walk *walk, uint64_t address)
{
	return address != 0 && maps_find(walk->maps, address - 1) != NULL;
}

/* Returns true when the address follows a call. Code without a file is not examined: addresses in
 * it are accepted. */
static bool
is_return_address(struct walk *walk, uint64_t address)
{
	const struct mapping *mapping = address != 0 ? maps_find(walk->maps, address - 1) : NULL;

	return mapping != NULL && (mapping->image == NULL ||
				   arch_is_return_address(mapping->image, address - mapping->bias));
}

/* Returns the end of the part of the copied stack that is searched. */
static uint64_t
scan_end(const struct walk *walk)
{
	const struct snapshot *snapshot = walk->snapshot;
	uint64_t end = snapshot->stack_address + snapshot->stack_size;
	uint64_t most = walk->regs.sp + GUESS_WORDS * sizeof(uint64_t);

	return most < end ? most : end;
}

static bool
read_pair(const struct walk *walk, uint64_t address, uint64_t pair[2])
{
	return snapshot_read(walk->snapshot, address, pair, 2 * sizeof(pair[0]));
}

/* Returns true when a signal handler returns to this address. The address is any word of the stack:
 * if it is in no known image, the kernel is not asked about it. */
static bool
is_handler_return(struct walk *walk, uint64_t address)
{
	const struct mapping *mapping = NULL;

	if (address != 0 && maps_find_data(walk->maps, address) != NULL)
		mapping = maps_find(walk->maps, address);
	return mapping != NULL && mapping->image != NULL &&
	       arch_is_signal_trampoline(mapping->image, address - mapping->bias);
}

/* Returns true when the two words at `at` look like a frame record: the first is the caller's frame
 * pointer, which points to another record or is 0 or 1 in a thread's first function, and the second
 * is a return address. The first word of a signal handler's record is whatever the interrupted code
 * had in the register. */
static bool
is_record(struct walk *walk, uint64_t at, const uint64_t pair[2])
{
	uint64_t next[2];

	if (is_handler_return(walk, pair[1]))
		return true;
	if (pair[0] > 1 &&
	    (pair[0] <= at || !read_pair(walk, pair[0], next) || !is_code(walk, next[1])))
		return false;
	return is_return_address(walk, pair[1]);
}

/* Returns true when the address follows a direct call of the function that begins at `function`. */
static bool
returns_from(struct walk *walk, uint64_t address, uint64_t function)
{
	const struct mapping *mapping = maps_find(walk->maps, function);
	uint64_t target;

	return mapping != NULL && mapping->image != NULL && address > mapping->low &&
	       address < mapping->high &&
	       arch_call_target(mapping->image, address - mapping->bias, &target) &&
	       target + mapping->bias == function;
}

bool
guess_frame_record(struct walk *walk, uint64_t function, uint64_t *cursor, uint64_t *record)
{
	uint64_t end = scan_end(walk);

	for (uint64_t at = *cursor; at < end; at += sizeof(uint64_t)) {
		uint64_t pair[2];

		if (!read_pair(walk, at, pair))
			break;
		if (function != 0 ? !returns_from(walk, pair[1], function) :
				    !is_record(walk, at, pair))
			continue;
		*record = at;
		*cursor = at + sizeof(uint64_t);
		return true;
	}
	return false;
}

/* Returns the address of the frame record that the frame pointer points to; UINT64_MAX when the
 * frame pointer is not known or does not point to a frame record. */
static uint64_t
record_bound(struct walk *walk)
{
	uint64_t fp, pair[2];

	if (!regs_get(&walk->regs, regs_fp_number, &fp) || fp < walk->regs.sp ||
	    !read_pair(walk, fp, pair) || !is_code(walk, pair[1]))
		return UINT64_MAX;
	return fp;
}

bool
guess_return_address(struct walk *walk, uint64_t *cursor, uint64_t *address)
{
	uint64_t end = scan_end(walk);
	uint64_t bound = record_bound(walk);

	if (bound < end)
		end = bound;
	for (uint64_t at = *cursor; at < end; at += sizeof(uint64_t)) {
		uint64_t value;

		if (!snapshot_read(walk->snapshot, at, &value, sizeof(value)))
			break;
		if (!is_return_address(walk, value))
			continue;
		*address = value;
		*cursor = at + sizeof(uint64_t);
		return true;
	}
	return false;
}

bool
guess_frameless(struct walk *walk)
{
	const struct mapping *mapping = maps_find(walk->maps, walk->regs.pc);
	uint64_t end = scan_end(walk), fp;
	bool fp_known = regs_get(&walk->regs, regs_fp_number, &fp);

	if (mapping == NULL || mapping->image == NULL)
		return false;
	if (fp_known && fp < end)
		end = fp;
	for (uint64_t at = walk->regs.sp; at < end; at += sizeof(uint64_t)) {
		uint64_t value, target;

		if (!snapshot_read(walk->snapshot, at, &value, sizeof(value)))
			break;
		/* Only calls in the file of the pc are considered. */
		if (value < mapping->low || value >= mapping->high ||
		    !arch_call_target(mapping->image, value - mapping->bias, &target))
			continue;
		arch_follow_jump(mapping->image, &target);
		target += mapping->bias;
		if (target > walk->regs.pc || walk->regs.pc - target > FUNCTION_BYTES)
			continue;
		return walk_add_caller(walk, at + sizeof(value), value, FRAME_GUESS);
	}
	return false;
}
