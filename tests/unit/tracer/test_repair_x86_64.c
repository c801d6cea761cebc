/* SPDX-License-Identifier: MIT */
/* test_repair_x86_64.c - which ends of a system call a stop explains, and which are repaired. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "wallsample/tracer/regs_arch.h"
#include "wallsample/base/base.h"
#include "wallsample/thread/state.h"

/* include/linux/errno.h */
#define ERESTARTSYS 512
#define ERESTARTNOINTR 513
#define ERESTARTNOHAND 514
#define ERESTART_RESTARTBLOCK 516

/* Registers of a thread whose system call ends with `result`. */
static struct kernel_regs
make_regs(long number, long result)
{
	struct kernel_regs kernel;
	struct user_regs_struct user;

	memset(&kernel, 0x77, sizeof(kernel));
	memset(&user, 0x66, sizeof(user));
	user.orig_rax = (unsigned long long)number;
	user.rax = (unsigned long long)result;
	memcpy(kernel.word, &user, sizeof(user));
	kernel.size = sizeof(user);
	return kernel;
}

static long
result_of(const struct kernel_regs *kernel)
{
	struct user_regs_struct user;

	memcpy(&user, kernel->word, sizeof(user));
	return (long)user.rax;
}

/* The repair may change one word, the result, and nothing else. */
static void
check_repair(long number, long result, bool wanted)
{
	struct kernel_regs kernel = make_regs(number, result);
	struct kernel_regs after = make_regs(number, -ERESTARTNOHAND);
	struct kernel_regs before = kernel;

	if (kernel_regs_repair(&kernel) != wanted)
		fail_msg("call %ld with result %ld: repaired %d", number, result, !wanted);
	assert_memory_equal(&kernel, wanted ? &after : &before, sizeof(kernel));
	assert_int_equal(result_of(&kernel), wanted ? -ERESTARTNOHAND : result);
}

static void
test_listed_calls(void **state)
{
	static const long listed[] = {
		SYS_epoll_wait, SYS_epoll_pwait, SYS_epoll_pwait2, SYS_semop, SYS_semtimedop,
		SYS_rt_sigtimedwait, SYS_io_getevents, SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg,
		SYS_accept, SYS_accept4, SYS_connect, SYS_sendto, SYS_sendmsg, SYS_read,
		SYS_write, SYS_readv, SYS_writev,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(listed); i++)
		check_repair(listed[i], -EINTR, true);
}

static void
test_other_calls(void **state)
{
	static const long others[] = {
		SYS_poll, SYS_ppoll, SYS_select, SYS_pselect6, SYS_futex, SYS_nanosleep,
		SYS_clock_nanosleep, SYS_pause, SYS_restart_syscall, SYS_close, SYS_wait4,
		SYS_rt_sigsuspend, SYS_getpid, SYS_rt_sigreturn,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		check_repair(others[i], -EINTR, false);
}

/* All numbers, also those from nowhere: repaired is what the table says, and only that. */
static void
test_all_calls(void **state)
{
	static const long strange[] = { -1, -2, -EINTR, INT64_MIN, INT64_MAX, 1L << 32, 4096 };
	static const long results[] = {
		0, 1, 4, -1, -2, -3, -5, -EAGAIN, -ETIMEDOUT, -EBADF, -ERESTARTSYS,
		-ERESTARTNOINTR, -ERESTARTNOHAND, -ERESTART_RESTARTBLOCK, INT64_MIN, INT64_MAX,
		/* the low half alone would be -EINTR */
		0xfffffffcL, 0x1fffffffcL,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(strange); i++)
		check_repair(strange[i], -EINTR, false);
	for (long number = 0; number < 600; number++) {
		check_repair(number, -EINTR, syscall_breaks_on_stop(number));
		for (size_t i = 0; i < ARRAY_SIZE(results); i++)
			check_repair(number, results[i], false);
	}
}

static void
test_cut_short(void **state)
{
	static const long cut[] = { -EINTR, -ERESTARTSYS, -ERESTARTNOINTR, -ERESTARTNOHAND,
				    -ERESTART_RESTARTBLOCK };
	static const long not_cut[] = { 0, 1, 4, 512, -1, -EAGAIN, -511, -515, -517, INT64_MIN,
					INT64_MAX };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cut); i++) {
		struct kernel_regs in_call = make_regs(SYS_poll, cut[i]);
		struct kernel_regs in_code = make_regs(-1, cut[i]);

		assert_true(kernel_regs_cut_short(&in_call));
		assert_false(kernel_regs_cut_short(&in_code));
	}
	for (size_t i = 0; i < ARRAY_SIZE(not_cut); i++) {
		struct kernel_regs kernel = make_regs(SYS_poll, not_cut[i]);

		assert_false(kernel_regs_cut_short(&kernel));
	}
}

static void
test_syscall_number(void **state)
{
	struct kernel_regs kernel = make_regs(SYS_futex, 0);

	(void)state;
	assert_int_equal(kernel_regs_syscall(&kernel), SYS_futex);
	kernel = make_regs(0, 0);
	assert_int_equal(kernel_regs_syscall(&kernel), 0);
	kernel = make_regs(-1, 0);
	assert_int_equal(kernel_regs_syscall(&kernel), SYSCALL_NONE);
	kernel = make_regs(INT64_MIN, 0);
	assert_int_equal(kernel_regs_syscall(&kernel), SYSCALL_NONE);
}

/* System V ABI, AMD64 supplement, figure 3.36, against the order of struct user_regs_struct. */
static void
test_numbers(void **state)
{
	struct user_regs_struct user;
	const unsigned long long *const by_number[] = {
		&user.rax, &user.rdx, &user.rcx, &user.rbx, &user.rsi, &user.rdi,
		&user.rbp, &user.rsp, &user.r8,  &user.r9,  &user.r10, &user.r11,
		&user.r12, &user.r13, &user.r14, &user.r15, &user.rip,
	};
	struct kernel_regs kernel = { .size = sizeof(user) };
	struct regs regs;

	(void)state;
	for (size_t i = 0; i < sizeof(user) / 8; i++)
		kernel.word[i] = 0x1000 + i;
	memcpy(&user, kernel.word, sizeof(user));
	assert_true(kernel_regs_complete(&kernel));
	kernel_regs_read(&kernel, &regs);
	assert_int_equal(regs_count, ARRAY_SIZE(by_number));
	for (unsigned i = 0; i < regs_count; i++) {
		uint64_t value;

		assert_true(regs_get(&regs, i, &value));
		assert_true(value == *by_number[i]);
	}
	assert_true(regs.sp == user.rsp && regs.pc == user.rip);
}

/* The code in front of the program counter tells the call that a restart hides. */
static void
test_syscall_code(void **state)
{
	/* mov $NUMBER, %eax; syscall */
	static const unsigned char poll_code[] = { 0x90, 0xb8, 7, 0, 0, 0, 0x0f, 0x05 };
	static const unsigned char restart_code[] = { 0x90, 0xb8, 219, 0, 0, 0, 0x0f, 0x05 };
	static const unsigned char no_call[] = { 0x90, 0xb8, 0xff, 0xff, 0, 0, 0x0f, 0x05 };
	static const unsigned char no_move[] = { 0x90, 0x90, 7, 0, 0, 0, 0x0f, 0x05 };
	static const unsigned char no_syscall[] = { 0x90, 0xb8, 7, 0, 0, 0, 0x0f, 0x0b };

	(void)state;
	assert_int_equal(syscall_from_code(poll_code), SYS_poll);
	assert_int_equal(syscall_from_code(restart_code), SYSCALL_UNKNOWN);
	assert_int_equal(syscall_from_code(no_call), SYSCALL_UNKNOWN);
	assert_int_equal(syscall_from_code(no_move), SYSCALL_UNKNOWN);
	assert_int_equal(syscall_from_code(no_syscall), SYSCALL_UNKNOWN);
}

/* As seen in /proc of Debian 13 (glibc 2.41) and musl 1.2, stopped and continued. */
static void
test_syscall_args(void **state)
{
	static const struct {
		uint64_t args[6];
		long number;
	} at[] = {
		{ { 0x7fedf3ffeaf0, 0x89, 0, 0x7fedf3ffea90, 0, 0xffffffff }, SYS_futex },
		{ { 0x7fedf3ffeaf0, 0x189, 7, 0x7fedf3ffea90, 0, 0xffffffff }, SYS_futex },
		{ { 0x7f57b6c3b6e0, 0x80, UINT64_MAX, 0x7f57b6c3b5d0, 0, 0 }, SYS_futex },
		{ { 0x7fedf974c360, 1, 0x61a80, 0, 0, 0 }, SYS_poll },
		{ { 0x7fedf974c360, 128, 0x61a80, 0, 0, 0 }, SYS_poll },
		{ { 0, 0, 0x7fff804de360, 0, 0, 0 }, SYS_clock_nanosleep },
		{ { 1, 0, 0x7fff804de360, 0x7fff804de360, 0, 0 }, SYS_clock_nanosleep },
		/* nanosleep, or poll of nothing */
		{ { 0x7fff804de360, 0, 0, 0, 0, 0 }, SYSCALL_UNKNOWN },
		{ { 0, 0, 5000, 0, 0, 0 }, SYSCALL_UNKNOWN },
		{ { 0x7fedf974c360, 1, UINT32_MAX, 0, 0, 0 }, SYSCALL_UNKNOWN },
		{ { UINT64_MAX, 0x89, 0, UINT64_MAX, 0, 1 }, SYSCALL_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		assert_int_equal(syscall_from_args(at[i].args), at[i].number);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_listed_calls),
		cmocka_unit_test(test_other_calls),
		cmocka_unit_test(test_all_calls),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_syscall_number),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_syscall_code),
		cmocka_unit_test(test_syscall_args),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
