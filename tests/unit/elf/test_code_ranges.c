/* SPDX-License-Identifier: MIT */
/*
 * test_code_ranges.c - starts of functions by the unwind tables, held against what readelf
 * prints of them, and of damaged tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "wallsample/base/base.h"
#include "wallsample/elf/code_ranges.h"

struct range {
	uint64_t start, end;
};

struct ranges {
	struct range *range;
	size_t count, capacity;
};

static int
compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* The lines "… FDE cie=… pc=START..END" of readelf. */
static void
read_readelf(struct ranges *ranges, const char *path)
{
	char command[512], line[512];
	FILE *in;

	snprintf(command, sizeof(command), "readelf --debug-dump=frames '%s' 2>/dev/null", path);
	in = popen(command, "r");
	assert_non_null(in);
	while (fgets(line, sizeof(line), in) != NULL) {
		const char *at = strstr(line, " FDE cie=");
		struct range range;

		at = at != NULL ? strstr(at, " pc=") : NULL;
		if (at == NULL)
			continue;
		at += 4;
		if (!parse_u64(&at, 16, &range.start) || strncmp(at, "..", 2) != 0)
			continue;
		at += 2;
		if (!parse_u64(&at, 16, &range.end) || range.end <= range.start)
			continue;
		ranges->range = xgrow(ranges->range, &ranges->capacity, ranges->count + 1,
				      sizeof(range));
		ranges->range[ranges->count++] = range;
	}
	pclose(in);
	if (ranges->count > 0)
		qsort(ranges->range, ranges->count, sizeof(struct range), compare_ranges);
}

static bool
starts_at(const struct image *image, uint64_t vaddr, uint64_t *start)
{
	uint64_t size;

	return code_range(image, vaddr, start, &size);
}

static void
check_start(const struct image *image, uint64_t vaddr, uint64_t expected)
{
	uint64_t start = 0;

	if (!starts_at(image, vaddr, &start))
		fail_msg("nothing holds %jx, which is in the function at %jx", (intmax_t)vaddr,
			 (intmax_t)expected);
	assert_int_equal(start, expected);
}

static void
check_file(const char *path)
{
	struct ranges ranges = { NULL, 0, 0 };
	struct image *image = image_open_fd(open(path, O_RDONLY | O_CLOEXEC), NULL);
	uint64_t start, holes = 0;

	read_readelf(&ranges, path);
	if (image == NULL || ranges.count == 0)
		skip();
	for (size_t i = 0; i < ranges.count; i++) {
		const struct range *range = &ranges.range[i];

		check_start(image, range->start, range->start);
		check_start(image, range->start + (range->end - range->start) / 2, range->start);
		check_start(image, range->end - 1, range->start);
		if (i + 1 < ranges.count && ranges.range[i + 1].start == range->end)
			continue;
		holes++;
		assert_false(starts_at(image, range->end, &start));
	}
	print_message("%s: %zu functions, %ju holes behind them\n", path, ranges.count,
		      (uintmax_t)holes);
	assert_false(starts_at(image, ranges.range[0].start - 1, &start));
	assert_false(starts_at(image, 0, &start));
	assert_false(starts_at(image, UINT64_MAX, &start));
	free(ranges.range);
	image_free(image);
}

static int
find_libc(struct dl_phdr_info *info, size_t size, void *path)
{
	(void)size;
	if (strstr(info->dlpi_name, "/libc.so") == NULL)
		return 0;
	snprintf(path, 256, "%s", info->dlpi_name);
	return 1;
}

static void
test_libc(void **state)
{
	char path[256] = "";

	(void)state;
	dl_iterate_phdr(find_libc, path);
	if (path[0] == '\0')
		skip();
	check_file(path);
}

static void
test_program(void **state)
{
	char path[256];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	(void)state;
	assert_true(length > 0);
	path[length] = '\0';
	check_file(path);
}

/* The vdso of this process, to be freed; a few kilobytes with tables of their own. */
static uint8_t *
copy_vdso(size_t *size)
{
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)vdso;
	uint8_t *copy;

	if (vdso == NULL)
		return NULL;
	*size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	copy = xmalloc(*size);
	memcpy(copy, vdso, *size);
	return copy;
}

static void
test_damage(void **state)
{
	size_t size = 0, found = 0;
	uint8_t *vdso = copy_vdso(&size), *damaged;
	struct image *image;
	struct rng rng;

	(void)state;
	if (vdso == NULL)
		skip();
	image = image_open_memory(vdso, size);
	if (image == NULL || image->eh_frame_hdr == 0 || image->eh_frame_hdr >= size)
		skip();
	damaged = xmalloc(size);
	rng_seed(&rng, 3);
	for (size_t round = 0; round < 20000; round++) {
		struct image *other;
		uint64_t start;

		memcpy(damaged, vdso, size);
		for (size_t i = 1 + rng_next(&rng) % 8; i > 0; i--) {
			/* .eh_frame stands behind the header */
			const uint64_t at = image->eh_frame_hdr + rng_next(&rng) % 1024;

			damaged[at < size ? at : size - 1] =
				rng_next(&rng) % 4 ? (uint8_t)rng_next(&rng) : 0xff;
		}
		other = image_open_memory(damaged, size);
		assert_non_null(other);
		for (uint64_t vaddr = 0; vaddr < size; vaddr += 256) {
			if (!starts_at(other, vaddr, &start))
				continue;
			assert_true(start <= vaddr);
			found++;
		}
		image_free(other);
	}
	assert_true(found > 0);
	free(damaged);
	free(vdso);
	image_free(image);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_libc),
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
