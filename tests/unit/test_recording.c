/* SPDX-License-Identifier: MIT */
/*
 * test_recording.c - recordings of profiles made by hand: what comes back, what happens to them
 * while they are written, and what is said of files that are none.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "wallsample/base.h"
#include "wallsample/recording_read.h"
#include "wallsample/view.h"

#define MS ((int64_t)NS_PER_MS)
#define TICK (10 * MS)

static struct process process = {
	.pid = 77, .dirfd = -1, .taskfd = -1, .comm = "server", .cmdline = (char *)"server -x",
};
static const struct sampler_stats no_stats;

/* --- a folder of its own ----------------------------------------------------------------- */

struct place {
	char folder[64];
	int dirfd;
	char path[96];
};

static void
place_make(struct place *place)
{
	strcpy(place->folder, "/tmp/wallsample-test-XXXXXX");
	assert_non_null(mkdtemp(place->folder));
	place->dirfd = open(place->folder, O_PATH | O_DIRECTORY);
	assert_true(place->dirfd >= 0);
	snprintf(place->path, sizeof(place->path), "%s/x.wsdb", place->folder);
}

static void
place_remove(struct place *place)
{
	(void)unlinkat(place->dirfd, "x.wsdb", 0);
	(void)unlinkat(place->dirfd, "x.wsdb-journal", 0);
	close(place->dirfd);
	assert_int_equal(rmdir(place->folder), 0);
}

static struct recorder *
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

/* --- what is sampled --------------------------------------------------------------------- */

static uint32_t
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

static uint32_t
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
		.ns[WEIGHT_OVERHEAD] = state == RUN_RUNNING ? samples * TICK : 0,
	};

	return profile_add(profile, &entry);
}

/*
 * Ticks 0 to 99: the worker runs in "mab" at the even ones and sleeps in "mc" at the odd ones; the
 * idle one sleeps in "mz" and is looked at every ten ticks, once with a correction.
 */
static void
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

static struct profile *
make_profile(uint32_t *worker, uint32_t *idle)
{
	struct profile *profile = profile_create();

	*worker = profile_add_thread(profile, 78, 5, "worker");
	*idle = profile_add_thread(profile, 79, 6, "idle");
	return profile;
}

/* A recording of so many ticks; whole, or as a killed writer leaves it. */
static void
make_recording(const struct place *place, int ticks, bool whole)
{
	uint32_t worker, idle;
	struct profile *profile = make_profile(&worker, &idle);
	struct modules *modules = modules_create();
	struct recorder *recorder = record_in(place, profile, modules);
	struct error err;

	sample_ticks(profile, worker, idle, ticks);
	if (whole)
		assert_int_equal(recorder_finish(recorder, &no_stats, SAMPLER_DURATION, NULL, &err),
				 0);
	else
		assert_int_equal(recorder_commit(recorder, &no_stats, &err), 0);
	recorder_free(recorder);
	profile_free(profile);
	modules_free(modules);
}

/* --- what comes back --------------------------------------------------------------------- */

static struct profile *
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

static void
assert_same(const struct profile *a, const struct profile *b)
{
	assert_int_equal(profile_entry_count(a), profile_entry_count(b));
	assert_int_equal(profile_tick_count(a), profile_tick_count(b));
	assert_int_equal(profile_wall_ns(a), profile_wall_ns(b));
	for (size_t i = 0; i < profile_entry_count(a); i++) {
		const struct profile_entry *x = profile_entry(a, i), *y = NULL;

		/* Rows come in the order in which spans began. */
		for (size_t k = 0; k < profile_entry_count(b) && y == NULL; k++) {
			y = profile_entry(b, k);
			if (x->thread != y->thread || x->stack != y->stack ||
			    x->state != y->state || x->syscall != y->syscall)
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
	assert_int_equal(recorder_finish(recorder, &no_stats, SAMPLER_GONE, NULL, &err), 0);
	recorder_free(recorder);
	back = load(place.path, NULL, &info);
	assert_same(profile, back);
	assert_true(info.ended);
	assert_false(info.being_written);
	assert_int_equal(info.end, SAMPLER_GONE);
	assert_int_equal(info.ticks, 100);
	assert_int_equal(info.pid, 77);
	profile_free(back);
	profile_free(profile);
	modules_free(modules);
	place_remove(&place);
}

static int
count_rows(const char *path, const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *query;
	int count;

	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &query, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(query), SQLITE_ROW);
	count = sqlite3_column_int(query, 0);
	sqlite3_finalize(query);
	sqlite3_close(db);
	return count;
}

/* What a thread goes on doing is one row, however often it is written. */
static void
test_one_row(void **state)
{
	struct profile *profile = profile_create();
	const uint32_t thread = profile_add_thread(profile, 5, 5, "t");
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
	assert_int_equal(count_rows(place.path, "SELECT count(*) FROM spans"), 1);
	assert_int_equal(count_rows(place.path, "SELECT first_tick + ticks FROM spans"), 1000);
	profile_free(profile);
	modules_free(modules);
	place_remove(&place);
}

/* --- a part of it ------------------------------------------------------------------------ */

static int64_t
sum_of(const struct profile *profile, int w)
{
	int64_t sum = 0;

	for (size_t i = 0; i < profile_entry_count(profile); i++)
		sum += profile_entry(profile, i)->ns[w];
	return sum;
}

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
	assert_int_equal(sum_of(part, WEIGHT_OVERHEAD), 50 * TICK);
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
	assert_int_equal(sum_of(part, WEIGHT_OVERHEAD), 5 * TICK);
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
	struct seen seen = { 0 };
	struct recording *recording;
	struct place place;
	struct error err;

	(void)state;
	place_make(&place);
	make_recording(&place, 100, true);
	assert_int_equal(recording_open(place.path, &recording, &err), 0);
	assert_int_equal(recording_load(recording, &to, &err), 0);
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

/* --- what happens to a writer ------------------------------------------------------------ */

/* In a child that writes until it is killed: what it said was written is there. */
static void
test_killed(void **state)
{
	struct recording_info info;
	struct profile *back;
	struct place place;
	int said[2], committed = 0, status;
	pid_t child;

	(void)state;
	place_make(&place);
	assert_int_equal(pipe(said), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		uint32_t worker, idle;
		struct profile *profile = make_profile(&worker, &idle);
		struct modules *modules = modules_create();
		struct recorder *recorder = record_in(&place, profile, modules);

		for (;;) {
			sample_ticks(profile, worker, idle, 100);
			if (recorder_commit(recorder, &no_stats, NULL) != 0 ||
			    write(said[1], "x", 1) != 1)
				_exit(1);
		}
	}
	close(said[1]);
	for (char byte; committed < 20 && read(said[0], &byte, 1) == 1;)
		committed++;
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	for (char byte; read(said[0], &byte, 1) == 1;)
		committed++;
	close(said[0]);
	back = load(place.path, NULL, &info);
	assert_false(info.ended);
	assert_true(info.ticks >= (uint64_t)committed * 100);
	assert_int_equal(info.ticks % 100, 0);
	assert_int_equal(sum_of(back, WEIGHT_WALL), 2 * (int64_t)profile_wall_ns(back));
	profile_free(back);
	place_remove(&place);
}

static void
die_in_a_transaction(const char *path)
{
	sqlite3 *db;

	if (sqlite3_open(path, &db) != SQLITE_OK ||
	    sqlite3_exec(db, "PRAGMA cache_size = 2; BEGIN; UPDATE spans SET wall_ns = 1; "
			     "UPDATE ticks SET span_ns = 1", NULL, NULL, NULL) != SQLITE_OK)
		_exit(1);
	_exit(0);
}

/* Killed in the middle of a commit: half of it is in the file, and what was there beside it. */
static void
test_torn(void **state)
{
	struct recording_info info;
	struct profile *before, *back;
	struct place place;
	struct stat journal, after;
	pid_t child;
	int status;

	(void)state;
	place_make(&place);
	make_recording(&place, 5000, false);
	before = load(place.path, NULL, NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		die_in_a_transaction(place.path);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(fstatat(place.dirfd, "x.wsdb-journal", &journal, 0), 0);
	assert_true(journal.st_size > 0);
	back = load(place.path, NULL, &info);
	assert_int_equal(info.ticks, 5000);
	assert_same(before, back);
	/* In a copy: the file itself is as it was left. */
	assert_int_equal(fstatat(place.dirfd, "x.wsdb-journal", &after, 0), 0);
	assert_int_equal(journal.st_size, after.st_size);
	profile_free(before);
	profile_free(back);
	place_remove(&place);
}

/* No room any more: what was written before is whole, and the sentence says what it was. */
static void
test_no_room(void **state)
{
	const struct rlimit little = { 100000, RLIM_INFINITY };
	uint32_t worker, idle;
	struct profile *profile = make_profile(&worker, &idle), *back;
	struct modules *modules = modules_create();
	struct recording_info info;
	struct recorder *recorder;
	struct rlimit before;
	struct place place;
	struct error err;
	int rounds = 0;

	(void)state;
	place_make(&place);
	recorder = record_in(&place, profile, modules);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	setrlimit(RLIMIT_FSIZE, &little);
	do
		sample_ticks(profile, worker, idle, 100);
	while (recorder_commit(recorder, &no_stats, &err) == 0 && ++rounds < 1000);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_in_range(rounds, 1, 999);
	assert_int_equal(err.kind, ERROR_OUTPUT);
	assert_non_null(strstr(err.text, place.path));
	if (strstr(err.text, "File too large") == NULL)
		fail_msg("%s", err.text);
	recorder_free(recorder);
	back = load(place.path, NULL, &info);
	assert_int_equal(info.ticks, rounds * 100);
	profile_free(back);
	profile_free(profile);
	modules_free(modules);
	place_remove(&place);
}

static void
refuse_to_record(const struct place *place, const char *why)
{
	struct profile *profile = profile_create();
	struct modules *modules = modules_create();
	const struct recording_config config = {
		.dirfd = place->dirfd, .base = "x.wsdb", .path = place->path, .modules = modules,
	};
	struct recorder *recorder;
	struct error err;

	assert_int_equal(recorder_create(&config, profile, &recorder, &err), -ERROR_OUTPUT);
	assert_null(recorder);
	if (strstr(err.text, why) == NULL)
		fail_msg("'%s' instead of '%s'", err.text, why);
	profile_free(profile);
	modules_free(modules);
}

static void
test_two_writers(void **state)
{
	uint32_t worker, idle;
	struct profile *profile = make_profile(&worker, &idle), *back;
	struct modules *modules = modules_create();
	struct recorder *recorder;
	struct recording_info info;
	struct place place;
	struct error err;

	(void)state;
	place_make(&place);
	recorder = record_in(&place, profile, modules);
	sample_ticks(profile, worker, idle, 10);
	assert_int_equal(recorder_commit(recorder, &no_stats, &err), 0);
	refuse_to_record(&place, "another wallsample is writing it");
	back = load(place.path, NULL, &info);
	assert_true(info.being_written);
	assert_int_equal(info.ticks, 10);
	profile_free(back);
	/* Somebody removes it: that is said, and no other file of that name is touched. */
	assert_int_equal(unlinkat(place.dirfd, "x.wsdb", 0), 0);
	sample_ticks(profile, worker, idle, 10);
	assert_int_equal(recorder_commit(recorder, &no_stats, &err), -ERROR_OUTPUT);
	assert_non_null(strstr(err.text, "removed or replaced"));
	assert_int_not_equal(access(place.path, F_OK), 0);
	recorder_free(recorder);
	profile_free(profile);
	modules_free(modules);
	place_remove(&place);
}

/* Whoever reads just then keeps nobody from sampling: it is written the next time. */
static void
test_reader_in_the_way(void **state)
{
	uint32_t worker, idle;
	struct profile *profile = make_profile(&worker, &idle), *back;
	struct modules *modules = modules_create();
	struct recorder *recorder;
	struct place place;
	struct error err;
	sqlite3 *reader;

	(void)state;
	place_make(&place);
	recorder = record_in(&place, profile, modules);
	sample_ticks(profile, worker, idle, 50);
	assert_int_equal(recorder_commit(recorder, &no_stats, &err), 0);
	assert_int_equal(sqlite3_open(place.path, &reader), SQLITE_OK);
	assert_int_equal(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM spans", NULL, NULL,
				      NULL), SQLITE_OK);
	sample_ticks(profile, worker, idle, 50);
	assert_int_equal(recorder_commit(recorder, &no_stats, &err), 0);
	sqlite3_close(reader);
	assert_int_equal(recorder_finish(recorder, &no_stats, SAMPLER_STOPPED, NULL, &err), 0);
	recorder_free(recorder);
	back = load(place.path, NULL, NULL);
	assert_same(profile, back);
	profile_free(back);
	profile_free(profile);
	modules_free(modules);
	place_remove(&place);
}

static void
test_links(void **state)
{
	struct place place;
	struct stat info;

	(void)state;
	place_make(&place);
	assert_int_equal(symlinkat("/dev/null", place.dirfd, "x.wsdb"), 0);
	refuse_to_record(&place, "no regular file");
	assert_int_equal(fstatat(place.dirfd, "x.wsdb", &info, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISLNK(info.st_mode));
	assert_int_equal(unlinkat(place.dirfd, "x.wsdb", 0), 0);
	/* The journal's name is taken by a link: it is removed, and nothing is written there. */
	assert_int_equal(symlinkat("planted", place.dirfd, "x.wsdb-journal"), 0);
	make_recording(&place, 100, true);
	assert_int_not_equal(faccessat(place.dirfd, "planted", F_OK, 0), 0);
	place_remove(&place);
}

/* --- what is no recording ---------------------------------------------------------------- */

static void
refuse_to_read(const char *path, const char *why)
{
	struct recording_load to = { .profile = profile_create() };
	struct recording *recording;
	struct error err = { .kind = ERROR_NONE };

	if (recording_open(path, &recording, &err) == 0) {
		(void)recording_load(recording, &to, &err);
		recording_close(recording);
	}
	profile_free(to.profile);
	assert_int_equal(err.kind, ERROR_FORMAT);
	if (strstr(err.text, why) == NULL)
		fail_msg("'%s' instead of '%s'", err.text, why);
}

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
test_damaged(void **state)
{
	static const struct {
		const char *sql, *why;
	} damage[] = {
		{ "UPDATE stacks SET caller = id", "its stacks cannot be right" },
		{ "UPDATE stacks SET caller = 3 WHERE id = 1", "its stacks cannot be right" },
		{ "UPDATE stacks SET frame = 1000", "its stacks cannot be right" },
		{ "UPDATE frames SET module = 9", "its frames cannot be right" },
		{ "UPDATE spans SET thread = 2", "its samples cannot be right" },
		{ "UPDATE spans SET stack = 1 << 40", "its samples cannot be right" },
		{ "UPDATE spans SET wall_ns = 1 << 62", "its samples cannot be right" },
		{ "UPDATE spans SET wall_ns = 1 << 59", "its samples cannot be right" },
		{ "UPDATE spans SET samples = 'many'", "its samples cannot be right" },
		{ "UPDATE ticks SET parallelism = 1 << 30", "its ticks cannot be right" },
		{ "UPDATE ticks SET span_ns = -1", "its ticks cannot be right" },
		{ "DELETE FROM ticks WHERE n = 50", "its ticks cannot be right" },
		{ "DROP TABLE spans", "its table 'spans' is not there" },
		{ "DROP TABLE spans; CREATE VIEW spans AS SELECT 1 AS id", "its table 'spans'" },
		{ "ALTER TABLE spans ADD COLUMN x AS (hex(wall_ns))", "its table 'spans'" },
		{ "PRAGMA user_version = 2", "made by a newer wallsample" },
		{ "PRAGMA user_version = 0", "was never begun" },
		{ "PRAGMA application_id = 1", "is not a recording" },
		{ "PRAGMA journal_mode = WAL", "is not a recording" },
	};
	struct place place;

	(void)state;
	place_make(&place);
	for (size_t i = 0; i < ARRAY_SIZE(damage); i++) {
		make_recording(&place, 100, true);
		change(place.path, damage[i].sql);
		refuse_to_read(place.path, damage[i].why);
	}
	make_recording(&place, 100, true);
	assert_int_equal(truncate(place.path, 20000), 0);
	refuse_to_read(place.path, "is truncated");
	assert_int_equal(truncate(place.path, 99), 0);
	refuse_to_read(place.path, "is not a recording");
	assert_int_equal(truncate(place.path, 0), 0);
	refuse_to_read(place.path, "is empty");
	refuse_to_read(place.folder, "is not a file");
	refuse_to_read("/dev/null", "is not a file");
	place_remove(&place);
}

/* Reading leaves the file, and what lies beside it, as it was. */
static void
test_unchanged(void **state)
{
	struct stat before, after;
	struct place place;

	(void)state;
	place_make(&place);
	make_recording(&place, 100, false);
	assert_int_equal(chmod(place.path, 0400), 0);
	assert_int_equal(stat(place.path, &before), 0);
	profile_free(load(place.path, NULL, NULL));
	assert_int_equal(stat(place.path, &after), 0);
	assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof(before.st_mtim));
	assert_int_equal(before.st_size, after.st_size);
	place_remove(&place);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_one_row),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_timeline),
		cmocka_unit_test(test_timeline_part),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_torn),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_two_writers),
		cmocka_unit_test(test_reader_in_the_way),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_unchanged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
