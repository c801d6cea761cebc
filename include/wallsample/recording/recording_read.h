/* SPDX-License-Identifier: MIT */
/*
 * recording_read.h - reads a recording: its description, its samples as a profile, its timeline.
 *
 * Recordings are hostile input. The file is opened for reading only. The CREATE statements of its
 * tables must be exactly those of its schema version; views, triggers and other objects are not
 * used. The range of each number is checked, ids ascend, and the caller of a stack has a lower id,
 * so that there is no cycle. ERROR_FORMAT: one of these rules is broken.
 */
#ifndef WALLSAMPLE_RECORDING_RECORDING_READ_H
#define WALLSAMPLE_RECORDING_RECORDING_READ_H

#include "wallsample/recording/recording.h"

struct recording;

/*
 * Opens a recording. One that is being written is read as of one moment. If its writer was killed
 * in a commit, this commit is rolled back in a private copy. The caller closes the recording.
 */
int recording_open(const char *path, struct recording **out, struct error *err);
/* Opens what a recorder has committed. Must be closed before the recorder is freed. */
int recording_of(struct recorder *recorder, struct recording **out, struct error *err);
void recording_close(struct recording *recording);

struct recording_info {
	const char *path;
	int64_t pid, began; /* began: seconds since 1970 */
	uint64_t clock_ns;  /* CLOCK_MONOTONIC when it began; 0: not known */
	/* "": not known */
	const char *comm, *cmdline, *host, *machine, *kernel, *version, *command, *runtime;
	double rate_hz;
	uint32_t cpus;
	bool ended; /* complete; else its writer was killed or still writes */
	bool being_written;
	enum run_end end;        /* if it has ended */
	uint64_t size;           /* bytes of the file */
	uint64_t ticks, span_ns; /* number of ticks, and the sum of their spans */
	uint64_t modules, threads, frames, stacks, spans, symbols; /* rows */
	bool causal;                                               /* it has a causal profile */
};

const struct recording_info *recording_info(const struct recording *recording);

/* --- as a profile --------------------------------------------------------------------- */

/*
 * A selection of ticks; zeroed: all. A tick belongs to the time at which it ends. The weight of a
 * span is divided among its ticks in proportion to their weights.
 */
struct recording_selection {
	bool has_from, has_to;
	int64_t from_ns, to_ns; /* since the beginning; negative: before the end */
	bool has_parallelism;
	uint32_t least, most; /* threads on a CPU */
};

/* Names of frames that recordings store: `stored` of struct symbols_config. */
struct recorded_names;

struct recorded_names *recorded_names_create(void);
void recorded_names_free(struct recorded_names *names);
size_t recorded_names_find(const void *names, const struct symbol_place *place, struct symbol *out,
			   size_t most);

/* What a recording is loaded into; several may be loaded into the same profile. */
struct recording_load {
	struct profile *profile;
	struct modules *modules;      /* its modules are added to these; NULL: they are known */
	struct recorded_names *names; /* or NULL */
	const char *symfs;            /* or NULL */
	uint32_t number;              /* 0, 1, ... of several, whose threads stay separate */
	const char *label;            /* prefix of the names of its threads; or NULL */
	const struct recording_selection *selection; /* NULL: all */
	bool threads_only;       /* samples of a task become those of the thread that ran it */
	struct run_stats *stats; /* its cost and losses are added; or NULL */
	uint64_t selected_ns;    /* filled in: sum of the spans of the selected ticks */
};

int recording_load(struct recording *recording, struct recording_load *load, struct error *err);

/* --- as a timeline ---------------------------------------------------------------------- */

struct recording_span {
	uint32_t thread, stack; /* of the profile that it was last loaded into */
	uint32_t carrier;       /* as in struct profile_entry */
	enum run_state state;
	int32_t syscall;
	uint32_t wait; /* of the same profile */
	enum gil gil;
	uint64_t first_tick, ticks;
	uint64_t settled_tick;     /* RECORDING_BY_TIME: no later span begins before this tick */
	uint64_t start_ns, end_ns; /* since the beginning */
};

enum recording_order {
	RECORDING_AS_WRITTEN, /* without sorting */
	RECORDING_BY_TIME,    /* by the beginning of the stored span */
	RECORDING_BY_THREAD,  /* by thread, then by time */
};

/*
 * Calls `each` with the spans, until it returns false. Spans of a thread are in the order of time
 * and do not overlap. Charges and corrections, which have no place in time, are left out. To be
 * called after recording_load: ids are those of its profile, and a span is split into its parts
 * with ticks of its selection.
 */
int recording_each_span(struct recording *recording, enum recording_order order,
			bool (*each)(void *context, const struct recording_span *span),
			void *context, struct error *err);

struct recording_tick {
	uint64_t start_ns, span_ns;
	uint32_t parallelism, runnable;
	uint32_t ready; /* tasks that waited for a thread */
};

/* `n` is below the number of ticks in struct recording_info. */
const struct recording_tick *recording_tick(const struct recording *recording, uint64_t n);
/* True if the selection of the last recording_load has the tick. */
bool recording_tick_wanted(const struct recording *recording, uint64_t n);

/* --- as a causal profile ---------------------------------------------------------------- */

/*
 * Reads the causal profile, which the caller releases. ERROR_FORMAT: the recording has none. After
 * an error the result is empty.
 */
int recording_read_causal(struct recording *recording, struct causal_result *out,
			  struct error *err);

#endif
