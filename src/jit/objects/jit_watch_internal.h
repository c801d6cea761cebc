/* SPDX-License-Identifier: MIT */
/*
 * jit_watch_internal.h - finds and reads the lists of generated code in a running target.
 *
 * Three kinds of list are read: that of the GDB JIT interface (GDB manual, "JIT Compilation
 * Interface"), a runtime's tree of object files, and libunwind's list. A list has a head in the
 * target: some numbers, of which at least one changes whenever the list changes. The target may
 * change a list while it is read: the result is valid only when the head is the same before and
 * after.
 *
 * The target's memory may have any contents.
 */
#ifndef WALLSAMPLE_JIT_OBJECTS_JIT_WATCH_INTERNAL_H
#define WALLSAMPLE_JIT_OBJECTS_JIT_WATCH_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/memory.h"
#include "wallsample/elf/image.h"
#include "wallsample/elf/symbol_search.h"
#include "wallsample/process/maps.h"
#include "wallsample/process/process.h"

/* --- contents of a list -------------------------------------------------------------------- */

/* The head of a list. For the GDB JIT interface it has the layout of __jit_debug_descriptor in a
 * 64-bit target. For a tree, `relevant` is the number of objects and `first` the root; for
 * libunwind's list, `version` is its generation and `first` its first node. Other members are 0. */
struct jit_descriptor {
	uint32_t version, action;
	uint64_t relevant;
	uint64_t first; /* address of the first node; 0: the list is empty */
};

/* A node of the list of the GDB JIT interface, as a 64-bit target has it. */
struct jit_code_entry {
	uint64_t next, prev;
	uint64_t address, size; /* address and size of the ELF file in the target's memory */
};

/* An item of a list: the ELF file, or the unwind tables, that describe a piece of code. */
struct jit_listed {
	uint64_t entry; /* address of the list's node */
	/* address and size of the file or the tables in the target's memory */
	uint64_t address, size;
	uint64_t start, end; /* item of unwind tables: code is [start, end); item of a file: 0 */
};

struct jit_list {
	struct jit_listed *item; /* array allocated by xgrow(); the user frees it */
	size_t count, capacity;
};

/* --- a runtime's tree of object files (jit_tree.c) -----------------------------------------
 *
 * A static variable of the runtime leads to the object files of the code that it has generated.
 * The variable has no symbol in stripped files and is found by its contents.
 */

/* The search for the variable that points to a tree (jit_tree.c). All members are 0 at first. */
struct jit_tree {
	/* generation of the maps when the module of the variable was last checked */
	uint64_t generation;
	uint32_t module;   /* the module that has the variable, or that is being searched */
	uint64_t variable; /* address of the variable in the target; 0: not found (yet) */
	uint64_t bias;     /* bias of `module` when its search began */
	bool begun;        /* the search of `module` has begun: `bias`, `at` and `end` are set */
	uint64_t at, end;  /* the data of `module` that is still to be searched: [at, end) */
	uint64_t not_before_ns; /* the next search of all modules begins at this time or later */
	unsigned rounds;        /* searches of all modules that found nothing, counted up to 10 */
};

/*
 * Continues the search for the variable, at a bounded cost per call. After a round (a search of all
 * modules) without a result it begins again, after pauses that grow from 1 s to 10 s, because the
 * runtime may not have generated code yet. Returns true when the variable was found, or when its
 * module was unmapped or moved.
 */
bool jit_tree_update(struct jit_tree *tree, const struct maps *maps, const struct memory *memory,
		     uint64_t now_ns);

/* Reads the head of the tree (see struct jit_descriptor). Returns false when the variable does not
 * point to a tree. */
bool jit_tree_read_head(const struct memory *memory, uint64_t variable,
			struct jit_descriptor *head);

/* Reads the node at listed->entry. Stores the addresses of its children in `next` (0: no child),
 * and the address and size of the node's object file in *listed. Returns false when the node has no
 * file; its children are stored even then, if it is readable. */
bool jit_tree_read_node(const struct memory *memory, struct jit_listed *listed, uint64_t next[2]);

/* --- libunwind's list (jit_unwind.c) ---------------------------------------------------------
 *
 * _U_dyn_info_list is a list of code with, for each piece, a sorted table of the unwind entries
 * of its functions (struct unw_dyn_info of libunwind's <libunwind-dynamic.h>). A JIT compiler
 * registers its code there. The list is a local symbol; an exported function returns its
 * address. The list has no names: it is used for code that no other source describes.
 */

/* Largest sizes in bytes of the unwind tables of one piece of code, and of the code. */
#define JIT_UNWIND_MOST (UINT64_C(1) << 20)
#define JIT_UNWIND_CODE_MOST (UINT64_C(16) << 20)

/* Returns the address of the list in the image, by decoding the code of _U_dyn_info_list_addr at
 * `vaddr`; 0 when the code is not known. */
uint64_t jit_unwind_address(const struct image *image, uint64_t vaddr);

/* Like jit_tree_read_head and jit_tree_read_node, but an item is unwind tables, and a node has one
 * successor, which is stored in next[0]; next[1] stays unchanged. */
bool jit_unwind_read_head(const struct memory *memory, uint64_t address,
			  struct jit_descriptor *head);
bool jit_unwind_read_node(const struct memory *memory, struct jit_listed *listed, uint64_t next[2]);

/* Makes an object file for jit_elf_open() from `tables`, the bytes of the unwind tables that
 * `listed` describes, and frees `tables`. Returns the file, which the caller frees, and stores its
 * size in *size. */
uint8_t *jit_unwind_wrap(uint8_t *tables, const struct jit_listed *listed, uint64_t *size);

/* --- the lists of a target (jit_watch.c) ----------------------------------------------------- */

/* Reads the memory of a process by process_vm_readv, even when the process's first thread has
 * ended. `tid`: the thread whose id is tried first; the user sets it to the process id, and
 * jit_read() to the id of a thread that has not ended. */
struct jit_reader {
	const struct process *process;
	int tid;
};

/* Implements `read` of struct memory; `reader` is a struct jit_reader. */
bool jit_read(void *reader, uint64_t address, void *to, size_t size);

/* Largest number of lists that are read in one target. A program has one list of the GDB JIT
 * interface; a program that is linked with two copies of LLVM has two. */
#define JIT_WATCHES_MAX 16

enum jit_watch_kind { JIT_WATCH_DEBUGGERS, JIT_WATCH_TREE, JIT_WATCH_UNWIND, JIT_WATCH_KINDS };

/* A list in the target that is read again and again. The members after `kind` are for the user of
 * the watches, and are kept while the list exists. */
struct jit_watch {
	/* address of the list's head; for a tree, address of the variable that points to it */
	uint64_t address;
	enum jit_watch_kind kind;
	/* the head when the list was last read and did not change during the read */
	struct jit_descriptor last;
	/* `last` is set: a read was completed during which the list did not change */
	bool walked;
	uint64_t not_before_ns; /* earliest time of the next read of the list */
	uint64_t due_ns;        /* time of the next read even if the head does not change */
};

/* The watches of a target. Before the first jit_watches_update() all members but `maps` are 0. The
 * user frees `heads` at the end. */
struct jit_watches {
	struct jit_watch watch[JIT_WATCHES_MAX];
	size_t count;
	struct jit_tree tree;
	const struct maps *maps;            /* borrowed */
	uint64_t generation;                /* generation of the maps when `watch` was last set */
	uint64_t (*heads)[JIT_WATCH_KINDS]; /* by module: vaddr of each list's head; 0: none */
	size_t searched;                    /* modules with a smaller number have been searched */
	size_t capacity;                    /* elements that `heads` has room for */
	struct symbol_search search;        /* the search of module number `searched` */
	bool searching;                     /* `search` has begun */
};

/*
 * Searches new modules for lists, at a bounded cost per call, and sets a watch for each list of a
 * mapped module. Returns true when watches may have been added or removed.
 */
bool jit_watches_update(struct jit_watches *watches, const struct memory *memory, uint64_t now_ns);

/* Returns true until all modules have been searched for lists, and for the variable of a tree. */
bool jit_watches_searching(const struct jit_watches *watches);

/* Returns the watch of the list at the address, or NULL when the list has no watch. */
const struct jit_watch *jit_watches_at(const struct jit_watches *watches, uint64_t address);

/* Reads the head of the list. Returns false when it cannot be read. */
bool jit_watch_read(const struct jit_watch *watch, const struct memory *memory,
		    struct jit_descriptor *head);

/* Reads the list into *list, whose contents it replaces: at most `most` nodes, without those that
 * cannot be read. `head` is the head as jit_watch_read() has just returned it. Returns false when
 * the list has changed since: then its items are not valid. */
bool jit_watch_walk(const struct jit_watch *watch, const struct memory *memory,
		    const struct jit_descriptor *head, size_t most, struct jit_list *list);

#endif
