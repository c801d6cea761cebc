/* SPDX-License-Identifier: MIT */
/*
 * jit_tree.c - finds and reads a runtime's tree of object files.
 *
 * Julia keeps such a tree for the names in backtraces, and registers nothing for debuggers. In
 * Julia 1.5, with which this was tested, the object that LLVM notifies of new code (the listener)
 * has a std::map from the start of code to the object file that was loaded (debuginfo.cpp:
 * ObjectInfo). A static variable of libjulia points to the listener. The variable is found by its
 * contents: nothing else in libjulia points to a tree of ELF files. The structures are those of
 * libstdc++ and LLVM; the object files are like those that other runtimes register for debuggers.
 */
#include "jit/objects/jit_watch_internal.h"

#include <elf.h>
#include <string.h>

#include "wallsample/base/base.h"

#define PAGE UINT64_C(4096)
#define PAGE_WORDS (PAGE / sizeof(uint64_t))
/* Limits of one call of jit_tree_update(): pages of data that are read, and words in these pages
 * that may be addresses. */
#define PAGES_MOST 64
#define WORDS_MOST 2048
/* malloc returns addresses that are multiples of this number. */
#define ALIGNED 16
/* User addresses on x86-64 and AArch64 are in [ADDRESS_LEAST, ADDRESS_MOST). */
#define ADDRESS_LEAST UINT64_C(0x10000)
#define ADDRESS_MOST (UINT64_C(1) << 48)
/* The pause after round n of the search (a round is a search of all modules) is n times
 * ROUND_INTERVAL_NS, for n up to ROUNDS_MOST, and does not grow after that. */
#define ROUND_INTERVAL_NS NS_PER_SEC
#define ROUNDS_MOST 10
/* Largest plausible number of objects in a tree. */
#define TREE_MOST (UINT64_C(1) << 24)

/* Offset of the map in the listener, after the address of the table of virtual functions and a
 * comparison object without data. */
#define MAP_AT 16

/* A std::map of libstdc++: `parent` is the root, `count` the number of nodes. */
struct header {
	uint64_t color, parent, left, right, count;
};

/* A node of the map: the start of the code, and the address of a struct object. */
struct node {
	uint64_t color, parent, left, right, code, object;
};

/* llvm::object::ObjectFile: `functions` is its table of virtual functions. */
struct object {
	uint64_t functions, type, file, size;
};

/* --- the tree -------------------------------------------------------------------------------- */

static bool
may_be_address(uint64_t word, uint64_t aligned)
{
	return word % aligned == 0 && word >= ADDRESS_LEAST && word < ADDRESS_MOST;
}

static bool
tree_read_header(const struct memory *memory, uint64_t listener, struct header *header)
{
	return may_be_address(listener, ALIGNED) &&
	       memory_read(memory, listener + MAP_AT, header, sizeof(*header)) &&
	       header->count > 0 && header->count <= TREE_MOST &&
	       may_be_address(header->parent, ALIGNED) && may_be_address(header->left, ALIGNED) &&
	       may_be_address(header->right, ALIGNED);
}

/* Stores the address and size of the node's object file. Returns false when the node has none. */
static bool
read_file(const struct memory *memory, const struct node *node, struct jit_listed *listed)
{
	struct object object;

	if (!may_be_address(node->object, ALIGNED) ||
	    !memory_read(memory, node->object, &object, sizeof(object)) ||
	    object.size < sizeof(Elf64_Ehdr) || !may_be_address(object.file, 1))
		return false;
	listed->address = object.file;
	listed->size = object.size;
	return true;
}

/* Returns true when the listener is at the address: the root of its map refers back to the header
 * of the map, and the root's object to an ELF file. */
static bool
is_listener(const struct memory *memory, uint64_t address)
{
	struct jit_listed listed;
	struct header header;
	struct node root;
	char magic[SELFMAG];

	return tree_read_header(memory, address, &header) &&
	       memory_read(memory, header.parent, &root, sizeof(root)) &&
	       root.parent == address + MAP_AT && read_file(memory, &root, &listed) &&
	       memory_read(memory, listed.address, magic, sizeof(magic)) &&
	       memcmp(magic, ELFMAG, SELFMAG) == 0;
}

bool
jit_tree_read_head(const struct memory *memory, uint64_t variable, struct jit_descriptor *head)
{
	struct header header;
	uint64_t listener;

	if (!memory_read(memory, variable, &listener, sizeof(listener)) ||
	    !tree_read_header(memory, listener, &header))
		return false;
	*head = (struct jit_descriptor){ .relevant = header.count, .first = header.parent };
	return true;
}

bool
jit_tree_read_node(const struct memory *memory, struct jit_listed *listed, uint64_t next[2])
{
	struct node node;

	if (!memory_read(memory, listed->entry, &node, sizeof(node)))
		return false;
	next[0] = may_be_address(node.left, ALIGNED) ? node.left : 0;
	next[1] = may_be_address(node.right, ALIGNED) ? node.right : 0;
	return read_file(memory, &node, listed);
}

/* --- the variable ------------------------------------------------------------------------- */

/* Returns the first mapping of the module, or NULL when the module is not mapped. */
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
may_have_tree(const struct module *module)
{
	return module->kind == MODULE_FILE && module->image != NULL &&
	       strstr(module->name, "libjulia") != NULL;
}

/* Begins the search of a module: sets [at, end) to the range of its writable segments if the module
 * may have a tree, else to an empty range. */
static void
begin_module(struct jit_tree *tree, const struct maps *maps)
{
	const struct module *module = modules_at(maps_modules(maps), tree->module);
	const struct mapping *mapping = may_have_tree(module) ? mapping_of(maps, tree->module) :
								NULL;

	tree->begun = true;
	tree->at = tree->end = 0;
	for (size_t i = 0; mapping != NULL && i < module->image->segment_count; i++) {
		const struct image_segment *segment = &module->image->segment[i];

		if (!segment->writable || segment->mem_size > ADDRESS_MOST)
			continue;
		tree->bias = mapping->bias;
		if (tree->end == 0)
			tree->at = (segment->vaddr + mapping->bias) & ~(PAGE - 1);
		tree->end = segment->vaddr + mapping->bias + segment->mem_size;
	}
}

/* Searches the page at tree->at for the variable. Adds to *words the number of words that may be
 * addresses. Returns true when the variable was found. */
static bool
search_page(struct jit_tree *tree, const struct memory *memory, size_t *words)
{
	uint64_t word[PAGE_WORDS];

	if (!memory_read(memory, tree->at, word, sizeof(word)))
		return false;
	for (size_t i = 0; i < PAGE_WORDS; i++) {
		if (!may_be_address(word[i], ALIGNED))
			continue;
		++*words;
		if (!is_listener(memory, word[i]))
			continue;
		tree->variable = tree->at + i * sizeof(word[0]);
		return true;
	}
	return false;
}

/* Continues the search where the last call ended. Returns true when the variable was found. */
static bool
tree_search(struct jit_tree *tree, const struct maps *maps, const struct memory *memory,
	    uint64_t now_ns)
{
	size_t pages = 0, words = 0;

	while (tree->module < modules_count(maps_modules(maps))) {
		if (!tree->begun)
			begin_module(tree, maps);
		for (; tree->at < tree->end; tree->at += PAGE) {
			if (pages++ == PAGES_MOST || words >= WORDS_MOST)
				return false;
			if (search_page(tree, memory, &words))
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
jit_tree_update(struct jit_tree *tree, const struct maps *maps, const struct memory *memory,
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
		memset(tree, 0, sizeof(*tree));
		return true;
	}
	if (now_ns < tree->not_before_ns)
		return false;
	tree->generation = maps_generation(maps);
	return tree_search(tree, maps, memory, now_ns);
}
