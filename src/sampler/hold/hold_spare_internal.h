/* SPDX-License-Identifier: MIT */
/*
 * hold_spare_internal.h - runs that hold threads stop them at every tick, up to a thousand times a
 * second. On a busy machine a thread that shares its CPU with other processes loses its turn on the
 * CPU with each stop. Such a thread is "spared": it is neither stopped nor held for some ticks.
 */
#ifndef WALLSAMPLE_SAMPLER_HOLD_HOLD_SPARE_INTERNAL_H
#define WALLSAMPLE_SAMPLER_HOLD_HOLD_SPARE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run;
struct sampled_thread;
struct stop_request;

/* How busy other processes keep the machine. All bytes zero: not known yet. */
struct spare {
	bool known;    /* the last reading succeeded */
	double others; /* running mean of their runnable threads on the whole machine */
};

/* True if this tick must not stop the thread, because a stop less than 3 ms ago (SPARE_NS) ended
 * its turn on a CPU that it shares with other processes. */
bool spare_has(const struct run *run, const struct sampled_thread *thread);
/* To be called at each stop, late or not, before the thread is resumed. If other processes keep the
 * CPUs of the target busy (spare_finds_load), and the thread shares its CPU (spare_finds_shared),
 * spare_has is true for it during the next 3 ms. */
void spare_observe(const struct spare *spare, const struct run *run,
		   const struct stop_request *request, struct sampled_thread *thread);
/* To be called at each tick while the threads of the target are stopped, except `missed` threads
 * that are late or spared. Reads the load of the machine at one tick in eight; takes 1 us then. */
void spare_read_load(struct spare *spare, struct run *run, size_t missed);

/* Adds a reading of the number of runnable threads of the machine (loadavg_runnable), of which
 * `expected` are the sampler and threads of the target. */
void spare_add_load(struct spare *spare, size_t runnable, size_t expected);
/* True if other processes have at least `cpus` runnable threads, the number of CPUs that the target
 * may use, or if their number is not known. */
bool spare_finds_load(const struct spare *spare, unsigned cpus);
/* True if the stop shows that the thread shares its CPU with threads of the target or of other
 * processes: before the stop it waited for the CPU for longer than the sampler uses one. own_ns:
 * time since the present tick began, in which the sampler may have used the thread's CPU. `late`:
 * the stop was late, which decides where the kernel does not count such waits. */
bool spare_finds_shared(const struct stop_request *request, bool late, uint64_t own_ns);

#endif
