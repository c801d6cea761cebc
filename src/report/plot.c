/* SPDX-License-Identifier: MIT */
/* plot.c - scales the axes of a plot, and draws it with characters or as elements of an SVG. */
#include "wallsample/report/plot.h"

#include <math.h>
#include <string.h>

#include "wallsample/report/display.h"
#include "wallsample/base/base.h"

/* Maximum number of steps of the y axis. */
#define STEPS_MOST 5
/*
 * Smallest and largest step from one label of the y axis to the next, as shares. Because of the
 * smallest one, 1%, a gain of 0.1% does not fill the whole plot.
 */
#define STEP_LEAST 0.01
#define STEP_MOST 1e6

#define ROWS_MOST 16
/*
 * All steps of the y axis together get at most this number of rows of text. More rows are used only
 * if a step would have less than two.
 */
#define ROWS_WANTED 8
#define COLUMNS_MOST 51 /* from 0% to 100% of speed-up, two percent for each column */
#define LABEL 7         /* width of a label of the y axis in cells */
#define BEHIND 12 /* width in cells right of the plot, for the end of the label "100% faster" */

void
plot_scale(struct plot *plot, double low, double high)
{
	/* what each of the steps 1, 2 and 5 is multiplied by to get the next one: 2, 5 or 10 */
	static const double next[] = { 2, 2.5, 2 };
	const double bottom = fmin(low, 0), top = fmax(high, 0);
	double step = STEP_LEAST;

	for (size_t i = 0; step < STEP_MOST; step *= next[i++ % ARRAY_SIZE(next)])
		if (ceil(top / step - 1e-9) - floor(bottom / step + 1e-9) <= STEPS_MOST)
			break;
	plot->step = step;
	plot->bottom = step * floor(bottom / step + 1e-9);
	plot->top = step * ceil(top / step - 1e-9);
	if (plot->top - plot->bottom < step)
		plot->top = plot->bottom + step;
}

/* --- characters --------------------------------------------------------------------------- */

/*
 * The mark in a cell. If two marks fall on one cell, the one that is later in this list is shown.
 */
enum mark { MARK_NONE, MARK_ZERO, MARK_CURVE, MARK_INTERVAL, MARK_POINT, MARK_COUNT };

static const char *const marks[][MARK_COUNT] = {
	{ " ", "─", "·", "│", "●" },
	{ " ", "-", ".", ":", "o" },
};

struct canvas {
	const struct plot *plot;
	size_t rows, columns, per_step;
	unsigned char cell[ROWS_MOST][COLUMNS_MOST]; /* enum mark */
};

static size_t
row_of(const struct canvas *canvas, double y)
{
	const struct plot *plot = canvas->plot;
	const double last = (double)(canvas->rows - 1);
	const double row = round((plot->top - y) / (plot->top - plot->bottom) * last);

	return row <= 0 ? 0 : row >= last ? canvas->rows - 1 : (size_t)row;
}

static size_t
column_of(const struct canvas *canvas, double x)
{
	return (size_t)round(fmin(fmax(x, 0), 1) * (double)(canvas->columns - 1));
}

static void
put(struct canvas *canvas, size_t row, size_t column, enum mark mark)
{
	if (canvas->cell[row][column] < mark)
		canvas->cell[row][column] = (unsigned char)mark;
}

/* Draws the line between two points, without the marks of the points. */
static void
draw_curve(struct canvas *canvas, const struct plot_point *from, const struct plot_point *to)
{
	const size_t first = column_of(canvas, from->x), last = column_of(canvas, to->x);

	for (size_t c = first + 1; c < last; c++) {
		const double part = (double)(c - first) / (double)(last - first);

		put(canvas, row_of(canvas, from->y + part * (to->y - from->y)), c, MARK_CURVE);
	}
}

static void
draw(struct canvas *canvas)
{
	const struct plot *plot = canvas->plot;

	for (size_t c = 0; c < canvas->columns; c++)
		put(canvas, row_of(canvas, 0), c, MARK_ZERO);
	for (size_t i = 0; i < plot->count; i++) {
		const struct plot_point *point = &plot->point[i];
		const size_t column = column_of(canvas, point->x);
		const size_t lowest = row_of(canvas, point->low);

		for (size_t r = row_of(canvas, point->high); r <= lowest; r++)
			put(canvas, r, column, MARK_INTERVAL);
		put(canvas, row_of(canvas, point->y), column, MARK_POINT);
		if (i > 0)
			draw_curve(canvas, point - 1, point);
	}
}

static void
write_row(const struct canvas *canvas, size_t row, FILE *out, bool ascii)
{
	const double y = canvas->plot->top -
			 canvas->plot->step * (double)row / (double)canvas->per_step;
	const bool labelled = row % canvas->per_step == 0;
	size_t end = canvas->columns;

	if (labelled)
		fprintf(out, fabs(y) < 1e-9 ? "%*.0f%%" : "%+*.0f%%", LABEL - 1,
			fabs(y) < 1e-9 ? 0 : 100 * y);
	else
		display_pad(out, LABEL);
	if (ascii)
		fputs(labelled ? " +" : " |", out);
	else
		fputs(labelled ? " ┤" : " │", out);
	while (end > 0 && canvas->cell[row][end - 1] == MARK_NONE)
		end--;
	for (size_t c = 0; c < end; c++)
		fputs(marks[ascii][canvas->cell[row][c]], out);
	fputc('\n', out);
}

/* Writes "0%   25%   50%   75%   100% faster", each label below its column. */
static void
write_labels(const struct canvas *canvas, FILE *out)
{
	size_t at = 0;

	for (int i = 0; i <= 4; i++) {
		const size_t place = LABEL + 2 + column_of(canvas, i / 4.0);
		char text[24];
		size_t length;

		snprintf(text, sizeof(text), "%d%%", i * 25);
		length = strlen(text);
		display_pad(out, place > at + length / 2 ? place - length / 2 - at : 0);
		fputs(text, out);
		at = place - length / 2 + length;
	}
	fputs(" faster\n", out);
}

void
plot_write_text(const struct plot *plot, FILE *out, size_t width, bool ascii)
{
	const size_t steps = (size_t)lround((plot->top - plot->bottom) / plot->step);
	const size_t room = width - LABEL - BEHIND;
	struct canvas canvas = {
		.plot = plot,
		.columns = room < COLUMNS_MOST ? room : COLUMNS_MOST,
		.per_step = steps * 2 < ROWS_WANTED ? ROWS_WANTED / steps : 2,
	};

	canvas.rows = steps * canvas.per_step + 1;
	draw(&canvas);
	for (size_t r = 0; r < canvas.rows; r++)
		write_row(&canvas, r, out, ascii);
	write_labels(&canvas, out);
}

/* --- SVG ------------------------------------------------------------------------------------- */

/* Widths of the margins around the plot in pixels. */
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

/* Draws the filled area of all intervals: along their upper ends, and back along the lower ends. */
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
