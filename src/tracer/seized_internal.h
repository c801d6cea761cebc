/* SPDX-License-Identifier: MIT */
/* seized_internal.h - the threads that are seized, and what for. */
#ifndef WALLSAMPLE_TRACER_SEIZED_INTERNAL_H
#define WALLSAMPLE_TRACER_SEIZED_INTERNAL_H

#include "wallsample/tracer/tracer.h"

struct seized {
	pid_t tid;
	bool fresh;                   /* asked since the last tracer_collect */
	bool held;                    /* captured, and stopped until tracer_let_go */
	struct stop_request *request; /* NULL: of no interest any more */
};

/* A few dozen at most times: searched in order. Begins as zeros. */
struct seized_list {
	struct seized *item;
	size_t count, capacity;
};

void seized_add(struct seized_list *list, pid_t tid, struct stop_request *request);
/* NULL when it is not there; the pointer is valid until the list changes. */
struct seized *seized_find(const struct seized_list *list, pid_t tid);
/* The last one takes its place. */
void seized_remove(struct seized_list *list, struct seized *item);
/* This request is of no interest any more; NULL: none is. */
void seized_forget(struct seized_list *list, const struct stop_request *request);
/* What is no tracee any more has come to this end, and is taken out. */
void seized_drop_untraced(struct seized_list *list, enum stop_end end);
/* How many are fresh. */
size_t seized_count_fresh(const struct seized_list *list);
void seized_release(struct seized_list *list);

#endif
