/* SPDX-License-Identifier: MIT */
/* processes.c - the list of the target's processes, the CPU time that they have used while they
 * were sampled, and the CPUs that they may use. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sampler/tasks/green_internal.h"
#include "sampler/threads_internal.h"

/* Most processes whose limits on CPU time are read, 50 us each. */
#define QUOTAS_MOST 64
#define GROUP_SIZE 256
/* Number of processes whose CPU time a tick reads, 1.5 us each. */
#define CPU_READS 16
/* Number of processes whose names are read at a time, 25 us each. */
#define NAME_READS 64

/* --- language runtimes ---------------------------------------------------------------------- */

/* Appends a text behind a comma, unless `to` contains it or has no room for it. */
static void
join_text(char *to, size_t size, const char *text)
{
	const size_t length = strlen(to);

	if (text[0] != '\0' && strstr(to, text) == NULL &&
	    length + strlen(", ") + strlen(text) < size)
		snprintf(to + length, size - length, "%s%s", length > 0 ? ", " : "", text);
}

static void
describe_one(const struct sampled_process *process, char *runtimes, char *unread)
{
	char text[UNREAD_TEXT_SIZE];

	if (process->runtimes == NULL)
		return;
	runtimes_describe_all(process->runtimes, text, RUNTIMES_TEXT_SIZE);
	join_text(runtimes, RUNTIMES_TEXT_SIZE, text);
	runtimes_unread_all(process->runtimes, text, UNREAD_TEXT_SIZE);
	join_text(unread, UNREAD_TEXT_SIZE, text);
}

void
processes_describe(struct run *run)
{
	struct run_stats *stats = &run->stats;

	memcpy(stats->runtimes, run->processes.ended_runtimes, sizeof(stats->runtimes));
	memcpy(stats->unread, run->processes.ended_unread, sizeof(stats->unread));
	for (size_t i = 0; i < run->processes.count; i++)
		describe_one(run->processes.item[i], stats->runtimes, stats->unread);
}

/* --- the list ------------------------------------------------------------------------------- */

struct sampled_process *
processes_add(struct run *run, struct hold *hold, const struct sampler_process *process)
{
	struct process_list *list = &run->processes;
	struct sampled_process *new = sampled_process_create(run, hold, process);
	struct task_stat stat;

	list->item = xgrow(list->item, &list->capacity, list->count + 1, sizeof(*list->item));
	list->item[list->count++] = new;
	new->id = profile_add_process(run->profile, new->process->pid, new->process->start_time,
				      new->process->comm, new->process->cmdline);
	if (process_read_task_stat(new->process, new->process->pid, &stat))
		new->parent = stat.ppid;
	profile_set_parent(run->profile, new->id, new->parent);
	if (!new->is_new)
		(void)process_read_children_cpu_ns(new->process, &new->children.began_ns);
	new->children.last_ns = new->children.began_ns;
	new->waits = waits_create(run, new);
	new->green = green_create(run, new);
	sampled_process_begin_runtimes(new);
	if (!new->is_new)
		(void)process_read_cpu_ns(new->process, &new->cpu.began_ns);
	new->cpu.last_ns = new->cpu.began_ns;
	(void)process_read_counters(new->process, &new->work.last);
	if (!new->is_new)
		new->work.began = new->work.last;
	if (run->tracer != NULL)
		tracer_add_process(run->tracer, new->process->pid);
	return new;
}

/* True if a process with this pid is or was among the processes. */
static bool
was_sampled(const struct run *run, pid_t pid)
{
	for (uint32_t i = 0; i < profile_process_count(run->profile); i++)
		if (profile_process(run->profile, i)->pid == pid)
			return true;
	return false;
}

/* Returns the CPU time that a process which has ended adds to that of the children of a process
 * that is or was sampled. */
static uint64_t
process_waited_for(const struct sampled_process *process)
{
	if (!was_sampled(process->run, process->parent))
		return 0;
	return process->cpu.last_ns + process->children.last_ns;
}

static void
process_free_all(struct sampled_process *process)
{
	waits_free(process->waits);
	green_free(process->green);
	sampled_process_free(process);
}

void
processes_remove_gone(struct run *run)
{
	struct process_list *list = &run->processes;
	const struct sampler_context *context = &run->context;
	size_t kept = 0, left = list->count;

	for (size_t i = 0; i < list->count; i++) {
		struct sampled_process *item = list->item[i];
		const struct process *process = item->process;

		if (!item->gone || left == 1) {
			list->item[kept++] = item;
			continue;
		}
		left--;
		describe_one(item, list->ended_runtimes, list->ended_unread);
		process_work_add(item, &list->ended_work);
		list->ended_children_ns += item->children.last_ns - item->children.began_ns;
		list->ended_sampled_ns += process_waited_for(item);
		list->ended_cpu_ns += item->cpu.last_ns - item->cpu.began_ns;
		if (run->tracer != NULL)
			tracer_remove_process(run->tracer, process->pid);
		process_free_all(item);
		if (context->process_ended != NULL)
			context->process_ended(context->process_context, process);
	}
	list->count = kept;
}

void
processes_release(struct run *run)
{
	for (size_t i = 0; i < run->processes.count; i++)
		process_free_all(run->processes.item[i]);
	free(run->processes.item);
}

/* --- CPU time ------------------------------------------------------------------------------- */

uint64_t
process_cpu(struct sampled_process *process)
{
	uint64_t cpu_ns;

	/* The stat file of a process that has exited has a lower resolution than its clock had. */
	if (!process->gone && process_read_cpu_ns(process->process, &cpu_ns) &&
	    cpu_ns > process->cpu.last_ns)
		process->cpu.last_ns = cpu_ns;
	return process->cpu.last_ns - process->cpu.began_ns;
}

static void
process_read_children(struct sampled_process *process)
{
	const struct tracer *tracer = process->run->tracer;
	uint64_t cpu_ns = 0;

	/* A command that wallsample has started may have been reaped by the tracer. */
	if (!process_read_children_cpu_ns(process->process, &cpu_ns) && tracer != NULL &&
	    process->id == PROCESS_FIRST)
		cpu_ns = tracer_exit_children_ns(tracer);
	if (cpu_ns > process->children.last_ns)
		process->children.last_ns = cpu_ns;
}

void
process_end(struct sampled_process *process)
{
	(void)process_cpu(process);
	process_read_children(process);
	process->gone = process->ended = true;
}

uint64_t
processes_cpu(struct process_list *processes)
{
	uint64_t sum = processes->ended_cpu_ns;

	for (size_t i = 0; i < processes->count; i++)
		sum += process_cpu(processes->item[i]);
	return sum;
}

uint64_t
processes_cpu_soon(struct process_list *processes)
{
	uint64_t sum = processes->ended_cpu_ns;

	for (size_t i = 0; i < processes->count && i < CPU_READS; i++) {
		processes->turn = (processes->turn + 1) % processes->count;
		(void)process_cpu(processes->item[processes->turn]);
	}
	for (size_t i = 0; i < processes->count; i++)
		sum += processes->item[i]->cpu.last_ns - processes->item[i]->cpu.began_ns;
	return sum;
}

void
processes_begin_cpu(struct process_list *processes)
{
	processes->ended_cpu_ns = 0;
	for (size_t i = 0; i < processes->count; i++) {
		struct cpu_time *cpu = &processes->item[i]->cpu;

		(void)process_cpu(processes->item[i]);
		cpu->began_ns = cpu->last_ns;
		process_read_children(processes->item[i]);
		processes->item[i]->children.began_ns = processes->item[i]->children.last_ns;
	}
}

uint64_t
processes_unsampled_ns(struct process_list *processes)
{
	uint64_t waited_ns = processes->ended_children_ns;
	uint64_t sampled_ns = processes->ended_sampled_ns;

	for (size_t i = 0; i < processes->count; i++) {
		struct sampled_process *process = processes->item[i];

		process_read_children(process);
		waited_ns += process->children.last_ns - process->children.began_ns;
		/* Processes that end together, as a command with its last child, stay. */
		if (process->ended)
			sampled_ns += process_waited_for(process);
	}
	return waited_ns > sampled_ns ? waited_ns - sampled_ns : 0;
}

void
process_work_add(const struct sampled_process *process, struct counters *sum)
{
	const struct counters work = counters_since(&process->work.began, &process->work.last);
	const uint64_t throttled_ns = sum->throttled_ns;

	sum->throttled_ns = 0;
	counters_add(sum, &work);
	if (sum->throttled_ns < throttled_ns)
		sum->throttled_ns = throttled_ns;
}

/* --- CPUs ----------------------------------------------------------------------------------- */

bool
processes_allowed(const struct process_list *processes, cpu_set_t *set)
{
	CPU_ZERO(set);
	for (size_t i = 0; i < processes->count; i++) {
		cpu_set_t one;

		if (sched_getaffinity(processes->item[i]->process->pid, sizeof(one), &one) == 0)
			CPU_OR(set, set, &one);
		else if (!processes->item[i]->gone && errno != ESRCH)
			return false; /* the machine has more CPUs than the set has bits */
	}
	return true;
}

/* Returns the sum of the limits on CPU time of the groups of the processes, as a number of CPUs;
 * INFINITY if a process has none. */
static double
sum_quotas(const struct process_list *processes)
{
	char seen[QUOTAS_MOST][GROUP_SIZE];
	size_t groups = 0;
	double sum = 0;

	if (processes->count > QUOTAS_MOST)
		return INFINITY;
	for (size_t i = 0; i < processes->count && isfinite(sum); i++) {
		char *group = seen[groups];
		bool known = false;
		const double cpus = process_cpu_group(processes->item[i]->process, group,
						      GROUP_SIZE);

		for (size_t k = 0; k < groups; k++)
			known |= strcmp(seen[k], group) == 0;
		sum += known ? 0 : cpus;
		groups += !known;
	}
	return sum;
}

unsigned
processes_allowed_cpus(const struct process_list *processes)
{
	cpu_set_t set;

	if (processes->count == 1)
		return process_allowed_cpus(processes->item[0]->process);
	if (!processes_allowed(processes, &set))
		return cpus_online();
	return (unsigned)fmax(fmin(CPU_COUNT(&set), ceil(sum_quotas(processes))), 1);
}

/* --- names ---------------------------------------------------------------------------------- */

void
process_read_name(struct run *run, const struct sampled_process *item)
{
	const struct process *process = item->process;
	const struct profile_process *known = profile_process(run->profile, item->id);
	struct task_stat stat;
	char *cmdline;

	if (item->gone || !process_read_task_stat(process, process->pid, &stat) ||
	    stat.state == 'Z')
		return;
	/* Otherwise the command line may be hidden. */
	cmdline = run->config.names_others ? process_read_cmdline(process, stat.comm) :
					     xstrdup(profile_text(run->profile, known->cmdline));
	profile_add_process(run->profile, process->pid, process->start_time, stat.comm, cmdline);
	free(cmdline);
}

void
processes_read_names(struct run *run)
{
	struct process_list *list = &run->processes;

	for (size_t i = 0; i < list->count && i < NAME_READS; i++) {
		list->name_turn = (list->name_turn + 1) % list->count;
		process_read_children(list->item[list->name_turn]);
		process_read_name(run, list->item[list->name_turn]);
	}
}
