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

const bool breakpoint_needs_step = false;

static int
write_register(pid_t tid, size_t number, uint64_t value)
{
	void *offset = (void *)(offsetof(struct user, u_debugreg) + number * sizeof(long));

	return ptrace(PTRACE_POKEUSER, tid, offset, (void *)value) == 0 ? 0 : errno;
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
