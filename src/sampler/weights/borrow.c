/* SPDX-License-Identifier: MIT */
/*
 * borrow.c - the plan of corrections, and the division of time for which a window has too few
 * samples (weights_internal.h).
 */
#include <math.h>
#include <stdlib.h>

#include "sampler/threads_internal.h"
#include "sampler/weights/weights_internal.h"

/* Number of donors from which on a thread's own are preferred to those of its kind. */
#define DONORS_ENOUGH 8
/* The samples of a window are poor if their `part` is below this share of a tick, the `part` of one
 * exact sample: fewer than 16 samples, none of them exact (IMPORTANCE_ROUGH). A donor is better if
 * their mean importance is below this share of its importance. */
#define POOR (1.0 / 4)
/* Most parts into which borrowed time is divided. */
#define PARTS_MOST 32

/* Most kinds of threads: a program may give each of its threads another name. When there are more,
 * all kinds lose their donors. */
#define KINDS_MOST 4096
/* Number of outermost frames that threads of one kind have in common. */
#define KIND_FRAMES 3

static const char *const unplaced_texts[WEIGHT_CLASSES] = {
	[CLASS_CPU] = PROFILE_UNSAMPLED_CPU,
	[CLASS_QUEUE] = PROFILE_UNSAMPLED_QUEUE,
	[CLASS_BLOCKED] = PROFILE_UNSAMPLED_BLOCKED,
};

static int64_t
between(int64_t value, int64_t least, int64_t most)
{
	return value < least ? least : value > most ? most : value;
}

/* --- the plan  ------------------------------------------------------------------------------ */

struct planned *
weights_plan(struct calibration *calibration, const struct profile_entry *entry, int64_t ns)
{
	struct plan *plan = &calibration->plan;

	plan->item = xgrow(plan->item, &plan->capacity, plan->count + 1, sizeof(*plan->item));
	plan->item[plan->count] = (struct planned){
		.entry = *entry,
		.ns = ns,
		.first_tick = calibration->first_tick,
		.end_tick = profile_tick_count(calibration->run->profile),
	};
	return &plan->item[plan->count++];
}

/* An entry without weight of the thread, with this stack and the state of the class. */
static struct profile_entry
bare_entry(struct run *run, struct sampled_thread *thread, enum weight_class class, uint32_t stack)
{
	static const enum run_state states[WEIGHT_CLASSES] = { RUN_RUNNING, RUN_QUEUED,
							       RUN_UNKNOWN };

	struct profile_entry entry = {
		.stack = stack,
		.state = states[class],
		.syscall = SYSCALL_NONE,
		.gil = GIL_UNKNOWN,
	};

	entry.thread = thread_record_of_sample(run, thread, &entry.carrier);
	return entry;
}

/* --- kinds of threads  ---------------------------------------------------------------------- */

/* Returns a hash of the outermost frames of a stack. */
static uint64_t
hash_root(const struct profile *profile, uint32_t stack)
{
	uint32_t frame[KIND_FRAMES] = { 0 };
	size_t depth = 0;

	for (uint32_t at = stack; at != STACK_NONE; depth++) {
		const struct profile_stack *level = profile_stack(profile, at);

		frame[depth % KIND_FRAMES] = level->frame;
		at = level->caller;
	}
	/* The ring holds the last, that is the outermost, frames; the sum ignores where it begins.
	 */
	return hash_u64(frame[0]) + hash_u64(frame[1]) + hash_u64(frame[2]);
}

/* Returns the donors of threads of the same kind as one with this stack. Valid until the next
 * call. */
static struct donors *
kind_of(struct calibration *calibration, const struct sampled_thread *thread, uint32_t stack,
	enum weight_class class)
{
	struct profile *profile = calibration->run->profile;
	const uint64_t key[2] = { profile_intern_text(profile, thread->name),
				  hash_root(profile, stack) ^ (uint64_t) class };
	uint32_t index;

	if (calibration->kinds.count >= KINDS_MOST)
		table_clear(&calibration->kinds);
	calibration->kind = table_row(&calibration->kinds, key, calibration->kind,
				      &calibration->kind_capacity, sizeof(*calibration->kind),
				      &index);
	return &calibration->kind[index];
}

void
weights_lend(struct calibration *calibration, struct sampled_thread *thread)
{
	struct thread_window *window = &thread->window;

	window_merge(window);
	for (size_t i = 0; i < window->count; i++) {
		const struct window_cell *cell = &window->cell[i];
		const struct profile_entry *entry = profile_entry(calibration->run->profile,
								  cell->entry);
		const enum weight_class class = weight_class_of(entry->state);

		if (class != CLASS_BLOCKED && cell->samples > 0)
			donors_add(kind_of(calibration, thread, entry->stack, class), cell->entry,
				   (double)cell->ns, cell->part);
	}
}

/* --- borrowed time  ------------------------------------------------------------------------- */

/*
 * Sets `unfit` of samples that are to divide time of the class, and returns the number of fit ones.
 * A sample of a thread that was woken from a known sleep and has waited for a CPU since does not
 * show where the thread runs, so that it divides no CPU time. Of the samples of runnable threads
 * only these have a system call (profile_entry.syscall). After a page fault they have none, and
 * stay fit.
 */
static size_t
choose_fit(const struct calibration *calibration, struct donors *donors, enum weight_class class)
{
	const struct profile *profile = calibration->run->profile;
	size_t fit = 0;

	for (uint32_t i = 0; donors != NULL && i < donors->count; i++) {
		struct donor *donor = &donors->donor[i];

		donor->unfit = class == CLASS_CPU &&
			       profile_entry(profile, donor->entry)->syscall != SYSCALL_NONE;
		fit += !donor->unfit;
	}
	return fit;
}

/* Returns samples of the class `from` that are to divide time of `class`, with `unfit` set: those
 * of the thread if enough are fit, else those of its kind; NULL: none are fit. */
static struct donors *
donors_of(struct calibration *calibration, struct sampled_thread *thread, enum weight_class from,
	  enum weight_class class)
{
	struct donors *own = thread->window.donors[from], *kind;
	const size_t fit = choose_fit(calibration, own, class);

	if (fit >= DONORS_ENOUGH)
		return own;
	if (thread->stack != STACK_NONE) {
		kind = kind_of(calibration, thread, thread->stack, from);
		if (choose_fit(calibration, kind, class) > 0)
			return kind;
	}
	return fit > 0 ? own : NULL;
}

/* Returns the donors that divide time of the class; NULL: there are none. A thread that waits for a
 * CPU does so where it was preempted or will continue, so that either runnable class can divide the
 * time of the other. */
static struct donors *
find_donors(struct calibration *calibration, struct sampled_thread *thread, enum weight_class class)
{
	struct donors *found;

	if (class == CLASS_BLOCKED)
		return NULL;
	found = donors_of(calibration, thread, class, class);
	return found != NULL ? found :
			       donors_of(calibration, thread,
					 class == CLASS_CPU ? CLASS_QUEUE : CLASS_CPU, class);
}

bool
weights_has_better(struct calibration *calibration, struct sampled_thread *thread, int64_t ns,
		   double part)
{
	const struct donors *donors;
	bool better = false;

	if (ns <= 0 || part >= POOR * (double)calibration->run->tick.span_ns)
		return false;
	donors = donors_of(calibration, thread, CLASS_CPU, CLASS_CPU);
	for (uint32_t i = 0; donors != NULL && i < donors->count; i++)
		better |= POOR * donors->donor[i].importance > part / (double)ns;
	return better;
}

/* Plans `ns` more for the entry of a donor, which may be another thread's. `from`: number of the
 * first item of the plan that may be the same entry. */
static void
plan_donor(struct calibration *calibration, struct sampled_thread *thread, enum weight_class class,
	   uint32_t donor, int64_t ns, size_t from)
{
	struct plan *plan = &calibration->plan;
	struct profile_entry entry = *profile_entry(calibration->run->profile, donor);
	const uint32_t record = thread_record(calibration->run, thread);

	if (entry.thread != record && entry.carrier != record + 1) {
		entry.thread = thread_record_of_sample(calibration->run, thread, &entry.carrier);
	}
	if (class != CLASS_BLOCKED)
		entry.state = class == CLASS_CPU ? RUN_RUNNING : RUN_QUEUED;
	for (size_t i = from; i < plan->count; i++) {
		const struct profile_entry *at = &plan->item[i].entry;

		if (at->stack != entry.stack || at->thread != entry.thread ||
		    at->gil != entry.gil || at->state != entry.state ||
		    at->carrier != entry.carrier)
			continue;
		plan->item[i].ns += ns;
		return;
	}
	weights_plan(calibration, &entry, ns)->borrowed = true;
}

/* Returns the number of donors of equal weight that would have as much information as the fit
 * donors. One must be fit. */
static double
effective_donors(const struct donors *donors)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < donors->count; i++) {
		const double weight = donors->donor[i].unfit ? 0 : donors->donor[i].weight;

		sum += weight;
		squares += weight * weight;
	}
	return sum * sum / squares;
}

/* Counts CPU time that donors divide in this number of equal parts. */
static void
count_borrowed(struct run_division *division, const struct donors *donors, int64_t ns,
	       int64_t parts)
{
	division->ns += (uint64_t)ns;
	division->squares += (double)ns * (double)ns / (double)parts / (double)NS_PER_SEC;
	division->borrowed += (double)ns / sqrt(effective_donors(donors));
}

/* Gives each item of the plan from number `from` on, which divide the time of `when`, its part of
 * the latency of `when`. */
static void
move_latency(struct plan *plan, size_t from, const struct unplaced *when)
{
	int64_t given = 0, ns = 0;

	for (size_t i = from; i < plan->count; i++) {
		struct planned *item = &plan->item[i];

		ns += item->ns;
		item->latency_ns = llround((double)when->latency_ns * (double)ns /
					   (double)when->ns) -
				   given;
		given += item->latency_ns;
		item->borrowed = false;
		item->moved = true;
		item->first_tick = when->first_tick;
		item->end_tick = when->end_tick;
	}
}

/* Divides `ns` among the latest samples of the class. Returns false if there are none. The ticks of
 * the plan's new items are those of `when`; NULL: of the present window. */
static bool
borrow(struct calibration *calibration, struct sampled_thread *thread, enum weight_class class,
       int64_t ns, const struct unplaced *when)
{
	const struct thread_window *window = &thread->window;
	struct donors *donors = find_donors(calibration, thread, class);
	const int64_t tick_ns = (int64_t)calibration->run->tick.span_ns + 1;
	const int64_t parts = between(ns / tick_ns + 1, 1, PARTS_MOST);
	const size_t from = calibration->plan.count;

	if (donors == NULL && (class != CLASS_BLOCKED || window->blocked == UINT32_MAX))
		return false;
	for (int64_t i = 0; i < (donors != NULL ? parts : 1); i++) {
		const uint32_t entry = donors != NULL ? donors_next(donors) : window->blocked;
		const int64_t part = donors != NULL ? ns * (i + 1) / parts - ns * i / parts : ns;

		plan_donor(calibration, thread, class, entry, part, from);
	}
	if (class == CLASS_CPU)
		count_borrowed(&calibration->run->stats.division, donors, ns, parts);
	if (when != NULL)
		move_latency(&calibration->plan, from, when);
	return true;
}

bool
weights_borrow(struct calibration *calibration, struct sampled_thread *thread,
	       enum weight_class class, int64_t ns)
{
	return borrow(calibration, thread, class, ns, NULL);
}

void
weights_leave_unplaced(struct calibration *calibration, struct sampled_thread *thread,
		       enum weight_class class, int64_t ns)
{
	struct run *run = calibration->run;
	struct unplaced *unplaced = &thread->window.unplaced[class];
	struct profile_entry entry;
	struct planned *item;

	if (class == CLASS_QUEUE && thread->seen) {
		entry = bare_entry(run, thread, class, thread->stack);
		weights_plan(calibration, &entry, ns)->borrowed = true;
		return;
	}
	entry = bare_entry(run, thread, class,
			   stack_of_text(run->profile, unplaced_texts[class], STACK_NONE));
	item = weights_plan(calibration, &entry, ns);
	item->borrowed = true;
	item->unplaced = unplaced;
	if (unplaced->ns == 0)
		unplaced->first_tick = calibration->first_tick;
	unplaced->end_tick = profile_tick_count(run->profile);
	unplaced->ns += ns;
}

void
weights_place(struct calibration *calibration, struct sampled_thread *thread)
{
	for (int class = 0; class < WEIGHT_CLASSES; class ++) {
		struct unplaced *unplaced = &thread->window.unplaced[class];
		struct profile_entry entry;
		struct planned *item;

		if (unplaced->ns == 0 ||
		    !borrow(calibration, thread, (enum weight_class) class, unplaced->ns, unplaced))
			continue;
		entry = bare_entry(calibration->run, thread, (enum weight_class) class,
				   stack_of_text(calibration->run->profile, unplaced_texts[class],
						 STACK_NONE));
		item = weights_plan(calibration, &entry, -unplaced->ns);
		item->moved = true;
		item->latency_ns = -unplaced->latency_ns;
		item->first_tick = unplaced->first_tick;
		item->end_tick = unplaced->end_tick;
		unplaced->ns = unplaced->latency_ns = 0;
	}
}
