/* SPDX-License-Identifier: MIT */
/*
 * firefox.c - writes the processed profile format of the Firefox Profiler, see
 * wallsample-formats(5). It is described by the viewer's source, src/types/profile.ts and
 * docs-developer/CHANGELOG-formats.md of https://github.com/firefox-devtools/profiler. The version
 * of the format is 60, the first one in which threads share tables. The viewer converts files of
 * all earlier versions to its own.
 *
 * What a thread did is the category of its frames. The weight of a sample is the time that it
 * stands for. The graph of a thread ignores weights: the time that it gives to a sample begins in
 * the middle between the previous sample and this one, and ends in the middle between this one and
 * the next. For a selected range of time the viewer adds the weights of the samples in the range.
 * So a stretch of time with the same stack is divided into pieces, of a tick or of 1/1024 of the
 * time axis. There is a sample at each end of the stretch and between any two pieces, with half of
 * the time of the pieces beside it as its weight. Then the graph gives each sample its weight, and
 * changes when the stack changes, and a long sleep makes few samples.
 *
 * The column threadCPUDelta is not written: with it the height of the graph would be the use of the
 * CPU, and blocked threads would not be shown.
 *
 * The format has a list for each member of samples, so the samples of a thread are in memory until
 * the thread ends. The members of a JSON object may come in any order: the shared tables are last,
 * because only then all their rows are known.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/firefox_internal.h"
#include "format/process_tracks_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/process/process.h"
#include "wallsample/report/report.h"

#define FORMAT_VERSION 60
/* A version of the format of Firefox itself. The viewer does not use it. */
#define GECKO_VERSION 24
/* Maximum number of pieces of the time axis: a piece is at least a mean tick long. */
#define PIECES 1024
#define MS_PER_SEC 1000

struct output_sample {
	uint32_t stack;
	uint64_t ns;        /* time of the sample */
	uint64_t weight_ns; /* 0 for time without data */
};

/* A stretch of time in which a thread had the same stack; its samples are made when it ends. */
struct stretch {
	bool open, has_data;
	uint32_t stack;
	uint64_t start_ns, end_ns;
};

/* The thread that is being read. */
struct output_thread {
	bool open;
	size_t recording;
	uint32_t thread;
	struct stretch stretch;
	struct output_sample *sample;
	size_t count, capacity;
};

struct output {
	const struct export_input *input;
	struct json_stream json;
	struct firefox_tables tables;
	uint64_t base_ns;  /* on the clock of timeline_base(): time 0 of the file */
	uint64_t piece_ns; /* approximate length of a piece */
	struct output_thread thread;
	struct firefox_markers markers;
	struct process_tracks processes;
};

/* --- samples ------------------------------------------------------------------------------ */

static void
add_sample(struct output_thread *thread, uint64_t ns, uint64_t weight_ns)
{
	thread->sample = xgrow(thread->sample, &thread->capacity, thread->count + 1,
			       sizeof(*thread->sample));
	thread->sample[thread->count++] = (struct output_sample){
		.stack = thread->stretch.stack,
		.ns = ns,
		.weight_ns = thread->stretch.has_data ? weight_ns : 0,
	};
}

/* Makes the samples of the stretch, and closes it. */
static void
end_stretch(struct output *output)
{
	struct output_thread *thread = &output->thread;
	struct stretch *stretch = &thread->stretch;
	const uint64_t length_ns = stretch->end_ns - stretch->start_ns;
	const uint64_t whole = length_ns / output->piece_ns, pieces = whole > 0 ? whole : 1;
	const uint64_t step_ns = length_ns / pieces;
	uint64_t at_ns = stretch->start_ns, before_ns = 0, next_ns = step_ns;

	if (!stretch->open)
		return;
	for (uint64_t i = 0; i < pieces; i++) {
		if (i == pieces - 1)
			next_ns = stretch->end_ns - at_ns;
		add_sample(thread, at_ns, before_ns - before_ns / 2 + next_ns / 2);
		before_ns = next_ns;
		at_ns += next_ns;
	}
	add_sample(thread, at_ns, before_ns - before_ns / 2);
	stretch->open = false;
}

/* Begins a stretch where the stretch before ends. */
static void
begin_stretch(struct output *output, uint32_t stack, bool has_data)
{
	struct stretch *stretch = &output->thread.stretch;
	const uint64_t start_ns = stretch->end_ns;

	end_stretch(output);
	*stretch = (struct stretch){
		.open = true,
		.has_data = has_data,
		.stack = stack,
		.start_ns = start_ns,
		.end_ns = start_ns,
	};
}

/* Adds the time of a slice. Before it, adds the time since the previous slice, without data. */
static void
add_time(struct output *output, const struct timeline_slice *slice, uint32_t stack)
{
	struct stretch *stretch = &output->thread.stretch;

	if (slice->end_ns <= stretch->end_ns)
		return;
	if (slice->start_ns > stretch->end_ns) {
		begin_stretch(output, firefox_stack_without_data(&output->tables), false);
		stretch->end_ns = slice->start_ns;
	}
	if (!stretch->open || !stretch->has_data || stretch->stack != stack)
		begin_stretch(output, stack, true);
	stretch->end_ns = slice->end_ns;
}

/* --- threads ------------------------------------------------------------------------------ */

static void
put_samples(struct output *output)
{
	const struct output_thread *thread = &output->thread;
	struct json_stream *json = &output->json;

	json_stream_begin_object(json, "samples");
	json_stream_put(json, "length", json_stream_number(thread->count));
	json_stream_put(json, "weightType", json_string("tracing-ms"));
	json_stream_begin_list(json, "stack");
	for (size_t i = 0; i < thread->count; i++)
		json_stream_put(json, NULL, json_stream_number(thread->sample[i].stack));
	json_stream_end(json);
	json_stream_begin_list(json, "time");
	for (size_t i = 0; i < thread->count; i++)
		json_stream_put_ms(json, NULL, thread->sample[i].ns - output->base_ns);
	json_stream_end(json);
	json_stream_begin_list(json, "weight");
	for (size_t i = 0; i < thread->count; i++)
		json_stream_put_ms(json, NULL, thread->sample[i].weight_ns);
	json_stream_end(json);
	json_stream_end(json);
}

/* Returns the text that identifies a process in the file: its pid, or "4242 (2)" if that is the pid
 * of a process of an earlier recording, too. */
static json_t *
process_id(const struct process_track *track)
{
	if (track->same == 0)
		return json_sprintf("%" PRId64, track->pid);
	return json_sprintf("%" PRId64 " (%" PRIu64 ")", track->pid, track->same + 1);
}

static void
put_thread(struct output *output)
{
	struct output_thread *thread = &output->thread;
	const size_t at = process_tracks_of(&output->processes, thread->recording, thread->thread);
	const struct process_track *track = &output->processes.track[at];
	const int64_t tid = view_thread_number(output->input->view, thread->thread);
	struct json_stream *json = &output->json;
	struct strbuf name = STRBUF_INIT, process = STRBUF_INIT;

	view_add_name(output->input->view, thread->thread, &name);
	strbuf_add_text(&process, "");
	process_tracks_add_name(&output->processes, at, &process);
	json_stream_begin_object(json, NULL);
	json_stream_put(json, "name", json_stream_text(json, name.data));
	json_stream_put(json, "processName", json_stream_text(json, process.data));
	json_stream_put(json, "pid", process_id(track));
	json_stream_put(json, "tid", json_integer(tid));
	json_stream_put(json, "isMainThread", json_boolean(tid == track->pid));
	json_stream_put(json, "processType", json_string("default"));
	json_stream_put(json, "processStartupTime", json_integer(0));
	json_stream_put(json, "processShutdownTime", json_null());
	json_stream_put(json, "registerTime", json_integer(0));
	json_stream_put(json, "unregisterTime", json_null());
	json_stream_put(json, "pausedRanges", json_array());
	put_samples(output);
	firefox_put_markers(&output->markers, json, output->base_ns);
	json_stream_end(json);
	strbuf_release(&name);
	strbuf_release(&process);
}

static void
end_thread(struct output *output)
{
	struct output_thread *thread = &output->thread;

	if (!thread->open)
		return;
	end_stretch(output);
	put_thread(output);
	thread->open = false;
}

static void
begin_thread(struct output *output, const struct timeline_slice *slice)
{
	struct output_thread *thread = &output->thread;

	thread->open = true;
	thread->recording = slice->recording;
	thread->thread = slice->thread;
	thread->count = 0;
	firefox_markers_clear(&output->markers);
	thread->stretch = (struct stretch){ .start_ns = slice->start_ns,
					    .end_ns = slice->start_ns };
}

static bool
on_slice(void *context, const struct timeline_slice *slice)
{
	struct output *output = context;
	const struct firefox_doing doing = firefox_doing_of(output->input->view, slice);

	if (!output->thread.open || output->thread.recording != slice->recording ||
	    output->thread.thread != slice->thread) {
		end_thread(output);
		begin_thread(output, slice);
	}
	add_time(output, slice, firefox_stack(&output->tables, slice, doing));
	firefox_markers_add(&output->markers, &output->tables, slice, doing.category);
	return ferror(output->json.out) == 0;
}

/* --- about the run ------------------------------------------------------------------------ */

/* Writes the mean length of a tick, and the date of time 0 of the file. */
static void
put_clock(struct output *output, const struct recording_info *first)
{
	struct json_stream *json = &output->json;

	json_stream_put_ms(json, "interval",
			   first->ticks > 0 ? first->span_ns / first->ticks : NS_PER_MS);
	json_stream_put(json, "startTime", json_integer(first->began * MS_PER_SEC));
	if (timeline_is_monotonic(output->input))
		json_stream_put(json, "startTimeAsClockMonotonicNanosecondsSinceBoot",
				json_stream_number(first->clock_ns));
}

/* Writes the member "meta". `first` is the recording that begins first. */
static void
put_meta(struct output *output, const struct recording_info *first)
{
	const struct process *process = output->input->process;
	struct json_stream *json = &output->json;
	struct strbuf name = STRBUF_INIT;

	strbuf_add_format(&name, "%s (process %jd)", process->comm, (intmax_t)process->pid);
	report_add_others(output->input, &name);
	json_stream_begin_object(json, "meta");
	json_stream_put(json, "preprocessedProfileVersion", json_integer(FORMAT_VERSION));
	json_stream_put(json, "version", json_integer(GECKO_VERSION));
	json_stream_put(json, "product", json_stream_text(json, name.data));
	json_stream_put(json, "importedFrom", json_string("wallsample"));
	json_stream_put(json, "arguments", json_stream_text(json, process->cmdline));
	json_stream_put(json, "oscpu", json_stream_text(json, first->machine));
	json_stream_put(json, "processType", json_integer(0));
	json_stream_put(json, "stackwalk", json_integer(1));
	json_stream_put(json, "symbolicated", json_true());
	json_stream_put(json, "symbolicationNotSupported", json_true());
	json_stream_put(json, "usesOnlyOneStackType", json_true());
	json_stream_put(json, "sourceCodeIsNotOnSearchfox", json_true());
	if (first->cpus > 0)
		json_stream_put(json, "logicalCPUs", json_stream_number(first->cpus));
	put_clock(output, first);
	firefox_put_categories(json);
	firefox_put_marker_schema(json);
	json_stream_end(json);
	strbuf_release(&name);
}

/* Sets base_ns and piece_ns. Returns the recording that begins first. */
static const struct recording_info *
make_axis(struct output *output)
{
	const struct export_input *input = output->input;
	size_t first = 0;

	output->base_ns = UINT64_MAX;
	output->piece_ns = 1;
	for (size_t i = 0; i < input->recording_count; i++) {
		const uint64_t base_ns = timeline_base(input, i);
		const struct recording_info *info = recording_info(input->recordings[i]);
		const uint64_t pieces = info->ticks < PIECES ? info->ticks : PIECES;

		if (base_ns < output->base_ns) {
			output->base_ns = base_ns;
			first = i;
		}
		if (pieces > 0 && info->span_ns / pieces > output->piece_ns)
			output->piece_ns = info->span_ns / pieces;
	}
	return recording_info(input->recordings[first]);
}

static void
firefox_write(const struct export_input *input, FILE *out)
{
	struct output output = { .input = input };

	firefox_tables_init(&output.tables, input);
	process_tracks_init(&output.processes, input);
	json_stream_open(&output.json, out);
	put_meta(&output, make_axis(&output));
	json_stream_begin_list(&output.json, "threads");
	timeline_each(input, RECORDING_BY_THREAD, on_slice, &output);
	end_thread(&output);
	json_stream_end(&output.json);
	firefox_put_tables(&output.tables, &output.json);
	json_stream_close(&output.json);
	firefox_tables_release(&output.tables);
	process_tracks_release(&output.processes);
	free(output.thread.sample);
	free(output.markers.marker);
}

const struct exporter exporter_firefox = {
	.name = "firefox",
	.help = "a timeline of all threads with their states, for the Firefox Profiler",
	.endings = "firefox.json,profile.json",
	.noun = "profile",
	.time = EXPORT_TIME,
	.by_address = true,
	.write = firefox_write,
};
