/* SPDX-License-Identifier: MIT */
/*
 * debuginfod_internal.h - asks the debuginfod servers of $DEBUGINFOD_URLS for debug files.
 *
 * debuginfod.c does it with libdebuginfod; debuginfod_absent.c stands in for a build without
 * it. A server that does not answer in time, or cannot be reached, is not asked again.
 */
#ifndef WALLSAMPLE_DWARF_DEBUGINFOD_INTERNAL_H
#define WALLSAMPLE_DWARF_DEBUGINFOD_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/base.h"
#include "wallsample/dwarf/debug_file.h"

struct debug_server;

/*
 * NULL, after one warning that says what is missing, when nothing can be asked. No file
 * takes longer than `limit_ns`, however slowly it comes.
 */
struct debug_server *debug_server_create(const struct log *log, uint64_t limit_ns);
void debug_server_free(struct debug_server *server);
/* Of what debug_server_create returned; never DEBUGINFOD_NOT_WANTED. */
enum debuginfod_state debug_server_state(const struct debug_server *server);

/*
 * The debug file of a build-id, fetched into the client's cache; `name` is the module's, fit
 * for people, for the line that says how it gets on. Returns a descriptor, the caller's,
 * and its path in *path, to be freed; or -1.
 */
int debug_server_fetch(struct debug_server *server, const uint8_t *id, size_t id_size,
		       const char *name, char **path);

#endif
