/* SPDX-License-Identifier: MIT */
/*
 * pprof_stream_internal.h - messages of protocol buffers, packed one behind the other, gzipped.
 *
 * By the rules of protocol buffers messages with some of the fields each are one message then.
 */
#ifndef WALLSAMPLE_FORMAT_PPROF_STREAM_INTERNAL_H
#define WALLSAMPLE_FORMAT_PPROF_STREAM_INTERNAL_H

#include <protobuf-c/protobuf-c.h>
#include <stdio.h>

struct pprof_stream;

/* Writes to `out`, whose errors are the caller's to check. Same messages, same bytes. */
struct pprof_stream *pprof_stream_create(FILE *out);
void pprof_stream_add(struct pprof_stream *stream, const ProtobufCMessage *message);
/* Writes what is left, too. */
void pprof_stream_free(struct pprof_stream *stream);

#endif
