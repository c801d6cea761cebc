/* SPDX-License-Identifier: MIT */
/*
 * inlined_lookup.c - where copies of a function are that were inlined into others.
 */
#include <string.h>

#include "wallsample/dwarf/dwarf_entries.h"
#include "wallsample/elf/symbol_names.h"
#include "wallsample/base/base.h"
#include "wallsample/symbol/symbol_lookup.h"

/* It is a remark for people: programs of hundreds of megabytes are not read to their end. */
#define TIME_NS (3 * NS_PER_SEC)

struct inlined_search {
	const struct image *image;
	const char *name;
	uint64_t *vaddr;
	size_t count, most;
	struct strbuf readable;
};

static bool
inlined_is_wanted(struct inlined_search *search, const Dwarf_Die *die)
{
	const char *raw = dwarf_name_function(die);

	if (raw == NULL)
		return false;
	if (strcmp(raw, search->name) == 0 || !symbol_name_is_mangled(raw))
		return strcmp(raw, search->name) == 0;
	strbuf_clear(&search->readable);
	symbol_name_add_readable(&search->readable, raw, true);
	return search->readable.data != NULL && strcmp(search->readable.data, search->name) == 0;
}

static void
add_address(struct inlined_search *search, Dwarf_Die *die)
{
	size_t at = search->count;
	Dwarf_Addr vaddr, base, end;

	/* One in pieces begins where the first of them does. */
	if (dwarf_entrypc(die, &vaddr) != 0 && dwarf_ranges(die, 0, &base, &vaddr, &end) <= 0)
		return;
	if (!dwarf_each_is_code(search->image, vaddr))
		return;
	while (at > 0 && search->vaddr[at - 1] >= vaddr)
		at--;
	if ((at < search->count && search->vaddr[at] == vaddr) || search->count == search->most)
		return;
	memmove(&search->vaddr[at + 1], &search->vaddr[at],
		(search->count - at) * sizeof(search->vaddr[0]));
	search->vaddr[at] = vaddr;
	search->count++;
}

static size_t
look_at_unit(void *context, Dwarf_Die *top, struct dwarf_time *time)
{
	struct inlined_search *search = context;
	struct dwarf_walk *walk;
	struct dwarf_entry entry;
	Dwarf_Die tree;
	size_t cost;

	if (!dwarf_split_find(top, &tree))
		tree = *top;
	walk = dwarf_walk_create(&tree);
	if (walk == NULL)
		return 0;
	while (!dwarf_time_is_over(time) && dwarf_walk_next(walk, &entry))
		if (entry.inlined && inlined_is_wanted(search, &entry.die))
			add_address(search, &entry.die);
	cost = dwarf_walk_cost(walk);
	dwarf_walk_free(walk);
	return cost;
}

size_t
symbol_lookup_inlined(struct symbols *symbols, const struct module *module, const char *name,
		      uint64_t *vaddr, size_t most)
{
	struct inlined_search search = {
		.image = module->image, .name = name, .vaddr = vaddr, .most = most
	};

	strbuf_init(&search.readable);
	dwarf_each_unit(&symbols_settings(symbols)->files, module, TIME_NS, look_at_unit, &search);
	strbuf_release(&search.readable);
	return search.count;
}
