/* SPDX-License-Identifier: MIT */
/*
 * finding.c - computes the shares of the rules of finding.h from the rows of a view.
 */
#include "wallsample/analysis/finding.h"

#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/analysis/margin.h"
#include "wallsample/runtime/language.h"

/*
 * Number of innermost functions of a stack that are searched for a lock function (lock_functions):
 * a lock function calls others to wait.
 */
#define LOCK_FRAMES 6

/*
 * The time of a finding: by function, and in total (`part`). The share of the finding is `part`
 * divided by `whole`.
 */
struct sum {
	double *of_function; /* indexed by function of the view */
	double part, whole;
};

struct finder {
	const struct view *view;
	const struct own *own;
	const struct run_stats *stats;
	/*
	 * cpus: CPUs that the program may use. most: largest number of CPUs that were busy at one
	 * tick.
	 */
	unsigned cpus, most;
	struct sum sum[FINDING_COUNT];
	double gil_waits; /* time that threads waited for an interpreter's lock */
	double real;      /* all real time */
	double runnable;  /* real time in which a thread was runnable */
};

/* --- what a thread waits for --------------------------------------------------------- */

/* Native functions that return when a lock is acquired; '*' matches any text. */
/* clang-format off */
static const char *const lock_functions[] = {
	"pthread_mutex_lock", "__pthread_mutex_lock", "___pthread_mutex_lock",
	"pthread_mutex_timedlock", "pthread_mutex_clocklock",
	"pthread_mutex_lock@plt", "__lll_lock_wait*", "__lll_mutex_lock*", "lll_mutex_lock*",
	"pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "__pthread_rwlock_rdlock*",
	"__pthread_rwlock_wrlock*", "___pthread_rwlock_*", "pthread_spin_lock",
	"std::mutex::lock", "std::unique_lock*::lock", "std::sync::mutex::Mutex<T>::lock",
	"std::sys::sync::mutex::futex::Mutex::lock_contended",
	"<std::sys::sync::mutex::futex::Mutex>::lock_contended",
	"parking_lot::raw_mutex::RawMutex::lock_slow", "flockfile", "_IO_flockfile",
};

/* Native functions that make a system call that reads or writes, and that the kernel counts in
 * /proc/PID/io: recv(2) and send(2) are not counted. */
static const char *const transfer_functions[] = {
	"read", "__read*", "__libc_read*", "__GI___libc_read", "pread*", "__libc_pread*", "readv",
	"write", "__write*", "__libc_write*", "__GI___libc_write", "pwrite*", "__libc_pwrite*",
	"writev",
};

/* Native functions that use a CPU only to wait for another thread. */
static const char *const spin_functions[] = {
	"pthread_spin_lock", "__pthread_spin_lock", "sched_yield", "__sched_yield",
	"pthread_yield", "std::this_thread::yield", "std::thread::yield_now",
};
/* clang-format on */

static bool
is_one_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *known = names[i];
		const char *star = strchr(known, '*');
		const size_t length = star != NULL ? (size_t)(star - known) : strlen(known);

		if (strncmp(name, known, length) != 0)
			continue;
		if (star == NULL ? name[length] == '\0' :
				   star[1] == '\0' || strstr(name + length, star + 1) != NULL)
			return true;
	}
	return false;
}

static bool
is_lock_function(const char *name)
{
	return is_one_of(name, lock_functions, ARRAY_SIZE(lock_functions)) ||
	       language_takes_lock(name);
}

const struct database_lock *
finding_database_lock(const struct view *view, const uint32_t *function, size_t depth)
{
	const char *name[DATABASE_LOCK_FRAMES];
	size_t count = 0;

	for (; count < depth && count < DATABASE_LOCK_FRAMES; count++)
		name[count] = view_function(view, function[count])->name;
	return database_lock_find(name, count);
}

bool
finding_is_in_lock(const struct view *view, const uint32_t *function, size_t depth)
{
	for (size_t i = 0; i < depth && i < LOCK_FRAMES; i++)
		if (is_lock_function(view_function(view, function[i])->name))
			return true;
	return finding_database_lock(view, function, depth) != NULL;
}

/* True if the row waits for a lock, an interpreter's lock included. */
static bool
waits_for_lock(const struct view *view, const struct view_row *row)
{
	if (run_state_runnable(row->state) || row->state == RUN_READY)
		return false;
	return row->gil == GIL_WAIT || syscall_waits_for_file_lock(row->syscall, row->state) ||
	       finding_is_in_lock(view, row->function, row->depth);
}

bool
finding_waits_for_file(enum run_state state, int32_t syscall)
{
	return syscall_waits_for_file(syscall, state) ||
	       (syscall == SYSCALL_NONE && (state == RUN_UNINTERRUPTIBLE || state == RUN_SLEEPING));
}

/*
 * True if the row is a gap: real time without a runnable thread, which the sampler has charged to
 * the wait that ended the gap.
 */
static bool
is_gap(const struct view *view, const struct view_row *row)
{
	return row->depth > 0 && view_is_gap(view_function(view, row->function[row->depth - 1]));
}

/* --- sums ----------------------------------------------------------------------------- */

/*
 * Returns the function of the row that a finding names; view_function_count() if that is a named
 * frame or the row has no function.
 */
static uint32_t
function_of(const struct finder *finder, const struct view_row *row)
{
	const uint32_t none = (uint32_t)view_function_count(finder->view);
	const uint32_t id =
		row->depth > 0 ? row->function[own_place(finder->own, row->function, row->depth)] :
				 none;

	return id == none || view_is_named(view_function(finder->view, id)) ? none : id;
}

static void
add_part(struct finder *finder, enum finding_kind kind, const struct view_row *row, double ns)
{
	const uint32_t function = function_of(finder, row);

	finder->sum[kind].part += ns;
	if (function < view_function_count(finder->view))
		finder->sum[kind].of_function[function] += ns;
}

/* Adds a row by its innermost function. */
static void
add_running_function(struct finder *finder, const struct view_row *row)
{
	const char *name = view_function(finder->view, row->function[0])->name;

	if (is_one_of(name, transfer_functions, ARRAY_SIZE(transfer_functions)))
		add_part(finder, FINDING_CALLS, row, (double)row->ns[WEIGHT_LATENCY]);
	if (is_one_of(name, spin_functions, ARRAY_SIZE(spin_functions)))
		add_part(finder, FINDING_SPIN, row, (double)row->ns[WEIGHT_CPU]);
	finder->sum[FINDING_SPIN].whole += (double)row->ns[WEIGHT_CPU];
}

static void
add_runnable_row(struct finder *finder, const struct view_row *row)
{
	const double latency = (double)row->ns[WEIGHT_LATENCY];
	const double cpu = (double)row->ns[WEIGHT_CPU];
	const double wall = (double)row->ns[WEIGHT_WALL];

	/*
	 * The shares of SERIAL and CPU come from add_histogram(), which does not know functions.
	 * The time of each function is an estimate: whenever the row ran, either one CPU or `most`
	 * CPUs are assumed to have been busy.
	 */
	if (finder->most > 1) {
		const double alone = (finder->most * latency - cpu) / (finder->most - 1);

		add_part(finder, FINDING_SERIAL, row, alone > 0 ? alone : 0);
	} else {
		add_part(finder, FINDING_SERIAL, row, latency);
	}
	add_part(finder, FINDING_CPU, row, cpu);
	if (row->state == RUN_QUEUED)
		add_part(finder, FINDING_QUEUE, row, wall);
	if (row->depth > 0)
		add_running_function(finder, row);
	finder->runnable += latency;
	finder->sum[FINDING_QUEUE].whole += wall;
	finder->sum[FINDING_LOCK].whole += wall;
}

static void
add_gil(struct finder *finder, const struct view_row *row)
{
	const double wall = (double)row->ns[WEIGHT_WALL];

	if (row->gil == GIL_HAS)
		add_part(finder, FINDING_GIL, row, wall);
	else if (row->gil == GIL_WAIT || row->gil == GIL_HANDOVER)
		finder->gil_waits += wall;
}

static void
finder_add_row(struct finder *finder, const struct view_row *row)
{
	add_gil(finder, row);
	finder->sum[FINDING_STOPPED].whole += (double)row->ns[WEIGHT_WALL];
	if (row->state == RUN_STOPPED)
		add_part(finder, FINDING_STOPPED, row, (double)row->ns[WEIGHT_WALL]);
	if (is_gap(finder->view, row)) {
		add_part(finder,
			 finding_waits_for_file(row->state, row->syscall) ? FINDING_IO :
									    FINDING_IDLE,
			 row, (double)row->ns[WEIGHT_LATENCY]);
	} else if (run_state_runnable(row->state)) {
		add_runnable_row(finder, row);
	} else if (waits_for_lock(finder->view, row)) {
		if (row->gil != GIL_WAIT)
			add_part(finder, FINDING_LOCK, row, (double)row->ns[WEIGHT_WALL]);
		finder->sum[FINDING_LOCK].whole += (double)row->ns[WEIGHT_WALL];
	}
}

/*
 * Adds waits for the interpreter's lock to the finding LOCK. To be called only if the rule GIL
 * yields no finding.
 */
static void
add_gil_waits(struct finder *finder)
{
	for (size_t i = 0; i < view_row_count(finder->view); i++) {
		const struct view_row *row = view_row(finder->view, i);

		if (row->gil == GIL_WAIT && !is_gap(finder->view, row) &&
		    !run_state_runnable(row->state) && waits_for_lock(finder->view, row))
			add_part(finder, FINDING_LOCK, row, (double)row->ns[WEIGHT_WALL]);
	}
}

static void
add_histogram(struct finder *finder)
{
	const struct profile *profile = view_profile(finder->view);
	double time = 0, alone = 0, full = 0;

	for (size_t p = 0; p < profile_parallelism_count(profile); p++) {
		const struct profile_parallelism *at = profile_parallelism(profile, p);

		time += (double)at->time_ns;
		alone += p == 1 ? (double)at->alone_ns : 0;
		full += p >= finder->cpus && p > 0 ? (double)at->time_ns : 0;
	}
	/* With one CPU a thread that runs alone uses all CPUs. */
	finder->sum[FINDING_SERIAL].part = finder->cpus > 1 ? alone : 0;
	finder->sum[FINDING_CPU].part = full;
	finder->sum[FINDING_SERIAL].whole = finder->sum[FINDING_CPU].whole = time;
	finder->sum[FINDING_IO].whole = finder->sum[FINDING_IDLE].whole = time;
	finder->sum[FINDING_GIL].whole = finder->real = time;
	finder->sum[FINDING_CALLS].whole = time;
	if (finder->gil_waits <= GIL_WAIT_LIMIT * time || gil_is_several(profile))
		finder->sum[FINDING_GIL].part = 0;
}

/* Adds what the kernel has counted. */
static void
add_work(struct finder *finder)
{
	const struct counters *work = &finder->stats->work;
	const double calls = (double)work->reads + (double)work->writes;
	const double bytes = (double)work->read_bytes + (double)work->written_bytes;
	const double elapsed = (double)finder->stats->elapsed_ns;

	finder->sum[FINDING_LIMIT].part = (double)work->throttled_ns;
	finder->sum[FINDING_LIMIT].whole = elapsed;
	if (calls * (double)NS_PER_SEC < CALLS_LEAST * elapsed || bytes > CALL_BYTES_MOST * calls)
		finder->sum[FINDING_CALLS].part = 0;
}

/* --- findings --------------------------------------------------------------------------- */

static const double thresholds[] = {
#define X(name, threshold) threshold,
	FINDINGS(X)
#undef X
};

static uint32_t
largest(const struct finder *finder, enum finding_kind kind)
{
	const double *of_function = finder->sum[kind].of_function;
	const size_t count = view_function_count(finder->view);
	uint32_t best = (uint32_t)count;

	for (uint32_t f = 0; f < count; f++)
		if (of_function[f] > 0 && (best == count || of_function[f] > of_function[best]))
			best = f;
	return best;
}

static int
compare_findings(const void *left, const void *right)
{
	const struct finding *a = left, *b = right;
	int order = (a->real < b->real) - (a->real > b->real);

	return order != 0 ? order : (int)a->kind - (int)b->kind;
}

/*
 * Returns part / whole, at most 1, and stores the margin of error of that share. Only the time that
 * a thread ran with the GIL depends on how samples divide CPU time among stacks (`division`): the
 * other findings are sums of states, or of stacks of sleeping threads.
 */
static double
share_of(const struct finder *finder, enum finding_kind kind, double part, double whole,
	 double *margin)
{
	const struct profile *profile = view_profile(finder->view);
	const struct run_division *division = kind == FINDING_GIL || kind == FINDING_CALLS ||
							      kind == FINDING_SPIN ?
						      &finder->stats->division :
						      NULL;
	const double share = part < whole ? part / whole : 1;

	*margin = margin_of_share(share,
				  margin_ticks(profile, division, WEIGHT_LATENCY, (int64_t)whole));
	return share;
}

/*
 * Sets kind, share, margin and real of `found`. Returns true if the share minus its margin reaches
 * the threshold of the rule, and the real time minus its margin FINDING_REAL_LIMIT.
 */
static bool
reaches_threshold(const struct finder *finder, enum finding_kind kind, struct finding *found)
{
	const struct sum *sum = &finder->sum[kind];
	double real = sum->part, margin;

	*found = (struct finding){ .kind = kind };
	if (sum->whole <= 0 || sum->part <= 0 || finder->real <= 0)
		return false;
	found->share = share_of(finder, kind, sum->part, sum->whole, &found->margin);
	if (kind == FINDING_QUEUE && real > finder->runnable)
		real = finder->runnable;
	found->real = share_of(finder, kind, real, finder->real, &margin);
	return found->share - found->margin >= thresholds[kind] &&
	       found->real - margin >= FINDING_REAL_LIMIT;
}

static void
judge(struct finder *finder, struct findings *out)
{
	struct finding found;

	if (!reaches_threshold(finder, FINDING_GIL, &found))
		add_gil_waits(finder);
	for (int kind = 0; kind < FINDING_COUNT; kind++) {
		const struct sum *sum = &finder->sum[kind];

		if (!reaches_threshold(finder, (enum finding_kind)kind, &found))
			continue;
		found.function = largest(finder,
					 found.kind == FINDING_LIMIT ? FINDING_QUEUE : found.kind);
		if (found.kind == FINDING_GIL)
			found.waiting = finder->gil_waits / sum->whole;
		out->item[out->count++] = found;
	}
	qsort(out->item, out->count, sizeof(out->item[0]), compare_findings);
}

void
findings_make(const struct view *view, const struct own *own, const struct run_stats *stats,
	      struct findings *out)
{
	const size_t most = profile_parallelism_count(view_profile(view));
	struct finder finder = {
		.view = view, .own = own, .stats = stats, .most = most > 0 ? (unsigned)most - 1 : 0
	};

	*out = (struct findings){ 0 };
	finder.cpus = stats->cpus > 0 ? stats->cpus : finder.most;
	for (int kind = 0; kind < FINDING_COUNT; kind++)
		finder.sum[kind].of_function = xcalloc(view_function_count(view) + 1,
						       sizeof(double));
	for (size_t i = 0; i < view_row_count(view); i++)
		finder_add_row(&finder, view_row(view, i));
	add_histogram(&finder);
	add_work(&finder);
	judge(&finder, out);
	for (int kind = 0; kind < FINDING_COUNT; kind++)
		free(finder.sum[kind].of_function);
}
