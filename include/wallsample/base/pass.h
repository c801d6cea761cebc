/* SPDX-License-Identifier: MIT */
/* pass.h - sends and receives bytes of a UNIX socket, together with a descriptor (SCM_RIGHTS,
 * unix(7)). */
#ifndef WALLSAMPLE_BASE_PASS_H
#define WALLSAMPLE_BASE_PASS_H

#include <stddef.h>
#include <sys/types.h>

/* As send(2) with MSG_NOSIGNAL: sends `size` bytes, at least 1, or fewer, and with the first byte
 * the descriptor `fd`, which stays with the caller; -1: none. Repeats the call after EINTR. Returns
 * the number of bytes, or -1 with errno. */
ssize_t pass_send(int socket, const void *bytes, size_t size, int fd);

/*
 * As recv(2): receives at most `size` bytes, at least 1. Stores in *fd a descriptor that came with
 * them, which the caller closes, or -1; if `fd` is NULL, the kernel discards descriptors. Returns
 * the number of bytes, 0 at the end, or -1 with errno, also EINTR.
 */
ssize_t pass_receive(int socket, void *bytes, size_t size, int *fd);

#endif
