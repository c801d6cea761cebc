/* SPDX-License-Identifier: MIT */
/*
 * html_timeline.c - writes the timeline of threads by state as JSON inside a script element.
 *
 * Each of the first ROWS_MOST threads has one string per state, with one digit per bin: the part of
 * the bin in that state, in units of 1 / STEPS. The other threads are summed: there is one list per
 * state, with one number of threads per bin. The size of the page thus does not depend on the
 * sampled time. If an interpreter has a lock, there is one more state: waiting for the lock. Each
 * thread then has one more string of digits, for the time in which it held the lock.
 */
#include "web/html_internal.h"

#include <math.h>
#include <stdlib.h>

#include <jansson.h>

#include "wallsample/report/display.h"
#include "wallsample/report/json_stream.h"
#include "wallsample/report/timeline_bins.h"
#include "wallsample/profile/profile.h"
#include "wallsample/thread/state.h"

/* Number of bins of the whole timeline: about one for each pixel of its width on a screen. */
#define BINS 1200
/* Maximum number of threads with a row of their own. */
#define ROWS_MOST 60
/* A digit counts parts of 1 / STEPS of a bin, from 0 to STEPS: digits are 0 to 9, then a to k. */
#define STEPS 20
/* Numbers of threads are written as multiples of 1 / PARTS. */
#define PARTS 100
/* Maximum width in cells of the label of a process, which may be a long command line. */
#define LABEL_MOST 80

static const char before[] =
	"<section id=\"timeline\" aria-label=\"Timeline\">\n"
	"<h2>Timeline</h2>\n"
	"<noscript><p>The timeline needs JavaScript; the tables below do not.</p></noscript>\n"
	"<div id=\"timeline-figure\" hidden></div>\n"
	"<script type=\"application/json\" id=\"timeline-data\">";

static const char after[] = "</script>\n</section>";

static size_t
count_states(const struct timeline_bins *bins)
{
	return bins->has_gil ? TIMELINE_STATES : RUN_STATE_COUNT;
}

/* The parts of a bin that have been added so far. */
struct pile {
	double length; /* length of the bin in ns */
	double sum;    /* sum of the parts in ns */
	long below;    /* sum of the parts in units of 1 / STEPS of the bin, rounded */
};

/* Returns an empty pile for each bin; the caller frees the array. */
static struct pile *
make_piles(const struct timeline_bins *bins)
{
	struct pile *pile = xcalloc(bins->count + 1, sizeof(*pile));

	for (size_t bin = 0; bin < bins->count; bin++)
		pile[bin].length = (double)timeline_bins_length(bins, bin);
	return pile;
}

/*
 * Adds `ns` to the pile and returns the digit for it: the increase of the rounded sum. Rounding the
 * sum and not each addend makes the digits of a full bin sum to STEPS.
 */
static char
next_digit(struct pile *pile, double ns)
{
	const long below = pile->below;

	pile->sum += ns;
	pile->below = pile->sum < pile->length ? lround(STEPS * pile->sum / pile->length) : STEPS;
	return "0123456789abcdefghijklmnopqrstuvwxyz"[pile->below - below];
}

/*
 * Adds the part ns[bin * step] to the pile of each bin. Returns a JSON string of the digits of
 * these parts, without trailing zeros.
 */
static json_t *
next_digits(const struct timeline_bins *bins, struct pile *pile, const double *ns, size_t step)
{
	char *digits = xmalloc(bins->count + 1);
	size_t count = bins->count;
	json_t *text;

	for (size_t bin = 0; bin < bins->count; bin++)
		digits[bin] = next_digit(&pile[bin], ns[bin * step]);
	while (count > 0 && digits[count - 1] == '0')
		count--;
	text = json_stringn(digits, count);
	free(digits);
	return text;
}

static json_t *
make_shares(const struct timeline_bins *bins, const double *ns)
{
	struct pile *pile = make_piles(bins);
	json_t *shares = json_array();

	for (size_t state = 0; state < count_states(bins); state++)
		json_array_append_new(shares, next_digits(bins, pile, ns + state, TIMELINE_STATES));
	free(pile);
	return shares;
}

/* Puts the rows of a process behind one another, the process of the first row first. */
static void
group_rows(struct timeline_bins *bins, const struct profile *profile)
{
	struct timeline_row *grouped = xcalloc(bins->row_count + 1, sizeof(*grouped));
	size_t count = 0;

	for (size_t i = 0; i < bins->row_count; i++) {
		const uint32_t process = process_of_record(profile, bins->row[i].thread);
		bool is_new = true;

		for (size_t k = 0; k < i && is_new; k++)
			is_new = process_of_record(profile, bins->row[k].thread) != process;
		for (size_t k = i; is_new && k < bins->row_count; k++)
			if (process_of_record(profile, bins->row[k].thread) == process)
				grouped[count++] = bins->row[k];
	}
	free(bins->row);
	bins->row = grouped;
}

/* Adds the list "processes", with the label of each process that has a row, to the data, and the
 * index in this list to each thread: "process". The rows are grouped. */
static void
add_processes(const struct timeline_bins *bins, const struct view *view, json_t *data,
	      json_t *threads)
{
	const struct profile *profile = view_profile(view);
	json_t *labels = json_array();
	uint32_t last = 0;

	for (size_t i = 0; i < bins->row_count; i++) {
		const uint32_t process = process_of_record(profile, bins->row[i].thread);

		if (i == 0 || process != last) {
			struct strbuf whole = STRBUF_INIT, shown = STRBUF_INIT, cut = STRBUF_INIT;

			strbuf_add_text(&whole, "");
			process_add_label(profile, process, &whole);
			strbuf_add_escaped(&shown, whole.data);
			display_add_fitted(&cut, shown.length > 0 ? shown.data : "", LABEL_MOST);
			json_array_append_new(labels, json_string(cut.data));
			strbuf_release(&whole);
			strbuf_release(&shown);
			strbuf_release(&cut);
		}
		last = process;
		json_object_set_new(json_array_get(threads, i), "process",
				    json_integer((json_int_t)json_array_size(labels) - 1));
	}
	json_object_set_new(data, "processes", labels);
}

static json_t *
make_thread(const struct timeline_bins *bins, const struct timeline_row *row,
	    const struct view *view)
{
	const struct profile_thread *thread = profile_thread(view_profile(view), row->thread);
	struct strbuf name = STRBUF_INIT, whole = STRBUF_INIT;
	json_t *object;

	view_add_name(view, row->thread, &whole);
	strbuf_add_escaped(&name, whole.length > 0 ? whole.data : "");
	/* A green task has no tid, and its name includes its id. */
	object = json_pack("{s:s, s:o, s:o}", "name", name.data, "tid",
			   thread->is_green ? json_string("") : json_integer(thread->tid), "shares",
			   make_shares(bins, row->ns));
	strbuf_release(&name);
	strbuf_release(&whole);
	return object;
}

/*
 * Returns the states of the threads without a row of their own: for each state the mean number of
 * these threads in each bin, in units of 1 / PARTS. The list of a state that none of them had is
 * empty.
 */
static json_t *
make_rest(const struct timeline_bins *bins)
{
	json_t *states = json_array();

	for (size_t state = 0; state < count_states(bins); state++) {
		json_t *counts = json_array();
		double sum = 0;

		for (size_t bin = 0; bin < bins->count; bin++) {
			const double ns = bins->rest.ns[bin * TIMELINE_STATES + state];
			const double length = (double)timeline_bins_length(bins, bin);

			sum += ns;
			json_array_append_new(counts, json_integer(llround(PARTS * ns / length)));
		}
		if (sum <= 0)
			json_array_clear(counts);
		json_array_append_new(states, counts);
	}
	return json_pack("{s:I, s:o}", "count", (json_int_t)bins->rest_count, "states", states);
}

/*
 * Adds the time in which each thread held the interpreter's lock: a string of digits by bin for
 * each row, "" for a thread that never held the lock, and one more string for the threads without a
 * row. The digits of all strings for a bin sum to at most STEPS.
 */
static void
add_gil(const struct timeline_bins *bins, json_t *data)
{
	struct pile *pile = make_piles(bins);
	json_t *held = json_array();

	for (size_t i = 0; i <= bins->row_count; i++) {
		const struct timeline_row *row = i < bins->row_count ? &bins->row[i] : &bins->rest;

		json_array_append_new(held, row->gil_ns != NULL ?
						    next_digits(bins, pile, row->gil_ns, 1) :
						    json_string(""));
	}
	json_object_set_new(data, "gil", held);
	free(pile);
}

/*
 * Adds the mean and maximum number of threads on a CPU in each bin, and the number of CPUs. The
 * mean is in units of 1 / PARTS, or -1 for a bin without a selected tick.
 */
static void
add_load(json_t *data, const struct timeline_bins *bins)
{
	json_t *mean = json_array(), *most = json_array();

	for (size_t bin = 0; bin < bins->count; bin++) {
		const struct timeline_load *load = &bins->load[bin];

		json_array_append_new(mean, json_integer(load->wanted_ns <= 0 ?
								 -1 :
								 llround(PARTS * load->cpu_ns /
									 load->wanted_ns)));
		json_array_append_new(most, json_stream_number(load->most));
	}
	json_object_update_new(data, json_pack("{s:o, s:o, s:I}", "mean", mean, "most", most,
					       "cpus", (json_int_t)bins->cpus));
}

static json_t *
make_parts(const struct timeline_bins *bins)
{
	json_t *parts = json_array();

	for (size_t i = 0; i < bins->part_count; i++) {
		const struct timeline_part *part = &bins->part[i];

		json_array_append_new(parts,
				      json_pack("{s:I, s:I, s:I}", "start",
						(json_int_t)(part->start_ns / NS_PER_US), "end",
						(json_int_t)(part->end_ns / NS_PER_US), "bins",
						(json_int_t)part->count));
	}
	return parts;
}

static json_t *
make_data(const struct timeline_bins *bins, const struct export_input *input)
{
	json_t *data, *states = json_array(), *threads = json_array();

	for (size_t state = 0; state < RUN_STATE_COUNT; state++)
		json_array_append_new(states, json_string(run_state_text((enum run_state)state)));
	if (bins->has_gil)
		json_array_append_new(states, json_string("waiting for the GIL"));
	for (size_t i = 0; i < bins->row_count; i++)
		json_array_append_new(threads, make_thread(bins, &bins->row[i], input->view));
	data = json_pack("{s:i, s:I, s:I, s:o, s:o}", "steps", STEPS, "bin_ns",
			 (json_int_t)bins->bin_ns, "recordings", (json_int_t)input->recording_count,
			 "parts", make_parts(bins), "states", states);
	add_load(data, bins);
	json_object_set_new(data, "threads", threads);
	if (profile_process_count(view_profile(input->view)) > 1)
		add_processes(bins, input->view, data, threads);
	if (bins->rest_count > 0)
		json_object_set_new(data, "rest", make_rest(bins));
	if (bins->has_gil)
		add_gil(bins, data);
	return data;
}

void
html_add_timeline(struct strbuf *out, const struct export_input *input)
{
	struct timeline_bins bins;

	timeline_bins_make(input, BINS, ROWS_MOST, &bins);
	if (profile_process_count(view_profile(input->view)) > 1)
		group_rows(&bins, view_profile(input->view));
	if (bins.count > 0) {
		strbuf_add_text(out, before);
		html_add_json(out, make_data(&bins, input));
		strbuf_add_text(out, after);
	}
	timeline_bins_release(&bins);
}
