/* SPDX-License-Identifier: MIT */
/*
 * test_causal_report.c - what exporters write of causal profiles: byte by byte, and what is in it
 * or never is.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wallsample/report/causal_words.h"
#include "wallsample/format/exporters.h"
#include "wallsample/report/display.h"
#include "wallsample/report/plot.h"
#include "../scene/causal_report_scene.h"
#include "../scene/golden.h"
#include "wallsample/base/base.h"

static void
check_golden(const char *name, const char *format, const struct causal_input *input)
{
	size_t size = 0;
	char *text;

	if (exporter_by_name(format)->absent != NULL)
		return;
	text = causal_scene_write(format, input, &size);
	golden_check(name, text, size);
	free(text);
}

static void
test_formats(void **state)
{
	static const char *const format[][2] = {
		{ "causal.txt", "text" }, { "causal.md", "markdown" }, { "causal.html", "html" },
		{ "causal.tex", "latex" }, { "causal.man", "man" }, { "causal.svg", "svg" },
		{ "causal.json", "json" }, { "causal.coz", "coz" },
	};
	struct causal_scene scene;

	(void)state;
	causal_scene_make(&scene, 2);
	for (size_t i = 0; i < ARRAY_SIZE(format); i++)
		check_golden(format[i][0], format[i][1], &scene.input);
	causal_scene_release(&scene);
}

/* All that can be doubted, and one of each. */
static void
add_doubts(struct causal_result *result)
{
	result->runnable = 5.25;
	result->cpus = 1;
	result->burst_ns = 900 * NS_PER_US;
	result->late_ticks = 1234;
	result->unheld = 1;
	result->target_gone = true;
	result->self = true;
	result->unit = CAUSAL_BY_LINE;
}

static void
test_widths(void **state)
{
	struct causal_scene scene;

	(void)state;
	causal_scene_make(&scene, 1);
	scene.input.snapshot = true;
	scene.input.columns = 40;
	check_golden("causal-40.txt", "text", &scene.input);
	scene.input.snapshot = false;
	scene.input.note = "2026-11-20 20:33:00 on host";
	scene.input.columns = 80;
	scene.input.limit = 1;
	add_doubts(&scene.result);
	check_golden("causal-80.txt", "text", &scene.input);
	causal_scene_release(&scene);
}

static bool
says(const char *format, const struct causal_input *input, const char *what)
{
	size_t size = 0;
	char *text = causal_scene_write(format, input, &size);
	const bool found = strstr(text, what) != NULL;

	free(text);
	return found;
}

/* No answer, no experiment, no candidate, no progress point: each is said. */
static void
test_nothing_known(void **state)
{
	static const char *const formats[] = { "text", "svg", "json", "coz", "markdown", "html" };
	struct causal_scene scene;

	(void)state;
	causal_scene_make(&scene, 1);
	for (size_t i = 0; i < scene.curves.count; i++)
		scene.curves.curve[i].verdict = CAUSAL_UNSURE;
	assert_true(says("text", &scene.input, "There is not enough data for any "
			 "candidate yet."));
	assert_true(says("text", &scene.input, "`parse`: not enough data yet: 20 experiments, so "
			 "far +18 [15, 21] at 50%; run longer."));
	assert_false(says("text", &scene.input, "rank"));
	scene.curves.count = 0;
	assert_true(says("text", &scene.input, "There was no experiment."));
	assert_true(says("svg", &scene.input, "There was no experiment."));
	scene.result.candidate_count = 0;
	scene.result.experiment_count = 0;
	scene.result.wall_ns = scene.result.held_ns = 0;
	scene.result.profile_ns = 0;
	assert_true(says("text", &scene.input, "There is no candidate"));
	scene.result.speedup_count = 0;
	scene.result.point_count = 0;
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (exporter_by_name(formats[i])->absent == NULL)
			assert_true(says(formats[i], &scene.input, ""));
	/* they have texts to be freed */
	scene.result.candidate_count = CAUSAL_NAMES;
	scene.result.point_count = 1;
	causal_scene_release(&scene);
}

static void
test_sentences(void **state)
{
	static const char *const said[] = {
		"Making `parse` 50% faster would raise requests by 18% (15 to 21).",
		NULL,
		"Making `checksum` 50% faster would bring nothing: requests change by less than "
		"2%.",
		"Making `log_line` 50% faster would lower requests by 4% (2 to 6): other threads "
		"then contend with it.",
		NULL,
		"`evil;\\x1b[31m\\x0aname\\x097\\xff`: not enough data yet: 0 experiments; run "
		"longer.",
		"Making `parse` 50% faster would shorten reply<i> by 12% (9 to 15).",
		NULL,
		"Making `checksum` 50% faster would bring nothing: the time of reply<i> changes "
		"by less than 1%.",
		"Making `log_line` 50% faster would lengthen reply<i> by 11% (7 to 15): other "
		"threads then contend with it.",
	};
	struct causal_scene scene;
	struct strbuf sb;

	(void)state;
	strbuf_init(&sb);
	causal_scene_make(&scene, 2);
	for (size_t i = 0; i < ARRAY_SIZE(said); i++) {
		strbuf_clear(&sb);
		causal_add_sentence(&sb, &scene.input, &scene.curves.curve[i], 99);
		if (said[i] != NULL)
			assert_string_equal(sb.data, said[i]);
	}
	/* what is told is not known: the first that is */
	scene.curves.curve[0].gain[3].known = scene.curves.curve[0].gain[1].known = false;
	scene.curves.curve[0].shown = 3;
	strbuf_clear(&sb);
	causal_add_sentence(&sb, &scene.input, &scene.curves.curve[0], 99);
	assert_non_null(strstr(sb.data, "Making `parse` 25% faster"));
	strbuf_release(&sb);
	causal_scene_release(&scene);
}

/* At any width no line is wider, and no byte could move a cursor. */
static void
test_report_fits(void **state)
{
	struct causal_scene scene;

	(void)state;
	causal_scene_make(&scene, 2);
	for (unsigned columns = 50; columns <= 240; columns++) {
		char *text, *rest, *line;
		size_t size = 0;

		scene.input.columns = columns;
		text = rest = causal_scene_write("text", &scene.input, &size);
		while ((line = strsep(&rest, "\n")) != NULL) {
			const size_t length = strlen(line);

			assert_true(display_width(line) <= columns);
			assert_true(length == 0 || line[length - 1] != ' ');
			for (size_t i = 0; i < length; i++)
				assert_true((unsigned char)line[i] >= 0x20 && line[i] != 0x7f);
		}
		free(text);
	}
	causal_scene_release(&scene);
}

/* A name of ten thousand letters fills neither pages nor pictures. */
static void
test_long_name(void **state)
{
	static const char *const formats[] = { "text", "markdown", "latex", "man", "html" };
	struct causal_scene scene;
	char *longest = xcalloc(1, 10001);

	(void)state;
	memset(longest, 'x', 10000);
	causal_scene_make(&scene, 1);
	free(scene.result.candidate[CAUSAL_PARSE].name);
	scene.result.candidate[CAUSAL_PARSE].name = longest;
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		size_t size = 0;
		char *text;

		if (exporter_by_name(formats[i])->absent != NULL)
			continue;
		text = causal_scene_write(formats[i], &scene.input, &size);
		assert_non_null(strstr(text, "xxx"));
		for (char *at = text; (at = strstr(at, "xxx")) != NULL; at += strspn(at, "x"))
			assert_true(strspn(at, "x") < 320);
		free(text);
	}
	assert_true(says("svg", &scene.input, "xxx`"));
	assert_true(says("svg", &scene.input, "21)."));
	assert_true(says("coz", &scene.input, longest));
	causal_scene_release(&scene);
}

/* Names are text, whatever is in them. */
static void
test_escapes(void **state)
{
	static const char *const formats[] = { "html", "svg" };
	struct causal_scene scene;

	(void)state;
	causal_scene_make(&scene, 2);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		size_t size = 0;
		char *text;

		if (exporter_by_name(formats[i])->absent != NULL)
			continue;
		text = causal_scene_write(formats[i], &scene.input, &size);
		assert_null(strstr(text, "alert(1)</script>"));
		assert_null(strstr(text, "<!--"));
		assert_null(strstr(text, "<i>"));
		assert_null(strstr(text, "href=\"http"));
		assert_null(strchr(text, '\x1b'));
		assert_null(strchr(text, '\x07'));
		assert_non_null(strstr(text, "reply&lt;i&gt;"));
		free(text);
	}
	causal_scene_release(&scene);
}

/* Each line of coz has as many fields as it should, whatever the names. */
static void
test_coz(void **state)
{
	struct causal_scene scene;
	size_t size = 0, experiments = 0, readings = 0;
	char *text, *rest, *line;

	(void)state;
	causal_scene_make(&scene, 2);
	for (size_t i = 0; i < scene.result.experiment_count; i++)
		scene.result.experiment[i].candidate = (uint32_t)(i % CAUSAL_NAMES);
	text = rest = causal_scene_write("coz", &scene.input, &size);
	while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
		size_t fields = 0;

		for (const char *at = line; (at = strchr(at, '\t')) != NULL; at++)
			fields++;
		if (strncmp(line, "experiment\t", 11) == 0)
			assert_true(++experiments > 0 && fields == 4);
		else if (strncmp(line, "throughput-point\t", 17) == 0)
			assert_true(++readings > 0 && fields == 2);
		else if (strncmp(line, "latency-point\t", 14) == 0)
			assert_true(++readings > 0 && fields == 4);
		else if (strncmp(line, "samples\t", 8) == 0)
			assert_int_equal(fields, 2);
		else
			assert_int_equal(fields, 1);
	}
	assert_int_equal(experiments, scene.result.experiment_count - 3); /* the whole ones */
	assert_int_equal(readings, 2 * experiments);
	free(text);
	scene.result.unit = CAUSAL_BY_LINE;
	assert_true(says("coz", &scene.input, "selected=src/parse.c:10\tspeedup=0\t"));
	causal_scene_release(&scene);
}

/* --- plots ---------------------------------------------------------------------------------- */

static void
test_scale(void **state)
{
	static const struct {
		double low, high, bottom, top, step;
	} cases[] = {
		{ 0, 0, 0, 0.01, 0.01 },         { 0, 0.05, 0, 0.05, 0.01 },
		{ -0.06, 0.21, -0.1, 0.3, 0.1 }, { 0.1, 0.2, 0, 0.2, 0.05 },
		{ -1, 0, -1, 0, 0.2 },           { -0.001, 9.99, -5, 10, 5 },
		{ 0, 0.5, 0, 0.5, 0.1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct plot plot = { 0 };

		plot_scale(&plot, cases[i].low, cases[i].high);
		assert_true(fabs(plot.bottom - cases[i].bottom) < 1e-9);
		assert_true(fabs(plot.top - cases[i].top) < 1e-9);
		assert_true(fabs(plot.step - cases[i].step) < 1e-9);
	}
}

static char *
plot_text(const struct plot *plot, size_t width, bool ascii)
{
	size_t size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	plot_write_text(plot, out, width, ascii);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void
test_plot(void **state)
{
	struct plot plot = {
		.point = { { 0, 0, 0, 0 }, { 0.5, 0.05, 0.03, 0.07 }, { 1, 0.15, 0.1, 0.2 } },
		.count = 3,
	};
	char *text;

	(void)state;
	plot_scale(&plot, 0, 0.2);
	text = plot_text(&plot, 40, true);
	golden_check("causal-plot.txt", text, strlen(text));
	free(text);
	/* whatever is asked for, what is drawn stays on the plot */
	for (size_t width = 40; width < 120; width++)
		for (double top = 0.001; top < 11; top *= 1.7) {
			plot_scale(&plot, -top / 3, top);
			plot.point[1].high = 100 * top;
			plot.point[2].low = -100;
			text = plot_text(&plot, width, width % 2 == 0);
			for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL;)
				assert_true(display_width(line) <= width);
			free(text);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_nothing_known),
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_report_fits),
		cmocka_unit_test(test_long_name),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_coz),
		cmocka_unit_test(test_scale),
		cmocka_unit_test(test_plot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
