/* SPDX-License-Identifier: MIT */
/*
 * descriptor.h - describes a descriptor of the target: a file with its path, a pipe and the process
 * at its other end, a socket with its protocol and addresses.
 */
#ifndef WALLSAMPLE_WAIT_DESCRIPTOR_H
#define WALLSAMPLE_WAIT_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "wallsample/base/base.h"
#include "wallsample/process/process.h"

enum descriptor_kind {
	DESCRIPTOR_GONE, /* the descriptor was closed, or may not be read */
	DESCRIPTOR_FILE,
	DESCRIPTOR_DIRECTORY,
	DESCRIPTOR_PIPE, /* a pipe or a fifo */
	DESCRIPTOR_TERMINAL,
	DESCRIPTOR_DEVICE,
	DESCRIPTOR_SOCKET,
	DESCRIPTOR_EVENTFD,
	DESCRIPTOR_TIMERFD,
	DESCRIPTOR_SIGNALFD,
	DESCRIPTOR_INOTIFY,
	DESCRIPTOR_EPOLL,
	DESCRIPTOR_IO_URING,
	DESCRIPTOR_OTHER,
};

struct descriptors;

/* Opens the /proc directories of the process's descriptors. `process` is borrowed. The caller frees
 * the result. */
struct descriptors *descriptors_create(const struct process *process);
void descriptors_free(struct descriptors *descriptors);

/*
 * Returns the kind of the descriptor, from its link in /proc, in some microseconds. Stores in *id
 * the text of the link, which is constant for a pipe or socket and is borrowed until the next call.
 */
enum descriptor_kind descriptor_look(struct descriptors *descriptors, int fd, const char **id);

/*
 * Adds a text that describes the descriptor `fd` with this id: "/var/log/x", "pipe to sort (1234)",
 * "tcp 127.0.0.1:5432 from 127.0.0.1:40022, psql (1235)", "tcp to 10.0.0.7:443", "tcp port 8080",
 * "unix to /run/x.sock, systemd (1)", "epoll of 3: …". The two ends of a pipe have the same id: the
 * text describes the pipe as seen from `fd`. Bytes of the target are not escaped.
 *
 * May walk the descriptors of all processes (cached for a second), so it must not be called while a
 * thread is held, or in a tick. For a pipe or socket that was closed the last known text is added.
 * Returns false, and adds nothing, when nothing beyond the id is known.
 */
bool descriptor_describe(struct descriptors *descriptors, int fd, const char *id,
			 struct strbuf *out);

#endif
