/* SPDX-License-Identifier: MIT */
/*
 * test_dwarf_lines.c - names of a small program by its DWARF, whole and damaged.
 *
 * The program is compiled here, so that its lines are known: those with a marker in
 * their comment. Damage is done to a copy in memory, by a generator with a fixed seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wallsample/dwarf/dwarf_lines.h"
#include "dwarf/dwarf_unit_internal.h"
#include "wallsample/base/base.h"

#define DAMAGES 3000
#define ROOM 64

static const char source[] = "volatile int sink;\n"
			     "static inline __attribute__((always_inline)) int inner(int n)\n"
			     "{\n"
			     "	sink += n; /* line 4 */\n"
			     "	return sink;\n"
			     "}\n"
			     "static inline __attribute__((always_inline)) int middle(int n)\n"
			     "{\n"
			     "	return inner(n) + 1; /* line 9 */\n"
			     "}\n"
			     "__attribute__((noinline)) int outer(int n)\n"
			     "{\n"
			     "	return middle(n) * 2; /* line 13 */\n"
			     "}\n"
			     "int main(int argc, char **argv)\n"
			     "{\n"
			     "	(void)argv;\n"
			     "	return outer(argc); /* line 18 */\n"
			     "}\n";

struct program {
	char folder[64];
	int fd;
	unsigned char *bytes; /* of the file */
	size_t size;
	int opened; /* handles, in all */
};

static Dwarf *
open_dwarf(void *context)
{
	struct program *program = context;

	program->opened++;
	return dwarf_begin(program->fd, DWARF_C_READ);
}

static void
close_dwarf(void *context, Dwarf *dwarf)
{
	(void)context;
	dwarf_end(dwarf);
}

static struct dwarf_lines *
lines_of(struct program *program)
{
	struct dwarf_opener opener = {
		.open = open_dwarf, .close = close_dwarf, .context = program};

	elf_version(EV_CURRENT);
	return dwarf_lines_create(&opener);
}

/* Compiles `source`; false when there is no compiler. */
static bool
make(struct program *program, const char *flags)
{
	struct strbuf text;
	struct stat st;
	char path[128];
	FILE *file;
	bool made;

	memset(program, 0, sizeof(*program));
	program->fd = -1;
	strbuf_init(&text);
	strbuf_add_text(&text, "/tmp/wallsample-dwarf-XXXXXX");
	snprintf(program->folder, sizeof(program->folder), "%s", text.data);
	assert_non_null(mkdtemp(program->folder));
	snprintf(path, sizeof(path), "%s/small.c", program->folder);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(source, file);
	fclose(file);
	strbuf_clear(&text);
	strbuf_add_format(&text, "cd %s && cc %s -o small small.c 2>/dev/null", program->folder,
			  flags);
	made = system(text.data) == 0;
	strbuf_release(&text);
	if (!made)
		return false;
	snprintf(path, sizeof(path), "%s/small", program->folder);
	program->fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(program->fd >= 0);
	assert_int_equal(fstat(program->fd, &st), 0);
	program->size = (size_t)st.st_size;
	program->bytes = xmalloc(program->size);
	assert_int_equal(pread(program->fd, program->bytes, program->size, 0), st.st_size);
	return true;
}

static void
drop(struct program *program)
{
	struct strbuf text;

	strbuf_init(&text);
	strbuf_add_format(&text, "rm -rf %s", program->folder);
	assert_int_equal(system(text.data), 0);
	strbuf_release(&text);
	free(program->bytes);
	if (program->fd >= 0)
		close(program->fd);
}

/* The addresses of a function by the symbol table. */
static void
find_symbol(const struct program *program, const char *name, uint64_t *low, uint64_t *high)
{
	Elf *elf = elf_memory((char *)program->bytes, program->size);
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym symbol;

	*low = *high = 0;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_SYMTAB)
			continue;
		for (int i = 0; gelf_getsym(elf_getdata(section, NULL), i, &symbol) != NULL; i++) {
			const char *text = elf_strptr(elf, header.sh_link, symbol.st_name);

			if (text != NULL && strcmp(text, name) == 0) {
				*low = symbol.st_value;
				*high = symbol.st_value + symbol.st_size;
			}
		}
	}
	elf_end(elf);
	assert_true(*low < *high);
}

static bool
ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Whether all three are at the address, with the lines that they have. */
static bool
is_nested(const struct dwarf_place *place, size_t count)
{
	if (count != 3)
		return false;
	assert_string_equal(place[0].function, "inner");
	assert_string_equal(place[1].function, "middle");
	assert_string_equal(place[2].function, "outer");
	assert_true(place[0].inlined && place[1].inlined && !place[2].inlined);
	assert_int_equal(place[1].line, 9);
	assert_int_equal(place[2].line, 13);
	for (int i = 0; i < 3; i++)
		assert_true(ends_with(place[i].file, "/small.c"));
	return place[0].line == 4;
}

static void
check_truth(const char *flags)
{
	struct dwarf_place place[ROOM];
	struct program program;
	struct dwarf_lines *lines;
	uint64_t low, high;
	size_t nested = 0;

	if (!make(&program, flags)) {
		drop(&program);
		skip();
	}
	lines = lines_of(&program);
	find_symbol(&program, "outer", &low, &high);
	for (uint64_t at = low; at < high; at++) {
		size_t count = dwarf_lines_find(lines, at, place, ROOM);

		assert_true(count >= 1);
		assert_string_equal(place[count - 1].function, "outer");
		nested += is_nested(place, count);
		/* With less room the last is the same, and so are the first. */
		assert_int_equal(dwarf_lines_find(lines, at, place, 1), 1);
		assert_string_equal(place[0].function, "outer");
		if (count == 3) {
			assert_int_equal(dwarf_lines_find(lines, at, place, 2), 2);
			assert_string_equal(place[0].function, "inner");
			assert_string_equal(place[1].function, "outer");
			assert_int_equal(place[1].line, 13);
		}
	}
	assert_true(nested > 0);
	find_symbol(&program, "main", &low, &high);
	assert_int_equal(dwarf_lines_find(lines, low, place, ROOM), 1);
	assert_string_equal(place[0].function, "main");
	/* Of the lines that begin at the same address it is the last. */
	assert_in_range(place[0].line, 16, 18);
	assert_int_equal(dwarf_lines_find(lines, 0, place, ROOM), 0);
	assert_int_equal(dwarf_lines_find(lines, 1, place, ROOM), 0);
	assert_int_equal(dwarf_lines_find(lines, UINT64_MAX, place, ROOM), 0);
	assert_int_equal(dwarf_lines_find(lines, low, place, 0), 0);
	assert_int_equal(program.opened, 1);
	dwarf_lines_free(lines);
	drop(&program);
}

static void
truth_dwarf_4(void **state)
{
	(void)state;
	check_truth("-g -O2 -gdwarf-4");
}

static void
truth_dwarf_5(void **state)
{
	(void)state;
	check_truth("-g -O2 -gdwarf-5");
}

static void
truth_split(void **state)
{
	(void)state;
	check_truth("-g -O2 -gdwarf-5 -gsplit-dwarf");
}

static void
truth_compressed(void **state)
{
	(void)state;
	check_truth("-g -O2 -gz");
}

/* What was read is given back after each unit, and read again: the same is said. */
static void
given_back(void **state)
{
	struct dwarf_place place[ROOM];
	struct program program;
	struct dwarf_lines *lines;
	uint64_t low, high;
	int opened = 0;

	(void)state;
	if (!make(&program, "-g -O2")) {
		drop(&program);
		skip();
	}
	lines = lines_of(&program);
	dwarf_lines_set_limit(lines, 0);
	find_symbol(&program, "outer", &low, &high);
	for (int i = 0; i < 3; i++) {
		size_t count = dwarf_lines_find(lines, low, place, ROOM);

		assert_true(count > 0);
		assert_string_equal(place[count - 1].function, "outer");
		/* Each time it was read, it was opened. */
		assert_true(program.opened > opened);
		opened = program.opened;
		/* Behind all code: the handle is closed for it, and opened again. */
		assert_int_equal(dwarf_lines_find(lines, UINT64_MAX / 2, place, ROOM), 0);
	}
	dwarf_lines_free(lines);
	drop(&program);
}

static size_t
split_large(void *context, Dwarf_CU *cu)
{
	(void)context;
	(void)cu;
	return SIZE_MAX / 2;
}

/* What .dwo files take is given back with the rest. */
static void
split_given_back(void **state)
{
	struct dwarf_place place[ROOM];
	struct program program;
	struct dwarf_opener opener = { .open = open_dwarf, .close = close_dwarf,
				       .split = split_large, .context = &program };
	struct dwarf_lines *lines;
	uint64_t low, high;

	(void)state;
	if (!make(&program, "-g -O2")) {
		drop(&program);
		skip();
	}
	elf_version(EV_CURRENT);
	lines = dwarf_lines_create(&opener);
	find_symbol(&program, "outer", &low, &high);
	assert_true(dwarf_lines_find(lines, low, place, ROOM) > 0);
	assert_int_equal(program.opened, 1);
	/* Behind all code. */
	assert_int_equal(dwarf_lines_find(lines, UINT64_MAX / 2, place, ROOM), 0);
	assert_true(dwarf_lines_find(lines, low, place, ROOM) > 0);
	assert_int_equal(program.opened, 2);
	dwarf_lines_free(lines);
	drop(&program);
}

static Dwarf *
open_nothing(void *context)
{
	++*(int *)context;
	return NULL;
}

static void
no_dwarf(void **state)
{
	struct dwarf_place place[ROOM];
	int opened = 0;
	struct dwarf_opener opener = {
		.open = open_nothing, .close = close_dwarf, .context = &opened};
	struct dwarf_lines *lines = dwarf_lines_create(&opener);

	(void)state;
	assert_int_equal(dwarf_lines_find(lines, 0x1000, place, ROOM), 0);
	assert_int_equal(dwarf_lines_find(lines, 0x1000, place, ROOM), 0);
	assert_int_equal(opened, 1);
	dwarf_lines_free(lines);
	dwarf_lines_free(NULL);
}

static void
spans_by_brute_force(void **state)
{
	const struct dwarf_span *found[512];
	struct dwarf_spans spans = {0};
	struct rng rng;

	(void)state;
	rng_seed(&rng, 7);
	for (uint32_t i = 0; i < 400; i++) {
		uint64_t low = rng_next(&rng) % 1000;

		dwarf_spans_add(&spans, low, low + rng_next(&rng) % (i % 9 == 0 ? 500 : 10), i,
				SIZE_MAX);
	}
	assert_false(dwarf_spans_add(&spans, 5, 5, 0, SIZE_MAX));
	assert_false(dwarf_spans_add(&spans, 5, 6, 0, spans.count));
	dwarf_spans_order(&spans);
	for (uint64_t at = 0; at < 1600; at++) {
		size_t want = 0, count = dwarf_spans_holding(&spans, at, found, ARRAY_SIZE(found));

		for (size_t i = 0; i < spans.count; i++)
			want += spans.all[i].low <= at && at < spans.all[i].high;
		assert_int_equal(count, want);
		for (size_t i = 0; i < count; i++)
			assert_true(found[i]->low <= at && at < found[i]->high);
		assert_int_equal(dwarf_spans_holding(&spans, at, found, 2), want < 2 ? want : 2);
	}
	dwarf_spans_release(&spans);
}

/* Where the debug sections are in the file, as one number for each of their bytes. */
static size_t
debug_bytes(const struct program *program, size_t *offset, size_t most)
{
	Elf *elf = elf_memory((char *)program->bytes, program->size);
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names, count = 0;

	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((section = elf_nextscn(elf, section)) != NULL) {
		const char *name;

		assert_non_null(gelf_getshdr(section, &header));
		name = elf_strptr(elf, names, header.sh_name);
		if (name == NULL || strncmp(name, ".debug_", 7) != 0)
			continue;
		for (size_t i = 0; i < header.sh_size && count < most; i++)
			offset[count++] = header.sh_offset + i;
	}
	elf_end(elf);
	return count;
}

/* Names every fourth address; all texts are read. Returns their length. */
static size_t
name_all(struct program *damaged, uint64_t low, uint64_t high)
{
	struct dwarf_lines *lines = lines_of(damaged);
	struct dwarf_place place[ROOM];
	size_t length = 0;

	for (uint64_t at = low; at < high; at += 4) {
		size_t count = dwarf_lines_find(lines, at, place, ROOM);

		assert_true(count <= ROOM);
		for (size_t i = 0; i < count; i++) {
			length += place[i].function != NULL ? strlen(place[i].function) : 0;
			length += place[i].file != NULL ? strlen(place[i].file) : 0;
		}
	}
	dwarf_lines_free(lines);
	return length;
}

static void
check_damage(const char *flags, uint64_t seed)
{
	enum { MOST = 1 << 20 };
	struct program program, damaged;
	uint64_t low, high, end;
	size_t *offset, count, whole, changed = 0;
	struct rng rng;

	if (!make(&program, flags)) {
		drop(&program);
		skip();
	}
	offset = xcalloc(MOST, sizeof(*offset));
	count = debug_bytes(&program, offset, MOST);
	assert_true(count > 0);
	find_symbol(&program, "main", &low, &end);
	find_symbol(&program, "outer", &end, &high);
	low = low < end ? low : end;
	damaged = program;
	damaged.fd = memfd_create("damaged", MFD_CLOEXEC);
	assert_true(damaged.fd >= 0);
	assert_int_equal(pwrite(damaged.fd, program.bytes, program.size, 0), program.size);
	whole = name_all(&damaged, low, high);
	assert_true(whole > 0);
	rng_seed(&rng, seed);
	for (int i = 0; i < DAMAGES; i++) {
		size_t places = 1 + rng_next(&rng) % 8;
		size_t at[8];

		for (size_t j = 0; j < places; j++) {
			static const unsigned char extremes[] = {0, 1, 0x7f, 0x80, 0xff};
			uint64_t value = rng_next(&rng);
			unsigned char byte = value & 256 ? (unsigned char)value
							 : extremes[value % ARRAY_SIZE(extremes)];

			at[j] = offset[rng_next(&rng) % count];
			assert_int_equal(pwrite(damaged.fd, &byte, 1, (off_t)at[j]), 1);
		}
		changed += name_all(&damaged, low, high) != whole;
		for (size_t j = 0; j < places; j++)
			assert_int_equal(
				pwrite(damaged.fd, program.bytes + at[j], 1, (off_t)at[j]), 1);
	}
	/* The damage was seen, and it did no lasting harm. */
	assert_true(changed > DAMAGES / 10);
	assert_int_equal(name_all(&damaged, low, high), whole);
	close(damaged.fd);
	free(offset);
	drop(&program);
}

static void
damage_dwarf_4(void **state)
{
	(void)state;
	check_damage("-g -O2 -gdwarf-4", 4);
}

static void
damage_dwarf_5(void **state)
{
	(void)state;
	check_damage("-g -O2 -gdwarf-5", 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_by_brute_force),
		cmocka_unit_test(no_dwarf),
		cmocka_unit_test(truth_dwarf_4),
		cmocka_unit_test(truth_dwarf_5),
		cmocka_unit_test(truth_split),
		cmocka_unit_test(truth_compressed),
		cmocka_unit_test(given_back),
		cmocka_unit_test(split_given_back),
		cmocka_unit_test(damage_dwarf_4),
		cmocka_unit_test(damage_dwarf_5),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
