/* SPDX-License-Identifier: MIT */
/* work.c - reads the kernel's counters of the processes of a run, and of all others. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sampler/sampler_internal.h"
#include "wallsample/process/programs.h"

#define WORK_INTERVAL_NS NS_PER_SEC
/* Most threads whose context switches are read, once a second. */
#define SLEEPERS_MOST 128

/* Most processes whose counters are read at once, 60 us each. */
#define COUNTERS_MOST 64

/* Reads the counters of some processes, in turn, or of all; those of a process that has exited stay
 * as they are. */
static void
read_work(struct work *work, const struct process_list *processes, bool all)
{
	for (size_t i = 0; i < processes->count && (all || i < COUNTERS_MOST); i++) {
		struct sampled_process *process;

		work->turn = (work->turn + 1) % processes->count;
		process = processes->item[work->turn];
		(void)process_read_counters(process->process, &process->work.last);
	}
}

/* Returns what the processes have done while they were sampled. Processes of one control group are
 * throttled together: the longest time counts. */
static struct counters
sum_counters(const struct process_list *processes)
{
	struct counters sum = processes->ended_work;

	for (size_t i = 0; i < processes->count; i++)
		process_work_add(processes->item[i], &sum);
	return sum;
}

/*
 * Finds the thread that has slept most often since the run began, or since it was created. `first`:
 * the run begins now. A read takes 20 us, and is made only of threads that have been scheduled in
 * since the last one.
 */
static void
count_sleeps(struct run *run, bool first)
{
	for (size_t i = 0; i < run->threads.count; i++) {
		struct sampled_thread *thread = run->threads.thread[i];
		struct task_use use;
		uint64_t others; /* switches that are no sleeps of this run */
		bool known;

		if (i >= SLEEPERS_MOST) {
			thread->sleeps_unknown = true;
			continue;
		}
		if (thread->gone || thread->sleeps_unknown ||
		    (!first && thread->sched.switches == thread->sleeps_at))
			continue;
		known = process_read_task_use(thread->process->process, thread->watch.tid, &use);
		thread->sleeps_at = thread->sched.switches;
		if (first) {
			thread->sleeps_before = known ? use.voluntary : 0;
			thread->sleeps_unknown = !known;
			continue;
		}
		/* The counter is lower if another thread has taken the id by an exec. */
		others = thread->sleeps_before + thread->stops;
		if (known && use.voluntary > others && use.voluntary - others > run->stats.sleeps) {
			run->stats.sleeps = use.voluntary - others;
			run->stats.sleeper = thread->watch.tid;
		}
	}
}

void
work_prepare(struct work *work, struct run *run)
{
	if (run->config.names_others)
		work->programs = programs_read();
	count_sleeps(run, true);
}

void
work_start(struct work *work, const struct process_list *processes)
{
	read_work(work, processes, true);
	for (size_t i = 0; i < processes->count; i++)
		processes->item[i]->work.began = processes->item[i]->work.last;
	work->read_ns = clock_now_ns();
}

/* Copies names that are separated by commas, and as many of them as there is room for. */
static void
copy_names(struct strbuf *names, char *to, size_t size)
{
	char *comma;

	while (names->length >= size && (comma = strrchr(names->data, ',')) != NULL) {
		*comma = '\0';
		names->length = (size_t)(comma - names->data);
	}
	snprintf(to, size, "%s", names->length < size ? names->data : "");
}

/* Finds the group with the smallest limit on CPU time of all processes. */
static void
find_cpu_group(struct run *run)
{
	double least = INFINITY;

	for (size_t i = 0; i < run->processes.count; i++) {
		char group[sizeof(run->stats.cpu_group)];
		const double cpus = process_cpu_group(run->processes.item[i]->process, group,
						      sizeof(group));

		if (cpus < least)
			memcpy(run->stats.cpu_group, group, sizeof(group));
		least = fmin(least, cpus);
	}
}

void
work_end(struct work *work, struct run *run)
{
	struct programs *now = work->programs != NULL ? programs_read() : NULL;
	pid_t *target = xcalloc(run->processes.count + 1, sizeof(*target));
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < run->processes.count; i++)
		target[i] = run->processes.item[i]->process->pid;
	strbuf_add_text(&text, "");
	programs_add_busy(work->programs, now, target, run->processes.count, &text);
	run->stats.machine_busy = programs_machine_busy(work->programs, now);
	if (now != NULL && text.length == 0)
		strbuf_add_text(&text, OTHERS_NONE);
	copy_names(&text, run->stats.others, sizeof(run->stats.others));
	strbuf_release(&text);
	free(target);
	programs_free(now);
	programs_free(work->programs);
	work->programs = NULL;
	find_cpu_group(run);
}

void
work_update(struct work *work, struct run *run, uint64_t now_ns, bool all)
{
	work->read_ns = now_ns;
	count_sleeps(run, false);
	read_work(work, &run->processes, all);
	run->stats.work = sum_counters(&run->processes);
}

void
work_tick(struct work *work, struct run *run, uint64_t now_ns)
{
	if (now_ns >= work->read_ns + WORK_INTERVAL_NS)
		work_update(work, run, now_ns, false);
}
