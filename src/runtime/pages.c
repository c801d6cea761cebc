/* SPDX-License-Identifier: MIT */
/* pages.c - caches pages of the target's memory for one walk. */
#include "runtime/pages_internal.h"

#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/tracer/resident.h"

#define SLOTS 512 /* a power of two, more than twice PAGES_MOST */

/* Number of cached bit sets of resident pages, a power of two. Each set covers RESIDENT_PAGES
 * pages. */
#define BLOCKS 256

struct page {
	uint64_t address;
	bool there; /* the page was read; false: it is not readable */
	bool used;  /* pages_read has read from the page in this walk */
};

struct block {
	uint32_t walk; /* number of the walk that set `resident`, and for which it is valid */
	/* tick in which `resident` is also valid, if the captured thread is not stopped; 0: none */
	uint32_t tick;
	uint32_t resident; /* bit n: page n of the block is resident */
	uint64_t address;  /* address of the block's first page */
};

struct pages {
	const struct runtimes_config *config;
	uint32_t walk; /* number of the current walk, never 0 */
	struct {
		uint32_t walk; /* the slot is empty unless this is the number of the current walk */
		uint32_t page; /* index in page[] */
	} slot[SLOTS];
	struct page page[PAGES_MOST];
	size_t count; /* number of elements of page[] that the current walk has filled */
	struct block block[BLOCKS];
	bool held;     /* the captured thread is stopped */
	uint32_t tick; /* number of the current tick, never 0 */
	size_t left;   /* number of pages that the capture may still read */
	bool used_up;  /* the capture needed more pages than it may read */
	uint8_t bytes[PAGES_MOST][MEMORY_PAGE];
};

struct pages *
pages_create(const struct runtimes_config *config)
{
	struct pages *pages = xcalloc(1, sizeof(*pages));

	pages->config = config;
	pages->walk = pages->tick = 1;
	pages->left = SIZE_MAX;
	return pages;
}

void
pages_free(struct pages *pages)
{
	free(pages);
}

/* Returns the index of the hash slot that has the page, or of the free slot where it belongs. */
static size_t
slot_of(const struct pages *pages, uint64_t address)
{
	size_t at = (size_t)((address / MEMORY_PAGE) * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SLOTS;

	while (pages->slot[at].walk == pages->walk &&
	       pages->page[pages->slot[at].page].address != address)
		at = (at + 1) % SLOTS;
	return at;
}

static struct page *
add_page(struct pages *pages, size_t slot, uint64_t address)
{
	struct page *page = &pages->page[pages->count];

	pages->slot[slot].walk = pages->walk;
	pages->slot[slot].page = (uint32_t)pages->count++;
	*page = (struct page){ .address = address };
	return page;
}

void
pages_begin_tick(struct pages *pages)
{
	if (++pages->tick == 0)
		pages->tick = 1;
}

void
pages_begin_capture(struct pages *pages, bool held)
{
	pages->held = held;
	pages->left = held ? PAGES_READ_MOST : SIZE_MAX;
	pages->used_up = false;
}

bool
pages_are_used_up(const struct pages *pages)
{
	return pages->used_up;
}

/*
 * Returns true when the page is in memory. If the captured thread is not stopped, a page in swap
 * counts as well. To read any other page the kernel may need a thread of the target, which may be
 * stopped (resident.h). Without config->resident the result is always true.
 */
static bool
is_resident(struct pages *pages, uint64_t address)
{
	const struct runtimes_config *config = pages->config;
	const uint64_t start = address - address % RESIDENT_BYTES;
	struct block *block = &pages->block[start / RESIDENT_BYTES % BLOCKS];

	if (config->resident == NULL)
		return true;
	if (block->address != start ||
	    (block->walk != pages->walk && (pages->held || block->tick != pages->tick)))
		*block = (struct block){
			.walk = pages->walk,
			.tick = pages->held ? 0 : pages->tick,
			.resident = config->resident(config->context, start, !pages->held),
			.address = start,
		};
	return (block->resident >> (address - start) / MEMORY_PAGE & 1) != 0;
}

/* Reads a part of one page from the target. Returns false when the page cannot be read or is not in
 * memory (is_resident), or the capture has already read as many pages as it may. */
static bool
read_resident(struct pages *pages, uint64_t address, void *to, size_t size)
{
	const struct memory *memory = &pages->config->memory;

	if (pages->left == 0) {
		pages->used_up = true;
		return false;
	}
	pages->left--;
	return is_resident(pages, address) && memory_read(memory, address, to, size);
}

void
pages_begin(struct pages *pages, const struct pages_memo *memo)
{
	const struct runtimes_config *config = pages->config;
	uint64_t page[PAGES_EXPECTED];
	size_t count = 0, got;

	/* If the number wraps to 0, numbers repeat, and slots of old walks would look valid. */
	if (++pages->walk == 0) {
		memset(pages->slot, 0, sizeof(pages->slot));
		memset(pages->block, 0, sizeof(pages->block));
		pages->walk = 1;
	}
	pages->count = 0;
	if (memo == NULL || memo->count == 0 || config->read_pages == NULL)
		return;
	for (size_t i = 0; i < memo->count && count < pages->left; i++)
		if (is_resident(pages, memo->page[i]))
			page[count++] = memo->page[i];
	pages->left -= count;
	got = count > 0 ? config->read_pages(config->context, page, count, pages->bytes) : 0;
	for (size_t i = 0; i < got; i++)
		add_page(pages, slot_of(pages, page[i]), page[i])->there = true;
}

/* Returns the bytes of the page from the cache, into which it is read if necessary. Returns NULL
 * when the page is not readable, or is not cached and the cache is full. */
static const uint8_t *
find_page(struct pages *pages, uint64_t address)
{
	const size_t slot = slot_of(pages, address);
	struct page *page;

	if (pages->slot[slot].walk == pages->walk) {
		page = &pages->page[pages->slot[slot].page];
	} else {
		if (pages->count == PAGES_MOST)
			return NULL;
		page = add_page(pages, slot, address);
		page->there = read_resident(pages, address, pages->bytes[page - pages->page],
					    MEMORY_PAGE);
	}
	page->used = true;
	return page->there ? pages->bytes[page - pages->page] : NULL;
}

bool
pages_read(struct pages *pages, uint64_t address, void *to, size_t size)
{
	size_t done = 0;

	if (address + size < address)
		return false;
	while (done < size) {
		const uint64_t at = address + done;
		const size_t offset = (size_t)(at % MEMORY_PAGE);
		size_t part = MEMORY_PAGE - offset;
		const uint8_t *bytes = find_page(pages, at - offset);

		if (part > size - done)
			part = size - done;
		if (bytes != NULL)
			memcpy((uint8_t *)to + done, bytes + offset, part);
		else if (pages->count < PAGES_MOST ||
			 !read_resident(pages, at, (uint8_t *)to + done, part))
			return false;
		done += part;
	}
	return true;
}

void
pages_keep(const struct pages *pages, struct pages_memo *memo)
{
	memo->count = 0;
	for (size_t i = 0; i < pages->count && memo->count < PAGES_EXPECTED; i++)
		if (pages->page[i].used && pages->page[i].there)
			memo->page[memo->count++] = pages->page[i].address;
}
