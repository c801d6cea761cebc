/* SPDX-License-Identifier: MIT */
/* regs_aarch64.c - registers of aarch64: DWARF numbers and system calls. */
#include <string.h>

#include "wallsample/tracer/regs_arch.h"
#include "wallsample/thread/state.h"

/* Register numbers of DWARF for the Arm 64-bit architecture, table 3: x0-x30, then sp. */
#define FP 29
#define SP 31
#define PC 32 /* the place of pc in NT_PRSTATUS (struct user_pt_regs) */
#define WORDS 34

const unsigned regs_sp_number = SP;
const unsigned regs_fp_number = FP;
const unsigned regs_count = SP + 1;
const uint8_t regs_argument[6] = { 0, 1, 2, 3, 4, 5 };

bool
kernel_regs_complete(const struct kernel_regs *kernel)
{
	return kernel->size == WORDS * sizeof(uint64_t);
}

void
kernel_regs_read(const struct kernel_regs *kernel, struct regs *out)
{
	memcpy(out->reg, kernel->word, (SP + 1) * sizeof(uint64_t));
	out->known = (UINT64_C(1) << (SP + 1)) - 1;
	out->sp = kernel->word[SP];
	out->pc = kernel->word[PC];
}

/* On aarch64 neither NT_PRSTATUS nor NT_ARM_SYSTEM_CALL distinguishes a system call from user code,
 * in which x8 is stale. */
long
kernel_regs_syscall(const struct kernel_regs *kernel)
{
	(void)kernel;
	return SYSCALL_UNKNOWN;
}

bool
kernel_regs_tls(const struct kernel_regs *kernel, uint64_t *tls)
{
	(void)kernel, (void)tls;
	return false;
}

bool
kernel_regs_cut_short(const struct kernel_regs *kernel)
{
	(void)kernel;
	return false;
}

/* Never changes the registers: the kernel decides before the stop whether it restarts the call, and
 * does not show the first argument, so that the call cannot be repaired afterwards. */
bool
kernel_regs_repair(struct kernel_regs *kernel)
{
	(void)kernel;
	return false;
}
