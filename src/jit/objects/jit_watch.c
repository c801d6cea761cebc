/* SPDX-License-Identifier: MIT */
/*
 * jit_watch.c - finds the lists of generated code as modules are mapped, unmapped and moved, and
 * reads them.
 */
#include "jit/objects/jit_watch_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"

/* Most bytes of symbol tables that one call of jit_watches_update() reads. Reading them from the
 * page cache takes well below a millisecond. */
#define SEARCH_BYTES (UINT64_C(1) << 20)

enum { DESCRIPTOR, LIST_ADDRESS };

static const struct symbol_wanted wanted[] = {
	[DESCRIPTOR] = { .name = "__jit_debug_descriptor" },
	[LIST_ADDRESS] = { .name = "_U_dyn_info_list_addr", .code = true },
};

/* --- reading ------------------------------------------------------------------------------- */

static bool
read_by(pid_t tid, uint64_t address, void *to, size_t size)
{
	struct iovec local = { to, size };
	struct iovec remote = { (void *)(uintptr_t)address, size };

	errno = 0; /* an incomplete read does not set errno */
	return process_vm_readv(tid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

bool
jit_read(void *context, uint64_t address, void *to, size_t size)
{
	struct jit_reader *reader = context;
	size_t capacity = 0, count;
	pid_t *tids = NULL;
	bool read = read_by(reader->tid, address, to, size);

	if (read || errno != ESRCH)
		return read;
	/* The memory cannot be read by the id of a thread that has ended, although the process may
	 * still run. */
	count = process_list_threads(reader->process, &tids, &capacity);
	for (size_t i = 0; i < count && !read; i++) {
		read = read_by(tids[i], address, to, size);
		if (read)
			reader->tid = tids[i];
		else if (errno != ESRCH)
			break;
	}
	free(tids);
	return read;
}

_Static_assert(sizeof(struct jit_descriptor) == 24 && sizeof(struct jit_code_entry) == 32,
	       "as a 64-bit program has them");

static bool
debuggers_read_head(const struct memory *memory, uint64_t address, struct jit_descriptor *head)
{
	return memory_read(memory, address, head, sizeof(*head));
}

static bool
debuggers_read_node(const struct memory *memory, struct jit_listed *listed, uint64_t next[2])
{
	struct jit_code_entry entry;

	if (!memory_read(memory, listed->entry, &entry, sizeof(entry)))
		return false;
	listed->address = entry.address;
	listed->size = entry.size;
	next[0] = entry.next;
	return true;
}

static const struct {
	bool (*read_head)(const struct memory *memory, uint64_t address,
			  struct jit_descriptor *head);
	bool (*read_node)(const struct memory *memory, struct jit_listed *listed, uint64_t next[2]);
} kinds[] = {
	[JIT_WATCH_DEBUGGERS] = { debuggers_read_head, debuggers_read_node },
	[JIT_WATCH_TREE] = { jit_tree_read_head, jit_tree_read_node },
	[JIT_WATCH_UNWIND] = { jit_unwind_read_head, jit_unwind_read_node },
};

bool
jit_watch_read(const struct jit_watch *watch, const struct memory *memory,
	       struct jit_descriptor *head)
{
	return kinds[watch->kind].read_head(memory, watch->address, head);
}

bool
jit_watch_walk(const struct jit_watch *watch, const struct memory *memory,
	       const struct jit_descriptor *head, size_t most, struct jit_list *list)
{
	struct jit_descriptor after;
	/* Nodes that are still to be read. Reading one removes it and adds at most two. */
	uint64_t *pending = xmalloc((most + 2) * sizeof(*pending));
	size_t pending_count = 1;
	struct table seen; /* nodes of damaged lists may form rings */

	pending[0] = head->first;
	list->count = 0;
	table_init(&seen);
	while (pending_count > 0 && seen.count < most) {
		struct jit_listed listed = { .entry = pending[--pending_count] };
		uint64_t next[2] = { 0, 0 };
		bool added = false;

		if (listed.entry != 0)
			table_insert(&seen, listed.entry, 0, 0, &added);
		if (!added)
			continue;
		if (kinds[watch->kind].read_node(memory, &listed, next)) {
			list->item = xgrow(list->item, &list->capacity, list->count + 1,
					   sizeof(*list->item));
			list->item[list->count++] = listed;
		}
		memcpy(pending + pending_count, next, sizeof(next));
		pending_count += ARRAY_SIZE(next);
	}
	table_release(&seen);
	free(pending);
	return jit_watch_read(watch, memory, &after) && memcmp(&after, head, sizeof(after)) == 0;
}

/* --- finding ------------------------------------------------------------------------------- */

/* Stores the addresses of list heads that the search of a module has found. */
static void
take_found(struct jit_watches *w, const struct image *image)
{
	const struct symbol_search_found *found = symbol_search_first(&w->search, DESCRIPTOR);
	uint64_t *vaddr = w->heads[w->searched];

	if (found != NULL)
		vaddr[JIT_WATCH_DEBUGGERS] = found->vaddr;
	found = symbol_search_first(&w->search, LIST_ADDRESS);
	if (found != NULL)
		vaddr[JIT_WATCH_UNWIND] = jit_unwind_address(image, found->vaddr);
}

/* Continues the search of module number `searched`. Returns true at the end of its search. */
static bool
search_module(struct jit_watches *w, uint64_t *budget)
{
	const struct module *module = modules_at(maps_modules(w->maps), (uint32_t)w->searched);

	w->heads = xgrow(w->heads, &w->capacity, w->searched + 1, sizeof(*w->heads));
	memset(w->heads[w->searched], 0, sizeof(*w->heads));
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
has_new_modules(const struct jit_watches *w)
{
	return w->searched < modules_count(maps_modules(w->maps));
}

/* Continues the search of new modules. Returns true when the head of a list was found. */
static bool
search_modules(struct jit_watches *w)
{
	uint64_t budget = SEARCH_BYTES;
	bool found = false;

	while (has_new_modules(w) && budget > 0 && search_module(w, &budget)) {
		for (size_t kind = 0; kind < JIT_WATCH_KINDS; kind++)
			found |= w->heads[w->searched][kind] != 0;
		w->searched++;
	}
	return found;
}

/* Adds a watch for the list at `address`, with the state that the list's watch has in `old`, if
 * any. */
static void
place_watch(struct jit_watches *w, const struct jit_watches *old, size_t kind, uint64_t address)
{
	const struct jit_watch *known = jit_watches_at(old, address);

	if (w->count == JIT_WATCHES_MAX || jit_watches_at(w, address) != NULL)
		return;
	w->watch[w->count++] = known != NULL && known->kind == kind ?
				       *known :
				       (struct jit_watch){ .address = address, .kind = kind };
}

/* Sets the watches for the lists of all modules that are mapped now. A list that had a watch before
 * keeps its state. */
static void
place_watches(struct jit_watches *w)
{
	const struct jit_watches old = *w;

	w->count = 0;
	if (w->tree.variable != 0)
		place_watch(w, &old, JIT_WATCH_TREE, w->tree.variable);
	for (size_t i = 0; i < maps_count(w->maps); i++) {
		const struct mapping *mapping = maps_at(w->maps, i);
		const bool searched = mapping->image != NULL && mapping->module < w->searched;

		for (size_t kind = 0; searched && kind < JIT_WATCH_KINDS; kind++)
			if (w->heads[mapping->module][kind] != 0)
				place_watch(w, &old, kind,
					    w->heads[mapping->module][kind] + mapping->bias);
	}
}

bool
jit_watches_update(struct jit_watches *w, const struct memory *memory, uint64_t now_ns)
{
	bool found = search_modules(w);

	found |= jit_tree_update(&w->tree, w->maps, memory, now_ns);
	if (!found && w->generation == maps_generation(w->maps))
		return false;
	w->generation = maps_generation(w->maps);
	place_watches(w);
	return true;
}

bool
jit_watches_searching(const struct jit_watches *w)
{
	return has_new_modules(w) || (w->tree.variable == 0 && w->tree.rounds == 0);
}

const struct jit_watch *
jit_watches_at(const struct jit_watches *w, uint64_t address)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->watch[i].address == address)
			return &w->watch[i];
	return NULL;
}
