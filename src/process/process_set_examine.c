/* SPDX-License-Identifier: MIT */
/* process_set_examine.c - applies the rules of a target set to one process. */
#include "process/process_set_internal.h"

#include <fnmatch.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Largest size of /proc/PID/cgroup that is read. */
#define GROUPS_LIMIT ((size_t)64 << 10)

/* A process that is being examined. */
struct candidate {
	pid_t pid;
	struct task_stat stat;
	char word[FIND_WORD_SIZE]; /* of the command line, see find_first_word() */
	bool word_read;
	char *groups; /* text of /proc/PID/cgroup, NULL: not read, or not readable */
	bool settled; /* it is a descendant */
};

/* --- queues of ids --------------------------------------------------------------------------- */

void
id_queue_add(struct id_queue *queue, pid_t id)
{
	queue->id = xgrow(queue->id, &queue->capacity, queue->count + 1, sizeof(*queue->id));
	queue->id[queue->count++] = id;
}

pid_t
id_queue_next(struct id_queue *queue)
{
	if (queue->first < queue->count)
		return queue->id[queue->first++];
	queue->first = queue->count = 0;
	return 0;
}

/* --- what is read ---------------------------------------------------------------------------- */

static bool
read_stat(const struct process_set *set, pid_t pid, struct task_stat *stat)
{
	char name[32];

	snprintf(name, sizeof(name), "%d/stat", (int)pid);
	return task_read_stat(set->listing.fd, name, stat);
}

/* The kernel waits for the lock of the memory of a process before it shows the command line. A
 * process that sleeps uninterruptibly may have this lock for long: then it has no word for now. */
static const char *
candidate_word(const struct process_set *set, struct candidate *candidate)
{
	char name[32];

	if (!candidate->word_read && candidate->stat.state != 'D') {
		snprintf(name, sizeof(name), "%d/cmdline", (int)candidate->pid);
		if (!find_first_word(set->listing.fd, name, candidate->word))
			candidate->word[0] = '\0';
		candidate->word_read = true;
	}
	return candidate->word;
}

static void
read_groups(const struct process_set *set, struct candidate *candidate)
{
	char name[32];

	snprintf(name, sizeof(name), "%d/cgroup", (int)candidate->pid);
	candidate->groups = file_read_text(set->listing.fd, name, GROUPS_LIMIT, NULL);
}

/*
 * Returns a hash of what the rules depend on, except for parents. An exec changes the address of
 * the command line, unless address spaces are not randomised: then the name and the new command
 * line usually differ. Without the permission to read the address (0) the word itself is read.
 */
static uint64_t
fingerprint(const struct process_set *set, struct candidate *candidate)
{
	const struct task_stat *stat = &candidate->stat;
	uint64_t hash = 1;

	if (set->names.count + set->excluded.count > 0) {
		hash = hash_bytes(stat->comm, strlen(stat->comm)) ^ hash_u64(stat->arg_start);
		if (stat->arg_start == 0)
			hash ^= hash_bytes(candidate_word(set, candidate), strlen(candidate->word));
	}
	if (set->groups.count > 0) {
		read_groups(set, candidate);
		if (candidate->groups != NULL)
			hash ^= hash_bytes(candidate->groups, strlen(candidate->groups));
	}
	return hash != 0 ? hash : 1;
}

/* --- names ----------------------------------------------------------------------------------- */

static bool
name_rules_match(const struct process_set *set, struct name_rules *rules,
		 struct candidate *candidate)
{
	bool matches = false;

	for (size_t i = 0; i < rules->count; i++) {
		if (fnmatch(rules->glob[i], candidate->stat.comm, 0) != 0 &&
		    (candidate_word(set, candidate)[0] == '\0' ||
		     fnmatch(rules->glob[i], candidate->word, 0) != 0))
			continue;
		rules->met[i] = true;
		matches = true;
	}
	return matches;
}

/* --- descendants ----------------------------------------------------------------------------- */

/* Returns the entry of a process that was a member or excluded, has this id, and started not later
 * than the candidate; NULL: there is none, or its id is that of another process now, which is
 * checked once in a look. */
static const struct known *
find_ancestor(const struct process_set *set, pid_t pid, const struct candidate *candidate)
{
	struct known *known = pid > 0 ? known_find(&set->known, pid) : NULL;
	struct task_stat stat;

	if (known == NULL || !known_has_descendants(known) ||
	    known->start_time > candidate->stat.start_time)
		return NULL;
	if (known->checked != set->look && read_stat(set, pid, &stat) &&
	    stat.start_time != known->start_time)
		return NULL;
	known->checked = set->look;
	return known;
}

/* Returns true if wallsample is an ancestor of the process. The walk ends at a member. */
static bool
is_own_descendant(const struct process_set *set, pid_t pid)
{
	struct task_stat stat = { .ppid = pid };

	for (size_t i = 0; i < LINEAGE_MAX; i++) {
		const struct known *known = known_find(&set->known, stat.ppid);

		if (stat.ppid == set->own)
			return true;
		if (stat.ppid <= 1 || (known != NULL && known->kind == KNOWN_MEMBER) ||
		    !read_stat(set, stat.ppid, &stat))
			return false;
	}
	return false;
}

/*
 * Returns true if the candidate has lost its parent, and the leader of its session, or of its
 * process group, is known to belong. All processes of a session descend from its leader; those of a
 * group may be siblings of its leader, or descend from a sibling (see process_set.h).
 */
static bool
is_orphan_of_known(const struct process_set *set, const struct candidate *candidate)
{
	const struct task_stat *stat = &candidate->stat;
	const struct known *leader;

	if (stat->start_time < set->start_ticks)
		return false;
	if (stat->session != candidate->pid && find_ancestor(set, stat->session, candidate) != NULL)
		return true;
	leader = stat->group != candidate->pid ? find_ancestor(set, stat->group, candidate) : NULL;
	if (leader == NULL || getpgid(stat->ppid) == stat->group)
		return false;
	return stat->ppid != leader->parent ||
	       stat->start_time - leader->start_time >= (uint64_t)set->ticks_per_second;
}

/* `known`: the entry of the candidate, or NULL. */
static bool
is_descendant(const struct process_set *set, const struct candidate *candidate,
	      const struct known *known)
{
	const pid_t own = set->own;

	if (candidate->stat.ppid != own &&
	    find_ancestor(set, candidate->stat.ppid, candidate) != NULL)
		return true;
	/* Its first parent may have ended meanwhile. */
	if (known != NULL && known->parent != candidate->stat.ppid && known->parent != own &&
	    find_ancestor(set, known->parent, candidate) != NULL)
		return true;
	return is_orphan_of_known(set, candidate) && !is_own_descendant(set, candidate->stat.ppid);
}

/* --- the rules ------------------------------------------------------------------------------- */

static bool
matches_itself(struct process_set *set, struct candidate *candidate)
{
	bool matches = set->names.count > 0 && name_rules_match(set, &set->names, candidate);

	matches |= candidate->groups != NULL && group_rules_match(&set->groups, candidate->groups);
	return matches && !is_own_descendant(set, candidate->stat.ppid);
}

static enum known_kind
apply_rules(struct process_set *set, struct candidate *candidate, const struct known *known)
{
	const bool own = lineage_holds(&set->lineage, candidate->pid);
	bool matches, given = known != NULL && known->settled;

	if (set->descendants && !given && candidate->pid != set->own)
		candidate->settled = is_descendant(set, candidate, known);
	matches = !own && matches_itself(set, candidate);
	if (!given && !candidate->settled && !matches)
		return KNOWN_STRANGER;
	if (own && !given)
		return KNOWN_OWN;
	if (name_rules_match(set, &set->excluded, candidate))
		return KNOWN_EXCLUDED;
	return KNOWN_MEMBER;
}

bool
examine_repeats(const struct process_set *set)
{
	return set->names.count + set->excluded.count + set->groups.count > 0;
}

/* Returns the time since boot in the unit of start times. */
static uint64_t
boot_ticks(const struct process_set *set)
{
	const uint64_t second = (uint64_t)set->ticks_per_second;
	struct timespec now = { 0, 0 };

	(void)clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * second + (uint64_t)now.tv_nsec * second / NS_PER_SEC;
}

void
examine_init(struct process_set *set)
{
	const long ticks = sysconf(_SC_CLK_TCK);

	set->own = getpid();
	lineage_read(&set->lineage, set->own);
	set->ticks_per_second = ticks > 0 ? ticks : 100;
	set->start_ticks = boot_ticks(set);
}

/* Returns true in the first second after the start of the process. */
static bool
is_young(const struct process_set *set, const struct task_stat *stat)
{
	return boot_ticks(set) < stat->start_time + (uint64_t)set->ticks_per_second;
}

/* Changes the kind of the process, and notes what follows from it. */
static void
change_kind(struct process_set *set, struct known *known, enum known_kind kind)
{
	if (kind == known->kind)
		return;
	if (kind == KNOWN_MEMBER)
		id_queue_add(&set->joined, known->pid);
	else if (known->kind == KNOWN_MEMBER)
		id_queue_add(&set->left, known->pid);
	known_set_kind(&set->known, known, kind);
}

/* Returns the entry of a process that is examined for the first time, or NULL if none is needed. */
static struct known *
begin_knowing(struct process_set *set, const struct candidate *candidate, enum known_kind kind,
	      uint64_t now_ns)
{
	const struct task_stat *stat = &candidate->stat;
	bool kept = kind != KNOWN_STRANGER;

	if (examine_repeats(set) && is_young(set, stat)) {
		if (later_add(&set->later, candidate->pid, stat->start_time, now_ns))
			kept = true;
		else
			set->listing_wanted = true;
	}
	if (!kept)
		return NULL;
	return known_add(&set->known, candidate->pid, stat->start_time);
}

static void
examine_candidate(struct process_set *set, struct candidate *candidate, struct known *known,
		  enum examine_reason reason, uint64_t now_ns)
{
	const uint64_t print = fingerprint(set, candidate);
	const bool was_known = known != NULL;
	enum known_kind kind;

	if (was_known && known->fingerprint == print)
		return;
	kind = apply_rules(set, candidate, known);
	if (!was_known)
		known = begin_knowing(set, candidate, kind, now_ns);
	if (known == NULL)
		return;
	if (known->kind != kind && kind == KNOWN_EXCLUDED)
		known->first_ticks = candidate->stat.user_ticks + candidate->stat.system_ticks;
	/* A process in uninterruptible sleep is examined again, because its word is missing. */
	known->fingerprint = candidate->stat.state != 'D' ? print : 0;
	known->settled |= candidate->settled;
	known->checked = set->look;
	if (known->parent == 0)
		known->parent = candidate->stat.ppid;
	if (set->descendants && !known_has_descendants(known) && kind != KNOWN_STRANGER &&
	    (was_known || reason == EXAMINE_AGAIN)) {
		set->has_late = true;
		/* Children of an older process may be older than what is known of strangers. */
		set->listing_wanted |= !examine_repeats(set) || !is_young(set, &candidate->stat);
	}
	change_kind(set, known, kind);
}

/* The process has ended. */
static void
forget(struct process_set *set, struct known *known)
{
	known_set_kind(&set->known, known,
		       known_has_descendants(known) ? KNOWN_REMOVED : KNOWN_DROPPED);
}

bool
examine_process(struct process_set *set, pid_t pid, enum examine_reason reason, uint64_t now_ns)
{
	struct candidate candidate = { .pid = pid };
	struct known *known = known_find(&set->known, pid);
	const struct task_stat *stat = &candidate.stat;
	const bool found = read_stat(set, pid, &candidate.stat);

	set->stats.examined++;
	if (known != NULL &&
	    (!found || task_is_zombie_process(stat) || known->start_time != stat->start_time)) {
		if (known->kind != KNOWN_REMOVED)
			forget(set, known);
		if (!found || known->start_time == stat->start_time)
			return found;
		known = NULL;
	}
	if (!found || (known != NULL && known->kind == KNOWN_REMOVED))
		return found;
	if (task_is_kernel_thread(stat) || task_is_zombie_process(stat) ||
	    (known == NULL && pid == set->own))
		return true;
	if (known != NULL && known->kind == KNOWN_EXCLUDED)
		known->last_ticks = stat->user_ticks + stat->system_ticks;
	examine_candidate(set, &candidate, known, reason, now_ns);
	free(candidate.groups);
	return true;
}

bool
examine_is_alive(struct process_set *set, struct known *known)
{
	struct task_stat stat;

	if (!read_stat(set, known->pid, &stat) || stat.start_time != known->start_time ||
	    task_is_zombie_process(&stat))
		return false;
	if (known->kind == KNOWN_EXCLUDED)
		known->last_ticks = stat.user_ticks + stat.system_ticks;
	return true;
}

void
examine_strangers(struct process_set *set, uint64_t now_ns)
{
	while (set->has_late) {
		set->has_late = false;
		for (size_t i = 0; i < set->known.count; i++) {
			struct known *stranger = &set->known.item[i];
			const struct known *parent;

			if (stranger->kind != KNOWN_STRANGER)
				continue;
			parent = known_find(&set->known, stranger->parent);
			if (parent == NULL || !known_has_descendants(parent))
				continue;
			stranger->fingerprint = 0;
			examine_process(set, stranger->pid, EXAMINE_AGAIN, now_ns);
		}
	}
}
