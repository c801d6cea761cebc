/* SPDX-License-Identifier: MIT */
/* filter.c - which threads are wanted. */
#include <fnmatch.h>

#include "wallsample/analysis/view.h"

bool
filter_thread(const struct filter *filter, pid_t tid, const char *name)
{
	bool listed = filter->tids == NULL;

	for (size_t i = 0; !listed && i < filter->tid_count; i++)
		listed = filter->tids[i] == tid;
	return listed && (filter->thread_name == NULL ||
			  fnmatch(filter->thread_name, name, 0) == 0);
}
