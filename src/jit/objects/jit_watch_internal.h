/* SPDX-License-Identifier: MIT */
/*
 * jit_watch_internal.h - where the target keeps descriptors of the GDB JIT interface, or structures
 * with the same contents.
 *
 * Each module's symbols are searched once. A descriptor is watched as long as its module is
 * mapped. A runtime's tree (jit_tree_internal.h) and libunwind's list (jit_unwind_internal.h) are
 * watched like one.
 */
#ifndef WALLSAMPLE_JIT_OBJECTS_JIT_WATCH_INTERNAL_H
#define WALLSAMPLE_JIT_OBJECTS_JIT_WATCH_INTERNAL_H

#include "jit/objects/jit_tree_internal.h"
#include "jit/objects/jit_list_internal.h"
#include "jit/objects/jit_unwind_internal.h"
#include "wallsample/process/maps.h"
#include "wallsample/elf/symbol_search.h"

/* A program has one descriptor; one that was linked with two LLVMs has two. */
#define JIT_WATCHES_MAX 16

/* The variable whose address they are. */
extern const struct symbol_wanted jit_watch_wanted;

enum jit_watch_kind { JIT_WATCH_DEBUGGERS, JIT_WATCH_TREE, JIT_WATCH_UNWIND, JIT_WATCH_KINDS };

/* One descriptor in the target; all but the address is for the user of the watches. */
struct jit_watch {
	uint64_t address;
	enum jit_watch_kind kind;
	struct jit_descriptor last; /* as of the last good walk */
	bool walked;
	uint64_t not_before_ns, due_ns; /* of the next walk */
};

struct jit_watches {
	struct jit_watch watch[JIT_WATCHES_MAX];
	size_t count;

	struct jit_tree tree;

	const struct maps *maps;     /* borrowed */
	uint64_t generation;         /* of the maps when the watches were placed */
	/* By module: vaddr, of what has a symbol; 0: none, or not searched. */
	uint64_t (*descriptor)[JIT_WATCH_KINDS];
	size_t searched, capacity;   /* modules below have been searched */
	struct symbol_search search; /* of the module `searched`, if `searching` */
	bool searching;
};

void jit_watches_init(struct jit_watches *watches, const struct maps *maps);
void jit_watches_release(struct jit_watches *watches);

/*
 * Searches modules that are new, at a bounded cost a call, and places the watches where the
 * modules now are. True when watches may have gone or come.
 */
bool jit_watches_update(struct jit_watches *watches, struct jit_reader *reader, uint64_t now_ns);

/* What the descriptor is now; false: it cannot be read. Then its list, as jit_list_walk. */
bool jit_watch_read(const struct jit_watch *watch, struct jit_reader *reader,
		    struct jit_descriptor *descriptor);
enum jit_walk jit_watch_walk(const struct jit_watch *watch, struct jit_reader *reader,
			     const struct jit_descriptor *before, size_t most,
			     struct jit_listed **listed, size_t *capacity, size_t *count);

/* Are there modules that are not searched yet? */
bool jit_watches_searching(const struct jit_watches *watches);

/* The watch of the descriptor at the address, or NULL. */
const struct jit_watch *jit_watches_at(const struct jit_watches *watches, uint64_t address);

#endif
