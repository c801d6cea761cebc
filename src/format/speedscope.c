/* SPDX-License-Identifier: MIT */
/*
 * speedscope.c - writes the file format of speedscope, see wallsample-formats(5): one profile of
 * all threads, and a timeline of each thread.
 *
 * The viewer places samples one after the other from 0 on and ignores the start of a profile. So a
 * timeline has a sample without frames for each period without data, including the period before
 * its first sample: all threads are on one axis.
 *
 * The schema is https://www.speedscope.app/file-format-schema.json. The members of a JSON object
 * may come in any order: the list of frames comes last, because only then it is known which frames
 * are used.
 */
#include <stdlib.h>

#include "wallsample/report/json_stream.h"
#include "wallsample/report/report.h"
#include "wallsample/report/timeline.h"
#include "wallsample/base/base.h"
#include "wallsample/base/table.h"
#include "wallsample/analysis/tree.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"
#define STACKLESS UINT32_MAX /* the function of a frame "[no stack]", for samples without a stack */

/* A frame of the format. The members have the same meaning as in struct tree_node. */
struct scope_frame {
	enum tree_kind kind;
	uint32_t function;
	int32_t syscall;
};

/* The profile that is being written. */
struct scope_profile {
	bool open;
	size_t recording;
	uint32_t thread;
	uint64_t written_ns; /* the end of the last written sample */
	bool pending;        /* `last` is not written yet: the next slice may extend it */
	struct timeline_slice last;
	/* weights of the written samples, written after the samples as a list of their own */
	uint64_t *weight;
	size_t count, capacity;
};

struct scope {
	const struct export_input *input;
	const struct view *view;
	struct json_stream json;
	struct table known; /* (function and system call, kind) -> index in `frame` */
	struct scope_frame *frame;
	size_t frame_count, frame_capacity;
	uint64_t begin_ns, end_ns; /* range of the time axis */
	struct scope_profile profile;
	struct strbuf scratch;
};

/* --- frames ----------------------------------------------------------------------------- */

static json_t *
frame_number(struct scope *scope, enum tree_kind kind, uint32_t function, int32_t syscall)
{
	const struct scope_frame frame = { kind, function, syscall };
	const uint64_t which = (uint64_t)(uint32_t)syscall << 32 | function;
	bool added;
	const uint32_t at = *table_insert(&scope->known, which, kind, (uint32_t)scope->frame_count,
					  &added);

	if (added) {
		scope->frame = xgrow(scope->frame, &scope->frame_capacity, scope->frame_count + 1,
				     sizeof(*scope->frame));
		scope->frame[scope->frame_count++] = frame;
	}
	return json_integer(at);
}

static json_t *
function_number(struct scope *scope, uint32_t function)
{
	return frame_number(scope, TREE_FUNCTION, function, (int32_t)SYSCALL_NONE);
}

/* Returns the text in scope->scratch as JSON, and clears scope->scratch. */
static json_t *
scratch_text(struct scope *scope)
{
	json_t *text = json_stream_text(&scope->json, scope->scratch.data);

	strbuf_clear(&scope->scratch);
	return text;
}

/*
 * Adds the member "file" of a frame: the source file, or the module if the file is not known or the
 * view is by module or source file. The viewer shows this text beside the name, and frames with the
 * same text have the same colour. In a view by line, adds the member "line", too.
 */
static void
add_file(struct scope *scope, json_t *object, const struct view_function *function)
{
	const enum view_key key = view_key(scope->view);
	const char *file = key != VIEW_BY_MODULE && key != VIEW_BY_SOURCE ? function->file : NULL;

	if (file == NULL)
		file = function->module;
	if (file[0] != '\0')
		json_object_set_new(object, "file", json_stream_text(&scope->json, file));
	/* In a view by function, function->line is the line of an arbitrary sample. */
	if (key == VIEW_BY_LINE && function->file != NULL && function->line > 0)
		json_object_set_new(object, "line", json_stream_number(function->line));
}

static void
write_frame(struct scope *scope, const struct scope_frame *frame)
{
	json_t *object = json_object();

	const bool is_function = frame->kind == TREE_FUNCTION && frame->function != STACKLESS;
	const struct tree_node node = { .kind = frame->kind,
					.function = frame->function,
					.syscall = frame->syscall };

	if (is_function)
		add_file(scope, object, view_function(scope->view, frame->function));
	if (is_function || frame->kind != TREE_FUNCTION)
		tree_add_name(scope->view, &node, &scope->scratch);
	else
		strbuf_add_text(&scope->scratch, "[no stack]");
	json_object_set_new(object, "name", scratch_text(scope));
	json_stream_put(&scope->json, NULL, object);
}

static void
write_frames(struct scope *scope)
{
	json_stream_begin_object(&scope->json, "shared");
	json_stream_begin_list(&scope->json, "frames");
	for (size_t i = 0; i < scope->frame_count; i++)
		write_frame(scope, &scope->frame[i]);
	json_stream_end(&scope->json);
	json_stream_end(&scope->json);
}

/* --- profiles --------------------------------------------------------------------------- */

/* Begins a profile, whose name is in scope->scratch. */
static void
begin_profile(struct scope *scope, uint64_t length_ns)
{
	struct json_stream *json = &scope->json;

	json_stream_begin_object(json, NULL);
	json_stream_put(json, "type", json_string("sampled"));
	json_stream_put(json, "name", scratch_text(scope));
	json_stream_put(json, "unit", json_string("nanoseconds"));
	json_stream_put(json, "startValue", json_stream_number(0));
	json_stream_put(json, "endValue", json_stream_number(length_ns));
	json_stream_begin_list(json, "samples");
	scope->profile.count = 0;
}

static void
put_sample(struct scope *scope, json_t *stack, uint64_t ns)
{
	struct scope_profile *profile = &scope->profile;

	json_stream_put(&scope->json, NULL, stack);
	profile->weight = xgrow(profile->weight, &profile->capacity, profile->count + 1,
				sizeof(*profile->weight));
	profile->weight[profile->count++] = ns;
}

static void
end_profile(struct scope *scope)
{
	struct json_stream *json = &scope->json;

	json_stream_end(json);
	json_stream_begin_list(json, "weights");
	for (size_t i = 0; i < scope->profile.count; i++)
		json_stream_put(json, NULL, json_stream_number(scope->profile.weight[i]));
	json_stream_end(json);
	json_stream_end(json);
}

/* --- all threads ------------------------------------------------------------------------ */

/*
 * Writes each stack once; stacks with the same callers are adjacent, the heaviest first. Weight
 * that no node of the tree has is written as one sample with the frame "[no stack]".
 */
static void
put_tree(struct scope *scope, const struct call_tree *tree)
{
	const enum weight weight = scope->input->sort;
	int64_t left = view_total_ns(scope->view, weight);
	json_t *path = json_array(); /* frames from the root to the current node */

	for (size_t i = 0; i < tree->count; i++) {
		const struct tree_node *node = &tree->node[i];

		while (json_array_size(path) > node->depth)
			json_array_remove(path, json_array_size(path) - 1);
		json_array_append_new(path, frame_number(scope, node->kind, node->function,
							 node->syscall));
		if (node->flat[weight] <= 0)
			continue;
		put_sample(scope, json_copy(path), (uint64_t)node->flat[weight]);
		left -= node->flat[weight];
	}
	json_array_clear(path);
	if (left > 0) {
		json_array_append_new(path, function_number(scope, STACKLESS));
		put_sample(scope, json_copy(path), (uint64_t)left);
	}
	json_decref(path);
}

static void
write_whole(struct scope *scope)
{
	const struct export_input *input = scope->input;
	struct call_tree tree;

	flame_tree_make(scope->view, input->sort, SIZE_MAX, 0,
			FLAME_STATES | export_outer_frames(input), &tree);
	strbuf_add_format(&scope->scratch, "all threads (%s)", weight_word(input->sort));
	begin_profile(scope, (uint64_t)view_total_ns(scope->view, input->sort));
	put_tree(scope, &tree);
	end_profile(scope);
	call_tree_release(&tree);
}

/* --- a thread --------------------------------------------------------------------------- */

static int32_t
shown_syscall(const struct timeline_slice *slice)
{
	return slice->state == RUN_SLEEPING || slice->state == RUN_UNINTERRUPTIBLE ?
		       slice->syscall :
		       (int32_t)SYSCALL_NONE;
}

static json_t *
slice_stack(struct scope *scope, const struct timeline_slice *slice)
{
	json_t *stack = json_array();

	for (size_t i = slice->depth; i-- > 0;)
		json_array_append_new(stack, function_number(scope, slice->function[i]));
	if (slice->depth == 0)
		json_array_append_new(stack, function_number(scope, STACKLESS));
	if (flame_has_state(scope->view, slice->state, slice->function, slice->depth))
		json_array_append_new(stack, frame_number(scope, TREE_STATE, slice->state,
							  shown_syscall(slice)));
	return stack;
}

/*
 * Writes a sample without frames from the end of the last written sample to `end_ns`; nothing if
 * that is not later.
 */
static void
put_gap(struct scope *scope, uint64_t end_ns)
{
	struct scope_profile *profile = &scope->profile;

	if (end_ns <= profile->written_ns)
		return;
	put_sample(scope, json_array(), end_ns - profile->written_ns);
	profile->written_ns = end_ns;
}

static void
put_last(struct scope *scope)
{
	struct scope_profile *profile = &scope->profile;
	const struct timeline_slice *last = &profile->last;

	if (!profile->pending)
		return;
	profile->pending = false;
	put_gap(scope, last->start_ns);
	if (last->end_ns <= profile->written_ns)
		return;
	put_sample(scope, slice_stack(scope, last), last->end_ns - profile->written_ns);
	profile->written_ns = last->end_ns;
}

static void
end_thread(struct scope *scope)
{
	if (!scope->profile.open)
		return;
	put_last(scope);
	put_gap(scope, scope->end_ns);
	end_profile(scope);
	scope->profile.open = false;
}

static void
begin_thread(struct scope *scope, const struct timeline_slice *slice)
{
	struct scope_profile *open = &scope->profile;
	const struct profile *profile = view_profile(scope->view);
	const uint32_t process = process_of_record(profile, slice->thread);

	if (profile_process_count(profile) > 1 && process != PROCESS_NONE) {
		process_add_short(profile, process, &scope->scratch);
		strbuf_add_text(&scope->scratch, ": ");
	}
	view_add_thread(scope->view, slice->thread, &scope->scratch);
	begin_profile(scope, scope->end_ns - scope->begin_ns);
	open->open = true;
	open->recording = slice->recording;
	open->thread = slice->thread;
	open->written_ns = scope->begin_ns;
	open->pending = false;
}

/*
 * True if `slice` begins where *last ends, and both have the same stack, state and system call.
 * Slices with the same stack share an array of functions: its address identifies the stack.
 */
static bool
continues_slice(const struct timeline_slice *last, const struct timeline_slice *slice)
{
	return last->end_ns == slice->start_ns && last->function == slice->function &&
	       last->depth == slice->depth && last->state == slice->state &&
	       shown_syscall(last) == shown_syscall(slice);
}

static bool
on_slice(void *context, const struct timeline_slice *slice)
{
	struct scope *scope = context;
	struct scope_profile *profile = &scope->profile;

	if (!profile->open || profile->recording != slice->recording ||
	    profile->thread != slice->thread) {
		end_thread(scope);
		begin_thread(scope, slice);
	}
	if (profile->pending && continues_slice(&profile->last, slice)) {
		profile->last.end_ns = slice->end_ns;
	} else {
		put_last(scope);
		profile->last = *slice;
		profile->pending = true;
	}
	return ferror(scope->json.out) == 0;
}

/*
 * Sets the time axis: from the start of the first selected tick of all recordings to the end of the
 * last selected tick.
 */
static void
make_axis(struct scope *scope)
{
	scope->begin_ns = UINT64_MAX;
	for (size_t i = 0; i < scope->input->recording_count; i++) {
		const struct recording *recording = scope->input->recordings[i];
		const uint64_t base_ns = timeline_base(scope->input, i);

		for (uint64_t n = 0; n < recording_info(recording)->ticks; n++) {
			const struct recording_tick *tick = recording_tick(recording, n);
			const uint64_t start_ns = base_ns + tick->start_ns;

			if (!recording_tick_wanted(recording, n))
				continue;
			if (start_ns < scope->begin_ns)
				scope->begin_ns = start_ns;
			if (start_ns + tick->span_ns > scope->end_ns)
				scope->end_ns = start_ns + tick->span_ns;
		}
	}
}

/* --- the output -------------------------------------------------------------------------- */

static void
write_head(struct scope *scope)
{
	const struct process *process = scope->input->process;
	struct json_stream *json = &scope->json;

	json_stream_put(json, "$schema", json_string(SCHEMA));
	json_stream_put(json, "exporter", json_string("wallsample"));
	strbuf_add_text(&scope->scratch, process->comm);
	strbuf_add_format(&scope->scratch, " (process %jd)", (intmax_t)process->pid);
	report_add_others(scope->input, &scope->scratch);
	json_stream_put(json, "name", scratch_text(scope));
	json_stream_put(json, "activeProfileIndex", json_stream_number(0));
}

static void
speedscope_write(const struct export_input *input, FILE *out)
{
	struct scope scope = { .input = input, .view = input->view };

	table_init(&scope.known);
	json_stream_open(&scope.json, out);
	write_head(&scope);
	json_stream_begin_list(&scope.json, "profiles");
	write_whole(&scope);
	make_axis(&scope);
	if (scope.end_ns > scope.begin_ns) {
		timeline_each(input, RECORDING_BY_THREAD, on_slice, &scope);
		end_thread(&scope);
	}
	json_stream_end(&scope.json);
	write_frames(&scope);
	json_stream_close(&scope.json);
	free(scope.frame);
	free(scope.profile.weight);
	strbuf_release(&scope.scratch);
	table_release(&scope.known);
}

const struct exporter exporter_speedscope = {
	.name = "speedscope",
	.help = "timelines of all threads, for speedscope",
	.endings = "speedscope.json,speedscope",
	.noun = "timeline",
	.options = EXPORT_STACKS,
	.time = EXPORT_TIME,
	.write = speedscope_write,
};
