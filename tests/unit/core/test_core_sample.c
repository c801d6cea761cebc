/* SPDX-License-Identifier: MIT */
/* test_core_sample.c - samples of core files that are not sound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>

#include "../scene/made_core.h"
#include "wallsample/core/core_sample.h"

/* The ids are not those of threads: no two threads are taken for one, or for none. */
static void
test_wrong_ids(void **state)
{
	static const struct core_sample_config config = { .unwinder = UNWIND_AUTO };
	const struct core_files files = { .exe = NULL };
	struct modules *modules = modules_create();
	struct profile *profile = profile_create();
	uint32_t unknown = profile_no_thread(profile);
	struct run_stats stats;
	struct made_core made;
	struct core *core;
	struct maps *maps;

	(void)state;
	made_core_init(&made);
	made_core_thread(&made, 0, SIGSEGV, NULL);
	made_core_thread(&made, 0, SIGSEGV, NULL);
	made_core_thread(&made, -1, SIGSEGV, NULL);
	core = made_core_open(&made);
	maps = core_maps(core, modules, &files, NULL);
	core_sample(core, maps, &config, profile, &stats);
	assert_int_equal(profile_thread_count(profile), 4);
	for (size_t i = 0; i < profile_entry_count(profile); i++)
		assert_int_not_equal(profile_entry(profile, i)->thread, unknown);
	maps_free(maps);
	core_free(core);
	made_core_release(&made);
	profile_free(profile);
	modules_free(modules);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrong_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
