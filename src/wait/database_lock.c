/* SPDX-License-Identifier: MIT */
/* database_lock.c - the functions in which threads of database servers wait for locks. */
#include "wallsample/wait/wait_kind.h"

#include <string.h>

#include "wallsample/base/base.h"

#define LWLOCK_QUERY                                                                               \
	"SELECT pid, wait_event, query FROM pg_stat_activity WHERE wait_event_type = 'LWLock'"

struct row {
	const char *function;
	const char *caller; /* the function that has called it; NULL: any */
	struct database_lock lock;
};

/* Sources: PostgreSQL's src/backend/storage/lmgr (proc.c, lwlock.c); MariaDB's
 * storage/innobase/lock/lock0lock.cc (lock_wait, from 10.6 on), MySQL's and older MariaDB's
 * lock0wait.cc (lock_wait_suspend_thread), and sql/mdl.cc of both. */
static const struct row rows[] = {
	{ "ProcSleep",
	  NULL,
	  { "SELECT pid, pg_blocking_pids(pid) FROM pg_stat_activity "
	    "WHERE wait_event_type = 'Lock'",
	    true, "idle in transaction" } },
	{ "LWLockAcquire", NULL, { LWLOCK_QUERY, false, NULL } },
	{ "LWLockAcquireOrWait", NULL, { LWLOCK_QUERY, false, NULL } },
	{ "LWLockWaitForVar", NULL, { LWLOCK_QUERY, false, NULL } },
	{ "lock_wait",
	  "row_mysql_handle_errors",
	  { "SELECT * FROM information_schema.INNODB_LOCK_WAITS", true, NULL } },
	{ "lock_wait_suspend_thread", NULL, { "SHOW ENGINE INNODB STATUS", true, NULL } },
	{ "MDL_wait::timed_wait", NULL, { "SHOW FULL PROCESSLIST", false, NULL } },
};

/* True for the name of the function; suffixes do not belong to it: ".isra.0", "(int)". */
static bool
is_named(const char *name, const char *wanted)
{
	const size_t length = strlen(wanted);

	return name != NULL && strncmp(name, wanted, length) == 0 &&
	       (name[length] == '\0' || strchr(".@(", name[length]) != NULL);
}

const struct database_lock *
database_lock_find(const char *const *function, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < ARRAY_SIZE(rows); j++) {
			const char *caller = rows[j].caller;

			if (is_named(function[i], rows[j].function) &&
			    (caller == NULL ||
			     (i + 1 < count && is_named(function[i + 1], caller))))
				return &rows[j].lock;
		}
	}
	return NULL;
}
