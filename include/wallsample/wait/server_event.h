/* SPDX-License-Identifier: MIT */
/*
 * server_event.h - the name of the lock for which a process of a database server waits, as the
 * server itself publishes it.
 *
 * PostgreSQL 14 and later: the variable my_wait_event_info points to a number in shared memory,
 * which is the wait event of pg_stat_activity (src/include/utils/wait_event.h).
 */
#ifndef WALLSAMPLE_WAIT_SERVER_EVENT_H
#define WALLSAMPLE_WAIT_SERVER_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "wallsample/base/memory.h"
#include "wallsample/base/base.h"
#include "wallsample/process/maps.h"
#include "wallsample/wait/wait_kind.h"

/* Programs of servers, by file: what is found in one is used for all its processes. */
struct server_programs;

struct server_programs *server_programs_create(void);
void server_programs_free(struct server_programs *programs);

/* What is published by one process. A struct whose bytes are all zero: nothing. */
struct server_process {
	uint64_t variable; /* address in the target of a pointer to the number; 0: none */
	uint32_t locks;    /* number of the first group of locks; 0: not known */
};

/*
 * Finds what the process with these mappings publishes. Takes 1 us per mapping; for the first
 * process of a server's program in addition some milliseconds, in which its symbols are read, so
 * it must not be called while a thread is stopped. Images must not be freed before `programs`.
 */
void server_process_find(struct server_programs *programs, const struct maps *maps,
			 struct server_process *out);

/*
 * Adds the name of the database lock that the process waits for: "row (transactionid, tuple)",
 * "relation", "WALWrite (LWLock)", "LWLock 61". `kind` is that of the system call in which the
 * process sleeps. Returns false, and adds nothing, if the process does not wait for a database lock
 * in such a call. Two reads of the target's memory, in 2 us.
 */
bool server_process_add_lock(const struct server_process *process, const struct memory *memory,
			     enum wait_kind kind, struct strbuf *out);

#endif
