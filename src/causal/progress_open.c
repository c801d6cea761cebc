/* SPDX-License-Identifier: MIT */
/*
 * progress_open.c - opens the counters of progress points in a target, and describes the points.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "causal/progress_internal.h"
#include "wallsample/base/base.h"

/* Largest number of executed points of coz.h that progress_explain() lists. */
#define NAMES_LISTED 8

static void
add_counted(struct progress *progress, struct progress_counter *counter)
{
	const size_t index = progress->counted_count++;

	progress->counted[index] = (struct progress_counted){
		.address = counter->place.address,
		.spec = counter->source->text,
	};
	progress->counted_counter[index] = counter;
}

/* Checks that the counter is readable. The error names the counter. */
static int
try_memory(struct progress *progress, const struct progress_counter *counter, struct error *err)
{
	const struct memory_piece piece = { counter->place.address, counter->size };
	const int pid = (int)progress->process->pid;
	const char *text = counter->source->text;
	uint64_t value;

	if (progress_read_memory(progress, &piece, 1, &value))
		return 0;
	if (errno == EPERM)
		return error_set(err, ERROR_NOT_PERMITTED,
				 "--progress %s: the memory of process %d may not be read: that "
				 "needs the rights of a debugger",
				 text, pid);
	if (errno == ESRCH)
		return error_set(err, ERROR_NO_PROCESS, "process %d has gone", pid);
	return error_set(err, ERROR_USAGE, "--progress %s: there is no memory at 0x%" PRIx64, text,
			 piece.address);
}

static int
open_counter(struct progress *progress, const struct progress_images *images,
	     struct progress_counter *counter, struct error *err)
{
	const struct progress_source *source = counter->source;
	int status = 0;

	counter->size = 8;
	if (source->kind == PROGRESS_IO)
		return progress->io_fd >= 0 ?
			       0 :
			       progress_io_open(progress->process, &progress->io_fd, err);
	if (source->kind == PROGRESS_COZ)
		return progress_coz_open(progress, images, counter, err);
	status = progress_place_find(images, source, &counter->place, err);
	if (status != 0)
		return status;
	if (progress_source_is_counted(source)) {
		add_counted(progress, counter);
		return 0;
	}
	counter->size = counter->place.size;
	return try_memory(progress, counter, err);
}

static int
open_entry(struct progress *progress, const struct progress_images *images, const char *spec,
	   struct error *err)
{
	struct progress_entry *entry = &progress->entry[progress->count];
	int status = progress_words_read(spec, &entry->words, err);

	if (status != 0)
		return status;
	progress->count++;
	for (size_t i = 0; i < entry->words.source_count && status == 0; i++) {
		entry->counter[i].source = &entry->words.source[i];
		status = open_counter(progress, images, &entry->counter[i], err);
	}
	return status;
}

/* --- all of them --------------------------------------------------------------------- */

static int
open_all(struct progress *progress, struct maps *maps, struct symbols *symbols,
	 const char *const *spec, size_t count, struct error *err)
{
	struct progress_images images;
	int status = progress_check(spec, count, NULL, err);

	if (status != 0)
		return status;
	/* The program may have mapped its libraries since the maps were read. */
	maps_refresh(maps);
	progress_images_init(&images, maps, symbols);
	if (count == 0)
		status = progress_coz_open_all(progress, &images, err);
	for (size_t i = 0; i < count && status == 0; i++)
		status = open_entry(progress, &images, spec[i], err);
	progress_images_release(&images);
	if (status != 0)
		return status;
	if (!progress_read_counters(progress))
		return error_set(err, ERROR_NO_PROCESS, "process %d has gone",
				 (int)progress->process->pid);
	for (size_t i = 0; i < progress->count; i++)
		progress_entry_start(&progress->entry[i]);
	return 0;
}

int
progress_open(const char *const *spec, size_t count, const struct process *process,
	      struct maps *maps, struct symbols *symbols, struct progress **out, struct error *err)
{
	struct progress *progress = xcalloc(1, sizeof(*progress));
	int status;

	progress->process = process;
	progress->reader = process->pid;
	progress->io_fd = -1;
	status = open_all(progress, maps, symbols, spec, count, err);
	if (status != 0) {
		progress_free(progress);
		progress = NULL;
	}
	*out = progress;
	return status;
}

void
progress_free(struct progress *progress)
{
	if (progress == NULL)
		return;
	for (size_t i = 0; i < progress->count; i++) {
		for (size_t s = 0; s < 2; s++)
			free(progress->entry[i].counter[s].place.note);
		progress_words_release(&progress->entry[i].words);
	}
	progress_coz_release(&progress->coz);
	if (progress->io_fd >= 0)
		close(progress->io_fd);
	free(progress);
}

size_t
progress_count(const struct progress *progress)
{
	return progress->count;
}

size_t
progress_left_out(const struct progress *progress)
{
	return progress->left_out;
}

void
progress_point(const struct progress *progress, size_t index, const char **name, const char **spec,
	       enum causal_point_kind *kind)
{
	const struct progress_words *words = &progress->entry[index].words;

	*name = words->name;
	*spec = words->spec;
	*kind = words->kind;
}

size_t
progress_counted(const struct progress *progress, const struct progress_counted **out)
{
	*out = progress->counted;
	return progress->counted_count;
}

/* --- a point without progress, described for the user ---------------------------------------- */

static void
explain_variable(const struct progress_counter *counter, struct strbuf *out)
{
	strbuf_add_format(out, "is %s %u-byte counter at 0x%" PRIx64,
			  counter->size == 8 ? "an" : "a", counter->size, counter->place.address);
	if (counter->place.module[0] != '\0') {
		strbuf_add_text(out, " in ");
		strbuf_add_escaped(out, counter->place.module);
	}
	strbuf_add_format(out, ", which reads %" PRIu64, counter->now);
	if (counter->back > 0)
		strbuf_add_format(out,
				  " and was set back %" PRIu64 " times, by which nothing is "
				  "counted: it may be no counter of events, or have another size "
				  "(var:NAME/SIZE)",
				  counter->back);
	else
		strbuf_add_text(out,
				" and has not moved: is this the counter of what the program "
				"does now, and is there work for it? A counter that each thread "
				"has of its own, or that is added up at the end only, will not do");
}

static void
explain_io(const struct progress_counter *counter, struct strbuf *out)
{
	const uint64_t field = counter->source->number;

	strbuf_add_format(out, "is %s in /proc/PID/io, %s, which reads %" PRIu64,
			  progress_io_fields[field].word, progress_io_fields[field].text,
			  counter->now);
	if (field == PROGRESS_READ_BYTES || field == PROGRESS_WRITE_BYTES)
		strbuf_add_text(out, " and has not moved: what comes from the page cache and what "
				     "goes through sockets and pipes is not in it; io:rchar and "
				     "io:wchar have all of read(2) and write(2)");
	else
		strbuf_add_text(out,
				" and has not moved: send(2), recv(2) and their kin, memory "
				"mappings and io_uring are not in it; a counter in memory (var:) "
				"or, with --intrusive, a function (func:) may do");
}

static void
explain_coz(const struct progress *progress, const struct progress_counter *counter,
	    struct strbuf *out)
{
	const struct progress_coz *coz = &progress->coz;

	if (counter->coz.count > 0) {
		strbuf_add_format(out,
				  "is a progress point of coz.h at 0x%" PRIx64 ", which "
				  "reads %" PRIu64 " and has not moved: there may be no work for "
				  "the program now",
				  counter->coz.address[0], counter->now);
		return;
	}
	strbuf_add_text(out, "is no progress point of coz.h that the program has come by");
	for (size_t i = 0; i < coz->count && i < NAMES_LISTED; i++) {
		strbuf_add_text(out, i == 0 ? "; those are " : ", ");
		strbuf_add_escaped(out, coz->seen[i].name);
	}
	if (coz->count > NAMES_LISTED)
		strbuf_add_text(out, ", …");
	if (coz->used == PROGRESS_COZ_POINTS_MOST)
		strbuf_add_format(out, ". There is room for %d points, and no more",
				  PROGRESS_COZ_POINTS_MOST);
}

static void
explain_counted(const struct progress_counter *counter, struct strbuf *out)
{
	strbuf_add_format(out, "is the code at 0x%" PRIx64 " in ", counter->place.address);
	strbuf_add_escaped(out, counter->place.module);
	if (counter->place.note != NULL) {
		strbuf_add_text(out, " (");
		strbuf_add_escaped(out, counter->place.note);
		strbuf_add_text(out, ")");
	}
	strbuf_add_format(out,
			  ", which was run %" PRIu64 " times since it is counted: is it what "
			  "the program does now, and is there work for it?",
			  counter->total);
}

static void
explain_counter(const struct progress *progress, const struct progress_counter *counter,
		struct strbuf *out)
{
	strbuf_add_escaped(out, counter->source->text);
	strbuf_add_text(out, " ");
	if (counter->source->kind == PROGRESS_VAR)
		explain_variable(counter, out);
	else if (counter->source->kind == PROGRESS_IO)
		explain_io(counter, out);
	else if (counter->source->kind == PROGRESS_COZ)
		explain_coz(progress, counter, out);
	else if (progress_source_is_counted(counter->source))
		explain_counted(counter, out);
	if (out->data[out->length - 1] != '?')
		strbuf_add_text(out, ".");
}

void
progress_explain(const struct progress *progress, size_t index, struct strbuf *out)
{
	const struct progress_entry *entry = &progress->entry[index];
	const bool both = entry->words.source_count == 2 &&
			  (entry->counter[0].total > 0) == (entry->counter[1].total > 0);

	/* If only one of two counters has no events, only that counter is described. */
	for (size_t i = 0; i < entry->words.source_count; i++) {
		if (!both && entry->counter[i].total > 0 && entry->words.source_count == 2)
			continue;
		if (i > 0 && both)
			strbuf_add_text(out, " ");
		explain_counter(progress, &entry->counter[i], out);
	}
}
