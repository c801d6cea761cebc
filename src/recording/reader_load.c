/* SPDX-License-Identifier: MIT */
/* reader_load.c - loads the rows of a recording into a profile. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recording/reader_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/unwind/chain.h"

/* Bound on the sum of all weights, so that none overflows. */
#define SUM_MOST 0x1p61

/* The number of the recording goes above these bits of a start time: several recordings may have
 * threads of the same id and start time. */
#define START_TIME_BITS 48

/* Ids in the recording -> ids in the profile. */
struct loading {
	struct recording *recording;
	struct recording_load *load;
	uint32_t *module, *frame, *stack, *thread, *wait;
	size_t modules, frames, stacks, threads, waits;
	size_t module_capacity, frame_capacity, stack_capacity, thread_capacity, wait_capacity;
	struct tick_sum *sums; /* NULL: all ticks are selected */
	double total;
};

static void
add_number(uint32_t **array, size_t *count, size_t *capacity, uint32_t number)
{
	*array = xgrow(*array, capacity, *count + 1, sizeof(**array));
	(*array)[(*count)++] = number;
}

/* --- modules, frames, stacks, threads ---------------------------------------------------- */

static enum module_kind
module_kind_of(const char *text)
{
	static const char *const texts[] = {
#define X(name, kind) [MODULE_##name] = kind,
		MODULE_KINDS(X)
#undef X
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (strcmp(texts[i], text) == 0)
			return (enum module_kind)i;
	return MODULE_OTHER;
}

static void
check_process(const struct loading *loading, struct rows *rows, int column)
{
	(void)rows_index(rows, column, loading->recording->processes);
}

static int
load_modules(struct loading *loading, struct error *err)
{
	struct rows rows;

	rows_begin(&rows, loading->recording, TABLE_MODULES, "ORDER BY id");
	while (rows_next_dense(&rows, loading->modules, UINT32_MAX)) {
		const struct recorded_module module = {
			.path = rows_text(&rows, MODULES_path),
			.build_id = rows_text(&rows, MODULES_build_id),
			.kind = module_kind_of(rows_text(&rows, MODULES_kind)),
			.deleted = rows_number(&rows, MODULES_deleted, 0, 1) != 0,
			.symfs = loading->load->symfs,
		};
		uint32_t number = (uint32_t)loading->modules;

		check_process(loading, &rows, MODULES_process);
		if (loading->load->modules != NULL)
			number = modules_add_recorded(loading->load->modules, &module);
		add_number(&loading->module, &loading->modules, &loading->module_capacity, number);
	}
	return rows_end(&rows, "modules", err);
}

static uint8_t
origin_of(const char *text)
{
	static const enum frame_origin origins[] = {
#define X(name, word) FRAME_##name,
		FRAME_ORIGINS(X)
#undef X
	};

	for (size_t i = 0; i < ARRAY_SIZE(origins); i++)
		if (strcmp(frame_origin_text(origins[i]), text) == 0)
			return (uint8_t)origins[i];
	return 0;
}

/* Reads a frame without a module: an interpreted function or a named frame. */
static uint32_t
read_named(struct loading *loading, struct rows *rows, uint8_t origin)
{
	struct profile *profile = loading->load->profile;
	uint32_t name, file, line;

	if (origin != FRAME_SCRIPT)
		return profile_intern_named(profile, rows_text(rows, FRAMES_name));
	name = profile_intern_text(profile, rows_text(rows, FRAMES_name));
	file = profile_intern_text(profile, rows_text(rows, FRAMES_file));
	line = (uint32_t)rows_number(rows, FRAMES_line, 0, UINT32_MAX);
	return rows->bad ? 0 : profile_intern_script(profile, name, file, line);
}

/* Returns its id in the profile. Nothing is added if a value is out of range. */
static uint32_t
load_frame(struct loading *loading, struct rows *rows)
{
	struct profile_frame frame = { .origin = origin_of(rows_text(rows, FRAMES_origin)) };
	int64_t module;

	if (rows_is_null(rows, FRAMES_module))
		return read_named(loading, rows, frame.origin);
	module = rows_index(rows, FRAMES_module, loading->modules);
	frame.address = (uint64_t)rows_number(rows, FRAMES_address, INT64_MIN, INT64_MAX);
	frame.epoch = (uint32_t)rows_number(rows, FRAMES_epoch, 0, UINT32_MAX);
	frame.bytecode = (uint64_t)rows_number(rows, FRAMES_bytecode, INT64_MIN, INT64_MAX);
	frame.bytecode_size = (uint32_t)rows_number(rows, FRAMES_bytecode_size, 0, UINT32_MAX);
	/* An interpreted function has no address. */
	if (frame.origin == FRAME_SCRIPT)
		rows->bad = true;
	if (rows->bad)
		return 0;
	frame.module = loading->module[module];
	return frame.module == MODULE_NONE ?
		       profile_intern_named(loading->load->profile, "[unknown]") :
		       profile_intern_frame(loading->load->profile, &frame);
}

static int
load_frames(struct loading *loading, struct error *err)
{
	struct rows rows;

	rows_begin(&rows, loading->recording, TABLE_FRAMES, "ORDER BY id");
	while (rows_next_dense(&rows, loading->frames, UINT32_MAX)) {
		uint32_t number = load_frame(loading, &rows);

		if (rows.bad)
			break;
		add_number(&loading->frame, &loading->frames, &loading->frame_capacity, number);
	}
	return rows_end(&rows, "frames", err);
}

/* The caller of a stack has a lower id: there is no cycle. */
static int
load_stacks(struct loading *loading, struct error *err)
{
	struct rows rows;

	rows_begin(&rows, loading->recording, TABLE_STACKS, "ORDER BY id");
	while (rows_next_dense(&rows, loading->stacks, UINT32_MAX)) {
		const int64_t frame = rows_index(&rows, STACKS_frame, loading->frames);
		uint32_t caller = STACK_NONE;

		if (!rows_is_null(&rows, STACKS_caller)) {
			const int64_t at = rows_index(&rows, STACKS_caller, loading->stacks);

			caller = rows.bad ? STACK_NONE : loading->stack[at];
		}
		if (rows.bad)
			break;
		add_number(&loading->stack, &loading->stacks, &loading->stack_capacity,
			   profile_intern_stack(loading->load->profile, loading->frame[frame],
						caller));
	}
	return rows_end(&rows, "stacks", err);
}

/* Tasks of several recordings stay separate. */
static uint32_t
load_task(struct loading *loading, struct rows *rows, const char *name)
{
	const int64_t most = (int64_t)loading->frames - 1;
	const int64_t entry = rows_number(rows, THREADS_entry, -1, most);
	const int64_t created_at = rows_number(rows, THREADS_created_at, -1, most);
	struct profile *profile = loading->load->profile;
	struct profile_thread task = {
		.is_task = true,
		.name = profile_intern_text(profile, name),
		.task_id = (uint64_t)rows_number(rows, THREADS_task, INT64_MIN, INT64_MAX),
		.system = rows_number(rows, THREADS_system, 0, 1) != 0,
		.creator = (uint64_t)rows_number(rows, THREADS_creator, INT64_MIN, INT64_MAX),
		.entry = FRAME_NONE,
		.created_at = FRAME_NONE,
	};

	if (rows->bad)
		return 0;
	if (entry >= 0)
		task.entry = loading->frame[entry];
	if (created_at >= 0)
		task.created_at = loading->frame[created_at];
	return profile_add_task(profile, &task,
				(uint64_t)loading->load->number << 32 | loading->threads);
}

static int
load_threads(struct loading *loading, struct error *err)
{
	const struct recording_load *load = loading->load;
	struct strbuf name;
	struct rows rows;

	strbuf_init(&name);
	rows_begin(&rows, loading->recording, TABLE_THREADS, "ORDER BY id");
	while (rows_next_dense(&rows, loading->threads, UINT32_MAX)) {
		const pid_t tid = (pid_t)rows_number(&rows, THREADS_tid, 0, INT32_MAX);
		const uint64_t start = (uint64_t)rows_number(&rows, THREADS_start_time, 0,
							     NUMBER_MOST);

		check_process(loading, &rows, THREADS_process);
		strbuf_clear(&name);
		if (load->label != NULL)
			strbuf_add_format(&name, "%s ", load->label);
		strbuf_add_text(&name, rows_text(&rows, THREADS_name));
		add_number(&loading->thread, &loading->threads, &loading->thread_capacity,
			   !rows_is_null(&rows, THREADS_task) ?
				   load_task(loading, &rows, name.data) :
				   profile_add_thread(load->profile, tid,
						      start ^ (uint64_t)load->number
								      << START_TIME_BITS,
						      name.data));
	}
	strbuf_release(&name);
	return rows_end(&rows, "threads", err);
}

/* --- waits ------------------------------------------------------------------------------- */

static enum wait_kind
wait_kind_of(const char *text)
{
	for (int kind = 0; kind < WAIT_KIND_COUNT; kind++)
		if (strcmp(wait_kind_text((enum wait_kind)kind), text) == 0)
			return (enum wait_kind)kind;
	return WAIT_OTHER;
}

/* The first row stands for no wait. */
static int
load_waits(struct loading *loading, struct error *err)
{
	struct rows rows;

	rows_begin(&rows, loading->recording, TABLE_WAITS, "ORDER BY id");
	while (rows_next_dense(&rows, loading->waits, UINT32_MAX)) {
		const int64_t object = rows_index_or_none(&rows, WAITS_object, loading->frames);
		struct profile_wait wait = {
			.kind = wait_kind_of(rows_text(&rows, WAITS_kind)),
			.timed = rows_number(&rows, WAITS_timed, 0, 1) != 0,
			.most = (uint32_t)rows_number(&rows, WAITS_most, 0, UINT32_MAX),
			.object = FRAME_NONE,
		};

		if (rows.bad)
			break;
		if (object >= 0)
			wait.object = loading->frame[object];
		add_number(&loading->wait, &loading->waits, &loading->wait_capacity,
			   loading->waits == 0 ? 0 :
						 profile_add_wait(loading->load->profile, &wait));
	}
	return rows_end(&rows, "waits", err);
}

/* --- spans ------------------------------------------------------------------------------- */

static int64_t
weight(struct loading *loading, struct rows *rows, int column)
{
	const int64_t value = rows_number(rows, column, -NUMBER_MOST, NUMBER_MOST);

	loading->total += fabs((double)value);
	if (loading->total > SUM_MOST)
		rows->bad = true;
	return value;
}

static bool
load_entry(struct loading *loading, struct rows *rows, struct profile_entry *entry)
{
	const int64_t thread = rows_index(rows, SPANS_thread, loading->threads);
	const int64_t stack = rows_index_or_none(rows, SPANS_stack, loading->stacks);
	const int64_t carrier = rows_index_or_none(rows, SPANS_carrier, loading->threads);
	int64_t wait;

	if (!run_state_parse(rows_text(rows, SPANS_state), &entry->state))
		entry->state = RUN_UNKNOWN;
	entry->syscall = reader_syscall(loading->recording,
					(int32_t)rows_number(rows, SPANS_syscall, INT32_MIN,
							     INT32_MAX));
	entry->gil = rows_gil(rows, SPANS_gil);
	entry->samples = weight(loading, rows, SPANS_samples);
	for (int w = 0; w < WEIGHT_COUNT; w++)
		entry->ns[w] = weight(loading, rows, SPANS_wall_ns + w);
	wait = rows_index(rows, SPANS_wait, loading->waits);
	if (rows->bad)
		return false;
	entry->wait = loading->wait[wait];
	entry->thread = loading->thread[thread];
	entry->carrier = carrier < 0 ? 0 : loading->thread[carrier] + 1;
	entry->stack = stack < 0 ? STACK_NONE : loading->stack[stack];
	return true;
}

bool
reader_is_of_thread(const struct profile *profile, struct profile_entry *entry)
{
	if (entry->carrier != 0)
		entry->thread = entry->carrier - 1;
	entry->carrier = 0;
	return !profile_thread(profile, entry->thread)->is_task;
}

/* Scales the entry to its ticks that are wanted; false: none is. */
static bool
share(const struct loading *loading, struct rows *rows, int first, int ticks,
      struct profile_entry *entry)
{
	return loading->sums == NULL ||
	       reader_share(loading->recording, loading->sums,
			    (uint64_t)rows_number(rows, first, 0, NUMBER_MOST),
			    (uint64_t)rows_number(rows, ticks, 0, NUMBER_MOST), entry);
}

static int
load_spans(struct loading *loading, struct error *err)
{
	struct rows rows;
	int64_t id;

	rows_begin(&rows, loading->recording, TABLE_SPANS, "ORDER BY id");
	while (rows_next_id(&rows, NUMBER_MOST, &id)) {
		struct profile_entry entry;

		if (!load_entry(loading, &rows, &entry))
			break;
		if (!share(loading, &rows, SPANS_first_tick, SPANS_ticks, &entry))
			continue;
		if (!loading->load->threads_only ||
		    reader_is_of_thread(loading->load->profile, &entry))
			profile_add(loading->load->profile, &entry);
	}
	return rows_end(&rows, "samples", err);
}

static bool
read_blame(struct loading *loading, struct rows *rows, struct profile_blame *blame)
{
	const int64_t wait = rows_index(rows, BLAME_wait, loading->waits);
	const int64_t thread = rows_index(rows, BLAME_thread, loading->threads);
	const int64_t stack = rows_index_or_none(rows, BLAME_stack, loading->stacks);

	if (!run_state_parse(rows_text(rows, BLAME_state), &blame->state))
		blame->state = RUN_UNKNOWN;
	blame->samples = weight(loading, rows, BLAME_samples);
	blame->ns = weight(loading, rows, BLAME_wall_ns);
	if (rows->bad)
		return false;
	blame->wait = loading->wait[wait];
	blame->thread = loading->thread[thread];
	blame->stack = stack < 0 ? STACK_NONE : loading->stack[stack];
	return true;
}

static int
load_blame(struct loading *loading, struct error *err)
{
	struct rows rows;
	int64_t id;

	rows_begin(&rows, loading->recording, TABLE_BLAME, "ORDER BY id");
	while (rows_next_id(&rows, NUMBER_MOST, &id)) {
		struct profile_entry entry = { .state = RUN_RUNNING };
		struct profile_blame blame;

		if (!read_blame(loading, &rows, &blame))
			break;
		entry.samples = blame.samples;
		entry.ns[WEIGHT_WALL] = blame.ns;
		if (!share(loading, &rows, BLAME_first_tick, BLAME_ticks, &entry))
			continue;
		blame.samples = entry.samples;
		blame.ns = entry.ns[WEIGHT_WALL];
		profile_add_blame(loading->load->profile, &blame);
	}
	return rows_end(&rows, "table 'blame'", err);
}

/* The numbers of deadlocks, and of the threads in each, ascend from 0. */
static int
load_deadlocks(struct loading *loading, struct error *err)
{
	struct profile *profile = loading->load->profile;
	struct profile_stuck *stuck = NULL;
	size_t count = 0, capacity = 0, ring = 0;
	int64_t last = 0;
	struct rows rows;

	rows_begin(&rows, loading->recording, TABLE_DEADLOCKS, "ORDER BY deadlock, n");
	while (rows_next(&rows)) {
		const int64_t deadlock = rows_number(&rows, DEADLOCKS_deadlock, last, last + 1);
		const bool in_ring = rows_number(&rows, DEADLOCKS_in_ring, 0, 1) != 0;
		const int64_t thread = rows_index(&rows, DEADLOCKS_thread, loading->threads);
		const int64_t wait = rows_index(&rows, DEADLOCKS_wait, loading->waits);
		const int64_t stack = rows_index(&rows, DEADLOCKS_stack, loading->stacks);

		if (!rows.bad && deadlock != last) {
			if (ring > 0)
				profile_add_deadlock(profile, stuck, count, ring);
			count = ring = 0;
			last = deadlock;
		}
		/* Threads of the ring come first. */
		if (!rows.bad && in_ring && ring != count)
			rows.bad = true;
		if (rows.bad || rows_number(&rows, DEADLOCKS_n, (int64_t)count, (int64_t)count) < 0)
			break;
		stuck = xgrow(stuck, &capacity, count + 1, sizeof(*stuck));
		stuck[count++] = (struct profile_stuck){ .thread = loading->thread[thread],
							 .wait = loading->wait[wait],
							 .stack = loading->stack[stack] };
		ring += in_ring;
	}
	if (!rows.bad && ring > 0)
		profile_add_deadlock(profile, stuck, count, ring);
	free(stuck);
	return rows_end(&rows, "table 'deadlocks'", err);
}

/* --- the whole --------------------------------------------------------------------------- */

int
recording_load(struct recording *recording, struct recording_load *load, struct error *err)
{
	static int (*const parts[])(struct loading *,
				    struct error *) = { load_modules, load_frames,   load_stacks,
							load_threads, load_waits,    load_spans,
							load_blame,   load_deadlocks };
	struct loading loading = { .recording = recording, .load = load };
	int rc = 0;

	loading.sums = reader_sum_ticks(recording, load);
	if (load->selection == NULL) {
		free(loading.sums);
		loading.sums = NULL;
	}
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(parts); i++)
		rc = parts[i](&loading, err);
	if (rc == 0 && load->names != NULL)
		rc = reader_load_names(recording, load->names, load->profile, loading.frame,
				       loading.frames, err);
	if (rc == 0 && load->stats != NULL)
		rc = reader_load_stats(recording, load, err);
	free(loading.sums);
	free(loading.module);
	free(loading.frame);
	free(recording->stack);
	free(recording->thread);
	recording->stack = loading.stack;
	recording->stacks = loading.stacks;
	recording->thread = loading.thread;
	recording->threads = loading.threads;
	recording->profile = load->profile;
	recording->threads_only = load->threads_only;
	free(recording->wait);
	recording->wait = loading.wait;
	recording->waits = loading.waits;
	return rc;
}
