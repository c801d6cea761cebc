/* SPDX-License-Identifier: MIT */
/*
 * progress_preload.c - libwallsample-progress.so: counters for programs that were built with coz.h,
 * in one table that wallsample reads from outside.
 *
 * The library runs in the target: it uses no other library, no allocation, no constructor, and no
 * lock that a signal handler or a fork could find held.
 */
#include <stddef.h>

#include "wallsample/causal/progress_coz.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED extern struct progress_coz_table wallsample_progress_points;
EXPORTED void *_coz_get_counter(int type, const char *name);

EXPORTED struct progress_coz_table wallsample_progress_points = {
	.magic = { 'W', 'S', 'p', 'r', 'o', 'g', '\r', '\n' },
	.version = PROGRESS_COZ_VERSION,
	.point_size = sizeof(struct progress_coz_point),
	.most = PROGRESS_COZ_POINTS_MOST,
};

/* Returns the name, or its longest end that fits into a point. A long name is cut at its beginning,
 * because names may be paths, whose ends differ. */
static const char *
end_of_name(const char *name)
{
	size_t length = 0;

	while (name[length] != '\0')
		length++;
	return length < PROGRESS_COZ_NAME_MOST ? name : name + length - PROGRESS_COZ_NAME_MOST + 1;
}

static bool
is_same(const char *a, const char *b)
{
	for (; *a == *b; a++, b++)
		if (*a == '\0')
			return true;
	return false;
}

static struct progress_coz_point *
find_point(uint32_t used, uint32_t type, const char *name)
{
	for (uint32_t i = 0; i < used; i++) {
		struct progress_coz_point *point = &wallsample_progress_points.point[i];

		if (__atomic_load_n(&point->ready, __ATOMIC_ACQUIRE) != 0 && point->type == type &&
		    is_same(point->name, name))
			return point;
	}
	return NULL;
}

/* Copies the name by atomic stores of bytes, which compilers do not turn into a call of memcpy. */
static void
set_name(struct progress_coz_point *point, const char *name)
{
	for (size_t i = 0; name[i] != '\0'; i++)
		__atomic_store_n(&point->name[i], name[i], __ATOMIC_RELAXED);
}

EXPORTED void *
_coz_get_counter(int type, const char *name)
{
	struct progress_coz_table *table = &wallsample_progress_points;
	uint32_t used = __atomic_load_n(&table->used, __ATOMIC_ACQUIRE);
	struct progress_coz_point *point;

	if (name == NULL)
		return NULL;
	name = end_of_name(name);
	/* If two threads make points of one name at the same time, the table has both points:
	 * readers add their counts. */
	do {
		point = find_point(used, (uint32_t)type, name);
		if (point != NULL)
			return point;
		if (used >= PROGRESS_COZ_POINTS_MOST) {
			__atomic_add_fetch(&table->dropped, 1, __ATOMIC_RELAXED);
			return NULL;
		}
	} while (!__atomic_compare_exchange_n(&table->used, &used, used + 1, false,
					      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	point = &table->point[used];
	point->type = (uint32_t)type;
	set_name(point, name);
	__atomic_store_n(&point->ready, 1, __ATOMIC_RELEASE);
	return point;
}
