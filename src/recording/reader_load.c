/* SPDX-License-Identifier: MIT */
/* reader_load.c - loads the rows of a recording into a profile. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recording/reader_internal.h"
#include "recording/reader_joint_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/unwind/chain.h"

/* Largest sum of the absolute values of all samples and weights, so that no sum overflows. */
#define SUM_MOST 0x1p61

/*
 * Threads of several recordings may have the same tid and start time. To keep them separate,
 * recording_load.number, shifted left by this number of bits, is combined with the start time by
 * XOR.
 */
#define START_TIME_BITS 48

/* The deadlock whose rows are being read. Rows of a deadlock are consecutive. */
struct deadlock {
	struct profile_stuck *stuck;
	size_t count, capacity, ring;
	int64_t number;
};

struct loading {
	struct recording *recording;
	struct recording_load *load;
	bool scales;   /* samples are scaled by reader_share */
	uint32_t host; /* number of the first recording of the same host */
	double total;  /* sum of the absolute values of samples and weights that were read */
	struct deadlock deadlock;
};

static void
map_add(struct loading *loading, enum recording_table table, uint32_t id)
{
	id_map_add(&loading->recording->map[table], id);
}

/* --- modules, frames, stacks, threads, waits --------------------------------------------- */

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
load_module(struct rows *rows, void *context)
{
	const struct modules_row *row = &rows->row.modules;
	struct loading *loading = context;
	const struct recorded_module module = {
		.path = row->path,
		.build_id = row->build_id,
		.kind = module_kind_of(row->kind),
		.deleted = row->deleted != 0,
		.symfs = loading->load->symfs,
	};

	map_add(loading, TABLE_MODULES,
		loading->load->modules != NULL ?
			modules_add_recorded(loading->load->modules, &module) :
			(uint32_t)row->id);
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

/*
 * Returns the named frame of the text in a recording. In recordings of earlier versions the state
 * UNINTERRUPTIBLE is "disk", as in "[disk in fsync: file]"; the kind of some waits is "disk", too,
 * as in "[disk in munmap: disk]".
 */
static uint32_t
intern_recorded(struct profile *profile, const char *text)
{
	static const char earlier[] = "[disk ", kind[] = ": disk]";
	const size_t start = strlen(earlier), end = strlen(kind);
	const size_t length = strlen(text);
	struct strbuf now = STRBUF_INIT;
	bool has_kind;
	uint32_t id;

	if (strncmp(text, earlier, start) != 0)
		return profile_intern_named(profile, text);
	has_kind = length >= start + end && strcmp(text + length - end, kind) == 0;
	strbuf_add_format(&now, "[%s ", run_state_text(RUN_UNINTERRUPTIBLE));
	strbuf_add(&now, text + start, length - start - (has_kind ? end : 0));
	strbuf_add_text(&now, has_kind ? "]" : "");
	id = profile_intern_named(profile, now.data);
	strbuf_release(&now);
	return id;
}

/* Index of the column `module` in table frames. */
#define FRAMES_MODULE 1

/*
 * Adds a frame: code or data, which has a module, an address and an epoch; an interpreted function,
 * which has a line and no module; or a named frame, which has neither. Other rows are refused.
 */
static void
load_frame(struct rows *rows, void *context)
{
	const struct frames_row *row = &rows->row.frames;
	struct loading *loading = context;
	struct profile *profile = loading->load->profile;
	const bool has_module = !rows_is_null(rows, FRAMES_MODULE);
	const struct profile_frame frame = {
		.module = (uint32_t)row->module,
		.origin = origin_of(row->origin),
		.address = (uint64_t)row->address.number,
		.epoch = (uint32_t)row->epoch.number,
		.bytecode = (uint64_t)row->bytecode,
		.bytecode_size = (uint32_t)row->bytecode_size,
	};
	const bool is_script = frame.origin == FRAME_SCRIPT;
	uint32_t id;

	if (has_module ? is_script || !row->address.known || !row->epoch.known :
			 is_script && !row->line.known) {
		rows->bad = true;
		return;
	}
	if (is_script)
		id = profile_intern_script(profile, profile_intern_text(profile, row->name),
					   profile_intern_text(profile, row->file),
					   (uint32_t)row->line.number);
	else if (frame.module == MODULE_NONE) /* no module, or load->modules was full */
		id = intern_recorded(profile, has_module ? "[unknown]" : row->name);
	else
		id = profile_intern_frame(profile, &frame);
	map_add(loading, TABLE_FRAMES, id);
}

/*
 * Adds a stack. The caller is an earlier row of the table, because read_reference refuses any
 * other; therefore the stacks have no cycle.
 */
static void
load_stack(struct rows *rows, void *context)
{
	const struct stacks_row *row = &rows->row.stacks;
	struct loading *loading = context;

	map_add(loading, TABLE_STACKS,
		profile_intern_stack(loading->load->profile, (uint32_t)row->frame,
				     (uint32_t)row->caller));
}

/*
 * Adds a thread or a green task to the profile. Threads and tasks of different recordings stay
 * separate.
 */
static void
load_thread(struct rows *rows, void *context)
{
	const struct threads_row *row = &rows->row.threads;
	struct loading *loading = context;
	const struct recording_load *load = loading->load;
	const uint64_t number = load->number;
	struct strbuf name;

	if (row->task.known && !row->system.known) {
		rows->bad = true;
		return;
	}
	strbuf_init(&name);
	if (load->label != NULL)
		strbuf_add_format(&name, "%s ", load->label);
	strbuf_add_text(&name, row->name);
	if (row->task.known) {
		const struct profile_thread task = {
			.process = (uint32_t)row->process,
			.is_green = true,
			.name = profile_intern_text(load->profile, name.data),
			.green_id = (uint64_t)row->task.number,
			.system = row->system.number != 0,
			.creator = (uint64_t)row->creator,
			.entry = (uint32_t)row->entry,
			.created_at = (uint32_t)row->created_at,
		};

		map_add(loading, TABLE_THREADS,
			profile_add_green(load->profile, &task, number << 32 | (uint64_t)row->id));
	} else {
		map_add(loading, TABLE_THREADS,
			profile_add_thread(load->profile, (uint32_t)row->process, (pid_t)row->tid,
					   (uint64_t)row->start_time ^ number << START_TIME_BITS,
					   name.data));
	}
	strbuf_release(&name);
}

/* Returns OTHER for the kind "disk" of earlier versions: uninterruptible sleep in a system call. */
static enum wait_kind
wait_kind_of(const char *text)
{
	for (int kind = 0; kind < WAIT_KIND_COUNT; kind++)
		if (strcmp(wait_kind_text((enum wait_kind)kind), text) == 0)
			return (enum wait_kind)kind;
	return WAIT_OTHER;
}

/* Row 0 stands for "no wait". */
static void
load_wait(struct rows *rows, void *context)
{
	const struct waits_row *row = &rows->row.waits;
	struct loading *loading = context;
	const struct profile_wait wait = {
		.kind = wait_kind_of(row->kind),
		.timed = row->timed != 0,
		.most = (uint32_t)row->most,
		.object = (uint32_t)row->object,
	};

	map_add(loading, TABLE_WAITS,
		row->id == 0 ? 0 : profile_add_wait(loading->load->profile, &wait));
}

/* --- spans ------------------------------------------------------------------------------- */

struct recording_span
reader_span_of(const struct recording *recording, const struct spans_row *row)
{
	struct recording_span span = {
		.thread = (uint32_t)row->thread,
		.stack = (uint32_t)row->stack,
		.carrier = (uint32_t)row->carrier + 1, /* the column is -1 if there is no carrier */
		.syscall = reader_syscall(recording, (int32_t)row->syscall),
		.wait = (uint32_t)row->wait,
		.first_tick = (uint64_t)row->first_tick,
		.ticks = (uint64_t)row->ticks,
	};

	if (!run_state_parse(row->state, &span.state))
		span.state = RUN_UNKNOWN;
	if (!gil_parse(row->gil, &span.gil))
		span.gil = GIL_UNKNOWN;
	return span;
}

bool
reader_is_of_thread(const struct profile *profile, uint32_t *thread, uint32_t *carrier)
{
	if (*carrier != 0)
		*thread = *carrier - 1;
	*carrier = 0;
	return !profile_thread(profile, *thread)->is_green;
}

/*
 * Scales samples and weights of the entry, whose ticks are [first, first + ticks), to the selected
 * ticks (reader_share). Returns false if none of these ticks is selected, or if rows->bad is set,
 * as it is when the sum of all weights that were read exceeds SUM_MOST.
 */
static bool
take_weights(struct loading *loading, struct rows *rows, int64_t first, int64_t ticks,
	     struct profile_entry *entry)
{
	loading->total += fabs((double)entry->samples);
	for (int w = 0; w < WEIGHT_COUNT; w++)
		loading->total += fabs((double)entry->ns[w]);
	if (loading->total > SUM_MOST)
		rows->bad = true;
	return !rows->bad && (!loading->scales || reader_share(loading->recording, (uint64_t)first,
							       (uint64_t)ticks, entry));
}

static void
load_span(struct rows *rows, void *context)
{
	const struct spans_row *row = &rows->row.spans;
	struct loading *loading = context;
	struct profile *profile = loading->load->profile;
	const struct recording_span span = reader_span_of(loading->recording, row);
	struct profile_entry entry = {
		.thread = span.thread,
		.stack = span.stack,
		.carrier = span.carrier,
		.state = span.state,
		.syscall = span.syscall,
		.wait = span.wait,
		.gil = span.gil,
		.samples = row->samples,
		.ns = { row->wall_ns, row->overhead_ns, row->latency_ns },
	};

	if (!take_weights(loading, rows, row->first_tick, row->ticks, &entry))
		return;
	if (!loading->load->threads_only ||
	    reader_is_of_thread(profile, &entry.thread, &entry.carrier))
		profile_add(profile, &entry);
}

static void
load_blame(struct rows *rows, void *context)
{
	const struct blame_row *row = &rows->row.blame;
	struct loading *loading = context;
	struct profile_entry entry = {
		.state = RUN_RUNNING,
		.samples = row->samples,
		.ns[WEIGHT_WALL] = row->wall_ns,
	};
	struct profile_blame blame = {
		.wait = (uint32_t)row->wait,
		.thread = (uint32_t)row->thread,
		.stack = (uint32_t)row->stack,
	};

	if (!take_weights(loading, rows, row->first_tick, row->ticks, &entry))
		return;
	if (!run_state_parse(row->state, &blame.state))
		blame.state = RUN_UNKNOWN;
	blame.samples = entry.samples;
	blame.ns = entry.ns[WEIGHT_WALL];
	profile_add_blame(loading->load->profile, &blame);
}

static void
end_deadlock(struct loading *loading)
{
	struct deadlock *deadlock = &loading->deadlock;

	if (deadlock->ring > 0)
		profile_add_deadlock(loading->load->profile, deadlock->stuck, deadlock->count,
				     deadlock->ring);
	deadlock->count = deadlock->ring = 0;
}

/*
 * Adds a thread to a deadlock. Refuses the row unless deadlocks, and the threads in each, are
 * numbered from 0 without a gap, and the threads of the ring come first.
 */
static void
load_deadlock(struct rows *rows, void *context)
{
	const struct deadlocks_row *row = &rows->row.deadlocks;
	struct loading *loading = context;
	struct deadlock *deadlock = &loading->deadlock;

	if (row->deadlock == deadlock->number + 1) {
		end_deadlock(loading);
		deadlock->number++;
	}
	if (row->deadlock != deadlock->number || row->n != (int64_t)deadlock->count ||
	    (row->in_ring != 0 && deadlock->ring != deadlock->count)) {
		rows->bad = true;
		return;
	}
	deadlock->stuck = xgrow(deadlock->stuck, &deadlock->capacity, deadlock->count + 1,
				sizeof(*deadlock->stuck));
	deadlock->stuck[deadlock->count++] = (struct profile_stuck){
		.thread = (uint32_t)row->thread,
		.wait = (uint32_t)row->wait,
		.stack = (uint32_t)row->stack,
	};
	deadlock->ring += row->in_ring != 0;
}

/* --- the whole --------------------------------------------------------------------------- */

/* Adds the processes. Those of the same pid, start and name are the same process if their
 * recordings are of one host. */
static void
load_processes(struct loading *loading)
{
	const struct recording *recording = loading->recording;
	struct profile *profile = loading->load->profile;

	loading->recording->map[TABLE_PROCESSES].count = 0;
	for (size_t i = 0; i < recording->process_count; i++) {
		const struct recorded_process *process = &recording->process[i];
		const uint64_t name = hash_bytes(process->name, strlen(process->name));
		const uint64_t number = name ^ (process->start_time > 0 ? loading->host :
									  loading->load->number);
		const uint32_t id = profile_add_process(profile, (pid_t)process->pid,
							process->start_time ^
								number << START_TIME_BITS,
							process->name, process->cmdline);

		profile_set_parent(profile, id, (pid_t)process->parent);
		map_add(loading, TABLE_PROCESSES, id);
	}
}

/* Returns the number of the first recording of the same host. */
static uint32_t
first_of_host(struct recording *const *recording, const struct recording_load *load, size_t at)
{
	size_t first = 0;

	while (first < at && strcmp(recording[first]->info.host, recording[at]->info.host) != 0)
		first++;
	return load[first].number;
}

static int
load_one(struct recording *recording, struct recording_load *load, uint32_t host, struct error *err)
{
	/* A table comes after the tables that it refers to. */
	static const struct row_reader readers[] = {
		{ TABLE_MODULES, "modules", load_module },
		{ TABLE_FRAMES, "frames", load_frame },
		{ TABLE_STACKS, "stacks", load_stack },
		{ TABLE_THREADS, "threads", load_thread },
		{ TABLE_WAITS, "waits", load_wait },
		{ TABLE_SPANS, "samples", load_span },
		{ TABLE_BLAME, "table 'blame'", load_blame },
		{ TABLE_DEADLOCKS, "table 'deadlocks'", load_deadlock },
	};
	struct loading loading = {
		.recording = recording,
		.load = load,
		.host = host,
		.scales = load->selection != NULL || recording->joint != NULL,
	};
	int rc;

	recording->profile = load->profile;
	recording->threads_only = load->threads_only;
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++)
		recording->map[readers[i].table].count = 0;
	load_processes(&loading);
	rc = rows_read(recording, readers, ARRAY_SIZE(readers), &loading, err);
	if (rc == 0)
		end_deadlock(&loading);
	if (rc == 0 && load->names != NULL)
		rc = reader_load_names(recording, load->names, load->profile, err);
	free(loading.deadlock.stuck);
	free(recording->sums);
	recording->sums = NULL;
	return rc;
}

int
recordings_load(struct recording *const *recording, struct recording_load *load, size_t count,
		struct error *err)
{
	int rc = 0;

	reader_join(recording, load, count);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = load_one(recording[i], &load[i], first_of_host(recording, load, i), err);
	return rc == 0 ? reader_load_stats(recording, load, count, err) : rc;
}

int
recording_load(struct recording *recording, struct recording_load *load, struct error *err)
{
	return recordings_load(&recording, load, 1, err);
}
