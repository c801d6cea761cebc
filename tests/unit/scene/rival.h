/* SPDX-License-Identifier: MIT */
/* rival.h - a real-time thread that takes a CPU from other threads. */
#ifndef TEST_RIVAL_H
#define TEST_RIVAL_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

/* Finds two CPUs: one for the test, which moves there, and *other. Returns false if there is only
 * one. *all: the CPUs that the test had before. */
bool take_cpus(cpu_set_t *all, cpu_set_t *other);
/* Starts a thread that uses this CPU until rival_end. Returns false if SCHED_FIFO is not
 * permitted. */
bool rival_start(pthread_t *rival, const cpu_set_t *cpu);
/* Ends it, and gives the calling thread its CPUs back. */
void rival_end(pthread_t rival, const cpu_set_t *all);

#endif
