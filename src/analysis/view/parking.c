/* SPDX-License-Identifier: MIT */
/*
 * parking.c - what runtimes have between a task that waits and what it waits in.
 *
 * What stays says what a task does: runtime.chanrecv1, runtime.selectgo, time.Sleep,
 * sync.(*Mutex).Lock, internal/poll.(*FD).Read; take!, lock and sleep of Julia.
 */
#include "analysis/view/parking_internal.h"

#include <stddef.h>
#include <string.h>

#include "wallsample/base/base.h"

/* '*' at the end: whatever follows. */
static const char *const go_names[] = {
	"runtime.gopark",
	"runtime.goparkunlock",
	"runtime.park_m",
	"runtime.mcall",
	"runtime.systemstack*",
	/* a channel: runtime.chanrecv1, chanrecv2 and chansend1 stay */
	"runtime.chanrecv",
	"runtime.chansend",
	/* locks: those of sync stay */
	"runtime.semacquire",
	"runtime.semacquire1",
	"sync.runtime_Semacquire*",
	"sync.runtime_notifyListWait",
	"sync.(*Mutex).lockSlow",
	"internal/sync.runtime_Semacquire*",
	"internal/sync.(*Mutex).lockSlow",
	"internal/sync.(*Mutex).Lock",
	/* descriptors: internal/poll.(*FD) stays */
	"runtime.netpollblock",
	"internal/poll.runtime_pollWait",
	"internal/poll.(*pollDesc).wait*",
	/* who has been made to give way, and is ready */
	"runtime.asyncPreempt*",
	"runtime.gopreempt_m",
	"runtime.goschedImpl",
	"runtime.gosched_m",
	"runtime.goschedguarded*",
	"runtime.newstack",
	"runtime.morestack*",
};

static const char *const julia_names[] = {
	/* of its library */
	"ctx_switch", "jl_switch", "ijl_switch", "jl_swap_fiber", "jl_start_fiber_swap",
	"jl_task_get_next", "ijl_task_get_next",
	/* of Base */
	"wait", "_trywait", "try_yieldto", "yieldto", "yield", "task_done_hook",
	/* a channel: take! and put! stay */
	"take_buffered", "take_unbuffered", "put_buffered", "put_unbuffered",
};

static bool
is_one(const char *name, size_t length, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const size_t all = strlen(names[i]);
		const bool open = names[i][all - 1] == '*';

		if ((open ? length >= all - 1 : length == all) &&
		    memcmp(name, names[i], open ? all - 1 : all) == 0)
			return true;
	}
	return false;
}

/* Of "julia_wait_1234", "jfptr_wait_12" and "#wait#731" it is "wait". */
static const char *
julia_name(const char *name, size_t *length)
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

bool
function_only_parks(const char *name)
{
	size_t length;
	const char *julia = julia_name(name, &length);

	/* "runtime.asyncPreempt2.abi0" */
	if (is_one(julia, length, julia_names, ARRAY_SIZE(julia_names)))
		return true;
	length = strlen(name);
	if (length > strlen(".abi0") && strcmp(name + length - strlen(".abi0"), ".abi0") == 0)
		length -= strlen(".abi0");
	return is_one(name, length, go_names, ARRAY_SIZE(go_names));
}

bool
module_only_parks(const char *name)
{
	return strncmp(name, "libjulia", strlen("libjulia")) == 0;
}

bool
go_function_is_wrapper(const char *name)
{
	return strstr(name, ".gowrap") != NULL;
}

bool
go_function_is_runtime(const char *name)
{
	return strncmp(name, "runtime.", strlen("runtime.")) == 0 ||
	       strncmp(name, "internal/runtime/", strlen("internal/runtime/")) == 0;
}

/* The path of its package is up to the first dot behind the last slash; "net/http.(*conn).serve",
 * "slices.Sort[go.shape.int]", "main.Map[example.org/x.T]". */
bool
go_function_is_own(const char *name)
{
	const size_t path = strcspn(name, "([{ ");
	const char *slash = memchr(name, '/', path);

	if (strcspn(name, ":") < path)
		return false;
	if (slash != NULL)
		return memchr(name, '.', (size_t)(slash - name)) != NULL;
	return strncmp(name, "main.", strlen("main.")) == 0;
}
