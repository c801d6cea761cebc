/* SPDX-License-Identifier: MIT */
/* observe.c - one look at one thread: has it run, what does it do, what does that weigh. */
#include "sampler/pipeline_internal.h"
#include "wallsample/tracer/memory.h"

/* Attempts to read a sleeper that wakes up between our reads. */
#define READ_ATTEMPTS 3

/* Sleepers whose stacks wait to be walked: bounds the memory of their copies. */
#define SLEEPERS_PENDING 64

static uint32_t
add_samples(struct sampler *sampler, struct tracked *thread, int64_t samples, int64_t weight_ns)
{
	struct profile_entry entry = {
		.stack = thread->stack,
		.state = thread->state,
		.syscall = (int32_t)thread->syscall,
		.wait = run_state_runnable(thread->state) ? 0 : thread->wait.id,
		.gil = thread->gil,
		.samples = samples,
		.ns[WEIGHT_WALL] = weight_ns,
		.ns[WEIGHT_OVERHEAD] = thread->state == RUN_RUNNING ? weight_ns : 0,
	};

	entry.thread = thread_unit(sampler, thread, &entry.carrier);
	sampler->stats.thread_samples += (uint64_t)samples;
	return profile_add(sampler->profile, &entry);
}

void
credit(struct sampler *sampler, struct tracked *thread, int64_t samples, int64_t weight_ns)
{
	if (samples == 0 && weight_ns == 0)
		return;
	add_samples(sampler, thread, samples, weight_ns);
	if (!run_state_runnable(thread->state))
		waits_blame(sampler, thread, samples, weight_ns);
}

void
credit_past(struct sampler *sampler, struct tracked *thread, int64_t samples, int64_t ns)
{
	if (samples == 0 && ns == 0)
		return;
	add_samples(sampler, thread, samples, ns);
	if (!run_state_runnable(thread->state))
		waits_blame_last(sampler, thread, samples, ns);
}

void
credit_runnable(struct sampler *sampler, struct tracked *thread, int64_t samples,
		int64_t weight_ns)
{
	if (samples != 0 || weight_ns != 0)
		charge_runnable(sampler, thread,
				add_samples(sampler, thread, samples, weight_ns), samples);
}

/* When to look again: each tick with a chance of 1/period, decided now. */
static void
schedule(struct sampler *sampler, struct tracked *thread)
{
	uint32_t longest = pace_longest_period(sampler);
	uint32_t age = sampler->tick - thread->since_tick;

	thread->period = sampler->pace.thin;
	while (thread->asleep && thread->period < longest && thread->period * 2 <= age / 2)
		thread->period *= 2;
	if (waits_is_holder(sampler, thread))
		thread->period = 1;
	thread->backed_off = thread->period > sampler->pace.thin;
	thread->next_tick = sampler->tick + rng_geometric(&sampler->rng, 1.0 / thread->period);
	thread->last_tick = sampler->tick;
	thread->last_ns = sampler->tick_ns;
}

void
look_settle(struct sampler *sampler, struct tracked *thread, bool asleep)
{
	thread->seen = true;
	thread->asleep = asleep;
	thread->since_tick = sampler->tick;
	schedule(sampler, thread);
}

/* The thread has exited: it is dropped when threads are listed next. */
static void
forget(struct sampler *sampler, struct tracked *thread)
{
	thread->gone = true;
	thread->seen = false; /* all its time is accounted for */
	thread->next_tick = UINT32_MAX;
	sampler->relist = true;
}

/* S, D or T: most system calls that sleep leave no doubt. */
static enum run_state
sleep_state(struct sampler *sampler, struct tracked *thread, const struct syscall_info *info)
{
	struct task_stat stat;
	enum run_state state;

	if (sampler->leader_state != 'T' && syscall_sleeps_interruptible(info->number))
		return RUN_SLEEPING;
	if (!process_read_task_stat(sampler->process, thread->watch.tid, &stat))
		return RUN_SLEEPING;
	state = run_state_from_letter(stat.state);
	/* It woke in the meantime: what is recorded is the sleep. */
	return state == RUN_RUNNING ? RUN_SLEEPING : state;
}

/* After a restart the kernel shows restart_syscall: the number seen before holds as long as the
 * sleep is at the same place, and the code that made the call, or its arguments, tell it to who
 * comes later. */
long
true_syscall(const struct tracked *thread, const struct syscall_info *info)
{
	unsigned char code[SYSCALL_CODE_SIZE];
	long number = SYSCALL_UNKNOWN;

	if (!syscall_is_restart(info->number))
		return info->number;
	if (thread->seen && thread->sp == info->sp && thread->pc == info->pc &&
	    thread->syscall >= 0)
		return thread->syscall;
	if (memory_read_process(thread->watch.tid, info->pc - sizeof(code), code, sizeof(code)) ==
	    sizeof(code))
		number = syscall_from_code(code);
	return number != SYSCALL_UNKNOWN ? number : syscall_from_args(info->args);
}

/* Copies the stack of a sleeper; it is walked later. False: it is not asleep. */
static bool
read_sleeper(struct sampler *sampler, struct tracked *thread, const struct syscall_info *info,
	     int64_t samples, int64_t weight_ns)
{
	struct pending *pending =
		batch_add(sampler, &sampler->sleepers, thread, samples, weight_ns);
	struct snapshot *snapshot = &pending->request->snapshot;
	enum read_end end = tracer_read_sleeper(sampler->process, &thread->watch, &thread->sched,
						info, thread->stack_need, snapshot);

	if (end == READ_CAPTURED && !capture_sleeper(sampler, pending, false))
		end = READ_MOVED;
	if (end != READ_CAPTURED) {
		sampler->sleepers.count--;
		if (end == READ_MOVED)
			return false;
		sample_failed(sampler, thread,
			      end == READ_GONE ? FAILURE_EXITED : FAILURE_UNREADABLE, RUN_UNKNOWN,
			      samples, weight_ns);
		if (end == READ_GONE)
			forget(sampler, thread);
		return true;
	}
	if (thread->memo != NULL && thread->memo->sp == info->sp && thread->memo->pc == info->pc)
		snapshot->regs = *thread->memo;
	pending->state = sleep_state(sampler, thread, info);
	pending->info = *info;
	pending->info.number = true_syscall(thread, info);
	waits_see(sampler, thread, &pending->info);
	if (sampler->sleepers.count >= SLEEPERS_PENDING && !sampler->config.stop_all)
		collect_sleepers(sampler);
	return true;
}

/* Frames of a thread that runs on would be torn, but whether it has an interpreter's lock is one
 * word that is so or is not. */
static void
sample_not_stopped(struct sampler *sampler, struct tracked *thread, int64_t samples,
		   int64_t weight_ns)
{
	static const uint64_t no_args[6];

	thread->gil = GIL_UNKNOWN;
	thread->task = THREAD_NONE;
	if (sampler->runtimes != NULL && runtimes_any(sampler->runtimes)) {
		runtime_capture_take(sampler->lock_capture, thread->watch.tid, 0, false);
		thread->gil = runtime_capture_gil(sampler->lock_capture, SYSCALL_NONE, no_args);
		chain_clear(&sampler->chain);
		tasks_of_thread(sampler, thread, sampler->lock_capture);
	}
	sample_failed(sampler, thread, FAILURE_NOT_STOPPED, RUN_RUNNING, samples, weight_ns);
}

static void
plan_stop(struct sampler *sampler, struct tracked *thread, int64_t samples, int64_t weight_ns)
{
	if (sampler->tracer == NULL || hold_spares(sampler, thread))
		sample_not_stopped(sampler, thread, samples, weight_ns);
	else if (thread->untouchable)
		sample_failed(sampler, thread, FAILURE_UNREADABLE, RUN_RUNNING, samples,
			      weight_ns);
	else
		batch_add(sampler, &sampler->runners, thread, samples, weight_ns)->state =
			RUN_RUNNING;
}

/* Where threads are held nobody asks where others sleep, and what that costs is taken from those
 * that run. */
static void
pass_sleeper(struct sampler *sampler, struct tracked *thread, const struct syscall_info *info,
	     int64_t samples, int64_t weight_ns)
{
	thread->mark.waits = waits_word(info) != 0;
	sample_failed(sampler, thread, FAILURE_NOT_STOPPED, RUN_SLEEPING, samples, weight_ns);
	look_settle(sampler, thread, true);
}

/* It has run since the last look, or was never looked at: see what it does now. */
static void
look_closely(struct sampler *sampler, struct tracked *thread, int64_t samples, int64_t weight_ns)
{
	for (int attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
		struct syscall_info info;
		enum look look =
			watch_read_syscall(&thread->watch, sampler->process, &info);

		if (look == LOOK_GONE) {
			sample_failed(sampler, thread, FAILURE_EXITED, RUN_UNKNOWN, samples,
				      weight_ns);
			forget(sampler, thread);
			return;
		}
		/* An exiting thread has given up its memory: EPERM. */
		if (look != LOOK_OK && look != LOOK_MOVING) {
			sample_failed(sampler, thread, FAILURE_DENIED, RUN_UNKNOWN, samples,
				      weight_ns);
			return;
		}
		if (look == LOOK_OK && info.running) {
			plan_stop(sampler, thread, samples, weight_ns);
			return;
		}
		if (look == LOOK_OK && hold_is_wanted(sampler)) {
			pass_sleeper(sampler, thread, &info, samples, weight_ns);
			return;
		}
		if (look == LOOK_OK && read_sleeper(sampler, thread, &info, samples, weight_ns))
			return;
		look = watch_read_sched(&thread->watch, sampler->process, &thread->sched);
		if (look != LOOK_OK)
			break;
	}
	sample_failed(sampler, thread, FAILURE_MOVED, RUN_SLEEPING, samples, weight_ns);
}

/* Not wanted by the user: counted among the runnable, and asked which lock it waits for, because
 * one that is wanted may be stuck behind it; nothing else. */
static void
look_unselected(struct sampler *sampler, struct tracked *thread, int64_t samples)
{
	struct syscall_info info;
	bool asleep = false;

	if (watch_read_syscall(&thread->watch, sampler->process, &info) == LOOK_OK) {
		asleep = !info.running;
		if (waits_word(&info) != 0)
			waits_classify(sampler, thread, RUN_SLEEPING, &info);
		if (info.running)
			charge_unwanted(sampler, samples);
	}
	look_settle(sampler, thread, asleep);
}

/* It still waits for a CPU, since an earlier tick asked it to stop; or stands stopped by now,
 * and is taken next. */
static void
look_at_late(struct sampler *sampler, struct tracked *thread)
{
	struct task_stat stat;
	bool known = process_read_task_stat(sampler->process, thread->watch.tid, &stat);
	/* In a long system call it may sleep without an ear for interrupts. */
	bool disk = known && stat.state == 'D';

	late_extend(sampler, thread, disk ? RUN_DISK : RUN_QUEUED);
	if (known && (stat.state == 'Z' || stat.state == 'X')) {
		/* A first thread's exit is told to nobody while others live. */
		late_drop(sampler, thread);
		forget(sampler, thread);
		return;
	}
	sampler->runnable += (double)thread->late->charge.fresh;
	look_settle(sampler, thread, false);
}

/* It stands where it did, because somebody holds it. */
static void
look_at_held(struct sampler *sampler, struct tracked *thread)
{
	credit_runnable(sampler, thread, (int64_t)(sampler->tick - thread->last_tick),
			(int64_t)(sampler->tick_ns - thread->last_ns));
	look_settle(sampler, thread, false);
}

void
look_at(struct sampler *sampler, struct tracked *thread)
{
	struct sched sched;
	enum look look;
	int64_t ticks = (int64_t)(sampler->tick - thread->last_tick);
	int64_t time_ns = (int64_t)(sampler->tick_ns - thread->last_ns);
	int64_t period = thread->period;
	int64_t weight_ns = period * (int64_t)sampler->span_ns;

	sampler->stats.looks++;
	if (thread->late != NULL || thread->held) {
		(thread->late != NULL ? look_at_late : look_at_held)(sampler, thread);
		return;
	}
	look = watch_read_sched(&thread->watch, sampler->process, &sched);
	if (look == LOOK_OK)
		charge_count_cpu(sampler, thread, &sched, ticks);
	if (look == LOOK_OK && thread->asleep && sched.switches == thread->sched.switches) {
		if (thread->selected) {
			waits_try_again(sampler, thread);
			credit(sampler, thread, ticks, time_ns);
			sampler->stats.reused += (uint64_t)ticks;
		}
		schedule(sampler, thread);
		return;
	}
	charge_end_of_wait(sampler, thread);
	if (look == LOOK_GONE) {
		/* It lived at the tick before. */
		if (thread->seen && thread->selected)
			credit_past(sampler, thread, ticks - 1,
				    time_ns - (int64_t)sampler->span_ns);
		forget(sampler, thread);
		return;
	}
	/*
	 * After a sleep, seen with a chance of 1/period: it weighs `period` ticks, and the
	 * rest of the time is the old sleep's (sampler.h). A rest below zero takes back what
	 * earlier looks have credited. Otherwise the time of the look does not depend on
	 * what the thread did: it weighs the time since the last one.
	 */
	if (thread->seen && thread->backed_off) {
		if (thread->selected && ticks != period)
			credit_past(sampler, thread, ticks - period, time_ns - weight_ns);
	} else {
		period = ticks;
		weight_ns = time_ns;
	}
	waits_leave(sampler, thread);
	if (look == LOOK_OK) {
		thread->sched = sched;
		thread_count_capture(sampler, thread);
	}
	if (!thread->selected) {
		look_unselected(sampler, thread, period);
	} else if (look == LOOK_OK) {
		look_closely(sampler, thread, period, weight_ns);
	} else {
		sample_failed(sampler, thread, FAILURE_DENIED, RUN_UNKNOWN, period, weight_ns);
	}
}
