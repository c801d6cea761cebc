/* SPDX-License-Identifier: MIT */
/*
 * helper.h - helper processes: forks of wallsample that serve requests on a socket.
 *
 * Each helper process has a thread in wallsample that forks the process and waits for its end. So
 * the waits of the tracer (__WNOTHREAD) do not report the process, and PID 1 inherits no zombie,
 * unless wallsample is killed or calls _exit(2) at a second signal. The kernel kills the process
 * when wallsample ends, for whatever reason; a process in uninterruptible sleep ends after that
 * sleep.
 */
#ifndef WALLSAMPLE_BASE_HELPER_H
#define WALLSAMPLE_BASE_HELPER_H

#include <stdbool.h>
#include <stdint.h>

struct helper_plan {
	const char *name; /* of the process, at most 15 bytes (prctl(2)) */
	int type;         /* of the socket: SOCK_SEQPACKET or SOCK_STREAM */
	/* Called in the process, which has all signals blocked and a copy of wallsample's memory at
	 * the time of helper_start(). `fd` is its end of the socket. The process exits when serve()
	 * returns; serve() must return when the other end is closed. */
	void (*serve)(void *context, int fd);
	void *context;
	/* If false, the process closes all descriptors but `fd` before serve(): it would otherwise
	 * keep the write ends of pipes open, and their readers would get no EOF while it hangs. */
	bool keeps_descriptors;
};

struct helper;

/*
 * Starts a process with the capabilities of the calling thread, the scheduling class SCHED_OTHER,
 * if permitted, and a nice value of at least 0. Returns when fork(2) has returned: the thread must
 * get a CPU. *plan is copied; what it points to must live until then. Stores wallsample's end of
 * the socket (close-on-exec) in *fd; the caller closes it. Returns a helper for helper_end(), or
 * NULL with errno set.
 */
struct helper *helper_start(const struct helper_plan *plan, int *fd);

/*
 * Kills the process (SIGKILL) if it still runs, waits up to `wait_ns` ns for its end, and frees the
 * helper in any case. Returns true if the process has ended, and stores its wait status
 * (waitpid(2)) in *status unless `status` is NULL. Returns false if the process has not ended in
 * time, because it is in uninterruptible sleep, or if `helper` is NULL. Must be called by the
 * process that called helper_start(), not by a fork of it. Does not close the socket.
 */
bool helper_end(struct helper *helper, uint64_t wait_ns, int *status);

#endif
