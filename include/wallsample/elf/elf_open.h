/* SPDX-License-Identifier: MIT */
/*
 * elf_open.h - opens files and bytes that nobody vouches for with libelf, and reads their
 * sections.
 *
 * libelf believes a few counts before anyone can look at them: more than 65,279 sections (or
 * 65,534 segments) are counted outside the header, where a damaged file can have it allocate
 * at will. No linked program has them: such files are refused, with those whose section
 * headers are not there. It reads a table of names however large it is, and takes long with
 * each name when the table does not end in a zero: refused too. Files are read with pread,
 * never mapped (a mapping of a file that shrinks ends in SIGBUS).
 */
#ifndef WALLSAMPLE_ELF_ELF_OPEN_H
#define WALLSAMPLE_ELF_ELF_OPEN_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/elf/image.h"

/*
 * All return NULL when the file cannot be used; `*why` (may be NULL) is then a fixed text
 * that says why, or NULL for a sound file that just has no sections. elf_end() closes.
 */

/* The descriptor stays the caller's and must outlive the Elf. */
Elf *elf_open_fd(int fd, const char **why);

/* The bytes stay the caller's, must outlive the Elf, and are not written to. */
Elf *elf_open_memory(const void *bytes, size_t size, const char **why);

/* The image must outlive the Elf. */
Elf *elf_open_image(const struct image *image, const char **why);

/*
 * The same for the unwind tables: they are found by program headers, so that a file that just
 * has no sections is not refused. *fd is a descriptor for this Elf alone, to be closed after
 * elf_end; -1 for an image in memory, and when NULL is returned.
 */
Elf *elf_open_unwind(const struct image *image, int *fd);

/* The section's bytes; NULL when it is too large, compressed, or not in the file. */
Elf_Data *elf_section_data(Elf_Scn *scn, uint64_t limit);

/*
 * The text at `offset`, or NULL: not in the section, empty, or without an end among the first
 * `most` bytes. Unlike elf_strptr it does not look through the whole section for one.
 */
const char *elf_text_at(const Elf_Data *texts, uint64_t offset, size_t most);

#endif
