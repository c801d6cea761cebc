/* SPDX-License-Identifier: MIT */
/*
 * core_sample.h - takes one sample of every thread of a core file, as the sampler does at one tick
 * of a live process.
 */
#ifndef WALLSAMPLE_CORE_CORE_SAMPLE_H
#define WALLSAMPLE_CORE_CORE_SAMPLE_H

#include "wallsample/core/core.h"
#include "wallsample/profile/profile.h"
#include "wallsample/runtime/runtime.h"
#include "wallsample/runtime/async_tasks.h"
#include "wallsample/profile/run_stats.h"
#include "wallsample/unwind/unwind.h"

/* `unwinder` and `runtimes` are as in struct sampler_config (sampler.h). */
struct core_sample_config {
	enum unwind_choice unwinder;
	uint32_t runtimes;
	struct async_tasks *async; /* gets the coroutines of all threads; NULL: they are not read */
};

/*
 * Unwinds all threads, and adds one tick with a sample of each thread to the profile; each sample
 * has a wall time of 1 ns. A core does not record the states of threads; they are inferred from
 * system calls: a thread that slept in a system call is SLEEPING, a thread that was in no system
 * call is RUNNING (though it may have waited for a CPU or a page), other threads are UNKNOWN. On
 * aarch64 all are UNKNOWN, because the registers do not show the system call. A core has no names
 * of threads: only the first thread of the process gets a name, that of the process; the others get
 * "".
 *
 * `maps` comes from core_maps. Clears *stats and fills in ticks, thread_samples, threads_seen,
 * threads_most, chains, unwind_frames, failed and runtimes.
 */
void core_sample(const struct core *core, struct maps *maps,
		 const struct core_sample_config *config, struct profile *profile,
		 struct run_stats *stats);

#endif
