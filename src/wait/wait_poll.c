/* SPDX-License-Identifier: MIT */
/* wait_poll.c - the descriptors that poll and select wait for. */
#include <poll.h>
#include <string.h>

#include "wait/wait_internal.h"

#define POLL_MOST 1024
#define SELECT_MOST 1024 /* FD_SETSIZE */
#define SELECT_WORDS (SELECT_MOST / 64)

/* A wait for no descriptor is a sleep, or a wait for a signal. */
static void
wait_for_nothing(struct wait *out)
{
	out->kind = out->timed ? WAIT_SLEEP : WAIT_SIGNAL;
}

void
wait_of_poll(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	struct pollfd fds[POLL_MOST];
	const uint64_t count = (uint32_t)call->args[1];

	if (count == 0)
		wait_for_nothing(out);
	if (count == 0 || count > POLL_MOST ||
	    !memory_read(&source->memory, call->args[0], fds, count * sizeof(fds[0])))
		return;
	for (uint64_t i = 0; i < count; i++) {
		if (fds[i].fd < 0)
			continue;
		out->fds++;
		out->fd = fds[i].fd;
		out->writes = (fds[i].events & POLLOUT) != 0 && (fds[i].events & POLLIN) == 0;
	}
	if (out->fds == 1)
		return;
	out->fd = -1;
	out->writes = false;
}

void
wait_of_select(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	/* The kernel reads whole words: unsigned long, which is 64 bits here. */
	uint64_t all[SELECT_WORDS] = { 0 }, writes = 0, others = 0;
	const int32_t most = (int32_t)(uint32_t)call->args[0];
	size_t words;

	if (most <= 0)
		wait_for_nothing(out);
	if (most <= 0 || most > SELECT_MOST)
		return;
	words = ((size_t)most + 63) / 64;
	for (unsigned set = 0; set < 3; set++) {
		uint64_t some[SELECT_WORDS];

		if (call->args[1 + set] == 0)
			continue;
		if (!memory_read(&source->memory, call->args[1 + set], some,
				 words * sizeof(some[0])))
			return;
		if (most % 64 != 0)
			some[words - 1] &= (UINT64_C(1) << (most % 64)) - 1;
		for (size_t i = 0; i < words; i++) {
			all[i] |= some[i];
			*(set == 1 ? &writes : &others) |= some[i];
		}
	}
	for (size_t i = 0; i < words; i++) {
		if (all[i] == 0)
			continue;
		out->fds += (uint32_t)__builtin_popcountll(all[i]);
		out->fd = (int)(i * 64) + __builtin_ctzll(all[i]);
	}
	if (out->fds == 0)
		wait_for_nothing(out);
	if (out->fds == 1)
		out->writes = writes != 0 && others == 0;
	else
		out->fd = -1;
}
