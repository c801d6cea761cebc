/* SPDX-License-Identifier: MIT */
/* go_language.c - the properties of the language Go and its functions. */
#include <string.h>

#include "runtime/go/go_internal.h"
#include "wallsample/runtime/language.h"

/*
 * Functions of the runtime that only suspend a goroutine which has to wait. Functions that show
 * what it waits for are not listed: runtime.chanrecv1, runtime.selectgo, time.Sleep,
 * sync.(*Mutex).Lock, internal/poll.(*FD).Read.
 */
static const char *const parking[] = {
	"runtime.gopark",
	"runtime.goparkunlock",
	"runtime.park_m",
	"runtime.mcall",
	"runtime.systemstack*",
	/* channels; runtime.chanrecv1, chanrecv2 and chansend1 are not listed */
	"runtime.chanrecv",
	"runtime.chansend",
	/* locks; the functions of package sync that programs call are not listed */
	"runtime.semacquire",
	"runtime.semacquire1",
	"sync.runtime_Semacquire*",
	"sync.runtime_notifyListWait",
	"sync.(*Mutex).lockSlow",
	"internal/sync.runtime_Semacquire*",
	"internal/sync.(*Mutex).lockSlow",
	"internal/sync.(*Mutex).Lock",
	/* descriptors; the methods of internal/poll.(*FD) are not listed */
	"runtime.netpollblock",
	"internal/poll.runtime_pollWait",
	"internal/poll.(*pollDesc).wait*",
	/* preemption of goroutines, which are runnable */
	"runtime.asyncPreempt*",
	"runtime.gopreempt_m",
	"runtime.goschedImpl",
	"runtime.gosched_m",
	"runtime.goschedguarded*",
	"runtime.newstack",
	"runtime.morestack*",
	NULL,
};

static const char *const lock_functions[] = {
	"runtime.lock2",         "sync.(*Mutex).lockSlow", "sync.(*Mutex).Lock",
	"sync.(*RWMutex).RLock", "sync.(*RWMutex).Lock",   NULL,
};

static bool
only_parks(const char *function)
{
	static const char suffix[] = ".abi0"; /* "runtime.asyncPreempt2.abi0" */
	size_t length = strlen(function);

	if (length > strlen(suffix) && strcmp(function + length - strlen(suffix), suffix) == 0)
		length -= strlen(suffix);
	for (size_t i = 0; parking[i] != NULL; i++)
		if (language_name_matches(parking[i], function, length))
			return true;
	return false;
}

static bool
is_runtime(const char *function)
{
	static const char *const packages[] = { "runtime.*", "internal/runtime/*", NULL };

	return language_names_match(packages, function);
}

/* For a "go" statement that calls a function with arguments the compiler makes a wrapper, such as
 * "main.start.gowrap1". */
static bool
is_wrapper(const char *function)
{
	return strstr(function, ".gowrap") != NULL;
}

/* "net/http.(*Transport).dialConn" is of package "net/http". */
static size_t
package(const char *function)
{
	const size_t path = strcspn(function, "([{ ");
	size_t slash = 0;

	for (size_t i = 0; i < path; i++)
		if (function[i] == '/')
			slash = i;
	return slash + strcspn(function + slash, ".([{ ");
}

/*
 * Package main, and packages whose path begins with the name of a domain, which has a dot before
 * the first slash ("example.org/x"), do not belong to Go. Brackets in the name may contain paths of
 * other packages and are not searched: "slices.Sort[go.shape.int]", "main.Map[example.org/x.T]".
 * Names with a colon are made by the compiler.
 */
static bool
is_own(const char *function)
{
	const size_t path = strcspn(function, "([{ ");
	const char *slash = memchr(function, '/', path);

	if (strcspn(function, ":") < path)
		return false;
	if (slash != NULL)
		return memchr(function, '.', (size_t)(slash - function)) != NULL;
	return strncmp(function, "main.", strlen("main.")) == 0;
}

/*
 * A file of the runtime has a path such as "/usr/local/go/src/runtime/proc.go":
 * "/usr/local/go/src/" is the directory of the standard library. In programs built with -trimpath,
 * paths have no directories before "runtime/", and the result is 0.
 */
static size_t
library(const char *file)
{
	const char *at = strstr(file, "/src/runtime/");

	return at != NULL ? (size_t)(at - file) + strlen("/src/") : 0;
}

static const struct language_program program = {
	.is_runtime = is_runtime,
	.is_wrapper = is_wrapper,
	.package = package,
	.is_own = is_own,
	.library = library,
};

static const char *const accept_functions[] = { "internal/poll.(*FD).Accept", NULL };
static const char *const connect_functions[] = { "net.(*netFD).connect", NULL };

const struct runtime_language language_go = {
	.name = "go",
	.title = "Go",
	.engine = "Go",
	.root = GO_ROOT,
	.only_parks = only_parks,
	.lock_functions = lock_functions,
	.accept_functions = accept_functions,
	.connect_functions = connect_functions,
	.program = &program,
	.kind = &runtime_go,
};
