/* SPDX-License-Identifier: MIT */
/* fuzz_module.c - the bytes are an ELF file with whatever names code: everything is asked of it. */
#include <stdlib.h>

#include "fuzz.h"
#include "wallsample/base/base.h"
#include "wallsample/elf/code_ranges.h"
#include "wallsample/symbol/symbol.h"

/* Addresses that are asked for, spread over the segments. */
#define ADDRESSES 96

static void
ask(struct symbols *symbols, const struct image *image, uint64_t vaddr)
{
	const struct symbol_place place = { .vaddr = vaddr };
	struct symbol found[SYMBOL_CHAIN_MAX];
	size_t count = symbols_find(symbols, &place, found, SYMBOL_CHAIN_MAX);
	uint64_t start, size;

	if (count == 0 || count > SYMBOL_CHAIN_MAX)
		abort();
	for (size_t i = 0; i < count; i++)
		if (found[i].function == NULL || found[i].module == NULL)
			abort();
	if (code_range(image, vaddr, &start, &size) && start > vaddr)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const struct symbols_config config = { .demangle = true, .inlines = true };
	struct modules *modules;
	struct symbols *symbols;
	struct image *image = image_open_memory(bytes, size);

	if (image == NULL)
		return 0;
	modules = modules_create();
	modules_add_object(modules, image);
	symbols = symbols_create(modules, &config);
	for (size_t s = 0; s < image->segment_count && s < 8; s++) {
		const struct image_segment *segment = &image->segment[s];

		for (uint64_t i = 0; segment->executable && i < ADDRESSES; i++)
			ask(symbols, image, segment->vaddr + segment->mem_size / ADDRESSES * i);
	}
	ask(symbols, image, 0);
	ask(symbols, image, UINT64_MAX);
	symbols_module_is_bare(symbols, 0);
	symbols_free(symbols);
	modules_free(modules);
	return 0;
}
