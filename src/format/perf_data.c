/* SPDX-License-Identifier: MIT */
/*
 * perf_data.c - writes a perf.data file, see wallsample-formats(5):
 *
 *     header, the ids of the events, their attributes, records, features
 *
 * There are two passes over the records. The first one only counts them, because the header has
 * their size and the output may be a pipe, which cannot be rewound. The format of perf for pipes,
 * which has no sizes, is not used: it stores features as records, which Hotspot does not read, so
 * Hotspot would not know the names of the events.
 */
#include <linux/perf_event.h>
#include <string.h>
#include <time.h>

#include "format/perf_data_internal.h"
#include "wallsample/base/base.h"

/*
 * Sizes and numbers of perf.data-file-format.txt; struct perf_file_header and the features HEADER_…
 * are in tools/perf/util/header.h.
 */
#define HEADER_SIZE 104
#define FEATURE_HOSTNAME 3
#define FEATURE_OSRELEASE 4
#define FEATURE_VERSION 5
#define FEATURE_ARCH 6
#define FEATURE_NRCPUS 7
#define FEATURE_CMDLINE 11
#define FEATURE_EVENT_DESC 12
#define FEATURE_SAMPLE_TIME 21
#define FEATURE_LIMIT 64
/* Texts of features are padded to this size: NAME_ALIGN in header.c. */
#define TEXT_UNIT 64

#define ATTR_SIZE PERF_ATTR_SIZE_VER5
/* An attribute and the section of its ids. */
#define FILE_ATTR_SIZE (ATTR_SIZE + 16)

struct writing {
	const struct export_input *input;
	const struct recording_info *info; /* of the first recording */
	bool has_switches;
	struct perf_data_totals totals;
};

static const char *const event_names[] = {
#define X(name, text) text,
	PERF_DATA_EVENTS(X)
#undef X
};

/* Readers show an event without samples as an empty report. A file has at least one event. */
static bool
has_event(const struct writing *writing, enum perf_data_event event)
{
	const uint64_t *samples = writing->totals.samples;

	return samples[event] > 0 || (event == PERF_DATA_CPU &&
				      samples[PERF_DATA_CPU_WAIT] + samples[PERF_DATA_WAIT] == 0);
}

static size_t
count_events(const struct writing *writing)
{
	size_t count = 0;

	for (size_t i = 0; i < PERF_DATA_EVENT_COUNT; i++)
		count += has_event(writing, (enum perf_data_event)i);
	return count;
}

/* --- attributes ------------------------------------------------------------------------------- */

/*
 * Adds struct perf_event_attr. The type is that of an event whose periods are nanoseconds; readers
 * take the name from FEATURE_EVENT_DESC.
 */
static void
add_attribute(struct strbuf *out, const struct writing *writing)
{
	const bool monotonic = timeline_is_monotonic(writing->input);
	const uint64_t mmap = UINT64_C(1) << 8, comm = UINT64_C(1) << 9,
		       sample_id_all = UINT64_C(1) << 18, mmap2 = UINT64_C(1) << 23,
		       use_clockid = UINT64_C(1) << 25, context_switch = UINT64_C(1) << 26,
		       ksymbol = UINT64_C(1) << 29;
	const double rate = writing->info->rate_hz;
	const size_t start = out->length;

	perf_data_put(out, PERF_TYPE_SOFTWARE, 4);
	perf_data_put(out, ATTR_SIZE, 4);
	perf_data_put(out, PERF_COUNT_SW_CPU_CLOCK, 8);
	perf_data_put(out, rate >= 1 ? (uint64_t)((double)NS_PER_SEC / rate) : NS_PER_SEC, 8);
	perf_data_put(out, PERF_DATA_SAMPLE_TYPE, 8);
	perf_data_put(out, 0, 8); /* read_format */
	perf_data_put(out,
		      mmap | comm | sample_id_all | mmap2 | ksymbol |
			      (monotonic ? use_clockid : 0) |
			      (writing->has_switches ? context_switch : 0),
		      8);
	for (size_t i = 48; i < 92; i += 4)
		perf_data_put(out, 0, 4);
	perf_data_put(out, monotonic ? CLOCK_MONOTONIC : 0, 4); /* clockid */
	while (out->length - start < ATTR_SIZE)
		perf_data_put(out, 0, 4);
}

/* --- features --------------------------------------------------------------------------------- */

/* Adds struct perf_header_string. */
static void
add_header_text(struct strbuf *out, const char *text)
{
	struct strbuf padded = STRBUF_INIT;

	strbuf_add_text(&padded, text);
	strbuf_add(&padded, "", 1);
	perf_data_pad(&padded, TEXT_UNIT);
	perf_data_put(out, padded.length, 4);
	strbuf_add(out, padded.data, padded.length);
	strbuf_release(&padded);
}

static void
add_event_names(struct strbuf *out, const struct writing *writing)
{
	perf_data_put(out, count_events(writing), 4);
	perf_data_put(out, ATTR_SIZE, 4);
	for (size_t i = 0; i < PERF_DATA_EVENT_COUNT; i++) {
		if (!has_event(writing, (enum perf_data_event)i))
			continue;
		add_attribute(out, writing);
		perf_data_put(out, 1, 4); /* number of ids */
		add_header_text(out, event_names[i]);
		perf_data_put(out, perf_data_event_id((enum perf_data_event)i), 8);
	}
}

/* Adds the content of a feature. Adds nothing if the feature is not known. */
static void
add_feature(struct strbuf *out, const struct writing *writing, unsigned feature)
{
	const struct recording_info *info = writing->info;
	const char *text = feature == FEATURE_HOSTNAME  ? info->host :
			   feature == FEATURE_OSRELEASE ? info->kernel :
			   feature == FEATURE_ARCH      ? info->machine :
			   feature == FEATURE_VERSION   ? "wallsample" :
							  "";

	if (text[0] != '\0')
		add_header_text(out, text);
	if (feature == FEATURE_NRCPUS && info->cpus > 0) {
		perf_data_put(out, info->cpus, 4); /* online */
		perf_data_put(out, info->cpus, 4); /* present */
	}
	if (feature == FEATURE_CMDLINE && info->command[0] != '\0') {
		perf_data_put(out, 1, 4); /* number of words */
		add_header_text(out, info->command);
	}
	if (feature == FEATURE_EVENT_DESC)
		add_event_names(out, writing);
	if (feature == FEATURE_SAMPLE_TIME) {
		perf_data_put(out, writing->totals.first_ns, 8);
		perf_data_put(out, writing->totals.last_ns, 8);
	}
}

/*
 * Adds the table of the features, an offset and a size each, which begins at the offset `at` in the
 * file; then the features. Returns their bits in the header.
 */
static uint64_t
add_features(struct strbuf *out, const struct writing *writing, uint64_t at)
{
	struct strbuf feature[FEATURE_LIMIT] = { { .data = NULL } };
	uint64_t bits = 0;
	size_t count = 0;

	for (unsigned i = 0; i < FEATURE_LIMIT; i++) {
		feature[i] = (struct strbuf)STRBUF_INIT;
		add_feature(&feature[i], writing, i);
		bits |= feature[i].length > 0 ? UINT64_C(1) << i : 0;
		count += feature[i].length > 0;
	}
	at += 16 * count;
	for (unsigned i = 0; i < FEATURE_LIMIT; i++) {
		if (feature[i].length == 0)
			continue;
		perf_data_put(out, at, 8);
		perf_data_put(out, feature[i].length, 8);
		at += feature[i].length;
	}
	for (unsigned i = 0; i < FEATURE_LIMIT; i++) {
		strbuf_add(out, feature[i].data, feature[i].length);
		strbuf_release(&feature[i]);
	}
	return bits;
}

/* --- the file --------------------------------------------------------------------------------- */

/* Adds what precedes the records: the header, ids and attributes. */
static void
add_head(struct strbuf *out, const struct writing *writing, uint64_t features)
{
	const uint64_t events = count_events(writing);
	const uint64_t ids = HEADER_SIZE, attributes = ids + 8 * events;
	uint64_t id = ids;

	strbuf_add_text(out, "PERFILE2");
	perf_data_put(out, HEADER_SIZE, 8);
	perf_data_put(out, FILE_ATTR_SIZE, 8);
	perf_data_put(out, attributes, 8);
	perf_data_put(out, FILE_ATTR_SIZE * events, 8);
	perf_data_put(out, attributes + FILE_ATTR_SIZE * events, 8);
	perf_data_put(out, writing->totals.size, 8);
	perf_data_put(out, 0, 8); /* event types, which old versions of perf wrote */
	perf_data_put(out, 0, 8);
	perf_data_put(out, features, 8);
	while (out->length < HEADER_SIZE)
		perf_data_put(out, 0, 8);
	for (size_t i = 0; i < PERF_DATA_EVENT_COUNT; i++)
		if (has_event(writing, (enum perf_data_event)i))
			perf_data_put(out, perf_data_event_id((enum perf_data_event)i), 8);
	for (size_t i = 0; i < events; i++, id += 8) {
		add_attribute(out, writing);
		perf_data_put(out, id, 8);
		perf_data_put(out, 8, 8);
	}
}

static void
write_file(const struct export_input *input, enum perf_data_names names, FILE *out)
{
	struct perf_data_records *records = perf_data_records_create(input, names);
	struct writing writing = { .input = input,
				   .info = recording_info(input->recordings[0]),
				   .has_switches = perf_data_has_switches(input, names) };
	struct strbuf head = STRBUF_INIT, features = STRBUF_INIT;
	uint64_t bits, size;

	perf_data_records_write(records, NULL, &writing.totals);
	size = HEADER_SIZE + (8 + FILE_ATTR_SIZE) * (uint64_t)count_events(&writing);
	bits = add_features(&features, &writing, size + writing.totals.size);
	add_head(&head, &writing, bits);
	fwrite(head.data, 1, head.length, out);
	if (input->error->kind == ERROR_NONE)
		perf_data_records_write(records, out, &writing.totals);
	fwrite(features.data, 1, features.length, out);
	strbuf_release(&head);
	strbuf_release(&features);
	perf_data_records_free(records);
}

static void
perf_data_write(const struct export_input *input, FILE *out)
{
	write_file(input, PERF_DATA_NAMES_SYMBOLS, out);
}

static void
hotspot_write(const struct export_input *input, FILE *out)
{
	write_file(input, PERF_DATA_NAMES_MODULES, out);
}

const struct exporter exporter_perf_data = {
	.name = "perf-data",
	.help = "a perf.data file, for perf report",
	.endings = "perf.data,data.perf,data",
	.noun = "records",
	.options = EXPORT_SORT,
	.binary = true,
	.time = EXPORT_TIME,
	.by_address = true,
	.write = perf_data_write,
};

const struct exporter exporter_hotspot = {
	.name = "hotspot",
	.help = "a perf.data file, for Hotspot",
	.endings = "hotspot,hotspot.data",
	.noun = "records",
	.options = EXPORT_SORT,
	.binary = true,
	.time = EXPORT_TIME,
	.by_address = true,
	.write = hotspot_write,
};
