/* SPDX-License-Identifier: MIT */
/*
 * error.h - the error type of all modules.
 *
 * A function that can fail takes a `struct error *` as its last argument. It returns 0, or fills in
 * the error with error_set() and returns a negative enum error_kind. The text says what failed, on
 * what, and what to do. Only commands (src/cli) print errors.
 */
#ifndef WALLSAMPLE_BASE_ERROR_H
#define WALLSAMPLE_BASE_ERROR_H

/*
 * X(name, exit status). A command that fails with the error exits with this status: 3 the target
 * cannot or must not be traced, 64 usage error (EX_USAGE of sysexits.h), 2 any other failure.
 */
#define ERROR_KINDS(X)                                                                             \
	X(USAGE, 64)        /* usage error: invalid options or arguments */                        \
	X(NO_PROCESS, 2)    /* no such process, or it has exited */                                \
	X(IS_THREAD, 2)     /* a thread id where a process id is needed */                         \
	X(ZOMBIE, 2)        /* the process has exited, and its parent has not reaped it */         \
	X(KERNEL, 3)        /* a kernel thread: it has no user stack */                            \
	X(FOREIGN, 3)       /* a program of another architecture, such as 32-bit code */           \
	X(SELF, 3)          /* wallsample itself or one of its ancestors */                        \
	X(TRACED, 3)        /* another process traces the target */                                \
	X(OTHER_USER, 3)    /* another user's process */                                           \
	X(NO_CAPABILITY, 3) /* no CAP_SYS_PTRACE, usually in a container */                        \
	X(YAMA, 3)          /* the Yama security module forbids tracing */                         \
	X(NOT_DUMPABLE, 3)  /* not dumpable, by prctl(PR_SET_DUMPABLE) or as a setuid program */   \
	X(SECCOMP, 3)       /* a seccomp filter on wallsample forbids tracing */                   \
	X(NOT_PERMITTED, 3) /* the kernel refuses tracing for an unknown reason */                 \
	X(NO_MATCH, 2)      /* --name matches no process */                                        \
	X(AMBIGUOUS, 64)    /* --name matches several processes */                                 \
	X(EXEC, 2)          /* the command to run could not be started */                          \
	X(OUTPUT, 2)        /* the output cannot be written */                                     \
	X(SYSTEM, 2)        /* an operation of the system failed; the text names it */             \
	X(FORMAT, 2)        /* a file is malformed */

enum error_kind {
	ERROR_NONE = 0,
#define X(name, status) ERROR_##name,
	ERROR_KINDS(X) ERROR_KIND_COUNT
#undef X
};

struct error {
	enum error_kind kind;
	char text[768]; /* one or more sentences, without a newline at the end */
};

/*
 * Fills in *err, which may be NULL, and returns -kind. A longer text is cut to fit err->text. The
 * arguments may point into err->text.
 */
int error_set(struct error *err, enum error_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Returns the exit status of the kind; 0 for ERROR_NONE. */
int error_exit_status(enum error_kind kind);

#endif
