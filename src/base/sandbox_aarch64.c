/* SPDX-License-Identifier: MIT */
/* sandbox_aarch64.c - registers of system calls on aarch64: syscall(2). */
#include "base/sandbox_internal.h"

#include <linux/audit.h>

const uint32_t sandbox_arch = AUDIT_ARCH_AARCH64;

uint64_t
sandbox_argument(const ucontext_t *context, unsigned index)
{
	return context->uc_mcontext.regs[index];
}

void
sandbox_set_result(ucontext_t *context, int64_t result)
{
	context->uc_mcontext.regs[0] = (uint64_t)result;
}
