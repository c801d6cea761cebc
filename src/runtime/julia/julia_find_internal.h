/* SPDX-License-Identifier: MIT */
/*
 * julia_find_internal.h - finds Julia in the modules of a process: the array of its threads, and
 * the layout of its structures, checked against memory.
 *
 * The array's address is the value of jl_all_tls_states, which has a symbol in files that are not
 * stripped. Otherwise it is searched among the variables: the word that points to an array of
 * jl_n_threads pointers to structures of threads with a number, tasks and a pthread_t.
 */
#ifndef WALLSAMPLE_RUNTIME_JULIA_JULIA_FIND_INTERNAL_H
#define WALLSAMPLE_RUNTIME_JULIA_JULIA_FIND_INTERNAL_H

#include <elfutils/libdw.h>

#include "runtime/finder_internal.h"
#include "wallsample/elf/symbol_search.h"
#include "wallsample/process/module.h"

/* --- julia_layout.c: offsets in Julia's structures, by version --------------------------- */

/*
 * Each thread has a structure (jl_tls_states_t), found through an array. It knows the task that the
 * thread runs, its root task, and a list of the other tasks that were started on it and have a
 * stack. The table has versions that were compared with their headers or debug information. For
 * other versions debug information is read: Julia's official binaries have it.
 */

/* 1.5.3 is 0x010503. */
#define JULIA_VERSION(major, minor, patch)                                                         \
	((uint32_t)(major) << 16 | (uint32_t)(minor) << 8 | (uint32_t)(patch))

/* Largest plausible offset, and size of a task. */
#define JULIA_OFFSET_MOST 65536
#define JULIA_TASK_MOST 4096

struct julia_layout {
	uint32_t version;
	bool tried; /* with a Julia of that version; else experimental */
	/* In a thread's structure. */
	uint32_t thread_number; /* int16_t: its place in the array */
	uint32_t thread_tasks;  /* a list: length, capacity, pointer to pointers */
	uint32_t thread_current, thread_root;
	uint32_t thread_pthread;
	/* In that list. */
	uint32_t list_capacity; /* follows the length: also the size of both */
	uint32_t list_items;
	/* In a task. */
	uint32_t task_queue;
	uint32_t task_state;
	bool state_is_symbol;  /* a pointer, else a byte */
	uint32_t task_context; /* a jmp_buf, or a pointer to it */
	bool context_is_pointer;
	uint32_t task_stack;  /* its address, then its size */
	uint32_t task_bits;   /* 31 bits: bytes of it elsewhere; highest: has begun */
	uint32_t task_thread; /* int16_t: of its thread */
	uint32_t task_size;   /* bytes that hold all of the above */
	/* In a module, of its names: number of words, then their address. 0: not known. */
	uint32_t module_names;
};

/* The row of the version, whatever its patch level; NULL: there is none. */
const struct julia_layout *julia_layout_find(uint32_t version);

/* Reads debug information. False: members are missing. */
bool julia_layout_read(Dwarf *dwarf, uint32_t version, struct julia_layout *layout);

/* --- julia_module.c: is this file a part of Julia, and where are its variables? ---------- */

/*
 * Up to 1.5 all is in libjulia; since then libjulia has the variables that programs may use, and
 * libjulia-internal the rest. Files of other names are not searched: no program links Julia
 * statically. Addresses are the image's own; 0: absent.
 */
struct julia_module {
	uint64_t threads; /* jl_all_tls_states: a pointer to the array of threads */
	uint64_t count;   /* jl_n_threads: length of the array, an int */
	uint64_t nothing; /* jl_nothing: a pointer to the object for "none" */
	uint64_t base;    /* jl_base_module: a pointer to the module Base */
	uint32_t version; /* as JULIA_VERSION; 0: this file does not contain it */
};

struct julia_module_search {
	const struct module *module;
	struct symbol_search symbols;
	struct julia_module found;
};

/* May the file be a part of Julia, by its name? */
bool julia_module_is_named(const struct module *module);

/* The module must have an image. It is borrowed. */
void julia_module_search_init(struct julia_module_search *search, const struct module *module);
/* Continues until *budget bytes are read, and subtracts them. True: search->found is final. */
bool julia_module_search_step(struct julia_module_search *search, uint64_t *budget);

/* --- julia_find.c ------------------------------------------------------------------------ */

/* Further threads are ignored. */
#define JULIA_THREADS_MOST 1024

/* The Julia of the process; there is at most one. Addresses are the target's. */
struct julia_place {
	struct julia_layout layout;
	uint64_t threads;  /* of the variable that holds the array's address */
	uint64_t count;    /* of the int with the length of the array */
	uint64_t nothing;  /* the object for "none"; 0: not known */
	uint64_t base;     /* of the variable that holds the module Base; 0: not known */
	uint64_t tag;      /* type tag in front of each task, without its lowest four bits */
	uint64_t runnable; /* the state of a task that has not ended */
};

extern const struct finder_kind julia_finder; /* its place: a struct julia_place */

/* "1.10.4" */
void julia_version_text(uint32_t version, char *text, size_t size);

/* Reads the addresses of up to JULIA_THREADS_MOST threads' structures; returns their count. */
size_t julia_place_threads(const struct julia_place *place, const struct memory *memory,
			   uint64_t *thread);

/* The state of a task, from its bytes. */
uint64_t julia_place_state(const struct julia_place *place, const uint8_t *task);

/* The type tag, from the word in front of an object: the garbage collector uses the lowest bits. */
#define JULIA_TAG(word) ((word) & ~UINT64_C(15))

extern const struct runtime_kind runtime_julia;

#endif
