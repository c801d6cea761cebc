/* SPDX-License-Identifier: MIT */
/* process_set_look.c - keeps a target set up to date in small steps. */
#include "process/process_set_internal.h"

#include <stdlib.h>

/* CPU time after which a look ends, and its part for listings. */
#define LOOK_NS NS_PER_MS
#define BACKGROUND_NS (NS_PER_MS / 4)
/* The CPU time is read after this much work, in units of the examination of an id of a thread. */
#define WORK_OF_SLICE 16
#define WORK_OF_PROCESS 16
/* Listings that are not urgent leave this much of the budget, half of its most, to new ids. */
#define BACKGROUND_LEFT_NS ((int64_t)(5 * NS_PER_MS))

/* With more new ids than this, /proc is listed in place of them. */
#define NEW_IDS_MOST 4096

/* Periods of the listings of /proc, and of the lists of processes of groups. */
#define LISTING_NS (10 * NS_PER_SEC)
#define LISTS_NS NS_PER_SEC
/* That of the listings of /proc if the kernel does not say the newest id. */
#define BLIND_LISTING_NS (100 * NS_PER_MS)

/* Time after the start of a process in which it is examined again. */
#define YOUNG_NS NS_PER_SEC

/* --- slices of time -------------------------------------------------------------------------- */

struct slice {
	uint64_t end_ns; /* CPU time of the thread */
	unsigned work;
};

static struct slice
slice_begin(uint64_t duration_ns)
{
	return (struct slice){ .end_ns = clock_thread_cpu_ns() + duration_ns };
}

/* To be called after some work. Returns false if the slice has ended. */
static bool
slice_continues(struct slice *slice, unsigned work)
{
	slice->work += work;
	if (slice->work < WORK_OF_SLICE)
		return true;
	slice->work = 0;
	return clock_thread_cpu_ns() < slice->end_ns;
}

/* --- new ids --------------------------------------------------------------------------------- */

/* Returns true if the id has a process or thread. */
static bool
look_at_id(struct process_set *set, pid_t id, enum examine_reason reason, uint64_t now_ns)
{
	enum id_state state = new_ids_state(id);

	/* A process that cannot be examined has ended meanwhile, or /proc does not show it. */
	if (state == ID_PROCESS && !examine_process(set, id, reason, now_ns))
		state = new_ids_state(id);
	return state != ID_UNUSED;
}

/* Returns false when the slice ends. */
static bool
look_at_new_ids(struct process_set *set, struct slice *slice, uint64_t now_ns)
{
	bool left = true;
	pid_t id;

	if (new_ids_count(&set->ids) > NEW_IDS_MOST) {
		set->ids.waiting = false;
		set->listing_wanted = true;
		/* The present listing may have passed the new processes. */
		set->listing_runs = false;
	}
	while (left && (id = new_ids_next(&set->ids)) > 0) {
		const uint64_t before = set->stats.examined;

		set->stats.ids++;
		if (!look_at_id(set, id, EXAMINE_NEW, now_ns) &&
		    !later_add(&set->later, id, 0, now_ns))
			set->stats.ids_ended++;
		left = slice_continues(slice, set->stats.examined != before ? WORK_OF_PROCESS : 1);
	}
	return left;
}

/* --- what is examined again ------------------------------------------------------------------ */

static void
look_again_at_id(struct process_set *set, const struct later *item, uint64_t now_ns)
{
	if (look_at_id(set, item->pid, EXAMINE_AGAIN, now_ns))
		return;
	if (now_ns - item->first_ns < LATER_ALL_NS)
		later_repeat(&set->later, item, now_ns);
	else
		set->stats.ids_ended++;
}

static void
look_again_at_process(struct process_set *set, const struct later *item, uint64_t now_ns)
{
	struct known *known;

	examine_process(set, item->pid, EXAMINE_AGAIN, now_ns);
	known = known_find(&set->known, item->pid);
	if (known == NULL || known->start_time != item->start_time || known->kind == KNOWN_REMOVED)
		return;
	if (now_ns - item->first_ns < YOUNG_NS)
		later_repeat(&set->later, item, now_ns);
	else if (known->kind == KNOWN_STRANGER)
		known_set_kind(&set->known, known, KNOWN_DROPPED);
}

static bool
look_again(struct process_set *set, struct slice *slice, uint64_t now_ns)
{
	struct later item;
	bool left = true;

	while (left && later_next(&set->later, now_ns, &item)) {
		if (item.start_time == 0)
			look_again_at_id(set, &item, now_ns);
		else
			look_again_at_process(set, &item, now_ns);
		left = slice_continues(slice, item.start_time == 0 ? 1 : WORK_OF_PROCESS);
	}
	return left;
}

/* --- lists ----------------------------------------------------------------------------------- */

/* Continues the listing of /proc. */
static void
look_at_listing(struct process_set *set, struct slice *slice, uint64_t now_ns)
{
	bool left = true;
	pid_t pid = 1;

	while (set->listing_runs && left) {
		pid = proc_listing_next(&set->listing);
		set->listing_runs = pid > 0;
		if (pid == 0)
			break;
		/* Also those that belong: their names may have changed, or their ids may be those
		 * of other processes. */
		examine_process(set, pid, EXAMINE_AGAIN, now_ns);
		left = slice_continues(slice, WORK_OF_PROCESS);
	}
	if (pid == 0) {
		set->stats.listings++;
		set->listing_urgent = false;
	}
}

/* A process in the list of a group. */
static void
look_at_listed(struct process_set *set, pid_t pid, uint64_t now_ns)
{
	const struct known *known = known_find(&set->known, pid);

	if (known == NULL || !known_has_descendants(known))
		examine_process(set, pid, EXAMINE_AGAIN, now_ns);
}

/* Continues to read the lists of processes of the groups. */
static void
look_at_groups(struct process_set *set, struct slice *slice, uint64_t now_ns)
{
	char *text;

	while (set->lists_run && slice_continues(slice, WORK_OF_SLICE)) {
		const char *at;
		uint64_t pid;

		set->lists_run = group_rules_next_list(&set->groups, &text);
		if (!set->lists_run || text == NULL)
			continue;
		at = text;
		while (parse_u64(&at, 10, &pid)) {
			if (pid > 0 && pid < PROCESS_ID_LIMIT)
				look_at_listed(set, (pid_t)pid, now_ns);
			at += *at == '\n';
		}
		free(text);
	}
}

/* Begins the lists whose time has come. */
static void
begin_lists(struct process_set *set, uint64_t now_ns)
{
	const bool blind = !set->ids.known;

	if (!set->listing_runs && (set->listing_wanted || now_ns >= set->listing_due_ns)) {
		set->listing_runs = examine_repeats(set) || blind || set->listing_wanted;
		set->listing_urgent = set->listing_wanted;
		set->listing_wanted = false;
		set->listing_due_ns = now_ns + (blind ? BLIND_LISTING_NS : LISTING_NS);
		proc_listing_rewind(&set->listing);
	}
	if (!set->lists_run && set->groups.root_count > 0 && now_ns >= set->lists_due_ns) {
		set->lists_run = true;
		set->lists_due_ns = now_ns + LISTS_NS;
		group_rules_rewind(&set->groups);
	}
}

/* Returns true if a list is being read, or is to be begun. */
static bool
lists_are_due(const struct process_set *set, uint64_t now_ns)
{
	return set->listing_runs || set->listing_wanted || set->lists_run ||
	       now_ns >= set->listing_due_ns ||
	       (set->groups.root_count > 0 && now_ns >= set->lists_due_ns);
}

/* --- a look ---------------------------------------------------------------------------------- */

/* Returns true if there is something to do but the lists. */
static bool
look_is_due(const struct process_set *set, uint64_t now_ns)
{
	return set->ids.waiting || later_is_due(&set->later, now_ns);
}

static void
look_within_budget(struct process_set *set, uint64_t now_ns)
{
	struct slice slice = slice_begin(LOOK_NS);

	if (!look_at_new_ids(set, &slice, now_ns) || !look_again(set, &slice, now_ns))
		return;
	examine_strangers(set, now_ns);
	begin_lists(set, now_ns);
	if (!set->listing_urgent) {
		if (set->budget.left_ns < BACKGROUND_LEFT_NS)
			return;
		slice = slice_begin(BACKGROUND_NS);
	}
	look_at_groups(set, &slice, now_ns);
	look_at_listing(set, &slice, now_ns);
	examine_strangers(set, now_ns);
}

void
process_set_look(struct process_set *set, uint64_t now_ns)
{
	uint64_t began_ns, used_ns;

	set->stats.looks++;
	set->look++;
	if (!set->descendants && !examine_repeats(set))
		return;
	new_ids_read(&set->ids);
	if (!look_is_due(set, now_ns) && !lists_are_due(set, now_ns))
		return;
	began_ns = clock_thread_cpu_ns();
	if (cpu_budget_begin(&set->budget, now_ns))
		look_within_budget(set, now_ns);
	cpu_budget_end(&set->budget);
	set->stats.postponed += look_is_due(set, now_ns);
	used_ns = clock_thread_cpu_ns() - began_ns;
	set->stats.cpu_ns += used_ns;
	if (used_ns > set->stats.cpu_most_ns)
		set->stats.cpu_most_ns = used_ns;
}
