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
/* What is read once for the descriptors of several processes: the tables of sockets of each network
 * namespace, and which processes have pipes and sockets open. */
struct endpoints;

struct endpoints *endpoints_create(void);
void endpoints_free(struct endpoints *endpoints);

/* Opens the /proc directories of the process's descriptors. Both arguments are borrowed. The caller
 * frees the result. */
struct descriptors *descriptors_create(const struct process *process, struct endpoints *endpoints);
void descriptors_free(struct descriptors *descriptors);

/*
 * Returns the kind of the descriptor, from its link in /proc, in some microseconds. Stores in *id
 * the text of the link ("" for DESCRIPTOR_GONE), which does not change while a pipe or socket is
 * open. The text is borrowed until the next call of this function.
 */
enum descriptor_kind descriptor_look(struct descriptors *descriptors, int fd, const char **id);

/*
 * Adds a text that describes the descriptor `fd`, whose id descriptor_look() has returned:
 * "/var/log/x", "pipe to sort (1234)", "tcp 127.0.0.1:5432 from 127.0.0.1:40022, psql (1235)",
 * "tcp to 10.0.0.7:443", "tcp port 8080", "unix to /run/x.sock, systemd (1)", "epoll of 3: …". The
 * two ends of a pipe have the same id: the text describes the pipe as seen from `fd`. Bytes of the
 * target are not escaped.
 *
 * If `fd` no longer has this id, adds the last known text of the pipe or socket. Returns false, and
 * adds nothing, when nothing beyond the id is known.
 *
 * May read the descriptors of all processes, which takes up to 1 s (the result is kept for a
 * second). So it must not be called while the sampler observes the target or has a thread stopped.
 */
bool descriptor_describe(struct descriptors *descriptors, int fd, const char *id,
			 struct strbuf *out);

#endif
