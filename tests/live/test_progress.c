/* SPDX-License-Identifier: MIT */
/*
 * test_progress.c - progress points of programs that count known numbers: found by every name,
 * read while the program runs, refused with a reason.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness.h"
#include "wallsample/base/base.h"
#include "wallsample/causal/progress.h"
#include "wallsample/causal/progress_coz.h"

struct points {
	struct target target;
	struct process *process;
	struct modules *modules;
	struct maps *maps;
	char root[64];
	struct symbols_config config;
	struct symbols *symbols;
	struct progress *progress;
	struct error error;
	struct progress_value value[CAUSAL_POINTS_MOST];
};

static void
begin(struct points *points, const char *program, const char *word)
{
	memset(points, 0, sizeof(*points));
	target_start(&points->target, program, word, NULL);
	if (process_open(points->target.pid, &points->process, &points->error) != 0)
		harness_die("%s", points->error.text);
	points->modules = modules_create();
	points->maps = maps_create(points->process, points->modules);
	snprintf(points->root, sizeof(points->root), "/proc/%d/root", (int)points->target.pid);
	points->config = (struct symbols_config){ .demangle = true, .inlines = true,
						  .files.root = points->root };
	points->symbols = symbols_create(points->modules, &points->config);
}

static int
open_points(struct points *points, const char *const *spec, size_t count)
{
	progress_free(points->progress);
	return progress_open(spec, count, points->process, points->maps, points->symbols,
			     &points->progress, &points->error);
}

static int
open_one(struct points *points, const char *spec)
{
	return open_points(points, &spec, 1);
}

/* True if a thread of the target is in read(2); with "ends" that is not the first thread. */
static bool
reads_input(pid_t pid)
{
	pid_t tids[8];
	const size_t count = inspect_threads(pid, tids, 8);

	for (size_t i = 0; i < count; i++)
		if (inspect_is_in_call(tids[i], SYS_read))
			return true;
	return false;
}

static void
step(struct points *points)
{
	char line[16];

	target_tell(&points->target);
	if (!target_read_line(&points->target, line, sizeof(line)))
		harness_die("the target has ended");
	/* The kernel counts the system call that has written the line when it returns. */
	while (!reads_input(points->target.pid))
		;
	CHECK(progress_read(points->progress, points->value), "it can be read");
}

static void
release(struct points *points)
{
	progress_free(points->progress);
	symbols_free(points->symbols);
	maps_free(points->maps);
	modules_free(points->modules);
	process_free(points->process);
}

static void
end(struct points *points)
{
	release(points);
	target_finish(&points->target, NULL);
}

/* Each spec, and how many events a step of the target is. */
struct expected {
	const char *spec;
	uint64_t each;
};

static void
check_steps(struct points *points, const struct expected *expected, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!CHECK(open_one(points, expected[i].spec) == 0, "%s: %s", expected[i].spec,
			   points->error.text))
			continue;
		for (uint64_t n = 1; n <= 4; n++) {
			step(points);
			CHECK(points->value[0].count == n * expected[i].each,
			      "%s: %llu events after %llu steps", expected[i].spec,
			      (unsigned long long)points->value[0].count,
			      (unsigned long long)n);
		}
	}
}

static const struct expected plain[] = {
	{ "var:hits8", 100 },
	{ "var:hits16", 40000 },
	{ "var:hits32", 4 },
	{ "var:hits64", 3 },
	{ "hits=var:hits64", 3 },
	{ "var:table+8/4", 11 },
	{ "var:table+0xe/2", 13 },
	{ "var:inner", 2 },
	{ "var:counters.c:twice", 5 },
	{ "var:counters_more.c:twice", 7 },
	{ "var:backwards", 0 },
	{ "io:wchar", 10 + 5 }, /* and "done" and a newline */
	{ "io:syscw", 3 },
	{ "syscalls:write", 3 },
};

static void
test_all(const char *program, const char *word)
{
	struct points points;

	harness_case("%s %s", program, word != NULL ? word : "");
	if (!target_exists(program)) {
		harness_skip("it cannot be built here");
		return;
	}
	begin(&points, program, word);
	check_steps(&points, plain, ARRAY_SIZE(plain));
	end(&points);
}

static void
test_module_and_address(void)
{
	struct points points;
	const char *name, *spec;
	enum causal_point_kind kind;
	struct strbuf text;
	char address[64];

	harness_case("a module, an address, what a point says of itself");
	begin(&points, "counters", NULL);
	check_steps(&points, &(struct expected){ "var:counters:hits64", 3 }, 1);
	strbuf_init(&text);
	progress_explain(points.progress, 0, &text);
	harness_note("%s", text.data);
	CHECK(strstr(text.data, "var:counters:hits64 is an 8-byte counter at 0x") != NULL &&
		      strstr(text.data, "in counters") != NULL, "it says what it is");
	snprintf(address, sizeof(address), "a=var:%.18s/4",
		 strstr(text.data, "at 0x") != NULL ? strstr(text.data, "at 0x") + 3 : "");
	address[strcspn(address, " ")] = '\0';
	if (strchr(address, '/') == NULL)
		strcat(address, "/4");
	CHECK(open_one(&points, address) == 0, "%s: %s", address, points.error.text);
	progress_point(points.progress, 0, &name, &spec, &kind);
	CHECK(strcmp(name, "a") == 0 && strcmp(spec, address + 2) == 0 &&
		      kind == CAUSAL_THROUGHPUT, "name %s, spec %s", name, spec);
	step(&points);
	CHECK(points.value[0].count == 3, "by its address");
	strbuf_release(&text);
	end(&points);
}

static void
test_latency(void)
{
	static const char *const both[] = { "begin:var:begun,end:var:ended",
					    "begin:syscalls:read,end:syscalls:write" };
	struct points points;

	harness_case("how many are in progress");
	begin(&points, "counters", NULL);
	CHECK(open_points(&points, both, 2) == 0, "%s", points.error.text);
	for (int64_t n = 1; n <= 3; n++) {
		step(&points);
		CHECK(points.value[0].in_progress == 2 + n, "%lld in progress",
		      (long long)points.value[0].in_progress);
		CHECK(points.value[0].count == (uint64_t)n, "%llu ended",
		      (unsigned long long)points.value[0].count);
		CHECK(points.value[1].in_progress >= 0, "never negative");
	}
	end(&points);
}

static void
check_refused(struct points *points, const char *spec, const char *word)
{
	CHECK(open_one(points, spec) != 0 && strstr(points->error.text, word) != NULL, "%s: %s",
	      spec, points->error.text);
	points->error.text[0] = '\0';
}

static void
test_refused(void)
{
	struct points points;

	harness_case("what is refused, and why");
	begin(&points, "counters", NULL);
	check_refused(&points, "var:own_hits", "thread-local");
	check_refused(&points, "var:counters_step", "function");
	check_refused(&points, "func:hits64", "variable");
	check_refused(&points, "var:hits46", "similar: ");
	check_refused(&points, "var:twice", "several");
	check_refused(&points, "var:twice", "counters_more.c");
	check_refused(&points, "var:table+20/8", "not in it");
	check_refused(&points, "var:nowhere.so:hits64", "nowhere.so");
	check_refused(&points, "var:0x10/8", "no memory");
	check_refused(&points, "var:hits64/3", "1, 2, 4 or 8");
	end(&points);
}

static void
test_target_ends(void)
{
	struct points points;
	const char *spec[] = { "var:hits64", "io:wchar" };

	for (size_t i = 0; i < ARRAY_SIZE(spec); i++) {
		harness_case("%s of a process that ends", spec[i]);
		begin(&points, "counters", NULL);
		CHECK(open_one(&points, spec[i]) == 0, "%s", points.error.text);
		target_finish(&points.target, NULL);
		CHECK(!progress_read(points.progress, points.value), "it has gone");
		release(&points);
	}
}

static void
test_plus(void)
{
	static const struct expected plus[] = {
		{ "var:shop::orders", 3 },
		{ "var:_ZN4shop6ordersE", 3 },
		{ "var:shop::counted<int>::hits", 2 },
		{ "var:shop::(anonymous namespace)::hidden", 1 },
		{ "var:counters_plus:shop::orders", 3 },
	};
	struct points points;

	harness_case("C++ names");
	if (!target_exists("counters_plus")) {
		harness_skip("there is no C++ compiler");
		return;
	}
	begin(&points, "counters_plus", NULL);
	check_steps(&points, plus, ARRAY_SIZE(plus));
	check_refused(&points, "var:shop::order", "shop::orders");
	end(&points);
}

/* The number of the line in coded.c that is marked with this word. */
static unsigned
marked_line(const char *word)
{
	char path[4096], line[256], mark[64];
	unsigned number = 0, found = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/tests/live/targets/coded.c", getenv("SOURCE"));
	snprintf(mark, sizeof(mark), "/* LINE %s */", word);
	file = fopen(path, "r");
	if (file == NULL)
		harness_die("%s cannot be read", path);
	while (found == 0 && fgets(line, sizeof(line), file) != NULL) {
		number++;
		if (strstr(line, mark) != NULL)
			found = number;
	}
	fclose(file);
	return found;
}

static const char *
line_spec(const char *word)
{
	static char spec[64];

	snprintf(spec, sizeof(spec), "line:targets/coded.c:%u", marked_line(word));
	return spec;
}

/* The address that was handed out is code of this function and line. */
static void
check_line(struct points *points, const char *word, const char *function)
{
	const struct progress_counted *counted;
	const struct mapping *mapping;
	struct symbol chain[SYMBOL_CHAIN_MAX];
	struct symbol_place place;
	size_t count;

	if (!CHECK(open_one(points, line_spec(word)) == 0, "%s: %s", word, points->error.text))
		return;
	CHECK(progress_counted(points->progress, &counted) == 1, "one address");
	mapping = maps_find(points->maps, counted->address);
	if (!CHECK(mapping != NULL, "%s: it is code", word))
		return;
	place = (struct symbol_place){ .module = mapping->module,
				       .vaddr = counted->address - mapping->bias };
	count = symbols_find(points->symbols, &place, chain, SYMBOL_CHAIN_MAX);
	CHECK(strcmp(chain[count - 1].function, function) == 0, "%s: in %s", word,
	      chain[count - 1].function);
	/* Of a loop the code may be mixed with what it does. */
	CHECK(chain[0].line == marked_line(word) || strcmp(word, "loop") == 0, "%s: line %u", word,
	      chain[0].line);
}

static void
test_code(void)
{
	const struct progress_counted *counted;
	struct points points;
	uint64_t totals[] = { 5 };
	struct strbuf text;
	char line[64];

	harness_case("functions and lines");
	begin(&points, "coded", NULL);
	target_tell(&points.target);
	target_read_line(&points.target, line, sizeof(line));
	if (CHECK(open_one(&points, "func:function") == 0, "%s", points.error.text)) {
		CHECK(progress_counted(points.progress, &counted) == 1 &&
			      counted->address == strtoull(line, NULL, 16) &&
			      strcmp(counted->spec, "func:function") == 0, "where it is");
		progress_set_counted(points.progress, totals, 1);
		CHECK(progress_read(points.progress, points.value) && points.value[0].count == 5,
		      "what was counted comes back");
	}
	strbuf_init(&text);
	if (CHECK(open_one(&points, "func:both") == 0, "%s", points.error.text)) {
		progress_explain(points.progress, 0, &text);
		CHECK(strstr(text.data, "also inlined in one place") != NULL, "%s", text.data);
	}
	strbuf_release(&text);
	check_line(&points, "alone", "looping");
	check_line(&points, "loop", "looping");
	check_refused(&points, "func:copied", "inlined in 2 places");
	check_refused(&points, line_spec("copied"), "2 copies");
	check_refused(&points, line_spec("nothing"), "no code of its own");
	check_refused(&points, "line:elsewhere.c:3", "no code of a file elsewhere.c");
	check_refused(&points, "func:functoin", "similar: function");
	end(&points);
}

static void
begin_preloaded(struct points *points)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", getenv("BUILD"), PROGRESS_COZ_LIBRARY);
	setenv("LD_PRELOAD", path, 1);
	begin(points, "coz_points", NULL);
	unsetenv("LD_PRELOAD");
}

/* Named points: what is there, what comes later, what never does. */
static void
test_coz_named(void)
{
	static const char *const spec[] = { "coz:served", "coz:request", "coz:late", "coz:round-2",
					    "coz:never", "begin:coz:request,end:coz:served" };
	struct points points;
	const char *name, *words;
	enum causal_point_kind kind;
	struct strbuf text;

	harness_case("points of coz.h, by name, before the program has come by them");
	begin_preloaded(&points);
	CHECK(open_points(&points, spec, ARRAY_SIZE(spec)) == 0, "%s", points.error.text);
	for (uint64_t n = 1; n <= 3; n++) {
		const uint64_t expected[] = { 2 * n, n, 7 * (n - 1), n >= 2 ? 4 : 0, 0, 2 * n };

		step(&points);
		for (size_t i = 0; i < ARRAY_SIZE(spec); i++)
			CHECK(points.value[i].count == expected[i], "%s: %llu events in step %llu",
			      spec[i], (unsigned long long)points.value[i].count,
			      (unsigned long long)n);
		CHECK(points.value[1].in_progress == (int64_t)n, "requests in progress: %lld",
		      (long long)points.value[1].in_progress);
	}
	progress_point(points.progress, 1, &name, &words, &kind);
	CHECK(kind == CAUSAL_LATENCY, "a begin and an end are a latency");
	strbuf_init(&text);
	progress_explain(points.progress, 4, &text);
	CHECK(strstr(text.data, "served") != NULL, "%s", text.data);
	strbuf_release(&text);
	end(&points);
}

static void
test_coz_all(void)
{
	struct points points;
	const char *name, *spec;
	enum causal_point_kind kind;
	char line[16];

	harness_case("all points of coz.h that there are");
	begin_preloaded(&points);
	CHECK(open_points(&points, NULL, 0) != 0 &&
		      strstr(points.error.text, "not come by any") != NULL, "%s",
	      points.error.text);
	target_tell(&points.target);
	target_read_line(&points.target, line, sizeof(line));
	CHECK(open_points(&points, NULL, 0) == 0, "%s", points.error.text);
	CHECK(progress_count(points.progress) == 3, "served, request and round-1");
	step(&points);
	for (size_t i = 0; i < progress_count(points.progress); i++) {
		progress_point(points.progress, i, &name, &spec, &kind);
		if (strcmp(name, "served") == 0)
			CHECK(kind == CAUSAL_THROUGHPUT && points.value[i].count == 2, "%s", spec);
		else if (strcmp(name, "request") == 0)
			CHECK(kind == CAUSAL_LATENCY && points.value[i].count == 1 &&
				      points.value[i].in_progress == 2, "%s", spec);
		else
			CHECK(strcmp(name, "round-1") == 0 && points.value[i].count == 0, "%s",
			      name);
	}
	end(&points);
}

/* More than there is room for: served, request, late and a round of each step. */
static void
test_coz_many(void)
{
	struct points points;
	char line[16];

	harness_case("more points of coz.h than are counted");
	begin_preloaded(&points);
	for (int i = 0; i < 8; i++) {
		target_tell(&points.target);
		target_read_line(&points.target, line, sizeof(line));
	}
	CHECK(open_points(&points, NULL, 0) == 0, "%s", points.error.text);
	CHECK(progress_count(points.progress) == CAUSAL_POINTS_MOST, "%zu",
	      progress_count(points.progress));
	CHECK(progress_left_out(points.progress) == 3 + 8 - CAUSAL_POINTS_MOST, "%zu left out",
	      progress_left_out(points.progress));
	end(&points);
}

static void
test_coz_nobody(void)
{
	struct points points;

	harness_case("points of coz.h that nobody counts");
	begin(&points, "coz_points", NULL);
	check_refused(&points, "coz:served", "LD_PRELOAD=");
	CHECK(open_points(&points, NULL, 0) != 0 &&
		      strstr(points.error.text, "LD_PRELOAD=") != NULL, "%s", points.error.text);
	end(&points);
	begin(&points, "counters", NULL);
	check_refused(&points, "coz:served", "no progress points of coz.h");
	end(&points);
	CHECK(progress_wants_preload(target_path("coz_points")), "it wants one");
	CHECK(!progress_wants_preload(target_path("counters")) && !progress_wants_preload("/") &&
		      !progress_wants_preload("true"), "these do not");
}

int
main(void)
{
	harness_begin(60);
	test_all("counters", NULL);
	test_all("counters", "ends");
	test_all("counters_nopie", NULL);
	test_all("counters_stripped", NULL);
	test_module_and_address();
	test_latency();
	test_refused();
	test_target_ends();
	test_plus();
	test_code();
	test_coz_named();
	test_coz_all();
	test_coz_many();
	test_coz_nobody();
	return harness_end();
}
