/* SPDX-License-Identifier: MIT */
/*
 * recording_read.h - reads a recording: its description, its samples as a profile, its timeline.
 *
 * Recordings are hostile input. The file is opened for reading only. The CREATE statements of its
 * tables must be exactly those of its schema version; views, triggers and other objects are not
 * used. The range of each number is checked. Ids must ascend, the caller of a stack must have a
 * lower id than the stack, so that there is no cycle, and the tables meta and processes must
 * describe the same process. A recording that breaks one of these rules gives ERROR_FORMAT. In this
 * header "task" means a green task (green_task.h).
 */
#ifndef WALLSAMPLE_RECORDING_RECORDING_READ_H
#define WALLSAMPLE_RECORDING_RECORDING_READ_H

#include "wallsample/recording/recording.h"

struct recording;

/*
 * Opens a recording, which the caller closes. All later reads see its state at this call, even if
 * it is still being written. If it is, or its writer was killed, the file and its log or journal
 * are read in a private copy below TMPDIR, by default below /var/tmp. Returns 0; ERROR_FORMAT
 * (negated) if the file is no recording, or is damaged; ERROR_SYSTEM (negated) if it cannot be
 * read. After an error *out is NULL.
 */
int recording_open(const char *path, struct recording **out, struct error *err);
/* Opens for reading the rows that a recorder has committed. The caller closes the recording before
 * it frees the recorder. Returns 0 or an error as recording_open. */
int recording_of(struct recorder *recorder, struct recording **out, struct error *err);
void recording_close(struct recording *recording);

struct recording_info {
	const char *path;
	int64_t pid, began; /* began: date of the beginning of the first tick, in s since 1970 */
	uint64_t clock_ns;  /* CLOCK_MONOTONIC at the beginning of the first tick; 0: not known */
	/* Each text is "" if it is not known. */
	const char *comm, *cmdline, *host, *machine, *kernel, *version, *command, *runtime, *unread,
		*others, *cpu_group;
	double rate_hz;
	uint32_t cpus;
	bool ended; /* the recording is complete; else its writer was killed or still writes */
	bool being_written;
	enum run_end end;        /* why the run ended, if `ended` is true */
	uint64_t size;           /* size of the file in bytes; 0 after recording_of */
	uint64_t ticks, span_ns; /* number of ticks, and sum of their spans */
	/* numbers of rows */
	uint64_t modules, processes, threads, frames, stacks, spans, symbols;
	bool causal; /* the recording has a causal profile */
};

const struct recording_info *recording_info(const struct recording *recording);

/* --- as a profile --------------------------------------------------------------------- */

/*
 * A selection of ticks. A zeroed selection has all ticks. The times select the ticks that end in
 * (from_ns, to_ns]. In a group of several recordings (see below) ticks are cut where a tick of
 * another recording begins or ends, and the selection applies to the pieces.
 *
 * If only some ticks of a row of samples are selected, its samples and weights are multiplied by
 * the share that the selected ticks have in a sum over all ticks of the row. For the samples, wall
 * and CPU time this is the sum of dt, the span of a tick; for the latency of a runnable thread, the
 * sum of dt / number of runnable threads; for the latency of a waiting thread, the sum of dt over
 * the ticks without a runnable thread.
 */
struct recording_selection {
	bool has_from, has_to;
	/* In ns since the beginning of the group's first tick. A negative time counts back from the
	 * end of its last tick. */
	int64_t from_ns, to_ns;
	bool has_parallelism;
	uint32_t least, most; /* range of the number of threads on a CPU */
};

/* Names of frames that recordings store. recorded_names_find finds the names of a place; it is a
 * callback for symbols_config.stored. */
struct recorded_names;
struct recorded_names *recorded_names_create(void);
void recorded_names_free(struct recorded_names *names);
size_t recorded_names_find(const void *names, const struct symbol_place *place, struct symbol *out,
			   size_t most);

/*
 * Destination of a load, and the part of the recording that is loaded. Several recordings may be
 * loaded into the same profile.
 *
 * A group: recordings of one machine whose times overlap, directly or through other recordings of
 * the group. They are recordings of the same seconds, and are loaded as if one recording had been
 * made of all their processes:
 * - the elapsed time is the time from the first beginning to the last end;
 * - the numbers of threads on a CPU, of runnable threads and of ready tasks are added over time;
 *   of more threads on a CPU than there are CPUs, the excess is counted at the next time with a
 *   CPU to spare and a runnable thread;
 * - latency is weighted again, so that its sum is the elapsed time: in time dt, in which r threads
 *   of the group were runnable, each of them gets dt / r; time without a runnable thread of the
 *   group belongs to the recording that first has a runnable thread again.
 * Groups are loaded as if one came after the other.
 */
struct recording_load {
	struct profile *profile;
	/* The recording's modules are added to this. NULL: none are added, and the frames in the
	 * profile get the module ids of the recording. */
	struct modules *modules;
	struct recorded_names *names; /* gets stored names of frames; NULL: not needed */
	const char *symfs;            /* directory with a copy of the target's files; NULL: none */
	/* 0, 1, ...: number of the recording. Threads of different recordings stay separate. */
	uint32_t number;
	const char *label; /* prefix of the names of threads; NULL: no prefix */
	const struct recording_selection *selection; /* NULL: all ticks */
	/* Samples of a task become samples of the thread that ran it. Samples of a task that no
	 * thread ran are left out. */
	bool threads_only;
	/* the cost and losses of the recording are merged into this; NULL: not needed */
	struct run_stats *stats;
	/* Results. `group` is the index of the first recording of the group. The others are of
	 * this first recording, and 0 for the other recordings of the group. */
	size_t group;
	size_t members;               /* number of recordings of the group */
	uint64_t selected_ns, all_ns; /* elapsed time of the group: selected, and all of it */
	uint32_t cpus; /* number of CPUs that several members may use; 0: one member, not known */
};

/*
 * Adds the selected part of a recording to load->profile, and to the other destinations in *load
 * that are not NULL. Returns 0; ERROR_FORMAT (negated) if the recording is damaged, ERROR_SYSTEM
 * (negated) if it cannot be read. After an error the profile has a part of the samples.
 */
int recording_load(struct recording *recording, struct recording_load *load, struct error *err);
/* Does this for several recordings: load[i] is for recording[i]. Destinations and selections must
 * be the same for all, numbers and labels must differ. */
int recordings_load(struct recording *const *recording, struct recording_load *load, size_t count,
		    struct error *err);
/*
 * True if both recordings store CLOCK_MONOTONIC and come from one boot of one machine: they have
 * the same host, and both clocks give about the same time from one recording to the other.
 */
bool recording_shares_clock(const struct recording *recording, const struct recording *other);

/* --- as a timeline ---------------------------------------------------------------------- */

struct recording_span {
	uint32_t thread, stack; /* ids in the profile of the last recording_load */
	uint32_t carrier; /* 1 + thread that ran the task; 0: none, as in struct profile_entry */
	enum run_state state;
	int32_t syscall;
	uint32_t wait; /* id in the profile of the last recording_load; 0: none */
	enum gil gil;
	uint64_t first_tick, ticks;
	/* RECORDING_BY_TIME: no span of a later call begins before this tick */
	uint64_t settled_tick;
	uint64_t start_ns, end_ns; /* in ns since the beginning of the first tick */
};

enum recording_order {
	RECORDING_AS_WRITTEN, /* by id of the span's row in the file */
	/* by first tick as stored, before a selection or an overlap cuts the span */
	RECORDING_BY_TIME,
	RECORDING_BY_THREAD, /* by thread, then by time */
};

/*
 * Calls `each` with each span, until `each` returns false, which is no error. The spans of one
 * thread are passed in the order of time and do not overlap. Rows whose samples or ticks are not
 * above 0 have no place in time and are left out: latency that was charged later (profile_charge),
 * and corrections (profile_add). To be called after recording_load, whose last call determines the
 * profile to which the ids belong, whether samples of tasks become samples of threads, and the
 * selected ticks. A span is cut to its selected ticks: `each` is called once for each contiguous
 * part. Returns 0 or an error as recording_load.
 */
int recording_each_span(struct recording *recording, enum recording_order order,
			bool (*each)(void *context, const struct recording_span *span),
			void *context, struct error *err);

struct recording_tick {
	/* start_ns: since the beginning of the first tick */
	uint64_t start_ns, span_ns;
	uint32_t parallelism, runnable;
	uint32_t ready; /* number of tasks that waited for a thread to run them */
};

/* Returns a tick; `n` is below recording_info.ticks. The pointer is valid until recording_close. */
const struct recording_tick *recording_tick(const struct recording *recording, uint64_t n);
/* Returns the first recording of the group of the last load. */
const struct recording *recording_group(const struct recording *recording);
/* Returns the tick with the mean numbers of threads of the whole group of the last load. */
const struct recording_tick *recording_joint_tick(const struct recording *recording, uint64_t n);
/* True if the last recording_load selected the tick, or at least half of its time. */
bool recording_tick_wanted(const struct recording *recording, uint64_t n);

/* --- as a causal profile ---------------------------------------------------------------- */

/*
 * Reads the causal profile, which the caller releases. Returns 0; ERROR_FORMAT (negated) if the
 * recording has no causal profile, or is damaged; ERROR_SYSTEM (negated) if it cannot be read.
 * After an error the result is empty.
 */
int recording_read_causal(struct recording *recording, struct causal_result *out,
			  struct error *err);

#endif
