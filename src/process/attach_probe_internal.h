/* SPDX-License-Identifier: MIT */
/*
 * attach_probe_internal.h - asks the kernel for what sampling needs, and disturbs nothing.
 */
#ifndef WALLSAMPLE_PROCESS_ATTACH_PROBE_INTERNAL_H
#define WALLSAMPLE_PROCESS_ATTACH_PROBE_INTERNAL_H

#include <sys/types.h>

#include "wallsample/process/process.h"

/*
 * Reads /proc/PID/task/TID/syscall, for which the kernel checks the same
 * permission as for an attach (PTRACE_MODE_ATTACH_FSCREDS). Returns 0 or an errno.
 */
int attach_probe_read(const struct process *process, pid_t tid);

/*
 * Seizes the thread from a child of ours that exits at once. That is the only way
 * out of a seize that needs no stop: PTRACE_DETACH wants a stopped tracee, but the end of a
 * tracer detaches a running one. The target is never interrupted and its system
 * calls go on; a signal that arrives in those microseconds is delivered when the child
 * is gone. Nothing we could do wrong leaves the target seized.
 *
 * Returns 0, the errno of PTRACE_SEIZE, or ETIMEDOUT when the kernel did not answer for
 * two seconds: it waits for an exec of the target to end.
 */
int attach_probe_seize(pid_t tid);

#endif
