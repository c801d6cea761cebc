/* SPDX-License-Identifier: MIT */
/* causal_report_scene.c - invented results of experiments, for tests of exporters. */
#include "causal_report_scene.h"
#include "wallsample/format/exporters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wallsample/base/base.h"

static const struct {
	const char *name, *module, *file;
	uint32_t line;
	double share, self_share;
} names[] = {
	[CAUSAL_PARSE] = { "parse", "server", "src/parse.c", 10, 0.412, 0.218 },
	[CAUSAL_LONG] = { "json::parser<std::vector<char, std::allocator<char> >, "
			  "json::default_handler>::parse_value", "server", NULL, 0, 0.1, 0.1 },
	[CAUSAL_CHECK] = { "checksum", "libz.so.1", "zlib/crc32.c", 244, 0.0712, 0.0712 },
	[CAUSAL_LOG] = { "log_line", "server", "src/log.c", 77, 0.052, 0.01 },
	[CAUSAL_MARKUP] = { "</script><script>alert(1)</script><!-- a|b@plt `x` *y* _z_ $1 \\fB T{ "
			    "&amp; {%#~^} [l](http://h/)", "'.TH", NULL, 0, 0.03, 0 },
	[CAUSAL_EVIL] = { "evil;\x1b[31m\nname\t7\xff", "lib\x07" "bell.so",
			  "a\xe2\x80\xae.c", 3, 0.02, 0.02 },
};

static const double speedups[] = { 0, 0.1, 0.25, 0.5, 0.75, 1 };

/* By candidate: the gain at a speed-up of 50 %, half of its confidence interval, and the
 * verdict. */
static const struct {
	double gain, half;
	enum causal_verdict verdict;
} answers[CAUSAL_POINTS_MOST][CAUSAL_NAMES] = {
	{ { 0.18, 0.03, CAUSAL_HELPS }, { 0.041, 0.008, CAUSAL_HELPS },
	  { 0.001, 0.012, CAUSAL_NOTHING }, { -0.04, 0.02, CAUSAL_HURTS },
	  { 0.03, 0.11, CAUSAL_UNSURE }, { 0, 0, CAUSAL_UNSURE } },
	{ { 0.12, 0.03, CAUSAL_HELPS }, { 0.02, 0.012, CAUSAL_HELPS },
	  { -0.0004, 0.007, CAUSAL_NOTHING }, { -0.11, 0.04, CAUSAL_HURTS },
	  { 0, 0, CAUSAL_UNSURE }, { 0, 0, CAUSAL_UNSURE } },
};

/* Adds an experiment at each speed-up above 0; before each of them, an experiment at speed-up 0 to
 * compare it with. */
static void
add_experiments(struct causal_result *result, uint32_t candidate)
{
	for (size_t s = 1; s < ARRAY_SIZE(speedups); s++)
		for (int held = 0; held <= 1; held++) {
			struct causal_experiment *experiment = causal_result_add_experiment(result);
			const uint64_t number = result->experiment_count;

			experiment->candidate = candidate;
			experiment->speedup = held ? speedups[s] : 0;
			experiment->began_ns = (number - 1) * 1020 * NS_PER_MS;
			experiment->wall_ns = (1000 + number) * NS_PER_MS;
			experiment->held_ns =
				held ? (uint64_t)(200 * speedups[s]) * NS_PER_MS : 0;
			experiment->ticks = 200;
			experiment->chosen = 60 + number % 7;
			experiment->reading[0].count = 1234 + (double)(number % 5);
			experiment->reading[1].count = 617;
			experiment->reading[1].in_progress_ns =
				0.7 * (double)(experiment->wall_ns - experiment->held_ns);
		}
}

static void
make_result(struct causal_result *result, size_t points)
{
	static const enum causal_end ends[] = { CAUSAL_STALLED, CAUSAL_STALLED, CAUSAL_CUT };

	causal_result_init(result);
	causal_result_add_point(result, "requests", "var:requests_done", CAUSAL_THROUGHPUT);
	if (points > 1)
		causal_result_add_point(result, "reply<i>", "begin:var:asked,end:var:answered",
					CAUSAL_LATENCY);
	for (size_t i = 0; i < CAUSAL_NAMES; i++) {
		const uint32_t at = causal_result_add_candidate(result, names[i].name,
								names[i].module, names[i].file,
								names[i].line);

		result->candidate[at].share = names[i].share;
		result->candidate[at].self_share = names[i].self_share;
	}
	result->speedup_count = ARRAY_SIZE(speedups);
	for (size_t i = 0; i < ARRAY_SIZE(speedups); i++)
		result->speedup[i] = speedups[i];
	for (uint32_t i = 0; i < CAUSAL_EVIL; i++)
		add_experiments(result, i);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		result->experiment[result->experiment_count - 1 - i].end = ends[i];
	for (size_t i = 0; i < result->experiment_count; i++) {
		result->wall_ns += result->experiment[i].wall_ns;
		result->held_ns += result->experiment[i].held_ns;
	}
	result->tick_ns = 5 * NS_PER_MS;
	result->experiment_ns = NS_PER_SEC;
	result->precision = 0.02;
	result->max_hold = 0.5;
	result->pid = 4242;
	result->command = xstrdup("ser\x1bver");
	result->started_ns = 1795207980 * NS_PER_SEC;
	result->profile_ns = 3 * NS_PER_SEC;
	result->stops = 12345;
	result->runnable = 1.4;
	result->cpus = 2;
	result->own_cpu_ns = 1200 * NS_PER_MS;
}

static void
make_gains(struct causal_curve *curve)
{
	const double gain = answers[curve->point][curve->candidate].gain;
	const double half = answers[curve->point][curve->candidate].half;

	curve->gain_count = ARRAY_SIZE(speedups);
	for (size_t i = 0; i < ARRAY_SIZE(speedups); i++) {
		/* the gain grows with the speed-up, more and more slowly, and is constant from 75 %
		 * on */
		const double s = speedups[i] < 0.75 ? speedups[i] : 0.75;
		const double part = s * (2 - s) / 0.75;

		curve->gain[i] = (struct causal_gain){
			.speedup = speedups[i],
			.experiments = curve->candidate == CAUSAL_EVIL ? 0 : 1 + i,
			.events = 1234 * (double)(1 + i),
			.known = half > 0,
			.gain = i > 0 ? gain * part : 0,
			.low = i > 0 ? gain * part - half : 0,
			.high = i > 0 ? gain * part + half : 0,
		};
	}
	curve->shown = half > 0 ? 3 : 0;
	curve->slope = 2 * gain;
	curve->slope_low = 2 * (gain - half);
	curve->slope_high = 2 * (gain + half);
}

void
causal_scene_make(struct causal_scene *scene, size_t points)
{
	struct causal_curves *curves = &scene->curves;

	make_result(&scene->result, points);
	*curves = (struct causal_curves){
		.curve = xcalloc(points * CAUSAL_NAMES, sizeof(*curves->curve)),
		.count = points * CAUSAL_NAMES,
		.rate = { 1234.4, 617.2 },
		.latency_ns = { 0, 12.5 * NS_PER_MS },
	};
	for (size_t i = 0; i < curves->count; i++) {
		curves->curve[i].point = (uint32_t)(i / CAUSAL_NAMES);
		curves->curve[i].candidate = (uint32_t)(i % CAUSAL_NAMES);
		curves->curve[i].verdict = answers[i / CAUSAL_NAMES][i % CAUSAL_NAMES].verdict;
		make_gains(&curves->curve[i]);
	}
	scene->input = (struct causal_input){
		.result = &scene->result,
		.curves = &scene->curves,
		.columns = 100,
		.limit = 10,
	};
}

void
causal_scene_release(struct causal_scene *scene)
{
	free(scene->curves.curve);
	causal_result_release(&scene->result);
}

char *
causal_scene_write(const char *format, const struct causal_input *input, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	assert_non_null(out);
	export_write_causal(exporter_by_name(format), input, out);
	assert_int_equal(fclose(out), 0);
	return text;
}
