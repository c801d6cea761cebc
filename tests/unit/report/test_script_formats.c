/* SPDX-License-Identifier: MIT */
/*
 * test_script_formats.c - functions of interpreted programs in what is written: their names, files
 * and lines, and that they look like what they are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "../scene/golden.h"
#include "pprof.pb-c.h"
#include "../scene/script_scene.h"
#include "wallsample/base/base.h"
#include "wallsample/format/exporters.h"

#define LOOP "python3!_PyEval_EvalFrameDefault;"
#define INSIDE "python3!main;python3!Py_BytesMain;" LOOP

/* Three lines of one function, and a hostile name; what is no function is the last. */
static struct profile *
make_profile(void)
{
	struct profile *profile = profile_create();

	script_scene_add(profile, INSIDE "<module>@/srv/app/app.py:9;_Z.leaf@/srv/app/app.py:4", 4);
	script_scene_add(profile, INSIDE "<module>@/srv/app/app.py:9;_Z.leaf@/srv/app/app.py:5", 2);
	script_scene_add(profile, INSIDE "<module>@/srv/app/app.py:9;python3!time_sleep;"
				  "libc.so!clock_nanosleep", 1);
	script_scene_add(profile, INSIDE "<script>&\x1b@/srv/</script>.py:1", 1);
	script_scene_add(profile, "[failed: made up]", 1);
	script_scene_add(profile, "libc.so!clone3;blas.so!compute", 1);
	return profile;
}

/* What a format makes of it, in a run with these runtimes; `dump`: of every thread once. */
static char *
written_with(const char *runtimes, const char *format, enum view_key key,
	     const struct filter *filter, bool dump, size_t *size)
{
	struct profile *profile = make_profile();
	struct view *view = view_create(profile, NULL, filter, key);
	struct run_stats *stats = xcalloc(1, sizeof(*stats));
	char command[] = "python3 app.py";
	struct process process = { .pid = 7, .comm = "python3", .cmdline = command };
	const struct export_input input = { .view = view, .process = &process, .stats = stats,
					    .full = true, .limit = 20, .thread_limit = 8,
					    .columns = 100 };
	const struct exporter *exporter = exporter_by_name(format);
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	stats->elapsed_ns = NS_PER_SEC;
	stats->rate_wanted = 100;
	snprintf(stats->runtimes, sizeof(stats->runtimes), "%s", runtimes);
	assert_non_null(out);
	if (dump)
		exporter->write_dump(&input, out);
	else
		export_write(exporter, &input, out);
	assert_int_equal(fclose(out), 0);
	free(stats);
	view_free(view);
	profile_free(profile);
	return text;
}

/* Only legends of graphs name the language. */
static char *
written_as(const char *format, enum view_key key, const struct filter *filter, bool dump,
	   size_t *size)
{
	const bool has_legend = strcmp(format, "svg") == 0 || strcmp(format, "html") == 0;

	return written_with(has_legend ? "CPython 3.11.7" : "", format, key, filter, dump, size);
}

static const struct filter all = { 0 };

static void
check_golden(const char *name, const char *format, enum view_key key, bool dump)
{
	size_t size = 0;
	char *text = written_as(format, key, &all, dump, &size);

	golden_check(name, text, size);
	free(text);
}

static void
test_text(void **state)
{
	(void)state;
	check_golden("script-report.txt", "text", VIEW_BY_FUNCTION, false);
	check_golden("script-dump.txt", "text", VIEW_BY_ADDRESS, true);
	check_golden("script-dump.json", "json", VIEW_BY_ADDRESS, true);
	check_golden("script-lines.folded", "folded", VIEW_BY_LINE, false);
}

static void
check_has(const char *format, enum view_key key, const char *const *part)
{
	size_t size = 0;
	char *text = written_as(format, key, &all, false, &size);

	for (; *part != NULL; part++)
		if (strstr(text, *part) == NULL)
			fail_msg("%s has no %s", format, *part);
	assert_null(strstr(text, "_PyEval"));
	free(text);
}

#define CHECK_HAS(format, key, ...)                                            \
	check_has(format, key, (const char *const[]){ __VA_ARGS__, NULL })

static void
test_data(void **state)
{
	(void)state;
	CHECK_HAS("json", VIEW_BY_FUNCTION,
		  "\"name\":\"_Z.leaf\",\"module\":\"app.py\",\"known\":true,"
		  "\"file\":\"/srv/app/app.py\",\"flat\"");
	CHECK_HAS("json", VIEW_BY_LINE, "\"file\":\"/srv/app/app.py\",\"line\":5,\"flat\"");
	CHECK_HAS("json", VIEW_BY_MODULE,
		  "\"name\":\"app.py\",\"module\":\"app.py\",\"known\":true,\"flat\"");
}

static void
test_graphs(void **state)
{
	(void)state;
	CHECK_HAS("svg", VIEW_BY_FUNCTION, "<g class=\"p\"><title>_Z.leaf\napp.py\n",
		  "<g class=\"p\"><title>&lt;script&gt;&amp;", "\">Python</text>",
		  "<title>time_sleep\npython3\n", "<g class=\"e\"><title>[failed: made up]");
	if (exporter_by_name("html")->absent == NULL)
		CHECK_HAS("html", VIEW_BY_FUNCTION, "\"_Z.leaf\"", "\"app.py\"",
			  "<span class=\"swatch p\"></span>Python</li>",
			  ">clock_nanosleep</text>");
}

/* No description of the run names a language. */
static void
test_unknown_runtime(void **state)
{
	size_t size = 0;
	char *text = written_with("", "svg", VIEW_BY_FUNCTION, &all, false, &size);

	(void)state;
	assert_non_null(strstr(text, "\">an interpreted language</text>"));
	assert_null(strstr(text, "Python</text>"));
	free(text);
}

static const char *
text_of(const Wallsample__Pprof__Profile *message, int64_t at)
{
	assert_true(at >= 0 && (size_t)at < message->n_string_table);
	return message->string_table[at];
}

static Wallsample__Pprof__Profile *
read_pprof(const struct filter *filter)
{
	static uint8_t plain[16384];
	size_t size = 0;
	char *bytes = written_as("pprof", VIEW_BY_ADDRESS, filter, false, &size);
	z_stream zip = { .next_in = (unsigned char *)bytes, .avail_in = (unsigned)size,
			 .next_out = plain, .avail_out = sizeof(plain) };
	Wallsample__Pprof__Profile *message;

	assert_int_equal(inflateInit2(&zip, 15 + 16), Z_OK);
	assert_int_equal(inflate(&zip, Z_FINISH), Z_STREAM_END);
	message = wallsample__pprof__profile__unpack(NULL, zip.total_out, plain);
	inflateEnd(&zip);
	free(bytes);
	assert_non_null(message);
	return message;
}

/* A function once, with its file; its lines are those of locations, which have no mapping. */
static void
test_pprof(void **state)
{
	Wallsample__Pprof__Profile *message = read_pprof(&all);
	uint64_t leaf = 0;
	int64_t lines = 0;

	(void)state;
	for (size_t i = 0; i < message->n_function; i++) {
		const Wallsample__Pprof__Function *function = message->function[i];

		if (strcmp(text_of(message, function->name), "_Z.leaf") != 0)
			continue;
		assert_int_equal(leaf, 0);
		leaf = function->id;
		assert_string_equal(text_of(message, function->filename), "/srv/app/app.py");
		/* No linker has given it that name, so that nobody should demangle it. */
		assert_int_equal(function->system_name, 0);
	}
	assert_true(leaf > 0);
	for (size_t i = 0; i < message->n_location; i++) {
		const Wallsample__Pprof__Location *location = message->location[i];

		if (location->line[0]->function_id != leaf)
			continue;
		assert_int_equal(location->n_line, 1);
		assert_int_equal(location->mapping_id, 0);
		assert_int_equal(location->address, 0);
		lines += location->line[0]->line;
	}
	assert_int_equal(lines, 4 + 5);
	wallsample__pprof__profile__free_unpacked(message, NULL);
}

/* Each location is there once and has one name, those of no frame too. */
static void
test_pprof_without_code(void **state)
{
	Wallsample__Pprof__Profile *message = read_pprof(&(struct filter){ .native = NATIVE_NONE });
	static const char *const names[] = { "<module>", "_Z.leaf", "_Z.leaf",
					     "<script>&\\x1b", "[failed: made up]",
					     "[native]" };
	size_t seen = 0;

	(void)state;
	for (size_t i = 0; i < message->n_location; i++) {
		const Wallsample__Pprof__Location *location = message->location[i];
		const char *name = NULL;

		for (size_t f = 0; f < message->n_function; f++)
			if (message->function[f]->id == location->line[0]->function_id)
				name = text_of(message, message->function[f]->name);
		assert_non_null(name);
		for (size_t j = 0; j < i; j++)
			assert_true(message->location[j]->id != location->id);
		for (size_t n = 0; n < ARRAY_SIZE(names); n++)
			if (strcmp(names[n], name) == 0) {
				seen++;
				break;
			}
	}
	assert_int_equal(message->n_location, ARRAY_SIZE(names));
	assert_int_equal(seen, ARRAY_SIZE(names));
	wallsample__pprof__profile__free_unpacked(message, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_graphs),
		cmocka_unit_test(test_unknown_runtime),
		cmocka_unit_test(test_pprof),
		cmocka_unit_test(test_pprof_without_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
