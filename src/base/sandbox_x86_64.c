/* SPDX-License-Identifier: MIT */
/* sandbox_x86_64.c - registers of system calls on x86-64: System V ABI, A.2.1. */
#include "base/sandbox_internal.h"

#include <linux/audit.h>

const uint32_t sandbox_arch = AUDIT_ARCH_X86_64;

uint64_t
sandbox_argument(const ucontext_t *context, unsigned index)
{
	return (uint64_t)context->uc_mcontext.gregs[index == 0 ? REG_RDI : REG_RSI];
}

void
sandbox_set_result(ucontext_t *context, int64_t result)
{
	context->uc_mcontext.gregs[REG_RAX] = result;
}
