/* SPDX-License-Identifier: MIT */
/* waiting_bins_internal.h - how many waited for each thing, from the beginning to the end. */
#ifndef WALLSAMPLE_REPORT_TIME_WAITING_BINS_INTERNAL_H
#define WALLSAMPLE_REPORT_TIME_WAITING_BINS_INTERNAL_H

#include "wallsample/report/export.h"
#include "wallsample/analysis/waiting.h"

/* So many parts of the time. */
#define WAITING_BINS 12

/*
 * For each row of the table the time of waiters in each part, in ns: WAITING_BINS of them a row,
 * which the caller frees. NULL without a recording, or with several, whose times differ.
 */
double *waiting_bins_make(const struct export_input *input, const struct waiting *waiting);
/* Adds a bar for each part, the highest of them is full; nothing where nobody waited. */
void waiting_bins_add(const double *bin, struct strbuf *out);

#endif
