/* SPDX-License-Identifier: MIT */
/*
 * perf_data_records.c - writes the records of a perf.data file: one sample for each thread and tick
 * (tick_records_internal.h), and before the first sample that needs it the name of a thread, the
 * mapping of a module, the name of a frame.
 */
#include "format/perf_data_internal.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "format/tick_records_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/base/table.h"

/* The end of a round (perf.data-file-format.txt): no record after it has an earlier time than a
 * record before it. Readers sort records by time, and need to keep only two rounds of them. */
#define RECORD_FINISHED_ROUND 68
#define ROUND_SAMPLES 10000

/* Largest size of a record: its size is a 16-bit number, and a multiple of 8. */
#define RECORD_SIZE_MOST 65528
/* Largest number of CPUs that perf supports: MAX_NR_CPUS in tools/perf/perf.h. */
#define CPUS_MOST 4096
/* Size of a sample without the words of its call chain. */
#define SAMPLE_SIZE 56
/*
 * Largest number of words in a call chain: addresses and markers of their context. A frame takes
 * at most two words. A longer chain is cut at its outer end, and "[truncated: …]" ends it.
 */
#define CHAIN_WORDS_MOST ((RECORD_SIZE_MOST - SAMPLE_SIZE) / 8)
#define CHAIN_CUT "[truncated: stack too deep for a record]"

struct perf_data_records {
	const struct export_input *input;
	bool has_switches; /* perf_data_has_switches */
	struct perf_data_places *places;
	struct perf_data_weights *weights;
	uint32_t *pid; /* by thread: id of the process of its last tick; 0: none yet */
	uint64_t word[CHAIN_WORDS_MOST]; /* the call chain */
	size_t words;

	/* Of one call of perf_data_records_write(): */
	struct perf_data_stream stream;
	struct perf_data_totals *totals;
	bool *has_comm;    /* by thread of the profile */
	struct table pids; /* ids of processes whose name was written */
	/* The recording of the last sample, and the number of threads of its process that perf
	 * takes to be on a CPU at the time of `last`. */
	const struct recording *recording;
	uint32_t parallelism;
	struct perf_data_origin last;
	struct strbuf scratch;
};

/* --- names of threads ------------------------------------------------------------------------- */

/* Writes PERF_RECORD_COMM for a thread. */
static void
write_comm(struct perf_data_records *records, const struct perf_data_origin *origin,
	   const char *name)
{
	struct strbuf *record = perf_data_begin(&records->stream, PERF_RECORD_COMM, 0);
	struct strbuf *text = &records->scratch;

	strbuf_clear(text);
	strbuf_add_ordered_line(text, name);
	perf_data_cut_name(text);
	perf_data_put(record, origin->pid, 4);
	perf_data_put(record, origin->tid, 4);
	strbuf_add_text(record, text->data);
	perf_data_end_text(&records->stream, origin);
}

static const char *
process_name(const struct perf_data_records *records, uint32_t pid)
{
	const struct profile *profile = view_profile(records->input->view);

	for (size_t i = 0; i < records->input->recording_count; i++) {
		const struct recording_info *info = recording_info(records->input->recordings[i]);

		if ((uint32_t)info->pid == pid)
			return info->comm;
	}
	for (uint32_t i = 0; i < profile_process_count(profile); i++)
		if ((uint32_t)profile_process(profile, i)->pid == pid)
			return profile_text(profile, profile_process(profile, i)->name);
	return records->input->process->comm;
}

static void
name_thread(struct perf_data_records *records, const struct perf_data_origin *origin,
	    uint32_t thread)
{
	const struct perf_data_origin process = { origin->pid, origin->pid, origin->ns };
	struct strbuf name = STRBUF_INIT;
	bool added;

	table_insert(&records->pids, origin->pid, 0, 0, &added);
	if (added)
		write_comm(records, &process, process_name(records, origin->pid));
	if (records->has_comm[thread])
		return;
	records->has_comm[thread] = true;
	view_add_name(records->input->view, thread, &name);
	if (name.length > 0)
		write_comm(records, origin, name.data);
	strbuf_release(&name);
}

/* --- samples ---------------------------------------------------------------------------------- */

static void
add_address(struct perf_data_records *records, const struct perf_data_address *address,
	    uint64_t *context)
{
	if (address->context != *context)
		records->word[records->words++] = *context = address->context;
	records->word[records->words++] = address->address;
}

/* Makes the call chain, and writes the modules and names of its frames. */
static void
make_chain(struct perf_data_records *records, const struct perf_data_origin *origin,
	   const struct timeline_slice *slice)
{
	const char *cut = slice->depth == 0 ? "[no stack]" : NULL;
	struct perf_data_address address;
	uint64_t context = 0;

	records->words = 0;
	for (size_t i = 0; i < slice->depth && cut == NULL; i++) {
		if (records->words + 4 > CHAIN_WORDS_MOST) {
			cut = CHAIN_CUT;
		} else if (!perf_data_shares_address(records->places, slice, i)) {
			address = perf_data_address_of(records->places, &records->stream, origin,
						       slice->function[i]);
			add_address(records, &address, &context);
		}
	}
	if (cut == NULL)
		return;
	address = perf_data_address_of_text(records->places, &records->stream, origin, cut);
	add_address(records, &address, &context);
}

static void
count_sample(struct perf_data_records *records, enum perf_data_event event, uint64_t ns)
{
	struct perf_data_totals *totals = records->totals;
	uint64_t count = 0;

	totals->samples[event]++;
	for (size_t i = 0; i < PERF_DATA_EVENT_COUNT; i++)
		count += totals->samples[i];
	totals->first_ns = count == 1 || ns < totals->first_ns ? ns : totals->first_ns;
	totals->last_ns = ns > totals->last_ns ? ns : totals->last_ns;
	/* The times of several recordings may overlap. */
	if (count % ROUND_SAMPLES == 0 && records->input->recording_count == 1) {
		perf_data_begin(&records->stream, RECORD_FINISHED_ROUND, 0);
		perf_data_end(&records->stream);
	}
}

/* Writes PERF_RECORD_SAMPLE, with the members of PERF_DATA_SAMPLE_TYPE. */
static void
write_sample(struct perf_data_records *records, const struct perf_data_origin *origin,
	     const struct timeline_slice *slice, uint64_t period)
{
	const enum perf_data_event event = perf_data_event_of(slice->state);
	struct strbuf *record;

	name_thread(records, origin, slice->thread);
	make_chain(records, origin, slice);
	record = perf_data_begin(&records->stream, PERF_RECORD_SAMPLE,
				 records->word[0] == PERF_CONTEXT_KERNEL ? PERF_RECORD_MISC_KERNEL :
									   PERF_RECORD_MISC_USER);
	perf_data_put(record, perf_data_event_id(event), 8);
	perf_data_put(record, records->word[1], 8); /* PERF_SAMPLE_IP */
	perf_data_put(record, origin->pid, 4);
	perf_data_put(record, origin->tid, 4);
	perf_data_put(record, origin->ns, 8);
	perf_data_put(record, period, 8);
	perf_data_put(record, records->words, 8);
	for (size_t i = 0; i < records->words; i++)
		perf_data_put(record, records->word[i], 8);
	perf_data_end(&records->stream);
	count_sample(records, event, origin->ns);
}

/* --- context switches ------------------------------------------------------------------------- */

bool
perf_data_has_switches(const struct export_input *input, enum perf_data_names names)
{
	return names == PERF_DATA_NAMES_SYMBOLS && input->sort != WEIGHT_LATENCY;
}

/* Writes PERF_RECORD_SWITCH records until perf counts `wanted` threads on a CPU. perf uses only the
 * number of these records: all of them name the thread of `origin`. */
static void
write_switches(struct perf_data_records *records, const struct perf_data_origin *origin,
	       uint32_t wanted)
{
	while (records->parallelism != wanted) {
		const bool out = records->parallelism > wanted;

		perf_data_begin(&records->stream, PERF_RECORD_SWITCH,
				out ? PERF_RECORD_MISC_SWITCH_OUT : 0);
		perf_data_end_id(&records->stream, origin);
		records->parallelism += out ? UINT32_MAX : 1;
	}
}

/* Writes the switches before a sample of the tick. perf sorts all records by time: the switches of
 * recordings that overlap in time add up. */
static void
write_switches_of(struct perf_data_records *records, const struct perf_data_origin *origin,
		  const struct tick_record *tick)
{
	const uint32_t cpus = recording_info(tick->recording)->cpus;
	const size_t threads = profile_thread_count(view_profile(records->input->view));
	uint32_t most = cpus > 0 && cpus < CPUS_MOST ? cpus : CPUS_MOST;

	if (!records->has_switches)
		return;
	/* A damaged recording may have any number. */
	most = threads < most ? (uint32_t)threads : most;
	if (records->recording != NULL && records->recording != tick->recording)
		write_switches(records, &records->last, 0);
	records->recording = tick->recording;
	records->last = *origin;
	write_switches(records, origin, tick->parallelism < most ? tick->parallelism : most);
}

static uint32_t
thread_number(const struct perf_data_records *records, uint32_t thread)
{
	return (uint32_t)view_thread_number(records->input->view, thread);
}

static bool
write_tick(void *context, const struct tick_record *tick)
{
	struct perf_data_records *records = context;
	const uint32_t thread = tick->slice->thread;
	const struct perf_data_origin origin = {
		.pid = (uint32_t)timeline_pid(records->input, tick->recording, thread),
		.tid = thread_number(records, thread),
		.ns = tick->ns,
	};
	uint64_t period = tick->period;

	records->pid[thread] = origin.pid;
	if (perf_data_weigh(records->weights, tick->slice, &period)) {
		write_switches_of(records, &origin, tick);
		write_sample(records, &origin, tick->slice, period);
	}
	return records->stream.out == NULL || ferror(records->stream.out) == 0;
}

/* Returns the id of the process of a thread without any tick; that of the first process if the
 * thread belongs to none. */
static uint32_t
pid_of(const struct perf_data_records *records, uint32_t thread)
{
	const struct profile *profile = view_profile(records->input->view);
	const uint32_t process = process_of_record(profile, thread);

	return (uint32_t)(process < profile_process_count(profile) ?
				  profile_process(profile, process)->pid :
				  records->input->process->pid);
}

/*
 * Writes a sample at the end for each row without a tick, such as the CPU time of threads that
 * ended before they were seen.
 */
static void
write_rest(struct perf_data_records *records)
{
	const struct view *view = records->input->view;

	for (size_t i = 0; i < view_row_count(view); i++) {
		const struct view_row *row = view_row(view, i);
		const uint64_t period = perf_data_weights_rest(records->weights, i);
		const struct perf_data_origin origin = {
			.pid = records->pid[row->thread] > 0 ? records->pid[row->thread] :
							       pid_of(records, row->thread),
			.tid = thread_number(records, row->thread),
			.ns = records->totals->last_ns,
		};
		const struct timeline_slice slice = { .thread = row->thread,
						      .state = row->state,
						      .function = row->function,
						      .depth = row->depth };

		if (period > 0)
			write_sample(records, &origin, &slice, period);
	}
}

/* --- all records ------------------------------------------------------------------------------ */

struct perf_data_records *
perf_data_records_create(const struct export_input *input, enum perf_data_names names)
{
	const size_t threads = profile_thread_count(view_profile(input->view));
	struct perf_data_records *records = xcalloc(1, sizeof(*records));

	records->input = input;
	records->has_switches = perf_data_has_switches(input, names);
	records->places = perf_data_places_create(input, names);
	records->weights = perf_data_weights_create(input);
	records->has_comm = xcalloc(threads + 1, sizeof(*records->has_comm));
	records->pid = xcalloc(threads + 1, sizeof(*records->pid));
	return records;
}

void
perf_data_records_free(struct perf_data_records *records)
{
	perf_data_places_free(records->places);
	perf_data_weights_free(records->weights);
	table_release(&records->pids);
	strbuf_release(&records->stream.record);
	strbuf_release(&records->scratch);
	free(records->has_comm);
	free(records->pid);
	free(records);
}

void
perf_data_records_write(struct perf_data_records *records, FILE *out,
			struct perf_data_totals *totals)
{
	const size_t threads = profile_thread_count(view_profile(records->input->view));

	*totals = (struct perf_data_totals){ .size = 0 };
	records->totals = totals;
	records->stream.out = out;
	records->stream.size = 0;
	records->recording = NULL;
	records->parallelism = 1; /* perf begins to count at 1 */
	memset(records->has_comm, 0, threads * sizeof(*records->has_comm));
	table_clear(&records->pids);
	perf_data_places_restart(records->places, &records->stream);
	if (out != NULL)
		perf_data_weights_settle(records->weights);
	tick_records_each(records->input, write_tick, records);
	write_rest(records);
	totals->size = records->stream.size;
}
