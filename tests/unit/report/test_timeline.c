/* SPDX-License-Identifier: MIT */
/*
 * test_timeline.c - recordings of which it is known who did what when, in bins; and as a page.
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

#include "wallsample/report/timeline_bins.h"
#include "wallsample/format/exporters.h"
#include "../scene/golden.h"
#include "wallsample/base/base.h"

#define MS NS_PER_MS
#define TICK (10 * MS)
#define SCENES_MOST 2

static struct process process = {
	.pid = 77, .dirfd = -1, .taskfd = -1, .comm = "server", .cmdline = (char *)"server -x",
};
static const struct run_stats no_stats;
static const struct filter all;

/* --- what is recorded -------------------------------------------------------------------- */

static void
add(struct profile *profile, uint32_t thread, const char *function, enum run_state state,
    int64_t ticks)
{
	const struct profile_entry entry = {
		.thread = thread,
		.stack = profile_intern_stack(profile, profile_intern_named(profile, function),
					      STACK_NONE),
		.state = state,
		.syscall = (int32_t)SYSCALL_NONE,
		.samples = ticks,
		.ns = { [WEIGHT_WALL] = ticks * (int64_t)TICK,
			[WEIGHT_CPU] = state == RUN_RUNNING ? ticks * (int64_t)TICK : 0 },
	};

	profile_add(profile, &entry);
}

/*
 * A hundred ticks. "main" runs at the first 25, and sleeps until the end; it is told in one
 * piece, at the end. "late" begins with tick 35, waits for a CPU at five, runs at 25 and waits for
 * a disk at five. "rare" sleeps, is looked at every ten ticks, and ran once, at tick 59.
 */
static void
sample(struct profile *profile)
{
	const uint32_t main = profile_add_thread(profile, 0, 77, 5, "main");
	const uint32_t rare = profile_add_thread(profile, 0, 80, 6, "\xe6\x97\xa5\xe6\x9c\xac");
	uint32_t late = 0;

	for (int tick = 0; tick < 100; tick++) {
		const bool busy = tick >= 40 && tick < 65;
		const uint32_t on_cpu = (tick < 25) + busy + (tick == 59);

		if (tick < 25)
			add(profile, main, "f", RUN_RUNNING, 1);
		else if (tick == 99)
			add(profile, main, "g", RUN_SLEEPING, 75);
		if (tick == 35)
			late = profile_add_thread(profile, 0, 79, 7,
						  "</script><script>alert(1)</script><!--");
		if (tick >= 35 && tick < 70)
			add(profile, late, "h",
			    busy ? RUN_RUNNING : tick < 40 ? RUN_QUEUED : RUN_UNINTERRUPTIBLE, 1);
		if (tick == 59)
			add(profile, rare, "i", RUN_SLEEPING, 9);
		if (tick == 59)
			add(profile, rare, "f", RUN_RUNNING, 1);
		else if (tick % 10 == 9)
			add(profile, rare, "i", RUN_SLEEPING, 10);
		profile_add_tick(profile, TICK, on_cpu, on_cpu);
	}
}

/*
 * A thread that is there from tick 3 on, of which nothing is told before tick 6, and not all then:
 * each of its samples has a tick of its own, in the order in which they are told.
 */
static void
sample_late(struct profile *profile)
{
	const uint32_t thread = profile_add_thread(profile, 0, 77, 5, "main");

	for (int tick = 0; tick < 12; tick++) {
		if (tick == 6 || tick > 7)
			add(profile, thread, "f", RUN_RUNNING, 1);
		if (tick == 6)
			add(profile, thread, "g", RUN_QUEUED, 1);
		if (tick == 7) {
			add(profile, thread, "g", RUN_QUEUED, 1);
			add(profile, thread, "h", RUN_UNINTERRUPTIBLE, 2);
		}
		/* what is only corrected has ticks already */
		if (tick == 10) {
			add(profile, thread, "f", RUN_RUNNING, -2);
			add(profile, thread, "i", RUN_STOPPED, 2);
		}
		profile_add_tick(profile, TICK, tick >= 3, tick >= 3);
	}
}

/* --- recordings that are loaded -------------------------------------------------------- */

struct scene {
	void (*sample)(struct profile *profile); /* what is recorded */
	int64_t date_s;                          /* what has to be added to clocks */
	struct profile *profile;
	struct view *view;
	struct recording *recording[SCENES_MOST];
	struct error error;
	struct export_input input;
};

static void
change(const char *path, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	sqlite3_close(db);
}

static void
make_recording(const char *folder, const char *path, void (*fill)(struct profile *profile))
{
	struct profile *profile = profile_create();
	struct modules *modules = modules_create();
	const struct recording_config config = {
		.dirfd = open(folder, O_PATH | O_DIRECTORY),
		.base = "x.wsdb",
		.path = path,
		.modules = modules,
		.rate_hz = 100,
	};
	struct recorder *recorder;
	struct error err;

	assert_int_equal(recorder_create(&config, profile, &recorder, &err), 0);
	recorder_set_process(recorder, &process);
	fill(profile);
	assert_int_equal(recorder_finish(recorder, &no_stats, RUN_END_DURATION, NULL, &err), 0);
	recorder_free(recorder);
	profile_free(profile);
	modules_free(modules);
	close(config.dirfd);
}

/* Adds a recording whose clock stood at `clock_s` seconds when it began. */
static void
scene_load(struct scene *scene, int clock_s, const struct recording_selection *selection)
{
	struct recording_load load = {
		.profile = scene->profile,
		.number = (uint32_t)scene->input.recording_count,
		.selection = selection,
	};
	struct recording **recording = &scene->recording[scene->input.recording_count++];
	char folder[] = "/tmp/wallsample-test-XXXXXX", path[64], sql[200];

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x.wsdb", folder);
	make_recording(folder, path, scene->sample);
	snprintf(sql, sizeof(sql), "REPLACE INTO meta VALUES('clock_ns', %d000000000), "
		 "('began', %jd), ('cpus', 4), ('host', 'here')", clock_s,
		 (intmax_t)(scene->date_s + clock_s));
	change(path, sql);
	assert_int_equal(recording_open(path, recording, &scene->error), 0);
	assert_int_equal(recording_load(*recording, &load, &scene->error), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void
scene_init(struct scene *scene)
{
	*scene = (struct scene){ .sample = sample, .profile = profile_create(),
				  .error.kind = ERROR_NONE };
}

static void
scene_view(struct scene *scene, const struct filter *filter)
{
	scene->view = view_create(scene->profile, NULL, filter, VIEW_BY_FUNCTION);
	scene->input.view = scene->view;
	scene->input.recordings = scene->recording;
	scene->input.error = &scene->error;
	scene->input.process = &process;
	scene->input.stats = &no_stats;
	scene->input.limit = 20;
}

static void
scene_release(struct scene *scene)
{
	assert_int_equal(scene->error.kind, ERROR_NONE);
	view_free(scene->view);
	for (size_t i = 0; i < scene->input.recording_count; i++)
		recording_close(scene->recording[i]);
	profile_free(scene->profile);
}

/* One recording, of the ticks that are wanted, with bins. */
static void
scene_make(struct scene *scene, const struct recording_selection *selection,
	   const struct filter *filter, size_t bins, size_t rows, struct timeline_bins *out)
{
	scene_init(scene);
	scene_load(scene, 1000, selection);
	scene_view(scene, filter);
	timeline_bins_make(&scene->input, bins, rows, out);
}

/* --- bins ------------------------------------------------------------------------------------ */

static const struct timeline_row *
row_of(const struct timeline_bins *bins, const struct scene *scene, pid_t tid)
{
	for (size_t i = 0; i < bins->row_count; i++)
		if (profile_thread(scene->profile, bins->row[i].thread)->tid == tid)
			return &bins->row[i];
	fail_msg("there is no row of thread %d", (int)tid);
	return NULL;
}

/* Its ticks in each state in a bin: "R5 S5", the letters of run_state_letter; "" for none. */
static void
check_bin(const struct timeline_row *row, size_t bin, const char *expected)
{
	struct strbuf text;

	strbuf_init(&text);
	strbuf_add_text(&text, "");
	for (int state = 0; state < RUN_STATE_COUNT; state++) {
		const double ns = row->ns[bin * TIMELINE_STATES + (size_t)state];

		if (ns > 0)
			strbuf_add_format(&text, "%s%c%g", text.length > 0 ? " " : "",
					  run_state_letter((enum run_state)state),
					  ns / (double)TICK);
	}
	if (strcmp(text.data, expected) != 0)
		fail_msg("bin %zu has '%s' instead of '%s'", bin, text.data, expected);
	strbuf_release(&text);
}

static void
check_bins(const struct timeline_row *row, const char *const expected[], size_t count)
{
	for (size_t bin = 0; bin < count; bin++)
		check_bin(row, bin, expected[bin]);
}

static void
check_load(const struct timeline_bins *bins, size_t bin, double wanted, double cpu, uint64_t most)
{
	assert_true(bins->load[bin].wanted_ns == wanted * (double)TICK);
	assert_true(bins->load[bin].cpu_ns == cpu * (double)TICK);
	assert_int_equal(bins->load[bin].most, most);
}

static void
test_bins(void **state)
{
	static const char *const main[] = { "R10", "R10", "R5 S5", "S10", "S10", "S10", "S10",
					    "S10", "S10", "S10" };
	static const char *const late[] = { "", "", "", "Q5", "R10", "R10", "R5 D5", "", "", "" };
	static const char *const rare[] = { "S10", "S10", "S10", "S10", "S10", "R1 S9", "S10",
					    "S10", "S10", "S10" };
	struct timeline_bins bins;
	struct scene scene;

	(void)state;
	scene_make(&scene, NULL, &all, 10, 60, &bins);
	assert_int_equal(bins.count, 10);
	assert_int_equal(bins.bin_ns, 10 * TICK);
	assert_int_equal(bins.part_count, 1);
	assert_int_equal(bins.part[0].start_ns, 0);
	assert_int_equal(bins.part[0].end_ns, 100 * TICK);
	assert_int_equal(bins.cpus, 4);
	assert_int_equal(bins.row_count, 3);
	assert_int_equal(bins.rest_count, 0);
	assert_null(bins.rest.ns);
	/* That which could have run for longest comes first. */
	assert_ptr_equal(row_of(&bins, &scene, 79), &bins.row[0]);
	assert_ptr_equal(row_of(&bins, &scene, 77), &bins.row[1]);
	check_bins(row_of(&bins, &scene, 77), main, 10);
	check_bins(row_of(&bins, &scene, 79), late, 10);
	check_bins(row_of(&bins, &scene, 80), rare, 10);
	check_load(&bins, 0, 10, 10, 1);
	check_load(&bins, 2, 10, 5, 1);
	check_load(&bins, 3, 10, 0, 0);
	check_load(&bins, 5, 10, 11, 2);
	timeline_bins_release(&bins);
	scene_release(&scene);
}

/* What does not fit its bins is shared out among them; no bin is shorter than a tick. */
static void
test_widths(void **state)
{
	struct timeline_bins bins;
	struct scene scene;

	(void)state;
	scene_make(&scene, NULL, &all, 8, 60, &bins);
	assert_int_equal(bins.count, 8);
	check_bin(row_of(&bins, &scene, 77), 1, "R12.5");
	check_bin(row_of(&bins, &scene, 79), 2, "Q2.5");
	check_bin(row_of(&bins, &scene, 79), 3, "R10 Q2.5");
	check_load(&bins, 4, 12.5, 13.5, 2);
	timeline_bins_release(&bins);
	timeline_bins_make(&scene.input, 1000, 60, &bins);
	assert_int_equal(bins.count, 100);
	check_bin(row_of(&bins, &scene, 80), 59, "R1");
	check_bin(row_of(&bins, &scene, 80), 60, "S1");
	timeline_bins_release(&bins);
	timeline_bins_make(&scene.input, 3, 60, &bins);
	assert_int_equal(bins.count, 3);
	/* The last one reaches a little beyond the end. */
	assert_int_equal(timeline_bins_length(&bins, 1), bins.bin_ns);
	assert_int_equal(timeline_bins_length(&bins, 2), 100 * TICK - 2 * bins.bin_ns);
	timeline_bins_release(&bins);
	scene_release(&scene);
}

static void
test_told_late(void **state)
{
	static const char *const ticks[] = { "", "", "", "R1", "Q1", "Q1", "D1", "D1", "R1", "R1",
					     "R1", "R1" };
	struct timeline_bins bins;
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.sample = sample_late;
	scene_load(&scene, 1000, NULL);
	scene_view(&scene, &all);
	timeline_bins_make(&scene.input, 12, 60, &bins);
	assert_int_equal(bins.count, 12);
	check_bins(&bins.row[0], ticks, 12);
	timeline_bins_release(&bins);
	scene_release(&scene);
}

/* Threads without a row are one together. */
static void
test_rest(void **state)
{
	struct timeline_bins bins;
	struct scene scene;

	(void)state;
	scene_make(&scene, NULL, &all, 10, 1, &bins);
	assert_int_equal(bins.row_count, 1);
	assert_int_equal(bins.rest_count, 2);
	check_bin(&bins.row[0], 4, "R10");
	check_bin(&bins.rest, 0, "R10 S10");
	check_bin(&bins.rest, 5, "R1 S19");
	timeline_bins_release(&bins);
	scene_release(&scene);
}

/* --from and --to: the time is that part of it. */
static void
test_part(void **state)
{
	static const struct recording_selection middle = {
		.has_from = true, .from_ns = 200 * (int64_t)MS, .has_to = true,
		.to_ns = 700 * (int64_t)MS,
	};
	struct timeline_bins bins;
	struct scene scene;

	(void)state;
	scene_make(&scene, &middle, &all, 5, 60, &bins);
	assert_int_equal(bins.count, 5);
	assert_int_equal(bins.part[0].start_ns, 20 * TICK);
	assert_int_equal(bins.part[0].end_ns, 70 * TICK);
	check_bin(row_of(&bins, &scene, 77), 0, "R5 S5");
	check_bin(row_of(&bins, &scene, 77), 4, "S10");
	check_bin(row_of(&bins, &scene, 80), 3, "R1 S9");
	check_load(&bins, 3, 10, 11, 2);
	timeline_bins_release(&bins);
	scene_release(&scene);
}

/* --parallelism: what is not wanted is blank. */
static void
test_unwanted(void **state)
{
	static const struct recording_selection alone = {
		.has_parallelism = true, .least = 1, .most = 1,
	};
	struct timeline_bins bins;
	struct scene scene;

	(void)state;
	scene_make(&scene, &alone, &all, 65, 60, &bins);
	assert_int_equal(bins.part[0].start_ns, 0);
	assert_int_equal(bins.part[0].end_ns, 65 * TICK);
	assert_int_equal(bins.count, 65);
	check_bin(row_of(&bins, &scene, 77), 24, "R1");
	check_bin(row_of(&bins, &scene, 77), 25, "");
	check_bin(row_of(&bins, &scene, 77), 40, "S1");
	check_bin(row_of(&bins, &scene, 79), 39, "");
	check_bin(row_of(&bins, &scene, 79), 59, "");
	check_load(&bins, 24, 1, 1, 1);
	check_load(&bins, 25, 0, 0, 0);
	check_load(&bins, 59, 0, 0, 0);
	timeline_bins_release(&bins);
	scene_release(&scene);
}

/* --state and --tid: others are not there, but how many ran is of all. */
static void
test_selected(void **state)
{
	static uint64_t tid = 77;
	const struct filter filter = { .tids = { &tid, 1 }, .states = 1u << RUN_RUNNING };
	struct timeline_bins bins;
	struct scene scene;

	(void)state;
	scene_make(&scene, NULL, &filter, 10, 60, &bins);
	assert_int_equal(bins.count, 10);
	assert_int_equal(bins.row_count, 1);
	check_bin(&bins.row[0], 2, "R5");
	check_bin(&bins.row[0], 3, "");
	check_load(&bins, 5, 10, 11, 2);
	timeline_bins_release(&bins);
	scene_release(&scene);
}

/* --- several recordings ------------------------------------------------------------------- */

/* The second began when half of the first was over: there are two at once for that long. */
static void
test_overlap(void **state)
{
	struct timeline_bins bins;
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_load(&scene, 1001, NULL);
	scene_load(&scene, 1000, NULL);
	scene_view(&scene, &all);
	timeline_bins_make(&scene.input, 20, 60, &bins);
	/* One after the other, without a gap. */
	assert_int_equal(bins.part_count, 1);
	assert_int_equal(bins.count, 20);
	assert_int_equal(bins.row_count, 6);
	check_load(&bins, 0, 10, 10, 1);
	check_load(&bins, 10, 10, 10, 1);
	assert_int_equal(bins.cpus, 4);
	timeline_bins_release(&bins);
	scene_release(&scene);
	/* The same moment: all is there twice. */
	scene_init(&scene);
	scene_load(&scene, 1000, NULL);
	scene_load(&scene, 1000, NULL);
	scene_view(&scene, &all);
	timeline_bins_make(&scene.input, 10, 60, &bins);
	assert_int_equal(bins.count, 10);
	check_load(&bins, 0, 10, 20, 2);
	check_load(&bins, 5, 10, 22, 4);
	timeline_bins_release(&bins);
	scene_release(&scene);
}

/* An hour lies between them, which has no bins. */
static void
test_gap(void **state)
{
	struct timeline_bins bins;
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_load(&scene, 1000, NULL);
	scene_load(&scene, 4600, NULL);
	scene_view(&scene, &all);
	timeline_bins_make(&scene.input, 20, 60, &bins);
	assert_int_equal(bins.part_count, 2);
	assert_int_equal(bins.part[0].end_ns, 100 * TICK);
	assert_int_equal(bins.part[1].start_ns, 3600 * NS_PER_SEC);
	assert_int_equal(bins.part[1].first, 10);
	assert_int_equal(bins.part[1].count, 10);
	assert_int_equal(bins.count, 20);
	check_bin(&bins.row[0], 4, "R10");
	check_bin(&bins.row[0], 14, "");
	check_bin(&bins.row[1], 4, "");
	check_bin(&bins.row[1], 14, "R10");
	check_load(&bins, 15, 10, 11, 2);
	timeline_bins_release(&bins);
	scene_release(&scene);
}

/* The last date that is taken: whatever is made of it, it is no more than was asked for. */
static void
test_wrong_date(void **state)
{
	struct timeline_bins bins;
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_load(&scene, 1000, NULL);
	scene.date_s = (INT64_C(1) << 32) - 1000;
	scene_load(&scene, 1000, NULL);
	scene_view(&scene, &all);
	timeline_bins_make(&scene.input, 20, 60, &bins);
	assert_in_range(bins.count, 10, 20);
	timeline_bins_release(&bins);
	scene_release(&scene);
}

/* --- the page --------------------------------------------------------------------------------- */

static char *
write_page(struct scene *scene, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	assert_non_null(out);
	export_write(exporter_by_name("html"), &scene->input, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void
test_page(void **state)
{
	struct scene scene;
	size_t size = 0;
	char *page;

	(void)state;
	if (exporter_by_name("html")->absent != NULL)
		skip();
	scene_init(&scene);
	scene_load(&scene, 1000, NULL);
	scene_view(&scene, &all);
	page = write_page(&scene, &size);
	golden_check("timeline.html", page, size);
	free(page);
	/* Without a recording there is none of it. */
	scene.input.recording_count = 0;
	page = write_page(&scene, &size);
	assert_null(strstr(page, "id=\"timeline-data\""));
	free(page);
	scene.input.recording_count = 1;
	scene_release(&scene);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bins),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_told_late),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_part),
		cmocka_unit_test(test_unwanted),
		cmocka_unit_test(test_selected),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_wrong_date),
		cmocka_unit_test(test_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
