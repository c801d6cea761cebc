/* SPDX-License-Identifier: MIT */
/*
 * unix_diag_internal.h - asks the kernel about one UNIX socket of our own network namespace, and
 * for the socket that it is connected to: sock_diag(7). Nothing else tells who the other end is.
 */
#ifndef WALLSAMPLE_WAIT_UNIX_DIAG_INTERNAL_H
#define WALLSAMPLE_WAIT_UNIX_DIAG_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unix_socket {
	bool listens;
	uint32_t peer;  /* inode of the other end; 0: none that is known */
	char name[128]; /* "/run/x", "@abstract", or "" */
};

/* A descriptor to ask through, or -1. */
int unix_diag_open(void);
/* False: no such socket here, or this kernel cannot be asked. */
bool unix_diag_ask(int fd, uint64_t inode, struct unix_socket *socket);
/* What an answer says; false when it is none. */
bool unix_diag_parse(const void *answer, size_t size, uint64_t inode,
		     struct unix_socket *socket);

#endif
