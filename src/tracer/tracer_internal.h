/* SPDX-License-Identifier: MIT */
/* tracer_internal.h - what tracer.c, tracer_wait.c and tracer_hold.c share. */
#ifndef WALLSAMPLE_TRACER_TRACER_INTERNAL_H
#define WALLSAMPLE_TRACER_TRACER_INTERNAL_H

#include "tracer/seized_internal.h"
#include "tracer/watchdog_internal.h"
#include "wallsample/base/base.h"

struct counting;

struct tracer {
	const struct process *process;
	struct watchdog watchdog;
	struct seized_list seized;
	bool is_parent;         /* of the process, which then is our child */
	bool exited;            /* it has exited, */
	int exit_status;        /* with this wait status */
	uint64_t waited_ns;     /* a moment at which nothing stood still that was not served */
	int own_delay_fd;       /* how long we have waited for a CPU ourselves: */
	uint64_t own_delay_ns;  /* at that moment, or a little before */
	bool keep_late;         /* who stops late is held, too: until all are let go */
	bool quiet;             /* there was no tracee, and none was asked for since */
	bool has_away;          /* away_begin waits for its away_end */
	unsigned away;          /* how many tracer_leave wait for their tracer_return */
	struct tracer_stats stats;
	struct counting *counting; /* NULL: between stops nothing is seized */
};

/* How a wait has ended. */
struct wait_end {
	pid_t tid;     /* what waitpid(2) says; < 0: nothing, errno says why */
	int status;
	uint64_t at_ns;
	bool slept;    /* until something stopped; else it may have stood still for long */
};

/* What is going on around the waits of one call. */
struct waiting {
	uint64_t deadline_ns;
	bool hold;             /* captured threads are not released yet */
	bool runners_only;     /* of those who are held: who slept after all is not */
	size_t pending;        /* fresh requests without an end */
};

/* Once; false when the time is over or there is nothing to wait for. */
bool tracer_wait_once(struct tracer *tracer, struct waiting *waiting, uint64_t spin_ns);
/* Until all that were asked since the last time have come to an end, or the time is over. */
void tracer_wait_for_fresh(struct tracer *tracer, struct waiting *waiting);
/* What a wait has brought. */
void tracer_take(struct tracer *tracer, const struct wait_end *end, struct waiting *waiting);
/* Who stands still since tracer_wait_for_fresh goes on; what has not stopped is outstanding. */
void tracer_release_fresh(struct tracer *tracer);
/* A captured one stays stopped until tracer_let_go; its request is free. */
void tracer_hold(struct seized *entry);
/* One that is on no list any more goes on, with the signal if it is not 0; but not if job control
 * has stopped it. */
void tracer_release(struct tracer *tracer, pid_t tid, int signo, bool group_stopped);

#endif
