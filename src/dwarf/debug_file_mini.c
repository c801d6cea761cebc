/* SPDX-License-Identifier: MIT */
/*
 * debug_file_mini.c - unpacks MiniDebugInfo: the symbols that Fedora and its kin leave, packed
 * with xz, in the section .gnu_debugdata of stripped programs.
 */
#include <lzma.h>
#include <stdlib.h>

#include "dwarf/debug_file_internal.h"
#include "wallsample/elf/elf_open.h"

/* A few bytes can unpack to any size. The largest real ones make some ten MiB. */
#define PACKED_MAX ((size_t)64 << 20)
#define UNPACKED_MAX ((size_t)256 << 20)

/* For the decoder's dictionary; xz -9 needs 65 MiB. */
#define DECODER_MAX (UINT64_C(128) << 20)

/* Unpacks all of the stream's input; NULL, with *why, when that cannot be. */
static uint8_t *
unpack(lzma_stream *stream, size_t *size, const char **why)
{
	uint8_t *bytes = NULL;
	size_t capacity = 0;
	lzma_ret status = LZMA_OK;

	while (status == LZMA_OK && stream->total_out < UNPACKED_MAX) {
		const size_t done = (size_t)stream->total_out;

		bytes = xgrow(bytes, &capacity, done + 65536, 1);
		stream->next_out = bytes + done;
		stream->avail_out = capacity < UNPACKED_MAX ? capacity - done : UNPACKED_MAX - done;
		status = lzma_code(stream, LZMA_FINISH);
	}
	*size = (size_t)stream->total_out;
	if (status == LZMA_STREAM_END)
		return bytes;
	*why = "its .gnu_debugdata is damaged";
	if (status == LZMA_OK || status == LZMA_MEMLIMIT_ERROR)
		*why = "its .gnu_debugdata unpacks to more than is allowed";
	free(bytes);
	return NULL;
}

Elf *
debug_mini_open(Elf *own, void **bytes, const char **why)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	size_t packed_size, size;
	const uint8_t *packed = debug_section_bytes(own, ".gnu_debugdata", PACKED_MAX,
						    &packed_size);
	Elf *elf;

	*bytes = NULL;
	*why = NULL;
	if (packed == NULL)
		return NULL;
	*why = "liblzma cannot be used";
	if (lzma_stream_decoder(&stream, DECODER_MAX, 0) != LZMA_OK)
		return NULL;
	stream.next_in = packed;
	stream.avail_in = packed_size;
	*bytes = unpack(&stream, &size, why);
	lzma_end(&stream);
	if (*bytes == NULL)
		return NULL;
	elf = elf_open_memory(*bytes, size, NULL);
	*why = elf != NULL ? NULL : "its .gnu_debugdata is damaged";
	if (elf == NULL) {
		free(*bytes);
		*bytes = NULL;
	}
	return elf;
}
