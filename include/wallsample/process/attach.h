/* SPDX-License-Identifier: MIT */
/*
 * attach.h - checks the permission to trace a process, and explains a refusal.
 */
#ifndef WALLSAMPLE_PROCESS_ATTACH_H
#define WALLSAMPLE_PROCESS_ATTACH_H

#include "wallsample/process/process.h"

/*
 * Checks the state of the process in /proc, then the kernel's permission: one thread's
 * /proc/PID/task/TID/syscall must be readable, and a child of wallsample that exits at once must
 * be able to seize the thread. The exit of that child detaches without a stop; no thread is ever
 * stopped. A command that wallsample has started is not seized: Yama does not count the child as
 * its ancestor, and the read checks the same permission.
 *
 * Returns 0, or a negative error whose text explains the refusal and what helps: traced by pid N
 * (its name); wallsample itself or an ancestor; another user's process; no CAP_SYS_PTRACE (in a
 * container: how to grant it); Yama ptrace_scope 1, 2 or 3; not dumpable; a seccomp filter on
 * wallsample. The advice is never to disable Yama permanently. Waits at most 0.2 s for another
 * tracer to detach, because another wallsample traces for short times only.
 *
 * `may_stop` false (--nonblocking): the thread is not seized, and another tracer is no reason to
 * refuse.
 */
int attach_check(const struct process *process, bool may_stop, struct error *err);

#endif
