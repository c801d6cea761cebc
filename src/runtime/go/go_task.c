/* SPDX-License-Identifier: MIT */
/* go_task.c - reads all goroutines of a program from its runtime's list, without a stop. */
#include <stdlib.h>
#include <string.h>

#include "runtime/go/go_internal.h"

/* Bit of a goroutine's status that is set while the garbage collector scans its stack
 * (runtime/runtime2.go). */
#define STATUS_SCAN UINT32_C(0x1000)

/* The state for each status of a goroutine, without STATUS_SCAN (runtime/runtime2.go). */
/* clang-format off */
static const enum green_task_state states[] = {
	GREEN_TASK_NONE,    /* idle: just allocated */
	GREEN_TASK_READY,   /* runnable */
	GREEN_TASK_RUNNING,
	GREEN_TASK_CALLING, /* syscall: in a system call or C code */
	GREEN_TASK_WAITING,
	GREEN_TASK_NONE,    /* never used */
	GREEN_TASK_NONE,    /* dead */
	GREEN_TASK_NONE,    /* never used */
	GREEN_TASK_MOVING,  /* copystack: its stack is being moved */
	/* preempted: stopped for the garbage collector, which resumes the goroutine */
	GREEN_TASK_READY,
	GREEN_TASK_WAITING, /* leaked: it waits for an unreachable object */
	GREEN_TASK_NONE,    /* dead, and kept for a thread of C code */
};
/* clang-format on */

/* Most bytes that are read at a time of the array with the addresses of all goroutines. */
#define ARRAY_PIECE ((size_t)64 << 10)

/* --- the array --------------------------------------------------------------------------- */

/*
 * Reads elements of the array, which are addresses of goroutines, into go->slot[]. `array` and
 * `count`: the address and the length of the array, as they were just read from Go's slice. Because
 * the slice may change while it is read, an element is only kept for good (settled_count) once two
 * readings of the slice agree. Goroutines' structures are never freed, and the array only grows.
 */
static void
read_more_slots(struct go_runtime *go, uint64_t array, size_t count)
{
	struct memory_piece piece;
	bool got = true;

	if (array == go->array && count == go->slot_count) {
		go->settled_count = count;
		return;
	}
	go->array = array;
	go->slot_count = go->settled_count < count ? go->settled_count : 0;
	while (got && go->slot_count < count) {
		const size_t rest = (count - go->slot_count) * sizeof(*go->slot);

		piece.address = array + go->slot_count * sizeof(*go->slot);
		piece.size = rest < ARRAY_PIECE ? rest : ARRAY_PIECE;
		go->slot = xgrow(go->slot, &go->slot_capacity,
				 go->slot_count + piece.size / sizeof(*go->slot),
				 sizeof(*go->slot));
		runtime_read_pieces(go->base.tools, &piece, 1, (uint8_t *)&go->slot[go->slot_count],
				    &got);
		if (got)
			go->slot_count += piece.size / sizeof(*go->slot);
	}
}

void
go_tasks_forget(struct go_runtime *go)
{
	go->array = 0;
	go->slot_count = go->settled_count = 0;
}

size_t
go_tasks_slots(struct go_runtime *go)
{
	uint64_t slice[3];
	const struct memory_piece piece = { .address = go->home.all, .size = sizeof(slice) };
	bool got;

	runtime_read_pieces(go->base.tools, &piece, 1, (uint8_t *)slice, &got);
	if (!got || !go_fit_is_slice(slice))
		return 0;
	read_more_slots(go, slice[0],
			slice[1] < GREEN_TASK_SLOTS_MOST ? (size_t)slice[1] :
							   GREEN_TASK_SLOTS_MOST);
	return go->slot_count;
}

/* --- goroutines -------------------------------------------------------------------------- */

/*
 * Sets the registers with which the goroutine continues, and its number of runs. Sets nothing if
 * g_sp is outside of the goroutine's stack: then the bytes were read while they changed.
 */
static void
set_continuation(const struct go_layout *layout, const uint8_t *bytes, struct green_task *task)
{
	const uint64_t sp = member_u64(bytes, layout->g_sp);

	if (sp < task->stack_low || sp >= task->stack_high)
		return;
	task->sp = sp;
	task->pc = member_u64(bytes, layout->g_pc);
	task->fp = member_u64(bytes, layout->g_fp);
	task->counts_runs = layout->g_runs != MEMBER_ABSENT;
	if (task->counts_runs)
		task->runs = bytes[layout->g_runs];
}

static uint64_t
waiting_time(const struct go_layout *layout, const uint8_t *bytes, uint64_t now_ns)
{
	const uint64_t since = member_u64(bytes, layout->g_since);

	return since != 0 && since < now_ns ? now_ns - since : 0;
}

bool
go_task_fill(struct go_runtime *go, const uint8_t *bytes, uint64_t address, uint64_t now_ns,
	     struct green_task *task, uint64_t *m)
{
	const struct go_layout *layout = &go->home.layout;
	const uint32_t status = member_u32(bytes, layout->g_status) & ~STATUS_SCAN;

	memset(task, 0, sizeof(*task));
	*m = 0;
	if (status >= ARRAY_SIZE(states) || states[status] == GREEN_TASK_NONE)
		return false;
	task->id = member_u64(bytes, layout->g_id);
	task->address = address;
	task->state = states[status];
	task->stack_low = member_u64(bytes, layout->g_low);
	task->stack_high = member_u64(bytes, layout->g_high);
	task->entry = member_u64(bytes, layout->g_entry);
	task->created_at = member_u64(bytes, layout->g_created);
	task->creator = member_u64(bytes, layout->g_creator);
	if (task->state == GREEN_TASK_RUNNING || task->state == GREEN_TASK_CALLING ||
	    task->state == GREEN_TASK_WAITING)
		*m = member_u64(bytes, layout->g_m);
	if (task->state == GREEN_TASK_WAITING && *m != 0)
		task->state = GREEN_TASK_RUNNING;
	if (task->state == GREEN_TASK_READY || task->state == GREEN_TASK_WAITING)
		set_continuation(layout, bytes, task);
	if (task->state == GREEN_TASK_WAITING || task->state == GREEN_TASK_CALLING)
		task->waiting_ns = waiting_time(layout, bytes, now_ns);
	if (task->state == GREEN_TASK_WAITING)
		task->reason = bytes[layout->g_reason];
	return true;
}

static void
go_tasks_read_batch(struct go_runtime *go, const uint32_t *slot, size_t count,
		    struct green_task *out)
{
	const uint32_t size = go->home.layout.g_size;
	const uint64_t now_ns = clock_now_ns();
	struct memory_piece piece[MEMORY_PIECES_MOST];
	bool got[MEMORY_PIECES_MOST];

	for (size_t i = 0; i < count; i++)
		piece[i] = (struct memory_piece){
			.address = slot[i] < go->slot_count ? go->slot[slot[i]] : 0,
			.size = size,
		};
	runtime_read_pieces(go->base.tools, piece, count, go->bytes, got);
	for (size_t i = 0; i < count; i++) {
		uint64_t m = 0;

		if (!got[i] || !go_task_fill(go, go->bytes + i * size, piece[i].address, now_ns,
					     &out[i], &m)) {
			memset(&out[i], 0, sizeof(out[i]));
			continue;
		}
		out[i].system = go_words_is_own(go, out[i].entry);
		if (m != 0)
			out[i].tid = go_threads_tid(go, m);
	}
}

void
go_tasks_look(struct go_runtime *go, const uint32_t *slot, size_t count, struct green_task *out)
{
	if (go->bytes == NULL)
		go->bytes = xmalloc(MEMORY_PIECES_MOST * GO_G_MOST);
	go_words_read_reasons(go);
	for (size_t at = 0; at < count; at += MEMORY_PIECES_MOST) {
		const size_t left = count - at;

		go_tasks_read_batch(go, slot + at,
				    left < MEMORY_PIECES_MOST ? left : MEMORY_PIECES_MOST,
				    out + at);
	}
}
