/* SPDX-License-Identifier: MIT */
/*
 * descriptor_internal.h - what the files that describe descriptors share: one target, and what was
 * read of the machine for it within the last second.
 */
#ifndef WALLSAMPLE_WAIT_DESCRIPTOR_INTERNAL_H
#define WALLSAMPLE_WAIT_DESCRIPTOR_INTERNAL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "wait/holders_internal.h"
#include "wait/net_tables_internal.h"
#include "wallsample/wait/descriptor.h"
#include "wallsample/base/table.h"

/* The text of a link in /proc/PID/fd, and the zero behind it. */
#define LINK_SIZE PATH_MAX

struct described; /* the texts that were made for an id */

/* When something of the machine was read, and for how long. */
struct reading {
	uint64_t at_ns, took_ns;
};

struct descriptors {
	const struct process *process;
	int fd_dir, info_dir;    /* /proc/PID/fd and fdinfo; -1: may not be opened */
	int diag;                /* to ask for UNIX sockets; -1: not opened yet, or it cannot be */
	bool same_network;       /* the target is in our network namespace */
	char id[LINK_SIZE];      /* of the last look */
	struct holders *holders; /* NULL: not read */
	struct net_tables *tables; /* the same */
	struct reading holders_read, tables_read;
	struct strings *ids;     /* numbers of what is in known[] */
	struct described *known;
	size_t known_capacity;
};

/* They are read when first asked for, and stay for a second. */
const struct holders *descriptors_holders(struct descriptors *descriptors);
const struct net_tables *descriptors_tables(struct descriptors *descriptors);
/*
 * What was looked for is not in them, because it is new or because it cannot be found. True:
 * they will be read anew, ask again. They are not when that would take more than a twentieth of
 * the time.
 */
bool descriptors_forget_holders(struct descriptors *descriptors);
bool descriptors_forget_tables(struct descriptors *descriptors);

/* The link of the descriptor into an array of LINK_SIZE, "" of one that is gone. */
enum descriptor_kind descriptor_read(struct descriptors *descriptors, int fd, char *link);

/* Adds what the socket is, whose link in /proc is `id`; false: nothing is known. */
bool socket_describe(struct descriptors *descriptors, int fd, const char *id,
		     struct strbuf *out);

/* Adds what the epoll, timer, … is that has no name. */
void unnamed_describe(struct descriptors *descriptors, int fd, enum descriptor_kind kind,
		      struct strbuf *out);

/* descriptor_describe; with `nested`, of an epoll only that it is one. */
bool descriptor_add(struct descriptors *descriptors, int fd, const char *id, bool nested,
		    struct strbuf *out);

#endif
