/* SPDX-License-Identifier: MIT */
/* pass.h - sends and receives bytes of a UNIX socket, together with a descriptor (SCM_RIGHTS,
 * unix(7)). */
#ifndef WALLSAMPLE_BASE_PASS_H
#define WALLSAMPLE_BASE_PASS_H

#include <stddef.h>
#include <sys/types.h>

/* Sends 1 to `size` bytes, as send(2) with MSG_NOSIGNAL does, and passes a duplicate of `fd` with
 * the first byte; -1: passes none. `size` is at least 1. The caller keeps `fd`. Restarts after
 * EINTR. Returns the number of bytes sent, or -1 with errno set. */
ssize_t pass_send(int socket, const void *bytes, size_t size, int fd);

/*
 * Receives 1 to `size` bytes, as recv(2) does; `size` is at least 1. Stores in *fd the descriptor
 * that was passed with them (close-on-exec), which the caller closes, or -1. If `fd` is NULL, the
 * kernel closes passed descriptors. Returns the number of bytes, 0 when the other side has closed
 * the socket, or -1 with errno set. EINTR is returned, too, so that the caller can check the time.
 */
ssize_t pass_receive(int socket, void *bytes, size_t size, int *fd);

#endif
