/* SPDX-License-Identifier: MIT */
/*
 * image.c - reads ELF files block by block, and checks offsets and sizes from a file before it uses
 * them.
 */
#include "elf/image_internal.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wallsample/base/base.h"

#define BLOCK_SHIFT 16
#define BLOCK_SIZE (UINT64_C(1) << BLOCK_SHIFT)

struct image_block {
	uint8_t *bytes; /* NULL until the block was read */
	/* Number of bytes read: less than BLOCK_SIZE at the end of the file, or if the file has
	 * shrunk. */
	uint32_t length;
	bool tried; /* the block was read, or could not be read */
};

struct image_blocks {
	uint8_t *memory; /* all bytes of an image in memory, which has no blocks; else NULL */
	/* A read has got no answer (file_proxy.h). No other is made, and the file is not closed
	 * before wallsample ends: that may hang, too. */
	bool unanswered;
	/* Index of the segment that the last read used. It is checked first, because the unwinder
	 * reads one segment word by word. */
	size_t last_segment;
	struct image_block block[]; /* all blocks of the file */
};

/* Reads the file, and returns the number of bytes. */
static size_t
read_file(const struct image *image, uint64_t offset, void *to, size_t size)
{
	size_t got;

	if (image->blocks->unanswered)
		return 0;
	got = file_proxy_read(image->proxy, image->device, image->fd, offset, to, size);
	image->blocks->unanswered = got < size && errno == ETIMEDOUT;
	return got;
}

static const struct image_block *
load_block(const struct image *image, struct image_block *block, uint64_t index)
{
	uint64_t offset = index << BLOCK_SHIFT;
	uint64_t want = image->size - offset;

	if (want > BLOCK_SIZE)
		want = BLOCK_SIZE;
	block->tried = true;
	block->bytes = xmalloc(want);
	block->length = (uint32_t)read_file(image, offset, block->bytes, want);
	return block;
}

static bool
read_blocks(const struct image *image, uint64_t offset, uint8_t *to, size_t size)
{
	while (size > 0) {
		uint64_t index = offset >> BLOCK_SHIFT;
		uint64_t within = offset & (BLOCK_SIZE - 1);
		const struct image_block *block = &image->blocks->block[index];
		size_t part;

		if (!block->tried)
			block = load_block(image, &image->blocks->block[index], index);
		if (within >= block->length)
			return false;
		part = block->length - within;
		if (part > size)
			part = size;
		memcpy(to, block->bytes + within, part);
		to += part;
		offset += part;
		size -= part;
	}
	return true;
}

/* Reads a range that the fast path of image_read_offset does not cover: one in memory, in several
 * blocks, or in a block that was not read yet. */
static bool
read_slowly(const struct image *image, uint64_t offset, void *to, size_t size)
{
	if (image->blocks->memory) {
		memcpy(to, image->blocks->memory + offset, size);
		return true;
	}
	/* Large reads, such as that of a symbol table, happen once, so their bytes are not kept. */
	if (size >= BLOCK_SIZE)
		return read_file(image, offset, to, size) == size;
	return read_blocks(image, offset, to, size);
}

bool
image_read_offset(const struct image *image, uint64_t offset, void *to, size_t size)
{
	uint64_t within = offset & (BLOCK_SIZE - 1);
	const struct image_block *block;

	if (offset > image->size || size > image->size - offset)
		return false;
	if (size == 0)
		return true;
	if (image->blocks->memory)
		return read_slowly(image, offset, to, size);

	/* The fast path, taken for every word of .eh_frame that the unwinder reads. */
	block = &image->blocks->block[offset >> BLOCK_SHIFT];
	if (block->length < within || size > block->length - within)
		return read_slowly(image, offset, to, size);
	if (size == 1)
		*(uint8_t *)to = block->bytes[within];
	else if (size == 8)
		memcpy(to, block->bytes + within, 8);
	else
		memcpy(to, block->bytes + within, size);
	return true;
}

static bool
segment_holds(const struct image_segment *segment, uint64_t vaddr, size_t size)
{
	uint64_t within = vaddr - segment->vaddr;

	return vaddr >= segment->vaddr && within <= segment->file_size &&
	       size <= segment->file_size - within && !segment->writable;
}

/* Reads a range that the segment contains; false when it cannot be read. */
static bool
read_segment(const struct image *image, const struct image_segment *segment, uint64_t vaddr,
	     void *to, size_t size)
{
	return image_read_offset(image, segment->offset + (vaddr - segment->vaddr), to, size);
}

bool
image_read_vaddr(const struct image *image, uint64_t vaddr, void *to, size_t size)
{
	const struct image_segment *segment = &image->segment[image->blocks->last_segment];

	if (segment_holds(segment, vaddr, size))
		return read_segment(image, segment, vaddr, to, size);
	for (size_t i = 0; i < image->segment_count; i++) {
		segment = &image->segment[i];
		if (!segment_holds(segment, vaddr, size))
			continue;
		image->blocks->last_segment = i;
		return read_segment(image, segment, vaddr, to, size);
	}
	return false;
}

const uint8_t *
image_view(const struct image *image, uint64_t vaddr, size_t *size)
{
	struct image_blocks *blocks = image->blocks;
	const struct image_segment *segment;
	uint64_t offset, within;
	uint8_t first;

	/* Reads the block, and sets last_segment. */
	if (!image_read_vaddr(image, vaddr, &first, 1))
		return NULL;
	segment = &image->segment[blocks->last_segment];
	offset = segment->offset + (vaddr - segment->vaddr);
	*size = segment->file_size - (vaddr - segment->vaddr);
	if (blocks->memory != NULL) {
		/* The segment of a damaged image may end behind its bytes. */
		if (*size > image->size - offset)
			*size = image->size - offset;
		return blocks->memory + offset;
	}
	within = offset & (BLOCK_SIZE - 1);
	if (*size > blocks->block[offset >> BLOCK_SHIFT].length - within)
		*size = blocks->block[offset >> BLOCK_SHIFT].length - within;
	return blocks->block[offset >> BLOCK_SHIFT].bytes + within;
}

bool
image_offset_to_vaddr(const struct image *image, uint64_t offset, uint64_t *vaddr)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct image_segment *segment = &image->segment[i];

		if (offset < segment->offset || offset - segment->offset >= segment->file_size)
			continue;
		*vaddr = segment->vaddr + (offset - segment->offset);
		return true;
	}
	return false;
}

const void *
image_memory(const struct image *image)
{
	return image->blocks->memory;
}

/* --- the struct ------------------------------------------------------------------------- */

struct image *
image_create(int fd, uint64_t size, void *memory)
{
	const size_t block_count = memory == NULL ? (size - 1) / BLOCK_SIZE + 1 : 0;
	struct image *image = xcalloc(1, sizeof(*image));

	image->fd = fd;
	image->size = size;
	image->blocks = xcalloc(1, sizeof(*image->blocks) +
					   block_count * sizeof(image->blocks->block[0]));
	image->blocks->memory = memory;
	return image;
}

void
image_free(struct image *image)
{
	if (!image)
		return;
	if (image->fd >= 0) {
		for (uint64_t i = 0; i < (image->size - 1) / BLOCK_SIZE + 1; i++)
			free(image->blocks->block[i].bytes);
		if (!image->blocks->unanswered)
			close(image->fd);
	}
	free(image->blocks->memory);
	free(image->blocks);
	free(image);
}
