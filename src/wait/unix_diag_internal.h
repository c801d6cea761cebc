/* SPDX-License-Identifier: MIT */
/* unix_diag_internal.h - asks the kernel for UNIX sockets by sock_diag(7), the only source of the
 * peer of a UNIX socket. */
#ifndef WALLSAMPLE_WAIT_UNIX_DIAG_INTERNAL_H
#define WALLSAMPLE_WAIT_UNIX_DIAG_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unix_socket {
	bool listens;
	uint32_t peer;  /* inode of the other end; 0: not known */
	char name[128]; /* "/run/x", "@abstract", or "" */
};

/* Opens a descriptor for unix_diag_ask, which the caller closes. Returns -1 on failure. */
int unix_diag_open(void);
/* Looks up a UNIX socket of wallsample's network namespace. False: not found, or no answer. */
bool unix_diag_ask(int fd, uint64_t inode, struct unix_socket *socket);
/* Parses the kernel's answer. False: the answer does not describe the socket. */
bool unix_diag_parse(const void *answer, size_t size, uint64_t inode, struct unix_socket *socket);

#endif
