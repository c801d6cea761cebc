/* SPDX-License-Identifier: MIT */
/* causal_candidates_internal.h - which code of a profile virtual speed-ups are tried on. */
#ifndef WALLSAMPLE_CLI_CAUSAL_CANDIDATES_INTERNAL_H
#define WALLSAMPLE_CLI_CAUSAL_CANDIDATES_INTERNAL_H

#include <regex.h>

#include "wallsample/causal/causal.h"
#include "wallsample/base/error.h"
#include "wallsample/analysis/view.h"

/*
 * Adds the `most` functions (lines, modules: what the view tells apart) with the most Latency of
 * their own to the result; of those alone that match `select`, if it is not NULL. An error says
 * what there is where nothing is what was asked for.
 */
int causal_candidates_choose(const struct view *view, const regex_t *select, size_t most,
			     struct causal_result *result, struct error *err);

#endif
