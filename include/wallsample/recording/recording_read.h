/* SPDX-License-Identifier: MIT */
/*
 * recording_read.h - asks a recording: what it holds, its samples as a profile, its timeline.
 *
 * A recording may come from anybody. It is opened for reading alone; its tables must be, to the
 * letter, those that this program makes; nothing else in it is looked at, nothing is run.
 * Each number is checked for the range that it can have, ids go up, and a stack is made of stacks
 * before it, so that there is no ring. What breaks one of these is ERROR_FORMAT, with a sentence.
 */
#ifndef WALLSAMPLE_RECORDING_RECORDING_READ_H
#define WALLSAMPLE_RECORDING_RECORDING_READ_H

#include "wallsample/recording/recording.h"

struct recording;

/*
 * One that is being written is read as it was at one moment; one whose writer was killed in the
 * middle of a commit is put in order in a private copy.
 */
int recording_open(const char *path, struct recording **out, struct error *err);
/* The temporary one that a recorder writes, as far as it has been committed; it is the
 * recorder's, and must be closed before that. */
int recording_of(struct recorder *recorder, struct recording **out, struct error *err);
void recording_close(struct recording *recording);

struct recording_info {
	const char *path;
	int64_t pid, began; /* began: seconds since 1970 */
	uint64_t clock_ns;  /* CLOCK_MONOTONIC when it began; 0: not known */
	/* "": not known */
	const char *comm, *cmdline, *host, *machine, *kernel, *version, *command,
		*runtime;
	double rate_hz;
	uint32_t cpus;
	bool ended;          /* it has its end; else its writer was killed, or is still at it */
	bool being_written;
	enum run_end end; /* if it has ended */
	uint64_t size;       /* bytes of the file */
	uint64_t ticks, span_ns; /* their number, and the time they span */
	uint64_t modules, threads, frames, stacks, spans, symbols; /* rows */
	bool causal;         /* it has what experiments found */
};

const struct recording_info *recording_info(const struct recording *recording);

/* --- as a profile --------------------------------------------------------------------- */

/*
 * Which ticks are wanted; zeroed: all. A tick is in the time that it spans the end of. What a
 * span weighs is shared out among its ticks by what they weigh.
 */
struct recording_selection {
	bool has_from, has_to;
	int64_t from_ns, to_ns; /* since the beginning; below zero: before the end */
	bool has_parallelism;
	uint32_t least, most;   /* threads on a CPU */
};

/* Names that recordings have: what struct symbols_config calls `stored`. */
struct recorded_names;

struct recorded_names *recorded_names_create(void);
void recorded_names_free(struct recorded_names *names);
size_t recorded_names_find(const void *names, const struct symbol_place *place,
			   struct symbol *out, size_t most);

/* Where a recording goes; several may go to the same place. */
struct recording_load {
	struct profile *profile;
	struct modules *modules;      /* its modules are added; NULL: they are there already */
	struct recorded_names *names; /* or NULL */
	const char *symfs;            /* or NULL */
	uint32_t number;              /* 0, 1, … of several: their threads are kept apart */
	const char *label;            /* goes before the names of its threads; or NULL */
	const struct recording_selection *selection; /* NULL: all */
	bool threads_only;            /* a task's samples are those of the threads that ran it */
	struct run_stats *stats;  /* its cost and losses are added; or NULL */
	uint64_t selected_ns;         /* filled in: time of the ticks that were wanted */
};

int recording_load(struct recording *recording, struct recording_load *load, struct error *err);

/* --- as a timeline ---------------------------------------------------------------------- */

struct recording_span {
	uint32_t thread, stack; /* of the profile it was loaded into last */
	uint32_t carrier;       /* as in struct profile_entry */
	enum run_state state;
	int32_t syscall;
	uint32_t wait;             /* of the same profile */
	enum gil gil;
	uint64_t first_tick, ticks;
	uint64_t settled_tick;     /* RECORDING_BY_TIME: no later one begins before this tick */
	uint64_t start_ns, end_ns; /* since the beginning */
};

enum recording_order {
	RECORDING_AS_WRITTEN, /* nothing has to be sorted */
	RECORDING_BY_TIME,    /* of their beginning, as far as they are not parts of one */
	RECORDING_BY_THREAD,  /* one thread after the other */
};

/*
 * Calls `each` with what threads did, until it returns false: spans of a thread come in the order
 * of time and do not overlap. Time that was charged to a wait, or corrected later, has no place in
 * it. To be called after recording_load, of whose profile the numbers are, and whose selection
 * says of which ticks; a span with ticks that are not wanted in it comes in parts.
 */
int recording_each_span(struct recording *recording, enum recording_order order,
			bool (*each)(void *context, const struct recording_span *span),
			void *context, struct error *err);

struct recording_tick {
	uint64_t start_ns, span_ns;
	uint32_t parallelism, runnable;
	uint32_t ready; /* tasks that no thread had taken up */
};

/* Of those that recording_info counts. */
const struct recording_tick *recording_tick(const struct recording *recording, uint64_t n);
/* Is it among those that the last recording_load wanted? */
bool recording_tick_wanted(const struct recording *recording, uint64_t n);

/* --- as a causal profile ---------------------------------------------------------------- */

/*
 * What experiments found, which the caller releases. ERROR_FORMAT when there is none; after an
 * error the result is empty.
 */
int recording_read_causal(struct recording *recording, struct causal_result *out,
			  struct error *err);

#endif
