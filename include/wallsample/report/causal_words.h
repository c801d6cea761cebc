/* SPDX-License-Identifier: MIT */
/*
 * causal_words.h - describes the curves of causal profiles (causal_curve.h) in words and as plots.
 *
 * Each causal_add_* function appends to the buffer `sb`. Names of functions and of progress points
 * are escaped by strbuf_add_escaped().
 */
#ifndef WALLSAMPLE_REPORT_CAUSAL_WORDS_H
#define WALLSAMPLE_REPORT_CAUSAL_WORDS_H

#include "wallsample/report/plot.h"
#include "wallsample/base/base.h"
#include "wallsample/report/export.h"

/* The curves of one progress point, borrowed from struct causal_curves. */
struct causal_ranking {
	/* curves with a verdict other than CAUSAL_UNSURE, by descending slope; NULL: none */
	const struct causal_curve *known;
	size_t known_count;
	/* curves with the verdict CAUSAL_UNSURE; NULL: none */
	const struct causal_curve *unsure;
	size_t unsure_count;
};

/* Returns the curves of a progress point, borrowed from `input`. */
struct causal_ranking causal_ranking_of(const struct causal_input *input, uint32_t point);

/*
 * Adds a gain and its interval in percent, "+18 [15, 21]"; "-" if the gain is not known. If half
 * the width of the interval is below one percentage point, the numbers have one digit after the
 * decimal point.
 */
void causal_add_gain(struct strbuf *sb, const struct causal_gain *gain);
/* Adds a slope: "+0.36". */
void causal_add_slope(struct strbuf *sb, double slope);
/* Adds the speed-ups of the experiments, except speed-up 0: "10%, 25% and 50%". */
void causal_add_speedups(struct strbuf *sb, const struct causal_result *result);
/* Adds a number of events per second: "1,234", "12.3" or "0.045". */
void causal_add_rate(struct strbuf *sb, double rate);

/*
 * Adds a sentence on the curve: "Making `parse` 50% faster would raise requests by 18% (15 to 21)."
 * For a curve with the verdict CAUSAL_UNSURE or without a known gain the sentence says that there
 * is not enough data. The name of the candidate is shortened to `width` cells of a terminal.
 */
void causal_add_sentence(struct strbuf *sb, const struct causal_input *input,
			 const struct causal_curve *curve, size_t width);

/*
 * Fills `plot` with the known gains of the curve. Gains and ends of intervals above 1000% are drawn
 * at 1000%, those below -1000% at -1000%. All curves in ranking->known get the same y axis; a curve
 * in ranking->unsure gets an axis of its own.
 */
void causal_plot(const struct causal_ranking *ranking, const struct causal_curve *curve,
		 struct plot *plot);

#endif
