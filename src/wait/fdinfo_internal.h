/* SPDX-License-Identifier: MIT */
/*
 * fdinfo_internal.h - what /proc/PID/fdinfo/N says of descriptors without a name: when a timer
 * expires, which signals are waited for, what an epoll watches. See proc_pid_fdinfo(5).
 */
#ifndef WALLSAMPLE_WAIT_FDINFO_INTERNAL_H
#define WALLSAMPLE_WAIT_FDINFO_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/base.h"

/* So many descriptors of an epoll are kept. */
#define FDINFO_WATCHED 8

struct fdinfo {
	bool has_timer;
	uint64_t left_ns;      /* of a timerfd; 0: it is not set */
	uint64_t interval_ns;  /* 0: it expires once */
	bool has_signals;
	uint64_t signals;      /* of a signalfd: bit 0 is signal 1 */
	size_t watches;        /* of inotify */
	uint64_t pid;          /* of a pidfd; 0: it is none, or its process is gone */
	size_t watched;        /* how many descriptors an epoll watches */
	struct {
		int fd;        /* under which it was added; it may be another one today */
		uint64_t inode;
	} first[FDINFO_WATCHED]; /* those with the lowest numbers, in order */
};

void fdinfo_parse(const char *text, struct fdinfo *info);

/* "timerfd, in 3.2 s" and "signalfd of SIGINT, SIGTERM". */
void fdinfo_add_timer(const struct fdinfo *info, struct strbuf *out);
void fdinfo_add_signals(const struct fdinfo *info, struct strbuf *out);

#endif
