/* SPDX-License-Identifier: MIT */
/* weigh_ended.c - adds CPU time that no thread of the list has used: that of threads and processes
 * that ended before they were seen, or after their last observation. */
#include "sampler/weights/weigh_ended_internal.h"

#include "sampler/threads_internal.h"

/* The CPU time of children is counted in clock ticks of 10 ms. */
#define UNSAMPLED_LEAST_NS ((int64_t)(20 * NS_PER_MS))
/* In place of a start time: distinguishes the record of children from those of thread_records.c. */
#define CHILDREN_TIME (UINT64_C(1) << 50)

bool
weights_are_off(const struct calibration *calibration)
{
	const struct run *run = calibration->run;

	return run->threads.sched_source != SCHED_FROM_SCHEDSTAT || run->config.exact || run->holds;
}

/* Adds the CPU time of a process that no listed thread has used: that of threads that lived between
 * two listings, and of others after their last observation. `behind`: what is left for the next
 * window, because the counters of the threads may lag that of the process. */
static void
weigh_process(struct calibration *calibration, struct sampled_process *process, int64_t behind)
{
	struct run *run = calibration->run;
	struct process_weights *weights = &process->weights;
	struct profile_entry entry = { .state = RUN_RUNNING, .syscall = SYSCALL_NONE };
	const uint64_t cpu_ns = process_cpu(process);
	int64_t excess_ns;

	weights->unknown_ns += (int64_t)(cpu_ns - weights->cpu_ns) - weights->known_ns;
	/* The counters of the threads were read later than that of a process that has exited. */
	if (process->ended && weights->unknown_ns < 0) {
		process->cpu.last_ns += (uint64_t)-weights->unknown_ns;
		weights->unknown_ns = 0;
	}
	weights->cpu_ns = cpu_ns;
	weights->known_ns = 0;
	excess_ns = weights->unknown_ns - behind;
	if (excess_ns <= 0)
		return;
	if (weights->record == THREAD_NONE)
		weights->record = profile_add_thread(run->profile, process->id, 0, 0,
						     PROFILE_ENDED_THREADS);
	entry.thread = weights->record;
	entry.stack = stack_of_text(run->profile, PROFILE_UNSAMPLED_CPU, STACK_NONE);
	entry.gil = GIL_UNKNOWN;
	weights_plan(calibration, &entry, excess_ns)->borrowed = true;
	calibration->plan.cpu_ns += excess_ns;
	calibration->plan.runnable_ns += excess_ns;
	weights->unknown_ns = behind;
}

/* Adds the CPU time of processes that started and ended between two looks for new ones. */
static void
weigh_unsampled(struct calibration *calibration)
{
	struct run *run = calibration->run;
	struct profile_entry entry = { .state = RUN_RUNNING, .syscall = SYSCALL_NONE };
	const int64_t ns = (int64_t)processes_unsampled_ns(&run->processes);

	if (ns < UNSAMPLED_LEAST_NS)
		return;
	run->stats.unsampled_ns = (uint64_t)ns;
	entry.thread = profile_add_thread(run->profile, PROCESS_FIRST, 0, CHILDREN_TIME,
					  PROFILE_UNSAMPLED_CHILDREN);
	entry.stack = stack_of_text(run->profile, PROFILE_UNSAMPLED_CPU, STACK_NONE);
	entry.gil = GIL_UNKNOWN;
	weights_plan(calibration, &entry, ns)->borrowed = true;
	calibration->plan.cpu_ns += ns;
	calibration->plan.runnable_ns += ns;
}

void
weigh_ended(struct calibration *calibration, bool last)
{
	struct run *run = calibration->run;
	const uint64_t now = clock_now_ns();
	const int64_t behind = (int64_t)(run->stats.cpus *
					 ((uint64_t)SCHED_TICK_NS + now - run->tick.began_ns));

	for (size_t i = 0; run->context.selected == NULL && i < run->processes.count; i++) {
		struct sampled_process *process = run->processes.item[i];

		/* The counters of a process that has ended lag behind nothing. */
		weigh_process(calibration, process, process->ended ? 0 : behind);
	}
	if (last && run->context.next_process != NULL && run->context.next_left == NULL &&
	    run->context.selected == NULL)
		weigh_unsampled(calibration);
}

void
weights_end_process(struct calibration *calibration, struct sampled_process *process)
{
	if (weights_are_off(calibration) || calibration->run->context.selected != NULL)
		return;
	weigh_process(calibration, process, 0);
	weights_carry_out(calibration, false);
}
