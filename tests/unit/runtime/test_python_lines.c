/* SPDX-License-Identifier: MIT */
/*
 * test_python_lines.c - CPython's line tables: those that eight releases made of the same source,
 * every instruction of which has the line that the interpreter says; hand-made ones; and damage.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/python/python_layout_internal.h"
#include "wallsample/base/base.h"

typedef uint32_t decoder(const uint8_t *, size_t, uint32_t, uint32_t);

/* The tables of releases that tests/replay/python_lines.py has written, or those of one. */
struct kept {
	FILE *file;
	char *line;
	size_t capacity;
	unsigned minor; /* of the release that is being read */
	decoder *decode;
	char name[128];
	uint32_t first_line, length;
	uint8_t *table; /* of exactly this size, so that sanitizers see what is read behind it */
	size_t size;
	const char *lines; /* "OFFSET:LINE ..." */
};

static decoder *
decoder_of(unsigned minor)
{
	if (minor >= 11)
		return python_line_locations;
	return minor == 10 ? python_line_ranges : python_line_lnotab;
}

static void
open_kept(struct kept *kept)
{
	const char *top = getenv("SOURCE"), *given = getenv("PYTHON_LINES");
	char path[4096];

	if (top == NULL)
		top = getenv("srcdir");
	snprintf(path, sizeof(path), "%s/tests/replay/python_lines.txt", top != NULL ? top : ".");
	*kept = (struct kept){ .file = fopen(given != NULL ? given : path, "re") };
	if (kept->file == NULL)
		fail_msg("%s: %s", given != NULL ? given : path, strerror(errno));
}

static void
close_kept(struct kept *kept)
{
	fclose(kept->file);
	free(kept->line);
	free(kept->table);
}

static uint8_t
hex(char c)
{
	assert_true((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'));
	return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static void
read_table(struct kept *kept, const char *text)
{
	size_t digits = strcmp(text, "-") == 0 ? 0 : strlen(text);

	free(kept->table);
	kept->size = digits / 2;
	kept->table = xmalloc(kept->size);
	for (size_t i = 0; i < kept->size; i++)
		kept->table[i] = (uint8_t)(hex(text[2 * i]) << 4 | hex(text[2 * i + 1]));
}

static bool
next_line(struct kept *kept)
{
	ssize_t length = getline(&kept->line, &kept->capacity, kept->file);

	if (length <= 0)
		return false;
	assert_int_equal(kept->line[length - 1], '\n');
	kept->line[length - 1] = '\0';
	return true;
}

/* The next code object. */
static bool
next_code(struct kept *kept)
{
	unsigned micro;
	int at;

	if (!next_line(kept))
		return false;
	if (sscanf(kept->line, "python 3.%u.%u", &kept->minor, &micro) == 2) {
		kept->decode = decoder_of(kept->minor);
		assert_true(next_line(kept));
	}
	assert_int_equal(sscanf(kept->line, "code %127s %" SCNu32 " %" SCNu32 " %n", kept->name,
				&kept->first_line, &kept->length, &at), 3);
	read_table(kept, kept->line + at);
	assert_true(next_line(kept));
	assert_int_equal(strncmp(kept->line, "lines", 5), 0);
	kept->lines = kept->line + 5;
	return true;
}

/* The line of the interpreter's own answer at *lines, which it moves on; *offset is whose. */
static uint32_t
next_answer(const char **lines, uint64_t *offset)
{
	uint64_t line;

	assert_true(parse_u64(lines, 10, offset));
	assert_int_equal(*(*lines)++, ':');
	assert_true(parse_u64(lines, 10, &line));
	return (uint32_t)line;
}

static void
check_code(const struct kept *kept, unsigned *checked)
{
	const char *lines = kept->lines;
	uint64_t next = 0;
	uint32_t line = next_answer(&lines, &next), upcoming = line;

	assert_int_equal(next, 0);
	for (uint32_t offset = 0; offset < kept->length; offset += 2) {
		if (offset == next) {
			line = upcoming;
			next = UINT64_MAX;
			if (*lines != '\0')
				upcoming = next_answer(&lines, &next);
		}
		if (kept->decode(kept->table, kept->size, kept->first_line, offset) != line)
			fail_msg("3.%u %s at %u: %u, and not %u", kept->minor, kept->name, offset,
				 kept->decode(kept->table, kept->size, kept->first_line, offset),
				 line);
		(*checked)++;
	}
	assert_string_equal(lines, "");
	/* Behind the last instruction: the oldest format does not know where it ends. */
	assert_int_equal(kept->decode(kept->table, kept->size, kept->first_line, kept->length),
			 kept->minor < 10 ? line : 0);
}

static void
test_kept(void **state)
{
	unsigned seen[32] = { 0 }, checked = 0;
	struct kept kept;

	(void)state;
	open_kept(&kept);
	while (next_code(&kept)) {
		assert_true(kept.minor >= 8 && kept.minor < ARRAY_SIZE(seen));
		seen[kept.minor]++;
		check_code(&kept, &checked);
	}
	close_kept(&kept);
	assert_true(checked > 500);
	for (unsigned minor = 8; getenv("PYTHON_LINES") == NULL && minor <= 15; minor++)
		assert_true(seen[minor] >= 16);
}

struct row {
	const char *table; /* ended by the size */
	size_t size;
	uint32_t first_line, offset, line;
};

#define T(bytes) bytes, sizeof(bytes) - 1

static void
check_rows(decoder *decode, const struct row *row, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint8_t *table = xmalloc(row[i].size);

		memcpy(table, row[i].table, row[i].size);
		if (decode(table, row[i].size, row[i].first_line, row[i].offset) != row[i].line)
			fail_msg("row %zu: %u, and not %u", i,
				 decode(table, row[i].size, row[i].first_line, row[i].offset),
				 row[i].line);
		free(table);
	}
}

static void
test_lnotab(void **state)
{
	static const struct row row[] = {
		{ T(""), 7, 0, 7 },
		{ T(""), 7, 1000000, 7 },
		{ T("\x04\x01"), 7, 2, 7 },
		{ T("\x04\x01"), 7, 4, 8 },
		{ T("\x04\x01\x02\xff"), 7, 5, 8 },
		{ T("\x04\x01\x02\xff"), 7, 6, 7 },
		{ T("\x00\x7f\x00\x7f\x04\x02"), 1, 0, 255 },
		{ T("\xff\x00\x01\x80"), 200, 254, 200 },
		{ T("\xff\x00\x01\x80"), 200, 256, 72 },
		/* half of a pair; lines before the first and behind the last */
		{ T("\x04\x01\x00"), 7, 8, 8 },
		{ T("\x00\x80"), 100, 0, 0 },
		{ T("\x00\x01"), INT32_MAX, 0, 0 },
		{ T("\x00\x02"), UINT32_MAX, 0, 1 },
		{ T("\x00\x00"), 0x80000000, 0, 0 },
	};

	(void)state;
	check_rows(python_line_lnotab, row, ARRAY_SIZE(row));
}

static void
test_ranges(void **state)
{
	static const struct row row[] = {
		{ T(""), 7, 0, 0 },
		{ T("\x04\x00"), 7, 0, 7 },
		{ T("\x04\x00"), 7, 3, 7 },
		{ T("\x04\x00"), 7, 4, 0 },
		/* without a line, and the next one counts from before */
		{ T("\x04\x05\x02\x80\x02\x01"), 7, 2, 12 },
		{ T("\x04\x05\x02\x80\x02\x01"), 7, 4, 0 },
		{ T("\x04\x05\x02\x80\x02\x01"), 7, 6, 13 },
		{ T("\xfe\x00\x04\x81"), 200, 254, 73 },
		{ T("\x00\x7f\x00\x7f\x02\x00"), 1, 0, 255 },
		{ T("\x04"), 7, 0, 0 },
		{ T("\x02\x81"), 100, 0, 0 },
		{ T("\x02\x01"), INT32_MAX, 0, 0 },
	};

	(void)state;
	check_rows(python_line_ranges, row, ARRAY_SIZE(row));
}

#define LONGEST "\x7f\x7f\x7f\x7f\x7f\x7f"

static void
test_locations(void **state)
{
	static const struct row row[] = {
		{ T(""), 7, 0, 0 },
		/* short forms: two units on the same line */
		{ T("\x81\x12"), 7, 0, 7 },
		{ T("\x81\x12"), 7, 3, 7 },
		{ T("\x81\x12"), 7, 4, 0 },
		{ T("\xcf\x12"), 7, 15, 7 },
		/* one line: 0, 1 and 2 further */
		{ T("\xd0\x01\x02\xd8\x01\x02\xe0\x01\x02"), 7, 0, 7 },
		{ T("\xd0\x01\x02\xd8\x01\x02\xe0\x01\x02"), 7, 2, 8 },
		{ T("\xd0\x01\x02\xd8\x01\x02\xe0\x01\x02"), 7, 4, 10 },
		/* no columns: 5 further, then 3 back; then 40 further, in two bytes */
		{ T("\xe8\x0a\xe8\x07\xe8\x50\x01"), 7, 0, 12 },
		{ T("\xe8\x0a\xe8\x07\xe8\x50\x01"), 7, 2, 9 },
		{ T("\xe8\x0a\xe8\x07\xe8\x50\x01"), 7, 4, 49 },
		/* long: line, end line, columns */
		{ T("\xf0\x03\x02\x01\x01\xf1\x04\x00\x01\x01"), 7, 0, 6 },
		{ T("\xf0\x03\x02\x01\x01\xf1\x04\x00\x01\x01"), 7, 5, 8 },
		/* none, and the next one counts from before */
		{ T("\xd9\x01\x02\xf8\xd8\x01\x02"), 7, 2, 8 },
		{ T("\xd9\x01\x02\xf8\xd8\x01\x02"), 7, 4, 0 },
		{ T("\xd9\x01\x02\xf8\xd8\x01\x02"), 7, 6, 9 },
		/* numbers that are cut off, that do not end, and that are too large */
		{ T("\xe8"), 7, 0, 7 },
		{ T("\xe8\x40"), 7, 0, 7 },
		{ T("\xe8" LONGEST LONGEST LONGEST), 7, 0, 0 },
		{ T("\xe8" LONGEST "\xe8" LONGEST), 7, 2, 0 },
		{ T("\xe8\x7e\x7f\x7f\x7f\x7f\x07"), 0, 0, 0 },
		{ T("\xe8\x7e\x7f\x7f\x7f\x7f\x03"), 0, 0, INT32_MAX },
		/* a table that does not begin with an entry: it is taken for one of code 0 */
		{ T("\x12\x12\xd8\x01\x02"), 7, 0, 7 },
		{ T("\xd0\x01\x02"), UINT32_MAX, 0, 0 },
		{ T("\xe0\x01\x02"), UINT32_MAX, 0, 1 },
	};

	(void)state;
	check_rows(python_line_locations, row, ARRAY_SIZE(row));
}

/* Whatever has become of a table, in each format: it ends, within what there is, with a line. */
static void
test_damage(void **state)
{
	static decoder *const decode[] = { python_line_lnotab, python_line_ranges,
					   python_line_locations };
	struct kept kept;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 20);
	open_kept(&kept);
	while (next_code(&kept)) {
		for (unsigned round = 0; round < 40 && kept.size > 0; round++) {
			for (uint64_t flips = rng_next(&rng) % 8; flips > 0; flips--)
				kept.table[rng_next(&rng) % kept.size] = (uint8_t)rng_next(&rng);
			if (round % 8 == 7)
				kept.table = xrealloc(kept.table, kept.size =
						      1 + rng_next(&rng) % kept.size);
			for (size_t i = 0; i < ARRAY_SIZE(decode); i++) {
				uint32_t first = (uint32_t)(rng_next(&rng) >> rng_next(&rng) % 64);
				uint32_t offset = (uint32_t)(rng_next(&rng) >> rng_next(&rng) % 64);

				assert_true(decode[i](kept.table, kept.size, first, offset) <=
					    INT32_MAX);
			}
		}
	}
	close_kept(&kept);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_lnotab),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_locations),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
