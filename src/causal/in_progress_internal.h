/* SPDX-License-Identifier: MIT */
/*
 * in_progress_internal.h - how many were in progress in the virtual time of an experiment.
 *
 * A tick that sees the candidate stands for all of the time to the next one: if the candidate
 * really were so much faster, `part` of that would not have passed. So it is left out, at the
 * number that was in progress when the tick looked. What is left out is not the moments in which
 * others were held: these begin at the first tick of a burst, and before it the others ran, while
 * in progress was what the burst works on. Of bursts of 12 ms and ticks of 5 a fifth was left, at
 * 100 %, where nothing should be.
 *
 * The time that is left need not be the virtual time of the experiment: what the others run before
 * the first tick of a burst is made up for by longer holds, but not at 100 %, where there is no
 * room. So it gives a mean number, which held for all of virtual time.
 */
#ifndef WALLSAMPLE_CAUSAL_IN_PROGRESS_INTERNAL_H
#define WALLSAMPLE_CAUSAL_IN_PROGRESS_INTERNAL_H

#include <stddef.h>

#include "wallsample/causal/causal.h"

/* From one look to the next; in ns. */
struct in_progress_time {
	double passed;
	double part;      /* others were to be held for this part of it */
	double stopped;   /* nobody ran: after the first look, */
	double standing;  /* and for the second one */
	double idle;      /* others were held, but the candidate had nothing to do without them */
};

/* Of an experiment that counts; begins as zeros. */
struct in_progress {
	double left_ns;                    /* what is left of the time */
	double sum_ns[CAUSAL_POINTS_MOST]; /* over it, of how many were in progress */
	double wall_ns;
	double wall_sum_ns[CAUSAL_POINTS_MOST];
};

/* So many were in progress at `point` before and are now; of each point, then of the time. */
void in_progress_add(struct in_progress *to, size_t point, const struct in_progress_time *time,
		     double before, double now);
void in_progress_pass(struct in_progress *to, const struct in_progress_time *time);

/* The sum over so much virtual time. Of next to nothing it may be below 0: ticks are samples. */
double in_progress_sum(const struct in_progress *from, size_t point, double virtual_ns);

#endif
