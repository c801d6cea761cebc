/* SPDX-License-Identifier: MIT */
/*
 * dwp_image_internal.h - one unit of a package of split DWARF, as a .dwo file in memory.
 *
 * libdw 0.188 knows no packages, but .dwo files. What a unit has of the sections is copied; of
 * the texts, which all units share and which can be some hundred MiB, only its own.
 */
#ifndef WALLSAMPLE_DWARF_DWP_IMAGE_INTERNAL_H
#define WALLSAMPLE_DWARF_DWP_IMAGE_INTERNAL_H

#include <stdint.h>

#include "dwarf/dwp_index_internal.h"

/* A section of a package; of size 0 when there is none. */
struct dwp_section {
	uint64_t offset, size; /* in the file */
	const uint8_t *bytes;  /* NULL: they are in the file; else unpacked, in memory */
};

struct dwp_source {
	int fd;
	uint16_t machine; /* e_machine */
	struct dwp_section part[DWP_PART_COUNT];
	struct dwp_section texts; /* .debug_str.dwo */
};

/* Copies bytes of a section, `at` bytes after its start; false when any is not there. */
bool dwp_section_read(const struct dwp_source *source, const struct dwp_section *section,
		      uint64_t at, uint8_t *to, size_t size);

/*
 * The descriptor of a memory file with what the row names, to be closed; -1, with *why a fixed
 * text, when the row is damaged or has too much.
 */
int dwp_image_make(const struct dwp_source *source, const struct dwp_row *row, const char **why);

#endif
