/* SPDX-License-Identifier: MIT */
/* syscalls.c - answers questions about system calls from the table of the architecture. */
#include <linux/futex.h>
#include <string.h>
#include <time.h>

#include "thread/syscall_table_internal.h"
#include "wallsample/thread/state.h"

/* Addresses of user space: above the page that is never mapped, below the kernel's half. */
#define ADDRESS_LEAST UINT64_C(0x1000)
#define ADDRESS_END (UINT64_C(1) << 56)
/* Most descriptors of one poll(2): a process cannot have more with the default of fs.nr_open. */
#define POLLED_MOST (UINT64_C(1) << 20)

static bool
has_number(long number)
{
	return number >= 0 && (size_t)number < syscall_table.count;
}

const char *
syscall_name(long number)
{
	return has_number(number) ? syscall_table.name[number] : NULL;
}

long
syscall_number(const char *name)
{
	for (size_t i = 0; i < syscall_table.count; i++)
		if (syscall_table.name[i] != NULL && strcmp(syscall_table.name[i], name) == 0)
			return (long)i;
	return SYSCALL_UNKNOWN;
}

static unsigned
attributes_of(long number)
{
	return has_number(number) ? syscall_table.attributes[number] : 0;
}

bool
syscall_breaks_on_stop(long number)
{
	return (attributes_of(number) & BREAKS) != 0;
}

bool
syscall_minds_a_stop(long number)
{
	return (attributes_of(number) & TIMED) != 0;
}

bool
syscall_sleeps_interruptible(long number)
{
	return (attributes_of(number) & SLEEPS) != 0;
}

bool
syscall_only_waits(long number)
{
	return (attributes_of(number) & (SLEEPS | WORKS)) == SLEEPS;
}

bool
syscall_waits_for_file_lock(long number, enum run_state state)
{
	return state == RUN_SLEEPING && (attributes_of(number) & FILE_LOCK) != 0;
}

bool
syscall_waits_for_file(long number, enum run_state state)
{
	const unsigned wanted = state == RUN_UNINTERRUPTIBLE ? FILE_D :
				state == RUN_SLEEPING        ? FILE_ANY :
							       0;

	return wanted != 0 && (attributes_of(number) & wanted) == wanted;
}

bool
syscall_is_restart(long number)
{
	const char *name = syscall_name(number);

	return name != NULL && strcmp(name, "restart_syscall") == 0;
}

long
syscall_from_code(const unsigned char code[SYSCALL_CODE_SIZE])
{
	const long number = syscall_decode(code);

	return syscall_name(number) != NULL && !syscall_is_restart(number) ? number :
									     SYSCALL_UNKNOWN;
}

/* True for an address that may belong to an object of the program. */
static bool
is_address(uint64_t arg)
{
	return arg >= ADDRESS_LEAST && arg < ADDRESS_END;
}

/* True for arguments of a private futex wait with a time-out. The mask, args[5], is used only by
 * FUTEX_WAIT_BITSET, and the kernel refuses an empty one. */
static bool
is_futex_wait(const uint64_t args[6])
{
	const uint64_t op = args[1] & ~(uint64_t)(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);

	return is_address(args[0]) && args[0] % sizeof(uint32_t) == 0 && is_address(args[3]) &&
	       (args[1] & FUTEX_PRIVATE_FLAG) != 0 &&
	       (op == FUTEX_WAIT || (op == FUTEX_WAIT_BITSET && (uint32_t)args[5] != 0));
}

static bool
is_poll(const uint64_t args[6])
{
	const uint64_t time_out = args[2];

	return is_address(args[0]) && args[1] > 0 && args[1] <= POLLED_MOST && time_out > 0 &&
	       time_out <= INT32_MAX;
}

/* True for arguments of a relative clock_nanosleep. An absolute one (TIMER_ABSTIME) is never hidden
 * by restart_syscall. */
static bool
is_clock_nanosleep(const uint64_t args[6])
{
	return args[0] <= CLOCK_TAI && args[1] == 0 && args[2] > INT32_MAX && is_address(args[2]) &&
	       (args[3] == 0 || is_address(args[3]));
}

long
syscall_from_args(const uint64_t args[6])
{
	/* args[1] == 128 is both a private FUTEX_WAIT and a poll of 128 descriptors.
	 * is_futex_wait() also requires that args[3] looks like an address: poll has no such
	 * argument, and the register, which keeps an earlier value, rarely looks like one. */
	if (is_futex_wait(args))
		return syscall_number("futex");
	if (is_poll(args))
		return syscall_number("poll");
	if (is_clock_nanosleep(args))
		return syscall_number("clock_nanosleep");
	return SYSCALL_UNKNOWN;
}
