/* SPDX-License-Identifier: MIT */
/*
 * jit_watch.c - keeps the addresses of descriptors as modules come, go and move.
 */
#include "jit/objects/jit_watch_internal.h"

#include <string.h>

#include "wallsample/base/base.h"

/* Of one call, for symbol tables: well below a millisecond from the page cache. */
#define SEARCH_BYTES (UINT64_C(1) << 20)

const struct symbol_wanted jit_watch_wanted = { .name = "__jit_debug_descriptor" };

enum { DESCRIPTOR, LIST_ADDRESS };

static const struct symbol_wanted wanted[] = {
	[DESCRIPTOR] = { .name = "__jit_debug_descriptor" },
	[LIST_ADDRESS] = { .name = "_U_dyn_info_list_addr", .code = true },
};

static const struct {
	bool (*read)(struct jit_reader *reader, uint64_t address,
		     struct jit_descriptor *descriptor);
	enum jit_walk (*walk)(struct jit_reader *reader, uint64_t address,
			      const struct jit_descriptor *before, size_t most,
			      struct jit_listed **listed, size_t *capacity, size_t *count);
} kinds[] = {
	[JIT_WATCH_DEBUGGERS] = { jit_list_read, jit_list_walk },
	[JIT_WATCH_TREE] = { jit_tree_read, jit_tree_walk },
	[JIT_WATCH_UNWIND] = { jit_unwind_read, jit_unwind_walk },
};

void
jit_watches_init(struct jit_watches *watches, const struct maps *maps)
{
	*watches = (struct jit_watches){ .maps = maps };
	jit_tree_init(&watches->tree);
}

void
jit_watches_release(struct jit_watches *watches)
{
	free(watches->descriptor);
	*watches = (struct jit_watches){ .count = 0 };
}

/* What was found in the module. */
static void
take_found(struct jit_watches *w, const struct image *image)
{
	const struct symbol_search_found *found = symbol_search_first(&w->search, DESCRIPTOR);
	uint64_t *vaddr = w->descriptor[w->searched];

	if (found != NULL)
		vaddr[JIT_WATCH_DEBUGGERS] = found->vaddr;
	found = symbol_search_first(&w->search, LIST_ADDRESS);
	if (found != NULL)
		vaddr[JIT_WATCH_UNWIND] = jit_unwind_address(image, found->vaddr);
}

/* Goes on with the module `searched`. True when that has been searched. */
static bool
search_module(struct jit_watches *w, uint64_t *budget)
{
	const struct module *module = modules_at(maps_modules(w->maps), (uint32_t)w->searched);

	w->descriptor = xgrow(w->descriptor, &w->capacity, w->searched + 1, sizeof(*w->descriptor));
	memset(w->descriptor[w->searched], 0, sizeof(*w->descriptor));
	if (module->kind != MODULE_FILE)
		return true;
	if (!w->searching)
		symbol_search_init(&w->search, module->image, wanted, ARRAY_SIZE(wanted));
	w->searching = !symbol_search_step(&w->search, budget);
	if (!w->searching)
		take_found(w, module->image);
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
		for (size_t kind = 0; kind < JIT_WATCH_KINDS; kind++)
			found |= w->descriptor[w->searched][kind] != 0;
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
	placed[(*count)++] = old != NULL && old->kind == fresh->kind ? *old : *fresh;
}

static void
place_of_module(const struct jit_watches *w, struct jit_watch placed[JIT_WATCHES_MAX],
		size_t *count, const struct mapping *mapping)
{
	for (size_t kind = 0; kind < JIT_WATCH_KINDS; kind++) {
		const uint64_t vaddr = w->descriptor[mapping->module][kind];
		const struct jit_watch fresh = { .address = vaddr + mapping->bias,
						 .kind = (enum jit_watch_kind)kind };

		if (vaddr != 0)
			place_watch(w, placed, count, &fresh);
	}
}

/* Where the descriptors are now: their modules may have come, gone, or moved. */
static void
place_watches(struct jit_watches *w)
{
	struct jit_watch placed[JIT_WATCHES_MAX], fresh;
	size_t count = 0;

	fresh = (struct jit_watch){ .address = w->tree.variable, .kind = JIT_WATCH_TREE };
	if (fresh.address != 0)
		place_watch(w, placed, &count, &fresh);
	for (size_t i = 0; i < maps_count(w->maps); i++) {
		const struct mapping *mapping = maps_at(w->maps, i);

		if (mapping->image != NULL && mapping->module < w->searched)
			place_of_module(w, placed, &count, mapping);
	}
	memcpy(w->watch, placed, count * sizeof(*placed));
	w->count = count;
}

bool
jit_watches_update(struct jit_watches *w, struct jit_reader *reader, uint64_t now_ns)
{
	bool found = search_modules(w);

	found |= jit_tree_update(&w->tree, w->maps, reader, now_ns);
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
	return kinds[watch->kind].read(reader, watch->address, descriptor);
}

enum jit_walk
jit_watch_walk(const struct jit_watch *watch, struct jit_reader *reader,
	       const struct jit_descriptor *before, size_t most, struct jit_listed **listed,
	       size_t *capacity, size_t *count)
{
	return kinds[watch->kind].walk(reader, watch->address, before, most, listed, capacity,
				       count);
}

bool
jit_watches_searching(const struct jit_watches *w)
{
	return is_searching(w) || jit_tree_searching(&w->tree);
}

const struct jit_watch *
jit_watches_at(const struct jit_watches *w, uint64_t address)
{
	return find_watch(w->watch, w->count, address);
}
