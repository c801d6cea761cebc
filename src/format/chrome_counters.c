/* SPDX-License-Identifier: MIT */
/* chrome_counters.c - the counters of a trace in the Trace Event Format. */
#include "format/chrome_internal.h"

#include "wallsample/report/timeline.h"

struct counter {
	int64_t pid;
	const char *name;
};

/*
 * Writes the counters; `ready`, the number of tasks that wait for a thread, is negative if there
 * are no tasks.
 */
static void
put_counter(struct json_stream *json, const struct counter *counter, uint64_t ns, uint32_t running,
	    uint32_t waiting, int64_t ready)
{
	json_t *counts = json_pack("{s:I, s:I}", "on a CPU", (json_int_t)running,
				   "waiting for a CPU", (json_int_t)waiting);

	if (ready >= 0)
		json_object_set_new(counts, "ready tasks", json_integer(ready));
	json_stream_put(json, NULL,
			json_pack("{s:s, s:I, s:s, s:I, s:o}", "ph", "C", "pid",
				  (json_int_t)counter->pid, "name", counter->name, "ts",
				  (json_int_t)chrome_us(ns), "args", counts));
}

void
chrome_put_counters(struct json_stream *json, const struct export_input *input, size_t number,
		    int64_t pid)
{
	const struct recording *recording = input->recordings[number];
	const uint64_t ticks = recording_info(recording)->ticks;
	const uint64_t base_ns = timeline_base(input, number);
	const bool tasks = profile_ready_most(view_profile(input->view)) > 0;
	const struct counter counter = { pid, recording_info(recording)->processes > 1 ?
						      "threads of all processes" :
						      "threads" };
	struct recording_tick last = { .span_ns = 0 };
	bool any = false;

	for (uint64_t n = 0; n < ticks; n++) {
		struct recording_tick tick = *recording_tick(recording, n);

		if (!recording_tick_wanted(recording, n))
			tick.parallelism = tick.runnable = tick.ready = 0;
		if (!any || tick.parallelism != last.parallelism ||
		    tick.runnable != last.runnable || (tasks && tick.ready != last.ready))
			put_counter(json, &counter, base_ns + tick.start_ns, tick.parallelism,
				    tick.runnable > tick.parallelism ?
					    tick.runnable - tick.parallelism :
					    0,
				    tasks ? (int64_t)tick.ready : -1);
		any = true;
		last = tick;
	}
	if (any)
		put_counter(json, &counter, base_ns + last.start_ns + last.span_ns, 0, 0,
			    tasks ? 0 : -1);
}
