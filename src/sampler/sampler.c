/* SPDX-License-Identifier: MIT */
/* sampler.c - the life of a run: set-up, ticks, the end, and what it all cost. */
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

#include "sampler/pipeline_internal.h"
#include "wallsample/tracer/tracer_count.h"

/* Descriptors that are needed for other things than threads: modules, output. */
#define FD_RESERVE 256

/* How long the end may take on an overloaded machine. */
#define LAST_BOUND_NS (500 * NS_PER_MS)

/* Before time begins; what is left then is taken in tick by tick. */
#define JIT_LOOKS 20

/* Looks take a microsecond each, some of them ten. */
#define LOOKS_UNSERVED 32

/* So many are looked at in every tick where threads are held: who wakes is to be held, too. */
#define HOLD_LOOKS 500

#define NAP_NS (100 * NS_PER_MS)
#define PROGRESS_NS (200 * NS_PER_MS)
/* It waits so much longer for a moment at which no sample is lost to it. */
#define PROGRESS_LATE_NS NS_PER_SEC

static size_t
fd_budget(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur <= FD_RESERVE)
		return 0;
	return limit.rlim_cur == RLIM_INFINITY ? SIZE_MAX : (limit.rlim_cur - FD_RESERVE) / 2;
}

static int
create_tracer(struct sampler *sampler, struct error *err)
{
	const struct sampler_control *control = sampler->config.control;
	int rc = tracer_create(sampler->process, &sampler->tracer, err);

	if (rc == 0 && control != NULL && control->addresses > 0)
		rc = tracer_count(sampler->tracer, control->address, control->addresses, err);
	if (rc != 0)
		tracer_free(sampler->tracer);
	return rc;
}

int
sampler_create(const struct process *process, const struct sampler_config *config,
	       struct maps *maps, struct profile *profile, const struct log *log,
	       struct sampler **out, struct error *err)
{
	struct sampler *sampler = xcalloc(1, sizeof(*sampler));

	*out = NULL;
	sampler->process = process;
	sampler->config = *config;
	sampler->maps = maps;
	sampler->modules = maps_modules(maps);
	sampler->profile = profile;
	sampler->log = log;
	sampler->leader_fd = -1;
	if (!config->nonblocking) {
		int failed = create_tracer(sampler, err);

		if (failed != 0) {
			free(sampler);
			return failed;
		}
	}
	rng_seed(&sampler->rng, config->seed != 0 ? config->seed : clock_now_ns());
	sampler->sched_source = sched_source_probe();
	sampler->fd_budget = fd_budget();
	sampler->unwinder = unwinder_create(sampler->maps, config->unwinder);
	stacks_init(&sampler->stacks, maps, profile, config->jit);
	table_init(&sampler->shared_threads);
	chain_init(&sampler->chain);
	for (int i = 0; i < FAILURE_COUNT; i++)
		sampler->failure_stack[i] = STACK_NONE;
	sampler->hidden.entry = UINT32_MAX;
	waits_init(sampler);
	tasks_init(&sampler->tasks);
	waits_begin_runtimes(sampler);
	histogram_init(&sampler->stats.stop_ns);
	sampler->stats.rate_wanted = config->rate_hz;
	*out = sampler;
	return 0;
}

/* All threads that are due, beginning at a random one, so that none is always first. */
static void
look_at_threads(struct sampler *sampler, bool everyone)
{
	size_t count = sampler->thread_count;
	size_t first = count > 0 ? rng_next(&sampler->rng) % count : 0;

	for (size_t i = 0; i < count; i++) {
		struct tracked *thread = sampler->thread[(first + i) % count];

		if (i % LOOKS_UNSERVED == 0)
			late_serve(sampler);
		if (thread->gone)
			continue;
		if (thread->excluded && thread->late == NULL && !thread->held) {
			sampler->skipped++;
			if (thread->next_tick <= sampler->tick)
				excluded_look(sampler, thread);
			continue;
		}
		/* To look at all is as good a chance as any: decided by the clock, not by
		 * what threads do. */
		if (everyone && thread->next_tick > sampler->tick)
			thread->period = 1;
		if (everyone || thread->next_tick <= sampler->tick)
			look_at(sampler, thread);
		else
			sampler->skipped++;
	}
}

/* No tick comes after this one: what was asked to stop is waited for, within reason; then
 * the threads are asked for the names they have now. */
static void
collect_last(struct sampler *sampler)
{
	hold_end(sampler);
	if (sampler->late_count > 0)
		tracer_finish(sampler->tracer, LAST_BOUND_NS);
	collect_late(sampler, true);
	waits_tick(sampler); /* of what was late */
	charge_rest(sampler);
	excluded_finish(sampler);
	for (size_t i = 0; i < sampler->thread_count; i++)
		if (!sampler->thread[i]->gone)
			thread_refresh_name(sampler, sampler->thread[i]);
}

/* Code made at run time. True when the stacks of those who sleep have to be taken anew: what
 * there is to know of their frames had not been told yet. */
static bool
look_at_jit(struct sampler *sampler, uint64_t now)
{
	const struct address_range *interpreter;
	size_t count;

	if (sampler->config.jit == NULL)
		return false;
	jit_tick(sampler->config.jit, now);
	count = jit_interpreters(sampler->config.jit, &interpreter);
	unwinder_set_interpreters(sampler->unwinder, interpreter, count);
	if (count == sampler->stacks.interpreters)
		return false;
	sampler->stacks.interpreters = count;
	for (size_t i = 0; i < sampler->thread_count; i++)
		sampler->thread[i]->asleep = false;
	return true;
}

/* Interpreters, and what they know of threads. Who has slept since before a runtime knew it is
 * captured anew. */
static void
look_at_runtimes(struct sampler *sampler, uint64_t now)
{
	pid_t tid;

	if (sampler->runtimes == NULL)
		return;
	resident_renew(&sampler->resident);
	runtimes_tick(sampler->runtimes, now);
	while ((tid = runtimes_next_new(sampler->runtimes)) > 0) {
		struct tracked *thread = thread_of_tid(sampler, tid);

		if (thread != NULL)
			thread->asleep = false;
	}
}

/* One tick. False when the target has gone. */
static bool
tick(struct sampler *sampler, bool last)
{
	uint64_t now = clock_now_ns();
	bool alive, everyone = last || sampler->config.stop_all ||
			       (hold_is_wanted(sampler) && sampler->thread_count <= HOLD_LOOKS);

	/* What was captured since belongs to the tick that asked for it. */
	collect_late(sampler, false);
	pace_begin(sampler, now);
	sampler->tick++;
	alive = look_at_process(sampler);
	sampler->span_ns = pace_weigh(sampler, now - sampler->tick_ns, last || !alive);
	sampler->tick_ns += sampler->span_ns;
	late_serve(sampler);
	maps_tick(sampler->maps, now);
	late_serve(sampler);
	if (sampler->config.jit_objects != NULL)
		jit_objects_tick(sampler->config.jit_objects, now);
	late_serve(sampler);
	everyone |= look_at_jit(sampler, now);
	late_serve(sampler);
	look_at_runtimes(sampler, now);
	late_serve(sampler);
	if (sampler->relist && alive)
		threads_refresh(sampler);
	look_at_threads(sampler, everyone || !alive);
	stops_tick(sampler);
	tasks_tick(sampler);
	waits_tick(sampler);
	deadlocks_tick(sampler);
	charge_tick(sampler);
	if (last || !alive) {
		collect_last(sampler);
		tasks_finish(sampler);
	}
	sampler->stats.ticks++;
	return alive;
}

static void
update_stats(struct sampler *sampler, uint64_t began_ns, uint64_t cpu_ns)
{
	struct run_stats *stats = &sampler->stats;
	struct rusage usage;
	uint64_t cpu;

	stats->target_cpu_known = process_read_cpu_ns(sampler->process, &cpu) &&
				  cpu >= sampler->cpu_began_ns;
	if (stats->target_cpu_known)
		stats->target_cpu_ns = cpu - sampler->cpu_began_ns;
	stats->elapsed_ns = sampler->tick_ns - began_ns;
	stats->own_cpu_ns = clock_own_cpu_ns() - cpu_ns;
	stats->rate_lowest = sampler->pace.lowest_hz;
	stats->thinnest = sampler->pace.thinnest;
	if (getrusage(RUSAGE_SELF, &usage) == 0)
		stats->peak_memory = (uint64_t)usage.ru_maxrss * 1024;
	if (sampler->runtimes != NULL)
		runtimes_describe_all(sampler->runtimes, stats->runtimes,
				      sizeof(stats->runtimes));
	if (sampler->tracer != NULL) {
		stats->repaired = tracer_stats(sampler->tracer)->repaired;
		stats->signals_passed = tracer_stats(sampler->tracer)->signals_passed;
	}
}

/* Sleeps until the moment, but not for long: a signal that arrives between the look at its
 * flag and the sleep does not end the sleep. */
static void
nap(struct sampler *sampler, uint64_t until)
{
	uint64_t longest = clock_now_ns() + NAP_NS;
	struct timespec at;

	if (until > longest)
		until = longest;
	if (sampler->tracer != NULL) {
		tracer_sleep_until(sampler->tracer, until);
		return;
	}
	at.tv_sec = (time_t)(until / NS_PER_SEC);
	at.tv_nsec = (long)(until % NS_PER_SEC);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

/* Sleeps until the next tick; true when sampling goes on. */
static bool
wait_for_tick(struct sampler *sampler, const struct sampler_hooks *hooks, uint64_t end_ns)
{
	uint64_t until = sampler->pace.due_ns;

	if (until > end_ns)
		until = end_ns;
	while (clock_now_ns() < until) {
		struct task_stat leader;

		if (hooks->stop != NULL && *hooks->stop)
			return false;
		if (hooks->snapshot != NULL && *hooks->snapshot)
			return true;
		nap(sampler, until < hold_due(sampler) ? until : hold_due(sampler));
		hold_serve(sampler, clock_now_ns());
		/* At a low rate the end of the target is not waited for until the next tick; at
		 * others this would take a CPU from those who were just let go. */
		if (clock_now_ns() + NAP_NS < until && !read_leader(sampler, &leader))
			sampler->pace.due_ns = until = clock_now_ns();
	}
	return (hooks->stop == NULL || !*hooks->stop) && clock_now_ns() < end_ns;
}

void
sampler_leave(struct sampler *sampler)
{
	hold_end(sampler);
	priority_urgent(&sampler->priority, false);
	if (sampler->tracer != NULL)
		tracer_pause(sampler->tracer);
}

void
sampler_return(struct sampler *sampler)
{
	if (sampler->tracer != NULL)
		tracer_resume(sampler->tracer);
}

static bool
nothing_held(const struct sampler *sampler)
{
	return sampler->tracer == NULL || tracer_outstanding(sampler->tracer) == 0;
}

/* What was asked to stop is waited for first, so that few samples are lost to the report. */
static void
call_snapshot(struct sampler *sampler, const struct sampler_hooks *hooks)
{
	hold_end(sampler);
	if (!nothing_held(sampler))
		tracer_finish(sampler->tracer, LAST_BOUND_NS);
	sampler_leave(sampler);
	hooks->on_snapshot(hooks->context);
	sampler_return(sampler);
}

static void
call_progress(struct sampler *sampler, const struct sampler_hooks *hooks, uint64_t elapsed_ns)
{
	sampler_leave(sampler);
	hooks->on_progress(hooks->context, elapsed_ns, sampler->stats.thread_samples,
			   (uint32_t)sampler->thread_count);
	sampler_return(sampler);
}

static enum run_end
run(struct sampler *sampler, const struct sampler_hooks *hooks, uint64_t began, uint64_t began_cpu)
{
	uint64_t end_ns = sampler->config.duration_ns != 0 ?
				  began + sampler->config.duration_ns :
				  UINT64_MAX;
	uint64_t next_progress = began;

	while (wait_for_tick(sampler, hooks, end_ns)) {
		uint64_t now = clock_now_ns();

		if (now >= sampler->pace.due_ns) {
			if (!tick(sampler, false))
				return RUN_END_EXITED;
			pace_end(sampler);
			if (nothing_held(sampler))
				waits_describe(sampler, false);
			if (hooks->on_tick != NULL)
				hooks->on_tick(hooks->context, !nothing_held(sampler));
		}
		if (hooks->on_progress != NULL && now >= next_progress &&
		    (nothing_held(sampler) || now >= next_progress + PROGRESS_LATE_NS)) {
			call_progress(sampler, hooks, now - began);
			next_progress = now + PROGRESS_NS;
		}
		if (hooks->snapshot != NULL && *hooks->snapshot) {
			*hooks->snapshot = 0;
			update_stats(sampler, began, began_cpu);
			call_snapshot(sampler, hooks);
		}
	}
	/* The last tick looks at everybody, so that every sleep is accounted for. */
	if (!tick(sampler, true))
		return RUN_END_EXITED;
	return clock_now_ns() >= end_ns ? RUN_END_DURATION : RUN_END_STOPPED;
}

/*
 * Time begins when the threads are known and their files are open: for thousands of them that
 * takes as long as many ticks.
 */
static uint64_t
start_clock(struct sampler *sampler)
{
	struct jit_objects *objects = sampler->config.jit_objects;

	look_at_process(sampler);
	threads_refresh(sampler);
	sampler->cpus = process_allowed_cpus(sampler->process);
	sampler->stats.cpus = sampler->cpus;
	for (int i = 0; objects != NULL && i < JIT_LOOKS; i++) {
		jit_objects_tick(objects, clock_now_ns());
		if (!jit_objects_busy(objects))
			break;
	}
	if (sampler->config.jit != NULL)
		jit_begin(sampler->config.jit, clock_now_ns());
	for (int i = 0; sampler->runtimes != NULL && i < RUNTIME_LOOKS; i++)
		look_at_runtimes(sampler, clock_now_ns());
	for (size_t i = 0; i < sampler->thread_count; i++) {
		struct watch *watch = &sampler->thread[i]->watch;
		struct sched sched;
		struct syscall_info info;

		if (watch->keep_open && !sampler->thread[i]->excluded) {
			watch_read_sched(watch, sampler->process, &sched);
			if (watch_read_syscall(watch, sampler->process, &info) == LOOK_OK)
				waits_see(sampler, sampler->thread[i], &info);
		}
	}
	if (!process_read_cpu_ns(sampler->process, &sampler->cpu_began_ns))
		sampler->cpu_began_ns = UINT64_MAX;
	pace_start(sampler);
	sampler->tick_ns = sampler->pace.began_ns;
	for (size_t i = 0; i < sampler->thread_count; i++)
		sampler->thread[i]->last_ns = sampler->tick_ns;
	return sampler->tick_ns;
}

enum run_end
sampler_run(struct sampler *sampler, const struct sampler_hooks *hooks)
{
	uint64_t began, began_cpu;
	enum run_end end;

	priority_raise(&sampler->priority);
	sampler->stats.nice_value = sampler->priority.nice;
	log_say(sampler->log, LOG_VERBOSE, "sampling at nice %d", sampler->stats.nice_value);
	began = start_clock(sampler);
	began_cpu = clock_own_cpu_ns();

	end = run(sampler, hooks, began, began_cpu);
	hold_end(sampler);
	if (hold_is_wanted(sampler))
		log_say(sampler->log, LOG_VERBOSE,
			"ticks began %.1f us after they were due, in %s class",
			sampler->hold.lag_ns / 1000,
			sampler->hold.asked_ns > 0 && sampler->priority.may_be_urgent
				? "a real-time" : "the usual");

	sampler_leave(sampler);
	deadlocks_last(sampler);
	waits_describe(sampler, true);
	sampler_return(sampler);
	if (sampler->tracer != NULL)
		sampler->stats.child_exited = tracer_exit_status(sampler->tracer,
								 &sampler->stats.child_status);
	update_stats(sampler, began, began_cpu);
	priority_restore(&sampler->priority);
	log_say(sampler->log, LOG_VERBOSE, "unwind: %llu frames, %.3f us a frame",
		(unsigned long long)sampler->stats.unwind_frames,
		sampler->stats.unwind_frames > 0 ? (double)sampler->stats.unwind_ns / 1000.0 /
							   (double)sampler->stats.unwind_frames :
						   0.0);
	return end;
}

const struct run_stats *
sampler_stats(const struct sampler *sampler)
{
	return &sampler->stats;
}

void
sampler_free(struct sampler *sampler)
{
	if (sampler == NULL)
		return;
	threads_free(sampler);
	waits_release(sampler);
	tasks_release(&sampler->tasks);
	deadlocks_release(&sampler->deadlocks);
	hold_release(&sampler->hold);
	tracer_free(sampler->tracer);
	batch_release(&sampler->sleepers);
	batch_release(&sampler->runners);
	unwinder_free(sampler->unwinder);
	stacks_release(&sampler->stacks);
	table_release(&sampler->shared_threads);
	chain_release(&sampler->chain);
	runtime_capture_free(sampler->lock_capture);
	if (sampler->runtimes != NULL)
		resident_release(&sampler->resident);
	runtimes_free(sampler->runtimes);
	free(sampler->charges.item);
	if (sampler->leader_fd >= 0)
		close(sampler->leader_fd);
	free(sampler);
}
