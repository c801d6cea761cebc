/* SPDX-License-Identifier: MIT */
/* pages.c - pages of the target's memory, kept for one walk. */
#include "pages.h"

#include <string.h>

#include "wallsample/base.h"

#define SLOTS 512 /* a power of two, more than twice PAGES_MOST */

struct page {
	uint64_t address;
	bool there, used;
};

struct pages {
	const struct runtimes_config *config;
	uint32_t walk;
	struct {
		uint32_t walk;  /* the slot is empty in another walk */
		uint32_t page;
	} slot[SLOTS];
	struct page page[PAGES_MOST];
	size_t count;
	uint8_t bytes[PAGES_MOST][MEMORY_PAGE];
};

struct pages *
pages_create(const struct runtimes_config *config)
{
	struct pages *pages = xcalloc(1, sizeof(*pages));

	pages->config = config;
	pages->walk = 1;
	return pages;
}

void
pages_free(struct pages *pages)
{
	free(pages);
}

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
pages_begin(struct pages *pages, const struct pages_memo *memo)
{
	const struct runtimes_config *config = pages->config;
	size_t got;

	/* Slots of walks four billion ago are not told from those of now. */
	if (++pages->walk == 0) {
		memset(pages->slot, 0, sizeof(pages->slot));
		pages->walk = 1;
	}
	pages->count = 0;
	if (memo == NULL || memo->count == 0 || config->read_pages == NULL)
		return;
	got = config->read_pages(config->context, memo->page, memo->count, pages->bytes);
	for (size_t i = 0; i < got; i++)
		add_page(pages, slot_of(pages, memo->page[i]), memo->page[i])->there = true;
}

static const uint8_t *
find_page(struct pages *pages, uint64_t address)
{
	const struct memory *memory = &pages->config->memory;
	const size_t slot = slot_of(pages, address);
	struct page *page;

	if (pages->slot[slot].walk == pages->walk) {
		page = &pages->page[pages->slot[slot].page];
	} else {
		if (pages->count == PAGES_MOST)
			return NULL;
		page = add_page(pages, slot, address);
		page->there = memory->read(memory->context, address,
					   pages->bytes[page - pages->page], MEMORY_PAGE);
	}
	page->used = true;
	return page->there ? pages->bytes[page - pages->page] : NULL;
}

bool
pages_read(struct pages *pages, uint64_t address, void *to, size_t size)
{
	const struct memory *memory = &pages->config->memory;
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
			 !memory->read(memory->context, at, (uint8_t *)to + done, part))
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
