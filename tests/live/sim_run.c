/* SPDX-License-Identifier: MIT */
/* sim_run.c - a sampler in the test itself. */
#include "sim_run.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "sim_runtime.h"

#define PROGRAM "sim_tasks"
#define DEPTH_MOST 256
#define STACK_LIMIT ((uint64_t)1 << 20)

static void
on_tick(void *context, bool held)
{
	struct sim_run *run = context;

	(void)held;
	if (run->left > 0 && --run->left == 0)
		run->stop = 1;
}

static void
must(int failed, const struct error *err)
{
	if (failed != 0)
		harness_die("the sampler: %s", err->text);
}

static void
begin_recording(struct sim_run *run, double rate_hz)
{
	const struct recording_config config = {
		.dirfd = -1, .modules = run->modules, .rate_hz = rate_hz,
	};
	struct error err;

	must(recorder_create(&config, run->profile, &run->recorder, &err), &err);
	recorder_set_process(run->recorder, run->process);
}

static void
end_recording(struct sim_run *run, enum run_end end)
{
	struct error err;

	must(recorder_commit(run->recorder, &run->stats, &err), &err);
	must(recorder_finish(run->recorder, &run->stats, end, run->symbols, &err), &err);
}

void
sim_run(struct sim_run *run, pid_t pid, const struct sim_wish *wish)
{
	static const struct symbols_config names = { .demangle = false };
	const struct sampler_config config = {
		.rate_hz = wish->rate_hz,
		.jitter = true,
		.stack_limit = STACK_LIMIT,
		.max_overhead = wish->max_overhead > 0 ? wish->max_overhead : 100,
		.nonblocking = wish->nonblocking,
		.duration_ns = wish->dumps ? 1 : 0,
		.stop_all = wish->dumps,
		.all_green = wish->dumps,
		.unwinder = UNWIND_AUTO,
		.threads_only = wish->threads_only,
	};
	struct sampler_process process = { .jit = NULL };
	struct sampler_context context = {
		.extra_runtime = wish->counts ? &sim_runtime_counting : &sim_runtime_kind,
	};
	const struct sampler_hooks hooks = {
		.stop = &run->stop, .on_tick = on_tick, .context = run,
	};
	enum run_end end;
	struct error err;

	memset(run, 0, sizeof(*run));
	strbuf_init(&run->text);
	run->left = wish->ticks;
	must(process_open(pid, &run->process, &err), &err);
	run->modules = modules_create();
	run->maps = maps_create(run->process, run->modules);
	run->profile = profile_create();
	run->symbols = symbols_create(run->modules, &names);
	if (wish->records)
		begin_recording(run, wish->rate_hz);
	process.process = run->process;
	process.maps = run->maps;
	context.process = &process;
	context.process_count = 1;
	context.profile = run->profile;
	must(sampler_create(&config, &context, &run->sampler, &err), &err);
	end = sampler_run(run->sampler, &hooks);
	run->stats = *sampler_stats(run->sampler);
	if (wish->records)
		end_recording(run, end);
	sampler_free(run->sampler);
}

void
sim_run_release(struct sim_run *run)
{
	if (run->recorder != NULL)
		recorder_free(run->recorder);
	symbols_free(run->symbols);
	profile_free(run->profile);
	maps_free(run->maps);
	modules_free(run->modules);
	process_free(run->process);
	strbuf_release(&run->text);
}

/* --- names ------------------------------------------------------------------------------------ */

const char *
sim_run_frame(struct sim_run *run, const struct profile *profile, uint32_t id)
{
	const struct profile_frame *frame;
	struct symbol_place place = { .module = MODULE_NONE };
	struct symbol symbol;

	if (id == FRAME_NONE)
		return "";
	frame = profile_frame(profile, id);
	if (frame->module == MODULE_NONE)
		return profile_text(profile, (uint32_t)frame->address);
	place.module = frame->module;
	place.vaddr = frame->address;
	symbols_find(run->symbols, &place, &symbol, 1);
	return symbol.known && strcmp(symbol.module, PROGRAM) == 0 ? symbol.function : "";
}

const char *
sim_run_stack(struct sim_run *run, const struct profile *profile, uint32_t stack)
{
	const char *name[DEPTH_MOST];
	size_t count = 0;

	for (; stack != STACK_NONE && count < DEPTH_MOST; count++) {
		const struct profile_stack *at = profile_stack(profile, stack);

		name[count] = sim_run_frame(run, profile, at->frame);
		stack = at->caller;
	}
	strbuf_clear(&run->text);
	while (count-- > 0) {
		if (name[count][0] == '\0')
			continue;
		if (run->text.length > 0)
			strbuf_add_text(&run->text, ";");
		strbuf_add_text(&run->text, name[count]);
	}
	return run->text.data != NULL ? run->text.data : "";
}
