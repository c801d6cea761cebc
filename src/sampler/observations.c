/* SPDX-License-Identifier: MIT */
/* observations.c - samples of a tick that have no stack yet. */
#include "sampler/pipeline_internal.h"

void
pending_create(struct sampler *sampler, struct pending *pending)
{
	pending->request = xcalloc(1, sizeof(struct stop_request));
	snapshot_init(&pending->request->snapshot);
	pending->in_stop = xcalloc(1, sizeof(*pending->in_stop));
	pending->capture = NULL;
	if (sampler->runtimes != NULL)
		pending->capture = runtime_capture_create(sampler->runtimes);
}

void
pending_free(struct pending *pending)
{
	snapshot_release(&pending->request->snapshot);
	free(pending->request);
	free(pending->in_stop);
	runtime_capture_free(pending->capture);
}

struct pending *
batch_add(struct sampler *sampler, struct batch *batch, struct tracked *thread, int64_t samples,
	  int64_t weight_ns)
{
	struct pending *pending;

	if (batch->count == batch->capacity) {
		size_t old = batch->capacity;

		batch->pending = xgrow(batch->pending, &batch->capacity, old + 1,
				       sizeof(*batch->pending));
		for (size_t i = old; i < batch->capacity; i++)
			pending_create(sampler, &batch->pending[i]);
	}
	pending = &batch->pending[batch->count++];
	pending->thread = thread;
	pending->samples = samples;
	pending->weight_ns = weight_ns;
	pending->looked_ns = clock_now_ns();
	pending->info = (struct syscall_info){ .number = SYSCALL_NONE };
	pending->moved = false;
	if (pending->capture != NULL)
		runtime_capture_clear(pending->capture);
	return pending;
}

void
batch_release(struct batch *batch)
{
	for (size_t i = 0; i < batch->capacity; i++)
		pending_free(&batch->pending[i]);
	free(batch->pending);
	*batch = (struct batch){ .pending = NULL };
}
