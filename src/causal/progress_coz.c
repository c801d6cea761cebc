/* SPDX-License-Identifier: MIT */
/*
 * progress_coz.c - reads the table of points of coz.h, into which the target may have written any
 * bytes, and opens one point by name, or all points, as progress points.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "causal/progress_internal.h"
#include "wallsample/symbol/symbol_lookup.h"

/* --- the table ---------------------------------------------------------------------------- */

/* Stores the address of the table in the target; 0 when no image has the table. */
static void
find_table(struct progress_coz *coz, const struct progress_images *images)
{
	for (size_t i = 0; i < images->count && coz->table == 0; i++) {
		const struct progress_image *image = &images->image[i];
		struct symbol_named named;

		if (strcmp(image->module->name, PROGRESS_COZ_LIBRARY) == 0 &&
		    symbol_lookup(images->symbols, image->module, PROGRESS_COZ_TABLE, NULL, &named,
				  1) &&
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
progress_coz_find(const struct progress_coz *coz, const char *name, enum progress_coz_type type,
		  struct progress_coz_places *out)
{
	out->count = 0;
	for (size_t i = 0; i < coz->count && out->count < PROGRESS_COZ_PLACES_MOST; i++)
		if (coz->seen[i].type == type && strcmp(coz->seen[i].name, name) == 0)
			out->address[out->count++] = coz->seen[i].address;
	return out->count > 0;
}

static bool
is_coz(const struct progress_counter *counter)
{
	return counter->source != NULL && counter->source->kind == PROGRESS_COZ;
}

/* --- the kind of a name --------------------------------------------------------------- */

/* Stores in counter->coz the addresses of the counters with the name of counter->source: those of
 * this type (COZ_BEGIN or COZ_END) or, if there is none, those of type COZ_PROGRESS. */
static void
place_counter(const struct progress *progress, struct progress_counter *counter,
	      enum progress_coz_type type)
{
	const char *name = counter->source->name;

	if (!progress_coz_find(&progress->coz, name, type, &counter->coz))
		progress_coz_find(&progress->coz, name, PROGRESS_COZ_THROUGHPUT, &counter->coz);
}

/* Turns the entry of coz:NAME into a LATENCY point, for a program that has both a COZ_BEGIN and a
 * COZ_END with this name, and no COZ_PROGRESS_NAMED. */
static void
make_latency(struct progress_entry *entry)
{
	struct progress_source *source = entry->words.source;

	source[1] = (struct progress_source){ .kind = PROGRESS_COZ,
					      .text = xstrdup(source[0].text),
					      .name = xstrdup(source[0].name) };
	entry->words.source_count = 2;
	entry->words.kind = CAUSAL_LATENCY;
	entry->counter[1] = (struct progress_counter){ .source = &source[1],
						       .size = entry->counter[0].size,
						       .known = entry->counter[0].known };
	entry->exact = true;
}

static void
update_entry(const struct progress *progress, struct progress_entry *entry)
{
	const struct progress_coz *coz = &progress->coz;
	struct progress_counter *counter = entry->counter;
	struct progress_coz_places begin, end;

	if (entry->words.source_count == 1 && is_coz(&counter[0])) {
		const char *name = counter[0].source->name;

		if (progress_coz_find(coz, name, PROGRESS_COZ_THROUGHPUT, &counter[0].coz) ||
		    !progress_coz_find(coz, name, PROGRESS_COZ_BEGIN, &begin) ||
		    !progress_coz_find(coz, name, PROGRESS_COZ_END, &end))
			return;
		make_latency(entry);
	}
	if (entry->words.source_count == 2 && is_coz(&counter[0]))
		place_counter(progress, &counter[0], PROGRESS_COZ_BEGIN);
	if (entry->words.source_count == 2 && is_coz(&counter[1]))
		place_counter(progress, &counter[1], PROGRESS_COZ_END);
}

static void
update_entries(struct progress *progress)
{
	for (size_t i = 0; i < progress->count; i++)
		update_entry(progress, &progress->entry[i]);
}

bool
progress_coz_update(struct progress *progress)
{
	struct progress_coz *coz = &progress->coz;
	struct progress_coz_table *table = xmalloc(sizeof(*table));
	const bool done = coz->table != 0 &&
			  memory_read_process(progress->reader, coz->table, table,
					      sizeof(*table)) == sizeof(*table) &&
			  progress_coz_parse(coz, table);

	free(table);
	if (done)
		update_entries(progress);
	return done;
}

/* --- opening ---------------------------------------------------------------------------- */

static int
coz_refuse_missing(const struct progress *progress, const char *what, struct error *err)
{
	const int fd = process_open_file(progress->process, "exe",
					 O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const bool has_points = progress_coz_is_in_file(fd);
	char *path = progress_preload_path();
	int status;

	if (fd >= 0)
		close(fd);
	if (has_points)
		status = error_set(err, ERROR_USAGE,
				   "%sthe program has progress points of coz.h, but nothing counts "
				   "them. Restart it with LD_PRELOAD=%s, or, with --intrusive, "
				   "count a line: --progress line:FILE:N",
				   what, path != NULL ? path : PROGRESS_COZ_LIBRARY);
	else
		status = error_set(err, ERROR_USAGE,
				   "%sthe program has no progress points of coz.h. How far it gets "
				   "can be said otherwise: for example --progress var:requests (a "
				   "counter in its memory) or --progress syscalls:write",
				   what);
	free(path);
	return status;
}

/* Finds and reads the table. Returns 0 or the error, whose text begins with `what` if the table was
 * not found. */
static int
open_table(struct progress *progress, const struct progress_images *images, const char *what,
	   struct error *err)
{
	if (progress->coz.table == 0)
		find_table(&progress->coz, images);
	if (progress->coz.table == 0)
		return coz_refuse_missing(progress, what, err);
	if (!progress_coz_update(progress))
		return error_set(err, ERROR_FORMAT,
				 "the table of %s in process %d cannot be read, or is one of "
				 "another version of wallsample",
				 PROGRESS_COZ_LIBRARY, (int)progress->process->pid);
	return 0;
}

int
progress_coz_open(struct progress *progress, const struct progress_images *images,
		  struct progress_counter *counter, struct error *err)
{
	char what[200];
	int status;

	snprintf(what, sizeof(what), "--progress %s: ", counter->source->text);
	status = open_table(progress, images, what, err);
	/* If the program has not executed the point yet, its count starts at 0. */
	counter->known = status == 0 && counter->coz.count == 0;
	return status;
}

/* True when an earlier point of the table has the same name and type as point `index`. */
static bool
is_repeated(const struct progress_coz *coz, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (coz->seen[i].type == coz->seen[index].type &&
		    strcmp(coz->seen[i].name, coz->seen[index].name) == 0)
			return true;
	return false;
}

static bool
has_name(const struct progress *progress, const char *name)
{
	for (size_t i = 0; i < progress->count; i++)
		if (strcmp(progress->entry[i].words.name, name) == 0)
			return true;
	return false;
}

/* Adds an entry for the point of coz.h with this name, which may contain any bytes. `latency` is
 * true for a COZ_BEGIN and COZ_END, false for a COZ_PROGRESS. */
static void
add_entry(struct progress *progress, const char *name, bool latency)
{
	struct progress_entry *entry = &progress->entry[progress->count];
	struct progress_words *words = &entry->words;
	struct strbuf shown = STRBUF_INIT, spec = STRBUF_INIT;

	strbuf_add_escaped(&shown, name);
	strbuf_add_format(&spec, "coz:%s", shown.data);
	if (latency && has_name(progress, shown.data))
		strbuf_add_text(&shown, " (latency)");
	*words = (struct progress_words){
		.name = shown.data,
		.spec = spec.data,
		.kind = latency ? CAUSAL_LATENCY : CAUSAL_THROUGHPUT,
		.source_count = latency ? 2 : 1,
	};
	for (size_t i = 0; i < words->source_count; i++) {
		words->source[i] = (struct progress_source){ .kind = PROGRESS_COZ,
							     .text = xstrdup(spec.data),
							     .name = xstrdup(name) };
		entry->counter[i].source = &words->source[i];
		entry->counter[i].size = sizeof(uint64_t);
	}
	progress->count++;
}

int
progress_coz_open_all(struct progress *progress, const struct progress_images *images,
		      struct error *err)
{
	const struct progress_coz *coz = &progress->coz;
	struct progress_coz_places end;
	const int status = open_table(progress, images, "", err);

	if (status != 0)
		return status;
	for (size_t i = 0; i < coz->count; i++) {
		const struct progress_coz_seen *seen = &coz->seen[i];

		if (seen->type == PROGRESS_COZ_END || is_repeated(coz, i) ||
		    (seen->type == PROGRESS_COZ_BEGIN &&
		     !progress_coz_find(coz, seen->name, PROGRESS_COZ_END, &end)))
			continue;
		if (progress->count < CAUSAL_POINTS_MOST)
			add_entry(progress, seen->name, seen->type == PROGRESS_COZ_BEGIN);
		else
			progress->left_out++;
	}
	if (progress->count == 0)
		return error_set(
			err, ERROR_USAGE,
			"%s is loaded, but the program has not come by any of its "
			"progress points of coz.h yet (of COZ_BEGIN and COZ_END, by both): "
			"once it has work they are found; or name one of them: "
			"--progress coz:NAME",
			PROGRESS_COZ_LIBRARY);
	update_entries(progress);
	return 0;
}
