/* SPDX-License-Identifier: MIT */
/*
 * plot.h - draws a small plot of shares over shares with an interval at each point, as characters
 * or as elements of an SVG.
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
	double x; /* in [0, 1] */
	double y;
	double low, high; /* the interval around y */
};

struct plot {
	struct plot_point point[PLOT_POINTS_MOST]; /* by x */
	size_t count;
	/* The y axis: its ends are multiples of its step, and it includes 0. */
	double bottom, top, step;
};

/* Sets the y axis so that it includes low, high (finite numbers) and 0. */
void plot_scale(struct plot *plot, double low, double high);

/* Writes lines of at most `width` cells, at least 40; with `ascii` of ASCII characters only. */
void plot_write_text(const struct plot *plot, FILE *out, size_t width, bool ascii);

/* Writes elements of the classes grid, zero, tick, band, curve and dot. No text is foreign. */
void plot_write_svg(const struct plot *plot, FILE *out);

#endif
