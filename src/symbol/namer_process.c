/* SPDX-License-Identifier: MIT */
/* namer_process.c - starts and ends the process that finds names. */
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbol/namer_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/base/helper.h"
#include "wallsample/base/sandbox.h"

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
/* Longest wait for the end of a process that was killed. After one that has not ended, no further
 * process is started. */
#define END_NS (5 * NS_PER_SEC)

struct namer_process {
	const struct namer_work *work;
	const struct modules *modules;
	enum log_level level;
	struct helper *helper; /* the process that runs; NULL: none */
	int fd;                /* socket to it; -1: none */
	bool stuck;            /* a process that was killed has not ended */
	char why[48];
};

/* --- the process ---------------------------------------------------------------------------- */

/* Closes all descriptors but `fd` and those of the modules' images. */
static void
keep_images(const struct namer_process *process, int fd)
{
	const size_t count = modules_count(process->modules);
	int *kept = xcalloc(count + 2, sizeof(*kept));
	size_t used = 0;

	kept[used++] = fd;
	for (uint32_t i = 0; i < count; i++) {
		const struct image *image = modules_at(process->modules, i)->image;

		if (image != NULL)
			kept[used++] = image->fd;
	}
	sandbox_keep_only(kept, used);
	free(kept);
}

static void
serve(void *context, int fd)
{
	const struct sandbox_limits limits = { .memory = MEMORY_MOST, .cpu_s = CPU_MOST_S };
	const struct namer_process *process = context;

	keep_images(process, fd);
	namer_serve(fd, process->work, process->level, sandbox_enter(&limits));
}

/* --- its owner ------------------------------------------------------------------------------ */

struct namer_process *
namer_process_create(const struct namer_work *work, const struct modules *modules,
		     const struct log *log)
{
	struct namer_process *process = xcalloc(1, sizeof(*process));

	process->work = work;
	process->modules = modules;
	process->level = log != NULL && log->stream != NULL ? log->level : LOG_QUIET;
	process->fd = -1;
	return process;
}

const char *
namer_process_end(struct namer_process *process)
{
	int status = 0;

	if (process->fd < 0)
		return "it could not be started";
	close(process->fd);
	process->fd = -1;
	process->stuck = !helper_end(process->helper, END_NS, &status);
	process->helper = NULL;
	if (process->stuck)
		return "its file system does not answer";
	/* A process that has already ended is not affected by the signal. */
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return "it was killed, or did not answer";
	if (WIFSIGNALED(status))
		snprintf(process->why, sizeof(process->why), "signal %d", WTERMSIG(status));
	else
		snprintf(process->why, sizeof(process->why), "exit status %d", WEXITSTATUS(status));
	return process->why;
}

int
namer_process_start(struct namer_process *process)
{
	const struct helper_plan plan = {
		.name = "ws-namer",
		.type = SOCK_STREAM,
		.serve = serve,
		.context = process,
		.keeps_descriptors = true,
	};
	const struct timeval silence = { .tv_sec = SILENCE_S };

	if (process->fd >= 0)
		(void)namer_process_end(process);
	if (process->stuck)
		return -1;
	process->helper = helper_start(&plan, &process->fd);
	if (process->helper == NULL)
		return -1;
	setsockopt(process->fd, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof(silence));
	setsockopt(process->fd, SOL_SOCKET, SO_SNDTIMEO, &silence, sizeof(silence));
	return process->fd;
}

void
namer_process_free(struct namer_process *process)
{
	if (process == NULL)
		return;
	if (process->fd >= 0)
		(void)namer_process_end(process);
	free(process);
}
