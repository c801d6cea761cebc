/* SPDX-License-Identifier: MIT */
/* test_recording.c - recordings of profiles made by hand: what comes back. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "../scene/recording_scene.h"
#include "wallsample/base/base.h"
#include "wallsample/unwind/chain.h"
#include "wallsample/recording/recording_read.h"

/* --- what comes back --------------------------------------------------------------------- */

static void
test_round_trip(void **state)
{
	uint32_t worker, idle;
	struct profile *profile = make_profile(&worker, &idle), *back;
	struct modules *modules = modules_create();
	struct recording_info info;
	struct recorder *recorder;
	struct place place;
	struct error err;

	(void)state;
	place_make(&place);
	recorder = record_in(&place, profile, modules);
	sample_ticks(profile, worker, idle, 50);
	assert_int_equal(recorder_commit(recorder, &no_stats, &err), 0);
	profile_rename_thread(profile, idle, "renamed");
	sample_ticks(profile, worker, idle, 50);
	assert_int_equal(recorder_finish(recorder, &no_stats, RUN_END_EXITED, NULL, &err), 0);
	recorder_free(recorder);
	back = load(place.path, NULL, &info);
	assert_same(profile, back);
	assert_true(info.ended);
	assert_false(info.being_written);
	assert_int_equal(info.end, RUN_END_EXITED);
	assert_int_equal(info.ticks, 100);
	assert_int_equal(info.pid, 77);
	profile_free(back);
	profile_free(profile);
	modules_free(modules);
	place_remove(&place);
}

/* A stack of one function of an interpreted program. */
static uint32_t
script(struct profile *profile, const char *name, uint32_t line)
{
	const uint32_t frame =
		profile_intern_script(profile, profile_intern_text(profile, name),
				      profile_intern_text(profile, "app/views.py"), line);

	return profile_intern_stack(profile, frame, STACK_NONE);
}

/* One tick, in which the thread has to do so with the interpreter's lock. */
static void
add_script(struct profile *profile, uint32_t thread, uint32_t stack, enum gil gil)
{
	const struct profile_entry entry = {
		.thread = thread,
		.stack = stack,
		.state = RUN_RUNNING,
		.syscall = (int32_t)SYSCALL_NONE,
		.gil = gil,
		.samples = 1,
		.ns[WEIGHT_WALL] = TICK,
	};

	profile_add(profile, &entry);
}

static bool
see_gil(void *context, const struct recording_span *span)
{
	uint64_t *ticks = context;

	ticks[span->gil] += span->ticks;
	return true;
}

/* Functions of an interpreted program keep file and line; a change of the lock ends a span. */
static void
test_script(void **state)
{
	static const enum gil gil[] = {
		GIL_UNKNOWN, GIL_NONE, GIL_HAS, GIL_HAS, GIL_WAIT, GIL_WAIT, GIL_HANDOVER, GIL_HAS,
	};
	uint32_t worker, idle;
	struct profile *profile = make_profile(&worker, &idle);
	const uint32_t stack = script(profile, "View.get", 12);
	struct recording_load to = { .profile = profile_create() };
	struct modules *modules = modules_create();
	uint64_t ticks[GIL_COUNT] = { 0 };
	struct recording *recording;
	struct recorder *recorder;
	struct place place;
	struct error err;

	(void)state;
	place_make(&place);
	recorder = record_in(&place, profile, modules);
	script(profile, "View.get", 13);
	for (size_t i = 0; i < ARRAY_SIZE(gil); i++) {
		add_script(profile, worker, stack, gil[i]);
		profile_add_tick(profile, TICK, 1, 1);
	}
	assert_int_equal(recorder_finish(recorder, &no_stats, RUN_END_EXITED, NULL, &err), 0);
	recorder_free(recorder);
	assert_int_equal(recording_open(place.path, &recording, &err), 0);
	assert_int_equal(recording_load(recording, &to, &err), 0);
	assert_same(profile, to.profile);
	assert_int_equal(profile_frame_count(to.profile), 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct profile_frame *frame = profile_frame(to.profile, i);

		assert_int_equal(frame->module, MODULE_NONE);
		assert_int_equal(frame->origin, FRAME_SCRIPT);
		assert_int_equal(frame->line, 12 + i);
		assert_string_equal(profile_text(to.profile, (uint32_t)frame->address),
				    "View.get");
		assert_string_equal(profile_text(to.profile, frame->file), "app/views.py");
	}
	assert_int_equal(recording_each_span(recording, RECORDING_BY_TIME, see_gil, ticks, &err),
			 0);
	recording_close(recording);
	for (int i = 0; i < GIL_COUNT; i++)
		assert_int_equal(ticks[i], i == GIL_HAS ? 3 : i == GIL_WAIT ? 2 : 1);
	assert_int_equal(ask(place.path, "SELECT count(*) FROM spans"), 6);
	assert_int_equal(ask(place.path, "SELECT count(*) FROM symbols"), 0);
	assert_int_equal(ask(place.path, "SELECT count(*) FROM samples WHERE function = 'View.get' "
					 "AND module IS NULL AND gil IS NULL"), 1);
	assert_int_equal(ask(place.path, "SELECT line FROM frame_names WHERE "
					 "file = 'app/views.py' ORDER BY line DESC"), 13);
	/* of 7 ticks 1 without it, 3 with it, 2 and 1 for it */
	assert_int_equal(ask(place.path, "SELECT count(*) FROM gil_by_thread WHERE tid = 78 AND "
					 "round(1000 * total_s) = 70 AND "
					 "round(1000 * none_s) = 10 AND "
					 "round(1000 * has_s) = 30 AND "
					 "round(1000 * wait_s) = 20 AND "
					 "round(1000 * handover_s) = 10"), 1);
	profile_free(to.profile);
	profile_free(profile);
	modules_free(modules);
	place_remove(&place);
}

/* What a thread goes on doing is one row, however often it is written. */
static void
test_one_row(void **state)
{
	struct profile *profile = profile_create();
	const uint32_t thread = profile_add_thread(profile, 0, 5, 5, "t");
	struct modules *modules = modules_create();
	struct recorder *recorder;
	struct place place;
	struct error err;

	(void)state;
	place_make(&place);
	recorder = record_in(&place, profile, modules);
	for (int tick = 0; tick < 1000; tick++) {
		add(profile, thread, "mz", RUN_SLEEPING, 1);
		profile_add_tick(profile, TICK, 0, 0);
		if (tick % 100 == 99)
			assert_int_equal(recorder_commit(recorder, &no_stats, &err), 0);
	}
	recorder_free(recorder);
	assert_int_equal(ask(place.path, "SELECT count(*) FROM spans"), 1);
	assert_int_equal(ask(place.path, "SELECT first_tick + ticks FROM spans"), 1000);
	profile_free(profile);
	modules_free(modules);
	place_remove(&place);
}

/* One tick of ten that share a record: seven do one thing, the others another, in between. */
static void
add_crowd(struct profile *profile, uint32_t crowd, bool others)
{
	for (int i = 0; i < 10; i++) {
		const bool other = i % 3 == 2;

		if (!other || others)
			add(profile, crowd, other ? "my" : "mz", RUN_SLEEPING, 1);
	}
	profile_add_tick(profile, TICK, 0, 0);
}

/* What some of many do has a row that ends when no one does it any more, and no row for each. */
/* A tick at which the thread runs the task, or both are on their own, or there is no task. */
static void
add_pair(struct profile *profile, uint32_t thread, uint32_t task, bool runs, bool is_there)
{
	const struct profile_entry of_task = {
		.thread = task, .carrier = runs ? thread + 1 : 0, .stack = STACK_NONE,
		.state = runs ? RUN_RUNNING : RUN_SLEEPING, .syscall = SYSCALL_NONE,
		.samples = 1, .ns[WEIGHT_WALL] = 10,
	};
	const struct profile_entry of_thread = {
		.thread = thread, .stack = STACK_NONE, .state = RUN_SLEEPING,
		.syscall = SYSCALL_NONE, .samples = 1, .ns[WEIGHT_WALL] = 10,
	};

	if (is_there)
		profile_add(profile, &of_task);
	if (!runs)
		profile_add(profile, &of_thread);
	profile_add_tick(profile, 10, runs, runs);
}

/* Who has no samples for a while has none in time: a thread that runs a task, a task that could
 * not be looked at. */
static void
test_carried(void **state)
{
	const struct profile_thread goroutine = {
		.is_green = true, .green_id = 7, .entry = FRAME_NONE, .created_at = FRAME_NONE };
	struct profile *profile = profile_create();
	const uint32_t thread = profile_add_thread(profile, 0, 5, 1, "worker");
	const uint32_t task = profile_add_green(profile, &goroutine, 64);
	struct modules *modules = modules_create();
	struct recorder *recorder;
	struct place place;
	struct error err;

	(void)state;
	place_make(&place);
	recorder = record_in(&place, profile, modules);
	for (int tick = 0; tick < 40; tick++)
		add_pair(profile, thread, task, tick < 10 || tick >= 30, tick < 15 || tick >= 20);
	assert_int_equal(recorder_finish(recorder, &no_stats, RUN_END_EXITED, NULL, &err), 0);
	recorder_free(recorder);
	assert_int_equal(ask(place.path, "SELECT count(*) FROM spans"), 5);
	assert_int_equal(ask(place.path, "SELECT count(*) FROM spans WHERE thread = 0 AND "
					 "first_tick = 10 AND ticks = 20 AND samples = 20"), 1);
	assert_int_equal(ask(place.path, "SELECT count(*) FROM spans WHERE thread = 1 AND "
					 "carrier = 0 AND first_tick IN (0, 30) AND ticks = 10"),
			 2);
	assert_int_equal(ask(place.path, "SELECT count(*) FROM spans WHERE thread = 1 AND "
					 "carrier = -1 AND first_tick = 10 AND ticks = 5"), 1);
	assert_int_equal(ask(place.path, "SELECT count(*) FROM spans WHERE thread = 1 AND "
					 "carrier = -1 AND first_tick = 20 AND ticks = 10"), 1);
	profile_free(profile);
	modules_free(modules);
	place_remove(&place);
}

static void
test_shared(void **state)
{
	const struct profile_thread tasks = {
		.is_green = true, .entry = FRAME_NONE, .created_at = FRAME_NONE };
	struct profile *profile = profile_create(), *back;
	const uint32_t crowd[] = {
		profile_add_green(profile, &tasks, 0), profile_add_thread(profile, 0, 0, 0, "pool"),
	};
	struct modules *modules = modules_create();
	struct recorder *recorder;
	struct recording_info info;
	struct place place;
	struct error err;

	(void)state;
	place_make(&place);
	recorder = record_in(&place, profile, modules);
	for (int tick = 0; tick < 100; tick++)
		add_crowd(profile, crowd[0], tick < 20 || tick >= 50);
	assert_int_equal(recorder_commit(recorder, &no_stats, &err), 0);
	for (int tick = 0; tick < 100; tick++)
		add_crowd(profile, crowd[1], true);
	assert_int_equal(recorder_finish(recorder, &no_stats, RUN_END_EXITED, NULL, &err), 0);
	recorder_free(recorder);
	assert_int_equal(ask(place.path, "SELECT count(*) FROM spans"), 5);
	assert_int_equal(ask(place.path, "SELECT count(*) FROM spans WHERE thread = 0 AND "
					 "first_tick = 0 AND ticks = 100 AND samples = 700"), 1);
	assert_int_equal(ask(place.path, "SELECT count(*) FROM spans WHERE thread = 0 AND "
					 "first_tick = 0 AND ticks = 20 AND samples = 60"), 1);
	assert_int_equal(ask(place.path, "SELECT count(*) FROM spans WHERE thread = 0 AND "
					 "first_tick = 50 AND ticks = 50 AND samples = 150"), 1);
	assert_int_equal(ask(place.path, "SELECT count(*) FROM spans WHERE thread = 1 AND "
					 "first_tick = 100 AND ticks = 100"), 2);
	back = load(place.path, NULL, &info);
	assert_same(profile, back);
	profile_free(back);
	profile_free(profile);
	modules_free(modules);
	place_remove(&place);
}

static bool disk_fails;

/* In place of the C library's. */
int
fsync(int fd)
{
	(void)fd;
	errno = EIO;
	return disk_fails ? -1 : 0;
}

/* The disk has not got what the system had taken: that is said. */
static void
test_disk_fails(void **state)
{
	struct profile *profile = profile_create();
	struct modules *modules = modules_create();
	struct recorder *recorder;
	struct place place;
	struct error err;

	(void)state;
	place_make(&place);
	recorder = record_in(&place, profile, modules);
	disk_fails = true;
	assert_int_equal(recorder_finish(recorder, &no_stats, RUN_END_STOPPED, NULL, &err),
			 -ERROR_OUTPUT);
	disk_fails = false;
	assert_non_null(strstr(err.text, "Input/output error"));
	recorder_free(recorder);
	profile_free(profile);
	modules_free(modules);
	place_remove(&place);
}

/* A view, for people: a function that was inlined into another was called by it. */
static void
test_top_functions(void **state)
{
	struct place place;

	(void)state;
	place_make(&place);
	make_recording(&place, 100, true);
	/* "mab": b is one of two functions at its address */
	change(place.path, "INSERT INTO symbols SELECT id, 0, 'inner', '', 0, 1, '' FROM frames "
			   "WHERE name = 'b'; INSERT INTO symbols SELECT id, 1, 'outer', '', 0, 0, "
			   "'' FROM frames WHERE name = 'b'");
	assert_int_equal(ask(place.path, "SELECT count(*) FROM top_functions WHERE function IN "
					 "('inner', 'outer') AND round(total_wall_s, 3) = 0.5"), 2);
	assert_int_equal(ask(place.path, "SELECT count(*) FROM top_functions WHERE "
					 "round(wall_s, 3) = 0.5 * (function = 'inner') AND "
					 "function IN ('inner', 'outer')"), 2);
	assert_int_equal(ask(place.path, "SELECT round(sum(wall_s), 3) = (SELECT "
					 "round(sum(wall_s), 3) FROM samples) FROM top_functions"),
			 1);
	place_remove(&place);
}

/* Rows that the recorder does not write, but the reader accepts. */
static void
test_unusual(void **state)
{
	struct run_stats stats = { .ticks = 0 };
	struct recording_load to = { .profile = profile_create(), .stats = &stats };
	struct recording *recording;
	const struct profile_frame *frame;
	struct place place;

	(void)state;
	place_make(&place);
	make_recording(&place, 100, true);
	change(place.path, "UPDATE frames SET address = id; UPDATE meta SET value = -2e9 WHERE "
			   "key = 'rate'; UPDATE meta SET value = 17 WHERE key = 'command'; "
			   "UPDATE processes SET cmdline = 'job 1'; DELETE FROM meta WHERE key IN "
			   "('pid', 'comm', 'cmdline', 'start_time'); "
			   "REPLACE INTO cost VALUES('looks', '4711')");
	assert_int_equal(recording_open(place.path, &recording, NULL), 0);
	assert_int_equal(recording_load(recording, &to, NULL), 0);
	frame = profile_frame(to.profile, profile_stack(to.profile, 0)->frame);
	assert_string_equal(profile_text(to.profile, (uint32_t)frame->address), "m");
	assert_true(recording_info(recording)->rate_hz == -2e9);
	assert_string_equal(recording_info(recording)->command, "17");
	assert_string_equal(recording_info(recording)->cmdline, "job 1");
	assert_int_equal(stats.looks, 4711);
	recording_close(recording);
	profile_free(to.profile);
	place_remove(&place);
}

/* Checks the text that a named frame has which is `stored` in the recording: that of stack 0. */
static void
check_frame_text(const struct place *place, const char *stored, const char *text)
{
	const struct profile_frame *frame;
	struct profile *profile;
	char sql[200];

	snprintf(sql, sizeof(sql),
		 "UPDATE frames SET name = '%s' WHERE id = (SELECT frame FROM stacks WHERE id = 0)",
		 stored);
	change(place->path, sql);
	profile = load(place->path, NULL, NULL);
	frame = profile_frame(profile, profile_stack(profile, 0)->frame);
	assert_string_equal(profile_text(profile, (uint32_t)frame->address), text);
	profile_free(profile);
}

/* The state UNINTERRUPTIBLE was called "disk" in version 0.1.0. */
static void
test_earlier_state(void **state)
{
	struct place place;
	struct profile *profile;

	(void)state;
	place_make(&place);
	make_recording(&place, 100, true);
	check_frame_text(&place, "[disk in fsync: file]", "[uninterruptible in fsync: file]");
	check_frame_text(&place, "[disk in munmap: disk]", "[uninterruptible in munmap]");
	check_frame_text(&place, "[disk outside a system call (page fault): page fault]",
			 "[uninterruptible outside a system call (page fault): page fault]");
	check_frame_text(&place, "[disk ", "[uninterruptible ");
	check_frame_text(&place, "[disk : disk]", "[uninterruptible ]");
	check_frame_text(&place, "[diskless]", "[diskless]");
	change(place.path, "REPLACE INTO waits VALUES(1, 'disk', 0, -1, 1)");
	profile = load(place.path, NULL, NULL);
	assert_int_equal(profile_wait_count(profile), 2);
	assert_int_equal(profile_wait(profile, 1)->kind, WAIT_OTHER);
	profile_free(profile);
	place_remove(&place);
}

/* --- a part of it ------------------------------------------------------------------------ */

static void
test_parts(void **state)
{
	static const struct recording_selection alone = {
		.has_parallelism = true, .least = 1, .most = 1,
	}, second = { .has_from = true, .from_ns = 20 * TICK, .has_to = true, .to_ns = 40 * TICK },
	  last = { .has_from = true, .from_ns = -10 * TICK };
	struct place place;
	struct profile *part;

	(void)state;
	place_make(&place);
	make_recording(&place, 100, true);
	part = load(place.path, &alone, NULL);
	assert_int_equal(profile_tick_count(part), 50);
	assert_int_equal(sum_of(part, WEIGHT_CPU), 50 * TICK);
	assert_int_equal(sum_of(part, WEIGHT_LATENCY), 50 * TICK);
	/* the correction is of ticks nearby */
	assert_in_range(sum_of(part, WEIGHT_WALL), 98 * TICK, 102 * TICK);
	profile_free(part);
	part = load(place.path, &second, NULL);
	/* the part has its share of the correction */
	assert_int_equal(sum_of(part, WEIGHT_WALL), 20 * TICK + 19 * TICK);
	assert_int_equal(sum_of(part, WEIGHT_LATENCY), 10 * TICK);
	profile_free(part);
	part = load(place.path, &last, NULL);
	assert_int_equal(profile_wall_ns(part), 10 * TICK);
	assert_int_equal(sum_of(part, WEIGHT_CPU), 5 * TICK);
	profile_free(part);
	place_remove(&place);
}

/* --- the timeline ------------------------------------------------------------------------ */

struct seen {
	int count;
	uint64_t last, settled, ticks[2];
	bool unordered;
};

static bool
see(void *context, const struct recording_span *span)
{
	struct seen *seen = context;

	assert_true(seen->unordered || span->first_tick >= seen->last);
	assert_true(seen->unordered || span->settled_tick >= seen->settled);
	assert_true(span->settled_tick <= span->first_tick);
	assert_true(span->end_ns - span->start_ns == span->ticks * (uint64_t)TICK);
	assert_true(span->thread < 2);
	seen->last = span->first_tick;
	seen->settled = span->settled_tick;
	seen->ticks[span->thread] += span->ticks;
	seen->count++;
	return true;
}

static void
test_timeline(void **state)
{
	struct recording_load to = { .profile = profile_create() };
	struct run_stats stats = no_stats;
	struct seen seen = { 0 };
	struct recording *recording;
	struct place place;
	struct error err;

	(void)state;
	place_make(&place);
	make_recording(&place, 100, true);
	assert_int_equal(recording_open(place.path, &recording, &err), 0);
	to.stats = &stats;
	assert_int_equal(recording_load(recording, &to, &err), 0);
	assert_true(stats.cpus > 0);
	assert_int_equal(stats.cpus, recording_info(recording)->cpus);
	assert_int_equal(recording_each_span(recording, RECORDING_BY_TIME, see, &seen,
					     &err), 0);
	/* 100 of the worker, which changes at each tick; the idle one's before and after the
	 * correction. */
	assert_int_equal(seen.count, 102);
	assert_int_equal(seen.ticks[0], 100);
	assert_int_equal(seen.ticks[1], 100);
	assert_true(recording_tick_wanted(recording, 0));
	/* a clock to put it beside what others have seen by the same */
	assert_in_range(recording_info(recording)->clock_ns, 1, clock_now_ns());
	recording_close(recording);
	profile_free(to.profile);
	place_remove(&place);
}

/* --- tasks and the threads that run them ------------------------------------------------- */

/* A thread is idle, runs one task, is idle, runs another, which has waited: ten ticks each. */
static void
sample_turns(struct profile *profile, uint32_t thread, const uint32_t task[2])
{
	for (int tick = 0; tick < 40; tick++) {
		const int turn = tick / 10;
		struct profile_entry entry = {
			.thread = turn % 2 != 0 ? task[turn / 2] : thread,
			.carrier = turn % 2 != 0 ? thread + 1 : 0,
			.stack = stack_of(profile, turn % 2 != 0 ? "r" : "i"),
			.state = turn % 2 != 0 ? RUN_RUNNING : RUN_SLEEPING,
			.syscall = (int32_t)SYSCALL_NONE,
			.samples = 1,
			.ns[WEIGHT_WALL] = TICK,
		};

		profile_add(profile, &entry);
		if (turn < 3)
			add(profile, task[1], "w", RUN_SLEEPING, 1);
		profile_add_tick(profile, TICK, 0, 0);
	}
}

static bool
see_turn(void *context, const struct recording_span *span)
{
	struct seen *seen = context;

	/* all of it is the thread's, one thing after the other */
	assert_int_equal(span->first_tick, seen->last);
	assert_int_equal(span->state, seen->count % 2 != 0 ? RUN_RUNNING : RUN_SLEEPING);
	seen->last += span->ticks;
	seen->count++;
	return true;
}

/* What a thread itself does has its place between the tasks that it runs. */
static void
test_turns(void **state)
{
	static const enum recording_order orders[] = {
		RECORDING_AS_WRITTEN, RECORDING_BY_TIME, RECORDING_BY_THREAD,
	};
	struct recording_load to = { .profile = profile_create(), .threads_only = true };
	struct profile *profile = profile_create();
	const struct profile_thread of = { .is_green = true, .entry = FRAME_NONE,
				     .created_at = FRAME_NONE, .green_id = 1 };
	struct profile_thread other = of;
	uint32_t thread, task[2];
	struct modules *modules = modules_create();
	struct recording *recording;
	struct recorder *recorder;
	struct place place;
	struct error err;

	(void)state;
	place_make(&place);
	other.green_id = 2;
	task[0] = profile_add_green(profile, &of, 0x1000);
	thread = profile_add_thread(profile, 0, 78, 5, "worker");
	task[1] = profile_add_green(profile, &other, 0x2000);
	recorder = record_in(&place, profile, modules);
	sample_turns(profile, thread, task);
	assert_int_equal(recorder_finish(recorder, &no_stats, RUN_END_EXITED, NULL, &err), 0);
	recorder_free(recorder);
	assert_int_equal(ask(place.path, "SELECT count(*) FROM spans WHERE thread = 1 AND "
					 "ticks = 10 AND first_tick IN (0, 20)"), 2);
	assert_int_equal(recording_open(place.path, &recording, &err), 0);
	assert_int_equal(recording_load(recording, &to, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		struct seen seen = { 0 };

		assert_int_equal(recording_each_span(recording, orders[i], see_turn, &seen, &err),
				 0);
		assert_int_equal(seen.count, 4);
		assert_int_equal(seen.last, 40);
	}
	recording_close(recording);
	profile_free(to.profile);
	profile_free(profile);
	modules_free(modules);
	place_remove(&place);
}

/* A task in a call, whose thread is seen to sleep, and ten ticks later to run: it has no gap. */
static void
test_seldom(void **state)
{
	const struct profile_thread of = { .is_green = true, .entry = FRAME_NONE,
					   .created_at = FRAME_NONE, .green_id = 1 };
	struct profile *profile = profile_create();
	const uint32_t thread = profile_add_thread(profile, 0, 78, 5, "worker");
	struct profile_entry entry = {
		.thread = profile_add_green(profile, &of, 0x1000), .carrier = thread + 1,
		.stack = stack_of(profile, "s"), .state = RUN_SLEEPING, .samples = 1,
		.ns[WEIGHT_WALL] = TICK,
	};
	struct modules *modules = modules_create();
	struct recorder *recorder;
	struct place place;
	struct error err;

	(void)state;
	place_make(&place);
	recorder = record_in(&place, profile, modules);
	for (int tick = 0; tick < 10; tick++) {
		if (tick == 9)
			entry.samples = 5;
		if (tick % 9 == 0)
			profile_add(profile, &entry);
		entry.state = tick == 9 ? RUN_RUNNING : RUN_SLEEPING;
		entry.samples = 4;
		if (tick == 9)
			profile_add(profile, &entry);
		profile_add_tick(profile, TICK, 0, 0);
	}
	assert_int_equal(recorder_finish(recorder, &no_stats, RUN_END_EXITED, NULL, &err), 0);
	recorder_free(recorder);
	assert_int_equal(ask(place.path, "SELECT count(*) FROM spans WHERE first_tick = 0 AND "
					 "ticks = 6 OR first_tick = 6 AND ticks = 4"), 2);
	profile_free(profile);
	modules_free(modules);
	place_remove(&place);
}

/* Of a part: the idle thread's spans, longer than it, are cut to it. */
static void
test_timeline_part(void **state)
{
	static const struct recording_selection alone = {
		.has_parallelism = true, .least = 1, .most = 1,
	};
	struct recording_load to = { .profile = profile_create(), .selection = &alone };
	struct seen seen = { 0 };
	struct recording *recording;
	struct place place;
	struct error err;
	uint64_t wanted = 0;

	(void)state;
	place_make(&place);
	make_recording(&place, 100, true);
	assert_int_equal(recording_open(place.path, &recording, &err), 0);
	assert_int_equal(recording_load(recording, &to, &err), 0);
	for (uint64_t n = 0; n < recording_info(recording)->ticks; n++)
		wanted += recording_tick_wanted(recording, n);
	assert_int_equal(wanted, 50);
	seen.unordered = true;
	assert_int_equal(recording_each_span(recording, RECORDING_BY_THREAD, see, &seen,
					     &err), 0);
	assert_int_equal(seen.ticks[0], 50);
	assert_int_equal(seen.ticks[1], 50);
	recording_close(recording);
	profile_free(to.profile);
	place_remove(&place);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_script),
		cmocka_unit_test(test_one_row),
		cmocka_unit_test(test_carried),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_top_functions),
		cmocka_unit_test(test_unusual),
		cmocka_unit_test(test_earlier_state),
		cmocka_unit_test(test_disk_fails),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_timeline),
		cmocka_unit_test(test_timeline_part),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_seldom),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
