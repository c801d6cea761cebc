/* SPDX-License-Identifier: MIT */
/*
 * test_tasks_recorded.c - tasks that a runtime schedules, in a recording: what is loaded from it is
 * what was sampled, by tasks, or by the threads that ran them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "sim_run.h"
#include "wallsample/base/table.h"

/* Samples that are told apart by words. */
struct sums {
	struct strings *words;
	struct sum {
		int64_t samples, ns[WEIGHT_COUNT];
	} *sum;
	size_t capacity;
};

static void
add_thread(struct sim_run *run, const struct profile *profile, uint32_t id, struct strbuf *words)
{
	const struct profile_thread *thread = profile_thread(profile, id);

	strbuf_add_format(words, "%s %d %" PRIu64, profile_text(profile, thread->name),
			  (int)thread->tid, thread->start_time);
	if (thread->is_green)
		strbuf_add_format(words, " task %" PRIu64 " by %" PRIu64 "%s began with %s",
				  thread->green_id, thread->creator, thread->system ? " own" : "",
				  sim_run_frame(run, profile, thread->entry));
	if (thread->is_green)
		strbuf_add_format(words, " made by %s",
				  sim_run_frame(run, profile, thread->created_at));
}

static void
add_entry(struct sim_run *run, const struct profile *profile, const struct profile_entry *entry,
	  struct sums *sums)
{
	const struct profile_wait *wait = profile_wait(profile, entry->wait);
	struct strbuf words;
	uint32_t at;

	strbuf_init(&words);
	add_thread(run, profile, entry->thread, &words);
	if (entry->carrier != 0) {
		strbuf_add_text(&words, " on ");
		add_thread(run, profile, entry->carrier - 1, &words);
	}
	strbuf_add_format(&words, " %s %d %s %s: %s", run_state_text(entry->state), entry->syscall,
			  wait_kind_text(wait->kind), sim_run_frame(run, profile, wait->object),
			  sim_run_stack(run, profile, entry->stack));
	at = strings_intern(sums->words, words.data);
	while (sums->capacity <= at) {
		const size_t before = sums->capacity;

		sums->sum = xgrow(sums->sum, &sums->capacity, at + 1, sizeof(*sums->sum));
		memset(sums->sum + before, 0, (sums->capacity - before) * sizeof(*sums->sum));
	}
	sums->sum[at].samples += entry->samples;
	for (int w = 0; w < WEIGHT_COUNT; w++)
		sums->sum[at].ns[w] += entry->ns[w];
	strbuf_release(&words);
}

/* By threads: what no thread ran is left out, and the rest is that thread's. */
static void
add_all(struct sim_run *run, const struct profile *profile, bool by_threads, struct sums *sums)
{
	sums->words = strings_create();
	for (size_t i = 0; i < profile_entry_count(profile); i++) {
		struct profile_entry entry = *profile_entry(profile, i);

		if (by_threads && entry.carrier != 0)
			entry.thread = entry.carrier - 1;
		if (by_threads)
			entry.carrier = 0;
		if (!by_threads || !profile_thread(profile, entry.thread)->is_green)
			add_entry(run, profile, &entry, sums);
	}
}

static void
release(struct sums *sums)
{
	strings_free(sums->words);
	free(sums->sum);
}

static void
check_same(struct sim_run *run, const struct profile *back, bool by_threads)
{
	struct sums live = { .capacity = 0 }, loaded = { .capacity = 0 };
	size_t count;

	add_all(run, run->profile, by_threads, &live);
	add_all(run, back, false, &loaded);
	count = strings_count(live.words);
	printf("  %zu kinds of samples\n", count);
	CHECK(strings_count(loaded.words) == count, "%zu kinds of samples, not %zu",
	      strings_count(loaded.words), count);
	for (uint32_t i = 0; i < strings_count(loaded.words); i++) {
		const char *words = strings_text(loaded.words, i);
		const uint32_t at = strings_intern(live.words, words);

		if (CHECK(at < count, "only in the recording: %s", words))
			CHECK(memcmp(&live.sum[at], &loaded.sum[i], sizeof(struct sum)) == 0,
			      "%" PRId64 " samples of %" PRId64 " ns, not %" PRId64 " of %" PRId64
			      ": %s", loaded.sum[i].samples, loaded.sum[i].ns[WEIGHT_WALL],
			      live.sum[at].samples, live.sum[at].ns[WEIGHT_WALL], words);
	}
	CHECK(profile_wall_ns(back) == profile_wall_ns(run->profile) &&
		      profile_ready_ns(back) ==
			      (by_threads ? 0 : profile_ready_ns(run->profile)) &&
		      profile_ready_most(back) ==
			      (by_threads ? 0 : profile_ready_most(run->profile)),
	      "ready for %.3f s, %u at most", profile_ready_ns(back) / 1e9,
	      profile_ready_most(back));
	release(&live);
	release(&loaded);
}

static void
check_loaded(struct sim_run *run, bool by_threads)
{
	struct recording_load load = { .profile = profile_create(), .threads_only = by_threads };
	struct recording *recording;
	struct error err;

	harness_case(by_threads ? "loaded by threads" : "loaded by tasks");
	if (recording_of(run->recorder, &recording, &err) != 0 ||
	    recording_load(recording, &load, &err) != 0)
		harness_die("the recording: %s", err.text);
	check_same(run, load.profile, by_threads);
	recording_close(recording);
	profile_free(load.profile);
}

int
main(void)
{
	const struct sim_wish wish = { .rate_hz = 200, .ticks = 200, .records = true };
	struct target target;
	struct sim_run run;

	harness_begin(60);
	harness_case("recording");
	if (!target_exists("sim_tasks")) {
		harness_skip("sim_tasks could not be built");
		return harness_end();
	}
	target_start(&target, "sim_tasks", "4", "taker=20", "change=5", "short=5", "spin=1",
		     "reader=1", "foreign=1", "ready=2", NULL);
	sim_run(&run, target.pid, &wish);
	check_loaded(&run, false);
	check_loaded(&run, true);
	sim_run_release(&run);
	target_finish(&target, NULL);
	return harness_end();
}
