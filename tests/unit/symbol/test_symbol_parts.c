/* SPDX-License-Identifier: MIT */
/*
 * test_symbol_parts.c - symbol tables that are too large for the memory are read in parts: each
 * address has the name that the whole table gives it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../scene/made_elf.h"
#include "symbol/symbol_internal.h"
#include "wallsample/base/base.h"

#define SYMBOLS 800

/* Enough for some hundred symbols, which have names of at most 8 bytes. */
#define LITTLE ((size_t)60 << 10)

/* Memory of a table with all functions, of which each may have two ranges. */
#define WHOLE ((size_t)4 << 20)

static char names[SYMBOLS][9];

static void
make_symbols(struct made_symbol symbol[SYMBOLS], struct rng *rng)
{
	for (size_t i = 0; i < SYMBOLS; i++) {
		const bool label = rng_next(rng) % 4 == 0;

		snprintf(names[i], sizeof(names[i]), "%sf%zu", rng_next(rng) % 3 == 0 ? "_" : "",
			 i);
		symbol[i] = (struct made_symbol){
			.name = names[i],
			.value = TEXT_ADDRESS + rng_next(rng) % TEXT_SIZE,
			.size = label || rng_next(rng) % 8 == 0 ? 0 : rng_next(rng) % 24,
			.type = label ? STT_NOTYPE : STT_FUNC,
			.binding = (unsigned char)(rng_next(rng) % 3),
			.section = TEXT,
			.dynamic = rng_next(rng) % 5 == 0,
		};
	}
}

/* A file in memory, or on a descriptor if `on_disk`. */
static struct symbol_file
open_file(struct made_file *made, bool on_disk)
{
	struct symbol_file file = { elf_memory((char *)made->bytes, made->size), -1 };

	assert_non_null(file.elf);
	if (!on_disk)
		return file;
	file.fd = memfd_create("symbols", MFD_CLOEXEC);
	assert_true(file.fd >= 0);
	assert_int_equal(write(file.fd, made->bytes, made->size), (ssize_t)made->size);
	return file;
}

static void
compare(const struct symbol_table *part, const struct symbol_table *whole, uint64_t vaddr)
{
	const struct symbol_range *a = symbol_table_find(part, vaddr);
	const struct symbol_range *b = symbol_table_find(whole, vaddr);

	assert_false(part->too_large);
	assert_int_equal(a != NULL, b != NULL);
	if (a == NULL)
		return;
	assert_string_equal(a->raw, b->raw);
	assert_int_equal(a->source, b->source);
	assert_int_equal(a->label, b->label);
}

/* The addresses are looked up in ascending order, and then in any order. */
static void
check_parts(const struct symbol_table_source *source, struct rng *rng)
{
	struct symbol_table_source rich = *source;
	struct symbol_table whole, part;

	rich.most = WHOLE;
	symbol_table_init(&whole, &rich, 0);
	assert_int_equal(whole.part_shift, 0);
	symbol_table_init(&part, source, TEXT_ADDRESS);
	assert_int_not_equal(part.part_shift, 0);
	for (uint64_t i = 0; i < 2 * TEXT_SIZE; i++) {
		const uint64_t vaddr = i < TEXT_SIZE ? TEXT_ADDRESS + i :
						       rng_next(rng) % (2 * TEXT_SIZE + 100);

		symbol_table_move(&part, source, vaddr);
		assert_true(part.bytes <= LITTLE);
		compare(&part, &whole, vaddr);
	}
	symbol_table_release(&part);
	symbol_table_release(&whole);
}

static void
test_parts(void **state)
{
	struct made_symbol symbol[SYMBOLS];
	struct rng rng;

	(void)state;
	assert_int_not_equal(elf_version(EV_CURRENT), EV_NONE);
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct symbol_table_source source = { .most = LITTLE };
		struct made_file made;

		rng_seed(&rng, seed);
		make_symbols(symbol, &rng);
		made = make_file(symbol, SYMBOLS);
		source.files.own = open_file(&made, seed % 2 == 0);
		check_parts(&source, &rng);
		elf_end(source.files.own.elf);
		if (source.files.own.fd >= 0)
			close(source.files.own.fd);
		free(made.bytes);
	}
}

/* More symbols of one address than the memory has room for give it no name, and other addresses
 * keep theirs. */
static void
test_too_large(void **state)
{
	struct made_symbol symbol[SYMBOLS];
	struct symbol_table_source source = { .most = LITTLE };
	struct made_file made;
	struct symbol_table table;

	(void)state;
	for (size_t i = 0; i < SYMBOLS; i++)
		symbol[i] = (struct made_symbol)FUNCTION("same", 0x1800, 8, STB_GLOBAL);
	symbol[0] = (struct made_symbol)FUNCTION("other", 0x1400, 8, STB_GLOBAL);
	made = make_file(symbol, SYMBOLS);
	source.files.own = open_file(&made, false);
	symbol_table_init(&table, &source, 0x1800);
	assert_true(table.too_large);
	assert_null(symbol_table_find(&table, 0x1800));
	symbol_table_move(&table, &source, 0x1400);
	assert_false(table.too_large);
	assert_string_equal(symbol_table_find(&table, 0x1400)->raw, "other");
	symbol_table_release(&table);
	elf_end(source.files.own.elf);
	free(made.bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
