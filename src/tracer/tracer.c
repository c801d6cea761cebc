/* SPDX-License-Identifier: MIT */
/* tracer.c - stops threads, copies them, lets them go. The only caller of ptrace(2). */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <time.h>

#include "regs_arch.h"
#include "wallsample/base.h"
#include "wallsample/memory.h"
#include "wallsample/table.h"
#include "wallsample/tracer.h"

/* The watchdog repeats, so that a signal that arrives just before a wait begins
 * only delays the end of the wait by this much. */
#define WATCHDOG_REPEAT_NS (2 * NS_PER_MS)

/* A wait that returned sooner than this found the stop waiting for us. */
#define WAITED_NS (3 * NS_PER_US)

/*
 * A thread on another CPU stops within microseconds. To sleep and be woken takes
 * longer than that (tens of microseconds on an idle CPU of a virtual machine), and all
 * the while the thread stands still: so the first wait of a tick spins, for as long as
 * it would take to be woken and no longer.
 */
#define SPIN_NS (30 * NS_PER_US)

/* A thread that stops this soon was on a CPU; one that waits for a CPU waits for
 * another's time slice to end, which takes a millisecond and more. */
#define QUICK_NS (50 * NS_PER_US)

#define FREE_BOUND_NS (2 * NS_PER_SEC)

struct tracer {
	const struct process *process;
	timer_t watchdog;
	struct table asked;     /* tid -> index in the requests of this tick */
	struct stop_request **requests; /* asked for and not yet ended */
	size_t request_count, request_capacity;
	pid_t *outstanding;     /* seized, late, not yet released */
	size_t outstanding_count, outstanding_capacity;
	bool exited;            /* the process, when it is our child; */
	int exit_status;        /* its wait status then */
	struct tracer_stats stats;
};

/*
 * What a wait status says, and what has to be done with the thread:
 *
 * EXITED       it is gone; nothing
 * INTERRUPTED  our interrupt; detach
 * GROUP_STOP   job control has stopped the process; detach leaves it stopped
 * SIGNAL       a signal for the program is about to be delivered; detach with it
 * OTHER        a ptrace event we never ask for; detach
 */
enum stop_kind { KIND_EXITED, KIND_INTERRUPTED, KIND_GROUP_STOP, KIND_SIGNAL, KIND_OTHER };

static enum stop_kind
classify(int status)
{
	int event = status >> 16;

	if (!WIFSTOPPED(status))
		return KIND_EXITED;
	if (event == PTRACE_EVENT_STOP)
		return WSTOPSIG(status) == SIGTRAP ? KIND_INTERRUPTED : KIND_GROUP_STOP;
	return event == 0 ? KIND_SIGNAL : KIND_OTHER;
}

static void
on_watchdog(int signo)
{
	(void)signo; /* that the wait ends with EINTR is all that is wanted */
}

int
tracer_create(const struct process *process, struct tracer **out, struct error *err)
{
	struct sigaction action = { .sa_handler = on_watchdog };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMAX };
	struct tracer *tracer = xcalloc(1, sizeof(*tracer));

	*out = NULL;
	sigemptyset(&action.sa_mask);
	if (sigaction(SIGRTMAX, &action, NULL) != 0 ||
	    timer_create(CLOCK_MONOTONIC, &event, &tracer->watchdog) != 0) {
		int error = errno;

		free(tracer);
		return error_set(err, ERROR_SYSTEM, "cannot set up a timer: %s", strerror(error));
	}
	tracer->process = process;
	table_init(&tracer->asked);
	*out = tracer;
	return 0;
}

/* Makes waits end at `at_ns` or a little later; 0 switches that off. */
static void
watchdog_set(struct tracer *tracer, uint64_t at_ns)
{
	struct itimerspec when = { .it_value.tv_sec = (time_t)(at_ns / NS_PER_SEC),
				   .it_value.tv_nsec = (long)(at_ns % NS_PER_SEC) };

	if (at_ns != 0)
		when.it_interval.tv_nsec = WATCHDOG_REPEAT_NS;
	timer_settime(tracer->watchdog, TIMER_ABSTIME, &when, NULL);
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

bool
tracer_is_outstanding(const struct tracer *tracer, pid_t tid)
{
	for (size_t i = 0; i < tracer->outstanding_count; i++)
		if (tracer->outstanding[i] == tid)
			return true;
	return false;
}

size_t
tracer_outstanding(const struct tracer *tracer)
{
	return tracer->outstanding_count;
}

static void
outstanding_add(struct tracer *tracer, pid_t tid)
{
	tracer->outstanding = xgrow(tracer->outstanding, &tracer->outstanding_capacity,
				    tracer->outstanding_count + 1, sizeof(*tracer->outstanding));
	tracer->outstanding[tracer->outstanding_count++] = tid;
}

static bool
outstanding_remove(struct tracer *tracer, pid_t tid)
{
	for (size_t i = 0; i < tracer->outstanding_count; i++) {
		if (tracer->outstanding[i] == tid) {
			tracer->outstanding[i] = tracer->outstanding[--tracer->outstanding_count];
			return true;
		}
	}
	return false;
}

/*
 * Only ESRCH can come back: the thread was killed in its stop. Its exit has to be
 * waited for, because a process is not reaped by its parent while a dead thread of
 * it waits for a tracer.
 */
static void
detach(struct tracer *tracer, pid_t tid, int signo)
{
	if (ptrace(PTRACE_DETACH, tid, NULL, (void *)(uintptr_t)(unsigned)signo) != 0)
		outstanding_add(tracer, tid);
}

/*
 * Since when the thread has stood still, at the earliest. One that was on a CPU
 * stops some microseconds after it was asked. One that had to get a CPU first
 * executed nothing until then; when our wait had to wait, it stopped just now,
 * else at some moment since the wait before.
 */
static uint64_t
stop_began(const struct stop_request *request, uint64_t wait_began, uint64_t wait_ended,
	   uint64_t previous_end)
{
	if (!request->queued)
		return request->asked_ns;
	if (wait_ended - wait_began >= WAITED_NS)
		return wait_ended;
	return previous_end > request->asked_ns ? previous_end : request->asked_ns;
}

/*
 * An interrupted wait of some system calls returns EINTR to the program, which
 * breaks real programs. Tried: 39 of 40 such
 * waits failed without it, none with it (tests/live/eintr).
 */
static void
repair(struct tracer *tracer, pid_t tid, struct kernel_regs *kernel)
{
	struct iovec iov = { .iov_base = kernel->word, .iov_len = kernel->size };

	if (kernel_regs_repair(kernel) &&
	    ptrace(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &iov) == 0)
		tracer->stats.repaired++;
}

/* The thread stands still: take what is needed, nothing more. */
static void
capture(struct tracer *tracer, struct stop_request *request, enum stop_kind kind, bool quick)
{
	struct snapshot *snapshot = &request->snapshot;
	struct kernel_regs kernel;
	struct iovec iov = { .iov_base = kernel.word, .iov_len = sizeof(kernel.word) };
	enum look look = LOOK_OK;

	request->end = STOP_UNREADABLE;
	request->during = request->before;
	if (ptrace(PTRACE_GETREGSET, request->watch->tid, (void *)NT_PRSTATUS, &iov) != 0)
		return;
	kernel.size = iov.iov_len;
	if (!kernel_regs_complete(&kernel))
		return;
	request->syscall = kernel_regs_syscall(&kernel);
	request->fell_asleep = kind == KIND_INTERRUPTED && kernel_regs_cut_short(&kernel);
	/* At a signal the EINTR is the program's own. */
	if (request->fell_asleep)
		repair(tracer, request->watch->tid, &kernel);

	kernel_regs_read(&kernel, &snapshot->regs);
	snapshot->tid = request->watch->tid;
	snapshot->live_limit = 0;
	snapshot->stack_address = snapshot->regs.sp;
	snapshot->stack_wanted = request->stack_want;
	snapshot->stack_size = memory_read_process(tracer->process->pid, snapshot->regs.sp,
						   snapshot->stack, request->stack_want);
	/*
	 * This also proves that the stopped thread is ours: the descriptor is tied to
	 * our process, and fails when the thread id now is a stranger's.
	 */
	if (!quick || request->fell_asleep)
		look = watch_read_sched(request->watch, tracer->process, &request->during);
	request->queued = request->during.switches != request->before.switches &&
			  !request->fell_asleep;
	request->group_stopped = kind == KIND_GROUP_STOP;
	if (look == LOOK_OK)
		request->end = STOP_CAPTURED;
	else if (look == LOOK_GONE)
		request->end = STOP_EXITED;
}

static struct stop_request *
find_request(const struct tracer *tracer, pid_t tid)
{
	uint32_t index;

	if (!table_find(&tracer->asked, (uint64_t)tid, 0, &index))
		return NULL;
	return tracer->requests[index]->asked ? tracer->requests[index] : NULL;
}

/* A thread nobody asks about now: a late one, or one that an earlier run of a
 * signal handler left. It must not stay stopped. */
static void
release_stray(struct tracer *tracer, pid_t tid, int status, enum stop_kind kind)
{
	outstanding_remove(tracer, tid);
	if (kind == KIND_EXITED) {
		keep_exit(tracer, tid, status);
		return;
	}
	if (kind == KIND_INTERRUPTED) {
		struct kernel_regs kernel;
		struct iovec iov = { .iov_base = kernel.word, .iov_len = sizeof(kernel.word) };

		if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &iov) == 0) {
			kernel.size = iov.iov_len;
			if (kernel_regs_complete(&kernel))
				repair(tracer, tid, &kernel);
		}
	}
	detach(tracer, tid, kind == KIND_SIGNAL ? WSTOPSIG(status) : 0);
	tracer->stats.stops++;
	if (kind == KIND_SIGNAL)
		tracer->stats.signals_passed++;
}

void
tracer_ask(struct tracer *tracer, struct stop_request *request)
{
	pid_t tid = request->watch->tid;

	request->asked = false;
	request->queued = false;
	request->fell_asleep = false;
	request->group_stopped = false;
	request->syscall = SYSCALL_NONE;
	request->stopped_ns = 0;
	request->signal = 0;
	snapshot_reserve(&request->snapshot, request->stack_want);

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0) {
		/* An exiting thread answers EPERM or ESRCH. */
		request->end = errno == ESRCH ? STOP_EXITED : STOP_DENIED;
		return;
	}
	request->asked_ns = clock_now_ns();
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0) {
		/* It is dying with us as its tracer: its exit has to be waited for. */
		request->end = STOP_EXITED;
		outstanding_add(tracer, tid);
		return;
	}
	request->asked = true;
	request->end = STOP_LATE;
	tracer->requests = xgrow(tracer->requests, &tracer->request_capacity,
				 tracer->request_count + 1, sizeof(*tracer->requests));
	*table_place(&tracer->asked, (uint64_t)tid, 0, 0, NULL) = (uint32_t)tracer->request_count;
	tracer->requests[tracer->request_count++] = request;
}

static void
release(struct tracer *tracer, struct stop_request *request, uint64_t began)
{
	uint64_t now;

	detach(tracer, request->watch->tid, request->signal);
	now = clock_now_ns();
	request->stopped_ns = now > began ? now - began : 0;
	request->asked = false;
	tracer->stats.stops++;
	if (request->signal != 0)
		tracer->stats.signals_passed++;
}

/* waitpid that spins until `spin_until` before it sleeps. */
static pid_t
wait_any(int *status, uint64_t spin_until)
{
	do {
		pid_t tid = waitpid(-1, status, __WALL | WNOHANG);

		if (tid != 0)
			return tid;
	} while (clock_now_ns() < spin_until);
	return waitpid(-1, status, __WALL);
}

/* One wait. Returns false when the bound is over or there is nothing to wait for. */
static bool
collect_one(struct tracer *tracer, uint64_t deadline, bool hold, size_t *pending,
	    uint64_t *previous_end)
{
	uint64_t began = clock_now_ns();
	int status;
	pid_t tid = wait_any(&status, *previous_end + SPIN_NS);
	uint64_t ended = clock_now_ns();
	struct stop_request *request;
	enum stop_kind kind;

	if (tid < 0)
		return errno == EINTR && ended < deadline;
	request = find_request(tracer, tid);
	kind = classify(status);
	if (request == NULL) {
		release_stray(tracer, tid, status, kind);
	} else if (kind == KIND_EXITED) {
		request->end = STOP_EXITED;
		request->asked = false;
		keep_exit(tracer, tid, status);
		(*pending)--;
	} else {
		request->signal = kind == KIND_SIGNAL ? WSTOPSIG(status) : 0;
		capture(tracer, request, kind, ended - request->asked_ns < QUICK_NS);
		if (!hold)
			release(tracer, request,
				stop_began(request, began, ended, *previous_end));
		(*pending)--;
	}
	*previous_end = ended;
	return true;
}

/* Whoever was asked is released here, or is outstanding from now on. */
static void
let_go(struct tracer *tracer, struct stop_request *request)
{
	if (!request->asked)
		return;
	if (request->end != STOP_LATE) { /* captured, and held until now */
		release(tracer, request, request->asked_ns);
		return;
	}
	request->asked = false;
	outstanding_add(tracer, request->watch->tid);
	tracer->stats.late++;
}

void
tracer_collect(struct tracer *tracer, uint64_t bound_ns, bool hold, void (*held)(void *),
	       void *context)
{
	uint64_t now = clock_now_ns();
	uint64_t deadline = now + bound_ns;
	uint64_t previous_end = now;
	size_t pending = tracer->request_count;

	if (pending > 0)
		watchdog_set(tracer, deadline);
	while (pending > 0 && collect_one(tracer, deadline, hold, &pending, &previous_end))
		;
	if (hold && held != NULL)
		held(context);
	for (size_t i = 0; i < tracer->request_count; i++)
		let_go(tracer, tracer->requests[i]);
	if (tracer->request_count > 0) {
		watchdog_set(tracer, 0);
		table_clear(&tracer->asked);
		tracer->request_count = 0;
	}
}

/* Waits for anything that is seized until the moment; false when there is nothing. */
static bool
wait_for_strays(struct tracer *tracer, uint64_t until_ns)
{
	bool interrupted = false;

	watchdog_set(tracer, until_ns);
	while (tracer->outstanding_count > 0 && clock_now_ns() < until_ns && !interrupted) {
		int status;
		pid_t tid = waitpid(-1, &status, __WALL);

		if (tid > 0)
			release_stray(tracer, tid, status, classify(status));
		else if (errno == EINTR)
			interrupted = true;
		else
			tracer->outstanding_count = 0; /* ECHILD: none is left */
	}
	watchdog_set(tracer, 0);
	return interrupted;
}

void
tracer_sleep_until(struct tracer *tracer, uint64_t until_ns)
{
	struct timespec until = { .tv_sec = (time_t)(until_ns / NS_PER_SEC),
				  .tv_nsec = (long)(until_ns % NS_PER_SEC) };

	if (tracer->outstanding_count > 0 && wait_for_strays(tracer, until_ns))
		return;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

bool
tracer_exit_status(struct tracer *tracer, int *status)
{
	int fresh;

	if (!tracer->exited &&
	    waitpid(tracer->process->pid, &fresh, WNOHANG | __WALL) == tracer->process->pid &&
	    !WIFSTOPPED(fresh))
		keep_exit(tracer, tracer->process->pid, fresh);
	*status = tracer->exit_status;
	return tracer->exited;
}

const struct tracer_stats *
tracer_stats(const struct tracer *tracer)
{
	return &tracer->stats;
}

void
tracer_free(struct tracer *tracer)
{
	uint64_t deadline;

	if (tracer == NULL)
		return;
	deadline = clock_now_ns() + FREE_BOUND_NS;
	while (tracer->outstanding_count > 0 && clock_now_ns() < deadline)
		wait_for_strays(tracer, deadline);
	timer_delete(tracer->watchdog);
	table_release(&tracer->asked);
	free(tracer->requests);
	free(tracer->outstanding);
	free(tracer);
}
