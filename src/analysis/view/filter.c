/* SPDX-License-Identifier: MIT */
/* filter.c - decides which threads and green tasks a filter selects. */
#include "wallsample/analysis/filter.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"

static bool
list_has(const struct id_list *list, uint64_t id)
{
	bool listed = list->id == NULL;

	for (size_t i = 0; !listed && i < list->count; i++)
		listed = list->id[i] == id;
	return listed;
}

/* True if the name matches one of the patterns, which are separated by commas. */
static bool
matches_any(const char *patterns, const char *name)
{
	char *copy = xstrdup(patterns), *rest = copy, *pattern;
	bool found = false;

	while (!found && (pattern = strsep(&rest, ",")) != NULL)
		found = fnmatch(pattern, name, 0) == 0;
	free(copy);
	return found;
}

bool
filter_excludes_thread(const struct filter *filter, const char *name)
{
	for (size_t i = 0; i < filter->exclude_thread.count; i++)
		if (matches_any(filter->exclude_thread.text[i], name))
			return true;
	return false;
}

bool
filter_thread(const struct filter *filter, pid_t tid, const char *name)
{
	return list_has(&filter->tids, (uint64_t)tid) &&
	       (filter->thread_name == NULL || fnmatch(filter->thread_name, name, 0) == 0) &&
	       !filter_excludes_thread(filter, name);
}

bool
filter_green(const struct filter *filter, uint64_t id)
{
	return filter->green.id == NULL || (id != 0 && list_has(&filter->green, id));
}

bool
filter_selects_threads(const struct filter *filter)
{
	return filter->tids.id != NULL || filter->thread_name != NULL;
}
