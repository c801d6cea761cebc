/* SPDX-License-Identifier: MIT */
/* jit_advice.c - says how each compiler is made to write the names of its code. */
#include "wallsample/jit/jit_advice.h"

#include <fnmatch.h>
#include <inttypes.h>

/* A compiler, by the base name of its module (fnmatch(3)), and what to do: `before`, the process id
 * and `after`; without `after` only `before`. The sources are the documentation of the named
 * versions. */
static const struct {
	const char *module, *before, *after;
} compilers[] = {
	/* jcmd of JDK 17, JDK-8254723 */
	{ "libjvm.so", "Java: jcmd ", " Compiler.perfmap (JDK 17 or later), then sample again" },
	/* node --help, Node 20 */
	{ "node", "Node: start it with node --perf-basic-prof", NULL },
	{ "nodejs", "Node: start it with nodejs --perf-basic-prof", NULL },
	{ "libnode.so*", "Node: start it with node --perf-basic-prof", NULL },
	/* PostgreSQL 15, "Developer Options": it cannot be changed in a session */
	{ "llvmjit.so", "PostgreSQL: jit_debugging_support = on, for new sessions", NULL },
	/* .NET 8, "Runtime configuration options for debugging and profiling" */
	{ "libcoreclr.so", ".NET: start it with DOTNET_PerfMapEnabled=1", NULL },
	/* Erlang/OTP 26, erl(1) */
	{ "beam.smp", "Erlang: start it with erl +JPperf true", NULL },
	/* Ruby 3.3, doc/yjit/yjit.md */
	{ "ruby", "Ruby: start it with ruby --yjit-perf", NULL },
	{ "libruby*.so*", "Ruby: start it with ruby --yjit-perf", NULL },
	/* PHP 8.3, opcache.jit_debug: ZEND_JIT_DEBUG_PERF */
	{ "opcache.so", "PHP: start it with opcache.jit_debug=16", NULL },
};

bool
jit_add_advice(const struct modules *modules, pid_t pid, struct strbuf *out)
{
	for (uint32_t id = 0; id < modules_count(modules); id++) {
		const struct module *module = modules_at(modules, id);

		if (module->kind != MODULE_FILE && module->kind != MODULE_OTHER)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(compilers); i++) {
			if (fnmatch(compilers[i].module, module->name, 0) != 0)
				continue;
			strbuf_add_text(out, compilers[i].before);
			if (compilers[i].after != NULL && pid > 0)
				strbuf_add_format(out, "%jd%s", (intmax_t)pid, compilers[i].after);
			else if (compilers[i].after != NULL)
				strbuf_add_format(out, "PID%s", compilers[i].after);
			return true;
		}
	}
	return false;
}
