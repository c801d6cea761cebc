/* SPDX-License-Identifier: MIT */
/* pprof_stream.c - packs messages of protocol buffers and compresses them, one after the other. */
#include "format/format_internal.h"

#include <protobuf-c/protobuf-c.h>
#include <stdlib.h>
#include <zlib.h>

#include "wallsample/base/base.h"

#define GZIP_WINDOW (15 + 16) /* deflateInit2(): 15 is the largest window; 16 adds a gzip header */
/* deflateInit2(): zlib's default */
#define MEMORY_LEVEL 8

struct pprof_stream {
	/* must be the first member: append() casts the pointer that protobuf-c passes */
	ProtobufCBuffer base;
	FILE *out;
	z_stream zip;
};

/*
 * Allocates memory for zlib; ends the program if there is none. No call of zlib fails for lack of
 * memory.
 */
static voidpf
zip_allocate(voidpf opaque, uInt items, uInt size)
{
	(void)opaque;
	return xcalloc(items, size);
}

static void
zip_free(voidpf opaque, voidpf memory)
{
	(void)opaque;
	free(memory);
}

static void
zip_bytes(struct pprof_stream *stream, const uint8_t *bytes, size_t size, int flush)
{
	uint8_t block[16384];

	/* zlib's pointer is not const, but zlib only reads the data. */
	stream->zip.next_in = (uint8_t *)(uintptr_t)bytes;
	stream->zip.avail_in = (uInt)size;
	do {
		stream->zip.next_out = block;
		stream->zip.avail_out = sizeof(block);
		deflate(&stream->zip, flush);
		fwrite(block, 1, sizeof(block) - stream->zip.avail_out, stream->out);
	} while (stream->zip.avail_out == 0);
}

static void
append(ProtobufCBuffer *buffer, size_t size, const uint8_t *bytes)
{
	zip_bytes((struct pprof_stream *)buffer, bytes, size, Z_NO_FLUSH);
}

struct pprof_stream *
pprof_stream_create(FILE *out)
{
	struct pprof_stream *stream = xcalloc(1, sizeof(*stream));

	stream->base.append = append;
	stream->out = out;
	stream->zip.zalloc = zip_allocate;
	stream->zip.zfree = zip_free;
	/*
	 * The gzip header that zlib writes by default contains no time: equal profiles give equal
	 * bytes.
	 */
	if (deflateInit2(&stream->zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		abort(); /* zlib differs from the version at build time */
	return stream;
}

void
pprof_stream_add(struct pprof_stream *stream, const struct ProtobufCMessage *message)
{
	protobuf_c_message_pack_to_buffer(message, &stream->base);
}

void
pprof_stream_free(struct pprof_stream *stream)
{
	zip_bytes(stream, NULL, 0, Z_FINISH);
	deflateEnd(&stream->zip);
	free(stream);
}
