/* SPDX-License-Identifier: MIT */
/* capture.c - stops the running threads of a tick together, copies their registers and stacks
 * (captures them), and stores the results of the stops in the observations. */
#include "sampler/hold/hold_occupy_internal.h"
#include "sampler/occupy_internal.h"
#include "sampler/pipeline_internal.h"
#include "wallsample/tracer/sleeper.h"

/* Most threads whose data are read before the stop to fill the CPU caches: the data of more threads
 * would not stay in the caches until the stop. */
#define REHEARSALS_MOST 8

/* During an occupation of CPUs, data are read before the stops only up to this time after the tick
 * was due. The reading takes some 50 us, and the stops have to be requested before the occupation
 * ends (HOLD_NS, occupier_internal.h). */
#define REHEARSE_NS (150 * NS_PER_US)

/* Number of stop requests after which the threads that have stopped already are captured and
 * released. A request takes 3 us. */
#define ASKS_UNSERVED 16

/* LEAST_BOUND_NS: shortest time for which a tick waits for its stops; in that time nearly every
 * thread on a CPU stops. HOLD_BOUND_NS: longest time for which a tick waits for its stops in a run
 * that holds threads between ticks. Each is reduced to 1/8 of a tick interval if that is less; if
 * threads are held, to LEAST_BOUND_NS at most, because a thread that stops late is not held. */
#define LEAST_BOUND_NS (150 * NS_PER_US)
#define HOLD_BOUND_NS (500 * NS_PER_US)

/* Number of times that a stop request is repeated if another tracer traces the thread, and the
 * pause before each. A stop by another wallsample takes 20 us in the median. */
#define AGAIN_TIMES 4
#define AGAIN_NS (100 * NS_PER_US)
/* After this time the other tracer counts as permanent, such as a debugger. */
#define TRACED_LONG_NS (2 * NS_PER_SEC)

/* PF_EXITING of include/linux/sched.h: a request to stop an exiting thread fails with EPERM. */
#define FLAG_EXITING 0x4

/* --- requests ---------------------------------------------------------------------------- */

/* Reads the data of language runtimes. The callback stop_request.stopped: the thread is stopped. */
static void
capture_runtimes(void *context, pid_t tid, uint64_t sp)
{
	struct capture_buffer *buffer = context;

	runtime_capture_take(buffer->runtime, tid, sp, true);
	/* With stop_all, coroutines_of_held reads the coroutines of the threads that stop in time.
	 * Those of late threads are read here. */
	if (buffer->thread->late != NULL)
		coroutines_of_stopped(buffer->run, buffer->thread);
}

static void
fill_request(struct run *run, const struct observation *observation)
{
	struct sampled_thread *thread = observation->thread;
	struct capture_buffer *buffer = observation->capture;
	struct stop_request *request = &buffer->request;

	buffer->run = run;
	request->context = buffer;
	request->stopped = NULL;
	if (buffer->runtime != NULL && runtimes_any(thread->process->runtimes))
		request->stopped = capture_runtimes;
	request->process = thread->process->process;
	request->watch = &thread->watch;
	request->memory = &thread->process->memory;
	request->before = thread->sched;
	request->stack_want = thread->stack_need;
	request->sp_before = thread->sp;
	request->tick_ns = run->pace.began_ns;
	request->counters_ns = observation->counters_ns;
	request->occupied_ns[0] = run->occupied_ns[0];
	request->occupied_ns[1] = run->occupied_ns[1];
	request->occupied = observation->occupied;
}

/* Reads the data that the stop will read, so that they are in the CPU caches, which makes the stop
 * a fifth shorter. What is read is not used, because the thread runs meanwhile. */
static void
rehearse(const struct observation *observation)
{
	const struct capture_buffer *buffer = observation->capture;

	tracer_prefetch(&observation->capture->request);
	if (buffer->request.stopped != NULL)
		runtime_capture_take(buffer->runtime, buffer->thread->watch.tid, 0, true);
}

/* True if there is time to rehearse before the occupation of CPUs is over. */
static bool
rehearsal_has_time(const struct run *run)
{
	return run->occupy == NULL || run->tick.released || run->occupied_ns[0] == 0 ||
	       clock_now_ns() < run->occupied_ns[0] + REHEARSE_NS;
}

/*
 * If threads are held between ticks, no data are read before the stop: all threads are stopped
 * anyway, and the time of a stop is counted as hold time. CPU time that the reading took from
 * running threads would not be counted. Nor are data read if an occupation of CPUs is nearly over
 * (REHEARSE_NS).
 */
void
capture_prepare(struct run *run, struct observation *observation, size_t count)
{
	const struct process_list *processes = &run->processes;
	size_t running = 0, rehearsed = 0;

	for (size_t i = 0; i < count; i++) {
		if (observation[i].outcome != OUTCOME_RUNNING)
			continue;
		fill_request(run, &observation[i]);
		if (!run->holds && observation[i].thread->process->runtimes != NULL)
			runtimes_seek(observation[i].thread->process->runtimes,
				      observation[i].thread->watch.tid);
		running++;
	}
	if (running == 0 || run->holds || !rehearsal_has_time(run))
		return;
	for (size_t i = 0; i < processes->count; i++)
		green_rehearse(processes->item[i]->green);
	for (size_t i = 0; i < count && rehearsed < REHEARSALS_MOST; i++) {
		if (observation[i].outcome != OUTCOME_RUNNING)
			continue;
		rehearse(&observation[i]);
		rehearsed++;
	}
}

/* --- stops ------------------------------------------------------------------------------- */

/* The arguments of capture_running, for use_stop, the callback of tracer_collect. */
struct while_stopped {
	struct run *run;
	struct observation *observation;
	size_t count;
};

/* Copies again the stack of a sleeping thread that has run since the last copy. Returns false if
 * the thread is not asleep or cannot be read. */
static bool
copy_again(struct observation *observation)
{
	struct sampled_thread *thread = observation->thread;
	const struct process *process = thread->process->process;
	struct snapshot *snapshot = &observation->capture->request.snapshot;

	if (watch_read_syscall(&thread->watch, process, &observation->info) != WATCH_OK ||
	    tracer_read_sleeper(process, &thread->process->memory, &thread->watch, &thread->sched,
				&observation->info, thread->stack_need, snapshot) != READ_CAPTURED)
		return false;
	return observe_runtimes(observation, true);
}

/* Called with stop_all, while every running thread is stopped: reads coroutines and green tasks,
 * and copies again those sleeping threads that have run since they were copied. */
static void
use_stop(void *context)
{
	const struct while_stopped *stopped = context;
	struct run *run = stopped->run;

	coroutines_of_held(run, stopped->observation, stopped->count);
	for (size_t i = 0; i < run->processes.count; i++)
		green_while_held(run->processes.item[i]->green);
	for (size_t i = 0; i < stopped->count; i++) {
		struct observation *observation = &stopped->observation[i];
		struct sampled_thread *thread = observation->thread;
		struct sched now;
		enum watch_end end;

		if (observation->outcome != OUTCOME_SLEEPING)
			continue;
		end = watch_read_sched(&thread->watch, thread->process->process, &now);
		if (end == WATCH_OK && now.switches == thread->sched.switches)
			continue;
		if (end == WATCH_OK)
			thread_set_counters(run, thread, &now);
		observation->moved = end != WATCH_OK || !copy_again(observation);
	}
}

/* Returns the shortest time for which a tick waits for its stops. */
static uint64_t
least_bound(const struct run *run)
{
	const uint64_t part = (uint64_t)((double)NS_PER_SEC / run->config.rate_hz) / 8;

	return part < LEAST_BOUND_NS ? part : LEAST_BOUND_NS;
}

/*
 * Returns the longest time for which the tick waits for stops. With stop_all it is
 * SAMPLER_STOP_BOUND_NS; if threads are held between ticks, HOLD_BOUND_NS. Otherwise it is the time
 * until the next tick is due, but at least LEAST_BOUND_NS, and at most the smaller one of half a
 * tick interval and SAMPLER_STOP_BOUND_NS. A thread that stops later is captured while the sampler
 * sleeps: waiting for it, for example until it gets a CPU, does not delay the next tick.
 */
static uint64_t
stop_bound(const struct run *run)
{
	const uint64_t tick = (uint64_t)((double)NS_PER_SEC / run->config.rate_hz);
	const uint64_t least = least_bound(run);
	const uint64_t now = clock_now_ns(), due = run->pace.due_ns;
	uint64_t bound = tick / 2 < SAMPLER_STOP_BOUND_NS ? tick / 2 : SAMPLER_STOP_BOUND_NS;

	if (run->config.stop_all)
		return SAMPLER_STOP_BOUND_NS;
	/* If threads are held between ticks, those that have stopped wait until this time has
	 * passed: it has to be short. */
	if (run->holds)
		return tick / 8 > HOLD_BOUND_NS  ? HOLD_BOUND_NS :
		       tick / 8 < LEAST_BOUND_NS ? LEAST_BOUND_NS :
						   tick / 8;
	if (due < now + bound)
		bound = due > now + least ? due - now : least;
	return bound;
}

static void
count_running(struct run *run, const struct observation *observation)
{
	run->stats.running++;
	run->stats.running_exact += run->occupy != NULL &&
				    observation->importance > IMPORTANCE_ROUGH;
}

/*
 * Ends the occupation of CPUs after `asked` stop requests, at the first call in a tick. Sets the
 * importance of the samples of running threads: exact are, in that call, those of threads that lost
 * a CPU to a complete occupation, or, where the kernel shows no switches, that may have lost one.
 */
static void
end_occupation(struct run *run, struct observation *observation, size_t count, size_t asked)
{
	bool exact = false;

	if (!run->tick.released)
		exact = occupy_end(run->occupy, asked, run->pace.due_ns);
	else if (asked > 0)
		occupy_note_running(run->occupy);
	run->tick.released = true;
	for (size_t i = 0; i < count; i++) {
		struct observation *one = &observation[i];
		const bool slept = one->outcome == OUTCOME_SLEEPING && one->fell_asleep;
		const bool on_cpu = one->occupied == OCCUPIED_RUNNING ||
				    (!occupy_has_switches(run->occupy) &&
				     one->occupied != OCCUPIED_NOT_RUNNING);

		/* The thread may have run before its stop was requested. */
		if (!exact && one->occupied == OCCUPIED_NOT_RUNNING)
			one->occupied = OCCUPIED_UNKNOWN;
		if (one->outcome == OUTCOME_RUNNING || slept)
			one->importance = exact && on_cpu ? 1.0 : IMPORTANCE_ROUGH;
		if (slept)
			count_running(run, one);
	}
}

static bool
is_exiting(const struct sampled_thread *thread)
{
	struct task_stat stat;

	return !process_read_task_stat(thread->process->process, thread->watch.tid, &stat) ||
	       stat.state == 'Z' || stat.state == 'X' || (stat.flags & FLAG_EXITING) != 0;
}

static bool
is_traced_long(const struct sampled_thread *thread)
{
	return thread->traced_ns != 0 && clock_now_ns() - thread->traced_ns > TRACED_LONG_NS;
}

/* True if another tracer traces the thread, probably for a moment only. */
static bool
is_newly_traced(const struct observation *observation)
{
	return observation->outcome == OUTCOME_RUNNING &&
	       observation->capture->request.end == STOP_DENIED &&
	       !is_traced_long(observation->thread) && !is_exiting(observation->thread);
}

/* Repeats, once, the stop requests that were denied because another tracer traces the thread.
 * Returns the number of requests that were denied again. */
static size_t
ask_again(struct run *run, struct observation *observation, size_t count)
{
	size_t asked = 0, denied = 0;

	for (size_t i = 0; i < count; i++) {
		if (!is_newly_traced(&observation[i]))
			continue;
		tracer_ask(run->tracer, &observation[i].capture->request);
		asked += observation[i].capture->request.end == STOP_LATE;
		denied += observation[i].capture->request.end == STOP_DENIED;
	}
	if (asked > 0)
		tracer_collect(run->tracer, stop_bound(run), false, NULL, NULL);
	return denied;
}

static size_t
count_newly_traced(const struct observation *observation, size_t count)
{
	size_t traced = 0;

	for (size_t i = 0; i < count; i++)
		traced += is_newly_traced(&observation[i]);
	return traced;
}

void
capture_running(struct run *run, struct observation *observation, size_t count, bool held)
{
	struct while_stopped stopped = { .run = run, .observation = observation, .count = count };
	size_t asked = 0, traced;

	for (size_t i = 0; i < count; i++) {
		if (observation[i].outcome != OUTCOME_RUNNING)
			continue;
		/*
		 * An exec kills the other threads of the process, and waits until each of them that
		 * is traced was reaped by its tracer. tracer_poll reaps them: otherwise tracer_ask
		 * would wait for the exec, and the exec for this tracer.
		 */
		if (held)
			tracer_poll(run->tracer);
		tracer_ask(run->tracer, &observation[i].capture->request);
		/* Releases the threads that have stopped, before the other requests are made. */
		if (++asked % ASKS_UNSERVED == 0 && !run->config.stop_all && !run->holds)
			tracer_poll(run->tracer);
	}
	if (run->occupy != NULL)
		end_occupation(run, observation, count, asked);
	hold_occupy_end(run->hold_occupy, run->pace.due_ns);
	if (asked > 0 && run->holds)
		tracer_collect_held(run->tracer, stop_bound(run));
	else if (asked > 0)
		tracer_collect(run->tracer, stop_bound(run), run->config.stop_all, use_stop,
			       &stopped);
	if (run->holds)
		return;
	traced = count_newly_traced(observation, count);
	for (int i = 0; i < AGAIN_TIMES && traced > 0; i++) {
		tracer_sleep_until(run->tracer, clock_now_ns() + AGAIN_NS);
		traced = ask_again(run, observation, count);
	}
}

/* --- what a stop has found ----------------------------------------------------------------- */

static void
count_stop(struct run *run, struct sampled_thread *thread, const struct stop_request *request)
{
	if (!request->fell_asleep && !request->group_stopped)
		thread->window.stopped_ns += (int64_t)request->kept_ns;
	histogram_add(&run->stats.stop_ns, request->stopped_ns);
	run->stats.stopped++;
	thread->stops++;
}

/* The thread was on no CPU at the tick. If it slept, and has executed nothing since, its stack is
 * that of the sleep, which has ended. */
static void
settle_waiting(struct observation *observation)
{
	const struct stop_request *request = &observation->capture->request;
	const bool slept = request->at_tick == TICK_ASLEEP &&
			   observation->occupied == OCCUPIED_NOT_RUNNING &&
			   request->before.switches != observation->thread->stop_switches;

	observation->state = slept ? RUN_SLEEPING : RUN_QUEUED;
	observation->importance = 1.0;
}

static void
settle_captured(struct run *run, struct observation *observation)
{
	const struct stop_request *request = &observation->capture->request;
	const struct regs *regs = &request->snapshot.regs;
	struct syscall_info *info = &observation->info;

	count_stop(run, observation->thread, request);
	observation->thread->traced_ns = 0;
	/* The registers of the stopped thread replace those that were observed before the stop. */
	info->running = false;
	info->number = request->syscall;
	for (size_t i = 0; i < ARRAY_SIZE(info->args); i++)
		if (!regs_get(regs, regs_argument[i], &info->args[i]))
			info->args[i] = 0;
	info->sp = regs->sp;
	info->pc = regs->pc;
	info->number = thread_syscall(observation->thread, info);
	if (request->group_stopped)
		observation->state = RUN_STOPPED;
	else if (request->at_tick != TICK_RUNNING)
		settle_waiting(observation);
	if (observation->state == RUN_RUNNING)
		count_running(run, observation);
	if (!request->fell_asleep && !request->group_stopped)
		observation->thread->stop_switches = request->during.switches;
	observation->in_sleep = observation->fell_asleep = request->fell_asleep;
	/* A stop request ends no other sleep. */
	observation->slept = RUN_SLEEPING;
	observation->outcome = OUTCOME_CAPTURED;
}

/* Returns why the request of a thread was denied. That another tracer had stopped the thread is a
 * failure only if this tracer stays. */
static enum sample_failure
denial(struct sampled_thread *thread)
{
	if (is_exiting(thread))
		return FAILURE_EXITED;
	if (thread->traced_ns == 0)
		thread->traced_ns = clock_now_ns();
	return is_traced_long(thread) ? FAILURE_DENIED : FAILURE_TRACED;
}

enum sample_failure
capture_failure(const struct stop_request *request)
{
	static const enum sample_failure failure_of[] = {
		[STOP_CAPTURED] = FAILURE_COUNT,        [STOP_EXITED] = FAILURE_EXITED,
		[STOP_DENIED] = FAILURE_DENIED,         [STOP_LATE] = FAILURE_LATE,
		[STOP_MISSED] = FAILURE_LATE,           [STOP_COMPAT32] = FAILURE_UNREADABLE,
		[STOP_UNREADABLE] = FAILURE_UNREADABLE,
	};

	return failure_of[request->end];
}

void
capture_settle(struct run *run, struct observation *observation)
{
	const struct stop_request *request = &observation->capture->request;
	struct sampled_thread *thread = observation->thread;

	if (request->end == STOP_CAPTURED) {
		settle_captured(run, observation);
		return;
	}
	if (request->end == STOP_LATE) {
		observation->outcome = OUTCOME_DEFERRED;
		return;
	}
	if (request->end == STOP_EXITED)
		threads_relist(run, observation->thread->process);
	thread->untouchable |= request->end == STOP_COMPAT32;
	observation_fail(observation,
			 request->end == STOP_DENIED ? denial(thread) : capture_failure(request));
}

void
capture_registers(struct run *run, struct observation *observation)
{
	const struct stop_request *request = &observation->capture->request;

	observation->occupied = OCCUPIED_UNKNOWN; /* it may have run since */
	fill_request(run, observation);
	tracer_ask(run->tracer, &observation->capture->request);
	tracer_collect(run->tracer, SAMPLER_STOP_BOUND_NS, false, NULL, NULL);
	if (request->end == STOP_LATE) {
		observation->outcome = OUTCOME_DEFERRED;
	} else if (request->end != STOP_CAPTURED) {
		observation->thread->untouchable = request->end == STOP_COMPAT32;
		observation_fail(observation, FAILURE_MOVED);
	} else if (request->snapshot.regs.sp != observation->info.sp ||
		   request->snapshot.regs.pc != observation->info.pc) {
		/* The thread woke after it was observed asleep: the sample is that of a running
		 * thread. */
		observation->state = RUN_RUNNING;
		settle_captured(run, observation);
	} else {
		count_stop(run, observation->thread, request);
		observation->in_sleep = true;
		observation->outcome = OUTCOME_CAPTURED;
	}
}
