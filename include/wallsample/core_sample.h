/* SPDX-License-Identifier: MIT */
/*
 * core_sample.h - every thread of a core file as one sample: what the sampler does with a live
 * process at one tick.
 */
#ifndef WALLSAMPLE_CORE_SAMPLE_H
#define WALLSAMPLE_CORE_SAMPLE_H

#include "wallsample/core.h"
#include "wallsample/profile.h"
#include "wallsample/runtime.h"
#include "wallsample/sampler.h"

/*
 * Unwinds all threads and adds a tick with a sample of each to the profile. A core does not say
 * what threads did: one that had to leave a system call before its time is SLEEPING, one that was
 * in none is RUNNING (or waited for a CPU or a page), others are UNKNOWN. Nor does it have names
 * of threads: only the first, whose id is the process's, has that of the process.
 *
 * `maps` as core_maps makes them, `runtimes` as in struct sampler_config. Fills in ticks,
 * thread_samples, threads, chains, failed and runtimes of the statistics.
 */
void core_sample(const struct core *core, struct maps *maps, enum unwind_choice choice,
		 uint32_t runtimes, struct profile *profile, struct sampler_stats *stats);

#endif
