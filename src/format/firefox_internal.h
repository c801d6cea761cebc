/* SPDX-License-Identifier: MIT */
/*
 * firefox_internal.h - parts of the exporter for the Firefox Profiler: the categories of samples,
 * and the tables that all threads of the file share.
 */
#ifndef WALLSAMPLE_FORMAT_FIREFOX_INTERNAL_H
#define WALLSAMPLE_FORMAT_FIREFOX_INTERNAL_H

#include "wallsample/base/table.h"
#include "wallsample/report/json_stream.h"
#include "wallsample/report/timeline.h"

/* --- categories (firefox_category.c) ------------------------------------------------------ */

/*
 * What a thread did in a sample: X(NAME, text, colour). The colours are those of the viewer's type
 * CategoryColor. The viewer needs one category with the colour "grey", which it gives to call nodes
 * whose samples have different categories. It knows the category "Idle" by its name: a switch
 * leaves its samples out, and threads without samples of other categories are hidden at first.
 */
#define FIREFOX_CATEGORIES(X)                                                                      \
	X(OTHER, "Other", "grey")                                                                  \
	X(RUNNING, "Running", "green")                                                             \
	X(QUEUED, "Waiting for a CPU", "yellow")                                                   \
	X(LOCK, "Blocked: lock", "red")                                                            \
	X(GIL, "Waiting for the GIL", "magenta")                                                   \
	X(PEER, "Blocked: I/O or peer", "blue")                                                    \
	X(STOPPED, "Stopped", "brown")                                                             \
	X(IDLE, "Idle", "transparent") /* sleeps for a time, or until there is work */

enum firefox_category {
#define X(name, text, colour) FIREFOX_##name,
	FIREFOX_CATEGORIES(X) FIREFOX_CATEGORY_COUNT
#undef X
};

/* A category and an index in its list of subcategories; index 0 is the category itself. */
struct firefox_doing {
	enum firefox_category category;
	uint32_t subcategory;
};

struct firefox_doing firefox_doing_of(const struct view *view, const struct timeline_slice *slice);
/* Returns the text of FIREFOX_CATEGORIES. */
const char *firefox_category_text(enum firefox_category category);
/* Writes the member "categories" of the object that is open. */
void firefox_put_categories(struct json_stream *json);

/* --- shared tables (firefox_tables.c) ----------------------------------------------------- */

/* Cells of a grid that are written as null and as false. */
#define FIREFOX_NULL INT64_MIN
#define FIREFOX_FALSE (INT64_MIN + 1)

/* A table of the format: an object with a list of numbers for each column. */
struct firefox_grid {
	const char *const *column; /* names, terminated by NULL */
	size_t width;              /* number of columns */
	int64_t *cell;             /* row by row */
	size_t rows, capacity;
};

struct firefox_tables {
	const struct export_input *input;
	struct strings *texts;
	struct firefox_grid stacks, frames, functions, resources, sources, symbols;
	/* Keys of rows: (caller's row + 1, frame); (function of the view, category and
	 * subcategory); (name, resource and source); (module or its name, 0); (file, 0). */
	struct table stack_rows, frame_rows, function_rows, resource_rows, source_rows;
	uint32_t *libs; /* ids of modules, in the order of the member "libs" */
	size_t lib_count, lib_capacity;
	struct strbuf scratch;
};

void firefox_tables_init(struct firefox_tables *tables, const struct export_input *input);
void firefox_tables_release(struct firefox_tables *tables);
/* Returns the index of a text in the list of texts. It is escaped as by json_stream_text(). */
uint32_t firefox_text(struct firefox_tables *tables, const char *text);
/*
 * Returns the row of a stack in the table of stacks: that of the slice; a frame "[no stack]" if the
 * slice has no functions. All frames have the category, the innermost one also the subcategory.
 */
uint32_t firefox_stack(struct firefox_tables *tables, const struct timeline_slice *slice,
		       struct firefox_doing doing);
/* Returns the row of a stack with the frame "[no data]". */
uint32_t firefox_stack_without_data(struct firefox_tables *tables);
/* Writes the members "libs" and "shared" of the object that is open. */
void firefox_put_tables(struct firefox_tables *tables, struct json_stream *json);

/* --- markers (firefox_markers.c) ---------------------------------------------------------- */

/* A stretch of time in which a thread waited, or held the interpreter's lock. */
struct firefox_marker {
	uint64_t start_ns, end_ns;
	enum firefox_category category;
	bool waits;                   /* false: the thread held the lock */
	uint32_t name, object, state; /* texts; only if `waits` is true all of them are set */
};

/* The markers of one thread; empty if all its bytes are zero. The caller frees `marker`. */
struct firefox_markers {
	struct firefox_marker *marker;
	size_t count, capacity;
	/* 1 + index of the marker that the next slice may continue; 0: none */
	size_t wait, hold;
	struct timeline_slice last; /* the slice that was added last; without its functions */
};

/* Removes all markers: the next slice is of another thread. */
void firefox_markers_clear(struct firefox_markers *markers);
/*
 * Adds the slice of a thread with this category if the thread waits for a lock, for I/O or for a
 * peer, or holds the interpreter's lock. Slices are added in the order of time.
 */
void firefox_markers_add(struct firefox_markers *markers, struct firefox_tables *tables,
			 const struct timeline_slice *slice, enum firefox_category category);
/* Writes the member "markers" of a thread. base_ns: time 0 of the file. */
void firefox_put_markers(const struct firefox_markers *markers, struct json_stream *json,
			 uint64_t base_ns);
/* Writes the member "markerSchema": what the viewer shows of a marker. */
void firefox_put_marker_schema(struct json_stream *json);

#endif
