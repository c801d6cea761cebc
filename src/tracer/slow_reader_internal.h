/* SPDX-License-Identifier: MIT */
/* slow_reader_internal.h - a process that reads the memory of the target for wallsample. */
#ifndef WALLSAMPLE_TRACER_SLOW_READER_INTERNAL_H
#define WALLSAMPLE_TRACER_SLOW_READER_INTERNAL_H

#include "wallsample/tracer/process_memory.h"

struct slow_reader;

/* Starts the process "ws-reader", which ends when wallsample ends, unless a read hangs. The caller
 * frees the result with slow_reader_free(), which accepts NULL. */
struct slow_reader *slow_reader_create(void);
void slow_reader_free(struct slow_reader *reader);

/* Starts the process again if it could not be started, or has ended: something has killed it. */
void slow_reader_renew(struct slow_reader *reader);

/*
 * Reads pieces, of 1 MiB in all at most, as memory_read_pieces() does, and returns the number of
 * bytes. Waits 5 ms at most; after a longer read returns 0, also at all later calls until the
 * process has ended that read. Returns 0 if the process does not run.
 */
size_t slow_reader_read(struct slow_reader *reader, pid_t tid, const struct memory_piece *piece,
			size_t count, void *to);

#endif
