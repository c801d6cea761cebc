/* SPDX-License-Identifier: MIT */
/* recorder_rows.c - what is new in the profile, as rows of the recording's tables. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "recording/numbers_internal.h"
#include "recording/recorder_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/unwind/chain.h"

int
recorder_put(struct recorder *recorder, enum recording_table table, const char *types, ...)
{
	sqlite3_stmt *put = recorder->put[table];
	va_list values;
	int rc = SQLITE_OK;

	va_start(values, types);
	for (int i = 0; rc == SQLITE_OK && types[i] != '\0'; i++) {
		if (types[i] == 'i')
			rc = sqlite3_bind_int64(put, i + 1, va_arg(values, int64_t));
		else if (types[i] == 'd')
			rc = sqlite3_bind_double(put, i + 1, va_arg(values, double));
		else
			rc = sqlite3_bind_text(put, i + 1, va_arg(values, const char *), -1,
					       SQLITE_STATIC);
	}
	va_end(values);
	if (rc == SQLITE_OK && sqlite3_step(put) == SQLITE_DONE)
		return sqlite3_reset(put);
	rc = sqlite3_reset(put);
	return rc != SQLITE_OK ? rc : SQLITE_ERROR;
}

/* --- what there is one of each --------------------------------------------------------- */

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

		rc = recorder_put(recorder, TABLE_MODULES, "ississ", (int64_t)i, module->path,
				  kind_text(module->kind), (int64_t)module->deleted,
				  id[0] != '\0' ? id : NULL, module->why);
	}
	return rc;
}

static int
put_frame(struct recorder *recorder, uint32_t id)
{
	const struct profile *profile = recorder->profile;
	const struct profile_frame *frame = profile_frame(profile, id);
	const char *origin = frame_origin_text((enum frame_origin)frame->origin);

	if (frame->origin == FRAME_SCRIPT)
		return recorder_put(recorder, TABLE_FRAMES, "isssssiisi", (int64_t)id, NULL, NULL,
				    NULL, origin,
				    profile_text(profile, (uint32_t)frame->address), (int64_t)0,
				    (int64_t)0, profile_text(profile, frame->file),
				    (int64_t)frame->line);
	if (frame->module == MODULE_NONE)
		return recorder_put(recorder, TABLE_FRAMES, "isssssiiss", (int64_t)id, NULL, NULL,
				    NULL, origin,
				    profile_text(profile, (uint32_t)frame->address), (int64_t)0,
				    (int64_t)0, NULL, NULL);
	return recorder_put(recorder, TABLE_FRAMES, "iiiissiiss", (int64_t)id,
			    (int64_t)frame->module, (int64_t)frame->address,
			    (int64_t)frame->epoch, origin, NULL, (int64_t)frame->bytecode,
			    (int64_t)frame->bytecode_size, NULL, NULL);
}

/* A thread that is no task has no number of one; no frame is one that there is not. */
static int
put_thread(struct recorder *recorder, int64_t id, const struct profile_thread *thread)
{
	const char *name = profile_text(recorder->profile, thread->name);

	if (!thread->is_task)
		return recorder_put(recorder, TABLE_THREADS, "iiisssiii", id, (int64_t)thread->tid,
				    (int64_t)thread->start_time, name, NULL, NULL, (int64_t)-1,
				    (int64_t)-1, (int64_t)0);
	return recorder_put(recorder, TABLE_THREADS, "iiisiiiii", id, (int64_t)thread->tid,
			    (int64_t)thread->start_time, name, (int64_t)thread->task_id,
			    (int64_t)thread->system,
			    thread->entry == FRAME_NONE ? (int64_t)-1 : (int64_t)thread->entry,
			    thread->created_at == FRAME_NONE ? (int64_t)-1 :
							       (int64_t)thread->created_at,
			    (int64_t)thread->creator);
}

/* New ones, and those with another name. */
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

		if (stack->caller == STACK_NONE)
			rc = recorder_put(recorder, TABLE_STACKS, "iis", (int64_t)i,
					  (int64_t)stack->frame, NULL);
		else
			rc = recorder_put(recorder, TABLE_STACKS, "iii", (int64_t)i,
					  (int64_t)stack->frame, (int64_t)stack->caller);
	}
	return rc;
}

/* New ones, and those with another name. */
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

/* New ones, and those that more waited for. */
static int
put_waits(struct recorder *recorder)
{
	const struct profile *profile = recorder->profile;
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < profile_wait_count(profile); i++) {
		const struct profile_wait *wait = profile_wait(profile, (uint32_t)i);

		if (i < recorder->written.waits && recorder->written.most[i] == wait->most)
			continue;
		/* One without an object is as good as one of a frame that there is not. */
		rc = recorder_put(recorder, TABLE_WAITS, "isiii", (int64_t)i,
				  wait_kind_text(wait->kind), (int64_t)wait->timed,
				  wait->object == FRAME_NONE ? (int64_t)-1 : (int64_t)wait->object,
				  (int64_t)wait->most);
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

		rc = recorder_put(recorder, TABLE_TICKS, "iiiiii", (int64_t)(first + i),
				  (int64_t)tick->start_ns, (int64_t)tick->span_ns,
				  (int64_t)tick->parallelism, (int64_t)tick->runnable,
				  (int64_t)tick->ready);
	}
	return rc;
}

/* Their numbers differ from one architecture to the next. */
static int
put_syscall(struct recorder *recorder, int32_t number)
{
	bool added;

	if (number < 0)
		return SQLITE_OK;
	table_place(&recorder->written.syscalls, (uint32_t)number, 0, 0, &added);
	if (!added || syscall_name(number) == NULL)
		return SQLITE_OK;
	return recorder_put(recorder, TABLE_SYSCALLS, "is", (int64_t)number, syscall_name(number));
}

static int
put_span(struct recorder *recorder, const struct span *span)
{
	const struct profile_entry *sum = &span->sum;
	const char state[] = { run_state_letter(sum->state), '\0' };
	const int rc = put_syscall(recorder, sum->syscall);

	if (rc != SQLITE_OK)
		return rc;
	/* A span without a stack is as good as one of a stack that there is not. */
	return recorder_put(recorder, TABLE_SPANS, "iiisiisiiiiiii", span->id, (int64_t)sum->thread,
			    sum->stack == STACK_NONE ? (int64_t)-1 : (int64_t)sum->stack, state,
			    (int64_t)sum->syscall, (int64_t)sum->wait,
			    sum->gil == GIL_UNKNOWN ? NULL : gil_word(sum->gil),
			    (int64_t)span->first, (int64_t)span->ticks, sum->samples,
			    sum->ns[WEIGHT_WALL], sum->ns[WEIGHT_OVERHEAD],
			    sum->ns[WEIGHT_LATENCY], (int64_t)sum->carrier - 1);
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
		const struct blame_row *row = &spans->blame[i];
		const char state[] = { run_state_letter(row->sum.state), '\0' };

		rc = recorder_put(recorder, TABLE_BLAME, "iiiisiiii",
				  (int64_t)(spans->blame_written + i), (int64_t)row->sum.wait,
				  (int64_t)row->sum.thread,
				  row->sum.stack == STACK_NONE ? (int64_t)-1 :
								 (int64_t)row->sum.stack,
				  state, (int64_t)row->first, (int64_t)(row->end - row->first),
				  row->sum.samples, row->sum.ns);
	}
	return rc;
}

/* There are few, and those behind them may have become more, or fewer. */
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

			rc = recorder_put(recorder, TABLE_DEADLOCKS, "iiiiii", (int64_t)d,
					  (int64_t)i, (int64_t)(i < deadlock->ring),
					  (int64_t)stuck->thread, (int64_t)stuck->wait,
					  (int64_t)stuck->stack);
		}
	}
	return rc;
}

/* --- cost and losses ------------------------------------------------------------------------ */

static int
put_losses(struct recorder *recorder, const struct run_stats *stats)
{
	const struct run_stats *old = &recorder->stats;
	const bool all = !recorder->stats_written;
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < FAILURE_COUNT; i++)
		if (stats->failed[i] != (all ? 0 : old->failed[i]))
			rc = recorder_put(recorder, TABLE_LOSSES, "ssi", "failed",
					  loss_failure_word(i), (int64_t)stats->failed[i]);
	for (size_t i = 0; rc == SQLITE_OK && i < CHAIN_END_COUNT; i++)
		if (stats->chains[i] != (all ? 0 : old->chains[i]))
			rc = recorder_put(recorder, TABLE_LOSSES, "ssi", "chain",
					  loss_chain_word(i), (int64_t)stats->chains[i]);
	for (size_t i = 0; rc == SQLITE_OK && i < HISTOGRAM_BUCKETS; i++)
		if (stats->stop_ns.bucket[i] != (all ? 0 : old->stop_ns.bucket[i]))
			rc = recorder_put(recorder, TABLE_STOPS, "ii", (int64_t)i,
					  (int64_t)stats->stop_ns.bucket[i]);
	return rc;
}

static int
put_stats(struct recorder *recorder, const struct run_stats *stats)
{
	int rc = put_losses(recorder, stats);

	for (const struct number *n = recording_numbers; rc == SQLITE_OK && n->name != NULL; n++) {
		const double value = number_get(n, stats);

		if (recorder->stats_written && value == number_get(n, &recorder->stats))
			continue;
		if (n->type == NUMBER_DOUBLE)
			rc = recorder_put(recorder, TABLE_COST, "sd", n->name, value);
		else
			rc = recorder_put(recorder, TABLE_COST, "si", n->name, (int64_t)value);
	}
	return rc;
}

/* --- the whole ------------------------------------------------------------------------------ */

int
recorder_put_news(struct recorder *recorder, const struct run_stats *stats)
{
	static int (*const parts[])(struct recorder *) = {
		put_modules, put_frames, put_stacks, put_threads,
		put_waits,   put_ticks,  put_spans,  put_blame,   put_deadlocks,
	};
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

/* By frame, in the order of addresses: files are read from front to back. */
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
		/* An address is no name: another machine may have the files to tell. */
		if (symbol[i].known)
			rc = recorder_put(recorder, TABLE_SYMBOLS, "iissiis", (int64_t)id,
					  (int64_t)i, symbol[i].function, symbol[i].file,
					  (int64_t)symbol[i].line, (int64_t)symbol[i].inlined,
					  symbol_source_text(symbol[i].source));
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
