/* SPDX-License-Identifier: MIT */
/* work.c - reads the kernel's counters of the processes of a run, and of all others. */
#include <stdlib.h>
#include <string.h>

#include "sampler/sampler_internal.h"
#include "wallsample/process/programs.h"

#define WORK_INTERVAL_NS NS_PER_SEC
/* Most threads whose context switches are read, once a second. */
#define SLEEPERS_MOST 128

/* Reads the counters of all processes. Returns false if one of them has exited. */
static bool
read_all(const struct process_list *processes, struct counters *out)
{
	*out = (struct counters){ .reads = 0 };
	for (size_t i = 0; i < processes->count; i++) {
		struct counters one;

		if (!process_read_counters(processes->item[i]->process, &one))
			return false;
		counters_add(out, &one);
	}
	return true;
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
		} else if (known && use.voluntary > thread->sleeps_before &&
			   use.voluntary - thread->sleeps_before > run->stats.sleeps) {
			/* The counter is lower if another thread has taken the id by an exec. */
			run->stats.sleeps = use.voluntary - thread->sleeps_before;
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
	work->known = read_all(processes, &work->before);
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
}

void
work_update(struct work *work, struct run *run, uint64_t now_ns)
{
	struct counters now;

	work->read_ns = now_ns;
	count_sleeps(run, false);
	if (work->known && read_all(&run->processes, &now))
		run->stats.work = counters_since(&work->before, &now);
}

void
work_tick(struct work *work, struct run *run, uint64_t now_ns)
{
	if (now_ns >= work->read_ns + WORK_INTERVAL_NS)
		work_update(work, run, now_ns);
}
