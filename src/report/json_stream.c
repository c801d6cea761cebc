/* SPDX-License-Identifier: MIT */
/* json_stream.c - writes the punctuation of JSON. */
#include "wallsample/report/json_stream.h"

#include <inttypes.h>
#include <stdlib.h>

#define DUMP_FLAGS (JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9))

/*
 * Writes what precedes a value: a comma unless the value is the first in its list or object, a line
 * break, and the name. A name needs no escapes: it is a constant.
 */
static void
separate(struct json_stream *stream, const char *name)
{
	fputs(stream->first ? "\n" : ",\n", stream->out);
	stream->first = false;
	if (name != NULL)
		fprintf(stream->out, "\"%s\":", name);
}

static void
begin(struct json_stream *stream, const char *brackets)
{
	fputc(brackets[0], stream->out);
	stream->closer[stream->depth++] = brackets[1];
	stream->first = true;
}

void
json_stream_open(struct json_stream *stream, FILE *out)
{
	*stream = (struct json_stream){ .out = out };
	json_set_alloc_funcs(xmalloc, free);
	begin(stream, "{}");
}

void
json_stream_close(struct json_stream *stream)
{
	json_stream_end(stream);
	fputc('\n', stream->out);
	strbuf_release(&stream->scratch);
}

void
json_stream_put(struct json_stream *stream, const char *name, json_t *value)
{
	separate(stream, name);
	/* A NULL is a value that Jansson could not make, such as a number that is not finite. */
	if (value == NULL)
		fputs("null", stream->out);
	else
		json_dumpf(value, stream->out, DUMP_FLAGS);
	json_decref(value);
}

void
json_stream_put_ms(struct json_stream *stream, const char *name, uint64_t ns)
{
	uint64_t part = ns % NS_PER_MS;
	int digits = 6;

	separate(stream, name);
	fprintf(stream->out, "%" PRIu64, ns / NS_PER_MS);
	if (part == 0)
		return;
	for (; part % 10 == 0; digits--)
		part /= 10;
	fprintf(stream->out, ".%0*" PRIu64, digits, part);
}

void
json_stream_begin_object(struct json_stream *stream, const char *name)
{
	separate(stream, name);
	begin(stream, "{}");
}

void
json_stream_begin_list(struct json_stream *stream, const char *name)
{
	separate(stream, name);
	begin(stream, "[]");
}

void
json_stream_end(struct json_stream *stream)
{
	fprintf(stream->out, "\n%c", stream->closer[--stream->depth]);
	stream->first = false;
}

json_t *
json_stream_text(struct json_stream *stream, const char *text)
{
	strbuf_clear(&stream->scratch);
	strbuf_add_one_line(&stream->scratch, text);
	return json_string(stream->scratch.data);
}

json_t *
json_stream_number(uint64_t value)
{
	return json_integer((json_int_t)value);
}
