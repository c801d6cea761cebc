/* SPDX-License-Identifier: MIT */
/* perf_data_stream.c - the bytes of records of a perf.data file. */
#include "format/perf_data_internal.h"

#include <string.h>

uint64_t
perf_data_event_id(enum perf_data_event event)
{
	return (uint64_t)event + 1;
}

void
perf_data_put(struct strbuf *out, uint64_t number, size_t size)
{
	char bytes[8];

	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)(number >> (8 * i) & 0xff);
	strbuf_add(out, bytes, size);
}

void
perf_data_pad(struct strbuf *out, size_t unit)
{
	while (out->length % unit != 0)
		strbuf_add(out, "", 1);
}

struct strbuf *
perf_data_begin(struct perf_data_stream *stream, uint32_t type, uint16_t misc)
{
	strbuf_clear(&stream->record);
	perf_data_put(&stream->record, type, 4);
	perf_data_put(&stream->record, misc, 2);
	perf_data_put(&stream->record, 0, 2);
	return &stream->record;
}

void
perf_data_end(struct perf_data_stream *stream)
{
	struct strbuf *record = &stream->record;

	record->data[6] = (char)(record->length & 0xff);
	record->data[7] = (char)(record->length >> 8);
	stream->size += record->length;
	if (stream->out != NULL)
		fwrite(record->data, 1, record->length, stream->out);
}

void
perf_data_end_id(struct perf_data_stream *stream, const struct perf_data_origin *origin)
{
	struct strbuf *record = &stream->record;

	perf_data_put(record, origin->pid, 4);
	perf_data_put(record, origin->tid, 4);
	perf_data_put(record, origin->ns, 8);
	/* PERF_SAMPLE_IDENTIFIER: 0 is no event, as in records that perf itself synthesizes. perf
	 * refuses the id of an event that the file does not have. */
	perf_data_put(record, 0, 8);
	perf_data_end(stream);
}

void
perf_data_end_text(struct perf_data_stream *stream, const struct perf_data_origin *origin)
{
	strbuf_add(&stream->record, "", 1);
	perf_data_pad(&stream->record, 8);
	perf_data_end_id(stream, origin);
}

void
perf_data_cut_name(struct strbuf *text)
{
	size_t length = PERF_DATA_NAME_MOST;

	if (text->length <= PERF_DATA_NAME_MOST)
		return;
	while (length > 0 && (text->data[length] & 0xc0) == 0x80)
		length--;
	text->data[text->length = length] = '\0';
}
