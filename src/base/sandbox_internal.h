/* SPDX-License-Identifier: MIT */
/* sandbox_internal.h - what the sandbox needs to know of an architecture. */
#ifndef WALLSAMPLE_BASE_SANDBOX_INTERNAL_H
#define WALLSAMPLE_BASE_SANDBOX_INTERNAL_H

#include <stdint.h>
#include <ucontext.h>

/* AUDIT_ARCH_… of the system calls of this program (linux/audit.h). */
extern const uint32_t sandbox_arch;

/* Returns argument `index`, 0 or 1, of the system call that SIGSYS has interrupted, as the context
 * of the signal handler has it. */
uint64_t sandbox_argument(const ucontext_t *context, unsigned index);
/* Sets the result of that system call: a value, or a negative error number. */
void sandbox_set_result(ucontext_t *context, int64_t result);

#endif
