/* SPDX-License-Identifier: MIT */
/* tracees.c - an array sorted by thread id: a new thread usually has the highest one. */
#include "tracer/hold/counting_internal.h"

#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"

/* Index of the thread, or where it would be inserted. */
static size_t
tracees_position(const struct tracees *tracees, pid_t tid)
{
	size_t low = 0, high = tracees->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tracees->item[middle].tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct tracee *
tracees_find(const struct tracees *tracees, pid_t tid)
{
	size_t place = tracees_position(tracees, tid);

	if (place == tracees->count || tracees->item[place].tid != tid)
		return NULL;
	return &tracees->item[place];
}

struct tracee *
tracees_add(struct tracees *tracees, pid_t tid)
{
	size_t place = tracees_position(tracees, tid);
	struct tracee *item;

	tracees->item = xgrow(tracees->item, &tracees->capacity, tracees->count + 1,
			      sizeof(*tracees->item));
	item = &tracees->item[place];
	memmove(item + 1, item, (tracees->count++ - place) * sizeof(*item));
	*item = (struct tracee){ .tid = tid };
	return item;
}

void
tracees_remove(struct tracees *tracees, pid_t tid)
{
	struct tracee *item = tracees_find(tracees, tid);

	if (item == NULL)
		return;
	tracees->count--;
	memmove(item, item + 1, (size_t)(tracees->item + tracees->count - item) * sizeof(*item));
}

void
tracees_clear(struct tracees *tracees)
{
	tracees->count = 0;
}

void
tracees_release(struct tracees *tracees)
{
	free(tracees->item);
	*tracees = (struct tracees){ .item = NULL };
}
