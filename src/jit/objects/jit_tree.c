/* SPDX-License-Identifier: MIT */
/*
 * jit_tree.c - finds and walks a runtime's tree of object files; the memory is not trusted.
 *
 * Julia has one for the names in backtraces, and registers nothing for debuggers. In 1.5 (tested)
 * its listener to LLVM's compiler has a std::map from the start of code to the object file that
 * was loaded (debuginfo.cpp: ObjectInfo). A static variable of libjulia points to the listener. It
 * has no symbol in stripped files and is found by its contents: nothing else points to a tree of
 * ELF files. The structures are those of libstdc++ and LLVM; the files are of the kind that
 * debuggers are given.
 */
#include "jit/objects/jit_watch_internal.h"

#include <elf.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"

#define PAGE UINT64_C(4096)
#define PAGE_WORDS (PAGE / sizeof(uint64_t))
/* Of one call: pages of variables, and words in them that may be what is looked for. */
#define PAGES_MOST 64
#define WORDS_MOST 2048
/* malloc aligns so; and user space on x86-64 and AArch64. */
#define ALIGNED 16
#define ADDRESS_LEAST UINT64_C(0x10000)
#define ADDRESS_MOST (UINT64_C(1) << 48)
/* So long after a round in vain, times the rounds up to this. */
#define ROUND_INTERVAL_NS NS_PER_SEC
#define ROUNDS_MOST 10
/* More objects than that is no tree. */
#define TREE_MOST (UINT64_C(1) << 24)

/* The listener begins with a pointer to its functions; the map with a comparison without data. */
#define MAP_AT 16

/* std::map of libstdc++: the header, of which `parent` is the root, and how many there are. */
struct header {
	uint64_t color, parent, left, right, count;
};

/* A node: where code begins, and its object. */
struct node {
	uint64_t color, parent, left, right, code, object;
};

/* llvm::object::ObjectFile. */
struct object {
	uint64_t functions, type, file, size;
};

void
jit_tree_init(struct jit_tree *tree)
{
	*tree = (struct jit_tree){ .module = 0 };
}

/* --- the tree -------------------------------------------------------------------------------- */

static bool
may_be_address(uint64_t word, uint64_t aligned)
{
	return word % aligned == 0 && word >= ADDRESS_LEAST && word < ADDRESS_MOST;
}

static bool
tree_read_header(struct jit_reader *reader, uint64_t listener, struct header *header)
{
	return may_be_address(listener, ALIGNED) &&
	       jit_read(reader, listener + MAP_AT, header, sizeof(*header)) && header->count > 0 &&
	       header->count <= TREE_MOST && may_be_address(header->parent, ALIGNED) &&
	       may_be_address(header->left, ALIGNED) && may_be_address(header->right, ALIGNED);
}

/* The object file of a node. */
static bool
read_file(struct jit_reader *reader, const struct node *node, struct jit_listed *listed)
{
	struct object object;

	if (!may_be_address(node->object, ALIGNED) ||
	    !jit_read(reader, node->object, &object, sizeof(object)) ||
	    object.size < sizeof(Elf64_Ehdr) || !may_be_address(object.file, 1))
		return false;
	listed->address = object.file;
	listed->size = object.size;
	return true;
}

/* Is it the listener? Then the map's root leads back to its header, and to an ELF file. */
static bool
is_listener(struct jit_reader *reader, uint64_t address)
{
	struct jit_listed listed;
	struct header header;
	struct node root;
	char magic[SELFMAG];

	return tree_read_header(reader, address, &header) &&
	       jit_read(reader, header.parent, &root, sizeof(root)) &&
	       root.parent == address + MAP_AT && read_file(reader, &root, &listed) &&
	       jit_read(reader, listed.address, magic, sizeof(magic)) &&
	       memcmp(magic, ELFMAG, SELFMAG) == 0;
}

bool
jit_tree_read(struct jit_reader *reader, uint64_t variable, struct jit_descriptor *descriptor)
{
	struct header header;
	uint64_t listener;

	*descriptor = (struct jit_descriptor){ .version = 0 };
	if (!jit_read(reader, variable, &listener, sizeof(listener)) ||
	    !tree_read_header(reader, listener, &header))
		return false;
	descriptor->relevant = header.count;
	descriptor->first = header.parent;
	return true;
}

struct pending {
	uint64_t *node;
	size_t count, capacity;
	struct table seen;
};

/* Damaged memory may lead in rings. */
static void
add_pending(struct pending *pending, uint64_t node, size_t most)
{
	bool added;

	if (!may_be_address(node, ALIGNED) || pending->seen.count > most)
		return;
	table_insert(&pending->seen, node, 0, 0, &added);
	if (!added)
		return;
	pending->node = xgrow(pending->node, &pending->capacity, pending->count + 1,
			      sizeof(*pending->node));
	pending->node[pending->count++] = node;
}

enum jit_walk
jit_tree_walk(struct jit_reader *reader, uint64_t variable, const struct jit_descriptor *before,
	      size_t most, struct jit_listed **listed, size_t *capacity, size_t *count)
{
	struct pending pending = { .node = NULL };
	struct jit_descriptor after;
	uint64_t at;

	*count = 0;
	table_init(&pending.seen);
	add_pending(&pending, before->first, most);
	while (pending.count > 0 && *count < most) {
		struct jit_listed one = { .entry = at = pending.node[--pending.count] };
		struct node node;

		if (!jit_read(reader, at, &node, sizeof(node)))
			continue;
		add_pending(&pending, node.left, most);
		add_pending(&pending, node.right, most);
		if (!read_file(reader, &node, &one))
			continue;
		*listed = xgrow(*listed, capacity, *count + 1, sizeof(**listed));
		(*listed)[(*count)++] = one;
	}
	table_release(&pending.seen);
	free(pending.node);
	if (!jit_tree_read(reader, variable, &after) || memcmp(&after, before, sizeof(after)) != 0)
		return JIT_WALK_CHANGED;
	return *count == before->relevant ? JIT_WALK_WHOLE : JIT_WALK_CUT;
}

/* --- the variable ------------------------------------------------------------------------- */

/* The first mapping of the module; NULL: it is unmapped. */
static const struct mapping *
mapping_of(const struct maps *maps, uint32_t module)
{
	for (size_t i = 0; i < maps_count(maps); i++) {
		const struct mapping *mapping = maps_at(maps, i);

		if (mapping->module == module && mapping->image != NULL)
			return mapping;
	}
	return NULL;
}

static bool
keeps_tree(const struct module *module)
{
	return module->kind == MODULE_FILE && module->image != NULL &&
	       strstr(module->name, "libjulia") != NULL;
}

/* The variables of the module, or none. */
static void
begin_module(struct jit_tree *tree, const struct maps *maps)
{
	const struct module *module = modules_at(maps_modules(maps), tree->module);
	const struct mapping *mapping = keeps_tree(module) ? mapping_of(maps, tree->module) : NULL;

	tree->begun = true;
	tree->at = tree->end = 0;
	for (size_t i = 0; mapping != NULL && i < module->image->segment_count; i++) {
		const struct image_segment *segment = &module->image->segment[i];

		if (!segment->writable || segment->mem_size > ADDRESS_MOST)
			continue;
		tree->bias = mapping->bias;
		tree->at = (segment->vaddr + mapping->bias) & ~(PAGE - 1);
		tree->end = segment->vaddr + mapping->bias + segment->mem_size;
	}
}

/* Is one of the page's words the variable? */
static bool
search_page(struct jit_tree *tree, struct jit_reader *reader, size_t *words)
{
	uint64_t word[PAGE_WORDS];

	if (!jit_read(reader, tree->at, word, sizeof(word)))
		return false;
	for (size_t i = 0; i < PAGE_WORDS; i++) {
		if (!may_be_address(word[i], ALIGNED))
			continue;
		++*words;
		if (!is_listener(reader, word[i]))
			continue;
		tree->variable = tree->at + i * sizeof(word[0]);
		return true;
	}
	return false;
}

static bool
tree_search(struct jit_tree *tree, const struct maps *maps, struct jit_reader *reader,
	    uint64_t now_ns)
{
	size_t pages = 0, words = 0;

	while (tree->module < modules_count(maps_modules(maps))) {
		if (!tree->begun)
			begin_module(tree, maps);
		for (; tree->at < tree->end; tree->at += PAGE) {
			if (pages++ == PAGES_MOST || words >= WORDS_MOST)
				return false;
			if (search_page(tree, reader, &words))
				return true;
		}
		tree->begun = false;
		tree->module++;
	}
	tree->module = 0;
	tree->rounds += tree->rounds < ROUNDS_MOST;
	tree->not_before_ns = now_ns + tree->rounds * ROUND_INTERVAL_NS;
	return false;
}

bool
jit_tree_update(struct jit_tree *tree, const struct maps *maps, struct jit_reader *reader,
		uint64_t now_ns)
{
	if (tree->variable != 0) {
		const struct mapping *mapping;

		if (tree->generation == maps_generation(maps))
			return false;
		tree->generation = maps_generation(maps);
		mapping = mapping_of(maps, tree->module);
		if (mapping != NULL && mapping->bias == tree->bias)
			return false;
		jit_tree_init(tree);
		return true;
	}
	if (now_ns < tree->not_before_ns)
		return false;
	tree->generation = maps_generation(maps);
	return tree_search(tree, maps, reader, now_ns);
}

bool
jit_tree_searching(const struct jit_tree *tree)
{
	return tree->variable == 0 && tree->rounds == 0;
}
