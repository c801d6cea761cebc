/* SPDX-License-Identifier: MIT */
/* process_set.c - makes a target set, and says what belongs to it. */
#include "process/process_set_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Most listings of /proc at the start, each after the previous one has found a new member. */
#define START_LISTINGS_MOST 64

/* --- what is given --------------------------------------------------------------------------- */

static void
name_rules_init(struct name_rules *rules, const struct process_set_texts *globs)
{
	rules->count = globs->count;
	rules->glob = xcalloc(globs->count + 1, sizeof(*rules->glob));
	rules->met = xcalloc(globs->count + 1, sizeof(*rules->met));
	for (size_t i = 0; i < globs->count; i++)
		rules->glob[i] = xstrdup(globs->text[i]);
}

static void
name_rules_release(struct name_rules *rules)
{
	for (size_t i = 0; i < rules->count; i++)
		free(rules->glob[i]);
	free(rules->glob);
	free(rules->met);
}

/* Adds a process that is given by its id. */
static int
set_add_given(struct process_set *set, pid_t pid, uint64_t now_ns, struct error *err)
{
	struct process *process;
	struct known *known = known_find(&set->known, pid);
	char name[TASK_NAME_SIZE];
	int rc;

	if (known != NULL)
		return 0;
	rc = process_open(pid, &process, err);
	if (rc != 0)
		return rc;
	set->given[set->given_count] = xstrdup(task_printable(process->comm, name, sizeof(name)));
	set->given_pids[set->given_count++] = pid;
	known = known_add(&set->known, pid, process->start_time);
	known->settled = true;
	process_free(process);
	if (examine_repeats(set))
		later_add(&set->later, pid, known->start_time, now_ns);
	examine_process(set, pid, EXAMINE_AGAIN, now_ns);
	return 0;
}

static int
set_add_all_given(struct process_set *set, const struct process_set_config *config, uint64_t now_ns,
		  struct error *err)
{
	int rc = 0;

	set->given = xcalloc(config->pid_count + 1, sizeof(*set->given));
	set->given_pids = xcalloc(config->pid_count + 1, sizeof(*set->given_pids));
	for (size_t i = 0; i < config->pid_count && rc == 0; i++)
		rc = set_add_given(set, config->pids[i], now_ns, err);
	if (config->command != NULL && set->given_count > 0) {
		const char *slash = strrchr(config->command, '/');
		struct strbuf name = STRBUF_INIT;

		strbuf_add_escaped(&name, slash != NULL ? slash + 1 : config->command);
		free(set->given[0]);
		set->given[0] = name.data;
	}
	return rc;
}

/* Examines all processes, until no more belong because others do. */
static void
set_find_all(struct process_set *set, uint64_t now_ns)
{
	for (size_t i = 0; i < START_LISTINGS_MOST; i++) {
		pid_t pid;

		set->listing_wanted = false;
		proc_listing_rewind(&set->listing);
		while ((pid = proc_listing_next(&set->listing)) > 0) {
			const struct known *known = known_find(&set->known, pid);

			if (known == NULL || !known_has_descendants(known))
				examine_process(set, pid, EXAMINE_AGAIN, now_ns);
		}
		examine_strangers(set, now_ns);
		if (!set->listing_wanted)
			break;
	}
}

/* --- creation -------------------------------------------------------------------------------- */

/* Returns 0 if each condition is fulfilled by a process, and there is a member. */
static int
set_check(const struct process_set *set, struct error *err)
{
	int rc;

	for (size_t i = 0; i < set->names.count; i++) {
		char name[TASK_NAME_SIZE];

		if (!set->names.met[i])
			return error_set(err, ERROR_NO_MATCH,
					 "no process matches the name '%s'; names are those of "
					 "ps -e, and wallsample's own and its ancestors' do not "
					 "count",
					 task_printable(set->names.glob[i], name, sizeof(name)));
	}
	rc = group_rules_check(&set->groups, err);
	if (rc != 0 || set->known.members > 0)
		return rc;
	return error_set(err, ERROR_NO_MATCH,
			 "no process is left: those that match are excluded by name, have ended "
			 "meanwhile, or are wallsample and its ancestors");
}

static int
set_fill(struct process_set *set, const struct process_set_config *config, struct error *err)
{
	const uint64_t now_ns = clock_now_ns();
	int rc;

	if (set->listing.fd < 0)
		return error_set(err, ERROR_SYSTEM, "cannot list /proc: %s", strerror(errno));
	/* Ids that are handed out from now on are new. */
	new_ids_read(&set->ids);
	rc = set_add_all_given(set, config, now_ns, err);
	if (rc == 0)
		rc = group_rules_init(&set->groups, config, err);
	if (rc != 0)
		return rc;
	if (set->descendants || examine_repeats(set))
		set_find_all(set, now_ns);
	set->stats = (struct process_set_stats){ 0 };
	return config->may_start_empty ? 0 : set_check(set, err);
}

int
process_set_create(const struct process_set_config *config, struct process_set **out,
		   struct error *err)
{
	struct process_set *set;
	int rc;

	*out = NULL;
	if (config->pid_count + config->names.count + config->cgroups.count +
		    config->containers.count ==
	    0)
		return error_set(err, ERROR_USAGE, "no process is given");
	set = xcalloc(1, sizeof(*set));
	set->descendants = config->descendants;
	set->look = 1;
	name_rules_init(&set->names, &config->names);
	name_rules_init(&set->excluded, &config->excluded);
	proc_listing_init(&set->listing);
	examine_init(set);
	rc = set_fill(set, config, err);
	if (rc != 0) {
		process_set_free(set);
		return rc;
	}
	*out = set;
	return 0;
}

void
process_set_free(struct process_set *set)
{
	if (set == NULL)
		return;
	for (size_t i = 0; i < set->given_count; i++)
		free(set->given[i]);
	free(set->given);
	free(set->given_pids);
	name_rules_release(&set->names);
	name_rules_release(&set->excluded);
	group_rules_release(&set->groups);
	known_release(&set->known);
	free(set->joined.id);
	free(set->left.id);
	new_ids_release(&set->ids);
	later_release(&set->later);
	proc_listing_release(&set->listing);
	free(set);
}

/* --- members --------------------------------------------------------------------------------- */

/* Returns the next process of the queue that is a member or not, and was not reported as that. */
static pid_t
next_change(struct process_set *set, struct id_queue *queue, bool member, uint64_t *start_time)
{
	pid_t pid;

	while ((pid = id_queue_next(queue)) > 0) {
		struct known *known = known_find(&set->known, pid);

		if (known == NULL || known->kind == KNOWN_REMOVED || known->reported == member ||
		    (known->kind == KNOWN_MEMBER) != member)
			continue;
		known->reported = member;
		if (start_time != NULL)
			*start_time = known->start_time;
		return pid;
	}
	return 0;
}

pid_t
process_set_next_new(struct process_set *set, uint64_t *start_time)
{
	return next_change(set, &set->joined, true, start_time);
}

pid_t
process_set_next_left(struct process_set *set, uint64_t *start_time)
{
	return next_change(set, &set->left, false, start_time);
}

void
process_set_remove(struct process_set *set, pid_t pid, uint64_t start_time)
{
	struct known *known = known_find(&set->known, pid);

	if (known != NULL && known->start_time == start_time && known->kind == KNOWN_MEMBER)
		known_set_kind(&set->known, known, KNOWN_REMOVED);
}

size_t
process_set_count(const struct process_set *set)
{
	return set->known.members;
}

bool
process_set_has(const struct process_set *set, pid_t pid, uint64_t start_time)
{
	const struct known *known = known_find(&set->known, pid);

	return known != NULL && known->kind == KNOWN_MEMBER && known->start_time == start_time;
}

bool
process_set_excludes(const struct process_set *set, pid_t pid, uint64_t start_time)
{
	const struct known *known = known_find(&set->known, pid);

	return known != NULL && known->kind == KNOWN_EXCLUDED && known->start_time == start_time;
}

bool
process_set_may_grow(struct process_set *set)
{
	if (set->names.count + set->groups.count > 0)
		return true;
	for (size_t i = 0; set->descendants && i < set->known.count; i++)
		if (known_has_descendants(&set->known.item[i]) &&
		    examine_is_alive(set, &set->known.item[i]))
			return true;
	return false;
}

const struct process_set_stats *
process_set_stats(const struct process_set *set)
{
	return &set->stats;
}

void
process_set_read_excluded(struct process_set *set, uint64_t *count, uint64_t *cpu_ns)
{
	uint64_t ticks = set->known.excluded_ticks;

	*count = set->known.excluded;
	for (size_t i = 0; i < set->known.count; i++) {
		struct known *known = &set->known.item[i];

		if (known->kind != KNOWN_EXCLUDED)
			continue;
		examine_is_alive(set, known);
		++*count;
		ticks += known->last_ticks - known->first_ticks;
	}
	*cpu_ns = ticks * (NS_PER_SEC / (uint64_t)set->ticks_per_second);
}
