/* SPDX-License-Identifier: MIT */
/*
 * test_green_report.c - a thousand tasks on three threads: what reports say of them.
 *
 * Fifty ticks of 20 ms, of a program in Go. Thread 500 never has a task. Thread 501 runs goroutine
 * 110 for 15 ticks and 111 for 15 more; thread 502 is in a call of goroutine 112 for 25. Ten
 * goroutines are ready in the first 10 ticks. At each tick there are 60 that are over before
 * they can be read. What is not said so waits for a channel; three are the runtime's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../scene/golden.h"
#include "../scene/recording_scene.h"
#include "wallsample/unwind/chain.h"
#include "wallsample/analysis/dump.h"
#include "wallsample/format/exporters.h"
#include "wallsample/process/module.h"
#include "wallsample/analysis/result.h"
#include "wallsample/analysis/green_table.h"

#define TICKS 50
#define SPAN (20 * MS)
#define WORKERS 995
#define FIRST 100    /* id of the first of them */
#define FLASHES 60   /* of those at a tick that nobody can read */

/* --- names, in place of those from symbol tables ------------------------------------- */

enum {
	GOEXIT, RUNTIME_MAIN, MAIN, START, TAKER, RECV1, RECV, PARK, SWEEP, PARK_UNLOCK, READ, SPIN,
	FUTEX, FLASH, LOCK, LOCK_SLOW, SEMACQUIRE, SLICES, OTHERS,
	TAKE, TAKE_BUFFERED, YIELD_TO, UNNAMED,
};

static const struct symbol symbol[] = {
	[GOEXIT] = { "runtime.goexit", "app" },
	[RUNTIME_MAIN] = { "runtime.main", "app" },
	[MAIN] = { "main.main", "app" },
	[START] = { "main.start", "app" },
	[TAKER] = { "main.taker", "app" },
	[RECV1] = { "runtime.chanrecv1", "app" },
	[RECV] = { "runtime.chanrecv", "app" },
	[PARK] = { "runtime.gopark", "app" },
	[SWEEP] = { "runtime.bgsweep", "app" },
	[PARK_UNLOCK] = { "runtime.goparkunlock", "app" },
	[READ] = { "syscall.read", "app" },
	[SPIN] = { "sort.insertionSort", "app" },
	[FUTEX] = { "runtime.futex", "app" },
	[FLASH] = { "main.flash", "app" },
	[LOCK] = { "sync.(*Mutex).Lock", "app" },
	[LOCK_SLOW] = { "internal/sync.(*Mutex).lockSlow", "app" },
	[SEMACQUIRE] = { "internal/sync.runtime_SemacquireMutex", "app" },
	[SLICES] = { "slices.Sort[example.org/x.T]", "app" },
	[OTHERS] = { "example.org/x.(*T).f", "app" },
	[TAKE] = { "take!", "[jit]" },
	[TAKE_BUFFERED] = { "japi1_take_buffered_12", "sys.so" },
	[YIELD_TO] = { "julia_try_yieldto_34", "sys.so" },
	[UNNAMED] = { "libjulia.so.1.5+0xd8170", "libjulia.so.1.5" },
};

size_t
symbols_find(struct symbols *symbols, const struct symbol_place *place, struct symbol *out,
	     size_t most)
{
	(void)symbols;
	(void)most;
	*out = symbol[place->vaddr];
	out->known = place->vaddr != UNNAMED;
	out->source = out->known ? SYMBOL_SYMTAB : SYMBOL_NONE;
	return 1;
}

void
symbols_prepare(struct symbols *symbols, const struct symbol_place *place, size_t count)
{
	(void)symbols;
	(void)place;
	(void)count;
}

/* --- what is sampled ------------------------------------------------------------------- */

struct scene {
	struct profile *profile;
	uint32_t thread[3], boss, system[3], worker[WORKERS], flash;
	uint32_t receive, sweep; /* waits */
	uint32_t parked, idle, sweeping, spinning, reading, failed; /* stacks */
	int tick;
};

static uint32_t
frame(struct profile *profile, int function)
{
	const struct profile_frame of = {
		.module = 0, .address = (uint64_t)function, .origin = FRAME_CFI };

	return profile_intern_frame(profile, &of);
}

#define STACK(...) ((const int[]){ __VA_ARGS__, -1 })

/* Functions from the outside in; below "[Go runtime]" if there is no task. */
static uint32_t
stack(struct profile *profile, bool runtime, const int *functions)
{
	uint32_t id = STACK_NONE;

	if (runtime)
		id = profile_intern_stack(profile, profile_intern_named(profile, "[Go runtime]"),
					  id);
	for (; *functions >= 0; functions++)
		id = profile_intern_stack(profile, frame(profile, *functions), id);
	return id;
}

static uint32_t
task(struct profile *profile, uint64_t id, int entry, int created_at, uint64_t creator)
{
	const struct profile_thread of = {
		.is_green = true,
		.name = profile_intern_text(profile, "goroutine"),
		.green_id = id,
		.system = entry == SWEEP,
		.entry = frame(profile, entry),
		.created_at = created_at >= 0 ? frame(profile, created_at) : FRAME_NONE,
		.creator = creator,
	};

	return profile_add_green(profile, &of, 0x1000 * id);
}

static uint32_t
reason(struct profile *profile, const char *text)
{
	return profile_add_wait(profile, &(struct profile_wait){
		.kind = WAIT_GREEN, .object = profile_intern_named(profile, text) });
}

static struct scene
scene_make(void)
{
	struct scene scene = { .profile = profile_create() };
	struct profile *profile = scene.profile;

	for (int i = 0; i < 3; i++)
		scene.thread[i] = profile_add_thread(profile, 0, 500 + i, 1, "app");
	scene.boss = task(profile, 1, RUNTIME_MAIN, -1, 0);
	for (int i = 0; i < 3; i++)
		scene.system[i] = task(profile, 2 + (uint64_t)i, SWEEP, RUNTIME_MAIN, 1);
	for (int i = 0; i < WORKERS; i++)
		scene.worker[i] = task(profile, FIRST + (uint64_t)i, TAKER, START, 1);
	scene.flash = task(profile, 0, FLASH, START, 0);
	scene.receive = reason(profile, "chan receive");
	scene.sweep = reason(profile, "GC sweep wait");
	scene.parked = stack(profile, false, STACK(GOEXIT, TAKER, RECV1, RECV, PARK));
	scene.sweeping = stack(profile, true, STACK(GOEXIT, SWEEP, PARK_UNLOCK, PARK));
	scene.spinning = stack(profile, false, STACK(GOEXIT, TAKER, SPIN));
	scene.reading = stack(profile, false, STACK(GOEXIT, TAKER, READ));
	scene.idle = stack(profile, true, STACK(FUTEX));
	scene.failed = profile_intern_stack(
		profile, profile_intern_named(profile, "[failed: task already finished]"),
		STACK_NONE);
	return scene;
}

static void
sample(struct scene *scene, struct profile_entry entry)
{
	entry.samples = entry.samples > 0 ? entry.samples : 1;
	entry.ns[WEIGHT_WALL] = entry.samples * SPAN;
	if (entry.state == RUN_RUNNING)
		entry.ns[WEIGHT_CPU] = entry.ns[WEIGHT_LATENCY] = SPAN;
	profile_add(scene->profile, &entry);
}

static void
sample_worker(struct scene *scene, int i)
{
	const int tick = scene->tick;
	struct profile_entry entry = {
		.thread = scene->worker[i], .stack = scene->parked, .state = RUN_SLEEPING,
		.syscall = (int32_t)SYSCALL_NONE, .wait = scene->receive,
	};

	if (i < 10 && tick < 10) {
		entry.state = RUN_READY;
		entry.wait = 0;
	} else if ((i == 10 && tick < 15) || (i == 11 && tick >= 15 && tick < 30)) {
		entry.state = RUN_RUNNING;
		entry.wait = 0;
		entry.stack = scene->spinning;
		entry.carrier = 1 + scene->thread[1];
	} else if (i == 12 && tick < 25) {
		entry.syscall = (int32_t)syscall_number("read");
		entry.wait = 0;
		entry.stack = scene->reading;
		entry.carrier = 1 + scene->thread[2];
	}
	sample(scene, entry);
}

static void
sample_idle(struct scene *scene, uint32_t thread)
{
	sample(scene, (struct profile_entry){
		.thread = thread, .stack = scene->idle, .state = RUN_SLEEPING,
		.syscall = (int32_t)syscall_number("futex") });
}

static void
sample_tick(struct scene *scene)
{
	struct profile *profile = scene->profile;
	const uint32_t runs = scene->tick < 30;

	sample(scene, (struct profile_entry){
		.thread = scene->boss, .state = RUN_SLEEPING, .wait = scene->receive,
		.syscall = (int32_t)SYSCALL_NONE,
		.stack = stack(profile, false, STACK(GOEXIT, RUNTIME_MAIN, MAIN, RECV1, RECV,
						     PARK)) });
	for (int i = 0; i < 3; i++)
		sample(scene, (struct profile_entry){
			.thread = scene->system[i], .state = RUN_SLEEPING, .wait = scene->sweep,
			.syscall = (int32_t)SYSCALL_NONE, .stack = scene->sweeping });
	for (int i = 0; i < WORKERS; i++)
		sample_worker(scene, i);
	sample(scene, (struct profile_entry){
		.thread = scene->flash, .state = RUN_UNKNOWN, .stack = scene->failed,
		.syscall = (int32_t)SYSCALL_NONE, .samples = FLASHES });
	sample_idle(scene, scene->thread[0]);
	if (scene->tick >= 30)
		sample_idle(scene, scene->thread[1]);
	if (scene->tick >= 25)
		sample_idle(scene, scene->thread[2]);
	profile_set_ready(profile, scene->tick < 10 ? 10 : 0);
	profile_add_tick(profile, SPAN, runs, runs);
	scene->tick++;
}

static struct scene
scene_sampled(int ticks)
{
	struct scene scene = scene_make();

	while (scene.tick < ticks)
		sample_tick(&scene);
	return scene;
}

/* --- what is said of it ------------------------------------------------------------------ */

static struct process process = {
	.pid = 500, .dirfd = -1, .taskfd = -1, .comm = "app", .cmdline = (char *)"./app",
};

static const struct run_stats stats = {
	.ticks = TICKS, .elapsed_ns = TICKS * SPAN, .thread_samples = 52950, .threads_seen = 3,
	.threads_most = 3, .green_looks = 49950, .green_stacks = 1010, .green_seen = 1060,
	.green_most = 1057, .green_thinnest = 1, .cpus = 2, .rate_wanted = 50, .rate_lowest = 50,
};

static struct export_input
input_of(const struct view *view)
{
	return (struct export_input){
		.view = view, .process = &process, .stats = &stats, .end = RUN_END_DURATION,
		.full = true,
		.limit = 20, .thread_limit = 8, .columns = 100,
	};
}

static char *
written(const struct profile *profile, const struct filter *filter, const char *format,
	bool by_thread)
{
	struct view *view = view_create(profile, NULL, filter, VIEW_BY_FUNCTION);
	struct export_input input = input_of(view);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	input.by_thread = by_thread;
	export_write(exporter_by_name(format), &input, out);
	assert_int_equal(fclose(out), 0);
	view_free(view);
	return text;
}

static void
check(const struct profile *profile, const struct filter *filter, const char *format,
      bool by_thread, const char *golden)
{
	char *text = written(profile, filter, format, by_thread);

	golden_check(golden, text, strlen(text));
	free(text);
}

static void
assert_row(const struct green_table *table, size_t row, enum green_doing doing, int64_t tasks_ms,
	   int64_t threads_ms)
{
	assert_int_equal(table->row[row].doing, doing);
	assert_int_equal(table->row[row].green_ns, tasks_ms * MS);
	assert_int_equal(table->row[row].threads_ns, threads_ms * MS);
}

static void
check_table(const struct profile *profile)
{
	struct view *view = view_create(profile, NULL, &(struct filter){ 0 }, VIEW_BY_FUNCTION);
	struct green_table table;

	green_table_make(view, &table);
	assert_int_equal(table.count, 7);
	assert_row(&table, 0, GREEN_DOES_RUNNING, 600, 600);
	assert_row(&table, 1, GREEN_DOES_CALLING, 500, 500);
	assert_row(&table, 2, GREEN_DOES_READY, 2000, 0);
	assert_row(&table, 3, GREEN_DOES_PARKED, 996000 - 600 - 500 - 2000, 0);
	assert_string_equal(table.row[3].reason, "chan receive");
	assert_row(&table, 4, GREEN_DOES_PARKED, 3000, 0);
	assert_string_equal(table.row[4].reason, "GC sweep wait");
	assert_row(&table, 5, GREEN_DOES_IDLE, 0, 1000 + 400 + 500);
	assert_row(&table, 6, GREEN_DOES_OTHER, 60000, 0);
	assert_int_equal(table.green_ns, 1059000 * MS);
	assert_int_equal(table.threads_ns, 3000 * MS);
	assert_int_equal(table.failed_ns, 60000 * MS);
	assert_int_equal(table.finished_ns, 60000 * MS);
	assert_int_equal(table.green_count, 1000);
	assert_int_equal(table.system, 3);
	free(table.row);
	view_free(view);
	assert_true(profile_ready_ns(profile) == 10.0 * 10 * (double)SPAN);
	assert_int_equal(profile_ready_most(profile), 10);
}

/* Stops are a share of what threads did, not of what tasks waited. */
static void
check_stops(const struct profile *profile)
{
	struct view *view = view_create(profile, NULL, &(struct filter){ 0 }, VIEW_BY_FUNCTION);
	struct export_input input = input_of(view);
	struct run_stats stopped = stats;
	struct green_table table;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	green_table_make(view, &table);
	histogram_add(&stopped.stop_ns, (uint64_t)table.threads_ns / 10);
	input.stats = &stopped;
	input.full = true;
	export_write(exporter_by_name("text"), &input, out);
	assert_int_equal(fclose(out), 0);
	assert_non_null(strstr(text, "; together 10.00% of the"));
	free(text);
	free(table.row);
	view_free(view);
}

/* --- tests ---------------------------------------------------------------------------------- */

static void
test_report(void **state)
{
	struct scene scene = scene_sampled(TICKS);
	struct filter filter = { 0 };

	(void)state;
	check_table(scene.profile);
	check_stops(scene.profile);
	check(scene.profile, &filter, "text", false, "tasks-report.txt");
	check(scene.profile, &filter, "text", true, "tasks-report-threads.txt");
	check(scene.profile, &filter, "folded", true, "tasks-by-thread.folded");
	filter.created_by = true;
	check(scene.profile, &filter, "folded", false, "tasks-created-by.folded");
	filter.interpreter_frames = true;
	check(scene.profile, &filter, "folded", false, "tasks-frames.folded");
	profile_free(scene.profile);
}

static struct profile *
load_tasks(const char *path, bool threads_only)
{
	struct modules *modules = modules_create();
	struct recording_load load = {
		.profile = profile_create(), .modules = modules, .threads_only = threads_only };
	struct recording *recording;
	struct error err;

	if (recording_open(path, &recording, &err) != 0 ||
	    recording_load(recording, &load, &err) != 0)
		fail_msg("%s", err.text);
	recording_close(recording);
	modules_free(modules);
	return load.profile;
}

/*
 * In formats whose tracks are numbers a task's is one that no thread has, and a slice of it does
 * not touch another's.
 */
static void
check_tracks(const char *path)
{
	struct recording_load load = { .profile = profile_create() };
	struct modules *modules = modules_create();
	struct export_input input;
	struct recording *recording;
	struct error err = { .kind = ERROR_NONE };
	struct view *view;

	load.modules = modules;
	assert_int_equal(recording_open(path, &recording, &err), 0);
	assert_int_equal(recording_load(recording, &load, &err), 0);
	for (size_t i = 0; exporters[i] != NULL; i++) {
		char *text = NULL;
		size_t size;
		FILE *out;

		if ((exporters[i]->write_any == NULL && exporters[i]->write == NULL) ||
		    exporters[i]->binary)
			continue;
		view = view_create(load.profile, NULL, &(struct filter){ 0 },
				   exporters[i]->by_address ? VIEW_BY_ADDRESS :
							      VIEW_BY_FUNCTION);
		input = input_of(view);
		input.recordings = &recording;
		input.recording_count = 1;
		input.error = &err;
		out = open_memstream(&text, &size);
		export_write(exporters[i], &input, out);
		assert_int_equal(fclose(out), 0);
		assert_int_equal(err.kind, ERROR_NONE);
		if (strcmp(exporters[i]->name, "chrome") == 0) {
			assert_non_null(strstr(text, "\"parked: chan receive\""));
			assert_non_null(strstr(text, "\"ready tasks\":10"));
			assert_non_null(strstr(text, "{\"name\":\"goroutine 112 main.taker\"}"));
			assert_non_null(strstr(text, "{\"name\":\"goroutine 100 main.taker\"}"));
			assert_null(strstr(text, "{\"name\":\"goroutines main.taker\"}"));
			assert_null(strstr(text, "\"tid\":0,"));
		} else if (strcmp(exporters[i]->name, "perf") == 0) {
			assert_non_null(strstr(text, "goroutine_112 main.taker"));
			assert_null(strstr(text, "/0 "));
		} else if (strcmp(exporters[i]->name, "speedscope") == 0) {
			assert_non_null(strstr(text, "\"goroutine 112 main.taker\""));
			assert_non_null(strstr(text, "\"[parked]\""));
		} else if (strcmp(exporters[i]->name, "html") == 0) {
			assert_non_null(strstr(text, "\"name\":\"goroutine 110 main.taker\","
						     "\"tid\":\"\""));
		}
		free(text);
		view_free(view);
	}
	recording_close(recording);
	profile_free(load.profile);
	modules_free(modules);
}

/* What is recorded is what was sampled; and the same by threads alone has no task. */
static void
test_recording(void **state)
{
	struct scene scene = scene_make();
	struct modules *modules = modules_create();
	struct profile *profile;
	struct recorder *recorder;
	struct place place;
	struct error err;
	struct view *view;
	struct thread_table threads;
	struct green_table tasks;

	(void)state;
	modules_add_recorded(modules, &(struct recorded_module){
		.path = "/nowhere/app", .build_id = "", .kind = MODULE_FILE });
	place_make(&place);
	recorder = record_in(&place, scene.profile, modules);
	while (scene.tick < TICKS)
		sample_tick(&scene);
	if (recorder_finish(recorder, &no_stats, RUN_END_DURATION, NULL, &err) != 0)
		fail_msg("%s", err.text);
	recorder_free(recorder);

	check_tracks(place.path);
	profile = load_tasks(place.path, false);
	check_table(profile);
	check(profile, &(struct filter){ 0 }, "folded", true, "tasks-by-thread.folded");
	check(profile, &(struct filter){ .created_by = true }, "folded", false,
	      "tasks-created-by.folded");
	profile_free(profile);

	profile = load_tasks(place.path, true);
	assert_int_equal(profile_ready_most(profile), 0);
	view = view_create(profile, NULL, &(struct filter){ 0 }, VIEW_BY_FUNCTION);
	green_table_make(view, &tasks);
	assert_int_equal(tasks.count, 0);
	thread_table_make(view, &threads);
	assert_int_equal(threads.count, 3);
	assert_int_equal(profile_thread(profile, threads.row[0].thread)->tid, 501);
	assert_int_equal(threads.row[0].runnable_ns, 600 * MS);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(threads.row[i].ns[WEIGHT_WALL], 1000 * MS);
	thread_table_release(&threads);
	view_free(view);
	profile_free(profile);

	profile_free(scene.profile);
	modules_free(modules);
	place_remove(&place);
}

static int64_t
selected_ms(const struct profile *profile, const struct filter *filter)
{
	struct view *view = view_create(profile, NULL, filter, VIEW_BY_FUNCTION);
	const int64_t ms = view_total_ns(view, WEIGHT_WALL) / MS;

	view_free(view);
	return ms;
}

/* By a thread's id a task is what it did on that thread; by a task's there is no thread. */
static void
test_filters(void **state)
{
	struct scene scene = scene_sampled(TICKS);
	uint64_t tasks[] = { FIRST + 10, FIRST + 12, 0 };
	uint64_t tid = 501;

	(void)state;
	assert_int_equal(selected_ms(scene.profile, &(struct filter){ 0 }),
			 1059000 + 1000 + 400 + 500);
	assert_int_equal(selected_ms(scene.profile, &(struct filter){
		.tids = { &tid, 1 } }), 1000);
	assert_int_equal(selected_ms(scene.profile, &(struct filter){
		.green = { tasks, 3 } }), 2000);
	assert_int_equal(selected_ms(scene.profile, &(struct filter){
		.green = { tasks, 3 }, .tids = { &tid, 1 } }), 300);
	assert_int_equal(selected_ms(scene.profile, &(struct filter){
		.states = 1u << RUN_READY }), 2000);
	profile_free(scene.profile);
}

/* Units: three threads, and goroutines by what they began with. */
static void
test_units(void **state)
{
	struct scene scene = scene_sampled(TICKS);
	struct view *view = view_create(scene.profile, NULL, &(struct filter){ 0 },
					VIEW_BY_FUNCTION);
	struct thread_table table;
	size_t tasks = 0;

	(void)state;
	thread_table_make_units(view, NULL, &table);
	assert_int_equal(table.count, 3 + 4);
	for (size_t i = 0; i < table.count; i++)
		tasks += table.row[i].green_count;
	assert_int_equal(tasks, 1000);
	assert_int_equal(view_unit(view, scene.worker[7]), view_unit(view, scene.worker[900]));
	assert_int_not_equal(view_thread_number(view, scene.worker[7]),
			     view_thread_number(view, scene.worker[8]));
	thread_table_release(&table);
	thread_table_make(view, &table);
	assert_int_equal(table.count, 1003);
	thread_table_release(&table);
	view_free(view);
	profile_free(scene.profile);
}

static void
test_data(void **state)
{
	struct scene scene = scene_sampled(TICKS);
	char *text = written(scene.profile, &(struct filter){ 0 }, "json", false);

	(void)state;
	assert_non_null(strstr(text, "\"scheduled\":{\"count\":1000,\"system\":3,"));
	assert_non_null(strstr(text, "\"ready_mean\":2.0,\"ready_most\":10,"));
	assert_non_null(strstr(text, "{\"doing\":\"waiting\",\"reason\":\"chan receive\","
				     "\"tasks_ns\":992900000000,\"threads_ns\":0}"));
	assert_non_null(strstr(text, "{\"tid\":null,\"name\":\"goroutine 112 main.taker\","
				     "\"noun\":\"goroutine\",\"task\":112,"
				     "\"entry\":\"main.taker\",\"created_at\":\"main.start\","
				     "\"creator\":1,\"system\":false,"));
	assert_non_null(strstr(text, "\"name\":\"goroutines main.flash\",\"noun\":"
				     "\"goroutine\",\"task\":null,"));
	free(text);
	profile_free(scene.profile);
}

static void
test_dump(void **state)
{
	struct scene scene = scene_sampled(1);
	struct view *view =
		view_create(scene.profile, NULL, &(struct filter){ 0 }, VIEW_BY_ADDRESS);
	struct export_input input = input_of(view);
	struct dump dump;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	dump_make(view, &dump);
	assert_int_equal(dump.threads, 1);
	assert_int_equal(dump.green_count, 1 + 3 + WORKERS + FLASHES);
	assert_false(dump.group[0].are_green);
	dump_release(&dump);
	exporter_by_name("text")->write_dump(&input, out);
	assert_int_equal(fclose(out), 0);
	golden_check("tasks-dump.txt", text, size);
	free(text);
	view_free(view);
	profile_free(scene.profile);
}

/* A ring of creators, and one who made itself, end; what is not known is not made up. */
static void
test_creators(void **state)
{
	struct profile *profile = profile_create();
	const uint32_t one = task(profile, 1, TAKER, START, 2);
	const uint32_t alone = task(profile, 3, TAKER, START, 3);
	struct scene scene = { .profile = profile };
	char *text;

	(void)state;
	task(profile, 2, TAKER, MAIN, 1);
	sample(&scene, (struct profile_entry){
		.thread = one, .state = RUN_READY, .stack = stack(profile, false, STACK(OTHERS)) });
	sample(&scene, (struct profile_entry){
		.thread = alone, .state = RUN_READY, .stack = STACK_NONE });
	text = written(profile, &(struct filter){ .created_by = true }, "folded", false);
	assert_string_equal(
		text,
		"[created by goroutine 1];main.main;[created by goroutine 2];main.start;"
		"example.org/x.(*T).f 20000\n"
		"[created by goroutine 3];main.start 20000\n");
	free(text);
	profile_free(profile);
}

/* A mutex is what it waits for, not what is inside of it; what is all parking stays. */
static void
test_parking(void **state)
{
	struct profile *profile = profile_create();
	const uint32_t one = task(profile, 1, TAKER, START, 0);
	struct scene scene = { .profile = profile };
	const int *const stacks[] = {
		STACK(TAKER, LOCK, LOCK_SLOW, SEMACQUIRE, PARK), STACK(PARK, PARK),
		STACK(SLICES, OTHERS, SPIN), STACK(UNNAMED, TAKE, TAKE_BUFFERED, YIELD_TO, UNNAMED),
	};
	struct view *view;
	struct top_table top;
	char *text;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(stacks); i++)
		sample(&scene, (struct profile_entry){
			.thread = one, .state = RUN_SLEEPING, .syscall = (int32_t)SYSCALL_NONE,
			.stack = stack(profile, false, stacks[i]) });
	text = written(profile, &(struct filter){ 0 }, "folded", false);
	assert_string_equal(text, "libjulia.so.1.5+0xd8170;take! 20000\n"
				  "main.taker;sync.(*Mutex).Lock 20000\n"
				  "runtime.gopark;runtime.gopark 20000\n"
				  "slices.Sort[example.org/x.T];example.org/x.(*T).f;"
				  "sort.insertionSort 20000\n");
	free(text);
	view = view_create(profile, NULL, &(struct filter){ 0 }, VIEW_BY_FUNCTION);
	top_table_make_program(view, WEIGHT_WALL, &top);
	assert_int_equal(top.count, 2);
	assert_string_equal(view_function(view, top.row[0].function)->name,
			    "example.org/x.(*T).f");
	assert_string_equal(view_function(view, top.row[1].function)->name, "main.taker");
	top_table_release(&top);
	view_free(view);
	profile_free(profile);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report),   cmocka_unit_test(test_recording),
		cmocka_unit_test(test_filters),  cmocka_unit_test(test_units),
		cmocka_unit_test(test_data),     cmocka_unit_test(test_dump),
		cmocka_unit_test(test_creators), cmocka_unit_test(test_parking),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
