/* SPDX-License-Identifier: MIT */
/* causal_internal.h - the parts of a causal run: the order of experiments (plan.c), the candidates
 * in stacks (match.c), and the number of events in progress (in_progress.c). */
#ifndef WALLSAMPLE_CAUSAL_CAUSAL_INTERNAL_H
#define WALLSAMPLE_CAUSAL_CAUSAL_INTERNAL_H

#include "wallsample/base/base.h"
#include "wallsample/causal/causal.h"
#include "wallsample/profile/profile.h"
#include "wallsample/symbol/symbol.h"

/* --- plan.c: the order of experiments, every second one at speed-up 0 ------------------------ */

/* An experiment to run: indices of its candidate and its speed-up in the result. */
struct plan_item {
	uint32_t candidate;
	uint32_t speedup;
};

struct plan {
	const struct causal_result *result; /* borrowed */
	struct rng rng;
	struct plan_item *item; /* the experiments of this round, in random order */
	size_t count, capacity;
	size_t at;     /* index of the next experiment of this round */
	size_t wanted; /* estimated total number of experiments in the run */
	bool compared; /* the last planned experiment was at speed-up 0 */
	/* Each gain of the first progress point has the requested precision, or is abandoned
	 * because none of its first experiments (FAILURES_ENOUGH, plan.c) became WHOLE. */
	bool over;
};

/* `result` is borrowed. `seed` determines the order of the experiments. plan_release frees the
 * plan's memory. */
void plan_init(struct plan *plan, const struct causal_result *result, uint64_t seed);
void plan_release(struct plan *plan);
/*
 * Returns the next experiment. It is at speed-up 0 if it is the first one, if the previous one was
 * at another speed-up, or if `may_hold` is false because no more hold time is permitted. The
 * experiments at other speed-ups are planned in rounds: a round has one experiment for each pair of
 * candidate and speed-up whose gain of the first progress point does not have the requested
 * precision and is not abandoned. If a round would be empty, sets plan->over, and the returned item
 * has no meaning.
 */
struct plan_item plan_next(struct plan *plan, bool may_hold);

/* --- match.c: the candidates in a stack of the profile --------------------------------------- */

/* The caller sets the first three members, which are borrowed, and zeroes the others. */
struct match {
	const struct causal_result *result;
	const struct profile *profile;
	struct symbols *symbols;
	/* Array, indexed by the number of a frame in the profile. */
	struct match_frame {
		/* Bit n: candidate n is a function of the frame (inlined functions included), or
		 * the line or the module of such a function. */
		uint64_t mask;
		/* Bit n: candidate n is the innermost function of the frame, or the line or the
		 * module of that function. */
		uint64_t inner;
		/* The frame was put into `queue`; both masks are 0 until it is named. */
		bool queued;
	} * frame;
	size_t frames, frame_capacity;
	uint32_t *queue; /* numbers of the frames that match_name_queued will name */
	size_t queue_count, queue_capacity;
};

void match_release(struct match *match);
/*
 * Returns a mask in which bit n is set if candidate n is in the stack; if result->self is set, only
 * if candidate n is its leaf or its innermost interpreted function. Threads are stopped during this
 * call, and finding the name of a frame may take as long as reading a file. A frame whose name is
 * not known yet therefore matches no candidate, and is queued for match_name_queued.
 */
uint64_t match_stack(struct match *match, uint32_t stack);
/* Names the queued frames, sets their masks, and empties the queue. */
void match_name_queued(struct match *match);

/* --- in_progress.c: mean number of events in progress over virtual time ---------------------- */

/*
 * A tick that finds the candidate running represents the time to the next tick. If the candidate
 * were faster by the speed-up, a part of that time (member `part` below) would not have passed. The
 * mean omits this part. The length of the part, and the times `stopped`, `standing` and `idle`
 * below, are subtracted from the time that has passed; what is left is called the remaining time.
 * Each of them, multiplied by a number in progress, is subtracted from the integral of the number
 * in progress: the part and `stopped` by the number at the first tick of the interval, `standing`
 * and `idle` by the number at the second.
 *
 * It would not suffice to omit the holds instead: their time from the time that has passed, and the
 * numbers in progress during the holds from the integral. While the candidate runs without
 * interruption (a burst), the first hold begins at the first tick. The time from the beginning of
 * the burst to this tick would remain, with the work of the burst in progress, although a faster
 * candidate would not have taken this time. (With bursts of 12 ms and ticks of 5 ms a fifth of the
 * time remained at a speed-up of 100 %, where none should remain.) If the time after each tick is
 * omitted, the last tick of a burst omits more time than the burst still takes, which on average
 * compensates for the time before the first tick.
 *
 * The remaining time may differ from the virtual time of the experiment. Hold time without effect
 * (member `idle`) is compensated by longer holds later, but at a speed-up of 100 % each hold
 * already lasts to the next tick and cannot be longer. Because the two times can differ, the
 * integral over the remaining time is not used itself: the mean over the remaining time is
 * multiplied by the virtual time.
 */

/* The interval from one tick to the next. Except for `part`, the members are durations in ns. */
struct in_progress_time {
	double passed; /* length of the interval */
	/* Share, in [0, 1], of the interval without `stopped` and `standing` for which other
	 * threads were to be held. */
	double part;
	/* Time for which the first tick kept all threads stopped after its snapshot was taken. */
	double stopped;
	/* Time for which the second tick kept threads stopped before its snapshot was taken. */
	double standing;
	double idle; /* time for which the candidate waited for threads that were held */
};

/* Sums over the intervals of the current experiment. The caller zeroes the sums at the end of the
 * settling time (causal_run.c), so that they cover the same time as the experiment's counts. */
struct in_progress {
	/* Remaining time: without the omitted parts, and without `stopped`, `standing` and `idle`
	 * of the intervals. */
	double left_ns;
	/* Integrals of the number in progress over the remaining time. */
	double sum_ns[CAUSAL_POINTS_MOST];
	double wall_ns; /* length of all intervals */
	/* Integrals of the number in progress over the whole length of the intervals. */
	double wall_sum_ns[CAUSAL_POINTS_MOST];
};

/*
 * Adds the interval `time` to the sums of a point, whose number in progress was `before` at the
 * start of the interval and is `now` at its end. in_progress_pass adds the interval to left_ns and
 * wall_ns, which all points share: it is called once for each interval.
 */
void in_progress_add(struct in_progress *to, size_t point, const struct in_progress_time *time,
		     double before, double now);
void in_progress_pass(struct in_progress *to, const struct in_progress_time *time);
/*
 * Returns the mean number in progress of a point, multiplied by `virtual_ns`, the virtual time of
 * the experiment. The mean is that over the remaining time or, if no more than the share LEFT_LEAST
 * (in_progress.c) of the virtual time remains, over the whole time; it is 0 if no time has passed.
 * The result may be slightly below 0, because the omitted parts are estimated from ticks.
 */
double in_progress_sum(const struct in_progress *from, size_t point, double virtual_ns);

#endif
