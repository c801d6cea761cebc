/* SPDX-License-Identifier: MIT */
/* namer_process.c - starts and ends the process that finds names. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbol/namer_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/base/helper.h"
#include "wallsample/base/sandbox.h"
#include "wallsample/base/thread.h"

/* Longest time without any message from a process that has been asked. DWARF of a module that takes
 * longer than dwarf_lines.h permits is given up by the process itself, after some seconds. */
#define SILENCE_S 60
/* CPU time that one process may use. The files of the largest programs take a minute. */
#define CPU_MOST_S 900
/* Address space in bytes that it may use in addition to that of the fork, for the DWARF that
 * DEBUG_DWARF_MOST permits and what libdw makes of it. */
#ifdef __SANITIZE_ADDRESS__ /* reserves terabytes */
#define MEMORY_MOST 0
#else
#define MEMORY_MOST (UINT64_C(16) << 30)
#endif
/* Longest wait for the end of a process that was killed. One that waits for a file system that does
 * not answer ends later; no further process is started then. */
#define END_S 5
/* Stack of the thread, and so of its forks, in bytes: as large as that of a main thread. */
#define STACK_SIZE ((size_t)8 << 20)

struct namer_process {
	const struct namer_work *work;
	const struct modules *modules;
	enum log_level level;
	pthread_t thread;
	bool has_thread;

	/* Shared with the thread. */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	bool over;   /* the thread ends */
	bool wanted; /* the thread is to fork a process, whose end of the socket is `theirs` */
	int theirs;
	pid_t pid;  /* the process that runs; 0: none; -1: fork(2) has failed */
	int status; /* that of the last process that has ended */

	int fd; /* our end of the socket; -1: no process was started */
	char why[48];
};

/* --- the process ---------------------------------------------------------------------------- */

/* Closes all descriptors but the socket and those of the modules' images. */
static void
keep_images(const struct namer_process *process)
{
	const size_t count = modules_count(process->modules);
	int *kept = xcalloc(count + 2, sizeof(*kept));
	size_t used = 0;

	kept[used++] = process->theirs;
	for (uint32_t i = 0; i < count; i++) {
		const struct image *image = modules_at(process->modules, i)->image;

		if (image != NULL)
			kept[used++] = image->fd;
	}
	sandbox_keep_only(kept, used);
	free(kept);
}

static void
run_process(const struct namer_process *process)
{
	const struct sandbox_limits limits = { .memory = MEMORY_MOST, .cpu_s = CPU_MOST_S };

	/* The fork ends when the thread that forked it does. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "ws-namer");
	helper_be_ordinary();
	keep_images(process);
	namer_serve(process->theirs, process->work, process->level, sandbox_enter(&limits));
}

/* --- the thread ----------------------------------------------------------------------------- */

/* Waits for the end of the process. Reaps it and clears process->pid under the mutex, so that
 * namer_process_end() never sends a signal to another process with the same id. */
static void
wait_for_end(struct namer_process *process, pid_t pid)
{
	siginfo_t info;
	int status = 0;

	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR)
		;
	pthread_mutex_lock(&process->mutex);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	process->pid = 0;
	process->status = status;
	pthread_cond_broadcast(&process->changed);
	pthread_mutex_unlock(&process->mutex);
}

static pid_t
fork_process(struct namer_process *process)
{
	const pid_t pid = fork();

	if (pid == 0) {
		run_process(process);
		_Exit(2);
	}
	process->wanted = false;
	process->pid = pid;
	pthread_cond_broadcast(&process->changed);
	return pid;
}

static void *
run_thread(void *context)
{
	struct namer_process *process = context;

	for (;;) {
		pid_t pid;

		pthread_mutex_lock(&process->mutex);
		while (!process->over && !process->wanted)
			pthread_cond_wait(&process->changed, &process->mutex);
		if (process->over) {
			pthread_mutex_unlock(&process->mutex);
			return NULL;
		}
		pid = fork_process(process);
		pthread_mutex_unlock(&process->mutex);
		if (pid > 0)
			wait_for_end(process, pid);
	}
}

/* --- its owner ------------------------------------------------------------------------------ */

struct namer_process *
namer_process_create(const struct namer_work *work, const struct modules *modules,
		     const struct log *log)
{
	struct namer_process *process = xcalloc(1, sizeof(*process));
	pthread_condattr_t attributes;

	process->work = work;
	process->modules = modules;
	process->level = log != NULL && log->stream != NULL ? log->level : LOG_QUIET;
	process->fd = process->theirs = -1;
	pthread_mutex_init(&process->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&process->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	/* Each process blocks all signals, too: those that are for wallsample go to its other
	 * threads. */
	process->has_thread = thread_start(&process->thread, STACK_SIZE, false, run_thread,
					   process) == 0;
	return process;
}

const char *
namer_process_end(struct namer_process *process)
{
	struct timespec until;

	if (process->fd < 0)
		return "it could not be started";
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += END_S;
	pthread_mutex_lock(&process->mutex);
	if (process->pid > 0)
		kill(process->pid, SIGKILL);
	while (process->pid > 0 && process->has_thread)
		process->has_thread = pthread_cond_timedwait(&process->changed, &process->mutex,
							     &until) != ETIMEDOUT;
	if (!process->has_thread)
		pthread_detach(process->thread);
	pthread_mutex_unlock(&process->mutex);
	close(process->fd);
	process->fd = -1;
	if (!process->has_thread)
		return "its file system does not answer";
	/* A process that has already ended is not affected by the signal. */
	if (WIFSIGNALED(process->status) && WTERMSIG(process->status) == SIGKILL)
		return "it was killed, or did not answer";
	if (WIFSIGNALED(process->status))
		snprintf(process->why, sizeof(process->why), "signal %d",
			 WTERMSIG(process->status));
	else
		snprintf(process->why, sizeof(process->why), "exit status %d",
			 WEXITSTATUS(process->status));
	return process->why;
}

int
namer_process_start(struct namer_process *process)
{
	const struct timeval silence = { .tv_sec = SILENCE_S };
	int ends[2];

	if (process->fd >= 0)
		(void)namer_process_end(process);
	if (!process->has_thread || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return -1;
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof(silence));
	setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &silence, sizeof(silence));
	pthread_mutex_lock(&process->mutex);
	process->theirs = ends[1];
	process->wanted = true;
	pthread_cond_broadcast(&process->changed);
	while (process->wanted)
		pthread_cond_wait(&process->changed, &process->mutex);
	pthread_mutex_unlock(&process->mutex);
	close(ends[1]);
	process->fd = ends[0];
	if (process->pid >= 0)
		return process->fd;
	close(process->fd);
	process->fd = -1;
	return -1;
}

void
namer_process_free(struct namer_process *process)
{
	if (process == NULL)
		return;
	if (process->fd >= 0)
		(void)namer_process_end(process);
	pthread_mutex_lock(&process->mutex);
	process->over = true;
	pthread_cond_broadcast(&process->changed);
	pthread_mutex_unlock(&process->mutex);
	/* A thread that was given up uses the structure later. */
	if (!process->has_thread)
		return;
	pthread_join(process->thread, NULL);
	pthread_mutex_destroy(&process->mutex);
	pthread_cond_destroy(&process->changed);
	free(process);
}
