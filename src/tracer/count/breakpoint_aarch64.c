/* SPDX-License-Identifier: MIT */
/* breakpoint_aarch64.c - hardware breakpoints of aarch64, set by the ptrace(2) register set
 * NT_ARM_HW_BREAK. Sources: Arm Architecture Reference Manual, DBGBCR<n>_EL1; asm/ptrace.h of
 * Linux. */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include <asm/ptrace.h>

#include "tracer/count/counting_internal.h"

/* Value of DBGBCR<n>_EL1: enabled, at EL0, on execution of any of the four bytes of an
 * instruction. */
#define CONTROL (UINT32_C(1) | UINT32_C(2) << 1 | UINT32_C(0xf) << 5)
#define SIZE(count)                                                                                \
	(offsetof(struct user_hwdebug_state, dbg_regs) +                                           \
	 (count) * sizeof(((struct user_hwdebug_state *)NULL)->dbg_regs[0]))

/* The kernel steps over its own breakpoints, but not over breakpoints set by ptrace(2). */
const bool breakpoint_needs_step = true;

static int
write_registers(pid_t tid, const struct user_hwdebug_state *state, size_t count)
{
	/* PTRACE_SETREGSET does not write to `state`, so that the cast may drop `const`. */
	struct iovec iov = { .iov_base = (void *)(uintptr_t)state, .iov_len = SIZE(count) };

	return ptrace(PTRACE_SETREGSET, tid, (void *)NT_ARM_HW_BREAK, &iov) == 0 ? 0 : errno;
}

int
breakpoints_set(pid_t tid, const struct breakpoints *breakpoints)
{
	struct user_hwdebug_state state;

	memset(&state, 0, sizeof(state));
	for (size_t i = 0; i < breakpoints->count; i++) {
		state.dbg_regs[i].addr = breakpoints->address[i];
		state.dbg_regs[i].ctrl = CONTROL;
	}
	return breakpoints->count > 0 ? write_registers(tid, &state, breakpoints->count) :
					breakpoints_clear(tid);
}

/* Tries fewer and fewer breakpoints: the kernel refuses to clear more than the processor has, which
 * may be two. */
int
breakpoints_clear(pid_t tid)
{
	struct user_hwdebug_state state;
	int error = 0;

	memset(&state, 0, sizeof(state));
	for (size_t count = TRACER_COUNT_MOST; count > 0; count--) {
		error = write_registers(tid, &state, count);
		if (error == 0 || error == ESRCH)
			break;
	}
	return error;
}

bool
breakpoint_is_hit(pid_t tid, const siginfo_t *info)
{
	(void)tid;
	return info->si_signo == SIGTRAP && info->si_code == TRAP_HWBKPT;
}

void
breakpoint_pass(pid_t tid, const siginfo_t *info)
{
	(void)tid;
	(void)info;
}

bool
breakpoint_find_place(pid_t tid, struct breakpoint_place *out)
{
	struct user_pt_regs regs;
	struct iovec iov = { .iov_base = &regs, .iov_len = sizeof(regs) };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &iov) != 0 ||
	    iov.iov_len != sizeof(regs))
		return false;
	out->pc = regs.pc;
	out->sp = regs.sp;
	return true;
}
