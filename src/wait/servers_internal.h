/* SPDX-License-Identifier: MIT */
/*
 * servers_internal.h - the processes behind addresses to which the target has connected, of servers
 * that are one process. To find the process, the descriptors of all processes are searched; this is
 * not repeated for each of many short connections to one server.
 */
#ifndef WALLSAMPLE_WAIT_SERVERS_INTERNAL_H
#define WALLSAMPLE_WAIT_SERVERS_INTERNAL_H

#include "wallsample/base/base.h"

/* Most servers that are kept; a new one replaces the oldest. */
#define SERVERS_MOST 32

struct server {
	uint64_t key; /* hash of the protocol and the address */
	uint64_t at_ns;
	char *text; /* "sort (1234)"; owned; NULL: none is kept here */
};

/* All bytes zero: none is known. */
struct servers {
	struct server item[SERVERS_MOST];
	size_t next; /* index of the oldest */
};

/* Returns the text of the server at an address of which `key` is a hash, found at most 5 s before
 * now_ns, valid until the next call; NULL: none. Two addresses of one hash are confused. */
const char *servers_find(const struct servers *servers, uint64_t key, uint64_t now_ns);
void servers_keep(struct servers *servers, uint64_t key, const char *text, uint64_t now_ns);
void servers_release(struct servers *servers);

#endif
