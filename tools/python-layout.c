/* SPDX-License-Identifier: MIT */
/*
 * python-layout.c - prints the column of a CPython for the table of layouts: from the DWARF in a
 * file.
 *
 *     python-layout VERSION FILE     ("3.11", libpython3.11.so.1.0)
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/python/python_find_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/elf/elf_open.h"

static int
print_column(Dwarf *dwarf, uint32_t version)
{
	struct python_layout layout;
	const char *name;
	uint32_t value;

	if (!python_dwarf_read(dwarf, version, &layout)) {
		fprintf(stderr, "python-layout: not all is there that a layout has\n");
		return 1;
	}
	for (size_t i = 0; (name = python_layout_member(&layout, i, &value)) != NULL; i++) {
		if (value == MEMBER_ABSENT)
			printf("%s NONE\n", name);
		else
			printf("%s %u\n", name, value);
	}
	return 0;
}

int
main(int argc, char **argv)
{
	uint32_t version;
	size_t length;
	const char *why = NULL;
	int fd, status = 1;
	Dwarf *dwarf;
	Elf *elf;

	if (argc != 3 || !python_version_parse(argv[1], strlen(argv[1]), &version, &length)) {
		fprintf(stderr, "usage: python-layout VERSION FILE\n");
		return 64;
	}
	fd = open(argv[2], O_RDONLY | O_CLOEXEC);
	elf = fd >= 0 ? elf_open_fd(fd, &why) : NULL;
	dwarf = elf != NULL ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	if (dwarf == NULL)
		fprintf(stderr, "python-layout: %s: %s\n", argv[2],
			why != NULL ? why : "it has no DWARF, or cannot be read");
	else
		status = print_column(dwarf, version);
	dwarf_end(dwarf);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return status;
}
