/* SPDX-License-Identifier: MIT */
/* profile_recorder.h - receives everything that is added to a profile. */
#ifndef WALLSAMPLE_PROFILE_PROFILE_RECORDER_H
#define WALLSAMPLE_PROFILE_PROFILE_RECORDER_H

#include "wallsample/profile/profile.h"

/*
 * Callbacks for the samples, charges, blame and ticks that are added to a profile, in the order of
 * the additions. Deadlocks and names are not passed on. The first tick has the number 0, the tick
 * in progress the number that profile_tick_count returns. The callbacks must not add to the
 * profile.
 */
struct profile_recorder {
	void (*sample)(void *context, const struct profile_entry *sample);
	/* latency_ns was added to an entry whose samples were added before */
	void (*charge)(void *context, const struct profile_entry *entry, int64_t latency_ns);
	void (*blame)(void *context, const struct profile_blame *blame); /* may be NULL */
	/* as profile_correct; may be NULL: then `sample` is called */
	void (*correct)(void *context, const struct profile_entry *correction, uint64_t first_tick,
			uint64_t ticks);
	void (*tick)(void *context, uint64_t span_ns, uint32_t parallelism, uint32_t runnable,
		     uint32_t ready);
	void *context;
};

/* Sets the recorder, which is borrowed; NULL removes it. */
void profile_set_recorder(struct profile *profile, const struct profile_recorder *recorder);

#endif
