/* SPDX-License-Identifier: MIT */
/*
 * error.h - the one error type that modules return.
 *
 * A function that can fail takes a `struct error *` last and returns 0, or a
 * negative enum error_kind after error_set() has filled in one sentence that
 * says what failed, on what, and what to do about it. Modules return errors;
 * only the command prints them.
 */
#ifndef WALLSAMPLE_BASE_ERROR_H
#define WALLSAMPLE_BASE_ERROR_H

/*
 * X(name, exit status). The status is what the command exits with when this
 * error ends it: 2 nothing sampled, 3 not permitted, 64 usage (sysexits.h).
 */
#define ERROR_KINDS(X)                                                                             \
	X(USAGE, 64)        /* usage error: invalid options or arguments */                        \
	X(NO_PROCESS, 2)    /* no such process, or it has exited */                                \
	X(IS_THREAD, 2)     /* a thread id where a process id is needed */                         \
	X(ZOMBIE, 2)        /* the process has exited and is not reaped yet */                     \
	X(KERNEL, 3)        /* a kernel thread: it has no user stack */                            \
	X(FOREIGN, 3)       /* a program of another architecture: 32-bit code */                   \
	X(SELF, 3)          /* wallsample itself or one of its ancestors */                        \
	X(TRACED, 3)        /* another process traces it */                                        \
	X(OTHER_USER, 3)    /* another user's process */                                           \
	X(NO_CAPABILITY, 3) /* no CAP_SYS_PTRACE, usually in a container */                        \
	X(YAMA, 3)          /* the Yama security module forbids it */                              \
	X(NOT_DUMPABLE, 3)  /* prctl(PR_SET_DUMPABLE) or a setuid program */                       \
	X(SECCOMP, 3)       /* a seccomp filter on wallsample itself */                            \
	X(NOT_PERMITTED, 3) /* refused by the kernel for an unknown reason */                      \
	X(NO_MATCH, 2)      /* --name matches no process */                                        \
	X(AMBIGUOUS, 64)    /* --name matches several processes */                                 \
	X(EXEC, 2)          /* the command to run could not be started */                          \
	X(OUTPUT, 2)        /* the output cannot be written */                                     \
	X(SYSTEM, 2)        /* a system call failed: see the text */                               \
	X(FORMAT, 2)        /* a file is malformed */

enum error_kind {
	ERROR_NONE = 0,
#define X(name, status) ERROR_##name,
	ERROR_KINDS(X) ERROR_KIND_COUNT
#undef X
};

struct error {
	enum error_kind kind;
	char text[768]; /* one or more sentences, no newline at the end */
};

/* Fills *err (which may be NULL) and returns -kind. */
int error_set(struct error *err, enum error_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The exit status that belongs to the kind; 0 for ERROR_NONE. */
int error_exit_status(enum error_kind kind);

/* "NO_PROCESS" for ERROR_NO_PROCESS: for tests and logs. */
const char *error_kind_name(enum error_kind kind);

#endif
