/* SPDX-License-Identifier: MIT */
/* run_sampler.c - creates the sampler of a run: which processes and threads it samples. */
#include <stdlib.h>

#include "cli/run_internal.h"
#include "wallsample/cli/supervisor.h"

static bool
thread_is_selected(void *context, pid_t tid, const char *name)
{
	const struct run *run = context;

	return filter_thread(&run->request.options->filter, tid, name);
}

static bool
thread_is_excluded(void *context, pid_t tid, const char *name)
{
	const struct run *run = context;

	(void)tid;
	return filter_excludes_thread(&run->request.options->filter, name);
}

static struct sampler_process
sampler_process_of(const struct target_member *member, bool created)
{
	return (struct sampler_process){
		.process = member->process,
		.maps = member->maps,
		.jit = member->jit,
		.jit_objects = member->jit_objects,
		.is_new = created,
	};
}

static bool
next_process(void *context, uint64_t now_ns, struct sampler_process *out)
{
	struct run *run = context;
	bool created;
	struct target_member *member = target_next(&run->target, now_ns, &created);

	if (member == NULL)
		return false;
	if (member->maps == NULL) {
		record_protect(run, member->process);
		privacy_hide_words(run->request.options, member->process);
		target_open_code(member, run->source.modules, run->epochs, &run->request.log);
	} else {
		maps_refresh(member->maps); /* it has called exec since it left */
	}
	*out = sampler_process_of(member, created);
	return true;
}

static const struct process *
next_left(void *context, uint64_t now_ns)
{
	struct run *run = context;

	return target_next_left(&run->target, now_ns);
}

static bool
may_grow(void *context)
{
	const struct run *run = context;

	return target_may_grow(&run->target);
}

static void
process_ended(void *context, const struct process *process)
{
	struct run *run = context;

	target_close(&run->target, process);
}

int
run_create_sampler(struct run *run, const struct sampler_config *config, struct profile *profile,
		   const struct sampler_control *control, struct error *err)
{
	const struct filter *filter = &run->request.options->filter;
	const struct target *target = &run->target;
	struct sampler_process *process = xcalloc(target->count, sizeof(*process));
	const struct sampler_context context = {
		.process = process,
		.process_count = target->count,
		.next_process = target->set != NULL ? next_process : NULL,
		.next_left = filter->exclude_process.count > 0 ? next_left : NULL,
		.may_grow = may_grow,
		.process_ended = process_ended,
		.process_context = run,
		.profile = profile,
		.log = &run->request.log,
		.async = run->source.async,
		.load = supervisor_load(),
		.control = control,
		.selected = filter_selects_threads(filter) ? thread_is_selected : NULL,
		.excluded = filter->exclude_thread.count > 0 ? thread_is_excluded : NULL,
		.selected_context = run,
	};
	int rc;

	for (size_t i = 0; i < target->count; i++)
		process[i] = sampler_process_of(target->member[i], false);
	signals_defer_suspend(true);
	rc = sampler_create(config, &context, &run->sampler, err);
	free(process);
	return rc;
}

void
run_read_excluded(struct run *run)
{
	struct run_excluded_processes *excluded = &run->source.stats.excluded_processes;

	target_read_excluded(&run->target, &excluded->count, &excluded->cpu_ns);
}
