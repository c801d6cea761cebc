/* SPDX-License-Identifier: MIT */
/*
 * attach.h - checks the permission to trace a process, and explains a refusal.
 */
#ifndef WALLSAMPLE_PROCESS_ATTACH_H
#define WALLSAMPLE_PROCESS_ATTACH_H

#include "wallsample/process/process.h"

/*
 * Checks the state of the process in /proc, then the kernel's permission:
 * /proc/PID/task/TID/syscall of one thread must be readable, and a child of wallsample must be able
 * to seize the thread. The child exits at once, which detaches the thread without a stop. A
 * descendant of wallsample, such as a command that it has started, is not seized: with ptrace_scope
 * 1, Yama would refuse the child, which is not an ancestor of that descendant. For a descendant the
 * read of the file is enough, because the kernel checks the same permission for it.
 *
 * Returns 0, or a negative error whose text gives the reason and a remedy. The reasons: the process
 * is wallsample itself or an ancestor; it is a 32-bit program; it has a tracer; it has exited; it
 * belongs to another user; wallsample has no CAP_SYS_PTRACE (in a container: how to grant it);
 * Yama's ptrace_scope is 1, 2 or 3; the process is not dumpable; a seccomp filter is in force on
 * wallsample; SELinux denies tracing; an exec of the process does not end; the kernel refuses for
 * an unknown reason. The text never advises to disable Yama.
 *
 * May wait up to about 0.2 s for another tracer to detach, which may be another wallsample that
 * traces the process only for short times; and up to 2 s for an exec of the process to end.
 *
 * With `may_stop` false (--nonblocking) the thread is not seized, and a tracer is no reason to
 * refuse.
 */
int attach_check(const struct process *process, bool may_stop, struct error *err);

#endif
