/* SPDX-License-Identifier: MIT */
/*
 * progress_coz.c - opens points of coz.h as progress points of a target: by name, or all of them.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "causal/progress_internal.h"
#include "wallsample/base/base.h"

static bool
is_coz(const struct progress_counter *counter)
{
	return counter->source != NULL && counter->source->kind == PROGRESS_COZ;
}

/* --- the kind of a name --------------------------------------------------------------- */

/* Finds the counters of a begin or an end; a COZ_PROGRESS point may be used as either. */
static void
place_counter(const struct progress *progress, struct progress_counter *counter,
	      enum progress_coz_type type)
{
	const char *name = counter->source->name;

	if (!progress_coz_find(&progress->coz, name, type, &counter->coz))
		progress_coz_find(&progress->coz, name, PROGRESS_COZ_THROUGHPUT, &counter->coz);
}

/* Makes a LATENCY point of coz:NAME, which has a COZ_BEGIN and a COZ_END. */
static void
become_latency(struct progress_entry *entry)
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
settle_entry(const struct progress *progress, struct progress_entry *entry)
{
	struct progress_coz_places begin, end;
	struct progress_counter *counter = entry->counter;

	if (entry->words.source_count == 1 && is_coz(&counter[0])) {
		if (progress_coz_find(&progress->coz, counter[0].source->name,
				      PROGRESS_COZ_THROUGHPUT, &counter[0].coz) ||
		    !progress_coz_find(&progress->coz, counter[0].source->name, PROGRESS_COZ_BEGIN,
				       &begin) ||
		    !progress_coz_find(&progress->coz, counter[0].source->name, PROGRESS_COZ_END,
				       &end))
			return;
		become_latency(entry);
	}
	if (entry->words.source_count == 2 && is_coz(&counter[0]))
		place_counter(progress, &counter[0], PROGRESS_COZ_BEGIN);
	if (entry->words.source_count == 2 && is_coz(&counter[1]))
		place_counter(progress, &counter[1], PROGRESS_COZ_END);
}

bool
progress_coz_settle(struct progress *progress)
{
	if (!progress_coz_load(&progress->coz, progress->reader))
		return false;
	for (size_t i = 0; i < progress->count; i++)
		settle_entry(progress, &progress->entry[i]);
	return true;
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
				   "%sthe program has progress points of coz.h, "
				   "but nothing counts them. Restart it with LD_PRELOAD=%s, or, "
				   "with --intrusive, count a line: --progress line:FILE:N",
				   what, path != NULL ? path : PROGRESS_COZ_LIBRARY);
	else
		status = error_set(err, ERROR_USAGE,
				   "%sthe program has no progress points of "
				   "coz.h. How far it gets can be said otherwise: for example "
				   "--progress var:requests (a counter in its memory) or "
				   "--progress syscalls:write",
				   what);
	free(path);
	return status;
}

static int
refuse_table(const struct progress *progress, struct error *err)
{
	return error_set(err, ERROR_FORMAT,
			 "the table of %s in process %d cannot be read, or is "
			 "one of another version of wallsample",
			 PROGRESS_COZ_LIBRARY, (int)progress->process->pid);
}

static void
coz_prepare(struct progress *progress, const struct progress_images *images)
{
	if (progress->coz.table == 0)
		progress_coz_init(&progress->coz, images, progress->symbols);
}

int
progress_coz_open(struct progress *progress, const struct progress_images *images,
		  struct progress_counter *counter, struct error *err)
{
	char what[200];

	coz_prepare(progress, images);
	snprintf(what, sizeof(what), "--progress %s: ", counter->source->text);
	if (progress->coz.table == 0)
		return coz_refuse_missing(progress, what, err);
	if (!progress_coz_settle(progress))
		return refuse_table(progress, err);
	/* If the program has not executed the point yet, its count starts at 0. */
	counter->known = counter->coz.count == 0;
	return 0;
}

/* True when an earlier point has the same name and type. */
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

static void
set_source(struct progress_source *source, const char *name)
{
	struct strbuf text;

	strbuf_init(&text);
	strbuf_add_text(&text, "coz:");
	strbuf_add_escaped(&text, name);
	*source = (struct progress_source){ .kind = PROGRESS_COZ,
					    .text = text.data,
					    .name = xstrdup(name) };
}

/* Adds a point for this name, which may contain any bytes. */
static void
add_entry(struct progress *progress, const char *name, bool latency)
{
	struct progress_entry *entry = &progress->entry[progress->count];
	struct strbuf shown;

	strbuf_init(&shown);
	strbuf_add_escaped(&shown, name);
	entry->words.kind = latency ? CAUSAL_LATENCY : CAUSAL_THROUGHPUT;
	entry->words.source_count = latency ? 2 : 1;
	for (size_t i = 0; i < entry->words.source_count; i++) {
		set_source(&entry->words.source[i], name);
		entry->counter[i].source = &entry->words.source[i];
		entry->counter[i].size = sizeof(uint64_t);
	}
	if (latency && has_name(progress, shown.data))
		strbuf_add_text(&shown, " (latency)");
	entry->words.name = shown.data;
	entry->words.spec = xstrdup(entry->words.source[0].text);
	progress->count++;
}

int
progress_coz_open_all(struct progress *progress, const struct progress_images *images,
		      struct error *err)
{
	const struct progress_coz *coz = &progress->coz;
	struct progress_coz_places end;

	coz_prepare(progress, images);
	if (coz->table == 0)
		return coz_refuse_missing(progress, "", err);
	if (!progress_coz_settle(progress))
		return refuse_table(progress, err);
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
		return error_set(err, ERROR_USAGE,
				 "%s is loaded, but the program has not come by "
				 "any of its progress points of coz.h yet (of COZ_BEGIN and "
				 "COZ_END, by both): once it has work they are found; or name one "
				 "of them: --progress coz:NAME",
				 PROGRESS_COZ_LIBRARY);
	for (size_t i = 0; i < progress->count; i++)
		settle_entry(progress, &progress->entry[i]);
	return 0;
}
