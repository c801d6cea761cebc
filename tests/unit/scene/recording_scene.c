/* SPDX-License-Identifier: MIT */
/* recording_scene.c - invented profiles, and recordings of them; see the header. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "recording_scene.h"
#include "wallsample/base/base.h"

static struct process process = {
	.pid = 77, .dirfd = -1, .taskfd = -1, .comm = "server", .cmdline = (char *)"server -x",
};
const struct run_stats no_stats;

/* --- the folder of a test ----------------------------------------------------------------- */

void
place_make(struct place *place)
{
	strcpy(place->folder, "/tmp/wallsample-test-XXXXXX");
	assert_non_null(mkdtemp(place->folder));
	place->dirfd = open(place->folder, O_PATH | O_DIRECTORY);
	assert_true(place->dirfd >= 0);
	snprintf(place->path, sizeof(place->path), "%s/x.wsdb", place->folder);
}

void
place_remove(struct place *place)
{
	(void)unlinkat(place->dirfd, "x.wsdb", 0);
	(void)unlinkat(place->dirfd, "x.wsdb-journal", 0);
	(void)unlinkat(place->dirfd, "x.wsdb-wal", 0);
	close(place->dirfd);
	assert_int_equal(rmdir(place->folder), 0);
}

struct recorder *
record_in(const struct place *place, struct profile *profile, const struct modules *modules)
{
	const struct recording_config config = {
		.dirfd = place->dirfd,
		.base = "x.wsdb",
		.path = place->path,
		.modules = modules,
		.rate_hz = 100,
		.command = "wallsample record",
	};
	struct recorder *recorder;
	struct error err;

	if (recorder_create(&config, profile, &recorder, &err) != 0)
		fail_msg("%s", err.text);
	recorder_set_process(recorder, &process);
	return recorder;
}

/* --- profiles --------------------------------------------------------------------- */

uint32_t
stack_of(struct profile *profile, const char *functions)
{
	uint32_t stack = STACK_NONE;
	char name[2] = "";

	for (; *functions != '\0'; functions++) {
		name[0] = *functions;
		stack = profile_intern_stack(profile, profile_intern_named(profile, name), stack);
	}
	return stack;
}

uint32_t
add(struct profile *profile, uint32_t thread, const char *functions, enum run_state state,
    int64_t samples)
{
	const struct profile_entry entry = {
		.thread = thread,
		.stack = stack_of(profile, functions),
		.state = state,
		.syscall = state == RUN_SLEEPING ? 0 : (int32_t)SYSCALL_NONE,
		.samples = samples,
		.ns[WEIGHT_WALL] = samples * TICK,
		.ns[WEIGHT_CPU] = state == RUN_RUNNING ? samples * TICK : 0,
	};

	return profile_add(profile, &entry);
}

void
sample_ticks(struct profile *profile, uint32_t worker, uint32_t idle, int count)
{
	for (int tick = 0; tick < count; tick++) {
		const bool runs = tick % 2 == 0;
		const uint32_t entry = add(profile, worker, runs ? "mab" : "mc",
					   runs ? RUN_RUNNING : RUN_SLEEPING, 1);

		if (tick % 10 == 9)
			add(profile, idle, "mz", RUN_SLEEPING, 10);
		if (tick == 59) {
			add(profile, idle, "mz", RUN_SLEEPING, -3);
			add(profile, idle, "my", RUN_SLEEPING, 3);
		}
		if (runs)
			profile_charge(profile, entry, TICK);
		profile_add_tick(profile, TICK, runs, runs);
	}
}

struct profile *
make_profile(uint32_t *worker, uint32_t *idle)
{
	struct profile *profile = profile_create();

	*worker = profile_add_thread(profile, 0, 78, 5, "worker");
	*idle = profile_add_thread(profile, 0, 79, 6, "idle");
	return profile;
}

void
make_recording(const struct place *place, int ticks, bool whole)
{
	uint32_t worker, idle;
	struct profile *profile = make_profile(&worker, &idle);
	struct modules *modules = modules_create();
	struct recorder *recorder = record_in(place, profile, modules);
	struct error err;

	sample_ticks(profile, worker, idle, ticks);
	if (whole)
		assert_int_equal(recorder_finish(recorder, &no_stats, RUN_END_DURATION, NULL, &err),
				 0);
	else
		assert_int_equal(recorder_commit(recorder, &no_stats, &err), 0);
	recorder_free(recorder);
	profile_free(profile);
	modules_free(modules);
}

/* --- loading and comparing -------------------------------------------------------------------- */

struct profile *
load(const char *path, const struct recording_selection *selection, struct recording_info *info)
{
	struct recording_load to = { .profile = profile_create(), .selection = selection };
	struct recording *recording;
	struct error err;

	if (recording_open(path, &recording, &err) != 0)
		fail_msg("%s", err.text);
	if (recording_load(recording, &to, &err) != 0)
		fail_msg("%s", err.text);
	if (info != NULL)
		*info = *recording_info(recording);
	recording_close(recording);
	return to.profile;
}

void
assert_same(const struct profile *a, const struct profile *b)
{
	assert_int_equal(profile_entry_count(a), profile_entry_count(b));
	assert_int_equal(profile_tick_count(a), profile_tick_count(b));
	assert_int_equal(profile_wall_ns(a), profile_wall_ns(b));
	for (size_t i = 0; i < profile_entry_count(a); i++) {
		const struct profile_entry *x = profile_entry(a, i), *y = NULL;

		/* A recording has its rows in the order in which their spans began, so the entry
		 * for `x` is searched for. */
		for (size_t k = 0; k < profile_entry_count(b) && y == NULL; k++) {
			y = profile_entry(b, k);
			if (x->thread != y->thread || x->stack != y->stack ||
			    x->state != y->state || x->syscall != y->syscall ||
			    x->wait != y->wait || x->gil != y->gil)
				y = NULL;
		}
		assert_non_null(y);
		assert_int_equal(x->samples, y->samples);
		for (int w = 0; w < WEIGHT_COUNT; w++)
			assert_int_equal(x->ns[w], y->ns[w]);
	}
	for (uint32_t i = 0; i < profile_stack_count(a); i++) {
		assert_int_equal(profile_stack(a, i)->frame, profile_stack(b, i)->frame);
		assert_int_equal(profile_stack(a, i)->caller, profile_stack(b, i)->caller);
	}
	for (uint32_t i = 0; i < profile_thread_count(a); i++)
		assert_string_equal(profile_text(a, profile_thread(a, i)->name),
				    profile_text(b, profile_thread(b, i)->name));
}

int64_t
sum_of(const struct profile *profile, int w)
{
	int64_t sum = 0;

	for (size_t i = 0; i < profile_entry_count(profile); i++)
		sum += profile_entry(profile, i)->ns[w];
	return sum;
}

int
ask(const char *path, const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *query;
	int answer;

	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &query, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(query), SQLITE_ROW);
	answer = sqlite3_column_int(query, 0);
	sqlite3_finalize(query);
	sqlite3_close(db);
	return answer;
}

void
change(const char *path, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	sqlite3_close(db);
}
