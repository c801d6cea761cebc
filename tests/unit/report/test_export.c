/* SPDX-License-Identifier: MIT */
/*
 * test_export.c - the registry, and what exporters write, byte by byte.
 *
 * The golden files are in tests/replay/. UPDATE_GOLDEN=1 in the environment
 * rewrites them: look at the difference before you keep it.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "wallsample/report/display.h"
#include "wallsample/format/exporters.h"
#include "../scene/export_scene.h"
#include "../scene/golden.h"
#include "wallsample/unwind/chain.h"

/* --- golden files ------------------------------------------------------------------------- */

static void
check_golden(const char *name, const char *format, const struct export_input *input)
{
	size_t size = 0;
	char *written = scene_write(format, input, &size);

	golden_check(name, written, size);
	free(written);
}

static const struct filter all = { 0 };

static void
check_report(const char *name, unsigned columns)
{
	struct scene scene = scene_make(&all);
	struct export_input input = scene_input(&scene);

	input.columns = columns;
	check_golden(name, "text", &input);
	scene_release(&scene);
}

static void
test_report_80(void **state)
{
	(void)state;
	check_report("report-80.txt", 80);
}

static void
test_report_200(void **state)
{
	(void)state;
	check_report("report-200.txt", 200);
}

/* The first screen, which is all that a report has without --full. */
static void
check_screen(const char *name, unsigned columns, bool colour)
{
	struct scene scene = scene_make(&all);
	struct export_input input = scene_input(&scene);

	input.columns = columns;
	input.full = false;
	input.colour = colour;
	input.again_before = "wallsample report";
	input.again_after = " run.wsdb";
	check_golden(name, "text", &input);
	scene_release(&scene);
}

static void
test_screen_80(void **state)
{
	(void)state;
	check_screen("screen-80.txt", 80, false);
}

static void
test_screen_60(void **state)
{
	(void)state;
	check_screen("screen-60.txt", 60, false);
}

static void
test_screen_colours(void **state)
{
	(void)state;
	check_screen("screen-colours.txt", 80, true);
}

static void
test_report_latency(void **state)
{
	struct scene scene = scene_make(&all);
	struct export_input input = scene_input(&scene);

	(void)state;
	input.sort = WEIGHT_LATENCY;
	input.columns = 100;
	check_golden("report-latency.txt", "text", &input);
	check_golden("stacks-latency.folded", "folded", &input);
	scene_release(&scene);
}

static void
test_report_tree(void **state)
{
	struct scene scene = scene_make(&all);
	struct export_input input = scene_input(&scene);
	regex_t focus;

	(void)state;
	assert_int_equal(regcomp(&focus, "^event_loop$|wait", REG_EXTENDED | REG_NOSUB), 0);
	input.tree = 12;
	input.focus = &focus;
	check_golden("report-tree.txt", "text", &input);
	regfree(&focus);
	scene_release(&scene);
}

static void
test_report_piped(void **state)
{
	(void)state;
	check_report("report-piped.txt", 0);
}

/* Short tables, a filter, the end of a child. */
static void
test_report_selected(void **state)
{
	struct scene scene = scene_make(
		&(struct filter){ .states = 1u << RUN_SLEEPING | 1u << RUN_RUNNING });
	struct export_input input = scene_input(&scene);

	(void)state;
	input.limit = 2;
	input.filtered = true;
	input.end = RUN_END_EXITED;
	scene.stats->child_exited = true;
	scene.stats->child_status = SIGKILL; /* as wait(2) reports a death by it */
	check_golden("report-selected.txt", "text", &input);
	scene_release(&scene);
}

/* A table a thread, cut to a few rows; running threads that were left alone. */
static void
test_report_threads(void **state)
{
	struct scene scene = scene_make(&all);
	struct export_input input = scene_input(&scene);

	(void)state;
	input.by_thread = true;
	input.thread_limit = 4;
	scene.stats->failed[FAILURE_NOT_STOPPED] = 1234;
	check_golden("report-threads.txt", "text", &input);
	scene_release(&scene);
}

/* More threads than are shown one by one. */
static void
test_report_many_threads(void **state)
{
	struct scene scene = scene_make(&all);
	struct export_input input = scene_input(&scene);
	struct profile *profile = profile_create();
	struct view *view;

	(void)state;
	for (uint32_t i = 0; i < 13; i++)
		scene_add(profile, profile_add_thread(profile, 0, 100 + (pid_t)i, 1, "worker"),
			   RUN_RUNNING, -1, 1000 - 10 * (int64_t)i, STACK(START, MAIN, LOOP));
	input.view = view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	input.by_thread = true;
	input.columns = 0;
	check_golden("report-many-threads.txt", "text", &input);
	view_free(view);
	profile_free(profile);
	scene_release(&scene);
}

/* The text of a report on 100 ticks: at so many of them a function alone was in this state, else
 * two threads ran. */
static char *
write_alone(uint32_t alone, enum run_state run)
{
	struct scene scene = scene_make(&all);
	struct export_input input = scene_input(&scene);
	struct profile *profile = profile_create();
	const uint32_t one = profile_add_thread(profile, 0, 100, 1, "one");
	const struct profile_entry serial = {
		.thread = one, .state = run, .syscall = (int32_t)SYSCALL_NONE,
		.stack = profile_intern_stack(profile, profile_intern_named(profile, "alone"),
					      STACK_NONE),
		.samples = alone, .ns = { alone * 10 * MS, alone * 10 * MS, alone * 10 * MS },
	};
	struct view *view;
	char *text;

	profile_add(profile, &serial);
	scene_add(profile, one, RUN_RUNNING, -1, 20 * (100 - alone), STACK(MAIN, HOSTILE));
	for (uint32_t i = 0; i < 100; i++)
		profile_add_tick(profile, 10 * NS_PER_MS, i < alone ? 1 : 2, i < alone ? 1 : 2);
	input.view = view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	text = scene_text("text", &input);
	view_free(view);
	profile_free(profile);
	scene_release(&scene);
	return text;
}

/* What is not more than its margin, +-3.3 % of 3 %, is no finding; nor is time without a CPU. */
static void
test_report_gains(void **state)
{
	char *text;

	(void)state;
	for (int i = 0; i < 2; i++) {
		text = i == 0 ? write_alone(6, RUN_RUNNING) : write_alone(30, RUN_QUEUED);
		assert_null(strstr(text, "Estimated run time"));
		free(text);
	}
	text = write_alone(30, RUN_RUNNING);
	assert_non_null(strstr(text, "Estimated run time (now 1.00s) if one function"));
	assert_non_null(strstr(text, " 30.00%  1.00       850ms  alone"));
	free(text);
}

/* Nothing went wrong: the closing block has no lists. */
static void
test_report_clean(void **state)
{
	struct scene scene = scene_make(&all);
	struct export_input input = scene_input(&scene);

	(void)state;
	input.snapshot = true;
	*scene.stats = (struct run_stats){
		.ticks = 1, .threads_seen = 1, .threads_most = 1, .thread_samples = 1, .looks = 1,
		.read = 1, .chains = { [CHAIN_OUTERMOST] = 1 }, .elapsed_ns = NS_PER_SEC,
		.rate_wanted = 1000, .rate_lowest = 1000,
	};
	check_golden("report-clean.txt", "text", &input);
	scene_release(&scene);
}

static void
test_report_empty(void **state)
{
	struct scene scene = scene_make(&(struct filter){ .thread_name = "nobody" });
	struct export_input input = scene_input(&scene);
	struct profile *empty = profile_create();
	struct view *nothing = view_create(empty, NULL, &all, VIEW_BY_FUNCTION);
	char *text;

	(void)state;
	input.filtered = true;
	text = scene_text("text", &input);
	assert_non_null(strstr(text, "No sample was selected.\n"));
	free(text);

	*scene.stats = (struct run_stats){ 0 };
	input.view = nothing;
	text = scene_text("text", &input);
	assert_non_null(strstr(text, "There are no samples.\n"));
	free(text);
	text = scene_text("folded", &input);
	assert_string_equal(text, "");
	free(text);
	text = scene_text("json", &input);
	assert_non_null(strstr(text, "\"stacks\":[\n]\n}\n"));
	free(text);
	if (exporter_by_name("html")->absent == NULL) {
		text = scene_text("html", &input);
		assert_non_null(strstr(text, "<p>There are no samples.</p>"));
		free(text);
	}
	view_free(nothing);
	profile_free(empty);
	scene_release(&scene);
}

static void
test_folded(void **state)
{
	struct scene scene = scene_make(&all);
	struct export_input input = scene_input(&scene);

	(void)state;
	check_golden("stacks.folded", "folded", &input);
	input.by_thread = true;
	check_golden("stacks-by-thread.folded", "folded", &input);
	scene_release(&scene);
}

/* A dump is of one tick, at which each thread has one row; here some have more. */
static void
test_dump(void **state)
{
	static const struct {
		const char *name, *format;
	} golden[] = {
		{ "dump.txt", "text" }, { "dump.json", "json" }, { "dump.folded", "folded" },
	};
	struct scene scene = scene_make(&all);
	struct export_input input = scene_input(&scene);
	struct view *view = view_create(scene.profile, NULL, &all, VIEW_BY_ADDRESS);

	(void)state;
	input.view = view;
	for (size_t i = 0; i < ARRAY_SIZE(golden); i++) {
		char *text = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);

		assert_non_null(out);
		exporter_by_name(golden[i].format)->write_dump(&input, out);
		assert_int_equal(fclose(out), 0);
		golden_check(golden[i].name, text, size);
		free(text);
	}
	view_free(view);
	scene_release(&scene);
}

/*
 * The golden file is not compressed: how zlib does that may change. What is in it is compared
 * with the report by pprof itself, in tests/replay/pprof.sh.
 */
static void
test_pprof(void **state)
{
	struct scene scene = scene_make(&all);
	struct export_input input = scene_input(&scene);
	struct view *view = view_create(scene.profile, NULL, &all, VIEW_BY_ADDRESS);
	size_t size = 0, again_size = 0;
	char *written, *again, unzipped[16384];
	z_stream zip = { 0 };

	(void)state;
	input.view = view;
	input.sort = WEIGHT_LATENCY;
	input.began_ns = 1700000000 * NS_PER_SEC;
	written = scene_write("pprof", &input, &size);
	again = scene_write("pprof", &input, &again_size);
	assert_int_equal(size, again_size);
	assert_memory_equal(written, again, size);
	assert_memory_equal(written + 4, "\0\0\0\0", 4); /* gzip's time of the file */
	zip.next_in = (unsigned char *)written;
	zip.avail_in = (unsigned)size;
	zip.next_out = (unsigned char *)unzipped;
	zip.avail_out = sizeof(unzipped);
	assert_int_equal(inflateInit2(&zip, 15 + 16), Z_OK);
	assert_int_equal(inflate(&zip, Z_FINISH), Z_STREAM_END);
	golden_check("stacks-latency.pprof", unzipped, zip.total_out);
	inflateEnd(&zip);
	free(written);
	free(again);
	view_free(view);
	scene_release(&scene);
}

/* That the numbers are those of the folded stacks is tested by tests/replay/json.sh. */
static void
test_json(void **state)
{
	struct scene scene = scene_make(&all);
	struct export_input input = scene_input(&scene);

	(void)state;
	check_golden("report.json", "json", &input);
	input.sort = WEIGHT_LATENCY;
	input.end = RUN_END_EXITED;
	input.began_ns = 1700000000 * NS_PER_SEC;
	check_golden("report-latency.json", "json", &input);
	scene_release(&scene);
}

/* Without recordings it has no timelines: those are in test_time_formats.c. */
static void
test_speedscope(void **state)
{
	struct scene scene = scene_make(&all);
	struct export_input input = scene_input(&scene);

	(void)state;
	input.sort = WEIGHT_LATENCY;
	check_golden("stacks.speedscope.json", "speedscope", &input);
	scene_release(&scene);
}

static void
test_svg(void **state)
{
	struct scene scene = scene_make(&all);
	struct export_input input = scene_input(&scene);

	(void)state;
	check_golden("flame.svg", "svg", &input);
	input.by_thread = true;
	input.sort = WEIGHT_LATENCY;
	check_golden("flame-latency.svg", "svg", &input);
	scene_release(&scene);
}

/* Names that are markup, in one format or another, and such as deceive stay text in all. */
static void
test_documents(void **state)
{
	struct scene scene = scene_make(&all);
	struct export_input input = scene_input(&scene);
	const uint32_t thread = profile_add_thread(scene.profile, 0, 4252, 3, "<b>&amp;|*");
	struct view *view;

	(void)state;
	scene_add(scene.profile, thread, RUN_RUNNING, -1, 2500, STACK(MAIN, MARKUP));
	scene_add(scene.profile, thread, RUN_RUNNING, -1, 1500, STACK(MARKUP, TURNED));
	input.view = view = view_create(scene.profile, NULL, &all, VIEW_BY_FUNCTION);
	scene.stats->cpus = 64;
	if (exporter_by_name("html")->absent == NULL) {
		check_golden("report.md", "markdown", &input);
		check_golden("report.tex", "latex", &input);
		check_golden("report.man", "man", &input);
		check_golden("report.html", "html", &input);
	}
	view_free(view);
	scene_release(&scene);
}

/* What limits a program is told by its functions, whatever the tables are of. */
static void
test_summary_by_module(void **state)
{
	struct scene scene = scene_make(&all);
	struct export_input input = scene_input(&scene);
	struct view *modules = view_create(scene.profile, NULL, &all, VIEW_BY_MODULE);
	char *text;

	(void)state;
	if (exporter_by_name("markdown")->absent != NULL)
		skip();
	input.functions = input.view;
	input.view = modules;
	text = scene_text("markdown", &input);
	assert_non_null(strstr(text, "**Lock**: threads waited for locks 64% of the time "));
	assert_non_null(strstr(text, "## Modules\n"));
	free(text);
	view_free(modules);
	scene_release(&scene);
}

/* What is never in a page, whatever the names: an element or a comment that is not ours. */
static void
test_document_escapes(void **state)
{
	struct scene scene = scene_make(&all);
	struct export_input input = scene_input(&scene);
	const uint32_t thread = profile_add_thread(scene.profile, 0, 4252, 3, "<i>");
	struct view *view;
	char *text, *data;

	(void)state;
	if (exporter_by_name("html")->absent != NULL)
		skip();
	scene_add(scene.profile, thread, RUN_RUNNING, -1, 2500, STACK(MARKUP, TURNED));
	snprintf(scene.process.comm, sizeof(scene.process.comm), "<!--</h1>");
	input.view = view = view_create(scene.profile, NULL, &all, VIEW_BY_FUNCTION);
	/* each thread is a root, with -t */
	input.by_thread = true;
	text = scene_text("html", &input);
	assert_non_null(strstr(text, "\"\\u003ci>-4252\""));
	assert_non_null(strstr(text, "\"server-4242\""));
	free(text);
	input.by_thread = false;
	text = scene_text("html", &input);
	assert_null(strstr(text, "alert(1)</script>"));
	assert_null(strstr(text, "<!--"));
	assert_null(strstr(text, "<i>"));
	assert_null(strstr(text, "\xe2\x80\xa8"));
	assert_null(strstr(text, "href=\"http"));
	assert_null(strstr(text, " src="));
	assert_null(strstr(text, "\\u003ci>-4252"));
	data = strstr(text, "id=\"data\">");
	assert_non_null(data);
	*strstr(data, "</script>") = '\0';
	for (data = strchr(data, '{'); *data != '\0'; data++)
		assert_true(*data != '<' && (unsigned char)*data < 0x7f);
	free(text);
	view_free(view);
	scene_release(&scene);
}

/* Golden files have a line in place of each: see golden.h. */
static void
test_assets_are_embedded(void **state)
{
	struct scene scene = scene_make(&all);
	struct export_input input = scene_input(&scene);
	char *text = scene_text("svg", &input);

	(void)state;
	assert_int_equal(golden_count_assets(text), 4);
	free(text);
	if (exporter_by_name("html")->absent == NULL) {
		text = scene_text("html", &input);
		assert_int_equal(golden_count_assets(text), 6);
		free(text);
	}
	scene_release(&scene);
}

/* A name of ten thousand letters does not fill the pages of a document. */
static void
test_document_fits(void **state)
{
	static const char *const formats[] = { "markdown", "latex", "man", "html" };
	struct scene scene = scene_make(&all);
	struct export_input input = scene_input(&scene);
	struct view *view;

	(void)state;
	if (exporter_by_name("html")->absent != NULL)
		skip();
	memset(longest, 'x', sizeof(longest) - 1);
	scene_add(scene.profile, 0, RUN_RUNNING, -1, 2500, STACK(MAIN, LONG));
	input.view = view = view_create(scene.profile, NULL, &all, VIEW_BY_FUNCTION);
	input.tree = 20;
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		char *text = scene_text(formats[i], &input);

		for (char *at = text; (at = strstr(at, "xxx")) != NULL; at += strspn(at, "x"))
			assert_true(strspn(at, "x") < 320);
		assert_non_null(strstr(text, "xxx"));
		free(text);
	}
	view_free(view);
	scene_release(&scene);
}

/* Invisible characters are seen in a report. Folded stacks keep them, but for those that change the
 * direction of the text. */
static void
test_deceptive_names(void **state)
{
	struct scene scene = scene_make(&all);
	struct export_input input = scene_input(&scene);
	struct profile *profile = profile_create();
	struct view *view;
	char *text;

	(void)state;
	scene_add(profile, profile_add_thread(profile, 0, 100, 1, "t\xe2\x80\x8b"), RUN_RUNNING, -1,
		   1000, STACK(MAIN, TURNED));
	input.view = view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	input.by_thread = true;
	input.columns = 120; /* nothing is cut */
	snprintf(scene.process.comm, sizeof(scene.process.comm), "c\xe2\x80\xad");
	text = scene_text("text", &input);
	assert_null(strstr(text, "\xe2\x80\xae"));
	assert_non_null(strstr(text, "a\\u202ez;\\u2028 (lib\\u2066.so)"));
	assert_non_null(strstr(text, "(t\\u200b)"));
	assert_non_null(strstr(text, "(c\\u202d)"));
	free(text);
	text = scene_text("folded", &input);
	assert_string_equal(text, "t\xe2\x80\x8b-100;main;a\\u202ez:\\u2028 1000000\n");
	free(text);
	view_free(view);
	profile_free(profile);
	scene_release(&scene);
}

/* At any width no line is wider, and no byte could move a cursor. */
static void
test_report_fits(void **state)
{
	struct scene scene = scene_make(&all);
	struct export_input input = scene_input(&scene);

	(void)state;
	for (unsigned columns = 60; columns <= 240; columns++) {
		char *text, *rest, *line;

		input.columns = columns;
		input.by_thread = columns % 2 == 0;
		input.full = columns % 4 < 2;
		text = rest = scene_text("text", &input);
		while ((line = strsep(&rest, "\n")) != NULL) {
			const size_t length = strlen(line);

			assert_true(display_width(line) <= columns);
			assert_true(length == 0 || line[length - 1] != ' ');
			for (size_t i = 0; i < length; i++)
				assert_true((unsigned char)line[i] >= 0x20 && line[i] != 0x7f);
		}
		free(text);
	}
	scene_release(&scene);
}

/* --- registry ------------------------------------------------------------------------------- */

static void
test_registry(void **state)
{
	(void)state;
	for (size_t i = 0; exporters[i] != NULL; i++) {
		assert_ptr_equal(exporter_by_name(exporters[i]->name), exporters[i]);
		assert_non_null(exporters[i]->help);
		assert_non_null(exporters[i]->noun);
		assert_true((exporters[i]->write_any == NULL && exporters[i]->write == NULL &&
			     exporters[i]->write_causal == NULL) == (exporters[i]->absent != NULL));
	}
	assert_null(exporter_by_name("fold"));
	assert_null(exporter_by_name(""));
	assert_string_equal(exporter_by_file("a.folded")->name, "folded");
	assert_string_equal(exporter_by_file("/x.y/b.c.collapsed")->name, "folded");
	assert_string_equal(exporter_by_file("r.txt")->name, "text");
	assert_string_equal(exporter_by_file("x/a.b.pb.gz")->name, "pprof");
	assert_null(exporter_by_file("a.b.gz"));
	assert_string_equal(exporter_by_file("a.b.json")->name, "json");
	assert_string_equal(exporter_by_file("a.speedscope.json")->name, "speedscope");
	assert_string_equal(exporter_by_file("a.perf")->name, "perf");
	assert_string_equal(exporter_by_file("a.perf.txt")->name, "perf");
	assert_string_equal(exporter_by_file("a.firefox.json")->name, "firefox");
	assert_string_equal(exporter_by_file("a.profile.json")->name, "firefox");
	assert_string_equal(exporter_by_file("perf.data")->name, "perf-data");
	assert_string_equal(exporter_by_file("a.perf.data")->name, "perf-data");
	assert_string_equal(exporter_by_file("a.data.perf")->name, "perf-data");
	assert_string_equal(exporter_by_file("a.hotspot")->name, "hotspot");
	assert_string_equal(exporter_by_file("a.hotspot.data")->name, "hotspot");
	assert_null(exporter_by_file("folded"));
	assert_null(exporter_by_file("a.folded/b"));
	assert_null(exporter_by_file("a.fold"));
	assert_null(exporter_by_file("a.folded,collapsed"));
	assert_null(exporter_by_file("a."));
	assert_null(exporter_by_file(""));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registry),
		cmocka_unit_test(test_folded),
		cmocka_unit_test(test_dump),
		cmocka_unit_test(test_pprof),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_speedscope),
		cmocka_unit_test(test_svg),
		cmocka_unit_test(test_documents),
		cmocka_unit_test(test_summary_by_module),
		cmocka_unit_test(test_document_escapes),
		cmocka_unit_test(test_assets_are_embedded),
		cmocka_unit_test(test_document_fits),
		cmocka_unit_test(test_deceptive_names),
		cmocka_unit_test(test_report_80),
		cmocka_unit_test(test_report_200),
		cmocka_unit_test(test_screen_80),
		cmocka_unit_test(test_screen_60),
		cmocka_unit_test(test_screen_colours),
		cmocka_unit_test(test_report_piped),
		cmocka_unit_test(test_report_latency),
		cmocka_unit_test(test_report_tree),
		cmocka_unit_test(test_report_selected),
		cmocka_unit_test(test_report_threads),
		cmocka_unit_test(test_report_many_threads),
		cmocka_unit_test(test_report_gains),
		cmocka_unit_test(test_report_clean),
		cmocka_unit_test(test_report_empty),
		cmocka_unit_test(test_report_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
