/* SPDX-License-Identifier: MIT */
/*
 * image.h - the bytes of one ELF file, for the unwinder and the symbol reader.
 *
 * The owner of the file may truncate or change it at any time. So it is never mapped (access to a
 * mapping of a file that has shrunk raises SIGBUS): blocks are read with pread(2) on demand and
 * kept. An image can also be in wallsample's memory (the vdso, copied from the target).
 */
#ifndef WALLSAMPLE_ELF_IMAGE_H
#define WALLSAMPLE_ELF_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_MAX_SEGMENTS 64
#define IMAGE_BUILD_ID_MAX 64

struct image_segment { /* one PT_LOAD program header */
	uint64_t vaddr, offset, file_size, mem_size;
	bool executable, writable;
};

struct image {
	int fd;             /* owned; -1 when the bytes are in memory */
	uint64_t size;      /* bytes in the file or in memory */
	int64_t written_ns; /* modification time of the file when it was opened */
	size_t segment_count;
	struct image_segment segment[IMAGE_MAX_SEGMENTS];
	uint64_t low, high;    /* lowest and highest vaddr of all segments */
	uint64_t eh_frame_hdr; /* vaddr of PT_GNU_EH_FRAME; 0 when there is none */
	uint64_t eh_frame_hdr_size;
	uint8_t build_id[IMAGE_BUILD_ID_MAX];
	size_t build_id_size;        /* 0 when the file has no build-id */
	uint16_t machine;            /* e_machine */
	bool fixed_address;          /* ET_EXEC */
	struct image_blocks *blocks; /* the blocks read so far */
};

/*
 * Takes over the descriptor of a regular file (and closes it on failure, too), and reads headers,
 * segments and build-id. NULL when the file is damaged or is not a 64-bit little-endian ELF file
 * with segments. The caller frees the image with image_free().
 */
struct image *image_open_fd(int fd);

/* Makes an image of bytes in memory, which are copied; returns NULL in the cases of
 * image_open_fd. */
struct image *image_open_memory(const void *bytes, size_t size);

/* Makes an image of bytes from xmalloc, which it takes over (and frees on failure, too). Returns
 * NULL in the cases of image_open_fd. */
struct image *image_take_memory(void *bytes, size_t size);

void image_free(struct image *image);

/* Copies `size` bytes from the file offset `offset`; false when one of these bytes cannot be
 * read. */
bool image_read_offset(const struct image *image, uint64_t offset, void *to, size_t size);

/*
 * Copies `size` bytes at the virtual address `vaddr` (before relocation); false unless they are
 * all in one segment that is not writable.
 */
bool image_read_vaddr(const struct image *image, uint64_t vaddr, void *to, size_t size);

/* Converts a file offset to a vaddr; false when no segment contains the offset. */
bool image_offset_to_vaddr(const struct image *image, uint64_t offset, uint64_t *vaddr);

/*
 * Stores the header of the section with this number, or this name; false when there is no such
 * section (a file may have no section headers at all). The values of the header are not checked.
 */
bool image_section(const struct image *image, uint64_t index, Elf64_Shdr *to);
bool image_find_section(const struct image *image, const char *name, Elf64_Shdr *to);
/* Returns the vaddr of a section that is loaded and has at least `size` bytes, or 0. */
uint64_t image_section_vaddr(const struct image *image, const char *name, uint64_t size);
/* Largest size of a section name with its zero; image_find_section does not find longer names. */
#define IMAGE_SECTION_NAME_MOST 64

/*
 * Stores the next program header of the type; the caller sets *index to 0 before the first call.
 * Returns false when there is no further header of the type. The values of the header are not
 * checked.
 */
bool image_next_header(const struct image *image, uint32_t type, uint64_t *index, Elf64_Phdr *to);

/*
 * Finds a note of this type whose owner has these four bytes (the last one is zero), and stores
 * file offset and size of the note's descriptor; false when there is no such note.
 */
bool image_find_note(const struct image *image, const char owner[4], uint32_t type, uint64_t *at,
		     uint64_t *size);

/* Returns all bytes of an image in memory, borrowed; NULL for an image of a file. */
const void *image_memory(const struct image *image);

/*
 * True when the file has not been written to since it was opened, or its build-id is the same.
 * Otherwise bytes that are read now may differ from those that the target has mapped.
 */
bool image_is_unchanged(const struct image *image);

#endif
