/* SPDX-License-Identifier: MIT */
/*
 * elf_open.h - opens untrusted files and bytes with libelf, and reads their sections.
 *
 * libelf trusts some counts that a caller cannot check after libelf has opened the file. If there
 * are more than 65,279 sections (or 65,534 segments), their number is stored outside the header,
 * where a damaged file can make libelf allocate any amount of memory. No linked program has so
 * large a number: such files are refused, and so are files whose section headers are behind the
 * end of the file. Files without section headers are refused by all functions but
 * elf_open_unwind(). libelf also reads a section name table of any size, and is slow for each name
 * when the table does not end in a zero: files with a table of more than 64 MiB or without this
 * zero are refused. Files are read with pread(2), never mapped (access to a mapping of a file that
 * has shrunk raises SIGBUS).
 */
#ifndef WALLSAMPLE_ELF_ELF_OPEN_H
#define WALLSAMPLE_ELF_ELF_OPEN_H

#include <gelf.h>
#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/elf/image.h"

/*
 * The three functions with a parameter `why` return NULL when the file cannot be used; *why is then
 * a constant text with the reason, or NULL for a valid file without sections. After success *why is
 * NULL. `why` may be NULL. The caller closes the Elf with elf_end().
 */

/* The descriptor is borrowed until elf_end(). */
Elf *elf_open_fd(int fd, const char **why);

/* The bytes are borrowed until elf_end() and are not changed. */
Elf *elf_open_memory(const void *bytes, size_t size, const char **why);

/* The image is borrowed until elf_end(). */
Elf *elf_open_image(const struct image *image, const char **why);

/*
 * Opens the image for readers of unwind tables. Program headers locate these tables, so a file
 * without sections is accepted. *fd is a new descriptor, used by this Elf only, which the caller
 * closes after elf_end(); it is -1 for an image in memory, and when NULL is returned. Returns NULL
 * when the file cannot be used.
 */
Elf *elf_open_unwind(const struct image *image, int *fd);

/* Returns the name of the section with this header, borrowed from the Elf; "" when the section has
 * no name. */
const char *elf_section_name(Elf *elf, const GElf_Shdr *header);

/* Returns the bytes of a section, owned by its Elf; NULL when the section has more than `limit`
 * bytes, is compressed or is not in the file. */
Elf_Data *elf_section_data(Elf_Scn *scn, uint64_t limit);

/*
 * Returns the zero-terminated text at `offset` in the section data `texts`, from which it is
 * borrowed. Returns NULL when the offset is outside of the section, or the text is empty or has no
 * terminating zero in its first `most` bytes. Unlike elf_strptr(), this function does not search
 * the whole section for the terminating zero.
 */
const char *elf_text_at(const Elf_Data *texts, uint64_t offset, size_t most);

#endif
