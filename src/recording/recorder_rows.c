/* SPDX-License-Identifier: MIT */
/* recorder_rows.c - writes what was added to the profile since the last commit. */
#include <stdlib.h>

#include "recording/recorder_internal.h"
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
bind_column(sqlite3_stmt *put, int at, enum column_class class, const void *field)
{
	const struct recording_optional *optional = field;
	const int64_t *number = field;

	switch (class) {
	case CLASS_NUMBER:
		return sqlite3_bind_int64(put, at, *number);
	case CLASS_OPTIONAL:
		return optional->known ? sqlite3_bind_int64(put, at, optional->number) :
					 sqlite3_bind_null(put, at);
	case CLASS_REFERENCE:
		return sqlite3_bind_int64(put, at, *number != UINT32_MAX ? *number : -1);
	case CLASS_REFERENCE_OR_NULL:
		return *number != UINT32_MAX ? sqlite3_bind_int64(put, at, *number) :
					       sqlite3_bind_null(put, at);
	case CLASS_REAL:
		return sqlite3_bind_double(put, at, *(const double *)field);
	case CLASS_TEXT:
	case CLASS_TEXT_OR_NULL:
		return sqlite3_bind_text(put, at, *(const char *const *)field, -1, SQLITE_STATIC);
	case CLASS_VALUE:
		return bind_value(put, at, field);
	}
	return SQLITE_ERROR;
}

void
recorder_put(struct recorder *recorder, enum recording_table table, const void *row)
{
	const struct recording_table_info *info = &recording_tables[table];
	sqlite3_stmt *put = recorder->put[table];
	int rc = recorder->rc, reset;

	if (rc != SQLITE_OK)
		return;
	for (size_t i = 0; rc == SQLITE_OK && i < info->column_count; i++)
		rc = bind_column(put, (int)i + 1, column_types[info->column[i].type].class,
				 (const char *)row + info->column[i].offset);
	if (rc == SQLITE_OK && sqlite3_step(put) != SQLITE_DONE)
		rc = SQLITE_ERROR;
	/* sqlite3_reset returns the error of sqlite3_step. */
	reset = sqlite3_reset(put);
	recorder_keep_result(recorder, reset != SQLITE_OK ? reset : rc);
}

void
recorder_put_text(struct recorder *recorder, const char *key, const char *value)
{
	if (value != NULL)
		RECORDER_PUT(recorder, META, meta, .key = key,
			     .value = { .type = VALUE_TEXT, .text = value });
}

void
recorder_put_number(struct recorder *recorder, const char *key, uint64_t value)
{
	RECORDER_PUT(recorder, META, meta, .key = key, .value = { .number = (int64_t)value });
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

static void
put_module(struct recorder *recorder, uint32_t id)
{
	const struct module *module = modules_at(recorder->config.modules, id);
	const char *build_id = module->build_id;

	RECORDER_PUT(recorder, MODULES, modules, .id = id, .path = module->path,
		     .kind = kind_text(module->kind), .deleted = module->deleted,
		     .build_id = build_id[0] != '\0' ? build_id : NULL, .why = module->why);
}

static void
put_frame(struct recorder *recorder, uint32_t id)
{
	const struct profile *profile = recorder->profile;
	const struct profile_frame *frame = profile_frame(profile, id);
	const bool script = frame->origin == FRAME_SCRIPT, code = frame->module != MODULE_NONE;

	RECORDER_PUT(recorder, FRAMES, frames, .id = id, .module = frame->module,
		     .address = { code, (int64_t)frame->address }, .epoch = { code, frame->epoch },
		     .origin = frame_origin_text((enum frame_origin)frame->origin),
		     .name = code ? NULL : profile_text(profile, (uint32_t)frame->address),
		     .bytecode = code ? (int64_t)frame->bytecode : 0,
		     .bytecode_size = code ? frame->bytecode_size : 0,
		     .file = script ? profile_text(profile, frame->file) : NULL,
		     .line = { script, frame->line });
}

static void
put_stack(struct recorder *recorder, uint32_t id)
{
	const struct profile_stack *stack = profile_stack(recorder->profile, id);

	RECORDER_PUT(recorder, STACKS, stacks, .id = id, .frame = stack->frame,
		     .caller = stack->caller);
}

/* Writes new modules, new and renamed frames, and new stacks. */
static void
put_names(struct recorder *recorder)
{
	const struct profile *profile = recorder->profile;
	struct written *written = &recorder->written;

	while (written->modules < modules_count(recorder->config.modules))
		put_module(recorder, (uint32_t)written->modules++);
	while (written->frames < profile_frame_count(profile))
		put_frame(recorder, (uint32_t)written->frames++);
	while (written->renamed < profile_renamed_count(profile))
		put_frame(recorder, profile_renamed(profile, written->renamed++));
	while (written->stacks < profile_stack_count(profile))
		put_stack(recorder, (uint32_t)written->stacks++);
}

/* True if the last written row with this id did not have `value`, or if there is no such row. The
 * caller then writes the row: recorder->values has `value` from now on. */
static bool
is_news(struct recorder *recorder, enum recording_table table, size_t id, uint32_t value)
{
	bool added;
	uint32_t *last = table_insert(&recorder->values, table, id, value, &added);
	const bool differs = added || *last != value;

	*last = value;
	return differs;
}

/* Writes a process. The first one is also in table meta. */
static void
put_process(struct recorder *recorder, uint32_t id)
{
	const struct profile_process *process = profile_process(recorder->profile, id);
	const char *name = profile_text(recorder->profile, process->name);
	const char *cmdline = profile_text(recorder->profile, process->cmdline);

	RECORDER_PUT(recorder, PROCESSES, processes, .id = id, .pid = process->pid,
		     .start_time = (int64_t)process->start_time, .name = name, .cmdline = cmdline,
		     .parent = process->parent);
	if (id != PROCESS_FIRST)
		return;
	recorder_put_text(recorder, "comm", name);
	recorder_put_text(recorder, "cmdline", cmdline);
	recorder_put_number(recorder, "pid", (uint64_t)process->pid);
	recorder_put_number(recorder, "start_time", process->start_time);
}

/* Writes new processes, and those whose name or command line has changed. */
static void
put_processes(struct recorder *recorder)
{
	const struct profile *profile = recorder->profile;

	for (uint32_t i = 0; i < profile_process_count(profile); i++) {
		const struct profile_process *process = profile_process(profile, i);
		const bool renamed = is_news(recorder, TABLE_PROCESSES, 2 * i, process->name);

		if (is_news(recorder, TABLE_PROCESSES, 2 * i + 1, process->cmdline) || renamed)
			put_process(recorder, i);
	}
}

/* Writes new and renamed threads. Only a green task has values in the columns task and system. */
static void
put_threads(struct recorder *recorder)
{
	for (uint32_t i = 0; i < profile_thread_count(recorder->profile); i++) {
		const struct profile_thread *thread = profile_thread(recorder->profile, i);

		if (is_news(recorder, TABLE_THREADS, i, thread->name))
			RECORDER_PUT(recorder, THREADS, threads, .id = i, .tid = thread->tid,
				     .start_time = (int64_t)thread->start_time,
				     .name = profile_text(recorder->profile, thread->name),
				     .task = { thread->is_green, (int64_t)thread->green_id },
				     .system = { thread->is_green, thread->system },
				     .entry = thread->entry, .created_at = thread->created_at,
				     .creator = (int64_t)thread->creator,
				     .process = thread->process);
	}
}

/* Writes new waits, and waits whose `most` has changed. */
static void
put_waits(struct recorder *recorder)
{
	for (uint32_t i = 0; i < profile_wait_count(recorder->profile); i++) {
		const struct profile_wait *wait = profile_wait(recorder->profile, i);

		if (is_news(recorder, TABLE_WAITS, i, wait->most))
			RECORDER_PUT(recorder, WAITS, waits, .id = i,
				     .kind = wait_kind_text(wait->kind), .timed = wait->timed,
				     .object = wait->object, .most = wait->most);
	}
}

/* --- ticks and spans -------------------------------------------------------------------- */

static void
put_ticks(struct recorder *recorder)
{
	const struct spans *spans = &recorder->spans;
	const uint64_t first = spans->ticks - spans->tick_count;

	for (size_t i = 0; i < spans->tick_count; i++) {
		const struct recording_tick *tick = &spans->tick[i];

		RECORDER_PUT(recorder, TICKS, ticks, .n = (int64_t)(first + i),
			     .start_ns = (int64_t)tick->start_ns, .span_ns = (int64_t)tick->span_ns,
			     .parallelism = tick->parallelism, .runnable = tick->runnable,
			     .ready = tick->ready);
	}
}

/* Writes the name of the system call, because its number depends on the architecture. */
static void
put_syscall(struct recorder *recorder, int32_t number)
{
	if (number >= 0 && is_news(recorder, TABLE_SYSCALLS, (uint32_t)number, 0) &&
	    syscall_name(number) != NULL)
		RECORDER_PUT(recorder, SYSCALLS, syscalls, .number = number,
			     .name = syscall_name(number));
}

static void
put_span(struct recorder *recorder, const struct span *span)
{
	const struct profile_entry *sum = &span->sum;
	const char state[] = { run_state_letter(sum->state), '\0' };

	put_syscall(recorder, sum->syscall);
	RECORDER_PUT(recorder, SPANS, spans, .id = span->id, .thread = sum->thread,
		     .stack = sum->stack, .state = state, .syscall = sum->syscall,
		     .wait = sum->wait, .gil = sum->gil == GIL_UNKNOWN ? NULL : gil_word(sum->gil),
		     .first_tick = (int64_t)span->first, .ticks = (int64_t)span->ticks,
		     .samples = sum->samples, .wall_ns = sum->ns[WEIGHT_WALL],
		     .overhead_ns = sum->ns[WEIGHT_CPU], .latency_ns = sum->ns[WEIGHT_LATENCY],
		     .carrier = sum->carrier != 0 ? sum->carrier - 1 : UINT32_MAX,
		     .raw_ns = span->correction ? 0 : sum->ns[WEIGHT_WALL]);
}

static void
put_spans(struct recorder *recorder)
{
	const struct spans *spans = &recorder->spans;

	for (size_t i = 0; i < spans->closed_count; i++)
		put_span(recorder, &spans->closed[i]);
	for (size_t i = 0; i < spans->open_count; i++)
		if (spans->open[i].changed)
			put_span(recorder, &spans->open[i].span);
	for (size_t i = 0; i < spans->side_count; i++)
		if (spans->side[i].changed)
			put_span(recorder, &spans->side[i].span);
}

static void
put_blame(struct recorder *recorder)
{
	const struct spans *spans = &recorder->spans;

	for (size_t i = 0; i < spans->blame_count; i++) {
		const struct blame_span *row = &spans->blame[i];
		const char state[] = { run_state_letter(row->sum.state), '\0' };

		RECORDER_PUT(recorder, BLAME, blame, .id = (int64_t)(spans->blame_written + i),
			     .wait = row->sum.wait, .thread = row->sum.thread,
			     .stack = row->sum.stack, .state = state,
			     .first_tick = (int64_t)row->first,
			     .ticks = (int64_t)(row->end - row->first), .samples = row->sum.samples,
			     .wall_ns = row->sum.ns);
	}
}

/* Writes all deadlocks again: there are few, and their threads may have changed. */
static void
put_deadlocks(struct recorder *recorder)
{
	const size_t count = profile_deadlock_count(recorder->profile);

	if (count > 0)
		recorder_execute(recorder, "DELETE FROM deadlocks");
	for (size_t d = 0; d < count; d++) {
		const struct profile_deadlock *deadlock = profile_deadlock(recorder->profile, d);

		for (size_t i = 0; i < deadlock->count; i++)
			RECORDER_PUT(recorder, DEADLOCKS, deadlocks, .deadlock = (int64_t)d,
				     .n = (int64_t)i, .in_ring = i < deadlock->ring,
				     .thread = deadlock->stuck[i].thread,
				     .wait = deadlock->stuck[i].wait,
				     .stack = deadlock->stuck[i].stack);
	}
}

/* --- cost and losses ------------------------------------------------------------------------ */

/* Writes the statistics that have changed since the last commit; before the first commit, all of
 * table cost. */
static void
put_stats(struct recorder *recorder, const struct run_stats *stats)
{
	const struct run_stats *old = &recorder->stats; /* all zero before the first commit */

	for (size_t i = 0; i < LOSS_KINDS; i++)
		for (const struct field *f = loss_kinds[i].fields; f->name != NULL; f++)
			if (field_differs(f, stats, old))
				RECORDER_PUT(recorder, LOSSES, losses, .kind = loss_kinds[i].kind,
					     .reason = f->name,
					     .count = field_get(f, stats).number);
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		if (stats->stop_ns.bucket[i] != old->stop_ns.bucket[i])
			RECORDER_PUT(recorder, STOPS, stops, .bucket = (int64_t)i,
				     .count = (int64_t)stats->stop_ns.bucket[i]);
	for (const struct field *f = run_fields; f->name != NULL; f++)
		if (!recorder->stats_written || field_differs(f, stats, old))
			RECORDER_PUT(recorder, COST, cost, .name = f->name,
				     .value = field_get(f, stats));
}

/* --- commit --------------------------------------------------------------------------------- */

void
recorder_put_news(struct recorder *recorder, const struct run_stats *stats)
{
	put_names(recorder);
	put_processes(recorder);
	put_threads(recorder);
	put_waits(recorder);
	put_ticks(recorder);
	put_spans(recorder);
	put_blame(recorder);
	put_deadlocks(recorder);
	put_stats(recorder, stats);
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

static void
put_frame_names(struct recorder *recorder, struct symbols *symbols, uint32_t id)
{
	const struct profile_frame *frame = profile_frame(recorder->profile, id);
	const struct symbol_place place = place_of(frame);
	struct symbol symbol[SYMBOL_CHAIN_MAX];
	size_t count = 0;

	if (frame->module != MODULE_NONE)
		count = symbols_find(symbols, &place, symbol, SYMBOL_CHAIN_MAX);
	/* Without a name, the text is the start of the function. A reader without the file could
	 * not find it. */
	for (size_t i = 0; i < count; i++)
		RECORDER_PUT(recorder, SYMBOLS, symbols, .frame = id, .depth = (int64_t)i,
			     .function = symbol[i].function, .file = symbol[i].file,
			     .line = symbol[i].line, .inlined = symbol[i].inlined,
			     .source = symbol_source_text(symbol[i].source));
}

void
recorder_put_frame_names(struct recorder *recorder, struct symbols *symbols)
{
	const size_t count = profile_frame_count(recorder->profile);
	uint32_t *order = profile_frames_by_address(recorder->profile);
	struct symbol_place *place = xcalloc(count + 1, sizeof(*place));
	size_t places = 0;

	for (size_t i = 0; i < count; i++) {
		const struct profile_frame *frame = profile_frame(recorder->profile, order[i]);

		if (frame->module != MODULE_NONE)
			place[places++] = place_of(frame);
	}
	symbols_prepare(symbols, place, places);
	free(place);
	for (size_t i = 0; recorder->rc == SQLITE_OK && i < count; i++)
		put_frame_names(recorder, symbols, order[i]);
	free(order);
}
