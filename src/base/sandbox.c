/* SPDX-License-Identifier: MIT */
/* sandbox.c - capabilities, resource limits and a seccomp filter. */
#include "wallsample/base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sandbox_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/base/capability.h"
#include "wallsample/base/proc_memory.h"

/* Missing in headers before Linux 5.9; the number is the same on all architectures. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define OWN_FILES "/proc/self/fd/"
#define MEMORY_FILE "/proc/meminfo"

/* Descriptor of /proc/meminfo, which was opened before the filter was set. */
static int memory_file = -1;

/* --- system calls --------------------------------------------------------------------------- */

/* System calls that are permitted. Some architectures lack the last ones. */
static const int permitted[] = {
	SYS_brk,
	SYS_clock_gettime,
	SYS_clock_nanosleep,
	SYS_close,
	SYS_dup,
	SYS_exit,
	SYS_exit_group,
	SYS_fstat,
	SYS_ftruncate,
	SYS_futex,
	SYS_getpid,
	SYS_getrandom,
	SYS_gettid,
	SYS_lseek,
	SYS_madvise,
	SYS_memfd_create,
	SYS_mincore,
	SYS_mmap,
	SYS_mprotect,
	SYS_mremap,
	SYS_munmap,
	SYS_newfstatat,
	SYS_ppoll,
	SYS_pread64,
	SYS_preadv2,
	SYS_read,
	SYS_readlinkat,
	SYS_recvmsg,
	SYS_rt_sigprocmask,
	SYS_rseq,
	SYS_rt_sigreturn,
	SYS_sched_getaffinity,
	SYS_sched_yield,
	SYS_sendfile,
	SYS_sendmsg,
	SYS_set_robust_list,
	SYS_sigaltstack,
	SYS_write,
	SYS_writev,
#ifdef SYS_statx
	SYS_statx,
#endif
#ifdef SYS_poll
	SYS_poll,
#endif
#ifdef SYS_readlink
	SYS_readlink,
#endif
};

/* System calls that raise SIGSYS: open_own() does them as far as it permits them. */
static const int opening[] = {
	SYS_openat,
#ifdef SYS_open
	SYS_open,
#endif
};

/* Commands of fcntl(2) that are permitted. F_SETOWN and F_SETSIG are not: the kernel would send
 * signals to any process. */
static const int commands[] = {
	F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_ADD_SEALS, F_GET_SEALS,
};

#define COUNT (ARRAY_SIZE(permitted) + ARRAY_SIZE(opening) + ARRAY_SIZE(commands))
/* Number of the other instructions of the filter: 4 at its beginning, 7 for clone3 and clone, 3 for
 * fcntl, 1 at its end. */
#define FIXED 15
/* Offset of a member in what a filter sees: seccomp(2). */
#define DATA(member) ((uint32_t)offsetof(struct seccomp_data, member))

/* Appends an instruction that continues with the next one if the loaded value is `value`, and else
 * skips the next one. */
static void
add_test(struct sock_filter *code, size_t *count, uint32_t value)
{
	code[(*count)++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
}

static void
add_return(struct sock_filter *code, size_t *count, uint32_t result)
{
	code[(*count)++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, result);
}

static void
add_load(struct sock_filter *code, size_t *count, uint32_t offset)
{
	code[(*count)++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset);
}

/* Appends a test of the system call: if it has another number, the `size` instructions for it are
 * skipped. */
static void
add_case(struct sock_filter *code, size_t *count, uint32_t number, uint8_t size)
{
	code[(*count)++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, size);
}

/*
 * Appends the rules for system calls that are permitted with some arguments only. A thread may be
 * made, but no process: the demangler runs on the stack of another thread. clone3(2), whose
 * arguments a filter cannot read, fails with ENOSYS, so that the C library uses clone(2). All flags
 * and commands that are tested fit into 32 bits, so only the low halves are compared.
 */
static void
add_arguments(struct sock_filter *code, size_t *count)
{
	add_case(code, count, SYS_clone3, 1);
	add_return(code, count, SECCOMP_RET_ERRNO | ENOSYS);
	add_case(code, count, SYS_clone, 4);
	add_load(code, count, DATA(args[0]));
	code[(*count)++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0,
							1);
	add_return(code, count, SECCOMP_RET_ALLOW);
	add_return(code, count, SECCOMP_RET_ERRNO | EPERM);
	add_case(code, count, SYS_fcntl, 2 + 2 * ARRAY_SIZE(commands));
	add_load(code, count, DATA(args[1]));
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		add_test(code, count, (uint32_t)commands[i]);
		add_return(code, count, SECCOMP_RET_ALLOW);
	}
	add_return(code, count, SECCOMP_RET_ERRNO | EPERM);
}

/* Installs the filter; returns false if the kernel refuses it. A system call of another
 * architecture (32-bit code on x86-64), which has other numbers, kills the process. */
static bool
set_filter(void)
{
	struct sock_filter code[2 * COUNT + FIXED];
	struct sock_fprog program = { .filter = code };
	size_t count = 0;

	add_load(code, &count, DATA(arch));
	code[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, sandbox_arch, 1, 0);
	add_return(code, &count, SECCOMP_RET_KILL_PROCESS);
	add_load(code, &count, DATA(nr));
	for (size_t i = 0; i < ARRAY_SIZE(permitted); i++) {
		add_test(code, &count, (uint32_t)permitted[i]);
		add_return(code, &count, SECCOMP_RET_ALLOW);
	}
	for (size_t i = 0; i < ARRAY_SIZE(opening); i++) {
		add_test(code, &count, (uint32_t)opening[i]);
		add_return(code, &count, SECCOMP_RET_TRAP);
	}
	add_arguments(code, &count);
	add_return(code, &count, SECCOMP_RET_ERRNO | EPERM);
	program.len = (unsigned short)count;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

/* --- files ---------------------------------------------------------------------------------- */

/* Returns a new descriptor for /proc/self/fd/N or /proc/meminfo; a negative error number if that
 * fails, -EACCES for every other path. */
static int
open_own(const char *path)
{
	const bool own = strncmp(path, OWN_FILES, strlen(OWN_FILES)) == 0;
	const char *digits = own ? path + strlen(OWN_FILES) : "";
	int fd = -EACCES;
	uint64_t number;

	if (own && parse_u64(&digits, 10, &number) && number <= INT32_MAX)
		fd = fcntl((int)number, F_DUPFD_CLOEXEC, 0);
	else if (strcmp(path, MEMORY_FILE) == 0 && lseek(memory_file, 0, SEEK_SET) == 0)
		fd = fcntl(memory_file, F_DUPFD_CLOEXEC, 0);
	return fd == -1 ? -errno : fd;
}

static void
on_sigsys(int number, siginfo_t *info, void *context)
{
	const int saved = errno;
	const unsigned index = info->si_syscall == SYS_openat ? 1 : 0;
	const char *path = (const char *)(uintptr_t)sandbox_argument(context, index);

	(void)number;
	sandbox_set_result(context, open_own(path));
	errno = saved;
}

static void
handle_opens(void)
{
	struct sigaction action = { .sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO };
	sigset_t set;

	memory_file = open(MEMORY_FILE, O_RDONLY | O_CLOEXEC);
	sigemptyset(&action.sa_mask);
	sigaction(SIGSYS, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGSYS);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static int
compare_numbers(const void *a, const void *b)
{
	const int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/* Closes the descriptors from `first` to `last`. */
static void
close_between(unsigned first, unsigned last)
{
	const long most = sysconf(_SC_OPEN_MAX);

	if (first > last)
		return;
	if (syscall(SYS_close_range, first, last, 0) == 0)
		return;
	for (unsigned fd = first; fd <= last && (long)fd < most; fd++)
		close((int)fd);
}

void
sandbox_keep_only(int *kept, size_t count)
{
	unsigned next = 0;

	if (count > 0)
		qsort(kept, count, sizeof(*kept), compare_numbers);
	for (size_t i = 0; i < count; i++) {
		if (kept[i] < 0)
			continue;
		if (kept[i] > 0)
			close_between(next, (unsigned)kept[i] - 1);
		next = (unsigned)kept[i] + 1;
	}
	close_between(next, UINT32_MAX);
}

/* --- limits --------------------------------------------------------------------------------- */

static void
limit(int resource, uint64_t most)
{
	struct rlimit old, new;

	if (getrlimit((__rlimit_resource_t)resource, &old) != 0)
		return;
	new.rlim_max = (rlim_t)most < old.rlim_max ? (rlim_t)most : old.rlim_max;
	new.rlim_cur = new.rlim_max < old.rlim_cur ? new.rlim_max : old.rlim_cur;
	(void)setrlimit((__rlimit_resource_t)resource, &new);
}

bool
sandbox_enter(const struct sandbox_limits *limits)
{
	const uint64_t space = memory_field("/proc/self/status", "VmSize:");

	handle_opens();
	if (limits->memory != 0 && space != UINT64_MAX)
		limit(RLIMIT_AS, space + limits->memory);
	if (limits->cpu_s != 0)
		limit(RLIMIT_CPU, limits->cpu_s);
	limit(RLIMIT_CORE, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	capability_drop_all();
	return set_filter();
}
