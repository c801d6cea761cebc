/* SPDX-License-Identifier: MIT */
/* julia_layout.c - offsets in Julia's structures: from a table for known versions, and from debug
 * information for others. */
#include "runtime/julia/julia_internal.h"

#include <string.h>

#include "wallsample/dwarf/dwarf_structures.h"

#define POINTER 8

/* Offsets from the headers of 1.5.3 and the debug information of 1.13.1, for 64 bits. */
/* clang-format off */
static const struct julia_layout known[] = {
	{
		.version = JULIA_VERSION(1, 5, 0), .tried = true, .thread_number = 16,
		.thread_tasks = 304, .thread_current = 6608, .thread_root = 6624,
		.thread_pthread = 6896, .list_capacity = 8, .list_items = 16, .task_queue = 8,
		.task_state = 24, .state_is_symbol = true, .task_context = 88, .task_stack = 288,
		.task_bits = 304, .task_thread = 344, .task_size = 346, .module_names = 16,
	},
	{
		.version = JULIA_VERSION(1, 13, 0), .thread_number = 0, .thread_tasks = 2624,
		.thread_current = 3912, .thread_root = 3936, .thread_pthread = 4056,
		.list_capacity = 8, .list_items = 16, .task_queue = 8, .task_state = 56,
		.task_context = 192, .context_is_pointer = true, .task_stack = 200,
		.task_bits = 216, .task_thread = 144, .task_size = 220,
	},
};
/* clang-format on */

const struct julia_layout *
julia_layout_find(uint32_t version)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].version >> 8 == version >> 8)
			return &known[i];
	return NULL;
}

/* --- debug information ------------------------------------------------------------------- */

enum { THREAD, TASK };

/* Most time that the search for structures in DWARF may take. */
#define TIME_MOST_NS (2 * NS_PER_SEC)

#define TO(name) offsetof(struct julia_layout, name)
#define PATHS_MOST 3

/* Members of struct julia_layout, each with its possible paths in debug information, of which the
 * first that exists is used. Versions differ in the nested structures that contain the heap and the
 * context. */
/* clang-format off */
static const struct {
	size_t to;
	size_t structure;
	const char *path[PATHS_MOST];
} sources[] = {
	{ TO(thread_number), THREAD, { "tid" } },
	{ TO(thread_tasks), THREAD,
	  { "gc_tls_common.heap.live_tasks.len", "gc_tls.heap.live_tasks.len",
	    "heap.live_tasks.len" } },
	{ TO(list_capacity), THREAD,
	  { "gc_tls_common.heap.live_tasks.max", "gc_tls.heap.live_tasks.max",
	    "heap.live_tasks.max" } },
	{ TO(list_items), THREAD,
	  { "gc_tls_common.heap.live_tasks.items", "gc_tls.heap.live_tasks.items",
	    "heap.live_tasks.items" } },
	{ TO(thread_current), THREAD, { "current_task" } },
	{ TO(thread_root), THREAD, { "root_task" } },
	{ TO(thread_pthread), THREAD, { "system_id" } },
	{ TO(task_queue), TASK, { "queue" } },
	{ TO(task_state), TASK, { "_state", "state" } },
	{ TO(task_context), TASK, { "ctx.ctx", "ctx" } },
	{ TO(task_stack), TASK, { "ctx.stkbuf", "stkbuf" } },
	{ TO(task_bits), TASK, { "ctx.copy_stack", "copy_stack" } },
	{ TO(task_thread), TASK, { "tid" } },
};
/* clang-format on */

static bool
julia_read_member(struct dwarf_structures *structures, size_t source, struct julia_layout *layout)
{
	for (size_t i = 0; i < PATHS_MOST && sources[source].path[i] != NULL; i++) {
		uint64_t offset;
		uint32_t value;

		if (!dwarf_structures_member(structures, sources[source].structure,
					     sources[source].path[i], &offset) ||
		    offset > JULIA_OFFSET_MOST)
			continue;
		value = (uint32_t)offset;
		memcpy((char *)layout + sources[source].to, &value, sizeof(value));
		return true;
	}
	return false;
}

/*
 * Completes a layout: makes the offsets of the list's members, which are relative to the thread's
 * structure, relative to the list, and sets the members that follow from others. Returns false when
 * a member is implausible.
 */
static bool
julia_layout_finish(struct julia_layout *layout)
{
	const uint32_t bits_end = layout->task_bits + sizeof(uint32_t);
	const uint32_t thread_end = layout->task_thread + sizeof(int16_t);

	layout->list_capacity -= layout->thread_tasks;
	layout->list_items -= layout->thread_tasks;
	layout->context_is_pointer = layout->task_stack - layout->task_context == POINTER;
	layout->task_size = bits_end > thread_end ? bits_end : thread_end;
	return (layout->list_capacity == 4 || layout->list_capacity == 8) &&
	       layout->list_items == 2 * layout->list_capacity &&
	       layout->task_context < layout->task_stack &&
	       layout->task_bits >= layout->task_stack + 2 * POINTER &&
	       (layout->context_is_pointer ||
		layout->task_stack - layout->task_context >= JULIA_CONTEXT_SIZE) &&
	       layout->task_queue < layout->task_stack && layout->task_state < layout->task_stack &&
	       layout->task_size <= JULIA_TASK_MOST;
}

bool
julia_layout_read(Dwarf *dwarf, uint32_t version, struct julia_layout *layout)
{
	struct dwarf_structures structures = {
		.wanted = { [THREAD] = { "_jl_tls_states_t", NULL },
			    [TASK] = { "_jl_task_t", NULL } },
		.time_ns = TIME_MOST_NS,
	};
	uint64_t unused;

	dwarf_structures_find(&structures, dwarf);
	*layout = (struct julia_layout){ .version = version };
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (!julia_read_member(&structures, i, layout))
			return false;
	layout->state_is_symbol = !dwarf_structures_member(&structures, TASK, "_state", &unused);
	return julia_layout_finish(layout);
}
