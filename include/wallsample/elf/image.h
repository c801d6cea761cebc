/* SPDX-License-Identifier: MIT */
/*
 * image.h - the bytes of one ELF file, as the unwinder and the symbol reader
 * need them.
 *
 * The file belongs to somebody else and may shrink or change while we look, so
 * it is never mapped (a mapping of a file that shrinks ends in SIGBUS): blocks
 * are read with pread on demand and kept. An image may also lie in memory of
 * ours (the vdso, copied from the target).
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
	int fd;          /* owned; -1 when the bytes are in memory */
	uint64_t size;   /* bytes in the file or in memory */
	int64_t written_ns; /* when the file was last written to, as of the opening */
	size_t segment_count;
	struct image_segment segment[IMAGE_MAX_SEGMENTS];
	uint64_t low, high; /* lowest and highest vaddr of all segments */
	uint64_t eh_frame_hdr; /* vaddr of PT_GNU_EH_FRAME, 0 if there is none */
	uint64_t eh_frame_hdr_size;
	uint8_t build_id[IMAGE_BUILD_ID_MAX];
	size_t build_id_size; /* 0: none */
	uint16_t machine;     /* e_machine */
	bool fixed_address;   /* ET_EXEC */
	struct image_blocks *blocks; /* what was read so far */
};

/*
 * Takes the descriptor (closes it on failure too) of a regular file and reads
 * headers, segments and build-id. NULL when it is not a 64-bit little-endian ELF
 * file with segments, or is damaged.
 */
struct image *image_open_fd(int fd);

/* The same for bytes in memory, which are copied. */
struct image *image_open_memory(const void *bytes, size_t size);

/* The same for bytes of xmalloc, which are taken over (and freed on failure too). */
struct image *image_take_memory(void *bytes, size_t size);

void image_free(struct image *image);

/* Copies `size` bytes from file offset `offset`; false when any is not there. */
bool image_read_offset(const struct image *image, uint64_t offset, void *to, size_t size);

/*
 * Copies `size` bytes that lie at virtual address `vaddr` (before relocation)
 * in one segment that is not writable; false otherwise.
 */
bool image_read_vaddr(const struct image *image, uint64_t vaddr, void *to, size_t size);

/* File offset -> vaddr by the segments; false when none holds it. */
bool image_offset_to_vaddr(const struct image *image, uint64_t offset, uint64_t *vaddr);

/*
 * The section of this number, or of this name; false: there is none, as in files that have been
 * stripped of them all. What it says is not checked.
 */
bool image_section(const struct image *image, uint64_t index, Elf64_Shdr *to);
bool image_find_section(const struct image *image, const char *name, Elf64_Shdr *to);
/* Where the section of that name is, if memory has it and it has so many bytes; 0: nowhere. */
uint64_t image_section_vaddr(const struct image *image, const char *name, uint64_t size);
#define IMAGE_SECTION_NAME_MOST 64 /* with its 0; longer names are not found */

/* All bytes of an image in memory, else NULL. */
const void *image_memory(const struct image *image);

/*
 * Is the file still the one that was opened? False when it has been written to in place since
 * and is not known by its build-id to be the same all the same: what is read from
 * it now tells nothing about what was mapped then.
 */
bool image_is_unchanged(const struct image *image);

#endif
