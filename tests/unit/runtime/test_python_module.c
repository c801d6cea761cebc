/* SPDX-License-Identifier: MIT */
/*
 * test_python_module.c - CPython in files without symbols: by the section, and its version by text
 * among the constants or by the file's name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/python/python_find_internal.h"
#include "wallsample/base/base.h"

/* Constants are read in pieces of 64 KiB. */
#define PIECE ((size_t)64 << 10)
#define TEXT_SIZE (3 * PIECE)
#define RUNTIME 0x7000

struct made {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr section[3];
	char names[64];
	char text[TEXT_SIZE];
};

static void
make(struct made *file, const char *section)
{
	memset(file, 0, sizeof(*file));
	memcpy(file->header.e_ident, ELFMAG, SELFMAG);
	file->header.e_ident[EI_CLASS] = ELFCLASS64;
	file->header.e_ident[EI_DATA] = ELFDATA2LSB;
	file->header.e_ident[EI_VERSION] = EV_CURRENT;
	file->header.e_type = ET_DYN;
	file->header.e_machine = EM_X86_64;
	file->header.e_version = EV_CURRENT;
	file->header.e_phoff = offsetof(struct made, segment);
	file->header.e_phentsize = sizeof(Elf64_Phdr);
	file->header.e_phnum = 1;
	file->header.e_shoff = offsetof(struct made, section);
	file->header.e_shentsize = sizeof(Elf64_Shdr);
	file->header.e_shnum = 3;
	file->header.e_shstrndx = 2;
	file->segment = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = sizeof(*file),
		.p_memsz = sizeof(*file), .p_align = 4096,
	};
	file->section[1] = (Elf64_Shdr){
		.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addr = RUNTIME,
		.sh_size = sizeof(uint64_t),
	};
	file->section[2] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB, .sh_offset = offsetof(struct made, names),
		.sh_size = sizeof(file->names),
	};
	memcpy(file->names + 1, section, strlen(section));
}

/* In steps as small as can be. */
static void
search_image(struct image *image, const char *name, int most, struct python_module *found)
{
	const struct module module = { .kind = MODULE_FILE, .name = name, .image = image };
	struct python_module_search search;
	uint64_t budget;
	int steps = 0;

	python_module_search_begin(&search, &module);
	do {
		budget = 1;
		assert_true(++steps < most);
	} while (!python_module_search_step(&search, &budget));
	*found = search.found;
	image_free(image);
}

static bool
search(const struct made *file, const char *name, struct python_module *found)
{
	struct image *image = image_open_memory(file, sizeof(*file));

	if (image != NULL)
		search_image(image, name, 1000, found);
	return image != NULL;
}

/* What the name and these texts together say. */
static uint32_t
version_of(const char *name, const char *const *text, size_t count)
{
	struct made *file = xmalloc(sizeof(*file));
	struct python_module found;

	make(file, ".PyRuntime");
	for (size_t i = 0; i < count; i++)
		memcpy(file->text + 1 + 100 * i, text[i], strlen(text[i]));
	assert_true(search(file, name, &found));
	assert_int_equal(found.runtime, RUNTIME);
	assert_int_equal(found.version, 0);
	assert_int_equal(found.eval_count, 0);
	free(file);
	return python_module_version(&found);
}

static void
test_section(void **state)
{
	static const char *const others[] = { ".PyRuntime2", "x.PyRuntim", ".data" };
	struct made *file = xmalloc(sizeof(*file));
	struct python_module found;

	(void)state;
	make(file, ".PyRuntime");
	assert_true(search(file, "program", &found));
	assert_int_equal(found.runtime, RUNTIME);
	assert_int_equal(python_module_version(&found), 0);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		make(file, others[i]);
		memcpy(file->text + 1, "3.9.18", 7);
		assert_true(search(file, "python3.9", &found));
		assert_int_equal(found.runtime, 0);
		assert_int_equal(found.text_count, 0); /* not even looked for */
	}
	free(file);
}

static void
test_version_of_text(void **state)
{
	static const char *const plain[] = { "3.9.18" };
	static const char *const end[] = { "/opt/python/3.10.13", "version 2.7.18", "13.9.18" };
	static const char *const none[] = { "3.9.18 ", "3.9", "3.40.1", "1.3.9.1", "3.9.18.2" };
	static const char *const two[] = { "3.9.18", "3.8.1" };
	static const char *const same[] = { "3.9.18", "3.9.2" };

	(void)state;
	assert_int_equal(version_of("uwsgi", plain, 1), 0x030912f0);
	assert_int_equal(version_of("uwsgi", end, ARRAY_SIZE(end)), 0x030a0df0);
	assert_int_equal(version_of("uwsgi", none, ARRAY_SIZE(none)), 0);
	/* The name tells which of several it is. */
	assert_int_equal(version_of("uwsgi", two, 2), 0);
	assert_int_equal(version_of("libpython3.9.so.1.0", two, 2), 0x030912f0);
	assert_int_equal(version_of("python3.8", two, 2), 0x030801f0);
	assert_int_equal(version_of("python3.9d", same, 2), 0x03090000);
	assert_int_equal(version_of("python3.10-dbg", same, 2), 0x030a0000);
}

static void
test_text_across_pieces(void **state)
{
	struct made *file = xmalloc(sizeof(*file));
	const size_t before = offsetof(struct made, text);

	(void)state;
	for (size_t at = PIECE - 24; at < PIECE + 8; at++) {
		struct python_module found;

		make(file, ".PyRuntime");
		memset(file->text, 'x', TEXT_SIZE);
		memcpy(file->text + (at - before), "3.10.13rc1", 11);
		assert_true(search(file, "program", &found));
		assert_int_equal(python_module_version(&found), 0x030a0dc1);
		/* and no part of a longer number is one */
		file->text[at - before - 1] = '1';
		assert_true(search(file, "program", &found));
		assert_int_equal(found.text_count, 0);
	}
	free(file);
}

/* A segment that is too long to be searched as a whole, before that with the version. */
static void
test_long_segment(void **state)
{
	const off_t length = (off_t)257 << 20;
	const int fd = memfd_create("long", MFD_CLOEXEC);
	struct made *file = xmalloc(sizeof(*file));
	struct python_module found;
	struct image *image;

	(void)state;
	make(file, ".PyRuntime");
	memcpy(file->text + 1, "3.9.18", 7);
	assert_int_equal(write(fd, file, sizeof(*file)), sizeof(*file));
	assert_int_equal(ftruncate(fd, (off_t)sizeof(*file) + length), 0);
	image = image_open_fd(fd, NULL);
	assert_non_null(image);
	image->segment[image->segment_count++] = image->segment[0];
	image->segment[0].offset = sizeof(*file);
	image->segment[0].file_size = image->segment[0].mem_size = (uint64_t)length;
	search_image(image, "program", 10000, &found);
	assert_int_equal(python_module_version(&found), 0x030912f0);
	free(file);
}

static void
test_damaged(void **state)
{
	struct made *file = xmalloc(sizeof(*file));
	struct python_module found;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 6);
	for (int i = 0; i < 2000; i++) {
		make(file, ".PyRuntime");
		memcpy(file->text + 1, "3.9.18", 7);
		for (int n = 0; n < 3; n++) {
			uint8_t *bytes = (uint8_t *)file;

			bytes[rng_next(&rng) % offsetof(struct made, text)] =
				rng_next(&rng) % 3 == 0 ? 0xff : (uint8_t)rng_next(&rng);
		}
		search(file, "python3.9", &found);
	}
	free(file);
}

/* --- parts of a function -------------------------------------------------------------------- */

static volatile int sink;

static void __attribute__((cold, noinline))
seldom(int n)
{
	sink += n;
}

/* A function of which compilers put a part elsewhere: it goes there and comes back. */
int test_split(const int *array, int count);

int __attribute__((noinline))
test_split(const int *array, int count)
{
	int sum = 0;

	for (int i = 0; i < count; i++) {
		if (array[i] < 0) {
			seldom(i);
			sum ^= array[i];
		}
		sum += array[i] / 3;
		if (array[i] % 5 == 3) {
			seldom(sum);
			sum *= 7;
		}
		sum -= array[i] / 11;
		if (array[i] == 99) {
			seldom(i + sum);
			sum *= 13;
		}
		sum ^= array[i] % 17;
		if (array[i] == sum) {
			seldom(i - sum);
			sum *= 19;
		}
	}
	return sum;
}

/* The part that the symbol table tells of is found without it, and nothing else. */
static void
test_parts(void **state)
{
	static const struct symbol_wanted wanted = { "test_split", true, true };
	static const int array[] = { 1, -2, 3 };
	struct image *image = image_open_fd(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), NULL);
	const struct symbol_search_found *whole, *part;
	struct address_range range[PYTHON_EVAL_MOST];
	uint64_t budget = UINT64_MAX;
	struct symbol_search symbols;
	size_t count;

	(void)state;
	assert_non_null(image);
	assert_true(test_split(array, 3) != 1);
	symbol_search_init(&symbols, image, &wanted, 1);
	assert_true(symbol_search_step(&symbols, &budget));
	assert_in_range(symbols.found_count, 1, 2);
	whole = part = &symbols.found[0];
	if (symbols.found[1].size > whole->size)
		whole = &symbols.found[1];
	else if (symbols.found_count == 2)
		part = &symbols.found[1];
	range[0] = (struct address_range){ whole->vaddr, whole->size };
	count = python_eval_parts(image, range, 1, PYTHON_EVAL_MOST);
	print_message("%zu symbols, %zu parts\n", symbols.found_count, count);
	assert_int_equal(count, symbols.found_count);
	if (count == 2) {
		assert_int_equal(range[1].start, part->vaddr);
		assert_int_equal(range[1].size, part->size);
		/* From the part to the whole, too. */
		range[0] = range[1];
		assert_int_equal(python_eval_parts(image, range, 1, PYTHON_EVAL_MOST), 2);
		assert_int_equal(range[1].start, whole->vaddr);
	}
	/* There may be no room for any. */
	assert_int_equal(python_eval_parts(image, range, 1, 1), 1);
	image_free(image);
}

/* Branches as the architecture has them. */
static void
test_branches(void **state)
{
	int64_t distance = 0;

	(void)state;
#if defined(__x86_64__)
	static const uint8_t jump[] = { 0xe9, 0xfb, 0xff, 0xff, 0xff };
	static const uint8_t above[] = { 0x0f, 0x87, 0x00, 0x10, 0x00, 0x00 };
	static const uint8_t call[] = { 0xe8, 0, 0, 0, 0, 0 };

	assert_true(python_branch_at(jump, sizeof(jump), &distance));
	assert_int_equal(distance, 0);
	assert_true(python_branch_at(above, sizeof(above), &distance));
	assert_int_equal(distance, 0x1006);
	assert_false(python_branch_at(above, sizeof(above) - 1, &distance));
	assert_false(python_branch_at(call, sizeof(call), &distance));
#elif defined(__aarch64__)
	static const uint32_t back = 0x17ffffff, equal = 0x54000040, zero = 0xb4ffffe0;
	static const uint32_t call = 0x94000001;

	assert_true(python_branch_at((const uint8_t *)&back, 4, &distance));
	assert_int_equal(distance, -4);
	assert_true(python_branch_at((const uint8_t *)&equal, 4, &distance));
	assert_int_equal(distance, 8);
	assert_true(python_branch_at((const uint8_t *)&zero, 4, &distance));
	assert_int_equal(distance, -4);
	assert_false(python_branch_at((const uint8_t *)&call, 4, &distance));
#endif
	assert_false(python_branch_at(NULL, 0, &distance));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_section),
		cmocka_unit_test(test_version_of_text),
		cmocka_unit_test(test_text_across_pieces),
		cmocka_unit_test(test_long_segment),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_branches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
