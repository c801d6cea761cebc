/* SPDX-License-Identifier: MIT */
/*
 * state.h - the state of a thread, read from /proc without affecting it.
 *
 * A struct watch holds descriptors on a thread's files in /proc and reads them
 * with pread: 0.5 to 1.5 us for the scheduler's counters, 1.4 to 3.5 us for
 * the system call.
 *
 * Invariant: a thread that was asleep when its count of switches was read (struct sched.switches,
 * times scheduled in) has executed nothing, and its stack is unchanged, while the count is the
 * same.
 */
#ifndef WALLSAMPLE_THREAD_STATE_H
#define WALLSAMPLE_THREAD_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/base/base.h"
#include "wallsample/process/process.h"

/* The states of threads and green tasks (green_task.h): X(name, text, letter). Reports and the
 * option --state use both the text and the letter. */
#define RUN_STATES(X)                                                                              \
	X(RUNNING, "running", 'R')                 /* on a CPU */                                  \
	X(QUEUED, "waiting for a CPU", 'Q')        /* runnable, no CPU for it */                   \
	X(SLEEPING, "sleeping", 'S')               /* in an interruptible sleep */                 \
	X(UNINTERRUPTIBLE, "uninterruptible", 'D') /* in a sleep that no signal ends */            \
	X(STOPPED, "stopped", 'T')                 /* by a job-control signal or a tracer */       \
	X(READY, "ready", 'Y')                     /* a runnable green task, not on a thread */    \
	X(UNKNOWN, "unknown", '?') /* for example, the thread exited before it was read */

enum run_state {
#define X(name, text, letter) RUN_##name,
	RUN_STATES(X) RUN_STATE_COUNT
#undef X
};

const char *run_state_text(enum run_state state);
/* Adds a text such as "sleeping in futex", "running", or "parked" for SYSCALL_GREEN. */
void run_state_add(struct strbuf *out, enum run_state state, int32_t syscall);
char run_state_letter(enum run_state state);
/* Parses a letter of either case, the text, or "disk", an earlier text of UNINTERRUPTIBLE. Returns
 * false if there is no such state. */
bool run_state_parse(const char *text, enum run_state *state);
/* True for RUNNING and QUEUED. */
bool run_state_runnable(enum run_state state);

/* The scheduler's counters of one thread. */
struct sched {
	/* Time on a CPU. While the thread runs, the kernel updates it only at each scheduler tick
	 * (4 ms at 250 Hz). Always 0 with SCHED_FROM_STATUS (enum sched_source). */
	uint64_t cpu_ns;
	uint64_t delay_ns; /* time waiting for a CPU; always 0 with SCHED_FROM_STATUS */
	/* Number of times scheduled in: the kernel's pcount. With SCHED_FROM_STATUS: number of
	 * times scheduled out. */
	uint64_t switches;
};

/* True if the thread has run between two readings of its counters. */
static inline bool
sched_differ(const struct sched *a, const struct sched *b)
{
	return a->cpu_ns != b->cpu_ns || a->switches != b->switches;
}

/* In place of a system call number: the thread is in no system call. If it sleeps, it sleeps in an
 * exception, such as a page fault. */
#define SYSCALL_NONE (-1L)
/*
 * In place of a system call number: the number is not known. Either restart_syscall(2) hides it,
 * and neither an earlier observation nor the code or the arguments of the thread have shown it; or
 * the thread was read in a stop on aarch64, where the registers do not have it.
 */
#define SYSCALL_UNKNOWN (-2L)
/* In place of a system call number, for a sleeping green task (green_task.h): the
 * task is not on a thread, and so in no system call. */
#define SYSCALL_GREEN (-3L)

struct syscall_info {
	bool running; /* the thread was runnable: the other members are not valid */
	long number;  /* SYSCALL_NONE outside a system call */
	uint64_t args[6];
	uint64_t sp, pc; /* registers of user space; 0 for a thread that is exiting */
};

/* The file from which struct sched is read. sched_source_probe chooses it by reading the schedstat
 * of wallsample itself. */
enum sched_source {
	SCHED_FROM_SCHEDSTAT, /* /proc/…/schedstat: the usual source */
	SCHED_FROM_STATUS, /* /proc/…/status: reading takes 10 times as long; has no durations */
};
enum sched_source sched_source_probe(void);

struct watch {
	pid_t tid;
	int sched_fd, syscall_fd, switch_fd; /* -1 while not open */
	enum sched_source source;
	bool keep_open; /* descriptors stay open between reads */
	/* [start, end) of the mapping that contained the stack pointer when the stack was last
	 * copied; empty: not known. */
	uint64_t stack_start, stack_end;
};

/* Initialises the watch without opening files. `keep_open` is false when descriptors are scarce:
 * each read then opens and closes its file. */
void watch_init(struct watch *watch, pid_t tid, enum sched_source source, bool keep_open);
/* Closes the descriptors; the watch may be used again. */
void watch_release(struct watch *watch);

/* Result of a read. */
enum watch_end {
	WATCH_OK,
	WATCH_GONE,   /* the thread has exited (ESRCH, ENOENT) */
	WATCH_DENIED, /* the thread is exiting, or reading is not permitted (EPERM, EACCES) */
	WATCH_MOVING, /* the thread slept or woke during the read (EAGAIN): to be read again */
	WATCH_FAILED, /* any other error, bad text included */
};

enum watch_end watch_read_sched(struct watch *watch, const struct process *process,
				struct sched *out);
enum watch_end watch_read_syscall(struct watch *watch, const struct process *process,
				  struct syscall_info *out);

/*
 * Reads the moment of a thread's last switch, "se.exec_start" in its file "sched": for a thread
 * that is not on a CPU, when it left its CPU; for one that has just got a CPU, when it got it. A
 * thread that gets a CPU from another one has the same value as that one, because the kernel
 * reads its clock once for a switch. The value grows while a thread runs. Unit: ns of the clock
 * of the CPU's run queue, which differs between CPUs where a hypervisor takes CPU time. Returns
 * false if the value cannot be read: before Linux 6.15 only kernels with CONFIG_SCHED_DEBUG have
 * it.
 */
bool watch_read_switch(struct watch *watch, const struct process *process, uint64_t *switched_ns);
/* True if the thread is runnable; false also if its state cannot be read. Takes less time than
 * watch_read_syscall. */
bool watch_is_runnable(struct watch *watch, const struct process *process);

/* Parsers of the files "schedstat", "status", "sched" and "syscall" of a thread, public for tests.
 * They return false for malformed text. */
bool sched_parse_schedstat(const char *text, struct sched *out);
bool sched_parse_status(const char *text, struct sched *out);
bool switch_parse(const char *text, uint64_t *switched_ns);
/* Size for the first lines of the file "sched", of which switch_parse uses the third. */
#define SWITCH_TEXT_SIZE 512
bool syscall_parse(const char *text, struct syscall_info *out);

/* --- the system calls of this architecture ------------------------------------------------ */

/* Returns NULL if there is no call of this number. */
const char *syscall_name(long number);
/* Returns SYSCALL_UNKNOWN if there is no call of this name. */
long syscall_number(const char *name);
/*
 * True when a stop by a tracer makes this call return EINTR to the program (measured, see BREAKS in
 * syscall_table_internal.h): the tracer then has to make the kernel restart the call.
 */
bool syscall_breaks_on_stop(long number);
/* True when a stop in this call should be avoided: the tracer can have the call restarted, but its
 * time-out would then begin again. */
bool syscall_minds_a_stop(long number);
/* True when a sleep in this call is always interruptible (state S). */
bool syscall_sleeps_interruptible(long number);
/* True when a sleep in this call is always interruptible and the call does hardly any work: a
 * runnable thread in it has just woken. */
bool syscall_only_waits(long number);
/*
 * True when a thread that sleeps in this call, in the state SLEEPING or UNINTERRUPTIBLE, waits for
 * the data or the metadata of a file. In interruptible sleep, calls that are also for sockets and
 * pipes, such as read(2), do not count. False for other states and for SYSCALL_NONE.
 */
bool syscall_waits_for_file(long number, enum run_state state);
/* True when a thread that sleeps in this call, in the state SLEEPING, waits for a lock of a file:
 * in flock(2), or in fcntl(2), which does not sleep otherwise. */
bool syscall_waits_for_file_lock(long number, enum run_state state);
/* True for restart_syscall(2), which hides the number of the call that is being restarted. */
bool syscall_is_restart(long number);
/*
 * Returns the number of the call that restart_syscall hides. `code` has the bytes before the
 * program counter. They are usually two instructions of the C library, which load the number and
 * make the call. Returns SYSCALL_UNKNOWN for all other instructions.
 */
#define SYSCALL_CODE_SIZE 8
long syscall_from_code(const unsigned char code[SYSCALL_CODE_SIZE]);
/*
 * Returns the number of the call that restart_syscall hides, inferred from its arguments, which a
 * restart does not change. Needed for C libraries in which one function makes all calls, with the
 * number in a variable (glibc since 2.41, musl). Linux restarts only futex, poll and relative
 * sleeps in this way. Returns SYSCALL_UNKNOWN when the arguments fit none of these calls.
 */
long syscall_from_args(const uint64_t args[6]);

/* Returns the state for a letter of proc_pid_stat(5): RUN_RUNNING for R, RUN_UNKNOWN for a letter
 * that is not known. */
enum run_state run_state_from_letter(char letter);

#endif
