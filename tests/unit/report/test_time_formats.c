/* SPDX-License-Identifier: MIT */
/*
 * test_time_formats.c - what formats that show time make of a recording, byte by byte.
 *
 * The recording is made here, of threads whose names and functions are meant to confuse who reads
 * the formats. What readers find in the golden files, and that all add up to the same, is tested
 * by tests/replay/perf.sh, speedscope.sh and firefox.sh.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "../scene/golden.h"
#include "wallsample/base/base.h"
#include "wallsample/format/exporters.h"
#include "wallsample/process/module.h"

#define MS ((int64_t)NS_PER_MS)
#define TICKS 24

/* --- names, in place of those from symbol tables ------------------------------------- */

enum { START, MAIN, POLL, WORK, HELPER, ARROW, HOSTILE, NAMELESS, LOCK };

static const struct symbol symbol[] = {
	[START] = { "_start", "server", .source = SYMBOL_SYMTAB },
	[MAIN] = { "main", "server", "server.c", 12, .source = SYMBOL_DWARF },
	[POLL] = { "epoll_wait", "server", .source = SYMBOL_SYMTAB },
	[WORK] = { "(anonymous namespace)::work<char (*)(int)>", "server", "work.cc", 34,
		   .source = SYMBOL_DWARF },
	[HELPER] = { "helper", "server", "work.h", 5, .source = SYMBOL_DWARF, .inlined = true },
	[ARROW] = { "handle<int>::operator->", "server", "work.h", 9, .source = SYMBOL_DWARF },
	[HOSTILE] = { "evil; (deep)\n\t12 name\xff\xe2\x80\xa8 7", "server",
		      .source = SYMBOL_SYMTAB },
	[NAMELESS] = { "libstripped.so.1+0x1a2b0", "libstripped.so.1", .source = SYMBOL_NONE },
	[LOCK] = { "__lll_lock_wait", "libc.so.6", .source = SYMBOL_SYMTAB },
};

static const char *const paths[] = {
	"/nowhere/my app\xc2\xa0(x86)/server", "/nowhere/libstripped.so.1", "/nowhere/libc.so.6",
};

/* The helper is inlined into the function at its address. */
size_t
symbols_find(struct symbols *symbols, const struct symbol_place *place, struct symbol *out,
	     size_t most)
{
	const size_t count = place->vaddr == HELPER ? 2 : 1;

	(void)symbols;
	assert_true(most >= count);
	out[0] = symbol[place->vaddr];
	if (count == 2)
		out[1] = symbol[WORK];
	for (size_t i = 0; i < count; i++)
		out[i].known = out[i].source != SYMBOL_NONE;
	return count;
}

void
symbols_prepare(struct symbols *symbols, const struct symbol_place *place, size_t count)
{
	(void)symbols;
	(void)place;
	(void)count;
}

/* --- what is sampled --------------------------------------------------------------------- */

#define STACK(...) ((const int[]){ __VA_ARGS__, -1 })

static uint32_t
stack_of(struct profile *profile, const int *functions)
{
	uint32_t stack = STACK_NONE;

	for (; *functions >= 0; functions++) {
		const struct profile_frame frame = {
			.module = *functions == NAMELESS ? 1 : *functions == LOCK ? 2 : 0,
			.address = (uint64_t)*functions,
			.origin = FRAME_CFI,
		};

		stack = profile_intern_stack(profile, profile_intern_frame(profile, &frame),
					     stack);
	}
	return stack;
}

static int64_t
span_of(int tick)
{
	return 6 * MS * (1 + tick % 3);
}

struct made {
	struct profile *profile;
	int tick;
	int64_t latency_ns; /* of each that is runnable */
};

/* What a thread did at this tick, and at those before that it was not looked at. */
static void
add(const struct made *made, uint32_t thread, enum run_state state, const char *call, int ticks,
    uint32_t stack)
{
	struct profile_entry entry = {
		.thread = thread,
		.stack = stack,
		.state = state,
		.syscall = (int32_t)(call != NULL ? syscall_number(call) : SYSCALL_NONE),
		.samples = ticks,
	};
	uint32_t id;

	for (int i = 0; i < ticks; i++)
		entry.ns[WEIGHT_WALL] += span_of(made->tick - i);
	if (state == RUN_RUNNING)
		entry.ns[WEIGHT_CPU] = entry.ns[WEIGHT_WALL];
	id = profile_add(made->profile, &entry);
	if (run_state_runnable(state))
		profile_charge(made->profile, id, made->latency_ns);
}

/*
 * The boss always can run, the second thread sleeps and is looked at every fourth tick, the third
 * lives from tick 5 to 17 and waits for a CPU every other tick, the last fails twice and is gone.
 */
static void
sample_tick(struct profile *profile, const uint32_t *thread, int tick)
{
	const bool third = tick >= 5 && tick <= 17, queued = tick % 2 == 0;
	const uint32_t runnable = 1 + third;
	const struct made made = { profile, tick, span_of(tick) / runnable };
	const uint32_t failed = profile_intern_named(profile, "[failed: not stopped in 20 ms]");

	add(&made, thread[0], RUN_RUNNING, NULL, 1,
	    stack_of(profile, tick < 10 ? STACK(START, MAIN, HELPER) : STACK(START, MAIN, ARROW)));
	if (tick % 4 == 3)
		add(&made, thread[1], RUN_SLEEPING, tick < 12 ? "futex" : "epoll_wait", 4,
		    stack_of(profile, STACK(START, HOSTILE, LOCK)));
	if (third)
		add(&made, thread[2], queued ? RUN_QUEUED : RUN_RUNNING, NULL, 1,
		    stack_of(profile, STACK(NAMELESS, WORK)));
	if (tick < 4)
		add(&made, thread[3], RUN_UNINTERRUPTIBLE, NULL, 1,
		    tick < 2 ? stack_of(profile, STACK(POLL)) :
			       profile_intern_stack(profile, failed, STACK_NONE));
	if (tick == 4)
		add(&made, thread[3], RUN_SLEEPING, "futex", 1, STACK_NONE);
	profile_add_tick(profile, (uint64_t)span_of(tick), third && !queued ? 2 : 1, runnable);
}

/* A recursion as deep as a stack can be. */
static void
sample_deep(struct profile *profile, const uint32_t *thread, int tick)
{
	const struct made made = { profile, tick, span_of(tick) };
	uint32_t stack = STACK_NONE;

	for (int i = 0; i < CHAIN_MAX_DEPTH; i++) {
		const struct profile_frame frame = {
			.address = i == 0 ? START : i % 2 == 0 ? HELPER : MAIN,
			.origin = FRAME_CFI,
		};

		stack = profile_intern_stack(profile, profile_intern_frame(profile, &frame),
					     stack);
	}
	add(&made, thread[0], RUN_RUNNING, NULL, 1, stack);
	profile_add_tick(profile, (uint64_t)span_of(tick), 1, 1);
}

/* --- a recording, and its report ----------------------------------------------------------- */

static struct process process = {
	.pid = 4242, .dirfd = -1, .taskfd = -1, .comm = "ser\nver", .cmdline = (char *)"server",
};
static const struct run_stats no_stats;

struct place {
	char folder[64];
	char path[96];
	int dirfd;
};

/* Changes a recording as if it had begun `seconds` after the machine was started, on a machine with
 * the values below. */
static void
set_beginning(const char *path, int seconds)
{
	static const char machine[] =
		"UPDATE meta SET value = CASE key WHEN 'host' THEN 'build' "
		"WHEN 'kernel' THEN '6.1.0' WHEN 'machine' THEN 'x86_64' ELSE 2 END "
		"WHERE key IN ('host', 'kernel', 'machine', 'cpus')";
	char sql[200];
	sqlite3 *db;

	snprintf(sql, sizeof(sql),
		 "UPDATE meta SET value = CASE key WHEN 'began' THEN 1700000000 + %d "
		 "ELSE %d * 1000000000 + 2000 END WHERE key IN ('began', 'clock_ns')",
		 seconds, seconds);
	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_changes(db), 2);
	assert_int_equal(sqlite3_exec(db, machine, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_changes(db), 4);
	sqlite3_close(db);
}

static struct modules *
make_modules(void)
{
	struct modules *modules = modules_create();

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		modules_add_recorded(modules, &(struct recorded_module){
			.path = paths[i], .build_id = "", .kind = MODULE_FILE,
		});
	return modules;
}

static void
place_make_of(struct place *place, int seconds,
	      void (*sample)(struct profile *profile, const uint32_t *thread, int tick))
{
	static const char *const names[] = { "server", "pool 3/4;x", "#\n", "" };
	struct profile *profile = profile_create();
	struct modules *modules = make_modules();
	struct recording_config config = { .base = "x.wsdb", .modules = modules, .rate_hz = 100 };
	struct recorder *recorder;
	struct error err;
	uint32_t thread[4];

	strcpy(place->folder, "/tmp/wallsample-test-XXXXXX");
	assert_non_null(mkdtemp(place->folder));
	snprintf(place->path, sizeof(place->path), "%s/x.wsdb", place->folder);
	config.dirfd = place->dirfd = open(place->folder, O_PATH | O_DIRECTORY);
	config.path = place->path;
	assert_int_equal(recorder_create(&config, profile, &recorder, &err), 0);
	recorder_set_process(recorder, &process);
	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++)
		thread[i] = profile_add_thread(profile, 0, 4242 + (pid_t)i, i + 1, names[i]);
	for (int tick = 0; tick < TICKS; tick++)
		sample(profile, thread, tick);
	assert_int_equal(recorder_finish(recorder, &no_stats, RUN_END_DURATION, NULL, &err), 0);
	recorder_free(recorder);
	profile_free(profile);
	modules_free(modules);
	set_beginning(place->path, seconds);
}

static void
place_make(struct place *place, int seconds)
{
	place_make_of(place, seconds, sample_tick);
}

static void
place_remove(struct place *place)
{
	assert_int_equal(unlinkat(place->dirfd, "x.wsdb", 0), 0);
	close(place->dirfd);
	assert_int_equal(rmdir(place->folder), 0);
}

struct report {
	struct profile *profile;
	struct modules *modules;
	struct recording *recording[2];
	struct export_input input;
	struct filter filter;
	struct error error;
};

static void
report_make(struct report *report, const struct place *place, uint32_t count,
	    const struct recording_selection *selection)
{
	*report = (struct report){ .profile = profile_create(), .modules = modules_create() };
	for (uint32_t i = 0; i < count; i++) {
		struct recording_load load = {
			.profile = report->profile,
			.modules = report->modules,
			.selection = selection,
			.number = i,
		};
		struct recording **recording = &report->recording[i];

		if (recording_open(place[i].path, recording, &report->error) != 0 ||
		    recording_load(*recording, &load, &report->error) != 0)
			fail_msg("%s", report->error.text);
	}
	report->input = (struct export_input){
		.recordings = report->recording,
		.recording_count = count,
		.error = &report->error,
		.process = &process,
		.modules = report->modules,
		.stats = &no_stats,
	};
}

static void
report_release(struct report *report)
{
	for (size_t i = 0; i < report->input.recording_count; i++)
		recording_close(report->recording[i]);
	profile_free(report->profile);
	modules_free(report->modules);
}

/* The caller frees it. */
static char *
write_format(struct report *report, const char *format, enum view_key key, size_t *size)
{
	const struct exporter *exporter = exporter_by_name(format);
	char *text = NULL;
	FILE *out = open_memstream(&text, size);
	struct view *view = view_create(report->profile, NULL, &report->filter,
					exporter->by_address ? VIEW_BY_ADDRESS : key);

	report->error.kind = ERROR_NONE;
	report->input.view = view;
	export_write(exporter, &report->input, out);
	assert_int_equal(fclose(out), 0);
	if (report->error.kind != ERROR_NONE)
		fail_msg("%s", report->error.text);
	view_free(view);
	return text;
}

static void
check(struct report *report, const char *name, const char *format, enum view_key key)
{
	size_t size = 0;
	char *text = write_format(report, format, key, &size);

	golden_check(name, text, size);
	free(text);
}

/* --- tests ----------------------------------------------------------------------------------- */

static void
test_whole(void **state)
{
	struct place place;
	struct report report;

	(void)state;
	place_make(&place, 50);
	report_make(&report, &place, 1, NULL);
	check(&report, "time.perf", "perf", VIEW_BY_FUNCTION);
	check(&report, "time.perf-data", "perf-data", VIEW_BY_FUNCTION);
	check(&report, "time.hotspot", "hotspot", VIEW_BY_FUNCTION);
	check(&report, "time.speedscope.json", "speedscope", VIEW_BY_FUNCTION);
	check(&report, "time.firefox.json", "firefox", VIEW_BY_FUNCTION);
	report.input.by_thread = true;
	check(&report, "time.folded", "folded", VIEW_BY_FUNCTION);
	report.input.sort = WEIGHT_LATENCY;
	check(&report, "time-latency.perf", "perf", VIEW_BY_FUNCTION);
	check(&report, "time-latency.speedscope.json", "speedscope", VIEW_BY_LINE);
	check(&report, "time-latency.folded", "folded", VIEW_BY_FUNCTION);
	report_release(&report);
	place_remove(&place);
}

/* Of some ticks, most of them alone; of all states but one. */
static void
test_part(void **state)
{
	static const struct recording_selection alone = {
		.has_parallelism = true, .least = 1, .most = 1,
	};
	struct place place;
	struct report report;

	(void)state;
	place_make(&place, 50);
	report_make(&report, &place, 1, &alone);
	report.filter.states = ~(1u << RUN_UNINTERRUPTIBLE);
	check(&report, "time-part.perf", "perf", VIEW_BY_FUNCTION);
	check(&report, "time-part.speedscope.json", "speedscope", VIEW_BY_FUNCTION);
	check(&report, "time-part.firefox.json", "firefox", VIEW_BY_FUNCTION);
	report.input.by_thread = true;
	check(&report, "time-part.folded", "folded", VIEW_BY_FUNCTION);
	report_release(&report);
	place_remove(&place);
}

/* Two recordings of one process, the later one first: records are in the order of time. */
static void
test_two(void **state)
{
	struct place place[2];
	struct report report;
	char *text, *rest, *line;
	double last = 0;
	size_t size, records = 0;

	(void)state;
	place_make(&place[0], 60);
	place_make(&place[1], 50);
	report_make(&report, place, 2, NULL);
	text = rest = write_format(&report, "perf", VIEW_BY_FUNCTION, &size);
	while ((line = strsep(&rest, "\n")) != NULL) {
		double seconds;

		if (line[0] == '\0' || line[0] == '#' || line[0] == '\t')
			continue;
		assert_non_null(strstr(line, " 4242/"));
		seconds = strtod(strrchr(line, '/') + strcspn(strrchr(line, '/'), " "), NULL);
		assert_true(seconds >= last);
		last = seconds;
		records++;
	}
	assert_int_equal(records, 2 * (TICKS + TICKS + 13 + 5));
	assert_true(last > 60 && last < 61);
	free(text);
	text = write_format(&report, "speedscope", VIEW_BY_FUNCTION, &size);
	/* one axis for both: from the beginning of the first to the end of the second */
	assert_non_null(strstr(text, "\"endValue\":10288000000,"));
	free(text);
	report_release(&report);
	place_remove(&place[0]);
	place_remove(&place[1]);
}

static uint64_t
number_at(const char *bytes, size_t size)
{
	uint64_t number = 0;

	memcpy(&number, bytes, size);
	return number;
}

/*
 * The size of a record of perf.data is a 16-bit number: a call chain that does not fit is cut at
 * its outer end, and its last frame says so.
 */
static void
test_deep(void **state)
{
	static const char cut[] = "[truncated: ";
	struct place place;
	struct report report;
	size_t size, samples = 0, cuts = 0, at, end, length;
	uint64_t address = 0;
	char *file;

	(void)state;
	place_make_of(&place, 50, sample_deep);
	report_make(&report, &place, 1, NULL);
	file = write_format(&report, "perf-data", VIEW_BY_FUNCTION, &size);
	at = (size_t)number_at(file + 40, 8);
	end = at + (size_t)number_at(file + 48, 8);
	assert_true(end < size);
	for (; at < end; at += length) {
		length = (size_t)number_at(file + at + 6, 2);
		assert_true(length >= 8 && length % 8 == 0 && length <= end - at);
		if (number_at(file + at, 4) == 17 &&
		    strncmp(file + at + 24, cut, strlen(cut)) == 0) {
			address = number_at(file + at + 8, 8);
			cuts++;
		}
		if (number_at(file + at, 4) != 9)
			continue;
		/* the words after the 56 bytes of other members, the last one the cut */
		assert_true(length > 65000);
		assert_int_equal(number_at(file + at + 48, 8), (length - 56) / 8);
		assert_int_equal(number_at(file + at + length - 8, 8), address);
		samples++;
	}
	assert_int_equal(at, end);
	assert_int_equal(samples, TICKS);
	assert_int_equal(cuts, 1);
	free(file);
	report_release(&report);
	place_remove(&place);
}

/* A writer that cannot write any more does not go on for long. */
static void
test_no_room(void **state)
{
	static const char *const formats[] = { "perf", "perf-data", "hotspot", "speedscope",
						"firefox" };
	struct place place;
	struct report report;

	(void)state;
	place_make(&place, 50);
	report_make(&report, &place, 1, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		FILE *full = fopen("/dev/full", "we");
		struct view *view = view_create(report.profile, NULL, &report.filter,
						VIEW_BY_ADDRESS);

		assert_non_null(full);
		setvbuf(full, NULL, _IONBF, 0);
		report.input.view = view;
		export_write(exporter_by_name(formats[i]), &report.input, full);
		assert_true(ferror(full) != 0);
		fclose(full);
		view_free(view);
	}
	report_release(&report);
	place_remove(&place);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_part),
		cmocka_unit_test(test_two),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
