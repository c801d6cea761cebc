/* SPDX-License-Identifier: MIT */
/* sampler_create.c - connects the contexts of stages and consumers, and frees them. */
#include <stdlib.h>
#include <sys/resource.h>

#include "sampler/sampler_internal.h"
#include "wallsample/tracer/tracer_count.h"

/* Descriptors that are needed for other things than threads: modules, output. */
#define FD_RESERVE 256

static size_t
fd_budget(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur <= FD_RESERVE)
		return 0;
	return limit.rlim_cur == RLIM_INFINITY ? SIZE_MAX : (limit.rlim_cur - FD_RESERVE) / 2;
}

static int
create_tracer(const struct process *process, const struct sampler_control *control,
	      struct tracer **tracer, struct error *err)
{
	int rc = tracer_create(process, tracer, err);

	if (rc == 0 && control != NULL && control->addresses > 0)
		rc = tracer_count(*tracer, control->address, control->addresses, err);
	if (rc != 0)
		tracer_free(*tracer);
	return rc;
}

static struct waits *
create_waits(struct sampler *sampler, struct sampled_process *process)
{
	struct waits *waits = xcalloc(1, sizeof(*waits));

	*waits = (struct waits){
		.process = process,
		.threads = &sampler->threads,
		.late = &sampler->late_stops,
		.tick = &sampler->tick,
		.records = &sampler->records,
		.profile = sampler->context.profile,
		.exact = sampler->config.exact,
	};
	waits_init(waits, sampled_process_memory(process));
	return waits;
}

static struct green_tasks *
create_green(struct sampler *sampler, struct sampled_process *process)
{
	const struct sampler_config *config = &sampler->config;
	struct green_tasks *green = xcalloc(1, sizeof(*green));

	green->process = process;
	green->threads = &sampler->threads;
	green->late = &sampler->late_stops;
	green->tick = &sampler->tick;
	green->pace = &sampler->pace;
	green->records = &sampler->records;
	green->profile = sampler->context.profile;
	green->rng = &sampler->rng;
	green->stats = &sampler->stats;
	green->stack_limit = config->stack_limit;
	green->all = config->all_tasks;
	green->stop_all = config->stop_all;
	green->threads_only = config->threads_only;
	/* What runs on no thread is not sampled if only certain threads are. */
	green->idle_off = config->threads_only || sampler->context.selected != NULL;
	green_init(green);
	return green;
}

static void
add_process(struct sampler *sampler)
{
	const struct sampler_context *context = &sampler->context;
	struct sampled_process *new = sampled_process_create(context->process, &sampler->threads);
	struct process_list *processes = &sampler->processes;

	processes->item = xrealloc(processes->item,
				   (processes->count + 1) * sizeof(*processes->item));
	processes->item[processes->count++] = new;
	new->hold = &sampler->hold;
	sampled_process_begin(new, context, sampler->config.unwinder);
	new->waits = create_waits(sampler, new);
	new->green = create_green(sampler, new);
	sampled_process_begin_runtimes(new, context, sampler->config.runtimes);
	if (new->runtimes != NULL)
		waits_begin_runtimes(new->waits);
}

static void
begin_stages(struct sampler *sampler)
{
	const struct sampler_config *config = &sampler->config;
	struct tracer *tracer = sampler->late_stops.tracer;

	sampler->selection = (struct selection){
		.tick = &sampler->tick,
		.pace = &sampler->pace,
		.late = &sampler->late_stops,
		.threads = &sampler->threads,
		.records = &sampler->records,
		.rng = &sampler->rng,
		.few_holders = true,
	};
	sampler->observer = (struct observer){
		.tick = &sampler->tick,
		.threads = &sampler->threads,
		.hold = &sampler->hold,
		.late = &sampler->late_stops,
		.stats = &sampler->stats,
		.stops = tracer != NULL,
	};
	sampler->capturer = (struct capturer){
		.tracer = tracer,
		.processes = &sampler->processes,
		.pace = &sampler->pace,
		.hold = &sampler->hold,
		.late = &sampler->late_stops,
		.threads = &sampler->threads,
		.coroutines = &sampler->coroutines,
		.stats = &sampler->stats,
		.stop_all = config->stop_all,
	};
	sampler->unwinding = (struct unwinding){
		.tick = &sampler->tick,
		.stats = &sampler->stats,
		.stack_limit = config->stack_limit,
		.may_stop = tracer != NULL,
	};
	chain_init(&sampler->unwinding.chain);
	sampler->attribution = (struct attribution){
		.selection = &sampler->selection,
		.threads = &sampler->threads,
		.charging = &sampler->charging,
		.records = &sampler->records,
		.profile = sampler->context.profile,
		.stats = &sampler->stats,
	};
	sampler->late = (struct late_stage){
		.stops = &sampler->late_stops,
		.tick = &sampler->tick,
		.attribution = &sampler->attribution,
	};
}

static void
begin_consumers(struct sampler *sampler)
{
	const struct sampler_control *control = sampler->context.control;
	struct tracer *tracer = sampler->late_stops.tracer;

	sampler->charging = (struct charging){
		.processes = &sampler->processes,
		.threads = &sampler->threads,
		.late = &sampler->late_stops,
		.tick = &sampler->tick,
		.pace = &sampler->pace,
		.records = &sampler->records,
		.profile = sampler->context.profile,
	};
	charging_init(&sampler->charging);
	sampler->hold = (struct hold){
		.control = control,
		.tracer = tracer,
		.pace = &sampler->pace,
		.tick = &sampler->tick,
		.threads = &sampler->threads,
		.late = &sampler->late_stops,
		.priority = &sampler->priority,
		.counters_known = sampler->threads.sched_source == SCHED_FROM_SCHEDSTAT,
		.wanted = control != NULL && tracer != NULL,
	};
	sampler->deadlocks = (struct deadlocks){
		.processes = &sampler->processes,
		.threads = &sampler->threads,
		.late = &sampler->late_stops,
		.tick = &sampler->tick,
		.records = &sampler->records,
		.profile = sampler->context.profile,
	};
	sampler->coroutines = (struct coroutines){
		.out = sampler->context.tasks,
		.threads = &sampler->threads,
	};
}

int
sampler_create(const struct sampler_config *config, const struct sampler_context *context,
	       struct sampler **out, struct error *err)
{
	struct sampler *sampler = xcalloc(1, sizeof(*sampler));

	*out = NULL;
	sampler->config = *config;
	sampler->context = *context;
	if (!config->nonblocking) {
		int failed = create_tracer(context->process, context->control,
					   &sampler->late_stops.tracer, err);

		if (failed != 0) {
			free(sampler);
			return failed;
		}
	}
	rng_seed(&sampler->rng, config->seed != 0 ? config->seed : clock_now_ns());
	sampler->threads = (struct thread_list){
		.sched_source = sched_source_probe(),
		.fd_budget = fd_budget(),
		.stack_limit = config->stack_limit,
		.selected = context->selected,
		.excluded = context->excluded,
		.selected_context = context->selected_context,
		.tick = &sampler->tick,
		.excluded_counts = &sampler->stats.excluded,
	};
	thread_records_init(&sampler->records, context->profile);
	begin_stages(sampler);
	begin_consumers(sampler);
	add_process(sampler);
	histogram_init(&sampler->stats.stop_ns);
	sampler->stats.rate_wanted = config->rate_hz;
	*out = sampler;
	return 0;
}

static void
free_process(struct sampled_process *process)
{
	waits_release(process->waits);
	free(process->waits);
	green_release(process->green);
	free(process->green);
	sampled_process_free(process);
}

void
sampler_free(struct sampler *sampler)
{
	if (sampler == NULL)
		return;
	tick_remove_threads(sampler);
	threads_release(&sampler->threads);
	deadlocks_release(&sampler->deadlocks);
	hold_release(&sampler->hold);
	tracer_free(sampler->late_stops.tracer);
	charging_release(&sampler->charging);
	chain_release(&sampler->unwinding.chain);
	thread_records_release(&sampler->records);
	for (size_t i = 0; i < sampler->processes.count; i++)
		free_process(sampler->processes.item[i]);
	free(sampler->processes.item);
	free(sampler->observation);
	free(sampler);
}
