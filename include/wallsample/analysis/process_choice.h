/* SPDX-License-Identifier: MIT */
/* process_choice.h - which processes of a profile a filter selects. */
#ifndef WALLSAMPLE_ANALYSIS_PROCESS_CHOICE_H
#define WALLSAMPLE_ANALYSIS_PROCESS_CHOICE_H

#include "wallsample/analysis/view.h"
#include "wallsample/base/error.h"

enum process_choice {
	PROCESS_SELECTED,
	PROCESS_NOT_ASKED, /* filter.process does not select it */
	PROCESS_EXCLUDED,  /* filter.exclude_process excludes it */
};

/* Returns whether the filter selects a process; `id` is below profile_process_count(). */
enum process_choice process_choice_of(const struct profile *profile, uint32_t id,
				      const struct filter *filter);
/* Returns 0 if the filter selects a process, or does not choose processes; else ERROR_NO_MATCH with
 * the text "the processes are A (1), B (2)", which names those of the profile, at most 8. */
int process_choice_check(const struct profile *profile, const struct filter *filter,
			 struct error *err);
/* Returns the number of processes that the filter of a view excludes by their names, and the CPU
 * time of their samples. */
struct run_excluded_processes view_excluded_processes(const struct view *view);

#endif
