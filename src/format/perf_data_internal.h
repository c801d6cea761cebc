/* SPDX-License-Identifier: MIT */
/*
 * perf_data_internal.h - the parts of the exporters of perf.data files (perf_data.c).
 *
 * The layout of the file is that of tools/perf/Documentation/perf.data-file-format.txt in the
 * sources of Linux, the layout of records and attributes that of linux/perf_event.h (uapi). All
 * numbers are little-endian; readers know the byte order from the magic.
 */
#ifndef WALLSAMPLE_FORMAT_PERF_DATA_INTERNAL_H
#define WALLSAMPLE_FORMAT_PERF_DATA_INTERNAL_H

#include "wallsample/report/export.h"
#include "wallsample/report/timeline.h"

/* The events, X(NAME, name): a sample belongs to one of them by the state of its thread. */
#define PERF_DATA_EVENTS(X)                                                                        \
	X(CPU, "cpu")           /* on a CPU */                                                     \
	X(CPU_WAIT, "cpu-wait") /* runnable: waiting for a CPU, a green task for a thread */       \
	X(WAIT, "wait")         /* any other state */

enum perf_data_event {
#define X(name, text) PERF_DATA_##name,
	PERF_DATA_EVENTS(X) PERF_DATA_EVENT_COUNT
#undef X
};

/*
 * Where perf.data stores the names of frames that no ELF file names: functions of interpreted
 * programs, named frames, code of modules that are not known here.
 */
enum perf_data_names {
	/* PERF_RECORD_KSYMBOL: a symbol at an address of the kernel. perf shows the name. */
	PERF_DATA_NAMES_SYMBOLS,
	/* The file name of a mapping: all readers show it as the name of the module. */
	PERF_DATA_NAMES_MODULES,
};

/* True if the file has records of context switches, from which perf counts the threads on a CPU.
 * With WEIGHT_LATENCY it has none: the periods are divided by the parallelism already. The format
 * hotspot has none: Hotspot would take them for real context switches. */
bool perf_data_has_switches(const struct export_input *input, enum perf_data_names names);

/* Returns the event to which samples of threads in this state belong. */
enum perf_data_event perf_data_event_of(enum run_state state);

/* perf_event_attr.sample_type of all events: the members that each sample has. */
#define PERF_DATA_SAMPLE_TYPE                                                                      \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)

/* --- bytes of records, in perf_data_stream.c -------------------------------------------------- */

/* Largest length of a name in bytes, without its zero: KSYM_NAME_LEN, 256, of perf before 6.1. */
#define PERF_DATA_NAME_MOST 255

struct perf_data_stream {
	FILE *out;            /* NULL: records are only counted */
	uint64_t size;        /* of all records that have ended, in bytes */
	struct strbuf record; /* the current record */
};

/* The thread and the time of a record. */
struct perf_data_origin {
	uint32_t pid, tid;
	uint64_t ns;
};

/* Returns the number that PERF_SAMPLE_IDENTIFIER stores for an event; never 0. */
uint64_t perf_data_event_id(enum perf_data_event event);
/* Adds the `size` low bytes of a number, at most 8, in little-endian order. */
void perf_data_put(struct strbuf *out, uint64_t number, size_t size);
/* Adds zeros until the length is a multiple of `unit`. */
void perf_data_pad(struct strbuf *out, size_t unit);
/* Cuts a text to PERF_DATA_NAME_MOST bytes, at the beginning of a character. */
void perf_data_cut_name(struct strbuf *text);
/* Begins a record: struct perf_event_header. Returns stream->record, to which its caller adds. */
struct strbuf *perf_data_begin(struct perf_data_stream *stream, uint32_t type, uint16_t misc);
/* Ends a record: fills in its size and writes it. */
void perf_data_end(struct perf_data_stream *stream);
/* Ends a record that is no sample: adds struct sample_id. */
void perf_data_end_id(struct perf_data_stream *stream, const struct perf_data_origin *origin);
/* Ends such a record whose last member is a text: adds the zero behind the text first. */
void perf_data_end_text(struct perf_data_stream *stream, const struct perf_data_origin *origin);

/* --- addresses, in perf_data_places.c --------------------------------------------------------- */

struct perf_data_places;

struct perf_data_address {
	uint64_t context; /* PERF_CONTEXT_USER or PERF_CONTEXT_KERNEL: the word before addresses */
	uint64_t address;
};

/* The input is borrowed until perf_data_places_free. */
struct perf_data_places *perf_data_places_create(const struct export_input *input,
						 enum perf_data_names names);
void perf_data_places_free(struct perf_data_places *places);
/* Begins a stream: no module and no name is known in it. */
void perf_data_places_restart(struct perf_data_places *places, struct perf_data_stream *stream);
/* Returns true if the function slice->function[at] is inlined into the next function: readers find
 * the names of both for the address of the next function. */
bool perf_data_shares_address(struct perf_data_places *places, const struct timeline_slice *slice,
			      size_t at);
/*
 * Return the address of a function of the view, or of a text. Before the first use of an address
 * in a process, write the record that describes it. The stream must not be within a record.
 */
struct perf_data_address perf_data_address_of(struct perf_data_places *places,
					      struct perf_data_stream *stream,
					      const struct perf_data_origin *origin,
					      uint32_t function);
struct perf_data_address perf_data_address_of_text(struct perf_data_places *places,
						   struct perf_data_stream *stream,
						   const struct perf_data_origin *origin,
						   const char *text);

/* --- all records, in perf_data_records.c ------------------------------------------------------ */

struct perf_data_totals {
	uint64_t size; /* of all records, in bytes */
	uint64_t samples[PERF_DATA_EVENT_COUNT];
	uint64_t first_ns, last_ns; /* times of the first and the last sample; 0: no sample */
};

struct perf_data_records;

/* The input is borrowed until perf_data_records_free. */
struct perf_data_records *perf_data_records_create(const struct export_input *input,
						   enum perf_data_names names);
void perf_data_records_free(struct perf_data_records *records);

/*
 * Goes through the records, and fills in *totals. The first call must be with NULL as `out`: it
 * counts. Then calls with an output write. The totals are the same unless an error of `out` or of a
 * recording has ended the iteration.
 */
void perf_data_records_write(struct perf_data_records *records, FILE *out,
			     struct perf_data_totals *totals);

/* --- periods, in perf_data_weights.c ---------------------------------------------------------- */

struct perf_data_weights;

/* Sums the times of the stacks in the view. The input is borrowed until perf_data_weights_free. */
struct perf_data_weights *perf_data_weights_create(const struct export_input *input);
void perf_data_weights_free(struct perf_data_weights *weights);
/*
 * Returns true if a record of the slice is a sample, false if the report has no time for it. Until
 * perf_data_weights_settle() is called, adds *period to the time that was counted. Afterwards
 * replaces *period by the record's part of the report's time; the parts of all counted records sum
 * up to that time.
 */
bool perf_data_weigh(struct perf_data_weights *weights, const struct timeline_slice *slice,
		     uint64_t *period);
/* Ends the counting; or begins another pass over the same records. */
void perf_data_weights_settle(struct perf_data_weights *weights);
/* Returns the time of a row of the view for which no record was counted; else 0. */
uint64_t perf_data_weights_rest(const struct perf_data_weights *weights, size_t row);

#endif
