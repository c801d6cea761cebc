/* SPDX-License-Identifier: MIT */
/* image_internal.h - parts of image.h: the files that open and read images, and the cache. */
#ifndef WALLSAMPLE_ELF_IMAGE_INTERNAL_H
#define WALLSAMPLE_ELF_IMAGE_INTERNAL_H

#include "wallsample/base/file_proxy.h"
#include "wallsample/elf/image.h"

#define IMAGE_BLOCK_SHIFT 16
#define IMAGE_BLOCK_SIZE (UINT64_C(1) << IMAGE_BLOCK_SHIFT)

/* A block of a file. It is valid until the next block is read. */
struct image_block {
	struct image_block *chain;         /* next block with the same hash */
	struct image_block *newer, *older; /* neighbours in the order of use */
	struct image_file *file;
	uint64_t index;    /* offset in the file, divided by IMAGE_BLOCK_SIZE */
	uint32_t capacity; /* bytes of memory: IMAGE_BLOCK_SIZE, or less at the end of the file */
	/* Number of bytes read: less than `capacity` if the file has shrunk or cannot be read. */
	uint32_t length;
	bool used; /* was used by image_read_offset() since it was found in the cache */
	uint8_t bytes[];
};

/* Number of blocks of a file that are found without a search of the cache. */
#define IMAGE_RECENT 16

/* A file whose blocks are in a cache. */
struct image_file {
	int fd; /* borrowed */
	/* How it is read (file_proxy.h), and its file system. */
	struct file_proxy *proxy;
	uint64_t device;
	/* A read has got no answer. The file is then read no more, and stays open until wallsample
	 * ends, because close(2) may hang, too. */
	bool unanswered;
	uint64_t size; /* in bytes */
	size_t count;  /* number of its blocks in the cache */
	/* recent[i]: of the blocks whose index modulo IMAGE_RECENT is i, the one used last; NULL:
	 * none, or it is no longer in the cache. */
	struct image_block *recent[IMAGE_RECENT];
};

struct image_blocks {
	uint8_t *memory; /* all bytes of an image in memory, which has no blocks; else NULL */
	struct image_cache *cache;
	bool owns_cache; /* no other image uses the cache */
	struct image_file file;
	/* Index of the segment that the last read used. It is checked first, because the unwinder
	 * reads one segment word by word. */
	size_t last_segment;
};

/* Makes an image of `size` bytes, at least 1, of the file `fd`, or of `memory` if that is not NULL;
 * it takes both over. The cache is borrowed; NULL: the image has a cache of its own. Headers are
 * not read. The caller frees the image with image_free(). */
struct image *image_create(int fd, uint64_t size, void *memory, struct image_cache *cache);

/* Sets how the image of a file is read: by `proxy`, which is borrowed, or directly if it is NULL.
 * `device` is st_dev of the file. */
void image_set_proxy(struct image *image, struct file_proxy *proxy, uint64_t device);

/* Reads up to `size` bytes at `offset`. Returns the number of bytes: fewer at the end of the file
 * or after an error; 0 once a read has got no answer (file->unanswered). */
size_t image_file_read(struct image_file *file, uint64_t offset, void *to, size_t size);

/* Returns a block of the file, and puts it into file->recent. A block that is not in the cache is
 * read, and the blocks that were used longest ago are freed while the cache is over its limit. The
 * index must be that of a byte in the file. */
const struct image_block *image_cache_block(struct image_cache *cache, struct image_file *file,
					    uint64_t index);

/* Frees all blocks of the file. */
void image_cache_drop_file(struct image_cache *cache, const struct image_file *file);

#endif
