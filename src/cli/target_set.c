/* SPDX-License-Identifier: MIT */
/* target_set.c - the sampled processes that options choose by more than their ids: at the start,
 * and those that come during the run. */
#include <inttypes.h>
#include <stdlib.h>
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
	       options->containers.count > 0;
}

static bool
has_member(const struct target *target, pid_t pid, uint64_t start_time)
{
	for (size_t i = 0; i < target->count; i++)
		if (target->member[i]->process->pid == pid &&
		    target->member[i]->process->start_time == start_time)
			return true;
	return false;
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
		if (has_member(target, pid, start_time) ||
		    target_open_one(target, pid, may_stop, &why) == 0)
			continue;
		process_set_remove(target->set, pid, start_time);
		if (why.kind != ERROR_NO_PROCESS)
			leave_out(target, &why, log, err);
	}
	if (target->left_out > REFUSALS_MOST)
		log_say(log, LOG_NORMAL, "left out: %zu processes in all", target->left_out);
}

int
target_open_set(struct target *target, const struct options *options, const struct log *log,
		struct error *err)
{
	pid_t *pid = xcalloc(target->count + 1, sizeof(*pid));
	const struct process_set_config config = {
		.pids = pid,
		.pid_count = target->count,
		.command = target->is_command ? options->command[0] : NULL,
		.names = { &options->name, options->all ? 1 : 0 },
		.cgroups = { options->cgroups.text, options->cgroups.count },
		.containers = { options->containers.text, options->containers.count },
		.descendants = options->children,
	};
	int rc;

	for (size_t i = 0; i < target->count; i++)
		pid[i] = target->member[i]->process->pid;
	rc = process_set_create(&config, &target->set, err);
	free(pid);
	if (rc != 0)
		return rc;
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

struct target_member *
target_next(struct target *target, uint64_t now_ns, bool *created)
{
	uint64_t start_time;
	pid_t pid;

	if (target->set == NULL)
		return NULL;
	if (target->looked_ns != now_ns)
		process_set_look(target->set, now_ns);
	target->looked_ns = now_ns;
	while (process_set_next_left(target->set, &start_time) > 0)
		; /* what it does now is still of interest */
	while ((pid = process_set_next_new(target->set, &start_time)) > 0) {
		struct process *process;

		if (has_member(target, pid, start_time))
			continue;
		if (process_open(pid, &process, NULL) != 0) {
			process_set_remove(target->set, pid, start_time);
			continue;
		}
		if (process->start_time == start_time) {
			*created = is_new(target, process);
			return target_add(target, process);
		}
		process_free(process);
		process_set_remove(target->set, pid, start_time);
	}
	return NULL;
}

bool
target_may_grow(const struct target *target)
{
	return target->set != NULL && process_set_may_grow(target->set);
}
