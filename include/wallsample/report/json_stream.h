/* SPDX-License-Identifier: MIT */
/*
 * json_stream.h - JSON written piece by piece: values are jansson's, written and freed one after
 * the other, so that a large profile is never in memory a second time.
 *
 * What is written here is the punctuation between them. In an object each piece has a name, in a
 * list it has NULL; values are taken over.
 */
#ifndef WALLSAMPLE_REPORT_JSON_STREAM_H
#define WALLSAMPLE_REPORT_JSON_STREAM_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "wallsample/base/base.h"

#define JSON_STREAM_DEEPEST 8

struct json_stream {
	FILE *out;
	bool first; /* nothing was written yet in the list or object that is open */
	size_t depth;
	char closer[JSON_STREAM_DEEPEST];
	struct strbuf scratch;
};

/* Begins the outermost object. From here on jansson cannot fail for want of memory. */
void json_stream_open(struct json_stream *stream, FILE *out);
void json_stream_close(struct json_stream *stream);

void json_stream_put(struct json_stream *stream, const char *name, json_t *value);
void json_stream_begin_object(struct json_stream *stream, const char *name);
void json_stream_begin_list(struct json_stream *stream, const char *name);
/* Ends the object or list that was begun last. */
void json_stream_end(struct json_stream *stream);

/* Foreign text as a value: valid UTF-8 without control characters; whole otherwise. */
json_t *json_stream_text(struct json_stream *stream, const char *text);
json_t *json_stream_number(uint64_t value);

#endif
