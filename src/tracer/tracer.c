/* SPDX-License-Identifier: MIT */
/* tracer.c - requests stops, waits for them, and releases every thread in the end. */
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "tracer/tracer_internal.h"
#include "tracer/count/counting_internal.h"
#include "tracer/stop_internal.h"

/* Longest wait of tracer_free for outstanding stops. */
#define FREE_BOUND_NS (2 * NS_PER_SEC)
/* Longest wait of tracer_pause for threads with breakpoints to stop. */
#define LEAVE_BOUND_NS (2 * NS_PER_SEC)

/* Most bytes of stack to prefetch: more would not stay in the caches. */
#define PREFETCH_MOST ((size_t)32 << 10)

/* Longest duration of tracer_poll while breakpoints are hit faster than they are handled. */
#define POLL_NS (200 * NS_PER_US)

/* Most waits of tracer_finish, and the duration of each, for a tracee that is not in the list of
 * seized threads. */
#define FINISH_ROUNDS 5
#define FINISH_ROUND_NS (2 * NS_PER_MS)

int
tracer_create(const struct process *process, struct tracer **out, struct error *err)
{
	struct tracer *tracer = xcalloc(1, sizeof(*tracer));
	siginfo_t info;
	int rc = watchdog_create(&tracer->watchdog, err);

	*out = NULL;
	if (rc != 0) {
		free(tracer);
		return rc;
	}
	tracer->process = process;
	tracer->cpus = cpus_online();
	own_thread_open(&tracer->own);
	tracer->is_parent = waitid(P_PID, (id_t)process->pid, &info,
				   WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
	*out = tracer;
	return 0;
}

void
tracer_add_process(struct tracer *tracer, pid_t pid)
{
	if (pid == tracer->process->pid)
		return;
	tracer->pid = xgrow(tracer->pid, &tracer->pid_capacity, tracer->pids + 1,
			    sizeof(*tracer->pid));
	tracer->pid[tracer->pids++] = pid;
}

void
tracer_remove_process(struct tracer *tracer, pid_t pid)
{
	for (size_t i = 0; i < tracer->pids; i++) {
		if (tracer->pid[i] != pid)
			continue;
		tracer->pid[i] = tracer->pid[--tracer->pids];
		return;
	}
}

void
tracer_set_load(struct tracer *tracer, struct tracer_load *load)
{
	tracer->seized.load = load;
}

void
tracer_forget(struct tracer *tracer, const struct stop_request *request)
{
	if (request != NULL)
		seized_forget(&tracer->seized, request);
}

/*
 * Returns true if this tracer has seized the thread already, and then removes it from the list. A
 * thread that calls exec gets the id of the first thread. If the thread was seized before, another
 * seize, of the new id, is refused, but an interrupt succeeds.
 */
static bool
is_ours_already(struct tracer *tracer, pid_t tid)
{
	struct seized *entry = seized_find(&tracer->seized, tid);

	if (!stop_interrupt(tid))
		return false;
	if (entry != NULL)
		seized_remove(&tracer->seized, entry);
	return true;
}

/*
 * Reads the stack from the stack pointer of the last sample on, to fill the CPU caches: the copy in
 * the stop then takes a quarter of the time (16 KiB, a tick every 10 ms: 4 us in place of 15 to
 * 20).
 */
void
tracer_prefetch(struct stop_request *request)
{
	size_t size = request->stack_want < PREFETCH_MOST ? request->stack_want : PREFETCH_MOST;

	snapshot_reserve(&request->snapshot, request->stack_want);
	if (request->sp_before != 0)
		stack_copy_again(request->memory, request->watch, request->sp_before,
				 request->snapshot.stack, size);
}

static bool
is_counting(const struct tracer *tracer)
{
	return tracer->counting != NULL && tracer->counting->state == COUNT_RUNNING &&
	       !tracer->counting->ending;
}

void
tracer_ask(struct tracer *tracer, struct stop_request *request)
{
	pid_t tid = request->watch->tid;
	int error;

	request->at_tick = TICK_RUNNING;
	request->fell_asleep = false;
	request->group_stopped = false;
	request->held = false;
	request->syscall = SYSCALL_NONE;
	request->stopped_ns = request->kept_ns = 0;
	request->signal = 0;
	snapshot_reserve(&request->snapshot, request->stack_want);

	tracer->quiet = false;
	/* before the request: wallsample may be stopped at any moment */
	seized_publish(&tracer->seized, 1);
	error = is_counting(tracer) ? counting_seize(tracer, tid) : stop_seize(tid, 0);
	if (error != 0 && (error != EPERM || !is_ours_already(tracer, tid))) {
		request->end = error == ESRCH ? STOP_EXITED : STOP_DENIED;
		seized_publish(&tracer->seized, 0);
		return;
	}
	request->asked_ns = clock_now_ns();
	if (!stop_interrupt(tid)) {
		/* The tracee is exiting: its exit has to be waited for. */
		request->end = STOP_EXITED;
		seized_add(&tracer->seized, tid, NULL);
		return;
	}
	request->end = STOP_LATE;
	seized_add(&tracer->seized, tid, request);
}

void
tracer_check(struct tracer *tracer)
{
	seized_drop_untraced(&tracer->seized, STOP_EXITED);
}

void
tracer_pause(struct tracer *tracer)
{
	size_t left = 0;

	tracer_release_all_held(tracer);
	if (tracer->paused == 0)
		left = tracer_count_stop(tracer, LEAVE_BOUND_NS);
	if (tracer->paused++ > 0 || tracer->seized.count + left == 0)
		return;
	release_handler_install(!tracer->is_parent);
	tracer->has_handler = true;
}

void
tracer_resume(struct tracer *tracer)
{
	if (--tracer->paused > 0)
		return;
	if (tracer->has_handler) {
		/* Threads that have stopped before were released by the handler. */
		tracer->waited_ns = clock_now_ns();
		release_handler_remove();
		tracer->has_handler = false;
		seized_drop_untraced(&tracer->seized, STOP_MISSED);
	}
	counting_resume(tracer);
}

/*
 * Handles all stops (tracer_serve) until `until_ns`, and returns true then. Returns false earlier
 * when there is no tracee or child any more. Does not rely on the list of seized threads: an exec
 * gives a tracee another id, and a tracee that is not waited for would stay stopped.
 */
static bool
serve_until(struct tracer *tracer, uint64_t until_ns)
{
	struct waiting waiting = { .deadline_ns = until_ns };
	int error = 0;

	while (error == 0)
		if (!tracer_wait_once(tracer, &waiting, 0))
			error = errno;
	watchdog_set(&tracer->watchdog, 0);
	if (error == ECHILD)
		tracer_check(tracer);
	return error == EINTR;
}

/*
 * Handles the tracees that have stopped (tracer_serve), without blocking. Returns true when there
 * may be further tracees: a child of wallsample that is not a tracee counts as one.
 */
static bool
has_tracees(struct tracer *tracer)
{
	struct waiting waiting = { .hold = false };
	const uint64_t began = clock_now_ns();

	while (!tracer->quiet) {
		struct wait_end end = { .at_ns = clock_now_ns() };

		end.tid = stop_wait(&end.status, WNOHANG, tracer_before_reap, tracer);
		if (end.tid < 0) { /* ECHILD */
			tracer->quiet = tracer->seized.count == 0;
			return false;
		}
		if (end.tid == 0) {
			tracer->waited_ns = end.at_ns; /* no stopped tracee was left then */
			return true;
		}
		tracer_serve(tracer, &end, &waiting);
		if (tracer->counting != NULL && end.at_ns > began + POLL_NS)
			return true;
	}
	return false;
}

void
tracer_poll(struct tracer *tracer)
{
	has_tracees(tracer);
}

void
tracer_sleep_until(struct tracer *tracer, uint64_t until_ns)
{
	struct timespec until = { .tv_sec = (time_t)(until_ns / NS_PER_SEC),
				  .tv_nsec = (long)(until_ns % NS_PER_SEC) };

	if (tracer != NULL && has_tracees(tracer) && serve_until(tracer, until_ns))
		return;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

void
tracer_finish(struct tracer *tracer, uint64_t bound_ns)
{
	uint64_t deadline = clock_now_ns() + bound_ns;
	int rounds = 0;

	/* A tracee that has taken over the id of a first thread by exec may not have been
	 * interrupted yet. */
	stop_interrupt(tracer->process->pid);
	for (size_t i = 0; i < tracer->pids; i++)
		stop_interrupt(tracer->pid[i]);
	while (has_tracees(tracer) && clock_now_ns() < deadline) {
		/* While a child that is not a tracee runs, has_tracees returns true. */
		if (tracer->seized.count == 0 && (tracer->is_parent || rounds++ >= FINISH_ROUNDS))
			break;
		serve_until(tracer, clock_now_ns() + FINISH_ROUND_NS);
		tracer_check(tracer);
	}
}

bool
tracer_exit_status(struct tracer *tracer, int *status)
{
	struct waiting waiting = { .hold = false };
	struct wait_end end = { .at_ns = clock_now_ns() };

	/* The first thread of the process may be a tracee, too, and the wait may return its stop:
	 * tracer_serve then releases it. */
	if (is_counting(tracer))
		tracer_poll(tracer);
	else if (!tracer->exited)
		end.tid = waitpid(tracer->process->pid, &end.status, WNOHANG | __WALL);
	if (end.tid > 0)
		tracer_serve(tracer, &end, &waiting);
	*status = tracer->exit_status;
	return tracer->exited;
}

uint64_t
tracer_exit_children_ns(const struct tracer *tracer)
{
	return tracer->exit_children_ns;
}

size_t
tracer_outstanding(const struct tracer *tracer)
{
	return tracer != NULL ? tracer->seized.count : 0;
}

const struct tracer_stats *
tracer_stats(const struct tracer *tracer)
{
	return &tracer->stats;
}

void
tracer_free(struct tracer *tracer)
{
	if (tracer == NULL)
		return;
	tracer_release_all_held(tracer);
	counting_free(tracer);
	seized_forget(&tracer->seized, NULL);
	tracer_finish(tracer, FREE_BOUND_NS);
	/* The handler of tracer_pause releases threads that stop later, such as while a report is
	 * being read. */
	tracer_pause(tracer);
	watchdog_free(&tracer->watchdog);
	own_thread_close(&tracer->own);
	free(tracer->seized.item);
	free(tracer->pid);
	free(tracer);
}
