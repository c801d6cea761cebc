/* SPDX-License-Identifier: MIT */
/* v8.c - finds the code of V8's interpreter, and the names of functions by their bytecode. */
#include "jit/jit_source_internal.h"

#include <stdlib.h>
#include <string.h>

/*
 * The names of the interpreter's code in the files that V8 writes with --perf-basic-prof. PROFILING
 * is the name of the copies of this code that V8 makes, one for each function, with
 * --interpreted-frames-native-stack. These entries have the addresses at which the code runs; from
 * Node 22 on, the program's own symbols of the interpreter do not.
 */
#define PLAIN "Builtin:InterpreterEntryTrampoline"
#define PROFILING "Builtin:InterpreterEntryTrampolineForProfiling"

/*
 * Least and largest number of bytes that are assumed for the header of a bytecode array.
 * The header has 54 bytes in Node 12 to 20, 64 in Node 22 to 26, and 34 with V8's compressed
 * pointers. The entry of an interpreted function begins where its bytecode begins. If a second
 * array follows the first one directly, the bytecode of the second begins, at the earliest, two
 * headers and the bytecode of the first array after the start of the first.
 */
#define HEADER_LEAST 34
#define HEADER_MOST 96

/* Upper limit in bytes of the bytecode in one array; V8 limits arrays to less. */
#define BYTECODE_MOST ((uint32_t)1 << 29)

/* V8's objects have addresses in [ADDRESS_LEAST, ADDRESS_MOST): from vm.mmap_min_addr to the end of
 * the user's address space. */
#define ADDRESS_LEAST ((uint64_t)1 << 16)
#define ADDRESS_MOST ((uint64_t)1 << 56)

void
v8_init(struct v8 *v8, struct strings *strings)
{
	memset(v8, 0, sizeof(*v8));
	v8->plain = strings_intern(strings, PLAIN);
	v8->profiling = strings_intern(strings, PROFILING);
}

/* Adds an address range of interpreter code, unless there are too many. If a known range has the
 * same start, its code no longer exists, and the new range replaces it. */
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
v8_update(struct v8 *v8, const struct jit_book *book, uint32_t *seen)
{
	for (; *seen < jit_book_count(book); (*seen)++) {
		const struct jit_entry entry = jit_book_entry(book, *seen);

		if (entry.name == v8->plain || entry.name == v8->profiling)
			v8_add_range(v8, entry.range);
	}
}

/* Returns true for names of interpreted functions, such as "JS:~render", "LazyCompile:~f" and
 * "Script:~": the kind of code is followed by the mark of the tier, "~" for interpreted code. */
static bool
is_interpreted(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon != NULL && colon[1] == '~';
}

bool
jit_bytecode_refer(uint64_t word, uint64_t *address)
{
	/* The lowest two bits of a reference to an object are 01 (v8-internal.h,
	 * kHeapObjectTag). */
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
	 * The header of a bytecode array begins with a reference that says what kind of object it
	 * is, and the length of the bytecode as a small integer. Without compressed pointers each
	 * has 8 bytes, and the upper half of the small integer is the number. With compressed
	 * pointers each has 4 bytes, the small integer is twice the number, and another reference
	 * follows, which is not 0.
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

uint32_t
v8_find(const struct jit_book *book, const struct jit_bytecode *bytecode, uint32_t epoch)
{
	/* The largest distance of the bytecode from the start of its array that excludes the
	 * bytecode of a second array, which begins at least one byte further away. */
	const uint64_t most = 2 * HEADER_LEAST + (uint64_t)bytecode->size - 1;
	const struct jit_starts starts = {
		.after = bytecode->object,
		.reach = most < HEADER_MOST ? most : HEADER_MOST,
		.size = bytecode->size,
		.fits = is_interpreted,
	};

	return bytecode->object != 0 ? jit_book_find_start(book, &starts, epoch) : JIT_NONE;
}
