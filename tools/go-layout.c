/* SPDX-License-Identifier: MIT */
/*
 * go-layout.c - prints the row of a version of Go for the table of layouts: from the DWARF in a
 * program that it has made.
 *
 *     go-layout MINOR PATCH FILE       (26 and 8 of 1.26.8, a program that is not stripped)
 *     go-layout -c MINOR PATCH FILE    is that what the table has?
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/go/go_find_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/elf/elf_open.h"

/* Prints the row in the form of the table: a line each for the sizes, and the members of g and m. */
static void
print_row(const struct go_layout *layout)
{
	const char *name;
	uint32_t value;
	char line = 's';

	printf("\t{ %u, %u, %u, %u,", layout->minor, layout->patch, layout->g_size, layout->m_size);
	for (size_t i = 0; (name = go_layout_member(layout, i, &value)) != NULL; i++) {
		printf(name[0] == line ? " " : "\n\t  ");
		line = name[0];
		if (value == MEMBER_ABSENT)
			printf("NONE,");
		else
			printf("%u,", value);
	}
	printf(" },\n");
}

static int
compare_row(const struct go_layout *layout)
{
	const struct go_layout *row = go_layout_of(layout->minor, layout->patch);
	uint32_t value, other;
	const char *name;
	int status = 0;

	if (row == NULL) {
		printf("1.%u is not in the table\n", layout->minor);
		return 0;
	}
	for (size_t i = 0; (name = go_layout_member(layout, i, &value)) != NULL; i++) {
		go_layout_member(row, i, &other);
		if (value == other)
			continue;
		printf("%s is %u, and %u in the table\n", name, value, other);
		status = 1;
	}
	return status;
}

static int
use(Dwarf *dwarf, uint32_t minor, uint32_t patch, bool compare)
{
	struct go_layout layout;

	if (!go_layout_read(dwarf, minor, &layout)) {
		fprintf(stderr, "go-layout: not all is there that a layout has\n");
		return 1;
	}
	layout.patch = patch;
	if (compare)
		return compare_row(&layout);
	print_row(&layout);
	return 0;
}

int
main(int argc, char **argv)
{
	const bool compare = argc == 5 && strcmp(argv[1], "-c") == 0;
	const char *why = NULL;
	uint64_t minor, patch;
	int fd, status = 1;
	Dwarf *dwarf;
	Elf *elf;

	argv += compare;
	argc -= compare;
	if (argc != 4 || !parse_whole_u64(argv[1], 1, 255, &minor) ||
	    !parse_whole_u64(argv[2], 0, 999, &patch)) {
		fprintf(stderr, "usage: go-layout [-c] MINOR PATCH FILE\n");
		return 64;
	}
	fd = open(argv[3], O_RDONLY | O_CLOEXEC);
	elf = fd >= 0 ? elf_open_fd(fd, &why) : NULL;
	dwarf = elf != NULL ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	if (dwarf == NULL)
		fprintf(stderr, "go-layout: %s: %s\n", argv[3],
			why != NULL ? why : "it has no DWARF, or cannot be read");
	else
		status = use(dwarf, (uint32_t)minor, (uint32_t)patch, compare);
	dwarf_end(dwarf);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return status;
}
