/* SPDX-License-Identifier: MIT */
/*
 * test_symbol_damage.c - symbols of damaged and shrinking ELF files: nothing may fall over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../scene/made_elf.h"
#include "wallsample/base/base.h"

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
	return image_open_fd(fd, NULL);
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

/* What is in it now says nothing of what was sampled; its path is the target's to choose. */
static void
test_rewritten_file(void **state)
{
	static const struct made_symbol symbol[] = { FUNCTION("f", 0x1000, 8, STB_GLOBAL) };
	static const struct timespec then[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	struct made_file file = make_file(symbol, ARRAY_SIZE(symbol));
	struct log log = { .level = LOG_NORMAL };
	const struct symbols_config config = { .files.log = &log };
	const struct symbol_place place = { .vaddr = 0x1000 };
	struct modules *modules = modules_create();
	struct image *image = open_as_file(file.bytes, file.size);
	struct symbols *symbols;
	struct symbol found;
	char *said = NULL;
	size_t size = 0;

	(void)state;
	log.stream = open_memstream(&said, &size);
	assert_int_equal(modules_add_object(modules, image), 0);
	free(modules_get(modules, 0)->path);
	modules_get(modules, 0)->path = xstrdup("/tmp/\033[2Jprog");
	symbols = symbols_create(modules, &config);
	assert_int_equal(futimens(image->fd, then), 0);
	assert_int_equal(symbols_find(symbols, &place, &found, 1), 1);
	assert_false(found.known);
	symbols_free(symbols);
	fclose(log.stream);
	assert_non_null(strstr(said, "[2Jprog was written to while it was sampled"));
	assert_null(strchr(said, '\033'));
	free(said);
	modules_free(modules);
	free(file.bytes);
}

/* --- files that were made to take our time ---------------------------------------------- */

/* The test is over long before; without bounds these take minutes to hours. */
#define PATIENCE_S 60

static Elf64_Shdr *
section_of(struct made_file *file, unsigned number)
{
	return (Elf64_Shdr *)(file->bytes + ((Elf64_Ehdr *)file->bytes)->e_shoff) + number;
}

/* Puts the bytes behind the file, and has the section be there; frees them. */
static void
move_section(struct made_file *file, unsigned number, void *bytes, size_t size)
{
	const size_t at = (file->size + 7) / 8 * 8;

	file->bytes = realloc(file->bytes, at + size);
	assert_non_null(file->bytes);
	memset(file->bytes + file->size, 0, at - file->size);
	memcpy(file->bytes + at, bytes, size);
	file->size = at + size;
	section_of(file, number)->sh_offset = at;
	section_of(file, number)->sh_size = size;
	free(bytes);
}

static void
use_in_time(struct made_file *file)
{
	alarm(PATIENCE_S);
	use_image(image_open_memory(file->bytes, file->size));
	alarm(0);
	free(file->bytes);
}

/* As many names as there are bytes in the longest, all at one address. */
static void
test_names_in_names(void **state)
{
	static const struct made_symbol symbol[] = { FUNCTION("f", 0x1000, 8, STB_GLOBAL) };
	enum { LONGEST = 65000, COUNT = 600000 };
	struct made_file file = make_file(symbol, ARRAY_SIZE(symbol));
	char *names = xcalloc(1, LONGEST + 2);
	Elf64_Sym *sym = xcalloc(COUNT, sizeof(*sym));

	(void)state;
	memset(names + 1, '_', LONGEST);
	for (size_t i = 1; i < COUNT; i++)
		sym[i] = (Elf64_Sym){
			.st_name = (Elf64_Word)(1 + i % LONGEST),
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = TEXT, .st_value = 0x1000, .st_size = 16,
		};
	move_section(&file, STRTAB, names, LONGEST + 2);
	move_section(&file, SYMTAB, sym, COUNT * sizeof(*sym));
	use_in_time(&file);
}

/* Each relocation asks for a name whose end is looked for in all of the table. */
static void
test_endless_names(void **state)
{
	static const struct made_symbol symbol[] = {
		{ "f", 0x1000, 8, STT_FUNC, STB_GLOBAL, TEXT, true },
	};
	enum { COUNT = 400000, NAMES = 5000000 };
	struct made_file file = make_file(symbol, ARRAY_SIZE(symbol));
	Elf64_Rela *rela = xcalloc(COUNT, sizeof(*rela));
	char *names = xmalloc(NAMES);

	(void)state;
	memset(names, 'a', NAMES);
	for (size_t i = 0; i < COUNT; i++)
		rela[i] = (Elf64_Rela){ .r_offset = DATA_ADDRESS,
					.r_info = ELF64_R_INFO(1, R_X86_64_GLOB_DAT) };
	move_section(&file, DYNSTR, names, NAMES);
	move_section(&file, INIT, rela, COUNT * sizeof(*rela));
	section_of(&file, INIT)->sh_type = SHT_RELA;
	section_of(&file, INIT)->sh_flags = SHF_ALLOC;
	section_of(&file, INIT)->sh_link = DYNSYM;
	section_of(&file, INIT)->sh_entsize = sizeof(*rela);
	use_in_time(&file);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_damaged_vdso),
		cmocka_unit_test(test_shrunken_file),
		cmocka_unit_test(test_rewritten_file),
		cmocka_unit_test(test_names_in_names),
		cmocka_unit_test(test_endless_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
