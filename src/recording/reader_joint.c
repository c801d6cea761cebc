/* SPDX-License-Identifier: MIT */
/*
 * reader_joint.c - finds the recordings of the same seconds, and adds up their ticks over time.
 *
 * The ticks of a group of recordings (recording_read.h) are cut at the beginning and the end of
 * each of them. In a piece between two cuts the numbers of threads of all recordings are constant,
 * and are added. A recording that overlaps with no other is a group of one, whose pieces are its
 * ticks.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recording/reader_internal.h"
#include "recording/reader_joint_internal.h"
#include "wallsample/base/base.h"

/*
 * The time from one recording to another can be computed from their values of CLOCK_REALTIME and
 * from those of CLOCK_MONOTONIC. If both come from one boot of one machine, the two results differ
 * by less than this. (Recordings store CLOCK_REALTIME in whole seconds.)
 */
#define CLOCKS_APART_NS (2 * NS_PER_SEC)
/* The mean parallelism is an estimate. If it exceeds the number of CPUs by more than this share,
 * the processes of the group may use different CPUs. */
#define ESTIMATE_APART 0.05

/* --- groups ------------------------------------------------------------------------------- */

bool
recording_shares_clock(const struct recording *recording, const struct recording *other)
{
	const struct recording_info *a = &recording->info, *b = &other->info;
	const double dates = (double)(a->began - b->began) * (double)NS_PER_SEC;
	const double clocks = (double)(int64_t)(a->clock_ns - b->clock_ns);

	return a->clock_ns > 0 && b->clock_ns > 0 && strcmp(a->host, b->host) == 0 &&
	       fabs(dates - clocks) < (double)CLOCKS_APART_NS;
}

static bool
recordings_overlap(const struct recording *recording, const struct recording *other)
{
	const struct recording_info *a = &recording->info, *b = &other->info;

	return recording_shares_clock(recording, other) && a->clock_ns < b->clock_ns + b->span_ns &&
	       b->clock_ns < a->clock_ns + a->span_ns;
}

/* Sets load[i].group of all recordings to the index of the first recording of its group. */
static void
find_groups(struct recording *const *recording, struct recording_load *load, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		load[i].group = i;
		for (size_t k = 0; k < i; k++) {
			const size_t from = load[i].group, to = load[k].group;

			if (from == to || !recordings_overlap(recording[i], recording[k]))
				continue;
			/* The recording joins the group, or joins two groups. */
			for (size_t m = 0; m <= i; m++)
				if (load[m].group == from || load[m].group == to)
					load[m].group = from < to ? from : to;
		}
	}
}

/* --- ticks of a group ------------------------------------------------------------------------ */

struct member {
	struct recording *recording;
	uint64_t base_ns; /* beginning of the recording, in ns since that of the group */
	size_t next; /* the tick in progress, or the first one if the recording is yet to begin */
	/* end of the ticks without a runnable thread that the tick in progress belongs to, in ns
	 * since the beginning of the group; UINT64_MAX if the recording ends with them */
	uint64_t gap_end_ns;
	/* integrals of the numbers of the group over the part of the tick that is past, in ns */
	double parallelism_ns, runnable_ns;
};

struct joint {
	struct member *member;
	size_t count;
	struct recording_load *load; /* that of the first member */
	uint64_t now_ns, span_ns;    /* in ns since the beginning of the group; its length */
	uint32_t cpus;               /* upper bound of the parallelism; 0: none */
	/* time in ns of threads on a CPU that is yet to be counted: `cpus` did not admit it */
	double excess_ns;
	bool wanted; /* the present piece is selected */
};

static bool
member_is_active(const struct joint *joint, const struct member *member)
{
	return member->next < member->recording->tick_count && member->base_ns <= joint->now_ns;
}

static const struct recording_tick *
member_tick(const struct member *member)
{
	return &member->recording->tick[member->next];
}

static uint64_t
member_tick_end(const struct member *member)
{
	const struct recording_tick *tick = member_tick(member);

	return member->base_ns + tick->start_ns + tick->span_ns;
}

static void
find_gap_end(struct member *member)
{
	const struct recording *recording = member->recording;
	size_t n = member->next;

	if (member_tick(member)->runnable > 0 || member->gap_end_ns >= member_tick_end(member))
		return;
	while (n < recording->tick_count && recording->tick[n].runnable == 0)
		n++;
	member->gap_end_ns = n < recording->tick_count ?
				     member->base_ns + recording->tick[n].start_ns :
				     UINT64_MAX;
}

/* Begins the tick member->next, if there is one: its sums begin with those of the tick before. */
static void
member_begin_tick(struct member *member)
{
	struct tick_sum *sum = &member->recording->sums[member->next];
	const struct recording_tick *tick;
	double ns;

	if (member->next == member->recording->tick_count)
		return;
	tick = member_tick(member);
	ns = (double)tick->span_ns;
	sum[1] = sum[0];
	sum[1].ns[0] += ns;
	if (tick->runnable == 0)
		sum[1].gap[0] += ns;
	else
		sum[1].latency[0] += ns / tick->runnable;
	member->parallelism_ns = member->runnable_ns = 0;
	find_gap_end(member);
}

/* Ends the tick in progress. It is selected if at least half of its time is. */
static void
member_end_tick(const struct joint *joint, struct member *member)
{
	struct recording *recording = member->recording;
	const struct recording_tick *tick = member_tick(member);
	const struct tick_sum *sum = &recording->sums[member->next];
	const double ns = (double)tick->span_ns;

	if (recording->wanted != NULL)
		recording->wanted[member->next] = ns > 0 ? 2 * (sum[1].ns[1] - sum[0].ns[1]) >= ns :
							   joint->wanted;
	if (recording->joint != NULL) {
		recording->joint[member->next] = *tick;
		if (ns > 0) {
			struct recording_tick *to = &recording->joint[member->next];

			to->parallelism = (uint32_t)(member->parallelism_ns / ns + 0.5);
			to->runnable = (uint32_t)fmax(member->runnable_ns / ns + 0.5,
						      tick->runnable > 0);
		}
	}
	member->next++;
	member_begin_tick(member);
}

/*
 * Returns the time in ns since the beginning of the group. If `ns` is negative, it is relative to
 * the end of the group.
 */
static int64_t
moment(const struct joint *joint, int64_t ns)
{
	return ns < 0 ? (int64_t)joint->span_ns + ns : ns;
}

static bool
piece_is_selected(const struct joint *joint, uint64_t until_ns, uint32_t parallelism)
{
	const struct recording_selection *selection = joint->load->selection;
	const int64_t end_ns = (int64_t)until_ns;

	if (selection == NULL)
		return true;
	if (selection->has_from && end_ns <= moment(joint, selection->from_ns))
		return false;
	if (selection->has_to && end_ns > moment(joint, selection->to_ns))
		return false;
	return !selection->has_parallelism ||
	       (parallelism >= selection->least && parallelism <= selection->most);
}

/*
 * Returns the parallelism of a piece in which the members have found `found` threads on a CPU in
 * all. Members observe their threads at different moments of a tick, so the sum may exceed the
 * number of CPUs: the excess is counted in the next pieces with a CPU to spare and a runnable
 * thread.
 */
static uint32_t
share_cpus(struct joint *joint, uint32_t found, double ns)
{
	double spare;

	if (joint->cpus == 0 || ns <= 0)
		return found;
	if (found > joint->cpus) {
		joint->excess_ns += (found - joint->cpus) * ns;
		return joint->cpus;
	}
	spare = fmin(joint->cpus - found, floor(joint->excess_ns / ns));
	joint->excess_ns -= spare * ns;
	return found + (uint32_t)spare;
}

/*
 * Returns the member whose wait ends the time in which no thread of the group can run: of those
 * that are in such time, the one in which a thread can run first.
 */
static struct member *
find_gap_member(const struct joint *joint)
{
	struct member *first = NULL;

	for (size_t i = 0; i < joint->count; i++) {
		struct member *member = &joint->member[i];

		if (member_is_active(joint, member) &&
		    (first == NULL || member->gap_end_ns < first->gap_end_ns))
			first = member;
	}
	return first;
}

/* Adds the selected piece, with `runnable` threads, to the sums of the members. */
static void
charge_piece(const struct joint *joint, uint32_t runnable, double ns)
{
	struct member *gap = runnable == 0 ? find_gap_member(joint) : NULL;

	for (size_t i = 0; i < joint->count; i++) {
		const struct member *member = &joint->member[i];
		struct tick_sum *sum = &member->recording->sums[member->next + 1];

		if (!member_is_active(joint, member))
			continue;
		sum->ns[1] += ns;
		if (member_tick(member)->runnable > 0)
			sum->latency[1] += ns / runnable;
		else if (member == gap)
			sum->gap[1] += ns;
	}
}

/* Adds the piece from joint->now_ns to `until_ns` to the profile and to the members. */
static void
joint_add_piece(struct joint *joint, uint64_t until_ns)
{
	struct recording_load *load = joint->load;
	const uint64_t span_ns = until_ns - joint->now_ns;
	const double ns = (double)span_ns;
	uint32_t parallelism = 0, runnable = 0, ready = 0;

	for (size_t i = 0; i < joint->count; i++)
		if (member_is_active(joint, &joint->member[i])) {
			const struct recording_tick *tick = member_tick(&joint->member[i]);

			parallelism += tick->parallelism;
			runnable += tick->runnable;
			ready += tick->ready;
		}
	if (parallelism > PARALLELISM_MOST)
		parallelism = PARALLELISM_MOST;
	if (runnable > 0)
		parallelism = share_cpus(joint, parallelism, ns);
	if (joint->count > 1 && runnable < parallelism)
		runnable = parallelism;
	for (size_t i = 0; i < joint->count; i++)
		if (member_is_active(joint, &joint->member[i])) {
			joint->member[i].parallelism_ns += parallelism * ns;
			joint->member[i].runnable_ns += runnable * ns;
		}
	joint->wanted = piece_is_selected(joint, until_ns, parallelism);
	if (!joint->wanted)
		return;
	charge_piece(joint, runnable, ns);
	load->selected_ns += span_ns;
	profile_set_ready(load->profile, load->threads_only ? 0 : ready);
	profile_add_tick(load->profile, span_ns, parallelism, runnable);
}

/* Returns the next beginning or end of a tick; false if all recordings have ended. */
static bool
joint_next(const struct joint *joint, uint64_t *until_ns)
{
	*until_ns = UINT64_MAX;
	for (size_t i = 0; i < joint->count; i++) {
		const struct member *member = &joint->member[i];
		uint64_t next_ns;

		if (member->next == member->recording->tick_count)
			continue;
		next_ns = member_is_active(joint, member) ? member_tick_end(member) :
							    member->base_ns;
		*until_ns = next_ns < *until_ns ? next_ns : *until_ns;
	}
	return *until_ns != UINT64_MAX;
}

static void
joint_sweep(struct joint *joint)
{
	uint64_t until_ns;

	for (size_t i = 0; i < joint->count; i++)
		member_begin_tick(&joint->member[i]);
	while (joint_next(joint, &until_ns)) {
		joint_add_piece(joint, until_ns);
		for (size_t i = 0; i < joint->count; i++) {
			struct member *member = &joint->member[i];

			if (member_is_active(joint, member) && member_tick_end(member) <= until_ns)
				member_end_tick(joint, member);
		}
		joint->now_ns = until_ns;
	}
}

/* --- preparation ---------------------------------------------------------------------------- */

void
reader_release_joint(struct recording *recording)
{
	free(recording->sums);
	free(recording->wanted);
	free(recording->turn);
	free(recording->joint);
	recording->sums = NULL;
	recording->wanted = NULL;
	recording->turn = NULL;
	recording->joint = NULL;
}

/* Sets recording->turn, by which split_span skips over ticks without a loop over each of them. */
static void
find_turns(struct recording *recording)
{
	const size_t count = recording->tick_count;

	if (recording->wanted == NULL)
		return;
	recording->turn = xcalloc(count + 1, sizeof(*recording->turn));
	for (size_t i = count; i-- > 0;)
		recording->turn[i] = i + 1 < count && recording->wanted[i] ==
							      recording->wanted[i + 1] ?
					     recording->turn[i + 1] :
					     i + 1;
}

static void
prepare_member(struct recording *recording, bool selects, bool joins)
{
	const size_t count = recording->tick_count + 1;

	reader_release_joint(recording);
	recording->sums = xcalloc(count, sizeof(*recording->sums));
	if (selects)
		recording->wanted = xcalloc(count, sizeof(*recording->wanted));
	if (joins)
		recording->joint = xcalloc(count, sizeof(*recording->joint));
}

/* Returns the largest number of CPUs that a member may use, or more if the members have used more:
 * they then use different CPUs. 0: not known, or the group has one member. */
static uint32_t
count_cpus(const struct joint *joint)
{
	double cpu_ns = 0;
	uint32_t cpus = 0;

	for (size_t i = 0; joint->count > 1 && i < joint->count; i++) {
		const struct recording *recording = joint->member[i].recording;

		if (recording->info.cpus == 0)
			return 0;
		if (recording->info.cpus > cpus)
			cpus = recording->info.cpus;
		for (size_t n = 0; n < recording->tick_count; n++)
			cpu_ns += (double)recording->tick[n].span_ns *
				  recording->tick[n].parallelism;
	}
	if (cpus > 0 && joint->span_ns > 0)
		cpus = (uint32_t)fmin(fmax(cpus, ceil((1 - ESTIMATE_APART) * cpu_ns /
						      (double)joint->span_ns)),
				      PARALLELISM_MOST);
	return cpus;
}

/* Adds the ticks of the group that begins with recording[first]. */
static void
load_group(struct recording *const *recording, struct recording_load *load, size_t count,
	   size_t first)
{
	struct joint joint = { .load = &load[first] };
	uint64_t start_ns = UINT64_MAX;

	joint.member = xcalloc(count - first, sizeof(*joint.member));
	for (size_t i = first; i < count; i++)
		if (load[i].group == first) {
			joint.member[joint.count++].recording = recording[i];
			if (recording[i]->info.clock_ns < start_ns)
				start_ns = recording[i]->info.clock_ns;
		}
	for (size_t i = 0; i < joint.count; i++) {
		struct member *member = &joint.member[i];
		const struct recording_info *info = &member->recording->info;

		member->base_ns = info->clock_ns - start_ns;
		if (joint.span_ns < member->base_ns + info->span_ns)
			joint.span_ns = member->base_ns + info->span_ns;
		prepare_member(member->recording, load[first].selection != NULL, joint.count > 1);
	}
	joint.cpus = count_cpus(&joint);
	load[first].all_ns = joint.span_ns;
	load[first].cpus = joint.cpus;
	load[first].members = joint.count;
	joint_sweep(&joint);
	for (size_t i = 0; i < joint.count; i++)
		find_turns(joint.member[i].recording);
	free(joint.member);
}

void
reader_join(struct recording *const *recording, struct recording_load *load, size_t count)
{
	find_groups(recording, load, count);
	for (size_t i = 0; i < count; i++)
		recording[i]->group = recording[load[i].group];
	for (size_t i = 0; i < count; i++)
		load[i].selected_ns = load[i].all_ns = load[i].cpus = load[i].members = 0;
	for (size_t i = 0; i < count; i++)
		if (load[i].group == i)
			load_group(recording, load, count, i);
}
