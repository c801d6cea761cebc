/* SPDX-License-Identifier: MIT */
/*
 * causal_words.h - curves of causal profiles in words, and as plots.
 *
 * All text that is added is fit for people (strbuf_add_foreign).
 */
#ifndef WALLSAMPLE_REPORT_CAUSAL_WORDS_H
#define WALLSAMPLE_REPORT_CAUSAL_WORDS_H

#include "wallsample/report/plot.h"
#include "wallsample/base/base.h"
#include "wallsample/report/export.h"

/* The curves of one progress point: those that are ranked, then those that are unsure. */
struct causal_ranking {
	uint32_t point;
	const struct causal_curve *known, *unsure;
	size_t known_count, unsure_count;
};

struct causal_ranking causal_ranking_of(const struct causal_input *input, uint32_t point);

/* The gain to tell of: what the curve says, else the first that is known; NULL: none is. */
const struct causal_gain *causal_told(const struct causal_curve *curve);
/* Experiments with a speed-up that were made for it. */
size_t causal_experiments(const struct causal_curve *curve);

/* "+18 [15, 21]", in percent; "-" of what is not known. */
void causal_add_gain(struct strbuf *sb, const struct causal_gain *gain);
/* "+0.36" */
void causal_add_slope(struct strbuf *sb, double slope);
/* "10%, 25% and 50%", without the 0. */
void causal_add_speedups(struct strbuf *sb, const struct causal_result *result);
/* "1,234", "12.3", "0.045": events a second. */
void causal_add_rate(struct strbuf *sb, double rate);
/* "src/parse.c:10"; nothing if that is not known, or is the candidate's name. */
void causal_add_place(struct strbuf *sb, const struct causal_candidate *candidate);

/* "Making `parse` 50% faster would raise requests by 18% (15 to 21)." Names fit `width` cells. */
void causal_add_sentence(struct strbuf *sb, const struct causal_input *input,
			 const struct causal_curve *curve, size_t width);

/* What is known of the curve, on the axis that all of its progress point share. */
void causal_plot(const struct causal_ranking *ranking, const struct causal_curve *curve,
		 struct plot *plot);

#endif
