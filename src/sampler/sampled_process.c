/* SPDX-License-Identifier: MIT */
/*
 * sampled_process.c - the first thread, whose stat file speaks for the process: is it there, is
 * it the same program.
 */
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "sampler/pipeline_internal.h"

/* How often and how far apart a process is asked before it counts as gone. */
#define GONE_ATTEMPTS 5
#define GONE_PAUSE_NS 200000L

/* Another program runs in the process now: nothing known about memory holds. */
static void
notice_exec(struct sampler *sampler, const struct task_stat *leader)
{
	if (leader->start_stack <= 1 || leader->arg_start == 0)
		return; /* not told, or the leader has exited */
	if (sampler->start_stack == leader->start_stack && sampler->arg_start == leader->arg_start)
		return;
	if (sampler->start_stack != 0) {
		sampler->stats.execed = true;
		sampler->relist = true;
		maps_refresh(sampler->maps);
		tasks_forget(&sampler->tasks);
	}
	sampler->start_stack = leader->start_stack;
	sampler->arg_start = leader->arg_start;
}

/* Its file stays open from tick to tick; after an exec it may have to be opened again. */
static bool
read_leader_stat(struct sampler *sampler, struct task_stat *leader)
{
	char line[2048], name[32];
	ssize_t n = -1;

	if (sampler->leader_fd >= 0)
		n = pread(sampler->leader_fd, line, sizeof(line) - 1, 0);
	if (n <= 0) {
		if (sampler->leader_fd >= 0)
			close(sampler->leader_fd);
		snprintf(name, sizeof(name), "%d/stat", (int)sampler->process->pid);
		sampler->leader_fd = openat(sampler->process->taskfd, name, O_RDONLY | O_CLOEXEC);
		if (sampler->leader_fd >= 0)
			n = pread(sampler->leader_fd, line, sizeof(line) - 1, 0);
	}
	if (n <= 0)
		return false;
	line[n] = '\0';
	return task_stat_parse(line, leader);
}

/*
 * An exec puts another thread in its place, and who reads just then may be told of the old one,
 * which is dead: the process has gone only when it is so for a while.
 */
bool
read_leader(struct sampler *sampler, struct task_stat *leader)
{
	const struct timespec pause = { .tv_nsec = GONE_PAUSE_NS };

	for (int attempt = 0; attempt < GONE_ATTEMPTS; attempt++) {
		if (attempt > 0)
			nanosleep(&pause, NULL);
		if (read_leader_stat(sampler, leader) &&
		    ((leader->state != 'Z' && leader->state != 'X') || leader->num_threads > 1))
			return true;
	}
	return false;
}

bool
look_at_process(struct sampler *sampler)
{
	struct task_stat leader;

	if (!read_leader(sampler, &leader))
		return false;
	sampler->leader_state = leader.state;
	notice_exec(sampler, &leader);
	/* An exited leader is counted by the kernel, but is no thread of ours. */
	if (leader.num_threads != sampler->thread_count + (leader.state == 'Z'))
		sampler->relist = true;
	return true;
}
