/* SPDX-License-Identifier: MIT */
/* disk_sync.c - a thread that waits for the disk, so that the thread of the sampler does not. */
#include "recording/recorder_log_internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "wallsample/base/base.h"
#include "wallsample/base/capability.h"
#include "wallsample/base/thread.h"

/* The thread calls fsync and no other function that needs memory on its stack. */
#define STACK_SIZE (64 << 10)

struct disk_sync {
	pthread_t thread;
	pthread_mutex_t mutex; /* protects all members below, except fd */
	pthread_cond_t changed;
	int fd[SYNC_FILES]; /* borrowed; -1: not written to the disk */
	unsigned asked;     /* bits 1 << enum sync_file: to be written as soon as possible */
	unsigned noted;     /* to be written at noted_ns at the latest */
	uint64_t noted_ns;  /* CLOCK_MONOTONIC */
	bool busy, ends;
	int error_number; /* errno of the first fsync that has failed, or 0 */
};

/* Waits until files are to be written, or the thread is to end; the mutex is locked. */
static void
wait_for_work(struct disk_sync *sync)
{
	while (sync->asked == 0 && !sync->ends) {
		const struct timespec until = {
			.tv_sec = (time_t)(sync->noted_ns / NS_PER_SEC),
			.tv_nsec = (long)(sync->noted_ns % NS_PER_SEC),
		};

		if (sync->noted == 0)
			pthread_cond_wait(&sync->changed, &sync->mutex);
		else if (pthread_cond_timedwait(&sync->changed, &sync->mutex, &until) == ETIMEDOUT)
			sync->asked |= sync->noted;
	}
}

/* Calls fsync for the files. Returns 0, or the errno of the first one that fails. An error of the
 * directory is ignored, because some file systems have no fsync for directories. */
static int
sync_files(const struct disk_sync *sync, unsigned files)
{
	for (int i = 0; i < SYNC_FILES; i++)
		if ((files & 1U << i) != 0 && sync->fd[i] >= 0 && fsync(sync->fd[i]) != 0 &&
		    i != SYNC_FOLDER)
			return errno;
	return 0;
}

static void *
sync_run(void *context)
{
	struct disk_sync *sync = context;

	/* The files are open: fsync(2) takes no capabilities. */
	(void)capability_set(0, 0);
	pthread_mutex_lock(&sync->mutex);
	for (;;) {
		unsigned files;
		int number;

		wait_for_work(sync);
		if (sync->asked == 0)
			break;
		files = sync->asked;
		sync->asked = 0;
		sync->noted &= ~files;
		sync->busy = true;
		pthread_mutex_unlock(&sync->mutex);
		number = sync_files(sync, files);
		pthread_mutex_lock(&sync->mutex);
		if (sync->error_number == 0)
			sync->error_number = number;
		sync->busy = false;
		pthread_cond_broadcast(&sync->changed);
	}
	pthread_mutex_unlock(&sync->mutex);
	return NULL;
}

static void
release(struct disk_sync *sync)
{
	pthread_cond_destroy(&sync->changed);
	pthread_mutex_destroy(&sync->mutex);
	free(sync);
}

struct disk_sync *
disk_sync_start(const int *fd)
{
	struct disk_sync *sync = xcalloc(1, sizeof(*sync));
	int number;

	for (int i = 0; i < SYNC_FILES; i++)
		sync->fd[i] = fd[i];
	pthread_mutex_init(&sync->mutex, NULL);
	thread_condition_init(&sync->changed);
	number = thread_start(&sync->thread, STACK_SIZE, true, sync_run, sync);
	if (number == 0)
		return sync;
	release(sync);
	errno = number;
	return NULL;
}

void
disk_sync_ask(struct disk_sync *sync, unsigned files)
{
	pthread_mutex_lock(&sync->mutex);
	sync->asked |= files;
	pthread_cond_broadcast(&sync->changed);
	pthread_mutex_unlock(&sync->mutex);
}

void
disk_sync_note(struct disk_sync *sync, unsigned files, uint64_t delay_ns)
{
	pthread_mutex_lock(&sync->mutex);
	if (sync->noted == 0) {
		sync->noted_ns = clock_now_ns() + delay_ns;
		pthread_cond_broadcast(&sync->changed);
	}
	sync->noted |= files;
	pthread_mutex_unlock(&sync->mutex);
}

static bool
is_working(const struct disk_sync *sync)
{
	return sync->busy || sync->asked != 0;
}

bool
disk_sync_is_idle(struct disk_sync *sync, int *number)
{
	bool idle;

	pthread_mutex_lock(&sync->mutex);
	idle = !is_working(sync);
	*number = sync->error_number;
	pthread_mutex_unlock(&sync->mutex);
	return idle;
}

int
disk_sync_wait(struct disk_sync *sync)
{
	int number;

	pthread_mutex_lock(&sync->mutex);
	while (is_working(sync))
		pthread_cond_wait(&sync->changed, &sync->mutex);
	number = sync->error_number;
	pthread_mutex_unlock(&sync->mutex);
	return number;
}

void
disk_sync_end(struct disk_sync *sync)
{
	if (sync == NULL)
		return;
	pthread_mutex_lock(&sync->mutex);
	sync->ends = true;
	pthread_cond_broadcast(&sync->changed);
	pthread_mutex_unlock(&sync->mutex);
	pthread_join(sync->thread, NULL);
	release(sync);
}
