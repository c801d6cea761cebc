/* SPDX-License-Identifier: MIT */
/*
 * image_cache.c - reads blocks of files, and keeps those that were used last.
 */
#include "elf/image_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"

/* Number of the lists of blocks with the same hash. */
#define BUCKETS 1024

struct image_cache {
	uint64_t most, bytes;                /* limit of the blocks' memory, and its size */
	struct image_block *newest, *oldest; /* the ends of the list in the order of use */
	struct image_block *bucket[BUCKETS]; /* lists of blocks with the same hash */
};

struct image_cache *
image_cache_create(uint64_t most)
{
	struct image_cache *cache = xcalloc(1, sizeof(*cache));

	cache->most = most;
	return cache;
}

void
image_cache_free(struct image_cache *cache)
{
	free(cache);
}

static struct image_block **
bucket_of(struct image_cache *cache, const struct image_file *file, uint64_t index)
{
	return &cache->bucket[hash_u64((uintptr_t)file ^ index << 48) % BUCKETS];
}

/* Removes the block from the list in the order of use. */
static void
unlink_block(struct image_cache *cache, const struct image_block *block)
{
	*(block->newer != NULL ? &block->newer->older : &cache->newest) = block->older;
	*(block->older != NULL ? &block->older->newer : &cache->oldest) = block->newer;
}

static void
link_newest(struct image_cache *cache, struct image_block *block)
{
	block->newer = NULL;
	block->older = cache->newest;
	*(cache->newest != NULL ? &cache->newest->newer : &cache->oldest) = block;
	cache->newest = block;
}

static uint64_t
memory_of(const struct image_block *block)
{
	return sizeof(*block) + block->capacity;
}

static void
drop(struct image_cache *cache, struct image_block *block)
{
	struct image_block **at = bucket_of(cache, block->file, block->index);

	while (*at != block)
		at = &(*at)->chain;
	*at = block->chain;
	unlink_block(cache, block);
	cache->bytes -= memory_of(block);
	block->file->count--;
	if (block->file->recent[block->index % IMAGE_RECENT] == block)
		block->file->recent[block->index % IMAGE_RECENT] = NULL;
	free(block);
}

void
image_cache_drop_file(struct image_cache *cache, const struct image_file *file)
{
	struct image_block *block = cache->oldest, *newer;

	for (; file->count > 0 && block != NULL; block = newer) {
		newer = block->newer;
		if (block->file == file)
			drop(cache, block);
	}
}

static void
move_newest(struct image_cache *cache, struct image_block *block)
{
	unlink_block(cache, block);
	link_newest(cache, block);
	block->used = false;
}

/* While the cache is over its limit, frees the blocks used longest ago, except `kept`. */
static void
evict(struct image_cache *cache, const struct image_block *kept)
{
	while (cache->bytes > cache->most && cache->oldest != cache->newest) {
		struct image_block *block = cache->oldest;

		if (block->used || block == kept)
			move_newest(cache, block);
		else
			drop(cache, block);
	}
}

size_t
image_file_read(struct image_file *file, uint64_t offset, void *to, size_t size)
{
	size_t got;

	if (file->unanswered)
		return 0;
	got = file_proxy_read(file->proxy, file->device, file->fd, offset, to, size);
	file->unanswered = got < size && errno == ETIMEDOUT;
	return got;
}

static struct image_block *
load(struct image_cache *cache, struct image_file *file, uint64_t index)
{
	const uint64_t offset = index << IMAGE_BLOCK_SHIFT;
	const uint64_t rest = file->size - offset;
	const size_t want = rest < IMAGE_BLOCK_SIZE ? (size_t)rest : (size_t)IMAGE_BLOCK_SIZE;
	struct image_block *block = xmalloc(sizeof(*block) + want);
	struct image_block **bucket = bucket_of(cache, file, index);

	*block = (struct image_block){
		.chain = *bucket,
		.file = file,
		.index = index,
		.capacity = (uint32_t)want,
	};
	block->length = (uint32_t)image_file_read(file, offset, block->bytes, want);
	*bucket = block;
	link_newest(cache, block);
	cache->bytes += memory_of(block);
	file->count++;
	evict(cache, block);
	return block;
}

const struct image_block *
image_cache_block(struct image_cache *cache, struct image_file *file, uint64_t index)
{
	struct image_block *block = *bucket_of(cache, file, index);

	while (block != NULL && (block->file != file || block->index != index))
		block = block->chain;
	if (block == NULL)
		block = load(cache, file, index);
	else
		move_newest(cache, block);
	file->recent[index % IMAGE_RECENT] = block;
	return block;
}
