/* SPDX-License-Identifier: MIT */
/* target_set.c - the sampled processes that options choose by more than their ids: at the start,
 * and those that come during the run. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli_internal.h"
#include "cli/target_internal.h"
#include "wallsample/process/attach.h"

/* Most processes that a message names because they cannot be sampled. */
#define REFUSALS_MOST 5

bool
target_is_set(const struct options *options)
{
	return options->children || options->all || options->cgroups.count > 0 ||
	       options->containers.count > 0 || options->filter.exclude_process.count > 0;
}

static struct target_member *
find_member(const struct target *target, pid_t pid, uint64_t start_time)
{
	for (size_t i = 0; i < target->count; i++)
		if (target->member[i]->process->pid == pid &&
		    target->member[i]->process->start_time == start_time)
			return target->member[i];
	return NULL;
}

/* Counts a process that is not sampled, and says why; keeps the first reason in *err. */
static void
leave_out(struct target *target, const struct error *why, const struct log *log, struct error *err)
{
	if (target->left_out++ == 0)
		*err = *why;
	if (target->left_out <= REFUSALS_MOST)
		log_say(log, LOG_NORMAL, "left out: %s", why->text);
}

int
target_open_one(struct target *target, pid_t pid, bool may_stop, struct error *err)
{
	struct process *process;
	int rc = process_open(pid, &process, err);

	if (rc != 0)
		return rc;
	rc = attach_check(process, may_stop, err);
	if (rc == 0)
		target_add(target, process);
	else
		process_free(process);
	return rc;
}

/* Opens the processes that the set has found. */
static void
open_found(struct target *target, bool may_stop, const struct log *log, struct error *err)
{
	uint64_t start_time;
	struct error why;
	pid_t pid;

	while ((pid = process_set_next_new(target->set, &start_time)) > 0) {
		if (find_member(target, pid, start_time) != NULL ||
		    target_open_one(target, pid, may_stop, &why) == 0)
			continue;
		process_set_remove(target->set, pid, start_time);
		if (why.kind != ERROR_NO_PROCESS)
			leave_out(target, &why, log, err);
	}
	if (target->left_out > REFUSALS_MOST)
		log_say(log, LOG_NORMAL, "left out: %zu processes in all", target->left_out);
}

/* Sets *globs to the patterns of the list, whose texts have patterns separated by commas, in an
 * array that the caller frees. Returns the texts, in one piece, which the caller frees, too. */
static char *
split_globs(const struct text_list *list, struct text_list *globs)
{
	struct strbuf all = STRBUF_INIT;
	char *rest, *glob;
	size_t capacity = 0;

	*globs = (struct text_list){ .text = NULL };
	strbuf_add_text(&all, "");
	for (size_t i = 0; i < list->count; i++)
		strbuf_add_format(&all, "%s%s", i > 0 ? "," : "", list->text[i]);
	for (rest = all.data; list->count > 0 && (glob = strsep(&rest, ",")) != NULL;) {
		globs->text = xgrow(globs->text, &capacity, globs->count + 1, sizeof(*globs->text));
		globs->text[globs->count++] = glob;
	}
	return all.data;
}

/* Closes the processes that were given by their ids and have excluded names. A command is not
 * executed yet, and has the name of wallsample. */
static void
drop_excluded(struct target *target)
{
	for (size_t i = target->is_command ? target->count : 0; i < target->count;) {
		const struct process *process = target->member[i]->process;

		if (process_set_excludes(target->set, process->pid, process->start_time))
			target_drop(target, i);
		else
			i++;
	}
}

int
target_open_set(struct target *target, const struct options *options, const struct log *log,
		struct error *err)
{
	pid_t *pid = xcalloc(target->count + 1, sizeof(*pid));
	struct text_list excluded;
	char *texts = split_globs(&options->filter.exclude_process, &excluded);
	const struct process_set_config config = {
		.pids = pid,
		.pid_count = target->count,
		.command = target->is_command ? options->command[0] : NULL,
		.names = { &options->name, options->all ? 1 : 0 },
		.cgroups = { options->cgroups.text, options->cgroups.count },
		.containers = { options->containers.text, options->containers.count },
		.excluded = { excluded.text, excluded.count },
		.descendants = options->children,
	};
	int rc;

	for (size_t i = 0; i < target->count; i++)
		pid[i] = target->member[i]->process->pid;
	rc = process_set_create(&config, &target->set, err);
	free(pid);
	free(excluded.text);
	free(texts);
	if (rc != 0)
		return rc;
	drop_excluded(target);
	open_found(target, !options->nonblocking, log, err);
	return target->count > 0 ? 0 : -(int)err->kind;
}

/* Returns true if the process was created after the run began. */
static bool
is_new(const struct target *target, const struct process *process)
{
	return process->start_time > target->began_ticks;
}

void
target_begin_set(struct target *target)
{
	const long hz = sysconf(_SC_CLK_TCK);
	struct timespec now = { .tv_sec = 0 };

	(void)clock_gettime(CLOCK_BOOTTIME, &now);
	target->began_ticks = hz > 0 ? (uint64_t)now.tv_sec * (uint64_t)hz +
					       (uint64_t)now.tv_nsec * (uint64_t)hz / NS_PER_SEC :
				       UINT64_MAX;
}

/* Finds the processes that join and leave, once at a time. */
static void
look(struct target *target, uint64_t now_ns)
{
	if (target->looked_ns != now_ns)
		process_set_look(target->set, now_ns);
	target->looked_ns = now_ns;
}

const struct process *
target_next_left(struct target *target, uint64_t now_ns)
{
	uint64_t start_time;
	pid_t pid;

	if (target->set == NULL)
		return NULL;
	look(target, now_ns);
	while ((pid = process_set_next_left(target->set, &start_time)) > 0) {
		struct target_member *member = find_member(target, pid, start_time);

		/* What a process does that has left a control group, or has another name now, is
		 * still of interest. */
		if (member == NULL || member->left ||
		    !process_set_excludes(target->set, pid, start_time))
			continue;
		member->left = true;
		return member->process;
	}
	return NULL;
}

/* Returns the process to be sampled that the set has found; NULL: it is sampled already, or cannot
 * be opened. */
static struct target_member *
take_found(struct target *target, pid_t pid, uint64_t start_time)
{
	struct target_member *member = find_member(target, pid, start_time);
	struct process *process;

	/* As long as the sampler has the process that has left, target_close may still free it. */
	if (member != NULL && (!member->left || (!member->closed && member != target->member[0])))
		return NULL;
	if (member != NULL) {
		member->left = member->closed = false;
		return member;
	}
	if (process_open(pid, &process, NULL) == 0) {
		if (process->start_time == start_time)
			return target_add(target, process);
		process_free(process);
	}
	process_set_remove(target->set, pid, start_time);
	return NULL;
}

struct target_member *
target_next(struct target *target, uint64_t now_ns, bool *created)
{
	struct target_member *member;
	uint64_t start_time;
	pid_t pid;

	if (target->set == NULL)
		return NULL;
	look(target, now_ns);
	while ((pid = process_set_next_new(target->set, &start_time)) > 0) {
		member = take_found(target, pid, start_time);
		if (member == NULL)
			continue;
		/* What a process has used before it left was counted, or was used while it was
		 * excluded. */
		*created = member->maps == NULL && is_new(target, member->process);
		return member;
	}
	return NULL;
}

void
target_read_excluded(const struct target *target, uint64_t *count, uint64_t *cpu_ns)
{
	*count = *cpu_ns = 0;
	if (target->set != NULL)
		process_set_read_excluded(target->set, count, cpu_ns);
}

bool
target_may_grow(const struct target *target)
{
	return target->set != NULL && process_set_may_grow(target->set);
}
