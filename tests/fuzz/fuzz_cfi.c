/* SPDX-License-Identifier: MIT */
/*
 * fuzz_cfi.c - the bytes are a section with unwind tables, .debug_frame if the first byte is odd,
 * else .eh_frame: all entries are read and executed, and all expressions evaluated.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "unwind/cfi_internal.h"
#include "wallsample/base/base.h"

#define STACK_LOW UINT64_C(0x7000000000)
#define WORDS 64
/* Number of addresses of an entry whose rows are wanted. */
#define ADDRESSES 8
/* Largest number of entries that are read, so that no input takes long. */
#define ENTRIES 64
#define LOW 0x1000

struct scene {
	uint64_t stack[WORDS];
	struct snapshot snapshot;
	struct walk walk;
};

static void
evaluate(struct scene *scene, const struct frame_section *section, const struct cfi_value *value)
{
	const struct cfi_place place = { &scene->walk, section, 0 };
	const uint64_t cfa = STACK_LOW;
	uint64_t result;

	if (value->how != CFI_EXPR && value->how != CFI_SAVED_EXPR)
		return;
	if ((uint64_t)value->value < section->low || (uint64_t)value->value >= section->high)
		abort();
	cfi_evaluate(&place, (uint64_t)value->value, &cfa, &result);
}

static void
execute(struct scene *scene, const struct frame_section *section, const struct frame_entry *entry)
{
	if (entry->common.at < section->low || entry->common.end > section->high ||
	    entry->own.at < section->low || entry->own.end > section->high)
		abort();
	for (uint64_t i = 0; i < ADDRESSES; i++) {
		const uint64_t vaddr = entry->start + entry->size / ADDRESSES * i;
		struct cfi_row row;

		if (!cfi_row_at(section, entry, vaddr, &row))
			continue;
		evaluate(scene, section, &row.cfa);
		for (unsigned number = 0; number < regs_count; number++)
			evaluate(scene, section, &row.reg[number]);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct scene scene = { .snapshot = { .stack_address = STACK_LOW } };
	struct frame_section section = { .low = LOW };
	uint64_t place = LOW, next;
	uint8_t *copy;

	if (size < 2)
		return 0;
	copy = xmalloc(size - 1); /* a sanitizer finds reads behind its end */
	memcpy(copy, bytes + 1, size - 1);
	section.bytes = copy;
	section.high = LOW + size - 1;
	section.debug_frame = (bytes[0] & 1) != 0;
	if (section.debug_frame) {
		place = section.low = 0;
		section.high = size - 1;
	}
	for (size_t i = 0; i < WORDS; i++)
		scene.stack[i] = STACK_LOW + i * 8;
	scene.snapshot.stack = (uint8_t *)scene.stack;
	scene.snapshot.stack_size = scene.snapshot.stack_wanted = sizeof(scene.stack);
	scene.walk.snapshot = &scene.snapshot;
	regs_set_sp_pc(&scene.walk.regs, STACK_LOW, 0x4321);
	for (unsigned number = 0; number < regs_count; number += 2)
		regs_set(&scene.walk.regs, number, STACK_LOW + 64);
	for (size_t i = 0; i < ENTRIES && place < section.high; i++, place = next) {
		struct frame_entry entry;

		if (frame_entry_read(&section, place, &entry, &next))
			execute(&scene, &section, &entry);
		if (next <= place)
			abort();
	}
	free(copy);
	return 0;
}
