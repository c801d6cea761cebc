/* SPDX-License-Identifier: MIT */
/* capture_pool.c - buffers that captures are copied to, reused from tick to tick. */
#include "sampler/threads_internal.h"

static struct capture_buffer *
create_buffer(struct runtimes *runtimes)
{
	struct capture_buffer *buffer = xcalloc(1, sizeof(*buffer));

	snapshot_init(&buffer->request.snapshot);
	if (runtimes != NULL)
		buffer->runtime = runtime_capture_create(runtimes);
	return buffer;
}

void
capture_free(struct capture_buffer *buffer)
{
	snapshot_release(&buffer->request.snapshot);
	runtime_capture_free(buffer->runtime);
	free(buffer);
}

struct capture_buffer *
capture_acquire(struct sampled_thread *thread)
{
	struct capture_pool *pool = &thread->process->captures;
	struct capture_buffer *buffer = pool->count > 0 ? pool->free[--pool->count] :
							  create_buffer(thread->process->runtimes);

	buffer->thread = thread;
	if (buffer->runtime != NULL)
		runtime_capture_clear(buffer->runtime);
	return buffer;
}

void
capture_return(struct observation *observation)
{
	struct capture_pool *pool = &observation->thread->process->captures;

	pool->free = xgrow(pool->free, &pool->capacity, pool->count + 1, sizeof(*pool->free));
	pool->free[pool->count++] = observation->capture;
	observation->capture = NULL;
}
