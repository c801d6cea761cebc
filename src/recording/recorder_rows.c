/* SPDX-License-Identifier: MIT */
/* recorder_rows.c - writes what is new in the profile. */
#include <stdlib.h>

#include "recording/recording_internal.h"
#include "recording/recorder_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/unwind/chain.h"

static int
bind_value(sqlite3_stmt *put, int at, const struct recording_value *value)
{
	switch (value->type) {
	case VALUE_INT:
		return sqlite3_bind_int64(put, at, value->number);
	case VALUE_REAL:
		return sqlite3_bind_double(put, at, value->real);
	case VALUE_TEXT:
		return sqlite3_bind_text(put, at, value->text, -1, SQLITE_STATIC);
	}
	return SQLITE_ERROR;
}

static int
bind_column(sqlite3_stmt *put, int at, enum column_type type, const void *field)
{
	const int64_t *optional;

	switch (type) {
	case COLUMN_KEY:
	case COLUMN_INT:
		return sqlite3_bind_int64(put, at, *(const int64_t *)field);
	case COLUMN_OPT_INT:
		optional = *(const int64_t *const *)field;
		return optional != NULL ? sqlite3_bind_int64(put, at, *optional) :
					  sqlite3_bind_null(put, at);
	case COLUMN_REAL:
		return sqlite3_bind_double(put, at, *(const double *)field);
	case COLUMN_TEXT:
	case COLUMN_TEXT_KEY:
		return sqlite3_bind_text(put, at, *(const char *const *)field, -1, SQLITE_STATIC);
	case COLUMN_ANY:
		return bind_value(put, at, field);
	}
	return SQLITE_ERROR;
}

int
recorder_put(struct recorder *recorder, enum recording_table table, const void *row)
{
	const struct recording_table_info *info = &recording_tables[table];
	sqlite3_stmt *put = recorder->put[table];
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < info->column_count; i++)
		rc = bind_column(put, (int)i + 1, info->column[i].type,
				 (const char *)row + info->column[i].offset);
	if (rc == SQLITE_OK && sqlite3_step(put) == SQLITE_DONE)
		return sqlite3_reset(put);
	rc = sqlite3_reset(put);
	return rc != SQLITE_OK ? rc : SQLITE_ERROR;
}

/* --- modules, frames, stacks, threads, waits ------------------------------------------- */

static const char *
kind_text(enum module_kind kind)
{
	static const char *const texts[] = {
#define X(name, text) [MODULE_##name] = text,
		MODULE_KINDS(X)
#undef X
	};

	return texts[kind];
}

static int
put_modules(struct recorder *recorder)
{
	int rc = SQLITE_OK;

	for (size_t i = recorder->written.modules;
	     rc == SQLITE_OK && i < modules_count(recorder->config.modules); i++) {
		const struct module *module = modules_at(recorder->config.modules, (uint32_t)i);
		const char *id = module->build_id;

		rc = RECORDER_PUT(recorder, MODULES, modules, .id = (int64_t)i,
				  .path = module->path, .kind = kind_text(module->kind),
				  .deleted = module->deleted, .build_id = id[0] != '\0' ? id : NULL,
				  .why = module->why);
	}
	return rc;
}

static int
put_frame(struct recorder *recorder, uint32_t id)
{
	const struct profile *profile = recorder->profile;
	const struct profile_frame *frame = profile_frame(profile, id);
	const char *origin = frame_origin_text((enum frame_origin)frame->origin);
	const int64_t module = frame->module, address = (int64_t)frame->address;
	const int64_t epoch = frame->epoch, line = frame->line;
	struct frames_row row = { .id = id, .origin = origin };

	if (frame->module != MODULE_NONE) {
		row.module = &module;
		row.address = &address;
		row.epoch = &epoch;
		row.bytecode = (int64_t)frame->bytecode;
		row.bytecode_size = frame->bytecode_size;
	} else {
		row.name = profile_text(profile, (uint32_t)frame->address);
	}
	if (frame->origin == FRAME_SCRIPT) {
		row.file = profile_text(profile, frame->file);
		row.line = &line;
	}
	return recorder_put(recorder, TABLE_FRAMES, &row);
}

/* The number of a frame or stack in a row; -1: none. */
static int64_t
number_or_none(uint32_t id)
{
	_Static_assert(FRAME_NONE == UINT32_MAX && STACK_NONE == UINT32_MAX, "one sentinel");
	return id == UINT32_MAX ? -1 : (int64_t)id;
}

/* Only a task has values in the columns task and system. */
static int
put_thread(struct recorder *recorder, int64_t id, const struct profile_thread *thread)
{
	const int64_t task = (int64_t)thread->task_id, system = thread->system;

	return RECORDER_PUT(recorder, THREADS, threads, .id = id, .tid = thread->tid,
			    .start_time = (int64_t)thread->start_time,
			    .name = profile_text(recorder->profile, thread->name),
			    .task = thread->is_task ? &task : NULL,
			    .system = thread->is_task ? &system : NULL,
			    .entry = number_or_none(thread->entry),
			    .created_at = number_or_none(thread->created_at),
			    .creator = (int64_t)thread->creator);
}

/* Writes new and renamed frames. */
static int
put_frames(struct recorder *recorder)
{
	const struct profile *profile = recorder->profile;
	int rc = SQLITE_OK;

	for (size_t i = recorder->written.frames;
	     rc == SQLITE_OK && i < profile_frame_count(profile); i++)
		rc = put_frame(recorder, (uint32_t)i);
	for (size_t i = recorder->written.renamed;
	     rc == SQLITE_OK && i < profile_renamed_count(profile); i++)
		rc = put_frame(recorder, profile_renamed(profile, i));
	return rc;
}

static int
put_stacks(struct recorder *recorder)
{
	const struct profile *profile = recorder->profile;
	int rc = SQLITE_OK;

	for (size_t i = recorder->written.stacks;
	     rc == SQLITE_OK && i < profile_stack_count(profile); i++) {
		const struct profile_stack *stack = profile_stack(profile, (uint32_t)i);
		const int64_t caller = stack->caller;

		rc = RECORDER_PUT(recorder, STACKS, stacks, .id = (int64_t)i, .frame = stack->frame,
				  .caller = stack->caller != STACK_NONE ? &caller : NULL);
	}
	return rc;
}

/* Writes new and renamed threads. */
static int
put_threads(struct recorder *recorder)
{
	const struct profile *profile = recorder->profile;
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < profile_thread_count(profile); i++) {
		const struct profile_thread *thread = profile_thread(profile, (uint32_t)i);

		if (i < recorder->written.threads && recorder->written.names[i] == thread->name)
			continue;
		rc = put_thread(recorder, (int64_t)i, thread);
	}
	return rc;
}

/* Writes new waits, and those with a higher `most`. */
static int
put_waits(struct recorder *recorder)
{
	const struct profile *profile = recorder->profile;
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < profile_wait_count(profile); i++) {
		const struct profile_wait *wait = profile_wait(profile, (uint32_t)i);

		if (i < recorder->written.waits && recorder->written.most[i] == wait->most)
			continue;
		rc = RECORDER_PUT(recorder, WAITS, waits, .id = (int64_t)i,
				  .kind = wait_kind_text(wait->kind), .timed = wait->timed,
				  .object = number_or_none(wait->object), .most = wait->most);
	}
	return rc;
}

/* --- ticks and spans -------------------------------------------------------------------- */

static int
put_ticks(struct recorder *recorder)
{
	const struct spans *spans = &recorder->spans;
	const uint64_t first = spans->ticks - spans->tick_count;
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < spans->tick_count; i++) {
		const struct tick_row *tick = &spans->tick[i];

		rc = RECORDER_PUT(recorder, TICKS, ticks, .n = (int64_t)(first + i),
				  .start_ns = (int64_t)tick->start_ns,
				  .span_ns = (int64_t)tick->span_ns,
				  .parallelism = tick->parallelism, .runnable = tick->runnable,
				  .ready = tick->ready);
	}
	return rc;
}

/* Stores the name of the call, because numbers depend on the architecture. */
static int
put_syscall(struct recorder *recorder, int32_t number)
{
	bool added;

	if (number < 0)
		return SQLITE_OK;
	table_insert(&recorder->written.syscalls, (uint32_t)number, 0, 0, &added);
	if (!added || syscall_name(number) == NULL)
		return SQLITE_OK;
	return RECORDER_PUT(recorder, SYSCALLS, syscalls, .number = number,
			    .name = syscall_name(number));
}

static int
put_span(struct recorder *recorder, const struct span *span)
{
	const struct profile_entry *sum = &span->sum;
	const char state[] = { run_state_letter(sum->state), '\0' };
	const int rc = put_syscall(recorder, sum->syscall);

	if (rc != SQLITE_OK)
		return rc;
	return RECORDER_PUT(recorder, SPANS, spans, .id = span->id, .thread = sum->thread,
			    .stack = number_or_none(sum->stack), .state = state,
			    .syscall = sum->syscall, .wait = sum->wait,
			    .gil = sum->gil == GIL_UNKNOWN ? NULL : gil_word(sum->gil),
			    .first_tick = (int64_t)span->first, .ticks = (int64_t)span->ticks,
			    .samples = sum->samples, .wall_ns = sum->ns[WEIGHT_WALL],
			    .overhead_ns = sum->ns[WEIGHT_OVERHEAD],
			    .latency_ns = sum->ns[WEIGHT_LATENCY],
			    .carrier = (int64_t)sum->carrier - 1);
}

static int
put_spans(struct recorder *recorder)
{
	const struct spans *spans = &recorder->spans;
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < spans->closed_count; i++)
		rc = put_span(recorder, &spans->closed[i]);
	for (size_t i = 0; rc == SQLITE_OK && i < spans->open_count; i++)
		if (spans->open[i].changed)
			rc = put_span(recorder, &spans->open[i].span);
	for (size_t i = 0; rc == SQLITE_OK && i < spans->side_count; i++)
		if (spans->side[i].changed)
			rc = put_span(recorder, &spans->side[i].span);
	return rc;
}

static int
put_blame(struct recorder *recorder)
{
	const struct spans *spans = &recorder->spans;
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < spans->blame_count; i++) {
		const struct blame_span *row = &spans->blame[i];
		const char state[] = { run_state_letter(row->sum.state), '\0' };

		rc = RECORDER_PUT(recorder, BLAME, blame, .id = (int64_t)(spans->blame_written + i),
				  .wait = row->sum.wait, .thread = row->sum.thread,
				  .stack = number_or_none(row->sum.stack), .state = state,
				  .first_tick = (int64_t)row->first,
				  .ticks = (int64_t)(row->end - row->first),
				  .samples = row->sum.samples, .wall_ns = row->sum.ns);
	}
	return rc;
}

/* Writes all deadlocks again: there are few, and their threads may have changed. */
static int
put_deadlocks(struct recorder *recorder)
{
	const struct profile *profile = recorder->profile;
	int rc = SQLITE_OK;

	if (profile_deadlock_count(profile) > 0)
		rc = sqlite3_exec(recorder->db, "DELETE FROM deadlocks", NULL, NULL, NULL);
	for (size_t d = 0; rc == SQLITE_OK && d < profile_deadlock_count(profile); d++) {
		const struct profile_deadlock *deadlock = profile_deadlock(profile, d);

		for (size_t i = 0; rc == SQLITE_OK && i < deadlock->count; i++) {
			const struct profile_stuck *stuck = &deadlock->stuck[i];

			rc = RECORDER_PUT(recorder, DEADLOCKS, deadlocks, .deadlock = (int64_t)d,
					  .n = (int64_t)i, .in_ring = i < deadlock->ring,
					  .thread = stuck->thread, .wait = stuck->wait,
					  .stack = stuck->stack);
		}
	}
	return rc;
}

/* --- cost and losses ------------------------------------------------------------------------ */

/* Writes the counts that differ from what was written before. */
static int
put_losses(struct recorder *recorder, const char *kind, const char *(*word)(size_t reason),
	   const uint64_t *now, const uint64_t *before)
{
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && word(i) != NULL; i++)
		if (now[i] != before[i])
			rc = RECORDER_PUT(recorder, LOSSES, losses, .kind = kind, .reason = word(i),
					  .count = (int64_t)now[i]);
	return rc;
}

static int
put_stats(struct recorder *recorder, const struct run_stats *stats)
{
	const struct run_stats *old = &recorder->stats; /* zeroed before the first commit */
	int rc = put_losses(recorder, "failed", loss_failure_word, stats->failed, old->failed);

	if (rc == SQLITE_OK)
		rc = put_losses(recorder, "chain", loss_chain_word, stats->chains, old->chains);
	for (size_t i = 0; rc == SQLITE_OK && i < HISTOGRAM_BUCKETS; i++)
		if (stats->stop_ns.bucket[i] != old->stop_ns.bucket[i])
			rc = RECORDER_PUT(recorder, STOPS, stops, .bucket = (int64_t)i,
					  .count = (int64_t)stats->stop_ns.bucket[i]);
	for (const struct field *f = run_fields; rc == SQLITE_OK && f->name != NULL; f++) {
		const struct recording_value value = field_get(f, stats);

		if (!recorder->stats_written || field_differs(f, stats, old))
			rc = RECORDER_PUT(recorder, COST, cost, .name = f->name, .value = value);
	}
	return rc;
}

/* --- commit --------------------------------------------------------------------------------- */

int
recorder_put_news(struct recorder *recorder, const struct run_stats *stats)
{
	static int (*const parts[])(struct recorder *) = { put_modules, put_frames, put_stacks,
							   put_threads, put_waits,  put_ticks,
							   put_spans,   put_blame,  put_deadlocks };
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < ARRAY_SIZE(parts); i++)
		rc = parts[i](recorder);
	return rc == SQLITE_OK ? put_stats(recorder, stats) : rc;
}

void
recorder_mark_written(struct recorder *recorder, const struct run_stats *stats)
{
	struct written *written = &recorder->written;
	const struct profile *profile = recorder->profile;

	written->modules = modules_count(recorder->config.modules);
	written->frames = profile_frame_count(profile);
	written->renamed = profile_renamed_count(profile);
	written->stacks = profile_stack_count(profile);
	written->threads = profile_thread_count(profile);
	written->names = xgrow(written->names, &written->name_capacity, written->threads + 1,
			       sizeof(*written->names));
	for (size_t i = 0; i < written->threads; i++)
		written->names[i] = profile_thread(profile, (uint32_t)i)->name;
	written->waits = profile_wait_count(profile);
	written->most = xgrow(written->most, &written->most_capacity, written->waits,
			      sizeof(*written->most));
	for (size_t i = 0; i < written->waits; i++)
		written->most[i] = profile_wait(profile, (uint32_t)i)->most;
	recorder->stats = *stats;
	recorder->stats_written = true;
	spans_written(&recorder->spans);
}

/* --- names ------------------------------------------------------------------------------------ */

static struct symbol_place
place_of(const struct profile_frame *frame)
{
	return (struct symbol_place){
		.module = frame->module,
		.data = frame->origin == FRAME_DATA,
		.epoch = frame->epoch,
		.vaddr = frame->address,
		.bytecode = { .object = frame->bytecode, .size = frame->bytecode_size },
	};
}

/* Orders frames by address, so that files are read from front to back. */
static int
compare_frames(const void *left, const void *right, void *context)
{
	const struct profile_frame *a = profile_frame(context, *(const uint32_t *)left);
	const struct profile_frame *b = profile_frame(context, *(const uint32_t *)right);
	const struct symbol_place from = place_of(a), to = place_of(b);

	return symbol_place_compare(&from, &to);
}

static int
put_frame_names(struct recorder *recorder, struct symbols *symbols, uint32_t id)
{
	const struct profile_frame *frame = profile_frame(recorder->profile, id);
	const struct symbol_place place = place_of(frame);
	struct symbol symbol[SYMBOL_CHAIN_MAX];
	size_t count = 0;
	int rc = SQLITE_OK;

	if (frame->module != MODULE_NONE)
		count = symbols_find(symbols, &place, symbol, SYMBOL_CHAIN_MAX);
	for (size_t i = 0; rc == SQLITE_OK && i < count; i++)
		/* An address is not stored as a name: a reader may have the files to resolve it. */
		if (symbol[i].known)
			rc = RECORDER_PUT(recorder, SYMBOLS, symbols, .frame = id,
					  .depth = (int64_t)i, .function = symbol[i].function,
					  .file = symbol[i].file, .line = symbol[i].line,
					  .inlined = symbol[i].inlined,
					  .source = symbol_source_text(symbol[i].source));
	return rc;
}

int
recorder_put_names(struct recorder *recorder, struct symbols *symbols)
{
	const size_t count = profile_frame_count(recorder->profile);
	uint32_t *order = xcalloc(count + 1, sizeof(*order));
	int rc = SQLITE_OK;

	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	if (count > 1)
		qsort_r(order, count, sizeof(*order), compare_frames, recorder->profile);
	for (size_t i = 0; rc == SQLITE_OK && i < count; i++)
		rc = put_frame_names(recorder, symbols, order[i]);
	free(order);
	return rc;
}
