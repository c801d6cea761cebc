/* SPDX-License-Identifier: MIT */
/*
 * fuzz_jit_elf.c - the bytes are a file that a compiler in the target handed to debuggers: it is
 * made an image, a module, and asked for names and unwind rules.
 */
#include <stdlib.h>
#include <string.h>

#include "jit/objects/jit_elf_internal.h"
#include "jit/objects/jit_watch_internal.h"
#include "unwind/rule_internal.h"
#include "fuzz.h"
#include "wallsample/base/base.h"
#include "wallsample/symbol/symbol.h"

static struct frame_budget frames = { .bytes = UINT64_MAX, .entries = UINT64_MAX };

static const struct symbol_wanted descriptor_wanted = { .name = "__jit_debug_descriptor" };

/* Addresses that are asked for in each range of code, and ranges. */
#define ADDRESSES 16
#define RANGES 8

/* The code as it runs; some of it can no longer be read. */
static bool
read_code(void *context, uint64_t address, void *to, size_t size)
{
	(void)context;
	memset(to, 0x90, size);
	return address % 3 != 0;
}

/* Steps as small as a tick may leave: a search must come to its end by them. */
static void
search(const struct image *image)
{
	uint64_t steps = 0, most = image->size / sizeof(uint64_t) + 4096, budget;
	struct symbol_search found;

	symbol_search_init(&found, image, &descriptor_wanted, 1);
	do {
		budget = 1;
		if (++steps > most)
			abort();
	} while (!symbol_search_step(&found, &budget));
}

static void
ask(struct symbols *symbols, struct rule_source *source, uint64_t address)
{
	const struct symbol_place place = { .vaddr = address };
	struct symbol found[SYMBOL_CHAIN_MAX];
	size_t count = symbols_find(symbols, &place, found, SYMBOL_CHAIN_MAX);
	struct rule rule;

	if (count == 0 || count > SYMBOL_CHAIN_MAX)
		abort();
	for (size_t i = 0; i < count; i++)
		if (found[i].function == NULL || found[i].module == NULL)
			abort();
	if (source == NULL)
		return;
	rule_source_find(source, address, &rule);
	if (rule.kind == RULE_PLAIN && rule.count > RULE_REGISTERS)
		abort();
}

static void
ask_ranges(const struct jit_elf *elf, struct symbols *symbols)
{
	struct rule_source *source = rule_source_open(elf->image, &frames);

	if (elf->range_count == 0 || elf->range_count > JIT_ELF_RANGES)
		abort();
	for (size_t r = 0; r < elf->range_count && r < RANGES; r++) {
		const uint64_t start = elf->range[r].start, end = elf->range[r].end;

		if (start >= end)
			abort();
		for (uint64_t i = 0; i < ADDRESSES; i++)
			ask(symbols, source, start + (end - start) / ADDRESSES * i);
		ask(symbols, source, end - 1);
	}
	ask(symbols, source, 0);
	ask(symbols, source, UINT64_MAX);
	rule_source_free(source);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const struct symbols_config config = { .demangle = true, .inlines = true };
	static const struct memory memory = { read_code, NULL };
	struct modules *modules;
	struct symbols *symbols;
	struct jit_elf elf;
	uint8_t *copy = xmalloc(size > 0 ? size : 1);

	memcpy(copy, bytes, size);
	if (!jit_elf_open(&elf, copy, size, &memory)) {
		if (elf.why == NULL || elf.image != NULL)
			abort();
		return 0;
	}
	search(elf.image);
	modules = modules_create();
	modules_add_object(modules, elf.image);
	symbols = symbols_create(modules, &config);
	ask_ranges(&elf, symbols);
	symbols_free(symbols);
	modules_free(modules);
	return 0;
}
