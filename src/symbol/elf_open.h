/* SPDX-License-Identifier: MIT */
/*
 * elf_open.h - opens files and bytes that nobody vouches for with libelf.
 *
 * libelf believes a few counts before anyone can look at them: more than 65,279 sections (or
 * 65,534 segments) are counted outside the header, where a damaged file can have it allocate
 * at will. No linked program has them: such files are refused, with those whose section
 * headers are not there. It reads a table of names however large it is, and takes long with
 * each name when the table does not end in a zero: refused too. Files are read with pread, never mapped (a mapping of a file that
 * shrinks ends in SIGBUS).
 */
#ifndef WALLSAMPLE_ELF_OPEN_H
#define WALLSAMPLE_ELF_OPEN_H

#include <libelf.h>
#include <stddef.h>

#include "wallsample/image.h"

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

#endif
