/* SPDX-License-Identifier: MIT */
/*
 * counting_internal.h - what a tracer that counts does with a stop: the rest of it knows no
 * more.
 */
#ifndef WALLSAMPLE_TRACER_HOLD_COUNTING_INTERNAL_H
#define WALLSAMPLE_TRACER_HOLD_COUNTING_INTERNAL_H

#include "tracer/hold/breakpoint_internal.h"
#include "tracer/hold/tracees_internal.h"
#include "tracer/tracer_internal.h"

struct counting {
	struct breakpoints breakpoints;
	struct tracees tracees;
	uint64_t total[TRACER_COUNT_MOST];
	enum tracer_count_end state;
	bool leaving;   /* whoever stops is cleared and detached */
	bool refused;   /* EPERM of some thread */
	int error;      /* of the first breakpoint that could not be set */
};

/* Is it a thread that stays seized? */
bool counting_has(const struct tracer *tracer, pid_t tid);

/* As stop_seize, of a thread that is to stay seized, or is already. */
int counting_seize(struct tracer *tracer, pid_t tid);

/*
 * What a wait has brought. True: it was a stop of the counting's own, and is served. False: the
 * stop, or the exit, is for who asked.
 */
bool counting_take(struct tracer *tracer, const struct wait_end *end, struct waiting *waiting);

/*
 * In place of stop_detach, of a stopped thread that stays seized: it goes on, with the signal if it
 * is not 0; one that job control has stopped does not. False: it was killed in its stop.
 */
bool counting_go_on(struct tracer *tracer, pid_t tid, int signo, bool group_stopped);

/* After tracer_count_stop: sets the breakpoints again, and counts on. */
void counting_return(struct tracer *tracer);
/* Ends with it; NULL is nothing. */
void counting_free(struct tracer *tracer);

#endif
