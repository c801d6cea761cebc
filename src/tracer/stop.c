/* SPDX-License-Identifier: MIT */
/* stop.c - seizes, interrupts, reads and releases one thread. */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "tracer/count/counting_internal.h"
#include "tracer/stop_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/tracer/regs_arch.h"

/* A thread that waits for a CPU because wallsample woke for a tick without occupied CPUs began to
 * wait at most this long before or after the tick. */
#define OWN_WAKE_NS (50 * NS_PER_US)
/* For ticks with occupied CPUs: error of the time at which a thread began to wait for a CPU. That
 * is the time of the stop less the duration of the wait; the thread uses a CPU in between, and the
 * tracer notices the stop later. */
#define STOP_ERROR_NS (3 * NS_PER_US)

enum stop_kind
stop_classify(int status)
{
	int event = status >> 16;

	if (!WIFSTOPPED(status))
		return KIND_EXITED;
	if (event == PTRACE_EVENT_STOP)
		return WSTOPSIG(status) == SIGTRAP ? KIND_INTERRUPTED : KIND_GROUP_STOP;
	if (event == PTRACE_EVENT_EXEC)
		return KIND_EXEC;
	return event == 0 ? KIND_SIGNAL : KIND_OTHER;
}

int
stop_signal(int status)
{
	return stop_classify(status) == KIND_SIGNAL ? WSTOPSIG(status) : 0;
}

pid_t
stop_wait(int *status, int options, void (*ended)(void *context, pid_t pid), void *context)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | __WALL | __WNOTHREAD | options) != 0)
		return -1;
	if (info.si_pid == 0)
		return 0;
	if (info.si_code != CLD_TRAPPED && ended != NULL)
		ended(context, info.si_pid);
	if (info.si_code != CLD_TRAPPED)
		return waitpid(info.si_pid, status, __WALL);
	*status = (int)((unsigned)info.si_status << 8 | 0x7f);
	return info.si_pid;
}

bool
stop_keep(pid_t tid)
{
	siginfo_t info = { .si_pid = 0 };

	/* Without WEXITED the exit of the thread stays reportable. */
	return waitid(P_PID, (id_t)tid, &info, WSTOPPED | WNOHANG | __WALL) == 0 &&
	       info.si_pid == tid;
}

int
stop_seize(pid_t tid, unsigned long options)
{
	return ptrace(PTRACE_SEIZE, tid, NULL, (void *)options) == 0 ? 0 : errno;
}

bool
stop_interrupt(pid_t tid)
{
	return ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0;
}

bool
stop_resume(pid_t tid, int how, int signo)
{
	return ptrace(how, tid, NULL, (void *)(uintptr_t)(unsigned)signo) == 0;
}

/*
 * Makes the kernel restart a system call. Some calls return EINTR when a stop interrupts their
 * wait, which breaks real programs: 39 of 40 such waits failed without the repair, none with it
 * (tests/live/test_unharmed). Returns true if a repair was necessary, and has succeeded.
 */
static bool
repair_syscall(pid_t tid, struct kernel_regs *kernel)
{
	struct iovec iov = { .iov_base = kernel->word, .iov_len = kernel->size };

	return kernel_regs_repair(kernel) &&
	       ptrace(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &iov) == 0;
}

/* Reads the registers of a stopped thread. Returns false when the thread was killed. */
static bool
read_registers(pid_t tid, struct kernel_regs *kernel)
{
	struct iovec iov = { .iov_base = kernel->word, .iov_len = sizeof(kernel->word) };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &iov) != 0)
		return false;
	kernel->size = iov.iov_len;
	return true;
}

bool
stop_repair(pid_t tid, int status)
{
	enum stop_kind kind = stop_classify(status);
	struct kernel_regs kernel;

	return (kind == KIND_INTERRUPTED || kind == KIND_SIGNAL) && read_registers(tid, &kernel) &&
	       kernel_regs_complete(&kernel) && repair_syscall(tid, &kernel);
}

bool
stop_read_signal(pid_t tid, siginfo_t *info)
{
	return ptrace(PTRACE_GETSIGINFO, tid, NULL, info) == 0;
}

bool
stop_awaits_trap(pid_t tid)
{
	struct __ptrace_peeksiginfo_args args = { .off = 0, .nr = 1 };
	siginfo_t info;

	/* The signal of a breakpoint is queued for the thread, behind signals that were sent before
	 * it. */
	while (ptrace(PTRACE_PEEKSIGINFO, tid, &args, &info) == 1) {
		if (breakpoint_is_hit(tid, &info))
			return true;
		args.off++;
	}
	return false;
}

bool
stop_release(pid_t tid, int status)
{
	int signo = stop_signal(status);
	siginfo_t info;

	stop_repair(tid, status);
	breakpoints_clear(tid);
	if (signo == SIGTRAP && stop_read_signal(tid, &info) && breakpoint_is_hit(tid, &info))
		signo = 0;
	return stop_resume(tid, stop_awaits_trap(tid) ? PTRACE_CONT : PTRACE_DETACH, signo);
}

static enum watch_end
read_counters(struct stop_request *request)
{
	enum watch_end look = watch_read_sched(request->watch, request->process, &request->during);

	if (look != WATCH_OK)
		request->during = request->before;
	return look;
}

/* True if the wait for a CPU that began at `began` was probably caused by wallsample. */
static bool
is_own_wake(const struct stop_request *request, uint64_t began)
{
	const uint64_t tick = request->tick_ns, *occupied = request->occupied_ns;

	if (occupied[1] == 0)
		return began >= tick - OWN_WAKE_NS && began <= tick + OWN_WAKE_NS;
	return began >= occupied[0] - STOP_ERROR_NS &&
	       began <= (tick > occupied[1] ? tick : occupied[1]);
}

/* True if a thread that was on no CPU when the CPUs were taken slept in its system call when the
 * tick was due. Outside a system call, and if it was scheduled in more than once, it waited for a
 * CPU. */
static bool
woke_after_tick(const struct stop_request *request, uint64_t began)
{
	return began > request->occupied_ns[0] + STOP_ERROR_NS && request->syscall >= 0 &&
	       request->during.switches == request->before.switches + 1;
}

/*
 * A thread that has been scheduled in since `before` was read has waited for a CPU, for the time
 * that schedstat gives. Whether it lost its CPU to wallsample is known only if request->occupied
 * says so. Else it is assumed for a wait that began when wallsample used CPUs for the tick, but not
 * in a system call that only sleeps (syscall_only_waits), because in such a call a thread was
 * probably woken. A thread that was on no CPU when the CPUs were taken, and began to wait for one
 * after the tick was due, slept until then (woke_after_tick). A thread whose sleep the stop has
 * interrupted was not waiting.
 */
enum tick_state
stop_at_tick(const struct stop_request *request, uint64_t stopped_ns)
{
	const uint64_t waited = request->during.delay_ns - request->before.delay_ns;
	const uint64_t began = stopped_ns - waited;

	if (request->during.switches == request->before.switches || request->fell_asleep ||
	    waited == 0 || request->occupied == OCCUPIED_RUNNING ||
	    request->occupied == OCCUPIED_RAN)
		return TICK_RUNNING;
	if (waited > stopped_ns)
		return TICK_QUEUED;
	if (request->occupied == OCCUPIED_NOT_RUNNING)
		return woke_after_tick(request, began) ? TICK_ASLEEP : TICK_QUEUED;
	if (syscall_only_waits(request->syscall))
		return TICK_QUEUED;
	return began < request->counters_ns && !is_own_wake(request, began) ? TICK_QUEUED :
									      TICK_RUNNING;
}

bool
stop_capture(struct stop_request *request, enum stop_kind kind)
{
	struct snapshot *snapshot = &request->snapshot;
	struct kernel_regs kernel;
	/* If the counters come from the status file (SCHED_FROM_STATUS), they are read after the
	 * registers: that file counts the thread's switch away from the CPU, which stopping it
	 * causes, only when the switch has happened. */
	bool counters_first = request->watch->source == SCHED_FROM_SCHEDSTAT;
	bool repaired = false;
	enum watch_end look = WATCH_FAILED;

	request->end = STOP_UNREADABLE;
	request->group_stopped = kind == KIND_GROUP_STOP;
	request->during = request->before;
	/*
	 * The counters come first: PTRACE_GETREGSET waits until the thread has left its CPU, so
	 * that reading them meanwhile costs nothing. Their reading also proves that a thread which
	 * stopped late belongs to the target: the descriptor is tied to the process, and a read
	 * fails when another process has reused the thread id.
	 */
	if (counters_first)
		look = read_counters(request);
	if (!read_registers(request->watch->tid, &kernel))
		return false;
	if (!kernel_regs_complete(&kernel)) {
		request->end = STOP_COMPAT32;
		return false;
	}
	request->syscall = kernel_regs_syscall(&kernel);
	/*
	 * The system call is repaired at a stop for a signal, too: a signal that the program
	 * ignores is not dropped while the thread is traced, but stops the thread and interrupts
	 * its call. If a handler of the program runs, the kernel still returns EINTR.
	 */
	request->fell_asleep = (kind == KIND_INTERRUPTED || kind == KIND_SIGNAL) &&
			       kernel_regs_cut_short(&kernel);
	if (request->fell_asleep)
		repaired = repair_syscall(request->watch->tid, &kernel);

	kernel_regs_read(&kernel, &snapshot->regs);
	snapshot->tid = request->watch->tid;
	snapshot->live_limit = 0;
	snapshot->stack_address = snapshot->regs.sp;
	snapshot->stack_wanted = request->stack_want;
	snapshot->stack_size = stack_copy(request->process, request->memory, request->watch,
					  snapshot->regs.sp, snapshot->stack, request->stack_want);
	if (request->stopped != NULL)
		request->stopped(request->context, request->watch->tid, request->snapshot.regs.sp);
	if (!counters_first)
		look = read_counters(request);
	if (look == WATCH_OK)
		request->end = STOP_CAPTURED;
	else if (look == WATCH_GONE)
		request->end = STOP_EXITED;
	return repaired;
}
