/* SPDX-License-Identifier: MIT */
/* helper.c - starts and ends processes of wallsample's own, by threads that wait for their ends. */
#include "wallsample/base/helper.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "wallsample/base/base.h"
#include "wallsample/base/capability.h"
#include "wallsample/base/sandbox.h"
#include "wallsample/base/thread.h"

/* Stack of the thread, and so of its fork, in bytes: as large as that of a main thread. */
#define STACK_SIZE ((size_t)8 << 20)

struct helper {
	struct helper_plan plan;
	pid_t parent; /* this process */
	int theirs;   /* the process's end of the socket */
	pthread_t thread;

	/* Shared with the thread. */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	bool forked; /* fork(2) was called; `error` or `pid` is its result */
	bool left;   /* the owner does not wait any more: the thread frees the structure */
	int error;   /* errno of fork(2) */
	pid_t pid;   /* the process; 0: it has ended */
	int status;  /* how it has ended */
};

static void
helper_free(struct helper *helper)
{
	pthread_mutex_destroy(&helper->mutex);
	pthread_cond_destroy(&helper->changed);
	free(helper);
}

/* --- the process ---------------------------------------------------------------------------- */

static void
be_ordinary(void)
{
	const struct sched_param ordinary = { .sched_priority = 0 };

	(void)sched_setscheduler(0, SCHED_OTHER, &ordinary);
	if (getpriority(PRIO_PROCESS, 0) < 0)
		(void)setpriority(PRIO_PROCESS, 0, 0);
}

/* Closes all descriptors but `fd`. Returns the number that `fd` then has. */
static int
keep_only(int fd)
{
	int kept = 0;

	if (dup2(fd, kept) < 0)
		_exit(1);
	sandbox_keep_only(&kept, 1);
	return kept;
}

static void __attribute__((noreturn)) run_process(const struct helper *helper)
{
	int fd = helper->theirs;

	/* The kernel sends the signal when the thread that forked this process ends. If wallsample
	 * has ended before this call, no signal comes, but the parent is another. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != helper->parent)
		_exit(1);
	/* No setsid(2): in a new session, which is a new group of the scheduler (sched(7),
	 * autogroup), it has waited for a CPU for up to 15 s beside busy threads. Signals of the
	 * terminal are blocked. */
	prctl(PR_SET_NAME, helper->plan.name);
	be_ordinary();
	if (!helper->plan.keeps_descriptors)
		fd = keep_only(fd);
	helper->plan.serve(helper->plan.context, fd);
	_exit(0);
}

/* --- the thread ----------------------------------------------------------------------------- */

/* Waits for the end of the process. Reaps it and clears helper->pid under the mutex, so that
 * helper_end() never sends a signal to another process with the same id. Returns true if the
 * structure is to be freed. */
static bool
wait_for_end(struct helper *helper, pid_t pid)
{
	siginfo_t info;
	bool left;

	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR)
		;
	pthread_mutex_lock(&helper->mutex);
	while (waitpid(pid, &helper->status, 0) < 0 && errno == EINTR)
		;
	helper->pid = 0;
	left = helper->left;
	pthread_cond_broadcast(&helper->changed);
	pthread_mutex_unlock(&helper->mutex);
	return left;
}

static void *
run_thread(void *context)
{
	struct helper *helper = context;
	const pid_t pid = fork();

	if (pid == 0)
		run_process(helper);
	/* This thread needs no capabilities, and may run on after wallsample has given up its own.
	 */
	(void)capability_set(0, 0);
	pthread_mutex_lock(&helper->mutex);
	helper->error = pid < 0 ? errno : 0;
	helper->pid = pid > 0 ? pid : 0;
	helper->forked = true;
	pthread_cond_broadcast(&helper->changed);
	pthread_mutex_unlock(&helper->mutex);
	if (pid > 0 && wait_for_end(helper, pid))
		helper_free(helper);
	return NULL;
}

/* --- its owner ------------------------------------------------------------------------------ */

static struct helper *
make(const struct helper_plan *plan, int theirs)
{
	struct helper *helper = xcalloc(1, sizeof(*helper));

	helper->plan = *plan;
	helper->parent = getpid();
	helper->theirs = theirs;
	pthread_mutex_init(&helper->mutex, NULL);
	thread_condition_init(&helper->changed);
	return helper;
}

/* Makes the thread, and waits until it has called fork(2): until then, this process must not change
 * memory that the new one uses. Returns 0 or an errno. */
static int
launch(struct helper *helper)
{
	int error = thread_start(&helper->thread, STACK_SIZE, true, run_thread, helper);

	if (error != 0)
		return error;
	pthread_mutex_lock(&helper->mutex);
	while (!helper->forked)
		pthread_cond_wait(&helper->changed, &helper->mutex);
	error = helper->error;
	pthread_mutex_unlock(&helper->mutex);
	if (error != 0)
		pthread_join(helper->thread, NULL);
	return error;
}

struct helper *
helper_start(const struct helper_plan *plan, int *fd)
{
	struct helper *helper;
	int ends[2], error;

	if (socketpair(AF_UNIX, plan->type | SOCK_CLOEXEC, 0, ends) != 0)
		return NULL;
	helper = make(plan, ends[1]);
	error = launch(helper);
	close(ends[1]);
	if (error == 0) {
		*fd = ends[0];
		return helper;
	}
	close(ends[0]);
	helper_free(helper);
	errno = error;
	return NULL;
}

bool
helper_end(struct helper *helper, uint64_t wait_ns, int *status)
{
	const uint64_t until_ns = clock_now_ns() + wait_ns;
	const struct timespec until = { .tv_sec = (time_t)(until_ns / NS_PER_SEC),
					.tv_nsec = (long)(until_ns % NS_PER_SEC) };
	bool ended;
	int error = 0;

	if (helper == NULL)
		return false;
	pthread_mutex_lock(&helper->mutex);
	if (helper->pid > 0)
		kill(helper->pid, SIGKILL);
	while (helper->pid > 0 && error != ETIMEDOUT)
		error = pthread_cond_timedwait(&helper->changed, &helper->mutex, &until);
	ended = helper->pid == 0;
	helper->left = !ended;
	if (ended && status != NULL)
		*status = helper->status;
	if (!ended)
		pthread_detach(helper->thread);
	pthread_mutex_unlock(&helper->mutex);
	if (ended) {
		pthread_join(helper->thread, NULL);
		helper_free(helper);
	}
	return ended;
}
