/* SPDX-License-Identifier: MIT */
/* test_jit_advice.c - which compiler a process has, by its modules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wallsample/jit/jit_advice.h"

/* Checks the advice for process 4711 with these modules; the list ends with NULL. */
static void
expect(const char *const *path, enum module_kind kind, const char *advice)
{
	struct modules *modules = modules_create();
	struct strbuf text = STRBUF_INIT;

	for (; *path != NULL; path++) {
		const struct recorded_module module = { .path = *path, .build_id = "",
							.kind = kind };

		assert_int_not_equal(modules_add_recorded(modules, &module), MODULE_NONE);
	}
	assert_int_equal(jit_add_advice(modules, 4711, &text), advice != NULL);
	if (advice != NULL)
		assert_string_equal(text.data, advice);
	/* A process that has ended is not named. */
	strbuf_clear(&text);
	(void)jit_add_advice(modules, 0, &text);
	assert_true(text.length == 0 || strstr(text.data, "4711") == NULL);
	strbuf_release(&text);
	modules_free(modules);
}

#define PATHS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void
test_compilers(void **state)
{
	(void)state;
	expect(PATHS("/usr/bin/java", "/opt/jdk/lib/server/libjvm.so"), MODULE_FILE,
	       "Java: jcmd 4711 Compiler.perfmap (JDK 17 or later), then sample again");
	expect(PATHS("/usr/lib/libnode.so.108"), MODULE_FILE,
	       "Node: start it with node --perf-basic-prof");
	expect(PATHS("/usr/lib/postgresql/postgres", "/usr/lib/postgresql/llvmjit.so"),
	       MODULE_FILE, "PostgreSQL: jit_debugging_support = on, for new sessions");
	expect(PATHS("/usr/bin/cat", "/usr/lib/libc.so.6", "/srv/nodes"), MODULE_FILE, NULL);
	/* not a file */
	expect(PATHS("[anon]", "node"), MODULE_ANONYMOUS, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compilers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
