/* SPDX-License-Identifier: MIT */
/*
 * jit_watch_internal.h - lists of generated code in a running target, and where they are.
 *
 * Three kinds of list are read: that of the GDB JIT interface (GDB manual, "JIT Compilation
 * Interface"), trees of object files, and libunwind's list. The target changes a list while it
 * is read: what was read is valid only when the descriptor is the same before and after.
 */
#ifndef WALLSAMPLE_JIT_OBJECTS_JIT_WATCH_INTERNAL_H
#define WALLSAMPLE_JIT_OBJECTS_JIT_WATCH_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/elf/image.h"
#include "wallsample/elf/symbol_search.h"
#include "wallsample/process/maps.h"
#include "wallsample/process/process.h"

/* --- the list of the GDB JIT interface (jit_list.c) ---------------------------------------- */

struct jit_descriptor { /* as 64-bit programs lay it out, like struct jit_entry */
	uint32_t version, action;
	uint64_t relevant, first;
};

struct jit_entry {
	uint64_t next, prev;
	uint64_t address, size; /* of the file in the target's memory */
};

struct jit_listed {
	uint64_t entry; /* its address */
	uint64_t address, size;
	uint64_t start, end; /* libunwind's list: [start, end) of the code of the tables; else 0 */
};

/* Reads memory of the target; `tid` is that of a living thread. */
struct jit_reader {
	const struct process *process;
	int tid;
};

/* Reads all bytes, or returns false. Also works after the first thread has ended. */
bool jit_read(struct jit_reader *reader, uint64_t address, void *to, size_t size);

bool jit_list_read(struct jit_reader *reader, uint64_t address, struct jit_descriptor *descriptor);

enum jit_walk {
	JIT_WALK_WHOLE,
	JIT_WALK_CUT,     /* longer than `most`, or a ring: the entries are valid */
	JIT_WALK_CHANGED, /* while it was read: the entries are not valid */
};

/*
 * Reads the list of the descriptor at `address`, whose contents were `before`. The entries go
 * to *listed, an array from xgrow with *capacity elements, and their number to *count.
 */
enum jit_walk jit_list_walk(struct jit_reader *reader, uint64_t address,
			    const struct jit_descriptor *before, size_t most,
			    struct jit_listed **listed, size_t *capacity, size_t *count);

/* --- trees of object files (jit_tree.c) -----------------------------------------------------
 *
 * A runtime keeps object files of the code it has generated, which a static variable leads to. The
 * variable has no symbol in stripped files and is found by its contents.
 */

/* The state of the search for the variable. */
struct jit_tree {
	uint64_t generation; /* of the maps when its module was checked */
	uint32_t module;     /* the variable's module, or the one being searched */
	uint64_t variable;   /* its address in the target; 0: not found (yet) */
	uint64_t bias;       /* of the module, then */
	bool begun;          /* `module`, `bias` and the next two are set */
	uint64_t at, end;    /* the rest of the module's variables, [at, end) */
	uint64_t not_before_ns;
	unsigned rounds; /* searches of all files that found nothing */
};

void jit_tree_init(struct jit_tree *tree);

/*
 * Continues the search, at a bounded cost per call. After a round without a result it restarts,
 * at growing intervals: the runtime may not have generated code yet. Returns true when the
 * variable was found, or its module was unmapped.
 */
bool jit_tree_update(struct jit_tree *tree, const struct maps *maps, struct jit_reader *reader,
		     uint64_t now_ns);
/* Whether the first round is not finished. */
bool jit_tree_searching(const struct jit_tree *tree);

/* Reads the number of objects and the root, which tell that the tree has changed. False: there is
 * no tree. */
bool jit_tree_read(struct jit_reader *reader, uint64_t variable, struct jit_descriptor *descriptor);
/* As jit_list_walk. */
enum jit_walk jit_tree_walk(struct jit_reader *reader, uint64_t variable,
			    const struct jit_descriptor *before, size_t most,
			    struct jit_listed **listed, size_t *capacity, size_t *count);

/* --- libunwind's list (jit_unwind.c) ---------------------------------------------------------
 *
 * _U_dyn_info_list is a list of code with, for each piece, a sorted table of the unwind entries
 * of its functions (struct unw_dyn_info of libunwind's <libunwind-dynamic.h>). A JIT compiler
 * registers its code there. The list is a local symbol; an exported function returns its
 * address. The list has no names: it is used for code that no other source describes.
 */

/* Most bytes of the tables of a piece of code, and of the code. */
#define JIT_UNWIND_MOST (UINT64_C(1) << 20)
#define JIT_UNWIND_CODE_MOST (UINT64_C(16) << 20)

/* The address of the list, from the code of _U_dyn_info_list_addr at `vaddr`; 0: not known. */
uint64_t jit_unwind_address(const struct image *image, uint64_t vaddr);

/* As jit_list_read and jit_list_walk; the entries are unwind tables, with [start, end). */
bool jit_unwind_read(struct jit_reader *reader, uint64_t address,
		     struct jit_descriptor *descriptor);
enum jit_walk jit_unwind_walk(struct jit_reader *reader, uint64_t address,
			      const struct jit_descriptor *before, size_t most,
			      struct jit_listed **listed, size_t *capacity, size_t *count);

/* Makes of `tables`, which it takes over, an object file for jit_elf_open. */
uint8_t *jit_unwind_wrap(uint8_t *tables, const struct jit_listed *listed, uint64_t *size);

/* --- descriptors in the modules of a target (jit_watch.c) ----------------------------------- */

/* A program has one descriptor; one that is linked with two copies of LLVM has two. */
#define JIT_WATCHES_MAX 16

/* The symbols of the descriptors. */
extern const struct symbol_wanted jit_watch_wanted;

enum jit_watch_kind { JIT_WATCH_DEBUGGERS, JIT_WATCH_TREE, JIT_WATCH_UNWIND, JIT_WATCH_KINDS };

/* A descriptor in the target; the members behind `kind` belong to the user of the watches. */
struct jit_watch {
	uint64_t address;
	enum jit_watch_kind kind;
	struct jit_descriptor last; /* as of the last valid walk */
	bool walked;
	uint64_t not_before_ns, due_ns; /* of the next walk */
};

struct jit_watches {
	struct jit_watch watch[JIT_WATCHES_MAX];
	size_t count;
	struct jit_tree tree;
	const struct maps *maps; /* borrowed */
	uint64_t generation;     /* of the maps when the watches were placed */
	/* By module: vaddr of each symbol; 0: none, or not searched. */
	uint64_t (*descriptor)[JIT_WATCH_KINDS];
	size_t searched, capacity;   /* modules below `searched` have been searched, once each */
	struct symbol_search search; /* of the module `searched`, if `searching` */
	bool searching;
};

void jit_watches_init(struct jit_watches *watches, const struct maps *maps);
void jit_watches_release(struct jit_watches *watches);

/*
 * Searches new modules, at a bounded cost a call, and places a watch for each descriptor of a
 * mapped module. True when watches may have been added or removed.
 */
bool jit_watches_update(struct jit_watches *watches, struct jit_reader *reader, uint64_t now_ns);

/* Reads the descriptor, or returns false; then its list, as jit_list_walk. */
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
