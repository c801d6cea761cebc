/* SPDX-License-Identifier: MIT */
/*
 * test_jit_elf.c - files that describe code made at run time, damaged in every way, and searches
 * in symbol tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "jit/objects/jit_elf_internal.h"
#include "jit/objects/jit_watch_internal.h"
#include "unwind/rule_internal.h"
#include "../scene/made_object.h"
#include "wallsample/base/base.h"

static struct frame_budget frames = { .bytes = UINT64_MAX, .entries = UINT64_MAX };

static const struct symbol_wanted descriptor_wanted = { .name = "__jit_debug_descriptor" };

static bool
open_copy(struct jit_elf *elf, const void *bytes, size_t size)
{
	uint8_t *copy = xmalloc(size + 1); /* of its own, so that reads outside show */

	memcpy(copy, bytes, size);
	return jit_elf_open(elf, copy, size, NULL);
}

static void
check_elf(const struct jit_elf *elf)
{
	struct rule_source *source = rule_source_open(elf->image, &frames);
	struct rule rule;

	assert_in_range(elf->range_count, 1, JIT_ELF_RANGES);
	for (size_t i = 0; i < elf->range_count; i++)
		assert_true(elf->range[i].start < elf->range[i].end);
	if (source != NULL)
		rule_source_find(source, elf->range[0].start + FUNCTION_AT, &rule);
	rule_source_free(source);
}

static void
test_truncated(void **state)
{
	struct made_object object, program;
	struct jit_elf elf;

	(void)state;
	made_object_init(&object, 0x7f0000000000, 0x7f0000001000);
	made_program_init(&program, 0x7f0000000000);
	for (size_t size = 0; size < sizeof(object); size++) {
		/* The section headers are at the end: without them there is no code. */
		assert_false(open_copy(&elf, &object, size));
		assert_non_null(elf.why);
		assert_null(elf.image);
		if (open_copy(&elf, &program, size)) {
			check_elf(&elf);
			jit_elf_release(&elf);
		}
	}
	assert_true(open_copy(&elf, &object, sizeof(object)));
	assert_null(elf.why);
	assert_true(elf.has_tables);
	jit_elf_release(&elf);
	assert_true(open_copy(&elf, &program, sizeof(program)));
	assert_false(elf.has_tables);
	jit_elf_release(&elf);
}

static void
damage(struct rng *rng, struct made_object *file)
{
	static const uint64_t values[] = { 0, 1, 0xff, 0xffff, UINT32_MAX, UINT64_MAX,
					   UINT64_C(1) << 63, sizeof(struct made_object), 64 };
	size_t count = 1 + rng_next(rng) % 4;

	for (size_t i = 0; i < count; i++) {
		size_t size = (size_t)1 << rng_next(rng) % 4;
		size_t at = rng_next(rng) % (sizeof(*file) - size) / size * size;
		uint64_t value = rng_next(rng) % 2 ? values[rng_next(rng) % ARRAY_SIZE(values)] :
						     rng_next(rng);

		memcpy((uint8_t *)file + at, &value, size);
	}
}

static void
test_damaged(void **state)
{
	size_t opened = 0;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 3);
	for (int i = 0; i < 20000; i++) {
		struct jit_elf elf;
		struct made_object file;

		if (i % 3)
			made_object_init(&file, 0x7f0000000000, i % 3 == 1 ? 0x7f0000001000 : 0);
		else
			made_program_init(&file, 0x7f0000000000);
		if (i % 2)
			file.eh_frame[16] = 0x23;
		damage(&rng, &file);
		if (!open_copy(&elf, &file, sizeof(file)))
			continue;
		check_elf(&elf);
		jit_elf_release(&elf);
		opened++;
	}
	assert_true(opened > 1000);
}

/* What would take long if sections counted as often as they are listed. */
static void
test_many_sections(void **state)
{
	const size_t count = 60000;
	size_t size = sizeof(struct made_object) + count * sizeof(Elf64_Shdr);
	uint8_t *bytes = xcalloc(1, size);
	struct jit_elf elf;
	struct made_object file;

	(void)state;
	made_object_init(&file, 0x7f0000000000, 0x7f0000001000);
	file.header.e_shoff = sizeof(file);
	file.header.e_shnum = (uint16_t)count;
	for (size_t i = 0; i < count; i++) {
		Elf64_Shdr section = file.section[i < SECTIONS ? i : i % 2 ? RELA : TEXT];

		if (i >= SECTIONS) {
			section.sh_offset = 0;
			section.sh_size = size;
			section.sh_addr += i * 4096;
		}
		memcpy(bytes + sizeof(file) + i * sizeof(section), &section, sizeof(section));
	}
	memcpy(bytes, &file, sizeof(file));
	assert_true(jit_elf_open(&elf, bytes, size, NULL));
	assert_int_equal(elf.range_count, JIT_ELF_RANGES);
	jit_elf_release(&elf);
}

/* --- searches ------------------------------------------------------------- */

/* Names are read in pieces of 64 KiB: the name may begin in one and end in the next. */
static void
test_search_across_pieces(void **state)
{
	const size_t piece = 64 << 10, size = sizeof(struct made_object) + 3 * piece;
	static const char name[] = "__jit_debug_descriptor";
	uint8_t *bytes = xcalloc(1, size);
	struct made_object file;

	(void)state;
	made_program_init(&file, 0x7f0000000000);
	file.symbol[2].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
	file.section[STRTAB].sh_offset = sizeof(file);
	file.section[STRTAB].sh_size = 3 * piece;
	for (size_t at = piece - sizeof(name) - 1; at < piece + 2; at++) {
		uint64_t budget = UINT64_MAX;
		struct symbol_search search;
		struct image *image;

		file.symbol[2].st_name = (uint32_t)at;
		memset(bytes, 'x', size);
		memcpy(bytes, &file, sizeof(file));
		memcpy(bytes + sizeof(file) + at, name, sizeof(name));
		image = image_open_memory(bytes, size);
		assert_non_null(image);
		symbol_search_init(&search, image, &descriptor_wanted, 1);
		assert_true(symbol_search_step(&search, &budget));
		assert_int_equal(search.found_count, 1);
		assert_int_equal(search.found[0].vaddr, file.symbol[2].st_value);
		image_free(image);
	}
	free(bytes);
}

/* Several names, and the parts of a function; a longer name that ends so is another. */
static void
test_search_of_several(void **state)
{
	static const struct symbol_wanted wanted[] = {
		{ .name = "variable" },
		{ .name = "function", .code = true, .parts = true },
		{ .name = "absent" },
	};
	static const char *const names[] = { "function", "function.cold", "function2", "a_function",
					     "variable", "variable.1" };
	const size_t most = 4096, size = sizeof(struct made_object) + 2 * most;
	uint8_t *bytes = xcalloc(1, size);
	Elf64_Sym *symbol = (Elf64_Sym *)(void *)(bytes + sizeof(struct made_object));
	char *text = (char *)bytes + sizeof(struct made_object) + most;
	struct symbol_search search;
	struct made_object file;
	struct image *image;
	uint64_t budget;

	(void)state;
	made_program_init(&file, 0x7f0000000000);
	file.section[SYMTAB].sh_offset = sizeof(file);
	file.section[SYMTAB].sh_size = (ARRAY_SIZE(names) + 1) * sizeof(*symbol);
	file.section[STRTAB].sh_offset = sizeof(file) + most;
	file.section[STRTAB].sh_size = most;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		memcpy(text + 1 + 100 * i, names[i], strlen(names[i]));
		symbol[i + 1] = (Elf64_Sym){
			.st_name = (uint32_t)(1 + 100 * i),
			.st_info = ELF64_ST_INFO(STB_GLOBAL, i < 4 ? STT_FUNC : STT_OBJECT),
			.st_shndx = 1,
			.st_value = 0x1000 * (i + 1),
			.st_size = 16 + i,
		};
	}
	memcpy(bytes, &file, sizeof(file));
	image = image_open_memory(bytes, size);
	assert_non_null(image);
	symbol_search_init(&search, image, wanted, ARRAY_SIZE(wanted));
	do
		budget = 1;
	while (!symbol_search_step(&search, &budget));
	assert_int_equal(search.found_count, 3);
	assert_int_equal(symbol_search_first(&search, 0)->vaddr, 0x5000);
	assert_int_equal(symbol_search_first(&search, 1)->vaddr, 0x1000);
	assert_int_equal(search.found[1].vaddr, 0x2000);
	assert_int_equal(search.found[1].wanted, 1);
	assert_int_equal(search.found[1].size, 17);
	assert_null(symbol_search_first(&search, 2));
	image_free(image);
	free(bytes);
}

/* An object's own tables, damaged, stand for those of any file. */
static void
test_search_damaged(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 4);
	for (int i = 0; i < 5000; i++) {
		struct symbol_search search;
		uint64_t budget = UINT64_MAX;
		struct image *image;
		struct made_object file;

		made_program_init(&file, 0x7f0000000000);
		damage(&rng, &file);
		image = image_open_memory(&file, sizeof(file));
		if (!image)
			continue;
		symbol_search_init(&search, image, &descriptor_wanted, 1);
		assert_true(symbol_search_step(&search, &budget));
		assert_int_equal(search.found_count, 0);
		image_free(image);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_many_sections),
		cmocka_unit_test(test_search_across_pieces),
		cmocka_unit_test(test_search_of_several),
		cmocka_unit_test(test_search_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
