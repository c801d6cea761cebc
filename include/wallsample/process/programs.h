/* SPDX-License-Identifier: MIT */
/* programs.h - the CPU time of all processes of the machine: which programs use its CPUs. */
#ifndef WALLSAMPLE_PROCESS_PROGRAMS_H
#define WALLSAMPLE_PROCESS_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "wallsample/base/base.h"

/* The CPU times of all processes at one moment. */
struct programs;

/*
 * Reads the CPU time of each process of wallsample's PID namespace, which takes 10 to 20 us for
 * each. NULL: /proc is not readable, or there are more than 4,096 processes. To be freed with
 * programs_free(), which accepts NULL.
 */
struct programs *programs_read(void);
void programs_free(struct programs *programs);

/* Returns the mean number of CPUs of the machine that were busy between two readings, with
 * interrupts and the time that a hypervisor took; 0: not known, or one of the readings is NULL. */
double programs_machine_busy(const struct programs *before, const struct programs *now);

/*
 * Adds the programs that have used most CPU time between two readings, at most three, each with
 * 0.05 CPUs or more: "cc1 (8 processes) 1.4 CPUs, backup (812) 0.3 CPUs". Processes of one name are
 * added up. wallsample itself and the processes except[0 … count - 1] are left out. Processes that
 * ended before the second reading, and those that are not visible here, are one program, without a
 * name, if they used 0.1 CPUs or more, and all of except[] still exist: "others, which ended or are
 * hidden, 0.5 CPUs". Adds nothing if one of the readings is NULL.
 */
void programs_add_busy(const struct programs *before, const struct programs *now,
		       const pid_t *except, size_t count, struct strbuf *out);

#endif
