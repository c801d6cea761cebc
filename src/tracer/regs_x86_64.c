/* SPDX-License-Identifier: MIT */
/* regs_x86_64.c - registers of x86-64: DWARF numbers, system calls, restarts. */
#include <errno.h>
#include <string.h>
#include <sys/user.h>

#include "wallsample/tracer/regs_arch.h"
#include "wallsample/thread/state.h"

/* DWARF register numbers: System V ABI, AMD64 supplement, figure 3.36. */
enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8, R9, R10, R11, R12, R13, R14, R15, RA };

const unsigned regs_sp_number = RSP;
const unsigned regs_fp_number = RBP;
const unsigned regs_count = RA + 1;
const uint8_t regs_argument[6] = { RDI, RSI, RDX, R10, R8, R9 };

/* Errors inside the kernel that request a restart: include/linux/errno.h. */
#define ERESTARTSYS 512
#define ERESTARTNOINTR 513
#define ERESTARTNOHAND 514
#define ERESTART_RESTARTBLOCK 516

static const struct user_regs_struct *
user_regs(const struct kernel_regs *kernel)
{
	return (const struct user_regs_struct *)(const void *)kernel->word;
}

bool
kernel_regs_complete(const struct kernel_regs *kernel)
{
	return kernel->size == sizeof(struct user_regs_struct);
}

void
kernel_regs_read(const struct kernel_regs *kernel, struct regs *out)
{
	const struct user_regs_struct *u = user_regs(kernel);
	const uint64_t by_number[] = {
		[RAX] = u->rax, [RDX] = u->rdx, [RCX] = u->rcx, [RBX] = u->rbx, [RSI] = u->rsi,
		[RDI] = u->rdi, [RBP] = u->rbp, [RSP] = u->rsp, [R8] = u->r8,   [R9] = u->r9,
		[R10] = u->r10, [R11] = u->r11, [R12] = u->r12, [R13] = u->r13, [R14] = u->r14,
		[R15] = u->r15, [RA] = u->rip,
	};

	memcpy(out->reg, by_number, sizeof(by_number));
	out->known = (UINT64_C(1) << (RA + 1)) - 1;
	out->sp = u->rsp;
	out->pc = u->rip;
}

long
kernel_regs_syscall(const struct kernel_regs *kernel)
{
	long number = (long)user_regs(kernel)->orig_rax;

	return number >= 0 ? number : SYSCALL_NONE;
}

bool
kernel_regs_tls(const struct kernel_regs *kernel, uint64_t *tls)
{
	*tls = user_regs(kernel)->fs_base;
	return true;
}

bool
kernel_regs_cut_short(const struct kernel_regs *kernel)
{
	if (kernel_regs_syscall(kernel) == SYSCALL_NONE)
		return false;
	switch ((long)user_regs(kernel)->rax) {
	case -EINTR:
	case -ERESTARTSYS:
	case -ERESTARTNOINTR:
	case -ERESTARTNOHAND:
	case -ERESTART_RESTARTBLOCK:
		return true;
	default:
		return false;
	}
}

/* Replaces the result EINTR by ERESTARTNOHAND: the kernel then restarts the call, but still reports
 * EINTR when a signal handler of the program really runs (arch/x86/kernel/signal.c). */
bool
kernel_regs_repair(struct kernel_regs *kernel)
{
	struct user_regs_struct *u = (struct user_regs_struct *)(void *)kernel->word;

	if ((long)u->rax != -EINTR || !syscall_breaks_on_stop(kernel_regs_syscall(kernel)))
		return false;
	u->rax = (unsigned long long)-ERESTARTNOHAND;
	return true;
}
