/* SPDX-License-Identifier: MIT */
/* hold_spare.c - which threads are not stopped for some ticks of a run that holds threads, because
 * they share a busy CPU. */
#include "sampler/hold/hold_spare_internal.h"

#include "sampler/threads_internal.h"

/*
 * Time for which a thread that shares its CPU with other processes is not stopped again after a
 * stop. Such a thread gets the CPU for some 3 ms at a time, its turn, and a stop ends the turn: it
 * is spared for the length of one turn. With ticks of 0.5 ms and 20 busy processes on 2 CPUs, a
 * program of two busy threads then has 70 % of the progress that it has without wallsample, and
 * 46 % if no thread is spared; with ticks of 1 ms and 8 processes it has 88 to 96 and 87 to 93 %.
 */
#define SPARE_NS (3 * NS_PER_MS)

/*
 * No thread is spared while other processes have fewer runnable threads than the target may use
 * CPUs. A thread may then share its CPU with threads of the target: they are stopped at the same
 * tick, and its turn is lost to none of them. A spared thread is not held. In a pipeline of three
 * threads that sometimes want the same CPU, a gain of 67 % was found to be 130 to 148 % with ticks
 * of 1 ms while threads were spared for that, and 102 % with ticks of 2 ms; 64 and 66 to 68 %
 * without.
 *
 * OTHERS_PERIOD: the number is read once in this many ticks. OTHERS_MEMORY: number of readings in
 * its running mean.
 */
#define OTHERS_PERIOD 8
#define OTHERS_MEMORY 16.0

/*
 * A thread shares its CPU with other threads if it has waited for the CPU for longer than this, and
 * than the present tick has lasted, before it stopped. A shorter wait is that for the sampler,
 * which uses a CPU for 60 to 150 us at a tick with two running threads. If every late stop spared
 * its thread, with ticks of 0.5 ms a quarter of all holds had no effect: a gain of 67 % was found
 * to be 123 to 156 %.
 */
#define SHARED_WAIT_NS (300 * NS_PER_US)

bool
spare_has(const struct run *run, const struct sampled_thread *thread)
{
	return thread->spared_ns > run->pace.began_ns;
}

void
spare_add_load(struct spare *spare, size_t runnable, size_t expected)
{
	const double others = runnable > expected ? (double)(runnable - expected) : 0;

	spare->known = runnable > 0;
	spare->others += (others - spare->others) / OTHERS_MEMORY;
}

bool
spare_finds_load(const struct spare *spare, unsigned cpus)
{
	return !spare->known || spare->others >= cpus;
}

void
spare_read_load(struct spare *spare, struct run *run, size_t missed)
{
	if (run->tick.number % OTHERS_PERIOD == 0)
		spare_add_load(spare, loadavg_runnable(&run->threads.loadavg), 1 + missed);
}

bool
spare_finds_shared(const struct stop_request *request, bool late, uint64_t own_ns)
{
	if (request->end != STOP_CAPTURED)
		return false;
	if (request->watch->source != SCHED_FROM_SCHEDSTAT)
		return late;
	return request->during.delay_ns >= request->before.delay_ns + own_ns + SHARED_WAIT_NS;
}

void
spare_observe(const struct spare *spare, const struct run *run, const struct stop_request *request,
	      struct sampled_thread *thread)
{
	const uint64_t now = clock_now_ns();

	if (spare_finds_load(spare, run->stats.cpus) &&
	    spare_finds_shared(request, thread->late != NULL, now - run->pace.began_ns))
		thread->spared_ns = now + SPARE_NS;
}
