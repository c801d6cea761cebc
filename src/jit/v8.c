/* SPDX-License-Identifier: MIT */
/* v8.c - functions that V8 interprets, by the address of their bytecode. */
#include "jit/jit_source_internal.h"

#include <stdlib.h>
#include <string.h>

/*
 * The interpreter, as --perf-basic-prof has it; the latter is for copies that it makes when
 * every function is to have one of its own. The map says where it really runs: Node 22 and
 * later have it at another address than the symbol of the file says.
 */
#define PLAIN "Builtin:InterpreterEntryTrampoline"
#define PROFILING "Builtin:InterpreterEntryTrampolineForProfiling"

/*
 * The entry of a function begins where its bytecode does, behind the header of the array: 54
 * bytes in Node 12 to 20, 64 in Node 22 to 26, and 34 with V8's compressed pointers. A
 * second array that follows the first cannot have its bytecode before two such headers and
 * the bytecode of the first.
 */
#define HEADER_LEAST 34
#define HEADER_MOST 96

/* Longer bytecode than any compiler made, and more than V8 lets an array have. */
#define BYTECODE_MOST ((uint32_t)1 << 29)

/* Nothing is mapped so low (vm.mmap_min_addr), nor above what a user's address can be. */
#define ADDRESS_LEAST ((uint64_t)1 << 16)
#define ADDRESS_MOST ((uint64_t)1 << 56)

void
v8_init(struct v8 *v8, struct strings *strings)
{
	memset(v8, 0, sizeof(*v8));
	v8->plain = strings_intern(strings, PLAIN);
	v8->profiling = strings_intern(strings, PROFILING);
}

void
v8_release(struct v8 *v8)
{
	free(v8->range);
}

/* Of those that begin at the same address the last one told is there. */
static void
v8_add_range(struct v8 *v8, struct address_range range)
{
	size_t at = v8->count;

	while (at > 0 && v8->range[at - 1].start > range.start)
		at--;
	if (at > 0 && v8->range[at - 1].start == range.start) {
		v8->range[at - 1] = range;
		return;
	}
	if (v8->count == JIT_INTERPRETERS_MAX)
		return;
	v8->range = xgrow(v8->range, &v8->capacity, v8->count + 1, sizeof(range));
	memmove(&v8->range[at + 1], &v8->range[at], (v8->count - at) * sizeof(range));
	v8->range[at] = range;
	v8->count++;
}

void
v8_look(struct v8 *v8, const struct jit_book *book, uint32_t *seen)
{
	for (; *seen < jit_book_count(book); (*seen)++) {
		const struct jit_entry entry = jit_book_entry(book, *seen);

		if (entry.name == v8->plain || entry.name == v8->profiling)
			v8_add_range(v8, entry.range);
	}
}

/* "JS:~render": what V8 calls the tier follows the kind of code ("LazyCompile:~", "Script:~"). */
static bool
is_interpreted(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon != NULL && colon[1] == '~';
}

bool
jit_bytecode_refer(uint64_t word, uint64_t *address)
{
	/* References to objects have the lowest of two bits set (v8-internal.h, kHeapObjectTag). */
	*address = word - 1;
	return (word & 3) == 1 && *address >= ADDRESS_LEAST && *address < ADDRESS_MOST;
}

bool
jit_bytecode_set(struct jit_bytecode *bytecode, uint64_t address,
		 const uint8_t header[JIT_HEADER_SIZE])
{
	uint32_t word[JIT_HEADER_SIZE / sizeof(uint32_t)], size;

	memcpy(word, header, sizeof(word));
	/*
	 * A reference to the object's kind, then the length as a small integer: 8 bytes of which
	 * the upper half is the number; or, with compressed pointers, 4 bytes and the number
	 * doubled, and a reference behind it, which is not 0.
	 */
	if (word[2] == 0)
		size = word[3];
	else if (word[1] % 2 == 0)
		size = word[1] / 2;
	else
		return false;
	*bytecode = (struct jit_bytecode){ .object = address, .size = size };
	return size > 0 && size <= BYTECODE_MOST;
}

/* The bytecode begins behind the object, and at most so far. */
static uint64_t
reach_of(const struct jit_bytecode *bytecode)
{
	uint64_t most = 2 * HEADER_LEAST + (uint64_t)bytecode->size - 1;

	return most < HEADER_MOST ? most : HEADER_MOST;
}

uint32_t
v8_find(const struct jit_book *book, const struct jit_bytecode *bytecode, uint32_t epoch)
{
	const struct jit_starts starts = {
		.after = bytecode->object,
		.reach = reach_of(bytecode),
		.size = bytecode->size,
		.fits = is_interpreted,
	};

	return bytecode->object != 0 ? jit_book_find_start(book, &starts, epoch) : JIT_NONE;
}
