/* SPDX-License-Identifier: MIT */
/* peer.c - finds the processes at the other end of a pipe or connection. */
#include "wallsample/wait/peer.h"

#include <inttypes.h>
#include <string.h>

#include "wait/descriptor_internal.h"

_Static_assert(PEER_PIDS_MOST == HOLDERS_KEPT, "struct peer has all processes that are kept");

uint64_t
peer_key(const char *id, bool writes)
{
	const bool second = writes && !text_begins(id, "socket:[");

	return hash_bytes(id, strlen(id)) << 2 | 2 | (second ? 1 : 0);
}

bool
peer_find(struct descriptors *descriptors, int fd, const char *id, struct peer *out)
{
	enum holder_access access = HOLDER_ANY;
	char link[LINK_SIZE];
	enum descriptor_kind kind;
	struct holders_found found;
	bool reads, writes;

	memset(out, 0, sizeof(*out));
	endpoints_expire(descriptors->endpoints);
	kind = descriptor_read(descriptors, fd, link);
	if (strcmp(link, id) != 0)
		return false;
	if (kind == DESCRIPTOR_SOCKET) {
		const uint64_t inode = socket_find_peer(descriptors, fd, id);

		if (inode == 0)
			return false;
		snprintf(link, sizeof(link), "socket:[%" PRIu64 "]", inode);
		writes = false;
	} else {
		if (kind != DESCRIPTOR_PIPE ||
		    !descriptor_access(descriptors, fd, &reads, &writes) || reads == writes)
			return false;
		access = reads ? HOLDER_WRITES : HOLDER_READS;
	}
	endpoints_find_holders(descriptors->endpoints, descriptors->process->pid, link, access,
			       &found);
	out->end = peer_key(link, kind == DESCRIPTOR_PIPE && !writes);
	memcpy(out->pid, found.pid, sizeof(out->pid));
	out->count = found.kept;
	out->own = found.own;
	out->whole = found.sure && found.count == found.kept + (found.own ? 1 : 0);
	return true;
}
