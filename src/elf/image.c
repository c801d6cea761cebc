/* SPDX-License-Identifier: MIT */
/*
 * image.c - reads ELF files block by block, and checks offsets and sizes from a file before it uses
 * them.
 */
#include "elf/image_internal.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "wallsample/base/base.h"

static bool
read_blocks(const struct image *image, uint64_t offset, uint8_t *to, size_t size)
{
	while (size > 0) {
		const uint64_t within = offset & (IMAGE_BLOCK_SIZE - 1);
		const struct image_block *block = image_cache_block(image->blocks->cache,
								    &image->blocks->file,
								    offset >> IMAGE_BLOCK_SHIFT);
		size_t part;

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
 * blocks, or in a block that is not one of the recent ones. */
static bool
read_slowly(const struct image *image, uint64_t offset, void *to, size_t size)
{
	if (image->blocks->memory) {
		memcpy(to, image->blocks->memory + offset, size);
		return true;
	}
	/* Large reads, such as that of a symbol table, happen once, so their bytes are not kept. */
	if (size >= IMAGE_BLOCK_SIZE)
		return image_file_read(&image->blocks->file, offset, to, size) == size;
	return read_blocks(image, offset, to, size);
}

bool
image_read_offset(const struct image *image, uint64_t offset, void *to, size_t size)
{
	uint64_t within = offset & (IMAGE_BLOCK_SIZE - 1);
	struct image_block *block;

	if (offset > image->size || size > image->size - offset)
		return false;
	if (size == 0)
		return true;
	if (image->blocks->memory)
		return read_slowly(image, offset, to, size);

	/* The fast path, taken for every word of .eh_frame that the unwinder reads. */
	block = image->blocks->file.recent[(offset >> IMAGE_BLOCK_SHIFT) % IMAGE_RECENT];
	if (block == NULL || block->index != offset >> IMAGE_BLOCK_SHIFT ||
	    block->length < within || size > block->length - within)
		return read_slowly(image, offset, to, size);
	block->used = true;
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
image_create(int fd, uint64_t size, void *memory, struct image_cache *cache)
{
	struct image *image = xcalloc(1, sizeof(*image));

	image->fd = fd;
	image->size = size;
	image->blocks = xcalloc(1, sizeof(*image->blocks));
	image->blocks->memory = memory;
	image->blocks->file = (struct image_file){ .fd = fd, .size = size };
	image->blocks->owns_cache = cache == NULL && memory == NULL;
	image->blocks->cache = image->blocks->owns_cache ? image_cache_create(IMAGE_CACHE_MOST) :
							   cache;
	return image;
}

void
image_set_proxy(struct image *image, struct file_proxy *proxy, uint64_t device)
{
	image->blocks->file.proxy = proxy;
	image->blocks->file.device = device;
}

bool
image_answers(const struct image *image)
{
	return !image->blocks->file.unanswered;
}

void
image_free(struct image *image)
{
	struct image_blocks *blocks;

	if (!image)
		return;
	blocks = image->blocks;
	if (blocks->file.count > 0)
		image_cache_drop_file(blocks->cache, &blocks->file);
	if (blocks->owns_cache)
		image_cache_free(blocks->cache);
	if (image->fd >= 0 && !blocks->file.unanswered)
		close(image->fd);
	free(blocks->memory);
	free(blocks);
	free(image);
}
