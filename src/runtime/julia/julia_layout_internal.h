/* SPDX-License-Identifier: MIT */
/*
 * julia_layout_internal.h - where Julia keeps its tasks, by its version.
 *
 * Each of its threads has a structure (jl_tls_states_t), found through an array of them. It knows
 * the task that its thread runs, the one that the thread began with, and a list of the
 * others that were started on it and have a stack.
 *
 * The table has what was compared with the headers of that version, or its debug information.
 * For others debug information is asked: the binaries that Julia's makers offer have it.
 */
#ifndef WALLSAMPLE_RUNTIME_JULIA_JULIA_LAYOUT_INTERNAL_H
#define WALLSAMPLE_RUNTIME_JULIA_JULIA_LAYOUT_INTERNAL_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* 1.5.3 is 0x010503. */
#define JULIA_VERSION(major, minor, patch) \
	((uint32_t)(major) << 16 | (uint32_t)(minor) << 8 | (uint32_t)(patch))

/* Of offsets and sizes: more is not believed. */
#define JULIA_OFFSET_MOST 65536
#define JULIA_TASK_MOST 4096

struct julia_layout {
	uint32_t version;
	bool tried; /* with a Julia of that version, else experimental */
	/* In a thread's structure. */
	uint32_t thread_number;  /* int16_t: its place in the array */
	uint32_t thread_tasks;   /* a list: length, capacity, pointer to pointers */
	uint32_t thread_current, thread_root;
	uint32_t thread_pthread;
	/* In that list. */
	uint32_t list_capacity;  /* behind the length: so wide are both */
	uint32_t list_items;
	/* In a task. */
	uint32_t task_queue;
	uint32_t task_state;
	bool state_is_symbol;    /* a pointer, else a byte */
	uint32_t task_context;   /* a jmp_buf, or a pointer to it */
	bool context_is_pointer;
	uint32_t task_stack;     /* its address, then its size */
	uint32_t task_bits;      /* 31: how much of it is elsewhere; the highest: it has begun */
	uint32_t task_thread;    /* int16_t: of its thread */
	uint32_t task_size;      /* so much holds all of the above */
	/* In a module, of its names: how many words, then where. 0: not known. */
	uint32_t module_names;
};

/* Of the version, whatever its patch; NULL: there is none. */
const struct julia_layout *julia_layout_find(uint32_t version);

/* By debug information; false: it does not tell all. */
bool julia_layout_read(Dwarf *dwarf, uint32_t version, struct julia_layout *layout);

#endif
