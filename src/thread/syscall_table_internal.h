/* SPDX-License-Identifier: MIT */
/* syscall_table_internal.h - names and attributes of the system calls of one architecture. */
#ifndef WALLSAMPLE_THREAD_SYSCALL_TABLE_INTERNAL_H
#define WALLSAMPLE_THREAD_SYSCALL_TABLE_INTERNAL_H

#include <stddef.h>

#include "wallsample/thread/state.h"

/*
 * BREAKS: a stop by a tracer ends the call with EINTR although no signal handler of the program has
 * run, so that the tracer must have the kernel restart the call. Measured on Linux 6.18 for
 * epoll_*wait, semop, semtimedop, rt_sigtimedwait, io_getevents, and for socket calls with a
 * SO_RCVTIMEO or SO_SNDTIMEO, which include read and write when the descriptor is a socket. The
 * other calls with BREAKS were not measured: they use the same kernel code as one of these calls.
 * Calls without BREAKS restart by themselves, except close(2), which must not be restarted at all.
 */
#define BREAKS 1

/* SLEEPS: the call blocks in interruptible sleep (S), so that /proc/PID/task/TID/stat need not be
 * read to distinguish that from uninterruptible sleep (D). */
#define SLEEPS 2

/*
 * TIMED: the call has BREAKS and waits for events, often with a time-out, which begins again when
 * the call is restarted. While a thread sleeps in a call with TIMED, it is not stopped merely to
 * read registers for a better stack.
 */
#define TIMED 4

/* WORKS: only with SLEEPS: the call also does work, so that a runnable thread in it may be
 * executing it. In a call with SLEEPS but without WORKS, a runnable thread has just woken. */
#define WORKS 8

/* FILE_D: an uninterruptible sleep (D) in the call is for the data or the metadata of a file.
 * Calls that only map memory, make processes or control devices do not have it. */
#define FILE_D 16

/* FILE_ANY: any sleep in the call, also an interruptible one, is for a file: unlike read(2), the
 * call is not for sockets and pipes. */
#define FILE_ANY (32 | FILE_D)

/* FILE_LOCK: an interruptible sleep in the call is for a lock of a file. */
#define FILE_LOCK 64

/* The calls that all architectures have and that have attributes, as X(NR_name, attributes). */
/* clang-format off */
#define SYSCALL_ATTRIBUTES(X) \
	X(NR_read, BREAKS | FILE_D) X(NR_write, BREAKS | FILE_D) \
	X(NR_readv, BREAKS | FILE_D) X(NR_writev, BREAKS | FILE_D) \
	X(NR_nanosleep, SLEEPS) X(NR_connect, BREAKS | SLEEPS) X(NR_accept, BREAKS | SLEEPS) \
	X(NR_sendto, BREAKS | SLEEPS | WORKS) X(NR_recvfrom, BREAKS | SLEEPS) \
	X(NR_sendmsg, BREAKS | SLEEPS | WORKS) X(NR_recvmsg, BREAKS | SLEEPS) \
	X(NR_wait4, SLEEPS) X(NR_semop, BREAKS | TIMED | SLEEPS) X(NR_msgrcv, SLEEPS) \
	X(NR_flock, SLEEPS | FILE_D | FILE_LOCK) X(NR_fcntl, FILE_LOCK) \
	X(NR_rt_sigtimedwait, BREAKS | TIMED | SLEEPS) \
	X(NR_rt_sigsuspend, SLEEPS) X(NR_futex, SLEEPS) \
	X(NR_io_getevents, BREAKS | TIMED | SLEEPS | FILE_ANY) X(NR_restart_syscall, SLEEPS) \
	X(NR_semtimedop, BREAKS | TIMED | SLEEPS) X(NR_clock_nanosleep, SLEEPS) \
	X(NR_mq_timedsend, SLEEPS) X(NR_mq_timedreceive, SLEEPS) X(NR_waitid, SLEEPS) \
	X(NR_pselect6, SLEEPS) X(NR_ppoll, SLEEPS) X(NR_epoll_pwait, BREAKS | TIMED | SLEEPS) \
	X(NR_accept4, BREAKS | SLEEPS) X(NR_recvmmsg, BREAKS | SLEEPS) X(NR_sendmmsg, BREAKS) \
	X(NR_io_pgetevents, BREAKS | TIMED | SLEEPS | FILE_ANY) \
	X(NR_io_uring_enter, BREAKS | TIMED | FILE_D) \
	X(NR_epoll_pwait2, BREAKS | TIMED | SLEEPS) X(NR_futex_waitv, SLEEPS) \
	X(NR_futex_wait, SLEEPS) \
	X(NR_fsync, FILE_ANY) X(NR_fdatasync, FILE_ANY) X(NR_sync, FILE_ANY) \
	X(NR_syncfs, FILE_ANY) X(NR_sync_file_range, FILE_ANY) X(NR_msync, FILE_ANY) \
	X(NR_pread64, FILE_ANY) X(NR_pwrite64, FILE_ANY) X(NR_preadv, FILE_ANY) \
	X(NR_pwritev, FILE_ANY) X(NR_preadv2, FILE_ANY) X(NR_pwritev2, FILE_ANY) \
	X(NR_copy_file_range, FILE_ANY) X(NR_fallocate, FILE_ANY) X(NR_ftruncate, FILE_ANY) \
	X(NR_truncate, FILE_D) X(NR_fadvise64, FILE_D) X(NR_readahead, FILE_D) \
	X(NR_sendfile, FILE_D) X(NR_splice, FILE_D) X(NR_io_submit, FILE_D) \
	X(NR_openat, FILE_D) X(NR_openat2, FILE_D) X(NR_close, FILE_D) X(NR_lseek, FILE_D) \
	X(NR_newfstatat, FILE_D) X(NR_fstat, FILE_D) X(NR_statx, FILE_D) \
	X(NR_statfs, FILE_D) X(NR_fstatfs, FILE_D) X(NR_getdents64, FILE_D) \
	X(NR_faccessat, FILE_D) X(NR_faccessat2, FILE_D) X(NR_readlinkat, FILE_D) \
	X(NR_unlinkat, FILE_D) X(NR_renameat, FILE_D) X(NR_renameat2, FILE_D) \
	X(NR_mkdirat, FILE_D) X(NR_mknodat, FILE_D) X(NR_linkat, FILE_D) \
	X(NR_symlinkat, FILE_D) X(NR_chdir, FILE_D) X(NR_utimensat, FILE_D) \
	X(NR_fchmod, FILE_D) X(NR_fchmodat, FILE_D) X(NR_fchown, FILE_D) \
	X(NR_fchownat, FILE_D) X(NR_getxattr, FILE_D) X(NR_lgetxattr, FILE_D) \
	X(NR_fgetxattr, FILE_D) X(NR_setxattr, FILE_D) X(NR_lsetxattr, FILE_D) \
	X(NR_fsetxattr, FILE_D) X(NR_listxattr, FILE_D) X(NR_llistxattr, FILE_D) \
	X(NR_flistxattr, FILE_D) X(NR_removexattr, FILE_D) X(NR_lremovexattr, FILE_D) \
	X(NR_fremovexattr, FILE_D)
/* clang-format on */

/*
 * Macros to use as X: the first two when syscall_names_ARCH.def is included, for enumerators
 * NR_NAME and for an array of names; the third with SYSCALL_ATTRIBUTES, for an array of attributes.
 * The arrays are indexed by the number of the call.
 */
#define SYSCALL_NUMBER(number, name) name = (number),
#define SYSCALL_NAME(number, name) [number] = &#name[sizeof("NR_") - 1],
#define SYSCALL_ATTRIBUTE(name, attributes) [name] = (attributes),

struct syscall_table { /* both arrays have `count` elements, indexed by the number of the call */
	const char *const *name; /* NULL: the kernel has no call of this number */
	const unsigned char *attributes;
	size_t count;
};

/* Defined by the file of the architecture. */
extern const struct syscall_table syscall_table;

/* Returns the system call number that the first of the two instructions in `code` loads, if the
 * second makes the call; SYSCALL_UNKNOWN when they are other instructions. */
long syscall_decode(const unsigned char code[SYSCALL_CODE_SIZE]);

#endif
