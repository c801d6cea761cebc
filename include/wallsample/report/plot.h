/* SPDX-License-Identifier: MIT */
/*
 * plot.h - draws a small plot of gains (y) over speed-ups (x), as characters or as elements of an
 * SVG. Both are shares; each point has a confidence interval.
 */
#ifndef WALLSAMPLE_REPORT_PLOT_H
#define WALLSAMPLE_REPORT_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "wallsample/causal/causal.h"

#define PLOT_POINTS_MOST CAUSAL_SPEEDUPS_MOST

/* Size in pixels of the drawing of plot_write_svg(), whose origin is 0, 0. */
#define PLOT_WIDTH 380
#define PLOT_HEIGHT 214

struct plot_point {
	double x;         /* from 0 to 1 */
	double y;         /* 1 is 100% */
	double low, high; /* ends of the interval around y */
};

struct plot {
	struct plot_point point[PLOT_POINTS_MOST]; /* in ascending order of x */
	size_t count;
	/* The y axis, set by plot_scale(): `bottom` and `top` are multiples of `step`, the
	 * distance between labels; bottom <= 0 <= top. */
	double bottom, top, step;
	const char *verdict; /* causal_verdict_word() of the curve: palette.css has its colours */
};

/* Sets the y axis so that it includes low, high and 0. Both arguments are finite. */
void plot_scale(struct plot *plot, double low, double high);

/*
 * Writes lines of at most `width` cells; `width` is at least 40. If `ascii` is true, the lines
 * consist of ASCII characters.
 */
void plot_write_text(const struct plot *plot, FILE *out, size_t width, bool ascii);

/*
 * Writes SVG elements of the classes grid, zero, tick, band, curve and dot. Their text consists of
 * constants of wallsample and of numbers that it has computed.
 */
void plot_write_svg(const struct plot *plot, FILE *out);

#endif
