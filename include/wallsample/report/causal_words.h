/* SPDX-License-Identifier: MIT */
/*
 * causal_words.h - describes the curves of causal profiles in words and as plots.
 *
 * Each causal_add_* function appends to the buffer; foreign bytes are escaped (strbuf_add_escaped).
 */
#ifndef WALLSAMPLE_REPORT_CAUSAL_WORDS_H
#define WALLSAMPLE_REPORT_CAUSAL_WORDS_H

#include "wallsample/report/plot.h"
#include "wallsample/base/base.h"
#include "wallsample/report/export.h"

/* The curves of one progress point: the ranked ones, and those that are uncertain. Borrowed. */
struct causal_ranking {
	uint32_t point;
	const struct causal_curve *known, *unsure;
	size_t known_count, unsure_count;
};

/* Returns the curves of a progress point, borrowed from `input`. */
struct causal_ranking causal_ranking_of(const struct causal_input *input, uint32_t point);

/* Returns the gain to report: the one the curve selects, else the first known; NULL: none. */
const struct causal_gain *causal_told(const struct causal_curve *curve);
/* Returns the number of experiments with a speed-up above 0 for the candidate of the curve. */
size_t causal_experiments(const struct causal_curve *curve);

/* "+18 [15, 21]", in percent; "-" if not known. */
void causal_add_gain(struct strbuf *sb, const struct causal_gain *gain);
/* "+0.36" */
void causal_add_slope(struct strbuf *sb, double slope);
/* "10%, 25% and 50%": the speed-ups of the experiments, without 0. */
void causal_add_speedups(struct strbuf *sb, const struct causal_result *result);
/* "1,234", "12.3", "0.045": events per second. */
void causal_add_rate(struct strbuf *sb, double rate);
/* "src/parse.c:10"; nothing if it is not known, or equals the candidate's name. */
void causal_add_place(struct strbuf *sb, const struct causal_candidate *candidate);

/*
 * "Making `parse` 50% faster would raise requests by 18% (15 to 21)." A longer name is shortened to
 * `width` cells.
 */
void causal_add_sentence(struct strbuf *sb, const struct causal_input *input,
			 const struct causal_curve *curve, size_t width);

/* Fills `plot` with the known gains of the curve, on an axis shared by its progress point. */
void causal_plot(const struct causal_ranking *ranking, const struct causal_curve *curve,
		 struct plot *plot);

#endif
