/* SPDX-License-Identifier: MIT */
/*
 * debuginfod_absent.c - replaces debuginfod.c in a build without libdebuginfod: no server is asked.
 */
#include "dwarf/debug_file_internal.h"

struct debug_server *
debug_server_create(const struct log *log, uint64_t limit_ns)
{
	(void)limit_ns;
	log_say(log, LOG_NORMAL,
		"this wallsample was built without libdebuginfod: no server is asked for debug "
		"files");
	return NULL;
}

void
debug_server_free(struct debug_server *server)
{
	(void)server;
}

enum debuginfod_state
debug_server_state(const struct debug_server *server)
{
	(void)server;
	return DEBUGINFOD_NOT_BUILT;
}

int
debug_server_fetch(struct debug_server *server, const uint8_t *id, size_t id_size, const char *name,
		   char **path)
{
	(void)server;
	(void)id;
	(void)id_size;
	(void)name;
	(void)path;
	return -1;
}
