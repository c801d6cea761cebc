/* SPDX-License-Identifier: MIT */
/* weigh_ended_internal.h - CPU time of threads and processes that are not in the list any more, or
 * never were. */
#ifndef WALLSAMPLE_SAMPLER_WEIGHTS_WEIGH_ENDED_INTERNAL_H
#define WALLSAMPLE_SAMPLER_WEIGHTS_WEIGH_ENDED_INTERNAL_H

#include <stdbool.h>

struct calibration;
struct sampled_process;

/* At the end of a window, plans the CPU time of threads that were never seen; at the end of the run
 * also that of such processes. */
void weigh_ended(struct calibration *calibration, bool last);
/* True if weights are not calibrated in this run. */
bool weights_are_off(const struct calibration *calibration);
/* Adds the CPU time of a process that has exited, and whose threads have left the list of threads,
 * as far as it is not in the profile. */
void weights_end_process(struct calibration *calibration, struct sampled_process *process);

#endif
