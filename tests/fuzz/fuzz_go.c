/* SPDX-License-Identifier: MIT */
/* fuzz_go.c - the bytes are a program with a table of Go's functions: everything is asked of it. */
#include <stdlib.h>

#include "fuzz.h"
#include "wallsample/elf/pclntab.h"

/* Addresses that are asked for in each segment, and inlined functions at each. */
#define ADDRESSES 400
#define PLACES 16

static void
ask(const struct pclntab *table, uint64_t vaddr, struct strbuf *text)
{
	struct pclntab_function function;
	struct pclntab_place place[PLACES];
	const size_t count = pclntab_places(table, vaddr, place, PLACES);
	uint32_t depth;

	if (count > PLACES)
		abort();
	for (size_t i = 0; i < count; i++) {
		strbuf_clear(text);
		pclntab_name(table, place[i].name, text);
		pclntab_file(table, place[i].file, text);
	}
	if (!pclntab_find(table, vaddr, &function))
		return;
	if (function.entry > vaddr || function.end <= vaddr)
		abort();
	if (pclntab_stack_depth(table, &function, vaddr, &depth) && depth > 1U << 30)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct image *image = image_open_memory(bytes, size);
	struct pclntab *table = image != NULL ? pclntab_open(image) : NULL;
	struct strbuf text;

	strbuf_init(&text);
	for (size_t s = 0; table != NULL && s < image->segment_count && s < 8; s++) {
		const struct image_segment *segment = &image->segment[s];

		for (uint64_t i = 0; segment->executable && i < ADDRESSES; i++)
			ask(table, segment->vaddr + segment->mem_size * i / ADDRESSES, &text);
	}
	if (table != NULL)
		ask(table, UINT64_MAX, &text);
	strbuf_release(&text);
	pclntab_free(table);
	image_free(image);
	return 0;
}
