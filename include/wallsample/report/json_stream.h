/* SPDX-License-Identifier: MIT */
/*
 * json_stream.h - writes JSON value by value. Each jansson value is written and freed before the
 * next, so that a large profile is not in memory twice.
 *
 * This module writes the punctuation between the values. `name` is the key of a value in an object,
 * a constant of the program; it is NULL for a value in a list.
 */
#ifndef WALLSAMPLE_REPORT_JSON_STREAM_H
#define WALLSAMPLE_REPORT_JSON_STREAM_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "wallsample/base/base.h"

/* Maximum number of lists and objects that are open at one time. Not checked at run time. */
#define JSON_STREAM_DEEPEST 8

struct json_stream {
	FILE *out;
	bool first;   /* the innermost open list or object is still empty */
	size_t depth; /* number of open lists and objects */
	/* for each open list or object, outermost first, the character that ends it: ']' or '}' */
	char closer[JSON_STREAM_DEEPEST];
	struct strbuf scratch; /* a buffer that json_stream_text() uses */
};

/*
 * Begins the outermost object, and makes jansson allocate memory by xmalloc(), which ends the
 * program when there is none.
 */
void json_stream_open(struct json_stream *stream, FILE *out);
/* Ends the outermost object and releases the stream. `out` stays open. */
void json_stream_close(struct json_stream *stream);

/* Writes a value, and frees it. NULL, a value that could not be made, such as a number that is not
 * finite, is written as null. */
void json_stream_put(struct json_stream *stream, const char *name, json_t *value);
/* Writes a time in milliseconds as a decimal number, without a rounding error. */
void json_stream_put_ms(struct json_stream *stream, const char *name, uint64_t ns);
void json_stream_begin_object(struct json_stream *stream, const char *name);
void json_stream_begin_list(struct json_stream *stream, const char *name);
/* Ends the innermost open object or list. */
void json_stream_end(struct json_stream *stream);

/*
 * Returns a new string, which the caller owns, with text from outside the program, escaped as by
 * strbuf_add_one_line().
 */
json_t *json_stream_text(struct json_stream *stream, const char *text);
/* Returns a new integer, which the caller owns. `value` must not exceed INT64_MAX. */
json_t *json_stream_number(uint64_t value);

#endif
