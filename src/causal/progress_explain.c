/* SPDX-License-Identifier: MIT */
/*
 * progress_explain.c - describes to the user a progress point that has no progress.
 */
#include <inttypes.h>

#include "causal/progress_internal.h"
#include "wallsample/base/base.h"

/* Number of executed points of coz.h that an explanation lists. */
#define NAMES_LISTED 8

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

	/* Of two counters of which one has events, only the other is described. */
	for (size_t i = 0; i < entry->words.source_count; i++) {
		if (!both && entry->counter[i].total > 0 && entry->words.source_count == 2)
			continue;
		if (i > 0 && both)
			strbuf_add_text(out, " ");
		explain_counter(progress, &entry->counter[i], out);
	}
}
