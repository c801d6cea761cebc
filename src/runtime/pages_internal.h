/* SPDX-License-Identifier: MIT */
/*
 * pages_internal.h - a cache of the target's memory pages, for one walk. A walk is one reading of
 * linked structures of a runtime, from object to object.
 *
 * A walk through some fifty objects reads from ten or twenty pages, mostly the pages of the
 * previous walk for the same thread. A memo of these pages lets one system call read all of them in
 * advance.
 */
#ifndef WALLSAMPLE_RUNTIME_PAGES_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PAGES_INTERNAL_H

#include "wallsample/base/memory.h"
#include "wallsample/runtime/runtime.h"

/* Most pages that one walk caches. An access to any further page reads the target each time. */
#define PAGES_MOST 192

/* Most pages whose addresses a memo has. */
#define PAGES_EXPECTED 48

/*
 * Most pages that all walks of one capture together read while the thread is stopped. It bounds the
 * duration of the stop, because the read of a page takes half a microsecond or more: without this
 * bound, 2,048 frames that each lie in a page of their own took 2.4 ms.
 */
#define PAGES_READ_MOST 768

/* Addresses of the pages from which a walk has read, for the next walk of the same thread. The
 * caller zeroes the memo before the first walk. */
struct pages_memo {
	uint32_t count;
	uint64_t page[PAGES_EXPECTED];
};

struct pages;

/* Makes an empty cache, which the caller frees. `config` is borrowed. Never fails. */
struct pages *pages_create(const struct runtimes_config *config);
void pages_free(struct pages *pages);

/* Forgets which pages are resident: this is cached for one tick or, while the captured thread is
 * stopped, for one walk. Must be called at the beginning of each tick. */
void pages_begin_tick(struct pages *pages);
/* Begins the walks of one capture. `held`: the thread is stopped, and PAGES_READ_MOST applies. */
void pages_begin_capture(struct pages *pages, bool held);
/* Returns true when the capture needed more than PAGES_READ_MOST pages. */
bool pages_are_used_up(const struct pages *pages);
/* Begins a walk: empties the cache, and fills it with those pages of the memo that pages_read could
 * read. They count towards PAGES_READ_MOST. `memo` may be NULL. */
void pages_begin(struct pages *pages, const struct pages_memo *memo);
/*
 * Copies `size` bytes at `address` in the target. Returns false, with undefined contents of `to`,
 * if a byte cannot be read or its page is not in memory; pages in swap are read only if the
 * captured thread is not stopped. Once the capture has used up PAGES_READ_MOST, also returns false
 * for pages that are not cached.
 */
bool pages_read(struct pages *pages, uint64_t address, void *to, size_t size);
/* Stores in the memo the addresses of the first PAGES_EXPECTED pages that the current walk has read
 * from. */
void pages_keep(const struct pages *pages, struct pages_memo *memo);

#endif
