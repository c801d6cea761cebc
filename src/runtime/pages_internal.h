/* SPDX-License-Identifier: MIT */
/*
 * pages_internal.h - the target's memory, page by page, for one walk through its structures.
 *
 * A walk through some fifty objects reads from ten or twenty pages, and mostly from those from
 * which the last walk of the same thread did: they are fetched first, with one call.
 */
#ifndef WALLSAMPLE_RUNTIME_PAGES_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PAGES_INTERNAL_H

#include "wallsample/base/memory.h"
#include "wallsample/runtime/runtime.h"

/* As many as one walk keeps; what it reads beyond is read each time. */
#define PAGES_MOST 192

/* As many as are remembered from walk to walk. */
#define PAGES_EXPECTED 48

/*
 * What all walks of one capture read of a thread that is held: each is a call of half a
 * microsecond and more. A stack of 2,048 frames, a page for each, took 2.4 ms.
 */
#define PAGES_READ_MOST 768

/* Those that a walk read from. Zeroed at first. */
struct pages_memo {
	uint32_t count;
	uint64_t page[PAGES_EXPECTED];
};

struct pages;

/* `config` is borrowed. */
struct pages *pages_create(const struct runtimes_config *config);
void pages_free(struct pages *pages);

/* From now on what is resident is asked anew, of threads that are not held, too. */
void pages_begin_tick(struct pages *pages);
/* Walks follow that are of one thread, which stands still (`held`) or does not. */
void pages_begin_capture(struct pages *pages, bool held);
/* Was more wanted than the capture may read? */
bool pages_are_used_up(const struct pages *pages);
/* A new walk: forgets all, and fetches what the memo (or NULL) says. */
void pages_begin(struct pages *pages, const struct pages_memo *memo);
/* Copies all `size` bytes, or returns false: also where they would have to be waited for. */
bool pages_read(struct pages *pages, uint64_t address, void *to, size_t size);
/* What this walk has read from goes into the memo. */
void pages_keep(const struct pages *pages, struct pages_memo *memo);

#endif
