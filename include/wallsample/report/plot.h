/* SPDX-License-Identifier: MIT */
/*
 * plot.h - a small plot of shares over shares, with an interval at each of its points: as
 * characters, or as elements of an SVG.
 */
#ifndef WALLSAMPLE_REPORT_PLOT_H
#define WALLSAMPLE_REPORT_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "wallsample/causal/causal.h"

#define PLOT_POINTS_MOST CAUSAL_SPEEDUPS_MOST

/* Pixels of what plot_write_svg draws, from 0, 0 on. */
#define PLOT_WIDTH 380
#define PLOT_HEIGHT 214

struct plot_point {
	double x;         /* in [0, 1] */
	double y;
	double low, high; /* around y */
};

struct plot {
	struct plot_point point[PLOT_POINTS_MOST]; /* by x */
	size_t count;
	/* The axis of y: multiples of its step; 0 is on it. */
	double bottom, top, step;
};

/* Makes the axis one on which these fit, and 0; finite numbers. */
void plot_scale(struct plot *plot, double low, double high);

/* Lines that fit in `width` cells, which are at least 40; ASCII alone, or lines and dots. */
void plot_write_text(const struct plot *plot, FILE *out, size_t width, bool ascii);

/* Elements of the classes grid, zero, tick, band, curve and dot: numbers and words of ours. */
void plot_write_svg(const struct plot *plot, FILE *out);

#endif
