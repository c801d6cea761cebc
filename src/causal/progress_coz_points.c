/* SPDX-License-Identifier: MIT */
/*
 * progress_coz_points.c - reads the table of points of coz.h. The target may have written any bytes
 * into it.
 */
#include "causal/progress_internal.h"

#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/tracer/process_memory.h"
#include "wallsample/symbol/symbol_lookup.h"

void
progress_coz_init(struct progress_coz *coz, const struct progress_images *images,
		  struct symbols *symbols)
{
	*coz = (struct progress_coz){ .table = 0 };
	for (size_t i = 0; i < images->count && coz->table == 0; i++) {
		const struct progress_image *image = &images->image[i];
		struct symbol_named named;

		if (strcmp(image->module->name, PROGRESS_COZ_LIBRARY) == 0 &&
		    symbol_lookup(symbols, image->module, PROGRESS_COZ_TABLE, NULL, &named, 1) &&
		    named.kind == SYMBOL_NAMED_DATA)
			coz->table = named.vaddr + image->bias;
	}
}

void
progress_coz_release(struct progress_coz *coz)
{
	free(coz->seen);
	*coz = (struct progress_coz){ .table = 0 };
}

static bool
is_sound(const struct progress_coz_table *table)
{
	return memcmp(table->magic, PROGRESS_COZ_MAGIC, sizeof(table->magic)) == 0 &&
	       table->version == PROGRESS_COZ_VERSION &&
	       table->point_size == sizeof(struct progress_coz_point) &&
	       table->most == PROGRESS_COZ_POINTS_MOST && table->used <= PROGRESS_COZ_POINTS_MOST;
}

static bool
is_point(const struct progress_coz_point *point)
{
	return point->ready == 1 && point->type >= PROGRESS_COZ_THROUGHPUT &&
	       point->type <= PROGRESS_COZ_END && point->name[0] != '\0' &&
	       memchr(point->name, '\0', sizeof(point->name)) != NULL;
}

bool
progress_coz_parse(struct progress_coz *coz, const struct progress_coz_table *table)
{
	if (!is_sound(table))
		return false;
	if (coz->seen == NULL)
		coz->seen = xcalloc(PROGRESS_COZ_POINTS_MOST, sizeof(*coz->seen));
	coz->count = 0;
	coz->used = table->used;
	coz->waiting = false;
	for (size_t i = 0; i < table->used; i++) {
		const struct progress_coz_point *point = &table->point[i];
		struct progress_coz_seen *seen = &coz->seen[coz->count];

		coz->waiting |= point->ready == 0;
		if (!is_point(point))
			continue;
		memcpy(seen->name, point->name, sizeof(seen->name));
		seen->type = (enum progress_coz_type)point->type;
		seen->address = coz->table + offsetof(struct progress_coz_table, point) +
				i * sizeof(*point) + offsetof(struct progress_coz_point, count);
		coz->count++;
	}
	return true;
}

bool
progress_coz_load(struct progress_coz *coz, pid_t reader)
{
	struct progress_coz_table *table = xmalloc(sizeof(*table));
	bool done = coz->table != 0 &&
		    memory_read_process(reader, coz->table, table, sizeof(*table)) ==
			    sizeof(*table) &&
		    progress_coz_parse(coz, table);

	free(table);
	return done;
}

bool
progress_coz_find(const struct progress_coz *coz, const char *name, enum progress_coz_type type,
		  struct progress_coz_places *out)
{
	out->count = 0;
	for (size_t i = 0; i < coz->count && out->count < PROGRESS_COZ_PLACES_MOST; i++)
		if (coz->seen[i].type == type && strcmp(coz->seen[i].name, name) == 0)
			out->address[out->count++] = coz->seen[i].address;
	return out->count > 0;
}
