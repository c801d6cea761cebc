/* SPDX-License-Identifier: MIT */
/* filter.c - which threads and tasks a filter selects. */
#include "wallsample/analysis/filter.h"

#include <fnmatch.h>

static bool
list_has(const struct id_list *list, uint64_t id)
{
	bool listed = list->id == NULL;

	for (size_t i = 0; !listed && i < list->count; i++)
		listed = list->id[i] == id;
	return listed;
}

bool
filter_thread(const struct filter *filter, pid_t tid, const char *name)
{
	return list_has(&filter->tids, (uint64_t)tid) &&
	       (filter->thread_name == NULL || fnmatch(filter->thread_name, name, 0) == 0);
}

bool
filter_task(const struct filter *filter, uint64_t id)
{
	return filter->tasks.id == NULL || (id != 0 && list_has(&filter->tasks, id));
}

bool
filter_selects_threads(const struct filter *filter)
{
	return filter->tids.id != NULL || filter->thread_name != NULL;
}
