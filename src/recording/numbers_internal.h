/* SPDX-License-Identifier: MIT */
/*
 * numbers_internal.h - what sampling cost and missed, by name: rows of the tables cost and
 * losses.
 */
#ifndef WALLSAMPLE_RECORDING_NUMBERS_INTERNAL_H
#define WALLSAMPLE_RECORDING_NUMBERS_INTERNAL_H

#include <stddef.h>

#include "wallsample/profile/run_stats.h"

/* How a number of several recordings becomes one. */
enum number_merge { MERGE_SUM, MERGE_MOST, MERGE_LEAST, MERGE_FIRST };

struct number {
	const char *name;
	enum { NUMBER_U64, NUMBER_U32, NUMBER_INT, NUMBER_BOOL, NUMBER_DOUBLE } type;
	size_t offset; /* in struct run_stats */
	enum number_merge merge;
};

/* Ended by a NULL name. The histogram of stops and what is counted by reason are apart. */
extern const struct number recording_numbers[];

double number_get(const struct number *number, const struct run_stats *stats);
/* Puts in the value of one more recording; `first`: there has been none. What cannot be of that
 * type is left out. */
void number_merge(const struct number *number, struct run_stats *stats, double value,
		  bool first);

/* The words that reasons go by: kind "failed" and "chain". NULL behind the last. */
const char *loss_failure_word(size_t reason);
const char *loss_chain_word(size_t reason);

#endif
