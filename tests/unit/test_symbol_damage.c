/* SPDX-License-Identifier: MIT */
/*
 * test_symbol_damage.c - symbols of damaged and shrinking ELF files: nothing may fall over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "made_elf.h"
#include "wallsample/base.h"

/* Asks everywhere: nothing is expected but that it comes back. */
static void
use_image(struct image *image)
{
	struct symbols *symbols = open_module(MODULE_FILE, "damaged", image);
	struct symbol symbol;

	if (image != NULL) {
		for (uint64_t at = 0; at < 0x5000; at += 0x10)
			find_made(symbols, 0, at, &symbol);
		find_made(symbols, 0, UINT64_MAX, &symbol);
		symbols_module_is_bare(symbols, 0);
	}
	close_made(symbols);
}

static struct image *
open_as_file(const void *bytes, size_t size)
{
	const int fd = memfd_create("damaged", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
	return image_open_fd(fd);
}

/* The end of the file holds the section headers, the beginning the others. */
static void
damage(struct rng *rng, uint8_t *bytes, size_t size)
{
	const size_t flips = 1 + rng_next(rng) % 8;

	for (size_t i = 0; i < flips; i++) {
		const size_t part = rng_next(rng) % 3 == 0 ? size : 8 * sizeof(Elf64_Shdr);
		size_t at = rng_next(rng) % (part < size ? part : size);

		if (part < size && rng_next(rng) % 2 != 0)
			at = size - 1 - at;
		bytes[at] ^= (uint8_t)(1 + rng_next(rng) % 255);
	}
}

static void
damage_often(const uint8_t *bytes, size_t size, uint64_t seed, unsigned rounds)
{
	uint8_t *copy = xmalloc(size);
	struct rng rng;

	rng_seed(&rng, seed);
	for (unsigned i = 0; i < rounds; i++) {
		memcpy(copy, bytes, size);
		damage(&rng, copy, size);
		use_image(image_open_memory(copy, size));
		if (i % 4 == 0)
			use_image(open_as_file(copy, size));
		if (i % 8 == 0)
			use_image(image_open_memory(copy, rng_next(&rng) % size + 1));
	}
	free(copy);
}

static void
test_damage(void **state)
{
	static const struct made_symbol symbol[] = {
		FUNCTION("_ZN2ns1fIiE3barEv", 0x1000, 0x100, STB_GLOBAL),
		FUNCTION("_RNvCs1234_7mycrate3foo", 0x1040, 0x20, STB_GLOBAL),
		LABEL("label", 0x1200, TEXT),
		{ "exported@@V1", 0x1300, 8, STT_FUNC, STB_GLOBAL, TEXT, true },
		{ "init", 0x2000, 0, STT_FUNC, STB_GLOBAL, INIT, true },
	};
	struct made_file file = make_file(symbol, ARRAY_SIZE(symbol));

	(void)state;
	damage_often(file.bytes, file.size, 20240611, 2000);
	free(file.bytes);
}

static void
test_damaged_vdso(void **state)
{
	struct image *vdso = open_vdso();

	(void)state;
	if (vdso == NULL) {
		skip();
		return;
	}
	damage_often(image_memory(vdso), vdso->size, 7, 500);
	image_free(vdso);
}

/* A file that claims sizes it does not have, and one that shrinks once it is open. */
static void
test_shrunken_file(void **state)
{
	static const struct made_symbol symbol[] = { FUNCTION("f", 0x1000, 8, STB_GLOBAL) };
	struct made_file file = make_file(symbol, ARRAY_SIZE(symbol));

	(void)state;
	for (size_t keep = 0; keep < file.size; keep += 16) {
		struct image *image = open_as_file(file.bytes, file.size);

		assert_non_null(image);
		assert_int_equal(ftruncate(image->fd, (off_t)keep), 0);
		use_image(image);
	}
	free(file.bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_damaged_vdso),
		cmocka_unit_test(test_shrunken_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
