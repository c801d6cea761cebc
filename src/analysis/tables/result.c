/* SPDX-License-Identifier: MIT */
/*
 * result.c - computes tables of a report: functions, states, threads, and modules without symbols.
 */
#include "wallsample/analysis/result.h"

#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"

static int
compare_numbers(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/*
 * Orders functions by name and module, so that the order of rows with equal times is deterministic.
 */
static int
compare_functions(const struct view *view, uint32_t a, uint32_t b)
{
	const struct view_function *left = view_function(view, a);
	const struct view_function *right = view_function(view, b);
	const int order = strcmp(left->name, right->name);

	return order != 0 ? order : strcmp(left->module, right->module);
}

/* Calls qsort_r() unless the table is empty: `rows` of an empty table may be NULL. */
static void
sort_rows(void *rows, size_t count, size_t size, int (*compare)(const void *, const void *, void *),
	  const void *context)
{
	if (count > 1)
		qsort_r(rows, count, size, compare, (void *)(uintptr_t)context);
}

/* --- functions ------------------------------------------------------------------- */

struct top_order {
	const struct view *view;
	enum weight sort;
};

static int
compare_top(const void *left, const void *right, void *context)
{
	const struct top_order *by = context;
	const struct top_row *a = left, *b = right;
	int order = compare_numbers(b->flat[by->sort], a->flat[by->sort]);

	if (order == 0)
		order = compare_numbers(b->cum[by->sort], a->cum[by->sort]);
	/* Rows with equal weights, often both 0, are ordered by wall time. */
	if (order == 0)
		order = compare_numbers(b->cum[WEIGHT_WALL], a->cum[WEIGHT_WALL]);
	return order != 0 ? order : compare_functions(by->view, a->function, b->function);
}

static bool
weighs_nothing(const int64_t *ns)
{
	for (int w = 0; w < WEIGHT_COUNT; w++)
		if (ns[w] != 0)
			return false;
	return true;
}

/*
 * Raises busy_ns if the estimate of the function's parallelism, CPU time divided by busy_ns,
 * exceeds the highest observed parallelism, which can happen with few samples.
 */
static void
limit_parallelism(const struct profile *profile, struct top_row *row)
{
	const size_t count = profile_parallelism_count(profile);
	const int64_t most = count > 1 ? (int64_t)count - 1 : 0;

	if (most > 0 && row->busy_ns > 0 && row->cum[WEIGHT_CPU] / most > row->busy_ns)
		row->busy_ns = row->cum[WEIGHT_CPU] / most;
}

/* The samples and the functions that a table includes. */
struct top_choice {
	const uint32_t *unit;    /* only samples of this unit are included; NULL: all units */
	const uint32_t *process; /* only samples of this process; NULL: all processes */
	bool program;            /* only functions with view_function.program are included */
};

static bool
choice_has(const struct view *view, const struct top_choice *choice, uint32_t thread)
{
	return (choice->unit == NULL || view_unit(view, thread) == *choice->unit) &&
	       (choice->process == NULL ||
		process_of_record(view_profile(view), thread) == *choice->process);
}

/*
 * Returns the index in sample->function of the function that gets the flat time of the sample: the
 * innermost function, or if `program` is true the innermost function with view_function.program.
 * Returns sample->depth if there is none.
 */
static size_t
place_of_flat(const struct view *view, const struct view_row *sample, bool program)
{
	size_t at = 0;

	while (program && at < sample->depth && !view_function(view, sample->function[at])->program)
		at++;
	return at;
}

static void
make_top(const struct view *view, enum weight sort, struct top_choice choice, struct top_table *out)
{
	const struct top_order order = { view, sort };
	const size_t functions = view_function_count(view);
	struct top_row *row = xcalloc(functions + 1, sizeof(*row));
	/* Indexed by function: 1 + index of the last view row whose time was added; 0: none yet. */
	size_t *counted = xcalloc(functions + 1, sizeof(*counted));
	size_t used = 0;

	for (size_t r = 0; r < view_row_count(view); r++) {
		const struct view_row *sample = view_row(view, r);
		const size_t flat = place_of_flat(view, sample, choice.program);

		if (!choice_has(view, &choice, sample->thread))
			continue;
		if (flat < sample->depth)
			weights_add(row[sample->function[flat]].flat, sample->ns);
		if (flat < sample->depth && sample->state == RUN_RUNNING)
			row[sample->function[flat]].flat_running_ns += sample->ns[WEIGHT_LATENCY];
		for (size_t i = 0; i < sample->depth; i++) {
			const uint32_t function = sample->function[i];

			if (counted[function] == r + 1)
				continue;
			counted[function] = r + 1;
			weights_add(row[function].cum, sample->ns);
			if (run_state_runnable(sample->state) && !view_splits_runnable(view))
				row[function].busy_ns += sample->ns[WEIGHT_LATENCY];
		}
	}
	for (uint32_t f = 0; f < functions; f++) {
		if (row[f].cum[sort] == 0 || (choice.program && !view_function(view, f)->program))
			continue;
		row[used] = row[f];
		limit_parallelism(view_profile(view), &row[used]);
		row[used++].function = f;
	}
	free(counted);
	sort_rows(row, used, sizeof(*row), compare_top, &order);
	*out = (struct top_table){ .row = row, .count = used };
}

void
top_table_make(const struct view *view, enum weight sort, struct top_table *out)
{
	make_top(view, sort, (struct top_choice){ .unit = NULL }, out);
}

void
top_table_make_program(const struct view *view, enum weight sort, struct top_table *out)
{
	bool mixed = false;

	*out = (struct top_table){ 0 };
	for (size_t r = 0; !mixed && r < view_row_count(view); r++) {
		const struct view_row *sample = view_row(view, r);
		const size_t flat = place_of_flat(view, sample, true);

		mixed = flat > 0 && flat < sample->depth;
	}
	if (mixed)
		make_top(view, sort, (struct top_choice){ .program = true }, out);
}

void
top_table_make_thread(const struct view *view, enum weight sort, uint32_t thread,
		      struct top_table *out)
{
	make_top(view, sort, (struct top_choice){ .unit = &thread }, out);
}

void
top_table_make_process(const struct view *view, enum weight sort, uint32_t process,
		       struct top_table *out)
{
	make_top(view, sort, (struct top_choice){ .process = &process }, out);
}

void
top_table_release(struct top_table *table)
{
	free(table->row);
	*table = (struct top_table){ 0 };
}

/* --- states ------------------------------------------------------------------------ */

static int
compare_states(const void *left, const void *right, void *context)
{
	const struct state_row *a = left, *b = right;
	int order = compare_numbers(b->ns[WEIGHT_WALL], a->ns[WEIGHT_WALL]);

	(void)context;
	if (order == 0)
		order = compare_numbers(a->state, b->state);
	return order != 0 ? order : compare_numbers(a->syscall, b->syscall);
}

void
state_table_make(const struct view *view, struct state_table *out)
{
	size_t capacity = 0;
	struct table known = { 0 };

	*out = (struct state_table){ 0 };
	for (size_t r = 0; r < view_row_count(view); r++) {
		const struct view_row *sample = view_row(view, r);
		const bool waits = sample->state == RUN_SLEEPING ||
				   sample->state == RUN_UNINTERRUPTIBLE;
		const int32_t syscall = waits ? sample->syscall : (int32_t)SYSCALL_NONE;
		uint32_t at;

		out->row = table_row(&known, (uint64_t[]){ sample->state, (uint32_t)syscall },
				     out->row, &capacity, sizeof(*out->row), &at);
		out->row[at].state = sample->state;
		out->row[at].syscall = syscall;
		out->row[at].samples += sample->samples;
		weights_add(out->row[at].ns, sample->ns);
	}
	out->count = known.count;
	table_release(&known);
	sort_rows(out->row, out->count, sizeof(*out->row), compare_states, NULL);
}

/* --- threads ----------------------------------------------------------------------- */

/* The flat wall time of a function in a thread, or in a unit if table rows are units. */
struct own_time {
	uint32_t thread, function;
	int64_t flat_ns;
};

static int
compare_threads(const void *left, const void *right, void *context)
{
	const struct profile *profile = context;
	const struct thread_row *a = left, *b = right;
	int order = compare_numbers(b->runnable_ns, a->runnable_ns);

	if (order == 0)
		order = compare_numbers(b->ns[WEIGHT_WALL], a->ns[WEIGHT_WALL]);
	if (order == 0)
		order = compare_numbers(profile_thread(profile, a->thread)->tid,
					profile_thread(profile, b->thread)->tid);
	return order != 0 ? order : compare_numbers(a->thread, b->thread);
}

/* Returns the unit of the thread if table rows are units, else the thread. */
static uint32_t
unit_or_thread(const struct view *view, uint32_t thread, bool by_unit)
{
	return by_unit ? view_unit(view, thread) : thread;
}

/*
 * Sets `top` of each row to the function with the most flat wall time in the row's thread or unit,
 * and `top_ns` to this time. With `code`, the time of each stack is that of its place
 * (own_place()).
 */
static void
find_top_functions(const struct view *view, bool by_unit, const struct own *code,
		   struct thread_row *row)
{
	struct own_time *own = NULL;
	size_t capacity = 0;
	struct table known = { 0 };
	uint32_t at;

	for (size_t r = 0; r < view_row_count(view); r++) {
		const struct view_row *sample = view_row(view, r);
		const uint32_t thread = unit_or_thread(view, sample->thread, by_unit);
		uint32_t function;

		if (sample->depth == 0)
			continue;
		function = sample->function[code != NULL ? own_place(code, sample->function,
								     sample->depth) :
							   0];
		own = table_row(&known, (uint64_t[]){ thread, function }, own, &capacity,
				sizeof(*own), &at);
		own[at].thread = thread;
		own[at].function = function;
		own[at].flat_ns += sample->ns[WEIGHT_WALL];
	}
	for (size_t i = 0; i < known.count; i++) {
		struct thread_row *thread = &row[own[i].thread];
		int order = compare_numbers(own[i].flat_ns, thread->top_ns);

		if (order == 0 && thread->top != view_function_count(view))
			order = compare_functions(view, thread->top, own[i].function);
		if (order <= 0)
			continue;
		thread->top = own[i].function;
		thread->top_ns = own[i].flat_ns;
	}
	table_release(&known);
	free(own);
}

/* Sets `green_count` of each row to the unit's number of green tasks with samples, and sets
 * `uncounted`. */
static void
count_green(const struct view *view, struct thread_row *row)
{
	const size_t threads = profile_thread_count(view_profile(view));
	bool *seen = xcalloc(threads + 1, sizeof(*seen));

	for (size_t r = 0; r < view_row_count(view); r++) {
		const uint32_t thread = view_row(view, r)->thread;
		const struct profile_thread *of = profile_thread(view_profile(view), thread);
		struct thread_row *unit = &row[view_unit(view, thread)];

		unit->green_count += !seen[thread] && of->is_green;
		unit->uncounted |= of->is_green && of->green_id == 0;
		seen[thread] = true;
	}
	free(seen);
}

static void
make_threads(const struct view *view, bool by_unit, const struct own *code,
	     struct thread_table *out)
{
	const size_t threads = profile_thread_count(view_profile(view));
	struct thread_row *row = xcalloc(threads + 1, sizeof(*row));
	size_t used = 0;

	for (uint32_t t = 0; t < threads; t++)
		row[t] = (struct thread_row){
			.thread = t,
			.top = (uint32_t)view_function_count(view),
		};
	for (size_t r = 0; r < view_row_count(view); r++) {
		const struct view_row *sample = view_row(view, r);

		const uint32_t thread = unit_or_thread(view, sample->thread, by_unit);

		weights_add(row[thread].ns, sample->ns);
		if (run_state_runnable(sample->state))
			row[thread].runnable_ns += sample->ns[WEIGHT_WALL];
	}
	if (by_unit)
		count_green(view, row);
	find_top_functions(view, by_unit, code, row);
	for (size_t t = 0; t < threads; t++)
		if (!weighs_nothing(row[t].ns))
			row[used++] = row[t];
	sort_rows(row, used, sizeof(*row), compare_threads, view_profile(view));
	*out = (struct thread_table){ .row = row, .count = used };
}

void
thread_table_make(const struct view *view, struct thread_table *out)
{
	make_threads(view, false, NULL, out);
}

void
thread_table_make_units(const struct view *view, const struct own *code, struct thread_table *out)
{
	make_threads(view, true, code, out);
}

void
thread_table_release(struct thread_table *table)
{
	free(table->row);
	*table = (struct thread_table){ 0 };
}

/* --- modules without names ------------------------------------------------------------ */

static int
compare_bare(const void *left, const void *right, void *context)
{
	const struct unnamed_row *a = left, *b = right;
	int order = compare_numbers(b->cum[WEIGHT_WALL], a->cum[WEIGHT_WALL]);

	(void)context;
	if (order == 0)
		order = compare_numbers(b->flat[WEIGHT_WALL], a->flat[WEIGHT_WALL]);
	return order != 0 ? order : strcmp(a->module, b->module);
}

/*
 * Returns a row for each module that has functions without a symbol, and adds their number to
 * *count, which the caller sets to 0. For each function, sets of_function to the index of its
 * module's row, or to UINT32_MAX if the function has a symbol. The caller frees the rows.
 */
static struct unnamed_row *
list_bare_modules(const struct view *view, uint32_t *of_function, size_t *count)
{
	struct unnamed_row *row = NULL;
	size_t capacity = 0;
	struct strings *names = strings_create();

	for (uint32_t f = 0; f < view_function_count(view); f++) {
		const struct view_function *function = view_function(view, f);

		of_function[f] = UINT32_MAX;
		if (function->known)
			continue;
		of_function[f] = strings_intern(names, function->module);
		if (of_function[f] < *count)
			continue;
		row = xgrow(row, &capacity, *count + 1, sizeof(*row));
		row[(*count)++] = (struct unnamed_row){
			.module = function->module,
			.module_id = function->module_id,
		};
	}
	strings_free(names);
	return row;
}

void
unnamed_table_make(const struct view *view, struct unnamed_table *out)
{
	const size_t functions = view_function_count(view);
	uint32_t *of_function = xcalloc(functions + 1, sizeof(*of_function));
	size_t modules = 0, used = 0, *counted;
	struct unnamed_row *row = list_bare_modules(view, of_function, &modules);

	/* Indexed by module: 1 + index of the last view row whose time was added; 0: none yet. */
	counted = xcalloc(modules + 1, sizeof(*counted));
	for (size_t r = 0; r < view_row_count(view); r++) {
		const struct view_row *sample = view_row(view, r);

		for (size_t i = 0; i < sample->depth; i++) {
			const uint32_t at = of_function[sample->function[i]];

			if (at == UINT32_MAX)
				continue;
			if (i == 0)
				weights_add(row[at].flat, sample->ns);
			if (counted[at] != r + 1)
				weights_add(row[at].cum, sample->ns);
			counted[at] = r + 1;
		}
	}
	for (size_t m = 0; m < modules; m++)
		if (!weighs_nothing(row[m].cum))
			row[used++] = row[m];
	free(counted);
	free(of_function);
	sort_rows(row, used, sizeof(*row), compare_bare, NULL);
	*out = (struct unnamed_table){ .row = row, .count = used };
}
