/* SPDX-License-Identifier: MIT */
/*
 * jit_watch.c - keeps the addresses of descriptors as modules come, go and move.
 */
#include "jit_watch.h"

#include <string.h>

#include "wallsample/base.h"

/* Of one call, for symbol tables: well below a millisecond from the page cache. */
#define SEARCH_BYTES (UINT64_C(1) << 20)

const struct symbol_wanted jit_watch_wanted = { .name = "__jit_debug_descriptor" };

void
jit_watches_init(struct jit_watches *watches, const struct maps *maps)
{
	*watches = (struct jit_watches){ .maps = maps };
	jit_julia_init(&watches->julia);
}

void
jit_watches_release(struct jit_watches *watches)
{
	free(watches->descriptor);
	*watches = (struct jit_watches){ .count = 0 };
}

/* Goes on with the module `searched`. True when that has been searched. */
static bool
search_module(struct jit_watches *w, uint64_t *budget)
{
	const struct module *module = modules_get(maps_modules(w->maps), (uint32_t)w->searched);
	const struct symbol_search_found *found;

	w->descriptor = xgrow(w->descriptor, &w->capacity, w->searched + 1, sizeof(uint64_t));
	w->descriptor[w->searched] = 0;
	if (module->kind != MODULE_FILE)
		return true;
	if (!w->searching)
		symbol_search_init(&w->search, module->image, &jit_watch_wanted, 1);
	w->searching = !symbol_search_step(&w->search, budget);
	found = symbol_search_first(&w->search, 0);
	if (!w->searching && found != NULL)
		w->descriptor[w->searched] = found->vaddr;
	return !w->searching;
}

static bool
is_searching(const struct jit_watches *w)
{
	return w->searched < modules_count(maps_modules(w->maps));
}

/* True when a descriptor was found. */
static bool
search_modules(struct jit_watches *w)
{
	uint64_t budget = SEARCH_BYTES;
	bool found = false;

	while (is_searching(w) && budget > 0 && search_module(w, &budget)) {
		found |= w->descriptor[w->searched] != 0;
		w->searched++;
	}
	return found;
}

static const struct jit_watch *
find_watch(const struct jit_watch *watch, size_t count, uint64_t address)
{
	for (size_t i = 0; i < count; i++)
		if (watch[i].address == address)
			return &watch[i];
	return NULL;
}

/* Adds it to those that are placed; what is known of it stays known. */
static void
place_watch(const struct jit_watches *w, struct jit_watch placed[JIT_WATCHES_MAX], size_t *count,
	    const struct jit_watch *fresh)
{
	const struct jit_watch *old = jit_watches_at(w, fresh->address);

	if (*count == JIT_WATCHES_MAX || find_watch(placed, *count, fresh->address) != NULL)
		return;
	placed[(*count)++] = old != NULL && old->julia == fresh->julia ? *old : *fresh;
}

/* Where the descriptors are now: their modules may have come, gone, or moved. */
static void
place_watches(struct jit_watches *w)
{
	struct jit_watch placed[JIT_WATCHES_MAX], fresh;
	size_t count = 0;

	fresh = (struct jit_watch){ .address = w->julia.variable, .julia = true };
	if (fresh.address != 0)
		place_watch(w, placed, &count, &fresh);
	for (size_t i = 0; i < maps_count(w->maps); i++) {
		const struct mapping *mapping = maps_at(w->maps, i);

		if (mapping->image == NULL || mapping->module >= w->searched ||
		    w->descriptor[mapping->module] == 0)
			continue;
		fresh = (struct jit_watch){
			.address = w->descriptor[mapping->module] + mapping->bias,
		};
		place_watch(w, placed, &count, &fresh);
	}
	memcpy(w->watch, placed, count * sizeof(*placed));
	w->count = count;
}

bool
jit_watches_update(struct jit_watches *w, struct jit_reader *reader, uint64_t now_ns)
{
	bool found = search_modules(w);

	found |= jit_julia_update(&w->julia, w->maps, reader, now_ns);
	if (!found && w->generation == maps_generation(w->maps))
		return false;
	w->generation = maps_generation(w->maps);
	place_watches(w);
	return true;
}

bool
jit_watch_read(const struct jit_watch *watch, struct jit_reader *reader,
	       struct jit_descriptor *descriptor)
{
	return watch->julia ? jit_julia_read(reader, watch->address, descriptor) :
			      jit_read(reader, watch->address, descriptor, sizeof(*descriptor));
}

enum jit_walk
jit_watch_walk(const struct jit_watch *watch, struct jit_reader *reader,
	       const struct jit_descriptor *before, size_t most, struct jit_listed **listed,
	       size_t *capacity, size_t *count)
{
	return (watch->julia ? jit_julia_walk : jit_list_walk)(reader, watch->address, before,
							       most, listed, capacity, count);
}

bool
jit_watches_searching(const struct jit_watches *w)
{
	return is_searching(w) || jit_julia_searching(&w->julia);
}

const struct jit_watch *
jit_watches_at(const struct jit_watches *w, uint64_t address)
{
	return find_watch(w->watch, w->count, address);
}
