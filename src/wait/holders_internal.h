/* SPDX-License-Identifier: MIT */
/*
 * holders_internal.h - which processes hold a pipe, a socket or a fifo: one walk through the
 * descriptors of all processes that may be looked at.
 *
 * A link is the text of /proc/PID/fd/N. What the walk found is looked at again before it is
 * told, so that a descriptor that has become another one in the meantime names nobody.
 */
#ifndef WALLSAMPLE_WAIT_HOLDERS_INTERNAL_H
#define WALLSAMPLE_WAIT_HOLDERS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/base/base.h"

struct holders;

/*
 * Walks; `own` is the process for whom it is done. About 5 us for each descriptor, of which the
 * kernel takes the most for listing them: 1 s for the 200,000 at which it gives up.
 */
struct holders *holders_scan(pid_t own);
void holders_free(struct holders *holders);

/* Who can do what with it. */
enum holder_access {
	HOLDER_ANY,
	HOLDER_READS,
	HOLDER_WRITES,
};

/* So many are named, the others counted. */
#define HOLDERS_NAMED 2

struct holders_found {
	size_t count;             /* processes, the own one among them */
	bool own;                 /* the own one is among them; it is not in pid[] */
	pid_t pid[HOLDERS_NAMED];
	size_t named;
	/* It is certain that there are no others: see holders_find in holders.c. */
	bool sure;
};

void holders_find(const struct holders *holders, const char *link, enum holder_access access,
		  struct holders_found *found);

/* "sort (1234)", "a (1), b (2) and 3 more", "itself", "a (1) and itself", "nobody". */
void holders_add_text(const struct holders_found *found, struct strbuf *out);

/* "sort (1234)"; the bytes of the name as they are. */
void holders_add_process(pid_t pid, struct strbuf *out);

#endif
