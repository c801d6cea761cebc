/* SPDX-License-Identifier: MIT */
/* work.c - reads the kernel's counters of the processes of a run. */
#include "sampler/sampler_internal.h"

#define WORK_INTERVAL_NS NS_PER_SEC

/* Reads the counters of all processes. Returns false if one of them has exited. */
static bool
read_all(const struct process_list *processes, struct counters *out)
{
	*out = (struct counters){ .reads = 0 };
	for (size_t i = 0; i < processes->count; i++) {
		struct counters one;

		if (!process_read_counters(processes->item[i]->process, &one))
			return false;
		counters_add(out, &one);
	}
	return true;
}

void
work_start(struct work *work, const struct process_list *processes)
{
	work->known = read_all(processes, &work->before);
	work->read_ns = clock_now_ns();
}

void
work_update(struct work *work, struct run *run, uint64_t now_ns)
{
	struct counters now;

	work->read_ns = now_ns;
	if (work->known && read_all(&run->processes, &now))
		run->stats.work = counters_since(&work->before, &now);
}

void
work_tick(struct work *work, struct run *run, uint64_t now_ns)
{
	if (now_ns >= work->read_ns + WORK_INTERVAL_NS)
		work_update(work, run, now_ns);
}
