/* SPDX-License-Identifier: MIT */
/* julia_language.c - the properties of the language Julia and its functions. */
#include <string.h>

#include "runtime/julia/julia_internal.h"
#include "wallsample/runtime/language.h"

/*
 * Functions that only suspend a task which has to wait. Functions that show what it waits for are
 * not listed: take!, lock and sleep.
 */
/* clang-format off */
static const char *const parking[] = {
	/* functions of libjulia */
	"ctx_switch", "jl_switch", "ijl_switch", "jl_swap_fiber", "jl_start_fiber_swap",
	"jl_task_get_next", "ijl_task_get_next",
	/* functions of Base */
	"wait", "_trywait", "try_yieldto", "yieldto", "yield", "task_done_hook",
	/* channels; take! and put! are not listed */
	"take_buffered", "take_unbuffered", "put_buffered", "put_unbuffered",
};
/* clang-format on */

/*
 * Returns the part of a symbol's name that is the name of the function in the program, and its
 * length: "wait" for "julia_wait_1234", "jfptr_wait_12" and "#wait#731".
 */
static const char *
plain_name(const char *name, size_t *length)
{
	static const char *const before[] = { "julia_", "jfptr_", "japi1_", "jlsys_" };

	*length = strlen(name);
	if (name[0] == '#') {
		*length = strcspn(name + 1, "#");
		return name + 1;
	}
	for (size_t i = 0; i < ARRAY_SIZE(before); i++) {
		const size_t skip = strlen(before[i]);
		size_t end = *length;

		if (strncmp(name, before[i], skip) != 0)
			continue;
		while (end > skip && name[end - 1] >= '0' && name[end - 1] <= '9')
			end--;
		*length = (end > skip && name[end - 1] == '_' ? end - 1 : *length) - skip;
		return name + skip;
	}
	return name;
}

static bool
only_parks(const char *function)
{
	size_t length;
	const char *name = plain_name(function, &length);

	for (size_t i = 0; i < ARRAY_SIZE(parking); i++)
		if (language_name_matches(parking[i], name, length))
			return true;
	return false;
}

/* Returns true for libjulia, which is often stripped, so that its functions have no names. */
static bool
module_only_parks(const char *module)
{
	return strncmp(module, "libjulia", strlen("libjulia")) == 0;
}

const struct runtime_language language_julia = {
	.name = "julia",
	.title = "Julia",
	.engine = "Julia",
	.root = JULIA_ROOT,
	.only_parks = only_parks,
	.module_only_parks = module_only_parks,
	.kind = &runtime_julia,
};
