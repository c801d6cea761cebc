/* SPDX-License-Identifier: MIT */
/*
 * format_internal.h - functions of those exporters whose code is in several files.
 * wallsample-formats(5) describes the JSON that the functions json_*() write.
 */
#ifndef WALLSAMPLE_FORMAT_FORMAT_INTERNAL_H
#define WALLSAMPLE_FORMAT_FORMAT_INTERNAL_H

#include "wallsample/report/parallelism_split.h"
#include "wallsample/report/report.h"
#include "wallsample/runtime/async_tasks.h"

/* --- exporter_json: functions of struct exporter ---------------------------------------- */

void json_write_diff(const struct diff_input *input, FILE *out);
void json_write_dump(const struct export_input *input, FILE *out);
void json_write_causal(const struct causal_input *input, FILE *out);

/* --- exporter_json: parts of its objects --------------------------------------------------- */

/*
 * Writes the list "deadlocks" of all deadlocks in the profile of the view: the threads of each
 * ring, the threads stuck behind the ring, and what they wait for. The list may be empty.
 */
void json_write_deadlocks(struct json_stream *stream, const struct view *view);

/* --- exporter_svg ---------------------------------------------------------------------------- */

void svg_write_causal(const struct causal_input *input, FILE *out);

/* --- exporter_pprof: a stream of protocol buffers ------------------------------------------- */

struct ProtobufCMessage;
struct pprof_stream;

/* Most labels of a sample. */
#define PPROF_LABELS_MOST 8

/* A label with a text or a number. All members but `number` are indices in the string table, in
 * which 0 is the empty text. */
struct pprof_label {
	int64_t key, text, number, unit;
};

/* Escapes a text from outside the program, and returns its index in the string table. */
int64_t pprof_foreign_text(struct strings *texts, const char *foreign);
/* Fills `label` with the labels of a row of the view, and of a part of its time unless that is
 * NULL. Returns their number. */
size_t pprof_make_labels(struct strings *texts, const struct view *view, const struct view_row *row,
			 const struct parallelism_part *part,
			 struct pprof_label label[PPROF_LABELS_MOST]);

/*
 * Creates a stream that packs messages and writes them as gzip to `out`, which the caller checks
 * for errors. Equal sequences of messages result in equal bytes. In the format of protocol buffers,
 * concatenated messages of one type form a single message with all their fields.
 */
struct pprof_stream *pprof_stream_create(FILE *out);
/* Packs a message and adds it to the stream. The message stays the caller's. */
void pprof_stream_add(struct pprof_stream *stream, const struct ProtobufCMessage *message);
/* Writes the buffered bytes, then frees the stream. */
void pprof_stream_free(struct pprof_stream *stream);

#endif
