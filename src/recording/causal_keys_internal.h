/* SPDX-License-Identifier: MIT */
/*
 * causal_keys_internal.h - how experiments were made and what they cost, by name: rows of table
 * causal.
 */
#ifndef WALLSAMPLE_RECORDING_CAUSAL_KEYS_INTERNAL_H
#define WALLSAMPLE_RECORDING_CAUSAL_KEYS_INTERNAL_H

#include <stddef.h>

#include "wallsample/causal/causal.h"

/* The two that are texts. */
#define CAUSAL_KEY_UNIT "unit"
#define CAUSAL_KEY_COMMAND "command"

struct causal_key {
	const char *name;
	enum { CAUSAL_KEY_U64, CAUSAL_KEY_INT, CAUSAL_KEY_BOOL, CAUSAL_KEY_DOUBLE } type;
	size_t offset; /* in struct causal_result */
	double most;   /* in [0, most] */
};

/* Ended by a NULL name. */
extern const struct causal_key causal_keys[];

#endif
