/* SPDX-License-Identifier: MIT */
/* test_c_library.c - names of modules and of plumbing of the C libraries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/process/c_library.h"

static void
test_modules(void **state)
{
	static const char *const good[] = { "libc.so.6", "libc-2.31.so", "ld-musl-x86_64.so.1",
					    "libc.so", "libpthread-2.31.so" };
	static const char *const bad[] = { "libcrypt.so.1", "libcares.so.2", "ld-linux-x86-64.so.2",
					   "python3.11", "" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_true(c_library_has_module(good[i]));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(c_library_has_module(bad[i]));
}

static void
test_functions(void **state)
{
	static const char *const hidden[] = { "__syscall_cancel_arch", "__internal_syscall_cancel",
					      "__syscall_cancel", "__syscall_cp_asm",
					      "__syscall_cp_c", "__syscall_cp",
					      "__internal_syscall_cancel.isra.0" };
	/* Functions of the program, functions that programs call, and locks. */
	static const char *const shown[] = { "syscall_cancel", "_syscall_cancel", "syscall", "wait",
					     "__wait", "__lll_lock_wait", "poll", "__syscall_cance",
					     "__syscall_cancel2", "" };
	static const char *const leads[] = { "syscall", "syscall_cp", "syscall_cancel_arch",
					     "lll_lock_wait", "wait" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++)
		assert_true(c_library_only_calls(hidden[i]));
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		assert_false(c_library_only_calls(shown[i]));
	for (size_t i = 0; i < ARRAY_SIZE(leads); i++)
		assert_true(c_library_leads_to_syscall(leads[i], strlen(leads[i])));
	assert_false(c_library_leads_to_syscall("wait4", 5));
	assert_true(c_library_leads_to_syscall("wait4", 4));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modules),
		cmocka_unit_test(test_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
