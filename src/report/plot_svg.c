/* SPDX-License-Identifier: MIT */
/* plot_svg.c - draws a plot as elements of an SVG. */
#include <math.h>

#include "wallsample/report/plot.h"

/* Pixels around the plot, for labels. */
#define LEFT 62
#define RIGHT 22
#define ABOVE 10
#define BELOW 40

#define AREA_WIDTH (PLOT_WIDTH - LEFT - RIGHT)
#define AREA_HEIGHT (PLOT_HEIGHT - ABOVE - BELOW)

static double
x_of(double x)
{
	return LEFT + fmin(fmax(x, 0), 1) * AREA_WIDTH;
}

static double
y_of(const struct plot *plot, double y)
{
	const double inside = fmin(fmax(y, plot->bottom), plot->top);

	return ABOVE + (plot->top - inside) / (plot->top - plot->bottom) * AREA_HEIGHT;
}

static void
write_grid(const struct plot *plot, FILE *out)
{
	const int steps = (int)lround((plot->top - plot->bottom) / plot->step);

	for (int i = 0; i <= steps; i++) {
		const double y = plot->bottom + i * plot->step;
		const bool zero = fabs(y) < 1e-9;

		fprintf(out,
			"<line class=\"%s\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>"
			"<text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
			zero ? "zero" : "grid", LEFT, y_of(plot, y), PLOT_WIDTH - RIGHT,
			y_of(plot, y), LEFT - 6, y_of(plot, y) + 4);
		fprintf(out, zero ? "%.0f%%</text>\n" : "%+.0f%%</text>\n", zero ? 0 : 100 * y);
	}
	for (int percent = 0; percent <= 100; percent += 25)
		fprintf(out,
			"<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>"
			"<text class=\"tick\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">"
			"%d%%</text>\n",
			x_of(percent / 100.0), ABOVE, x_of(percent / 100.0), PLOT_HEIGHT - BELOW,
			x_of(percent / 100.0), PLOT_HEIGHT - BELOW + 15, percent);
	fprintf(out,
		"<text class=\"tick\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">"
		"how much faster it is</text>\n",
		x_of(0.5), PLOT_HEIGHT - BELOW + 32);
	fprintf(out,
		"<text class=\"tick\" transform=\"translate(12 %.1f) rotate(-90)\" "
		"text-anchor=\"middle\">gain</text>\n",
		ABOVE + AREA_HEIGHT / 2.0);
}

/* The outline: along the upper ends, and back along the lower ones. */
static void
write_band(const struct plot *plot, FILE *out)
{
	fputs("<path class=\"band\" d=\"", out);
	for (size_t i = 0; i < plot->count; i++)
		fprintf(out, "%c%.1f %.1f", i == 0 ? 'M' : 'L', x_of(plot->point[i].x),
			y_of(plot, plot->point[i].high));
	for (size_t i = plot->count; i-- > 0;)
		fprintf(out, "L%.1f %.1f", x_of(plot->point[i].x), y_of(plot, plot->point[i].low));
	fputs("Z\"/>\n", out);
}

void
plot_write_svg(const struct plot *plot, FILE *out)
{
	write_grid(plot, out);
	if (plot->count == 0)
		return;
	write_band(plot, out);
	fputs("<path class=\"curve\" d=\"", out);
	for (size_t i = 0; i < plot->count; i++)
		fprintf(out, "%c%.1f %.1f", i == 0 ? 'M' : 'L', x_of(plot->point[i].x),
			y_of(plot, plot->point[i].y));
	fputs("\"/>\n", out);
	for (size_t i = 0; i < plot->count; i++) {
		const struct plot_point *point = &plot->point[i];

		fprintf(out,
			"<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"><title>"
			"%.0f%% faster: %+.1f%% (%.1f to %.1f)</title></circle>\n",
			x_of(point->x), y_of(plot, point->y), 100 * point->x, 100 * point->y,
			100 * point->low, 100 * point->high);
	}
}
