/* SPDX-License-Identifier: MIT */
/* causal_words.c - describes a curve of a causal profile in words and as a plot. */
#include "wallsample/report/causal_words.h"

#include <math.h>

#include "wallsample/report/display.h"
#include "wallsample/report/quantity.h"

/*
 * A gain is shown with one digit after the decimal point if half the width of its interval is below
 * this: one percentage point.
 */
#define HALF_WIDTH_OF_DECIMALS 0.01
/* Plots show larger gains and losses as if they were this large: 1000%. */
#define DRAWN_MOST 10.0

struct causal_ranking
causal_ranking_of(const struct causal_input *input, uint32_t point)
{
	const struct causal_curves *curves = input->curves;
	struct causal_ranking ranking = { .known = NULL };

	for (size_t i = 0; i < curves->count; i++) {
		const struct causal_curve *curve = &curves->curve[i];

		if (curve->point != point)
			continue;
		if (curve->verdict == CAUSAL_UNSURE) {
			if (ranking.unsure_count++ == 0)
				ranking.unsure = curve;
		} else if (ranking.known_count++ == 0) {
			ranking.known = curve;
		}
	}
	return ranking;
}

static bool
gain_is_known(const struct causal_gain *gain)
{
	return gain->known && isfinite(gain->gain) && isfinite(gain->low) && isfinite(gain->high);
}

/*
 * Returns the gain to report: curve->gain[curve->shown], or if that is not known, the first known
 * gain at a speed-up above 0. Returns NULL if no gain is known.
 */
static const struct causal_gain *
gain_to_report(const struct causal_curve *curve)
{
	if (curve->shown > 0 && curve->shown < curve->gain_count &&
	    gain_is_known(&curve->gain[curve->shown]))
		return &curve->gain[curve->shown];
	for (size_t i = 1; i < curve->gain_count; i++)
		if (gain_is_known(&curve->gain[i]))
			return &curve->gain[i];
	return NULL;
}

/* Returns the number of experiments with a speed-up above 0 for the candidate. */
static size_t
count_experiments(const struct causal_curve *curve)
{
	size_t count = 0;

	for (size_t i = 1; i < curve->gain_count; i++)
		count += curve->gain[i].experiments;
	return count;
}

/* --- numbers ------------------------------------------------------------------------------ */

static int
decimals_of(const struct causal_gain *gain)
{
	return (gain->high - gain->low) / 2 < HALF_WIDTH_OF_DECIMALS ? 1 : 0;
}

/*
 * Returns a share in percent, rounded to `decimals` (0 or 1) digits after the decimal point.
 * Returns 0 instead of -0, which printf() would show as "-0".
 */
static double
percent(double part, int decimals)
{
	const double unit = decimals > 0 ? 10 : 1;
	const double rounded = round(100 * part * unit) / unit;

	return rounded == 0 ? 0 : rounded;
}

void
causal_add_gain(struct strbuf *sb, const struct causal_gain *gain)
{
	const int decimals = decimals_of(gain);

	if (!gain_is_known(gain)) {
		strbuf_add_text(sb, "-");
		return;
	}
	strbuf_add_format(sb, "%s%.*f [%.*f, %.*f]", percent(gain->gain, decimals) > 0 ? "+" : "",
			  decimals, percent(gain->gain, decimals), decimals,
			  percent(gain->low, decimals), decimals, percent(gain->high, decimals));
}

void
causal_add_slope(struct strbuf *sb, double slope)
{
	const double rounded = round(100 * slope) / 100;

	strbuf_add_format(sb, "%s%.2f", rounded > 0 ? "+" : "", rounded == 0 ? 0 : rounded);
}

void
causal_add_speedups(struct strbuf *sb, const struct causal_result *result)
{
	for (size_t i = 1; i < result->speedup_count; i++)
		strbuf_add_format(sb, "%s%.4g%%",
				  i == 1                        ? "" :
				  i + 1 < result->speedup_count ? ", " :
								  " and ",
				  100 * result->speedup[i]);
}

void
causal_add_rate(struct strbuf *sb, double rate)
{
	if (isfinite(rate) && rate >= 99.95 && rate < 1e18)
		strbuf_add_text(sb, quantity_count((uint64_t)llround(rate)).text);
	else
		strbuf_add_format(sb, "%.3g", rate);
}

/* --- sentences ------------------------------------------------------------------------------ */

/*
 * Adds the gain and its interval: " by 18% (15 to 21)". For a loss, all three numbers are written
 * with the opposite sign, because the sentence says "lower" or "lengthen".
 */
static void
add_amount(struct strbuf *sb, const struct causal_gain *gain)
{
	const int decimals = decimals_of(gain);
	const double sign = gain->gain < 0 ? -1 : 1;
	const double least = gain->gain < 0 ? -gain->high : gain->low;
	const double most = gain->gain < 0 ? -gain->low : gain->high;

	strbuf_add_format(sb, " by %.*f%% (%.*f to %.*f)", decimals,
			  percent(sign * gain->gain, decimals), decimals, percent(least, decimals),
			  decimals, percent(most, decimals));
}

/* Adds "less than 2%": the lowest whole percentage above all gains and losses in the interval. */
static void
add_bound(struct strbuf *sb, const struct causal_gain *gain)
{
	const double most = 100 * fmax(fabs(gain->low), fabs(gain->high));

	strbuf_add_format(sb, "less than %.0f%%", fmax(floor(most) + 1, 1));
}

/* Returns the verb for an improvement of a progress point if `better`, else for a loss. */
static const char *
verb_of(enum causal_point_kind kind, bool better)
{
	if (kind == CAUSAL_LATENCY)
		return better ? "shorten" : "lengthen";
	return better ? "raise" : "lower";
}

static void
add_unsure(struct strbuf *sb, const struct causal_curve *curve, const struct causal_gain *gain)
{
	strbuf_add_format(sb, ": not enough data yet: %s",
			  quantity_things(count_experiments(curve), "experiment", "experiments")
				  .text);
	if (gain != NULL) {
		strbuf_add_text(sb, ", so far ");
		causal_add_gain(sb, gain);
		strbuf_add_format(sb, " at %.4g%%", 100 * gain->speedup);
	}
	strbuf_add_text(sb, "; run longer.");
}

static void
add_effect(struct strbuf *sb, const struct causal_curve *curve, const struct causal_gain *gain,
	   const struct causal_point *point)
{
	const bool latency = point->kind == CAUSAL_LATENCY;

	if (curve->verdict == CAUSAL_NOTHING) {
		strbuf_add_format(sb, " would bring nothing: %s", latency ? "the time of " : "");
		strbuf_add_escaped(sb, point->name);
		strbuf_add_text(sb, latency ? " changes by " : " change by ");
		add_bound(sb, gain);
		strbuf_add_text(sb, ".");
		return;
	}
	strbuf_add_format(sb, " would %s ", verb_of(point->kind, gain->gain >= 0));
	strbuf_add_escaped(sb, point->name);
	add_amount(sb, gain);
	strbuf_add_text(sb, curve->verdict == CAUSAL_HURTS && gain->gain < 0 ?
				    ": other threads then contend with it." :
				    ".");
}

static void
candidate_add_name(struct strbuf *sb, const struct causal_candidate *candidate, size_t width)
{
	struct strbuf name = STRBUF_INIT;

	strbuf_add_escaped(&name, candidate->name);
	strbuf_add_text(sb, "`");
	display_add_name(sb, name.length > 0 ? name.data : "", width);
	strbuf_add_text(sb, "`");
	strbuf_release(&name);
}

void
causal_add_sentence(struct strbuf *sb, const struct causal_input *input,
		    const struct causal_curve *curve, size_t width)
{
	const struct causal_result *result = input->result;
	const struct causal_candidate *candidate = &result->candidate[curve->candidate];
	const struct causal_gain *gain = gain_to_report(curve);

	if (curve->verdict == CAUSAL_UNSURE || gain == NULL) {
		candidate_add_name(sb, candidate, width);
		add_unsure(sb, curve, gain);
	} else {
		strbuf_add_text(sb, "Making ");
		candidate_add_name(sb, candidate, width);
		strbuf_add_format(sb, " %.4g%% faster", 100 * gain->speedup);
		add_effect(sb, curve, gain, &result->point[curve->point]);
	}
}

/* --- plots ---------------------------------------------------------------------------------- */

static double
drawn(double gain)
{
	return fmin(fmax(gain, -DRAWN_MOST), DRAWN_MOST);
}

/*
 * Sets the y axis of the plot. All curves in ranking->known get the same axis, which has room for
 * all of them, so that their plots can be compared. A curve with the verdict CAUSAL_UNSURE may have
 * values of any size and gets an axis of its own.
 */
static void
scale(const struct causal_ranking *ranking, const struct causal_curve *curve, struct plot *plot)
{
	const bool ranked = curve->verdict != CAUSAL_UNSURE;
	const struct causal_curve *first = ranked ? ranking->known : curve;
	const size_t count = ranked ? ranking->known_count : 1;
	double low = 0, high = 0;

	for (size_t c = 0; c < count; c++)
		for (size_t i = 0; i < first[c].gain_count; i++)
			if (gain_is_known(&first[c].gain[i])) {
				low = fmin(low, first[c].gain[i].low);
				high = fmax(high, first[c].gain[i].high);
			}
	plot_scale(plot, drawn(low), drawn(high));
}

void
causal_plot(const struct causal_ranking *ranking, const struct causal_curve *curve,
	    struct plot *plot)
{
	*plot = (struct plot){ .verdict = causal_verdict_word(curve->verdict) };
	scale(ranking, curve, plot);
	for (size_t i = 0; i < curve->gain_count && i < PLOT_POINTS_MOST; i++)
		if (gain_is_known(&curve->gain[i]))
			plot->point[plot->count++] = (struct plot_point){
				.x = curve->gain[i].speedup,
				.y = drawn(curve->gain[i].gain),
				.low = drawn(curve->gain[i].low),
				.high = drawn(curve->gain[i].high),
			};
}
