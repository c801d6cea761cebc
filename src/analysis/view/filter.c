/* SPDX-License-Identifier: MIT */
/* filter.c - decides which processes, threads and green tasks a filter selects. */
#include "wallsample/analysis/filter.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"

/* Most bytes of a name that are compared: as in process_set.h. */
#define NAME_BYTES 255

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

/* True if the pattern matches the first `length` bytes of the text, at most NAME_BYTES. */
static bool
matches_start(const char *pattern, const char *text, size_t length)
{
	char start[NAME_BYTES + 1];

	snprintf(start, sizeof(start), "%.*s", (int)(length < NAME_BYTES ? length : NAME_BYTES),
		 text);
	return fnmatch(pattern, start, 0) == 0;
}

/* True if the item is the id `pid`, or a pattern that matches; `pid` 0: ids match nothing. */
static bool
item_matches(const char *item, pid_t pid, const char *name, const char *title)
{
	uint64_t id;

	if (pid > 0 && parse_whole_u64(item, 1, INT32_MAX, &id))
		return id == (uint64_t)pid;
	return matches_start(item, name, strlen(name)) ||
	       matches_start(item, title, strlen(title)) ||
	       matches_start(item, title, strcspn(title, " "));
}

/* True if an item of the list, whose texts have items separated by commas, matches. */
static bool
list_matches(const struct text_list *list, pid_t pid, const char *name, const char *title)
{
	bool found = false;

	for (size_t i = 0; i < list->count && !found; i++) {
		char *copy = xstrdup(list->text[i]), *rest = copy, *item;

		while (!found && (item = strsep(&rest, ",")) != NULL)
			found = item_matches(item, pid, name, title);
		free(copy);
	}
	return found;
}

bool
filter_excludes_process(const struct filter *filter, const char *name, const char *title)
{
	return list_matches(&filter->exclude_process, 0, name, title);
}

bool
filter_process(const struct filter *filter, pid_t pid, const char *name, const char *title)
{
	return (filter->process.count == 0 || list_matches(&filter->process, pid, name, title)) &&
	       !filter_excludes_process(filter, name, title);
}

bool
filter_selects_processes(const struct filter *filter)
{
	return filter->process.count > 0 || filter->exclude_process.count > 0;
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
