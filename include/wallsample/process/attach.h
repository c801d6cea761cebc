/* SPDX-License-Identifier: MIT */
/*
 * attach.h - may this process be traced, and if not, why, and what helps.
 */
#ifndef WALLSAMPLE_PROCESS_ATTACH_H
#define WALLSAMPLE_PROCESS_ATTACH_H

#include "wallsample/process/process.h"

/*
 * Checks everything that can be seen from outside and then asks the kernel:
 * /proc/PID/task/TID/syscall of one thread must be readable, and a child of ours that
 * exits at once must be able to SEIZE it; its exit detaches without a stop. What we
 * started ourselves is not seized: to Yama that child is no ancestor of it, and the
 * reading asks the same of the kernel. Nothing is stopped. Returns 0, or the
 * refusal with its own sentence: traced by pid N (its name); itself or an
 * ancestor; another user's process; no CAP_SYS_PTRACE (in a container: how to
 * grant it); Yama ptrace_scope 1, 2 or 3; not dumpable; seccomp on ourselves.
 * The advice never is to switch Yama off for good. Who traces for a moment only, as
 * another wallsample does, is waited for: a fifth of a second at most.
 *
 * `may_stop` false (--nonblocking) skips the SEIZE, and another tracer is no
 * reason to refuse.
 */
int attach_check(const struct process *process, bool may_stop, struct error *err);

#endif
