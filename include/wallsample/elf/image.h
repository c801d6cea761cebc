/* SPDX-License-Identifier: MIT */
/*
 * image.h - the bytes of one ELF file, for the unwinder and the symbol reader.
 *
 * The owner of the file may truncate or change it at any time. So it is never mapped (access to a
 * mapping of a file that has shrunk raises SIGBUS): blocks of 64 KiB are read with pread(2) when
 * they are needed. A cache, which images can share, keeps the blocks that were used last. The bytes
 * of one read of 64 KiB or more are not kept. An image can also be in wallsample's memory (for
 * example the vdso, copied from the target).
 *
 * Images that share a cache may be used by one thread at a time.
 *
 * A vaddr is a virtual address as in the file's headers, before relocation.
 */
#ifndef WALLSAMPLE_ELF_IMAGE_H
#define WALLSAMPLE_ELF_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Largest number of segments (PT_LOAD) of an image, and largest size of a build-id in bytes. */
#define IMAGE_MAX_SEGMENTS 64
#define IMAGE_BUILD_ID_MAX 64

struct file_proxy; /* file_proxy.h */

struct image_segment { /* one PT_LOAD program header */
	uint64_t vaddr, offset, file_size, mem_size;
	bool executable, writable;
};

struct image {
	/* Owned: image_free() closes it unless image_answers() is false. -1: the bytes are in
	 * memory. */
	int fd;
	uint64_t size;      /* bytes in the file or in memory */
	int64_t written_ns; /* modification time of the file when it was opened */
	size_t segment_count;
	struct image_segment segment[IMAGE_MAX_SEGMENTS];
	uint64_t low, high;    /* lowest start and highest end of all segments, as vaddrs */
	uint64_t eh_frame_hdr; /* address of PT_GNU_EH_FRAME in the image; 0: none */
	uint64_t eh_frame_hdr_size;
	uint8_t build_id[IMAGE_BUILD_ID_MAX];
	size_t build_id_size;        /* 0 when the file has no build-id */
	uint16_t machine;            /* e_machine */
	bool fixed_address;          /* e_type is ET_EXEC, not ET_DYN */
	struct image_blocks *blocks; /* where the bytes are */
};

/* Bytes of memory for the blocks of a target. The code and the unwind tables of a large program,
 * Node.js 20.20.2, have 30 MiB, and only a part of them is read. */
#define IMAGE_CACHE_MOST (UINT64_C(64) << 20)

/* Makes a cache for blocks of images, which take at most `most` bytes of memory; the block that was
 * read last is kept whatever its size. */
struct image_cache *image_cache_create(uint64_t most);
/* Frees a cache whose images have all been freed. */
void image_cache_free(struct image_cache *cache);

/*
 * Takes over the descriptor of a regular file (and closes it on failure, too), and reads headers,
 * segments and build-id. Returns NULL when the file is damaged, is larger than 64 GiB, or is not a
 * 64-bit little-endian ELF program or library (ET_EXEC or ET_DYN) with 1 to IMAGE_MAX_SEGMENTS
 * segments. The cache is borrowed until image_free(); NULL: the image gets a cache of
 * IMAGE_CACHE_MOST bytes of its own. The caller frees the image with image_free().
 */
struct image *image_open_fd(int fd, struct image_cache *cache);

/* As image_open_fd(), for a file whose properties are *st, which is read by `proxy`; that is
 * borrowed. When it returns NULL, errno is ETIMEDOUT if there was no answer, else another value. */
struct image *image_open_file(int fd, const struct stat *st, struct file_proxy *proxy,
			      struct image_cache *cache);

/* Makes an image of bytes in memory, which are copied; returns NULL in the cases of
 * image_open_fd. */
struct image *image_open_memory(const void *bytes, size_t size);

/* Makes an image of bytes in memory, which were allocated with xmalloc() and whose ownership the
 * image takes (they are freed on failure, too). Returns NULL in the cases of image_open_fd. */
struct image *image_take_memory(void *bytes, size_t size);

void image_free(struct image *image);

/* Copies `size` bytes from the file offset `offset`; false when one of these bytes cannot be
 * read. */
bool image_read_offset(const struct image *image, uint64_t offset, void *to, size_t size);

/* Copies `size` bytes from `vaddr`. Returns false when they cannot be read, or are not all in one
 * segment, in the part of it that is in the file, or when this segment is writable. */
bool image_read_vaddr(const struct image *image, uint64_t vaddr, void *to, size_t size);

/* Converts a file offset to a vaddr; false when no segment contains the offset. */
bool image_offset_to_vaddr(const struct image *image, uint64_t offset, uint64_t *vaddr);

/*
 * Stores the header of the section with this number, or with this name. Returns false when there is
 * no such section; a file may have no section headers at all, and in a file with more than 4096
 * sections none is found. The values of the header are not checked.
 */
bool image_section(const struct image *image, uint64_t index, Elf64_Shdr *to);
bool image_find_section(const struct image *image, const char *name, Elf64_Shdr *to);
/* Returns the vaddr of the section with this name if it is loaded (SHF_ALLOC) and has at least
 * `size` bytes; else 0. */
uint64_t image_section_vaddr(const struct image *image, const char *name, uint64_t size);
/* Largest size of a section name, with its terminating zero, that image_find_section and
 * image_section_vaddr find. */
#define IMAGE_SECTION_NAME_MOST 64

/*
 * Stores the next program header of the type `type`. *index is the number of the header at which
 * the search begins: the caller sets it to 0 before the first call. Returns false when there is no
 * further header of the type. The values of the header are not checked.
 */
bool image_next_header(const struct image *image, uint32_t type, uint64_t *index, Elf64_Phdr *to);

/*
 * Finds a note of this type whose owner is these four bytes (the last one is zero), and stores the
 * file offset and the size of the note's descriptor. Searches the first 64 KiB of the notes of all
 * PT_NOTE segments together, and each segment up to its first damaged note. Returns false when
 * there is no such note.
 */
bool image_find_note(const struct image *image, const char owner[4], uint32_t type, uint64_t *at,
		     uint64_t *size);

/* Returns all bytes of an image in memory, borrowed; NULL for an image of a file. */
const void *image_memory(const struct image *image);

/* Returns false when a read of the file has got no answer: its file system hangs. */
bool image_answers(const struct image *image);

/* Returns true when size and modification time of the file are those that it had when it was
 * opened, or its build-id is the same. If false, bytes that are read now may differ from those that
 * the target has mapped. Always true for an image in memory. */
bool image_is_unchanged(const struct image *image);

#endif
