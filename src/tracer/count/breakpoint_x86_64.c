/* SPDX-License-Identifier: MIT */
/* breakpoint_x86_64.c - hardware breakpoints of x86-64, set by ptrace(2) in the debug registers.
 * Source: Intel SDM volume 3, chapter 18. */
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "tracer/count/counting_internal.h"

/* Number of the debug register that controls the breakpoints, DR7. */
#define CONTROL 7
/* The bit of DR7 that enables breakpoint i (L0 to L3). The bits for its type and length stay 0,
 * which means execution. */
#define ENABLE(i) (UINT64_C(1) << (2 * (i)))

/* RF in EFLAGS: the next instruction hits no breakpoint (Intel SDM, volume 3, 18.3.1.1). */
#define RESUME_FLAG (1L << 16)

const bool breakpoint_needs_step = false;

static void *
register_offset(size_t number)
{
	return (void *)(offsetof(struct user, u_debugreg) + number * sizeof(long));
}

static int
write_register(pid_t tid, size_t number, uint64_t value)
{
	return ptrace(PTRACE_POKEUSER, tid, register_offset(number), (void *)value) == 0 ? 0 :
											   errno;
}

int
breakpoints_set(pid_t tid, const struct breakpoints *breakpoints)
{
	uint64_t control = 0;
	int error = breakpoints_clear(tid);

	for (size_t i = 0; i < breakpoints->count && error == 0; i++) {
		error = write_register(tid, i, breakpoints->address[i]);
		control |= ENABLE(i);
	}
	if (error == 0 && control != 0)
		error = write_register(tid, CONTROL, control);
	return error;
}

int
breakpoints_clear(pid_t tid)
{
	return write_register(tid, CONTROL, 0);
}

/* True if a breakpoint of the thread has the address, whether it is enabled or not. */
static bool
has_address(pid_t tid, uint64_t address)
{
	for (size_t i = 0; i < TRACER_COUNT_MOST; i++) {
		errno = 0;
		const long value = ptrace(PTRACE_PEEKUSER, tid, register_offset(i), NULL);
		if (errno == 0 && value != 0 && (uint64_t)value == address)
			return true;
	}
	return false;
}

/*
 * Some virtual machines lose the status bits of the debug register DR6 now and then. The kernel
 * then cannot tell that a breakpoint caused the exception. It treats it as an int1 instruction and
 * sends SIGTRAP with TRAP_BRKPT (exc_debug_user, arch/x86/kernel/traps.c); si_addr is the program
 * counter, which is the address of the breakpoint. It does not set the resume flag, without which
 * the thread would reach the breakpoint again.
 */
static bool
has_lost_status(const siginfo_t *info)
{
	return info->si_code == TRAP_BRKPT;
}

bool
breakpoint_is_hit(pid_t tid, const siginfo_t *info)
{
	return info->si_signo == SIGTRAP &&
	       (info->si_code == TRAP_HWBKPT ||
		(has_lost_status(info) && has_address(tid, (uint64_t)(uintptr_t)info->si_addr)));
}

void
breakpoint_pass(pid_t tid, const siginfo_t *info)
{
	void *offset = (void *)offsetof(struct user, regs.eflags);
	long flags;

	if (!has_lost_status(info))
		return;
	errno = 0;
	flags = ptrace(PTRACE_PEEKUSER, tid, offset, NULL);
	if (errno == 0)
		ptrace(PTRACE_POKEUSER, tid, offset, (void *)(flags | RESUME_FLAG));
}

bool
breakpoint_find_place(pid_t tid, struct breakpoint_place *out)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) != 0)
		return false;
	out->pc = regs.rip;
	out->sp = regs.rsp;
	return true;
}
