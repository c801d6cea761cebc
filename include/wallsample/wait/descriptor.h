/* SPDX-License-Identifier: MIT */
/*
 * descriptor.h - what is behind a descriptor of the target: a file with its path, a pipe and the
 * process at its other end, a socket with its protocol and addresses.
 */
#ifndef WALLSAMPLE_WAIT_DESCRIPTOR_H
#define WALLSAMPLE_WAIT_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "wallsample/base/base.h"
#include "wallsample/process/process.h"

enum descriptor_kind {
	DESCRIPTOR_GONE,   /* not open any more, or we may not ask */
	DESCRIPTOR_FILE,
	DESCRIPTOR_DIRECTORY,
	DESCRIPTOR_PIPE,   /* fifos, too */
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

struct descriptors *descriptors_create(const struct process *process);
void descriptors_free(struct descriptors *descriptors);

/*
 * What the descriptor is, in some microseconds: its link in /proc. `id` is the text of that link,
 * the same as long as it is the same pipe or socket; borrowed until the next look.
 */
enum descriptor_kind descriptor_look(struct descriptors *descriptors, int fd, const char **id);

/*
 * Adds to `out` what such an id is, for people: "/var/log/x", "pipe to sort (1234)",
 * "tcp 127.0.0.1:5432 from 127.0.0.1:40022, psql (1235)", "tcp to 10.0.0.7:443", "tcp port
 * 8080", "unix to /run/x.sock, systemd (1)", "epoll of 3: …". Both ends of a pipe have one id:
 * what is said is of the end that `fd` is. Foreign bytes as they are.
 *
 * May take as long as it takes to go through the descriptors of all processes once: for a moment
 * at which no thread is held, and not in a tick. What was found so is good for a second. Of a
 * pipe or socket that is gone: what was last said of it. False: nothing more than the id is
 * known, and nothing is added.
 */
bool descriptor_describe(struct descriptors *descriptors, int fd, const char *id,
			 struct strbuf *out);

#endif
