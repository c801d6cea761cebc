/* SPDX-License-Identifier: MIT */
/* tracer_wait.c - waits until threads stop; captures each thread that has stopped, then releases or
 * holds it. */
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracer/count/counting_internal.h"
#include "tracer/tracer_internal.h"
#include "tracer/stop_internal.h"

/*
 * A thread on another CPU stops within microseconds. Sleeping and being woken takes longer (tens of
 * microseconds on an idle CPU of a virtual machine), and the thread is stopped all the while:
 * therefore a wait spins first, for as long as a wake-up would take.
 */
#define SPIN_NS (30 * NS_PER_US)
/*
 * The same for a thread that had no CPU at first: as long as another CPU needs to switch to it and
 * to stop it. On two CPUs, --stop-all stopped two threads for a mean time of 78 us (105 with
 * SPIN_NS, 74 without spinning), and two threads on the same CPU for 46 us (51, 60).
 */
#define SPIN_QUEUED_NS (6 * NS_PER_US)

void
tracer_before_reap(void *context, pid_t pid)
{
	struct tracer *tracer = context;

	if (pid == tracer->process->pid)
		(void)process_read_children_cpu_ns(tracer->process, &tracer->exit_children_ns);
}

/* Records the exit of the process, which is reported to its parent only; that may be wallsample. */
static void
record_exit(struct tracer *tracer, pid_t pid, int status)
{
	if (pid != tracer->process->pid)
		return;
	tracer->exited = true;
	tracer->exit_status = status;
}

/*
 * Releases a thread that was removed from the list, with a signal if it is not 0; a thread in a
 * group stop stays in it. A detach can fail with ESRCH only: the thread was killed in its stop. Its
 * exit has to be waited for, because the parent of the process cannot reap it while a dead thread
 * waits for its tracer.
 */
static void
tracer_release(struct tracer *tracer, pid_t tid, int signo, bool group_stopped)
{
	if (counting_has(tracer, tid))
		counting_continue(tracer, tid, signo, group_stopped);
	else if (!stop_resume(tid, PTRACE_DETACH, signo))
		seized_add(&tracer->seized, tid, NULL);
}

/* Repairs the system call of a stopped thread that has no request, and releases the thread. */
static void
release_unwanted(struct tracer *tracer, pid_t tid, int status)
{
	tracer->stats.repaired += stop_repair(tid, status);
	tracer_release(tracer, tid, stop_signal(status), stop_classify(status) == KIND_GROUP_STOP);
	tracer->stats.signals_passed += stop_signal(status) != 0;
}

static void
release_request(struct tracer *tracer, struct stop_request *request, uint64_t began)
{
	uint64_t now;

	tracer_release(tracer, request->watch->tid, request->signal, request->group_stopped);
	now = clock_now_ns();
	request->stopped_ns = now > began ? now - began : 0;
	request->kept_ns = now > request->found_ns ? now - request->found_ns : 0;
	tracer->stats.signals_passed += request->signal != 0;
}

/* Sleeps until a tracee stops or exits. Fails with EINTR at deadline_ns, or at once if that has
 * passed. */
static struct wait_end
sleep_for_any(struct tracer *tracer, uint64_t deadline_ns)
{
	struct wait_end end = { .slept = true, .tid = -1 };

	if (clock_now_ns() >= deadline_ns) {
		errno = EINTR;
		return end;
	}
	tracer->own_delay_ns = own_thread_delay(&tracer->own);
	/* The timer is set only when the wait is about to sleep, because setting it takes time, and
	 * threads may be stopped during that time. */
	if (!tracer->watchdog.armed)
		watchdog_set(&tracer->watchdog, deadline_ns);
	end.tid = stop_wait(&end.status, 0, tracer_before_reap, tracer);
	return end;
}

/* As stop_wait, but spins until `spin_until` before it sleeps, and ends with EINTR at
 * deadline_ns. */
static struct wait_end
wait_any(struct tracer *tracer, uint64_t spin_until, uint64_t deadline_ns)
{
	struct wait_end end = { .slept = false };
	uint64_t now = clock_now_ns();

	do {
		end.tid = stop_wait(&end.status, WNOHANG, tracer_before_reap, tracer);
		if (end.tid != 0)
			break;
		tracer->waited_ns = now;
		now = clock_now_ns();
	} while (now < spin_until);
	if (end.tid == 0)
		end = sleep_for_any(tracer, deadline_ns);
	end.at_ns = clock_now_ns();
	return end;
}

/*
 * Returns the time at which the kernel woke wallsample: no other tracee was stopped then.
 * wallsample may have got a CPU only later, because other programs used it: the delay, from
 * own_thread_delay, is subtracted.
 */
static uint64_t
woken_ns(const struct tracer *tracer, const struct wait_end *end)
{
	uint64_t delay = own_thread_delay(&tracer->own) - tracer->own_delay_ns;

	return delay < end->at_ns - tracer->waited_ns ? end->at_ns - delay : tracer->waited_ns;
}

/*
 * Returns the earliest time at which the thread can have stopped, and sets found_ns. If the wait
 * slept, a stop woke wallsample: both are woken_ns(). Otherwise the result is tracer->waited_ns,
 * when no stopped tracee was left. It is never before asked_ns, when the thread was interrupted.
 */
static uint64_t
stopped_since(const struct tracer *tracer, struct stop_request *request, const struct wait_end *end)
{
	uint64_t since = end->slept ? woken_ns(tracer, end) : tracer->waited_ns;

	if (since < request->asked_ns)
		since = request->asked_ns;
	request->found_ns = end->slept ? since : end->at_ns;
	return since;
}

/* True when the thread is to stay stopped. False for a thread with a pending signal: signals must
 * not wait. */
static bool
stays_held(const struct tracer *tracer, const struct seized *entry, const struct waiting *waiting)
{
	const struct stop_request *request = entry->request;

	if (request->signal != 0 || !(entry->is_new ? waiting->hold : tracer->hold_late))
		return false;
	return (entry->is_new && !waiting->runners_only) ||
	       (request->end == STOP_CAPTURED && !request->fell_asleep && !request->group_stopped);
}

/* Marks a captured thread as held; its request is free for another stop. */
static void
hold_entry(struct seized *entry)
{
	entry->request = NULL;
	entry->held = true;
	entry->is_new = false;
}

/* Captures a seized thread that has stopped, and releases or holds it; or records its exit. */
static void
serve_request(struct tracer *tracer, struct seized *entry, struct waiting *waiting,
	      const struct wait_end *end)
{
	struct stop_request *request = entry->request;
	enum stop_kind kind = stop_classify(end->status);
	uint64_t since;

	/* A thread that is killed while it is captured and held comes here a second time, for its
	 * exit: it is no longer one of the pending. */
	if (request == NULL || request->end == STOP_LATE)
		waiting->pending -= entry->is_new;
	if (kind == KIND_EXITED) {
		record_exit(tracer, end->tid, end->status);
		if (request != NULL) {
			request->end = STOP_EXITED;
			request->held = false;
		}
		seized_remove(&tracer->seized, entry);
	} else if (request == NULL) {
		seized_remove(&tracer->seized, entry);
		release_unwanted(tracer, end->tid, end->status);
	} else {
		request->signal = stop_signal(end->status);
		tracer->stats.repaired += stop_capture(request, kind);
		since = stopped_since(tracer, request, end);
		if (request->end == STOP_CAPTURED)
			request->at_tick = stop_at_tick(request, since);
		if (stays_held(tracer, entry, waiting) && stop_keep(end->tid)) {
			request->held = !entry->is_new || waiting->runners_only;
			if (!entry->is_new)
				hold_entry(entry);
			return;
		}
		seized_remove(&tracer->seized, entry);
		release_request(tracer, request, since);
	}
}

void
tracer_serve(struct tracer *tracer, const struct wait_end *end, struct waiting *waiting)
{
	struct seized *entry = NULL;
	const bool served = counting_serve(tracer, end, waiting);

	if (!served)
		entry = seized_find(&tracer->seized, end->tid);
	if (served)
		; /* counting_serve has handled the stop */
	else if (entry != NULL)
		serve_request(tracer, entry, waiting, end);
	else if (WIFSTOPPED(end->status))
		release_unwanted(tracer, end->tid, end->status);
	else
		record_exit(tracer, end->tid, end->status);
	if (end->slept)
		tracer->waited_ns = woken_ns(tracer, end);
}

bool
tracer_wait_once(struct tracer *tracer, struct waiting *waiting, uint64_t spin_ns)
{
	struct wait_end end = wait_any(tracer, clock_now_ns() + spin_ns, waiting->deadline_ns);

	if (end.tid < 0)
		return errno == EINTR && end.at_ns < waiting->deadline_ns;
	tracer_serve(tracer, &end, waiting);
	/* Breakpoints may be hit faster than they are served. There is always a stop to serve then,
	 * so that only the deadline ends the wait. */
	if (tracer->counting == NULL || end.at_ns < waiting->deadline_ns)
		return true;
	errno = EINTR;
	return false;
}

/*
 * Returns the time to spin after `stopped` of the requested threads have stopped. While wallsample
 * spins, only the other CPUs execute threads. Once as many have stopped as there are other CPUs, a
 * remaining thread waits for one of these CPUs, which the stops have made free, or for the CPU of
 * wallsample, where it runs only if wallsample sleeps.
 */
static uint64_t
spin_time(const struct tracer *tracer, size_t stopped)
{
	return stopped + 1 < tracer->cpus ? SPIN_NS : SPIN_QUEUED_NS;
}

/* Waits until all new requests have ended or the deadline has passed. */
static void
wait_for_new(struct tracer *tracer, struct waiting *waiting)
{
	size_t asked;

	waiting->pending = 0;
	for (size_t i = 0; i < tracer->seized.count; i++)
		waiting->pending += tracer->seized.item[i].is_new;
	if (waiting->pending == 0)
		return;
	asked = waiting->pending;
	while (waiting->pending > 0 &&
	       tracer_wait_once(tracer, waiting, spin_time(tracer, asked - waiting->pending)))
		;
	watchdog_set(&tracer->watchdog, 0);
}

/* Releases the captured threads that wait_for_new has left stopped. Requests of threads that have
 * not stopped become outstanding. */
static void
release_new(struct tracer *tracer)
{
	size_t kept = 0;

	for (size_t i = 0; i < tracer->seized.count; i++) {
		struct seized entry = tracer->seized.item[i];

		if (entry.is_new && entry.request != NULL && entry.request->end != STOP_LATE) {
			release_request(tracer, entry.request, entry.request->asked_ns);
			continue;
		}
		entry.is_new = false;
		tracer->seized.item[kept++] = entry;
	}
	tracer->seized.count = kept;
}

/* --- threads that are held -------------------------------------------------------------------- */

void
tracer_collect(struct tracer *tracer, uint64_t bound_ns, bool hold, void (*held)(void *),
	       void *context)
{
	struct waiting waiting = { .deadline_ns = clock_now_ns() + bound_ns, .hold = hold };

	wait_for_new(tracer, &waiting);
	if (hold && held != NULL)
		held(context);
	release_new(tracer);
}

void
tracer_collect_held(struct tracer *tracer, uint64_t bound_ns)
{
	struct waiting waiting = { .deadline_ns = clock_now_ns() + bound_ns,
				   .hold = true,
				   .runners_only = true };
	uint64_t now;

	wait_for_new(tracer, &waiting);
	now = clock_now_ns();
	/* A thread that was killed in its stop is no longer in the list. */
	for (size_t i = 0; i < tracer->seized.count; i++) {
		struct seized *entry = &tracer->seized.item[i];

		if (!entry->is_new || entry->request == NULL || !entry->request->held)
			continue;
		entry->request->stopped_ns = now - entry->request->asked_ns;
		hold_entry(entry);
	}
	release_new(tracer);
}

bool
tracer_release_held(struct tracer *tracer, pid_t tid)
{
	struct seized *entry = seized_find(&tracer->seized, tid);

	if (entry == NULL || !entry->held)
		return false;
	seized_remove(&tracer->seized, entry);
	tracer_release(tracer, tid, 0, false);
	return true;
}

void
tracer_release_all_held(struct tracer *tracer)
{
	tracer->hold_late = false;
	/* A thread that was killed cannot be detached: it is put back at the end of the list, and
	 * is not held. */
	for (size_t i = 0; i < tracer->seized.count;)
		if (!tracer_release_held(tracer, tracer->seized.item[i].tid))
			i++;
}

void
tracer_hold_late(struct tracer *tracer)
{
	tracer->hold_late = true;
}

bool
tracer_is_held(const struct tracer *tracer, pid_t tid)
{
	const struct seized *entry = seized_find(&tracer->seized, tid);

	return entry != NULL && entry->held;
}

size_t
tracer_held_count(const struct tracer *tracer)
{
	size_t held = 0;

	for (size_t i = 0; i < tracer->seized.count; i++)
		held += tracer->seized.item[i].held;
	return held;
}
