/* SPDX-License-Identifier: MIT */
/*
 * reader_joint_internal.h - the ticks of the recordings of a group (recording_read.h) together, and
 * the weights that follow from them.
 */
#ifndef WALLSAMPLE_RECORDING_READER_JOINT_INTERNAL_H
#define WALLSAMPLE_RECORDING_READER_JOINT_INTERNAL_H

#include "recording/reader_internal.h"

/*
 * Sums over the ticks before a certain tick. In each array, element 0 is the sum over all of these
 * ticks as the recording has them. Element 1 is the sum over the selected ones; for latency and gap
 * it has the time that is due to the recording among those of its group (recording_read.h).
 */
struct tick_sum {
	double ns[2]; /* sum of the ticks' spans */
	/* sum over ticks with runnable threads: span divided by the number of runnable threads, of
	 * the recording or of the group */
	double latency[2];
	/* sum of the spans of ticks without a runnable thread, in the recording or in the group */
	double gap[2];
};

/*
 * Scales samples and weights of an entry, whose ticks are [first, first + ticks), to the selected
 * ticks, as struct recording_selection says, and its latency to the share that the recording has in
 * its group. Returns false if none of these ticks is selected.
 */
bool reader_share(const struct recording *recording, uint64_t first, uint64_t ticks,
		  struct profile_entry *entry);

/*
 * Finds the groups of the recordings (recording_read.h), and adds their selected ticks to the
 * profile. Sets the results of each load except `cpus` of stats; and `wanted`, `turn`, `sums` and
 * `joint` of each recording.
 */
void reader_join(struct recording *const *recording, struct recording_load *load, size_t count);
/* Frees what reader_join has set. */
void reader_release_joint(struct recording *recording);

#endif
