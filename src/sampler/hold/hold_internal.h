/* SPDX-License-Identifier: MIT */
/*
 * hold_internal.h - threads that somebody holds from one tick to the next (struct
 * sampler_control).
 */
#ifndef WALLSAMPLE_SAMPLER_HOLD_HOLD_INTERNAL_H
#define WALLSAMPLE_SAMPLER_HOLD_HOLD_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampler/hold/hold_late_internal.h"
#include "wallsample/sampler/sampler.h"

struct sampler;
struct tracked;

struct hold {
	struct sampler_caught *caught; /* at this tick */
	size_t count, capacity;
	size_t before;        /* so many were held when it began, and are none of these */
	size_t spared;        /* so many were left alone at it */
	bool on;              /* time is counted: since from_ns, until until_ns */
	uint64_t from_ns;     /* when those that go on went on */
	uint64_t until_ns;    /* UINT64_MAX: until the next tick has decided */
	uint64_t asked_ns;    /* when this tick began to stop them */
	uint64_t due_ns;      /* when it was due; 0: none was before */
	uint64_t decided_ns;  /* to decide took so long, until those that go on did */
	double lag_ns;        /* by so much later they begin, on average */
	double part, told_ns; /* of the last tick; both 0: nobody was to be held */
	double owed_ns;       /* so much longer it should have been, in all ticks until now */
	size_t others;        /* so many were held at the last tick, or still */
	struct hold_late late;
};

void hold_release(struct hold *hold); /* its memory */

/* A tick is over after which the others were to be held for `part` of so long, and were for so
 * long: what that leaves owed, besides what was, at most `most_ns` either way. */
double hold_owe(double owed_ns, double part, double length_ns, double held_ns, double most_ns);

/* Is there somebody who wants threads held? */
bool hold_is_wanted(const struct sampler *sampler);
/* A tick begins to stop what runs. */
void hold_begin(struct sampler *sampler);
/* The thread had to wait for a CPU, and was stopped as soon as it had one. */
void hold_spare(struct sampler *sampler, struct tracked *thread);
/* Is it left alone at this tick for that? */
bool hold_spares(struct sampler *sampler, const struct tracked *thread);
/* One that was caught has been walked. */
void hold_add(struct sampler *sampler, const struct tracked *thread);
/* One that has stopped late: if it is held since, whether it goes on is decided at this tick. */
void hold_add_late(struct sampler *sampler, struct tracked *thread);
/* All have been: asks who goes on, lets them, and sets the time for the others. */
void hold_decide(struct sampler *sampler);
/* When to be back: the moment, or UINT64_MAX. If it has come, all are let go. */
uint64_t hold_due(const struct sampler *sampler);
void hold_serve(struct sampler *sampler, uint64_t now_ns);
/* All go on, now. */
void hold_end(struct sampler *sampler);

#endif
