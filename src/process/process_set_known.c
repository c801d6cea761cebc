/* SPDX-License-Identifier: MIT */
/* process_set_known.c - the processes of which a target set knows something, by id. */
#include "process/process_set_parts_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Fewest entries at which those without meaning are freed. */
#define CROWDED_LEAST 1024
/* Number of processes that are known after they were removed: leaders of sessions and process
 * groups that may have living descendants. */
#define ENDED_MOST 4096

struct known *
known_find(const struct known_list *list, pid_t pid)
{
	uint32_t index;

	if (!table_find(&list->index, (uint64_t)pid, 0, &index) ||
	    list->item[index].kind == KNOWN_DROPPED)
		return NULL;
	return &list->item[index];
}

bool
known_has_descendants(const struct known *known)
{
	return known->kind != KNOWN_STRANGER && known->kind != KNOWN_DROPPED;
}

/* Returns true if the entry of a process is needed no longer. Processes that do not belong are kept
 * while their id is in use, members until the caller removes them. */
static bool
known_is_useless(const struct known_list *list, const struct known *known)
{
	switch (known->kind) {
	case KNOWN_DROPPED:
		return true;
	case KNOWN_REMOVED:
		return list->ended - known->ended > ENDED_MOST;
	case KNOWN_STRANGER:
	case KNOWN_EXCLUDED:
	case KNOWN_OWN:
		return getpgid(known->pid) < 0 && errno == ESRCH;
	default:
		return false;
	}
}

/* Adds an excluded process to the sums before its entry is freed or gets another meaning. */
static void
known_sum_up(struct known_list *list, const struct known *known)
{
	if (known->kind != KNOWN_EXCLUDED)
		return;
	list->excluded++;
	list->excluded_ticks += known->last_ticks - known->first_ticks;
}

/* Frees the entries that are not needed, and numbers the others again. */
static void
known_compact(struct known_list *list)
{
	size_t kept = 0;

	table_clear(&list->index);
	for (size_t i = 0; i < list->count; i++) {
		if (known_is_useless(list, &list->item[i])) {
			known_sum_up(list, &list->item[i]);
			continue;
		}
		list->item[kept] = list->item[i];
		table_insert(&list->index, (uint64_t)list->item[kept].pid, 0, (uint32_t)kept, NULL);
		kept++;
	}
	list->count = kept;
	list->crowded = kept * 2 > CROWDED_LEAST ? kept * 2 : CROWDED_LEAST;
}

struct known *
known_add(struct known_list *list, pid_t pid, uint64_t start_time)
{
	struct known *known;
	uint32_t index;
	bool added;

	if (list->count >= list->crowded)
		known_compact(list);
	index = *table_insert(&list->index, (uint64_t)pid, 0, (uint32_t)list->count, &added);
	if (added) {
		list->item = xgrow(list->item, &list->capacity, list->count + 1,
				   sizeof(*list->item));
		list->count++;
	} else {
		known_set_kind(list, &list->item[index], KNOWN_DROPPED);
	}
	known = &list->item[index];
	*known = (struct known){ .pid = pid, .start_time = start_time, .kind = KNOWN_STRANGER };
	return known;
}

void
known_set_kind(struct known_list *list, struct known *known, enum known_kind kind)
{
	known_sum_up(list, known);
	list->members -= known->kind == KNOWN_MEMBER;
	list->members += kind == KNOWN_MEMBER;
	if (kind == KNOWN_REMOVED)
		known->ended = ++list->ended;
	known->kind = kind;
}

void
known_release(struct known_list *list)
{
	table_release(&list->index);
	free(list->item);
	*list = (struct known_list){ .item = NULL };
}
