/* SPDX-License-Identifier: MIT */
/*
 * attach.c - asks the kernel whether a process may be traced, and finds out why not.
 */
#include "wallsample/process/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elf.h>

#include "process/process_internal.h"

/* Number of times that ask_kernel asks the kernel for permission, and the pause between two of them
 * in nanoseconds. */
#define ROUNDS 8
#define ROUND_PAUSE_NS 3000000L

/*
 * Largest number of checks whether another tracer has detached from the target; ROUND_PAUSE_NS lies
 * between two. Another wallsample traces for milliseconds, and in causal experiments for tens of
 * milliseconds.
 */
#define TRACED_ROUNDS 64

/* Most threads for which the kernel is asked; if it refuses all, the process cannot be traced. */
#define ATTEMPTS 8

/* The facts that decide which refusal is reported. */
struct refusal {
	const struct process *process;
	char name[TASK_NAME_SIZE]; /* command name of the target, printable */
	struct task_status target; /* status of the target */
	struct task_status own;    /* status of wallsample */
	bool may_stop;             /* wallsample will stop threads */
	/* The target is a descendant of wallsample, so ptrace_scope 1 does not forbid tracing. */
	bool descendant;
	unsigned yama_scope; /* kernel.yama.ptrace_scope; 0 also without Yama */
	int error;           /* errno of the refused request; 0: permitted */
};

/* Sets the error "process 17 (redis-server) " followed by the formatted text. */
static int __attribute__((format(printf, 4, 5)))
attach_refuse(const struct refusal *r, struct error *err, enum error_kind kind, const char *fmt,
	      ...)
{
	char text[sizeof(err->text)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return error_set(err, kind, "process %d (%s) %s", r->process->pid, r->name, text);
}

static bool
has_capability(const struct refusal *r)
{
	return r->own.cap_effective >> CAP_SYS_PTRACE & 1;
}

/* True if wallsample has CAP_SYS_PTRACE, but may not read the files below /proc/PID, which are
 * readable for their owner only. */
static bool
lacks_reading(const struct refusal *r)
{
	return has_capability(r) && r->error == EACCES &&
	       (r->own.cap_effective >> CAP_DAC_READ_SEARCH & 1) == 0 &&
	       (r->own.cap_effective >> CAP_DAC_OVERRIDE & 1) == 0;
}

static unsigned
read_setting(const char *path)
{
	uint64_t value;

	return file_read_number(AT_FDCWD, path, &value) ? (unsigned)value : 0;
}

/* --- refusals by the state of the process -------------------------------------------------- */

static int
refuse_own_family(const struct refusal *r, struct error *err)
{
	int pid = r->process->pid;
	struct lineage own;

	if (pid == getpid())
		return error_set(err, ERROR_SELF, "process %d is wallsample itself", pid);
	lineage_read(&own, getpid());
	if (lineage_holds(&own, pid))
		return attach_refuse(
			r, err, ERROR_SELF,
			"is an ancestor of wallsample: stopping it could stop wallsample "
			"too; run wallsample from elsewhere");
	return 0;
}

static int
refuse_traced(const struct refusal *r, struct error *err)
{
	char tracer[TASK_NAME_SIZE];

	/* With --nonblocking wallsample only reads /proc, which another tracer does not prevent. */
	if (r->target.tracer == 0 || !r->may_stop)
		return 0;
	return attach_refuse(
		r, err, ERROR_TRACED,
		"is already traced by process %d (%s), and a process has one tracer only; "
		"end that one first, or use --nonblocking",
		r->target.tracer, task_name_of(r->target.tracer, tracer, sizeof(tracer)));
}

/* --- reasons for the kernel's refusal: each function returns 0 when its reason does not apply - */

static int
explain_gone(const struct refusal *r, struct error *err)
{
	struct task_stat stat;

	if (!task_read_stat(r->process->dirfd, "stat", &stat))
		return attach_refuse(r, err, ERROR_NO_PROCESS, "has just ended");
	if (task_is_zombie_process(&stat))
		return attach_refuse(
			r, err, ERROR_ZOMBIE,
			"has exited and only waits for its parent, process %d, to collect "
			"it",
			stat.ppid);
	return 0;
}

/* A reason for a refusal, with a fixed text. */
struct reason {
	bool applies;
	enum error_kind kind;
	const char *text;
};

static int
explain_first(const struct refusal *r, const struct reason *reason, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++)
		if (reason[i].applies)
			return attach_refuse(r, err, reason[i].kind, "%s", reason[i].text);
	return 0;
}

/*
 * Explains a refusal by ptrace_scope 3, or by the missing capability of root in a container. Both
 * reasons are checked before those whose texts advise to use sudo, because sudo would not help
 * here.
 */
static int
explain_machine(const struct refusal *r, struct error *err)
{
	const struct reason reasons[] = {
		{ r->yama_scope >= 3, ERROR_YAMA,
		  "may not be traced: Yama (kernel.yama.ptrace_scope is 3) forbids all "
		  "tracing on this machine until the next boot; sample it on another one" },
		{ geteuid() == 0 && !has_capability(r), ERROR_NO_CAPABILITY,
		  "may not be traced: wallsample is root, but without CAP_SYS_PTRACE, as is "
		  "usual in containers; start the container with 'docker run --cap-add "
		  "SYS_PTRACE' (podman alike), in Kubernetes add SYS_PTRACE to "
		  "securityContext.capabilities.add or use 'kubectl debug "
		  "--profile=general', or sample it from the host" },
		{ lacks_reading(r), ERROR_NO_CAPABILITY,
		  "may not be read: wallsample has CAP_SYS_PTRACE, but lacks CAP_DAC_READ_SEARCH, "
		  "which it needs to read files of another user's process in /proc; give the file "
		  "wallsample both capabilities as PERMISSIONS in wallsample(1) describes" },
	};

	return explain_first(r, reasons, ARRAY_SIZE(reasons), err);
}

static int
explain_other_user(const struct refusal *r, struct error *err)
{
	char name[USER_NAME_SIZE];

	if (has_capability(r) || r->target.uid == getuid())
		return 0;
	return attach_refuse(
		r, err, ERROR_OTHER_USER,
		"belongs to user %s (%u), not to you; run wallsample as that user or with "
		"sudo",
		user_name(r->target.uid, name), (unsigned)r->target.uid);
}

/*
 * Returns true when the process, which must belong to wallsample's user, is not dumpable: then root
 * owns the files below /proc/PID (task_dump_owner in fs/proc/base.c), though not the directory.
 */
static bool
is_not_dumpable(const struct refusal *r)
{
	struct stat st;

	return fstatat(r->process->dirfd, "syscall", &st, 0) == 0 && st.st_uid != geteuid();
}

static int
explain_protection(const struct refusal *r, struct error *err)
{
	const bool capable = has_capability(r);
	const struct reason reasons[] = {
		{ !capable && r->yama_scope == 1 && !r->descendant, ERROR_YAMA,
		  "may not be traced: Yama (kernel.yama.ptrace_scope is 1) lets you "
		  "trace only what you started; run wallsample with sudo, let it "
		  "start the program (wallsample -- CMD), or give the file "
		  "wallsample capabilities as PERMISSIONS in wallsample(1) describes" },
		{ !capable && r->yama_scope == 2, ERROR_YAMA,
		  "may not be traced: Yama (kernel.yama.ptrace_scope is 2) leaves tracing "
		  "to the administrator; run wallsample with sudo, or give the file "
		  "wallsample capabilities as PERMISSIONS in wallsample(1) describes" },
		{ !capable && is_not_dumpable(r), ERROR_NOT_DUMPABLE,
		  "is yours but protected: it is a setuid program, or one with capabilities, "
		  "or has asked for it with prctl(PR_SET_DUMPABLE); run wallsample with sudo" },
		{ r->own.seccomp == 2, ERROR_SECCOMP,
		  "may not be traced: a seccomp filter is in force on wallsample itself, as "
		  "in a sandbox or a container; run it outside, or start the container with "
		  "a profile that allows ptrace and process_vm_readv (with Docker, --cap-add "
		  "SYS_PTRACE does)" },
		{ read_setting("/sys/fs/selinux/booleans/deny_ptrace") == 1, ERROR_NOT_PERMITTED,
		  "may not be traced: SELinux denies it (the boolean deny_ptrace is on); ask "
		  "the administrator" },
	};

	return explain_first(r, reasons, ARRAY_SIZE(reasons), err);
}

static int
explain_nothing(const struct refusal *r, struct error *err)
{
	return attach_refuse(
		r, err, ERROR_NOT_PERMITTED,
		"may not be traced: %s; it may be in another user namespace, have a tracer "
		"that is not visible from here, or be guarded by a security module; %s",
		strerror(r->error),
		has_capability(r) ? "try from the host's own namespaces" :
				    "run wallsample with sudo");
}

/* Explanations of a refusal, in order of precedence: the first that applies is reported. */
static int (*const explanations[])(const struct refusal *, struct error *) = {
	explain_gone,       refuse_traced,      explain_machine,
	explain_other_user, explain_protection, explain_nothing,
};

static int
explain(struct refusal *r, struct error *err)
{
	int rc = 0;

	/* A tracer may have attached since the first check. */
	task_read_status(r->process->dirfd, &r->target);
	for (size_t i = 0; i < ARRAY_SIZE(explanations) && rc == 0; i++)
		rc = explanations[i](r, err);
	return rc;
}

/* Reads the statuses of the target and of wallsample, and Yama's setting. */
static void
refusal_init(struct refusal *r, const struct process *process)
{
	struct lineage lineage;
	int self = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	memset(r, 0, sizeof(*r));
	r->process = process;
	task_printable(process->comm, r->name, sizeof(r->name));
	task_read_status(process->dirfd, &r->target);
	if (self >= 0) {
		task_read_status(self, &r->own);
		close(self);
	}
	lineage_read(&lineage, process->pid);
	r->descendant = lineage_holds(&lineage, getpid());
	r->yama_scope = read_setting("/proc/sys/kernel/yama/ptrace_scope");
}

/* --- the kernel's permission ----------------------------------------------------- */

/*
 * Refuses a 32-bit program: its registers and system call numbers differ, so that system calls
 * interrupted by a stop could not be restarted. If the target execs a 32-bit program later, the
 * tracer reports STOP_COMPAT32 (tracer.h).
 */
static int
refuse_foreign(const struct refusal *r, struct error *err)
{
	unsigned char header[EI_NIDENT];
	int fd = process_open_file(r->process, "exe", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, header, sizeof(header));
	close(fd);
	if (n < (ssize_t)sizeof(header) || memcmp(header, ELFMAG, SELFMAG) != 0 ||
	    header[EI_CLASS] == ELFCLASS64)
		return 0;
	return attach_refuse(r, err, ERROR_FOREIGN,
			     "is a 32-bit program; wallsample samples 64-bit programs of its own "
			     "architecture");
}

static bool
is_alive(const struct process *process, pid_t tid)
{
	struct task_stat stat;

	return process_read_task_stat(process, tid, &stat) && stat.state != 'Z' &&
	       stat.state != 'X';
}

static int
ask_about(const struct refusal *r, pid_t tid)
{
	int error = attach_probe_read(r->process, tid);

	/*
	 * The child that tries to seize the thread is not an ancestor of a target that wallsample
	 * has started, so Yama would refuse it if ptrace_scope is 1. The read above has checked the
	 * same permission.
	 */
	if (error == 0 && r->may_stop && !r->descendant)
		error = attach_probe_seize(tid);
	return error;
}

/*
 * Returns 0 when one living thread may be traced, else an errno. Tries several threads: the kernel
 * refuses an exiting thread with EPERM, too, and the first thread may have ended.
 */
static int
ask_threads(const struct refusal *r)
{
	pid_t *tids = NULL;
	size_t capacity = 0, count = process_list_threads(r->process, &tids, &capacity);
	int error = ESRCH;

	for (size_t i = 0, asked = 0; i < count && asked < ATTEMPTS && error != 0; i++) {
		if (!is_alive(r->process, tids[i]))
			continue;
		error = ask_about(r, tids[i]);
		asked++;
		if (error == ETIMEDOUT)
			break;
	}
	free(tids);
	return error;
}

/*
 * Returns 0 when the process may be traced, else an errno. Repeats a refused attempt for some
 * milliseconds: during an exec the kernel refuses with the same error as without permission.
 */
static int
ask_kernel(const struct refusal *r)
{
	const struct timespec pause = { .tv_nsec = ROUND_PAUSE_NS };
	int error = ask_threads(r);

	for (int round = 1; round < ROUNDS && (error == EPERM || error == ESRCH); round++) {
		nanosleep(&pause, NULL);
		error = ask_threads(r);
	}
	return error;
}

/* Waits until the target has no tracer, or *rounds checks were made. Subtracts the number of checks
 * from *rounds. */
static void
await_tracer(struct refusal *r, int *rounds)
{
	const struct timespec pause = { .tv_nsec = ROUND_PAUSE_NS };

	for (; *rounds > 0 && r->target.tracer != 0; (*rounds)--) {
		nanosleep(&pause, NULL);
		task_read_status(r->process->dirfd, &r->target);
	}
}

/*
 * Waits until the target has no tracer, then asks the kernel for permission; does both again if the
 * kernel refused because a tracer, perhaps another wallsample, attached meanwhile. Sets r->error to
 * the kernel's answer. Returns 0, or a negative error when a tracer remains attached.
 */
static int
ask_between_tracers(struct refusal *r, struct error *err)
{
	int rounds = TRACED_ROUNDS, rc = 0;

	do {
		if (r->may_stop)
			await_tracer(r, &rounds);
		rc = refuse_traced(r, err);
		if (rc != 0)
			return rc;
		r->error = ask_kernel(r);
		rounds -= ROUNDS;
		task_read_status(r->process->dirfd, &r->target);
	} while (r->error == EPERM && r->may_stop && r->target.tracer != 0);
	return 0;
}

int
attach_check(const struct process *process, bool may_stop, struct error *err)
{
	struct refusal r;
	int rc;

	refusal_init(&r, process);
	r.may_stop = may_stop;
	rc = refuse_own_family(&r, err);
	if (rc == 0)
		rc = refuse_foreign(&r, err);
	if (rc == 0)
		rc = ask_between_tracers(&r, err);
	if (rc != 0)
		return rc;
	if (r.error == 0)
		return 0;
	if (r.error == ETIMEDOUT)
		return attach_refuse(
			&r, err, ERROR_SYSTEM,
			"does not let itself be traced at the moment: it may be in the "
			"middle of an exec that cannot complete; try again");
	if (r.error != EPERM && r.error != EACCES && r.error != ESRCH)
		return attach_refuse(&r, err, ERROR_SYSTEM, "cannot be asked about tracing: %s",
				     strerror(r.error));
	return explain(&r, err);
}
