/* SPDX-License-Identifier: MIT */
/* fuzz_core.c - the bytes are a core file: it is opened, asked everything, and all is unwound. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "wallsample/core/core_sample.h"
#include "core/core_internal.h"

/* Memory is asked for at both ends of what the threads point to. */
static void
ask(const struct core *core, size_t index)
{
	uint8_t bytes[5000];
	struct core_thread thread;

	if (!core_thread_read(core, index, &thread))
		return;
	core_read(core, thread.regs.sp - 100, bytes, sizeof(bytes));
	core_read(core, thread.regs.pc, bytes, 16);
	if (core_read_piece(core, thread.tls, bytes, sizeof(bytes)) > sizeof(bytes))
		abort();
}

static void
unwind(const struct core *core)
{
	const struct core_files files = { .exe = NULL };
	const struct core_sample_config config = {
		.unwinder = UNWIND_AUTO, .runtimes = RUNTIMES_ALL,
	};
	struct modules *modules = modules_create();
	struct maps *maps = core_maps(core, modules, &files, NULL);
	struct profile *profile = profile_create();
	struct run_stats stats;

	for (size_t i = 1; i < maps_count(maps); i++)
		if (maps_at(maps, i)->start < maps_at(maps, i - 1)->end)
			abort();
	core_sample(core, maps, &config, profile, &stats);
	if (stats.thread_samples != core_thread_count(core))
		abort();
	profile_free(profile);
	maps_free(maps);
	modules_free(modules);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const int fd = memfd_create("core", MFD_CLOEXEC);
	struct core *core;
	struct error err;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	if (core_open(path, &core, &err) == 0) {
		if (core_thread_count(core) == 0 || core_process(core)->cmdline == NULL)
			abort();
		for (size_t i = 0; i < core_thread_count(core); i++)
			ask(core, i);
		unwind(core);
		core_free(core);
	}
	close(fd);
	return 0;
}
