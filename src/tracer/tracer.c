/* SPDX-License-Identifier: MIT */
/* tracer.c - whom to stop, what to wait for, and that everybody is let go. */
#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "away.h"
#include "own_delay.h"
#include "seized.h"
#include "stop.h"
#include "watchdog.h"
#include "wallsample/base.h"

/*
 * A thread on another CPU stops within microseconds. To sleep and be woken takes
 * longer than that (tens of microseconds on an idle CPU of a virtual machine), and all
 * the while the thread stands still: so the first wait of a tick spins, for as long as
 * it would take to be woken and no longer.
 */
#define SPIN_NS (30 * NS_PER_US)

#define FREE_BOUND_NS (2 * NS_PER_SEC)

/* Short waits for a tracee that is on no list. */
#define FINISH_ROUNDS 5

struct tracer {
	const struct process *process;
	struct watchdog watchdog;
	struct seized_list seized;
	bool is_parent;         /* of the process, which then is our child */
	bool exited;            /* it has exited, */
	int exit_status;        /* with this wait status */
	uint64_t waited_ns;     /* a moment at which nothing stood still that was not served */
	int own_delay_fd;       /* how long we have waited for a CPU ourselves: */
	uint64_t own_delay_ns;  /* at that moment, or a little before */
	bool quiet;             /* there was no tracee, and none was asked for since */
	unsigned away;          /* how many tracer_leave wait for their tracer_return */
	struct tracer_stats stats;
};

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
	tracer->own_delay_fd = own_delay_open();
	tracer->is_parent = waitid(P_PID, (id_t)process->pid, &info,
				   WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
	*out = tracer;
	return 0;
}

/* The exit of the whole process is told to its parent alone, which may be us. */
static void
keep_exit(struct tracer *tracer, pid_t pid, int status)
{
	if (pid != tracer->process->pid)
		return;
	tracer->exited = true;
	tracer->exit_status = status;
}

void
tracer_forget(struct tracer *tracer, const struct stop_request *request)
{
	if (request != NULL)
		seized_forget(&tracer->seized, request);
}

/*
 * Only ESRCH can come back: the thread was killed in its stop. Its exit has to be
 * waited for, because a process is not reaped by its parent while a dead thread of
 * it waits for a tracer.
 */
static void
detach(struct tracer *tracer, pid_t tid, int signo)
{
	if (!stop_detach(tid, signo))
		seized_add(&tracer->seized, tid, NULL);
}

/* A thread that nobody is interested in any more must not stay stopped, nor must its
 * system call fail. */
static void
release_unwanted(struct tracer *tracer, pid_t tid, int status)
{
	bool repaired;

	if (!stop_release(tid, status, &repaired))
		seized_add(&tracer->seized, tid, NULL);
	tracer->stats.repaired += repaired;
	tracer->stats.stops++;
	tracer->stats.signals_passed += stop_signal(status) != 0;
}

/*
 * A thread that was seized and has called exec has taken over the id of the first thread:
 * another seize of that one is refused, but it can be interrupted.
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

void
tracer_rehearse(struct stop_request *request)
{
	snapshot_reserve(&request->snapshot, request->stack_want);
	stop_rehearse(request);
}

void
tracer_ask(struct tracer *tracer, struct stop_request *request)
{
	pid_t tid = request->watch->tid;
	int error;

	request->queued = false;
	request->fell_asleep = false;
	request->group_stopped = false;
	request->syscall = SYSCALL_NONE;
	request->stopped_ns = 0;
	request->signal = 0;
	snapshot_reserve(&request->snapshot, request->stack_want);

	tracer->quiet = false;
	error = stop_seize(tid);
	if (error != 0 && (error != EPERM || !is_ours_already(tracer, tid))) {
		request->end = error == ESRCH ? STOP_EXITED : STOP_DENIED;
		return;
	}
	request->asked_ns = clock_now_ns();
	if (!stop_interrupt(tid)) {
		/* It is dying with us as its tracer: its exit has to be waited for. */
		request->end = STOP_EXITED;
		seized_add(&tracer->seized, tid, NULL);
		return;
	}
	request->end = STOP_LATE;
	seized_add(&tracer->seized, tid, request);
}

static void
release(struct tracer *tracer, struct stop_request *request, uint64_t began)
{
	uint64_t now;

	detach(tracer, request->watch->tid, request->signal);
	now = clock_now_ns();
	request->stopped_ns = now > began ? now - began : 0;
	tracer->stats.stops++;
	tracer->stats.signals_passed += request->signal != 0;
}

/* How a wait has ended. */
struct wait_end {
	pid_t tid;     /* what waitpid(2) says; < 0: nothing, errno says why */
	int status;
	uint64_t at_ns;
	bool slept;    /* until something stopped; else it may have stood still for long */
};

/* stop_wait that spins until `spin_until` before it sleeps. */
static struct wait_end
wait_any(struct tracer *tracer, uint64_t spin_until, uint64_t deadline_ns)
{
	struct wait_end end = { .slept = false };
	uint64_t now = clock_now_ns();

	do {
		end.tid = stop_wait(&end.status, WNOHANG);
		if (end.tid != 0)
			break;
		tracer->waited_ns = now;
		now = clock_now_ns();
	} while (now < spin_until);
	if (end.tid == 0) {
		end.slept = true;
		tracer->own_delay_ns = own_delay_read(tracer->own_delay_fd);
		/* Only now, because threads stand still while the timer is set. */
		if (!tracer->watchdog.armed)
			watchdog_set(&tracer->watchdog, deadline_ns);
		end.tid = stop_wait(&end.status, 0);
	}
	end.at_ns = clock_now_ns();
	return end;
}

/* What is going on around the waits of one call. */
struct waiting {
	uint64_t deadline_ns;
	bool hold;             /* captured threads are not released yet */
	size_t pending;        /* fresh requests without an end */
};

/*
 * When we were woken: nothing stood still then but what woke us. We may have been given a CPU
 * long after, when others ran on it.
 */
static uint64_t
woken_ns(const struct tracer *tracer, const struct wait_end *end)
{
	uint64_t delay = own_delay_read(tracer->own_delay_fd) - tracer->own_delay_ns;

	return delay < end->at_ns - tracer->waited_ns ? end->at_ns - delay : tracer->waited_ns;
}

/*
 * Since when the thread has stood still, at the earliest. One that had to get a CPU first
 * executed nothing until then: it is what woke us. Of others it is not before they were asked,
 * nor before we last looked and nothing stood still.
 */
static uint64_t
stopped_since(const struct tracer *tracer, const struct stop_request *request,
	      const struct wait_end *end)
{
	uint64_t since = tracer->waited_ns;

	if (request->during.switches != request->before.switches && end->slept)
		since = woken_ns(tracer, end);
	return since > request->asked_ns ? since : request->asked_ns;
}

/* A seized thread has stopped or exited: captured, released, no longer seized. */
static void
serve(struct tracer *tracer, struct seized *entry, struct waiting *waiting,
      const struct wait_end *end)
{
	struct stop_request *request = entry->request;
	enum stop_kind kind = stop_classify(end->status);
	uint64_t since;

	/* One that is held, and killed, is here a second time. */
	if (request == NULL || request->end == STOP_LATE)
		waiting->pending -= entry->fresh;
	if (kind == KIND_EXITED) {
		keep_exit(tracer, end->tid, end->status);
		if (request != NULL)
			request->end = STOP_EXITED;
		seized_remove(&tracer->seized, entry);
	} else if (request == NULL) {
		seized_remove(&tracer->seized, entry);
		release_unwanted(tracer, end->tid, end->status);
	} else {
		request->signal = stop_signal(end->status);
		tracer->stats.repaired += stop_capture(tracer->process, request, kind);
		since = stopped_since(tracer, request, end);
		request->queued = request->end == STOP_CAPTURED &&
				  stop_was_queued(request, since);
		/* Stays seized, until let_go; but who has a signal to take must not wait. */
		if (waiting->hold && entry->fresh && request->signal == 0 &&
		    stop_tell(end->tid))
			return;
		seized_remove(&tracer->seized, entry);
		release(tracer, request, since);
	}
}

/* What a wait has brought. */
static void
take(struct tracer *tracer, const struct wait_end *end, struct waiting *waiting)
{
	struct seized *entry = seized_find(&tracer->seized, end->tid);

	if (entry != NULL)
		serve(tracer, entry, waiting, end);
	else if (WIFSTOPPED(end->status))
		release_unwanted(tracer, end->tid, end->status);
	else
		keep_exit(tracer, end->tid, end->status);
	if (end->slept)
		tracer->waited_ns = woken_ns(tracer, end);
}

/* One wait. Returns false when the time is over or there is nothing to wait for. */
static bool
wait_once(struct tracer *tracer, struct waiting *waiting, uint64_t spin_ns)
{
	struct wait_end end =
		wait_any(tracer, clock_now_ns() + spin_ns, waiting->deadline_ns);

	if (end.tid < 0)
		return errno == EINTR && end.at_ns < waiting->deadline_ns;
	take(tracer, &end, waiting);
	return true;
}

/* Whoever was held is released. What has not stopped yet is outstanding from now on. */
static void
let_go(struct tracer *tracer)
{
	size_t kept = 0;

	for (size_t i = 0; i < tracer->seized.count; i++) {
		struct seized entry = tracer->seized.item[i];

		if (entry.fresh && entry.request != NULL && entry.request->end != STOP_LATE) {
			release(tracer, entry.request, entry.request->asked_ns);
			continue;
		}
		tracer->stats.late += entry.fresh;
		entry.fresh = false;
		tracer->seized.item[kept++] = entry;
	}
	tracer->seized.count = kept;
}

void
tracer_collect(struct tracer *tracer, uint64_t bound_ns, bool hold, void (*held)(void *),
	       void *context)
{
	uint64_t now = clock_now_ns();
	struct waiting waiting = {
		.deadline_ns = now + bound_ns,
		.hold = hold,
		.pending = seized_count_fresh(&tracer->seized),
	};

	if (waiting.pending > 0) {
		while (waiting.pending > 0 && wait_once(tracer, &waiting, SPIN_NS))
			;
		watchdog_set(&tracer->watchdog, 0);
	}
	if (hold && held != NULL)
		held(context);
	let_go(tracer);
}

void
tracer_check(struct tracer *tracer)
{
	seized_drop_untraced(&tracer->seized, STOP_EXITED);
}

void
tracer_leave(struct tracer *tracer)
{
	if (tracer->away++ == 0 && tracer->seized.count > 0)
		away_begin(!tracer->is_parent);
}

void
tracer_return(struct tracer *tracer)
{
	if (--tracer->away > 0 || tracer->seized.count == 0)
		return;
	away_end();
	seized_drop_untraced(&tracer->seized, STOP_MISSED);
}

/*
 * Serves whatever stops until the moment; true when there was something to wait for all the
 * time. It does not go by the list of what is seized: an exec turns a tracee into one with
 * another id, and a tracee that nobody waits for would stand still.
 */
static bool
serve_until(struct tracer *tracer, uint64_t until_ns)
{
	struct waiting waiting = { .deadline_ns = until_ns };
	int error = 0;

	while (error == 0)
		if (!wait_once(tracer, &waiting, 0))
			error = errno;
	watchdog_set(&tracer->watchdog, 0);
	if (error == ECHILD)
		tracer_check(tracer);
	return error == EINTR;
}

/*
 * Is there anything that could stop, or has stopped? What has is served. It never blocks: a
 * child of ours that job control has stopped is no tracee, and nothing to wait for.
 */
static bool
has_tracees(struct tracer *tracer)
{
	struct waiting waiting = { .hold = false };

	while (!tracer->quiet) {
		struct wait_end end = { .at_ns = clock_now_ns() };

		end.tid = stop_wait(&end.status, WNOHANG);
		if (end.tid < 0) { /* ECHILD */
			tracer->quiet = tracer->seized.count == 0;
			return false;
		}
		if (end.tid == 0) {
			tracer->waited_ns = end.at_ns; /* nothing stood still then */
			return true;
		}
		take(tracer, &end, &waiting);
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

	if (has_tracees(tracer) && serve_until(tracer, until_ns))
		return;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

void
tracer_finish(struct tracer *tracer, uint64_t bound_ns)
{
	uint64_t deadline = clock_now_ns() + bound_ns;
	int rounds = 0;

	/* One that exec has renamed may not have been asked under its new name. */
	stop_interrupt(tracer->process->pid);
	while (has_tracees(tracer) && clock_now_ns() < deadline) {
		/* Children that are no tracees are children for as long as they run. */
		if (tracer->seized.count == 0 && (tracer->is_parent || rounds++ >= FINISH_ROUNDS))
			break;
		serve_until(tracer, clock_now_ns() + WATCHDOG_REPEAT_NS);
		tracer_check(tracer);
	}
}

bool
tracer_exit_status(struct tracer *tracer, int *status)
{
	struct waiting waiting = { .hold = false };
	struct wait_end end = { .at_ns = clock_now_ns() };

	/* When it is a tracee, too, this may be its stop: then it has to be released. */
	if (!tracer->exited)
		end.tid = waitpid(tracer->process->pid, &end.status, WNOHANG | __WALL);
	if (end.tid > 0)
		take(tracer, &end, &waiting);
	*status = tracer->exit_status;
	return tracer->exited;
}

size_t
tracer_outstanding(const struct tracer *tracer)
{
	return tracer->seized.count;
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
	seized_forget(&tracer->seized, NULL);
	tracer_finish(tracer, FREE_BOUND_NS);
	/* What has not stopped may do so while a report waits for its reader. */
	tracer_leave(tracer);
	watchdog_free(&tracer->watchdog);
	if (tracer->own_delay_fd >= 0)
		close(tracer->own_delay_fd);
	seized_release(&tracer->seized);
	free(tracer);
}
