/* SPDX-License-Identifier: MIT */
/* servers.c - keeps which process serves an address (servers_internal.h). */
#include "wait/servers_internal.h"

#include <stdlib.h>

/* Time for which a server is taken for the same: another process may then have its port. */
#define SERVER_NS (5 * NS_PER_SEC)

const char *
servers_find(const struct servers *servers, uint64_t key, uint64_t now_ns)
{
	for (size_t i = 0; i < SERVERS_MOST; i++) {
		const struct server *item = &servers->item[i];

		if (item->text != NULL && item->key == key && now_ns - item->at_ns < SERVER_NS)
			return item->text;
	}
	return NULL;
}

void
servers_keep(struct servers *servers, uint64_t key, const char *text, uint64_t now_ns)
{
	struct server *item = &servers->item[servers->next];

	servers->next = (servers->next + 1) % SERVERS_MOST;
	free(item->text);
	*item = (struct server){ key, now_ns, xstrdup(text) };
}

void
servers_release(struct servers *servers)
{
	for (size_t i = 0; i < SERVERS_MOST; i++)
		free(servers->item[i].text);
	*servers = (struct servers){ .next = 0 };
}
