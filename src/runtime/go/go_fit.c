/* SPDX-License-Identifier: MIT */
/* go_fit.c - checks whether memory holds structures of Go's runtime. */
#include "runtime/go/go_find_internal.h"
#include "wallsample/runtime/green_task.h"

/* Number of goroutines, from the beginning of the list, that are checked. */
#define FIRST_MOST 8
/*
 * Most plausible bytes of a goroutine's stack: four times the largest stack that Go allows by
 * default (1 GB), and twice the most that a program can set (runtime.maxstackceiling).
 */
#define STACK_MOST (UINT64_C(4) << 30)
/* Largest status of a goroutine (runtime/runtime2.go), and the bit that is set in addition while
 * the garbage collector scans its stack. */
#define STATUS_MOST 11
#define STATUS_SCAN 0x1000
/* Bit set of the statuses of structures without a goroutine: idle (0), two that Go never used (5,
 * 7), dead (6), dead for an extra thread (11). */
#define STATUS_NONE (1U << 0 | 1U << 5 | 1U << 6 | 1U << 7 | 1U << 11)

static bool
is_pointer(uint64_t value)
{
	return value % sizeof(uint64_t) == 0 && value >= MEMORY_PAGE && value < UINT64_C(1) << 56;
}

bool
go_fit_is_slice(const uint64_t word[3])
{
	return word[1] > 0 && word[1] <= word[2] && word[2] <= 2 * GREEN_TASK_SLOTS_MOST &&
	       is_pointer(word[0]);
}

/* Returns true when the g_size bytes are plausible as a runtime.g, with or without a goroutine. */
static bool
go_fit_goroutine(const struct go_layout *layout, const uint8_t *bytes)
{
	const uint32_t status = member_u32(bytes, layout->g_status) & ~(uint32_t)STATUS_SCAN;
	const uint64_t low = member_u64(bytes, layout->g_low);
	const uint64_t high = member_u64(bytes, layout->g_high);
	const uint64_t sp = member_u64(bytes, layout->g_sp), m = member_u64(bytes, layout->g_m);

	if (status > STATUS_MOST)
		return false;
	if ((STATUS_NONE >> status & 1) != 0)
		return low <= high;
	return low != 0 && low < high && high - low <= STACK_MOST && (m == 0 || is_pointer(m)) &&
	       (sp == 0 || m != 0 || (low <= sp && sp <= high)) &&
	       member_u64(bytes, layout->g_id) != 0;
}

enum finder_fit
go_fit_all(const struct runtime_tools *tools, const struct go_layout *layout, uint64_t address,
	   bool first)
{
	uint64_t slice[3], pointer[FIRST_MOST];
	uint8_t bytes[GO_G_MOST];
	size_t count, good = 0;

	if (!memory_read(&tools->memory, address, slice, sizeof(slice)))
		return FINDER_FIT_NOT_YET;
	if (slice[0] == 0 && slice[1] == 0)
		return FINDER_FIT_NOT_YET;
	count = slice[1] < FIRST_MOST ? (size_t)slice[1] : FIRST_MOST;
	if (!go_fit_is_slice(slice) ||
	    !memory_read(&tools->memory, slice[0], pointer, count * sizeof(*pointer)))
		return FINDER_FIT_MISFIT;
	for (size_t i = 0; i < count; i++) {
		if (!is_pointer(pointer[i]) ||
		    !memory_read(&tools->memory, pointer[i], bytes, layout->g_size) ||
		    !go_fit_goroutine(layout, bytes) ||
		    (first && i == 0 && member_u64(bytes, layout->g_id) != 1))
			return FINDER_FIT_MISFIT;
		good += member_u64(bytes, layout->g_id) != 0;
	}
	return good > 0 ? FINDER_FIT_GOOD : FINDER_FIT_NOT_YET;
}

bool
go_fit_thread(const struct runtime_tools *tools, const struct go_layout *layout, uint64_t address,
	      const uint8_t *bytes)
{
	const uint64_t g0 = member_u64(bytes, layout->m_g0), tid = member_u64(bytes, layout->m_tid);
	const uint64_t next = member_u64(bytes, layout->m_next);
	const uint64_t current = member_u64(bytes, layout->m_current);
	uint64_t owner;

	return is_pointer(g0) && tid <= INT32_MAX && (next == 0 || is_pointer(next)) &&
	       (current == 0 || is_pointer(current)) &&
	       memory_read(&tools->memory, g0 + layout->g_m, &owner, sizeof(owner)) &&
	       owner == address;
}
