/* SPDX-License-Identifier: MIT */
/*
 * go-layout.c - prints the row of a version of Go for the table of layouts: from the DWARF in a
 * program that it has made.
 *
 *     go-layout MINOR FILE     (26 of 1.26.8, a program that is not stripped)
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../src/runtime/go_layout.h"
#include "wallsample/base.h"
#include "wallsample/elf_open.h"

static void
print_member(const char *name, uint32_t value, size_t *column)
{
	char text[64];
	int length = value == GO_ABSENT ? snprintf(text, sizeof(text), ".%s = GO_ABSENT,", name) :
					  snprintf(text, sizeof(text), ".%s = %u,", name, value);

	if (*column > 0 && *column + 1 + (size_t)length > 84) {
		printf("\n");
		*column = 0;
	}
	*column += (size_t)printf("%s%s", *column > 0 ? " " : "\t\t", text);
}

static int
print_row(Dwarf *dwarf, uint32_t minor)
{
	struct go_layout layout;
	const char *name;
	size_t column = 0;
	uint32_t value;

	if (!go_layout_read(dwarf, minor, &layout)) {
		fprintf(stderr, "go-layout: not all is there that a layout has\n");
		return 1;
	}
	printf("\t{\n\t\t.minor = %u, .g_size = %u, .m_size = %u,\n", minor, layout.g_size,
	       layout.m_size);
	for (size_t i = 0; (name = go_layout_member(&layout, i, &value)) != NULL; i++)
		print_member(name, value, &column);
	printf("\n\t},\n");
	return 0;
}

int
main(int argc, char **argv)
{
	const char *why = NULL;
	int fd, status = 1;
	uint64_t minor;
	Dwarf *dwarf;
	Elf *elf;

	if (argc != 3 || !parse_whole_u64(argv[1], 1, 255, &minor)) {
		fprintf(stderr, "usage: go-layout MINOR FILE\n");
		return 64;
	}
	fd = open(argv[2], O_RDONLY | O_CLOEXEC);
	elf = fd >= 0 ? elf_open_fd(fd, &why) : NULL;
	dwarf = elf != NULL ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	if (dwarf == NULL)
		fprintf(stderr, "go-layout: %s: %s\n", argv[2],
			why != NULL ? why : "it has no DWARF, or cannot be read");
	else
		status = print_row(dwarf, (uint32_t)minor);
	dwarf_end(dwarf);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return status;
}
