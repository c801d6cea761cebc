/* SPDX-License-Identifier: MIT */
/* sleep_clock.h - for how long a thread has been asleep. */
#ifndef WALLSAMPLE_THREAD_SLEEP_CLOCK_H
#define WALLSAMPLE_THREAD_SLEEP_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "wallsample/thread/state.h"

/*
 * The clocks of the CPUs' run queues, on which watch_read_switch() gives the moment at which a
 * thread left its CPU. They differ by the time that interrupts and hypervisors have taken from each
 * CPU. So the moment at which a thread left a CPU can be compared only with the clock of that CPU.
 */
struct sleep_clock {
	/* By CPU: CLOCK_MONOTONIC less the clock of the CPU's run queue, in ns. INT64_MIN: that
	 * clock has not been read; INT64_MAX: it cannot be read. */
	int64_t *behind_ns;
	size_t count, capacity;
};

/* Initialises `clock`, with no CPU's clock read. sleep_clock_release() releases it. */
void sleep_clock_init(struct sleep_clock *clock);
void sleep_clock_release(struct sleep_clock *clock);

/*
 * Returns the time in ns since the thread left its CPU; 0: not known. The value is too small by the
 * time that interrupts and a hypervisor took from that CPU meanwhile. The thread must be asleep:
 * for a runnable thread, the value is the time since its last switch. To read the clock of a CPU,
 * the calling thread moves to that CPU for a moment, so no thread may be stopped.
 */
uint64_t sleep_clock_read(struct sleep_clock *clock, const struct process *process,
			  struct watch *watch);

#endif
