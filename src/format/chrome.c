/* SPDX-License-Identifier: MIT */
/*
 * chrome.c - writes a trace in the Trace Event Format, which Perfetto, chrome://tracing and others
 * draw: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
 *
 * Each thread and each task has two tracks. The first has one slice for each function of the call
 * chain, for as long as consecutive samples have the function, also across changes of the run
 * state. The slice of a function is nested in that of its caller. The second track has one slice
 * for each period in which the run state and the awaited object were the same. A wait for an
 * interpreter's lock is a state of its own. Counters show the number of threads on a CPU, of
 * threads that waited for a CPU, and of tasks that waited for a thread; in a recording of several
 * processes they are of all of these. One more track of each process shows which thread held the
 * interpreter's lock.
 *
 * Times are microseconds on the clock of timeline_base(): of CLOCK_MONOTONIC, like those of other
 * tools, if the recordings have it. A slice is written when it ends, so slices are not ordered by
 * their start: readers sort them. In this file "task" means a green task (green_task.h).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "format/chrome_internal.h"
#include "format/process_tracks_internal.h"
#include "wallsample/report/timeline.h"
#include "wallsample/process/process.h"
#include "wallsample/base/base.h"

/*
 * PIDS is added to a process id to make an id that no process has, in two cases. First, if two
 * recordings have the same process id. Second, if an interpreter with a lock was sampled. The user
 * may then merge this trace with a trace by a tracer of the interpreter, in which the process has
 * its own id. With equal ids, slices of one thread from the two traces would not nest, and readers
 * drop such slices.
 */
#define PIDS PROCESS_ID_LIMIT
/* The number of the track of the interpreter's lock; no thread id or task number has this value. */
#define GIL_TRACK PIDS
/*
 * Difference between the numbers of the two tracks of a thread or task: the first track has the
 * thread id or task number, and the track of states has that number plus STATE_TRACKS. The value is
 * above all thread ids and task numbers. Readers accept track numbers below 2^32.
 */
#define STATE_TRACKS (INT64_C(1) << 30)

/* Maximum number of nested functions; Perfetto accepts 512 nested slices. */
#define DEPTH_MOST 500

/* The state and the functions of a thread whose slices have begun and not ended. */
struct track {
	bool is_open;
	struct timeline_slice last; /* its function array is borrowed from the view */
	uint64_t state_ns;          /* when the state of `last` began */
	uint64_t *began_ns;         /* when each frame of `last` began, the outermost first */
	size_t capacity;
};

struct tracing {
	const struct export_input *input;
	struct json_stream json;
	struct process_tracks processes;
	size_t named_processes; /* number of those whose names were written */
	bool *has_name; /* by thread of the profile: true if the name of the thread was written */
	bool apart;     /* PIDS was added to all process ids, because an interpreter has a lock */
	struct track track; /* the track of the thread whose slices are being read */
	struct gil_spans gil;
};

/* --- events ------------------------------------------------------------------------------- */

/* The track of a slice in the trace, and its range of time. */
struct span {
	int64_t pid;   /* id of the process in the trace */
	int64_t track; /* the member "tid" of the slice in the trace */
	uint64_t start_ns, end_ns;
};

static void
put_slice(struct tracing *tracing, const struct span *span, json_t *name, const char *category,
	  const char *colour)
{
	json_t *event = json_pack("{s:s, s:I, s:o, s:I, s:s, s:I, s:I}", "ph", "X", "pid",
				  (json_int_t)span->pid, "name", name, "tid",
				  (json_int_t)span->track, "cat", category, "ts",
				  (json_int_t)chrome_us(span->start_ns), "dur",
				  (json_int_t)(chrome_us(span->end_ns) -
					       chrome_us(span->start_ns)));

	if (colour != NULL)
		json_object_set_new(event, "cname", json_string(colour));
	json_stream_put(&tracing->json, NULL, event);
}

/*
 * Writes a metadata event about a track: {"name": fact, "args": {key: value}}. Takes ownership of
 * `value`.
 */
static void
put_fact(struct tracing *tracing, int64_t pid, int64_t track, const char *fact, const char *key,
	 json_t *value)
{
	json_stream_put(&tracing->json, NULL,
			json_pack("{s:s, s:I, s:s, s:I, s:{s:o}}", "ph", "M", "pid",
				  (json_int_t)pid, "name", fact, "tid", (json_int_t)track, "args",
				  key, value));
}

/* Returns the id of the process of a track in the trace, see PIDS. */
static int64_t
traced_pid(const struct tracing *tracing, size_t track)
{
	const struct process_track *process = &tracing->processes.track[track];

	return process->pid + ((tracing->apart ? 1 : 0) + (int64_t)process->same) * PIDS;
}

/* The same of the process of a thread. */
static int64_t
traced_pid_of(struct tracing *tracing, size_t recording, uint32_t thread)
{
	return traced_pid(tracing, process_tracks_of(&tracing->processes, recording, thread));
}

/* Returns the span from `start_ns` to the end of track.last, on the track of the thread. */
static struct span
ended_span(struct tracing *tracing, uint64_t start_ns)
{
	const struct timeline_slice *last = &tracing->track.last;

	return (struct span){
		.pid = traced_pid_of(tracing, last->recording, last->thread),
		.track = view_thread_number(tracing->input->view, last->thread),
		.start_ns = start_ns,
		.end_ns = last->end_ns,
	};
}

/* --- the slices of a thread --------------------------------------------------------------- */

/*
 * Returns the name of a colour for the slice's state. The file base/color_scheme.html of catapult
 * (the viewer behind chrome://tracing) defines these names.
 */
static const char *
state_colour(const struct timeline_slice *slice)
{
	if (slice->gil == GIL_WAIT && !run_state_runnable(slice->state))
		return "thread_state_iowait";
	switch (slice->state) {
	case RUN_RUNNING:
		return "thread_state_running";
	case RUN_QUEUED:
	case RUN_READY:
		return "thread_state_runnable";
	case RUN_SLEEPING:
		return "thread_state_sleeping";
	case RUN_UNINTERRUPTIBLE:
		return "thread_state_uninterruptible";
	default:
		return "thread_state_unknown";
	}
}

static uint32_t
frame_at(const struct timeline_slice *slice, size_t outer)
{
	return slice->function[slice->depth - 1 - outer];
}

/*
 * Returns slice->gil if the thread waits for the interpreter's lock, or for a CPU after handing the
 * lock over; else GIL_UNKNOWN.
 */
static enum gil
wait_of(const struct timeline_slice *slice)
{
	return slice->gil == GIL_WAIT || slice->gil == GIL_HANDOVER ? slice->gil : GIL_UNKNOWN;
}

/* Returns a text such as "sleeping in futex: mutex lock" or "sleeping in futex (GIL wait)". */
static json_t *
state_name(struct tracing *tracing, const struct timeline_slice *slice)
{
	const struct view *view = tracing->input->view;
	const enum wait_kind kind = view_wait_kind(view, slice->wait, slice->function,
						   slice->depth);
	struct strbuf sb = STRBUF_INIT;
	json_t *name;

	run_state_add(&sb, slice->state, slice->syscall);
	if (wait_of(slice) != GIL_UNKNOWN) {
		strbuf_add_format(&sb, " (%s)", gil_text(slice->gil));
	} else if (wait_kind_in_memory(kind) || view_wait_object(view, slice->wait)[0] != '\0') {
		strbuf_add_text(&sb, ": ");
		view_add_wait(view, slice->wait, slice->function, slice->depth, &sb);
	}
	name = json_stream_text(&tracing->json, sb.data);
	strbuf_release(&sb);
	return name;
}

/*
 * Writes slices for all open frames but the outermost `keep`, the outer frames first: of slices
 * with equal start and end, readers take the first one in the file as the outer one.
 */
static void
close_frames(struct tracing *tracing, size_t keep)
{
	const struct timeline_slice *last = &tracing->track.last;

	for (size_t i = keep; i < last->depth; i++) {
		const struct view_function *function = view_function(tracing->input->view,
								     frame_at(last, i));

		const struct span span = ended_span(tracing, tracing->track.began_ns[i]);

		put_slice(tracing, &span, json_stream_text(&tracing->json, function->label),
			  "stack", NULL);
	}
}

static void
close_state(struct tracing *tracing)
{
	const struct track *track = &tracing->track;
	struct span span = ended_span(tracing, track->state_ns);

	span.track += STATE_TRACKS;
	put_slice(tracing, &span, state_name(tracing, &track->last), "state",
		  state_colour(&track->last));
}

static void
close_track(struct tracing *tracing)
{
	if (!tracing->track.is_open)
		return;
	close_state(tracing);
	close_frames(tracing, 0);
	tracing->track.is_open = false;
}

/* True if the slice follows track->last without a gap, with the same recording and thread. */
static bool
continues_track(const struct track *track, const struct timeline_slice *slice)
{
	const struct timeline_slice *last = &track->last;

	return track->is_open && last->recording == slice->recording &&
	       last->thread == slice->thread && last->end_ns == slice->start_ns;
}

/* True if both slices have the same state, system call and wait. */
static bool
has_state_of(const struct timeline_slice *slice, const struct timeline_slice *last)
{
	return last->state == slice->state && last->syscall == slice->syscall &&
	       last->wait == slice->wait && wait_of(last) == wait_of(slice);
}

static size_t
frames_in_common(const struct timeline_slice *a, const struct timeline_slice *b)
{
	size_t i = 0;

	while (i < a->depth && i < b->depth && frame_at(a, i) == frame_at(b, i))
		i++;
	return i;
}

/*
 * Names a process: "server"; "server 123, sampled" if its id in the trace is not its process id;
 * with several recordings "server 123 on host".
 */
static void
name_process(struct tracing *tracing, size_t number)
{
	const struct process_track *process = &tracing->processes.track[number];
	const struct recording_info *info = recording_info(
		tracing->input->recordings[process->recording]);
	struct strbuf sb = STRBUF_INIT;

	strbuf_add_text(&sb, "");
	process_tracks_add_name(&tracing->processes, number, &sb);
	if (tracing->input->recording_count > 1)
		strbuf_add_format(&sb, " %" PRId64 " on %s", process->pid, info->host);
	else if (tracing->apart)
		strbuf_add_format(&sb, " %" PRId64 ", sampled", process->pid);
	json_stream_put(&tracing->json, NULL,
			json_pack("{s:s, s:I, s:s, s:{s:o}}", "ph", "M", "pid",
				  (json_int_t)traced_pid(tracing, number), "name", "process_name",
				  "args", "name", json_stream_text(&tracing->json, sb.data)));
	strbuf_release(&sb);
}

/* Names the processes that were found since the last call. */
static void
name_processes(struct tracing *tracing)
{
	while (tracing->named_processes < process_tracks_count(&tracing->processes))
		name_process(tracing, tracing->named_processes++);
}

/* Names a track, and sets its place among the tracks of the process. */
static void
name_track(struct tracing *tracing, int64_t pid, int64_t track, const char *name,
	   int64_t sort_index)
{
	put_fact(tracing, pid, track, "thread_name", "name",
		 json_stream_text(&tracing->json, name));
	put_fact(tracing, pid, track, "thread_sort_index", "sort_index",
		 json_integer((json_int_t)sort_index));
}

/*
 * Names both tracks of a thread: "worker", and below it "worker-4247: state", because the number of
 * that track is not the thread id.
 */
static void
name_thread(struct tracing *tracing, const struct timeline_slice *slice)
{
	const struct view *view = tracing->input->view;
	const int64_t number = view_thread_number(view, slice->thread);
	struct strbuf name = STRBUF_INIT;
	int64_t pid;

	if (tracing->has_name[slice->thread])
		return;
	pid = traced_pid_of(tracing, slice->recording, slice->thread);
	name_processes(tracing);
	tracing->has_name[slice->thread] = true;
	view_add_name(view, slice->thread, &name);
	name_track(tracing, pid, number, name.data, 2 * number);
	strbuf_clear(&name);
	view_add_thread(view, slice->thread, &name);
	strbuf_add_text(&name, ": state");
	name_track(tracing, pid, STATE_TRACKS + number, name.data, 2 * number + 1);
	strbuf_release(&name);
}

/* Returns the slice without the innermost frames beyond DEPTH_MOST. */
static struct timeline_slice
cut(const struct timeline_slice *slice)
{
	struct timeline_slice copy = *slice;

	if (copy.depth > DEPTH_MOST) {
		copy.function += copy.depth - DEPTH_MOST;
		copy.depth = DEPTH_MOST;
	}
	return copy;
}

static bool
on_slice(void *context, const struct timeline_slice *whole)
{
	const struct timeline_slice copy = cut(whole), *slice = &copy;
	struct tracing *tracing = context;
	struct track *track = &tracing->track;
	size_t kept = 0;

	name_thread(tracing, slice);
	gil_spans_add(&tracing->gil, slice,
		      process_of_record(view_profile(tracing->input->view), slice->thread));
	if (!continues_track(track, slice)) {
		close_track(tracing);
		track->state_ns = slice->start_ns;
	} else {
		kept = frames_in_common(&track->last, slice);
		close_frames(tracing, kept);
		if (!has_state_of(slice, &track->last)) {
			close_state(tracing);
			track->state_ns = slice->start_ns;
		}
	}
	track->began_ns = xgrow(track->began_ns, &track->capacity, slice->depth + 1,
				sizeof(*track->began_ns));
	for (size_t i = kept; i < slice->depth; i++)
		track->began_ns[i] = slice->start_ns;
	track->last = *slice;
	track->is_open = true;
	return true;
}

/* --- the interpreter's lock --------------------------------------------------------------- */

/* Writes a slice such as "GIL: worker-4251" on the track of the interpreter's lock. */
static void
put_holder(struct tracing *tracing, const struct gil_span *gil)
{
	const struct span span = { traced_pid_of(tracing, gil->recording, gil->thread), GIL_TRACK,
				   gil->start_ns, gil->end_ns };
	struct strbuf name = STRBUF_INIT;

	strbuf_add_text(&name, "GIL: ");
	view_add_thread(tracing->input->view, gil->thread, &name);
	put_slice(tracing, &span, json_stream_text(&tracing->json, name.data), "gil", NULL);
	strbuf_release(&name);
}

static void
put_holders(struct tracing *tracing)
{
	const struct gil_spans *gil = &tracing->gil;

	gil_spans_settle(&tracing->gil);
	for (size_t i = 0; i < gil->count; i++) {
		const struct gil_span *span = &gil->span[i];

		if (i == 0 || span[-1].recording != span->recording ||
		    span[-1].process != span->process)
			name_track(tracing, traced_pid_of(tracing, span->recording, span->thread),
				   GIL_TRACK, "GIL", -1);
		put_holder(tracing, &gil->span[i]);
	}
}

/*
 * True if the relation of a thread to an interpreter's lock is known for a sample of the profile.
 */
static bool
has_gil(const struct profile *profile)
{
	for (size_t i = 0; i < profile_entry_count(profile); i++)
		if (profile_entry(profile, i)->gil != GIL_UNKNOWN)
			return true;
	return false;
}

static void
put_about(struct tracing *tracing)
{
	const struct export_input *input = tracing->input;

	json_stream_put(&tracing->json, "displayTimeUnit", json_string("ms"));
	json_stream_begin_object(&tracing->json, "otherData");
	json_stream_put(&tracing->json, "generator", json_string("wallsample"));
	json_stream_put(&tracing->json, "command_line",
			json_stream_text(&tracing->json, input->process->cmdline));
	json_stream_end(&tracing->json);
}

static void
chrome_write(const struct export_input *input, FILE *out)
{
	const size_t threads = profile_thread_count(view_profile(input->view));
	struct tracing tracing = {
		.input = input,
		.has_name = xcalloc(threads + 1, sizeof(*tracing.has_name)),
	};

	process_tracks_init(&tracing.processes, input);
	tracing.apart = has_gil(view_profile(input->view));
	json_stream_open(&tracing.json, out);
	put_about(&tracing);
	json_stream_begin_list(&tracing.json, "traceEvents");
	/* The first tracks are those of the recordings. */
	for (size_t i = 0; i < input->recording_count; i++) {
		name_process(&tracing, tracing.named_processes++);
		chrome_put_counters(&tracing.json, input, i, traced_pid(&tracing, i));
	}
	timeline_each(input, RECORDING_BY_THREAD, on_slice, &tracing);
	close_track(&tracing);
	put_holders(&tracing);
	json_stream_end(&tracing.json);
	json_stream_close(&tracing.json);
	gil_spans_release(&tracing.gil);
	free(tracing.track.began_ns);
	free(tracing.has_name);
	process_tracks_release(&tracing.processes);
}

const struct exporter exporter_chrome = {
	.name = "chrome",
	.help = "a timeline of all threads, for Perfetto and chrome://tracing",
	.endings = "trace.json,trace",
	.noun = "trace",
	.options = EXPORT_BY,
	.time = EXPORT_TIME,
	.write = chrome_write,
};
