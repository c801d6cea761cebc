/* SPDX-License-Identifier: MIT */
/*
 * file_proxy.h - opens and reads files of the target in a second process, "ws-files".
 *
 * A file may be on a disk that is slow, or on a server that does not answer. A process that waits
 * for it in the kernel (state D) handles no signals, and cannot release threads of the target that
 * it has asked to stop. So the second process waits for the file, and wallsample waits for that
 * process, up to FILE_PROXY_WAIT_NS, in a sleep that signals interrupt. Bytes that are in the page
 * cache are read directly, with preadv2(2) and RWF_NOWAIT.
 *
 * Where a parameter `proxy` is NULL, wallsample opens and reads the file itself, and waits as long
 * as that takes: for files of the user, and where no thread is ever stopped.
 */
#ifndef WALLSAMPLE_BASE_FILE_PROXY_H
#define WALLSAMPLE_BASE_FILE_PROXY_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "wallsample/base/base.h"

/* Longest wait for the answer to a call, not counting the start of a process; a call is made twice
 * if the process ends. Once *file_waiting.stop is set, it is 1 s. A file system that does not
 * answer within that time is not used again (file_call.device). */
#define FILE_PROXY_WAIT_NS (5 * NS_PER_SEC)
/* Largest number of bytes that a call passes to the process, and that it gets back. */
#define FILE_PROXY_IN_MOST ((size_t)8 << 10)
#define FILE_PROXY_OUT_MOST ((size_t)64 << 10)

struct file_proxy;

/* Starts the process (helper.h). Never returns NULL: if the process cannot be started, the next
 * call tries again. Children that wallsample forks later make the calls themselves. The caller
 * frees the result with file_proxy_free(), which ends the process and accepts NULL. */
struct file_proxy *file_proxy_create(void);
/* Kills the process and waits up to 0.1 s for its end. The next call starts another one, with the
 * capabilities that the calling thread has then. No effect if `proxy` is NULL, or was created by
 * another process. */
void file_proxy_end(struct file_proxy *proxy);
void file_proxy_free(struct file_proxy *proxy);

/* What wallsample does while it waits for a call, including the start of a process. */
struct file_waiting {
	/* Called before the wait and after it; may be NULL. Between the two, each thread of the
	 * target that stops must be released by a signal handler. */
	void (*begin)(void *context);
	void (*end)(void *context);
	void *context;
	const volatile sig_atomic_t *stop; /* not 0: the wait ends within a second; may be NULL */
};

/* Sets what happens during later waits, which is nothing at first. *waiting is copied. */
void file_proxy_set_waiting(struct file_proxy *proxy, const struct file_waiting *waiting);

/*
 * A function that the process calls, its arguments and its results. The function gets a call whose
 * pointers and descriptor are valid in the process. It must use nothing else that wallsample has
 * changed since file_proxy_create(), and must not change its arguments. Pointers to constants are
 * equal in both processes, and may be part of `in` and `out`.
 */
struct file_call {
	void (*function)(struct file_call *call);
	/* Number of the file system, as in st_dev; 0: not known. A call fails at once if a call for
	 * the same file system, not 0, has hung. */
	uint64_t device;
	const void *in; /* `in_size` bytes, at most FILE_PROXY_IN_MOST */
	size_t in_size;
	int in_fd; /* a descriptor, borrowed; -1: none */
	void *out; /* room for `out_size` bytes, at most FILE_PROXY_OUT_MOST */
	size_t out_size;
	/* The results, which the function sets: the number of bytes in `out`, and a descriptor that
	 * the caller closes, or -1. */
	size_t got;
	int out_fd;
};

/*
 * Calls call->function in the second process; in this process if `proxy` is NULL or was created by
 * another process (a parent). Returns true when the results are set. Otherwise returns false with
 * errno ETIMEDOUT (no answer, or this file system has hung before) or EIO (a size exceeds its
 * limit, no process could be started, or the process has ended during the call, and so has the one
 * that was started for a second attempt). At most 8 processes are started in a run.
 */
bool file_proxy_call(struct file_proxy *proxy, struct file_call *call);

/* Reads like file_read_at() (base.h); `device` is st_dev of the file, 0 if it is not known. Returns
 * the number of bytes. With a proxy, errno is then 0, or that of file_proxy_call() if there was no
 * answer; without one it is that of pread(2). */
size_t file_proxy_read(struct file_proxy *proxy, uint64_t device, int fd, uint64_t offset, void *to,
		       size_t size);

/* Both functions work as fstat(2) and return 0, or -1 with errno set. file_stat_cached() sends no
 * request to a file server, and sets only st_size and st_mtim, to values that may be those of the
 * last open(2) of the file. file_proxy_stat() calls fstat(2) in the second process; errno can then
 * also be that of file_proxy_call(). */
int file_stat_cached(int fd, struct stat *st);
int file_proxy_stat(struct file_proxy *proxy, uint64_t device, int fd, struct stat *st);

#endif
