/* SPDX-License-Identifier: MIT */
/* dwarf_time.c - asks the CPU clock, which is a system call, now and then. */
#include "wallsample/dwarf/dwarf_entries.h"

#include "wallsample/base/base.h"

#define STEPS 256
#define PAUSE_NS (10 * NS_PER_MS)

void
dwarf_time_start(struct dwarf_time *time, uint64_t most_ns)
{
	const uint64_t now = clock_own_cpu_ns();

	*time = (struct dwarf_time){
		.began_ns = now,
		.end_ns = now + most_ns,
		.ask_ns = clock_now_ns() + PAUSE_NS,
		.over = most_ns == 0,
	};
}

bool
dwarf_time_is_over(struct dwarf_time *time)
{
	uint64_t now;

	if (time->over)
		return true;
	now = clock_now_ns();
	if (++time->count < STEPS && now < time->ask_ns)
		return false;
	time->count = 0;
	time->ask_ns = now + PAUSE_NS;
	time->over = clock_own_cpu_ns() >= time->end_ns;
	return time->over;
}

uint64_t
dwarf_time_used_ns(const struct dwarf_time *time)
{
	return clock_own_cpu_ns() - time->began_ns;
}
