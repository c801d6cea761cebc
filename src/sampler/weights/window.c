/* SPDX-License-Identifier: MIT */
/* window.c - the samples of one thread in the present window (weights_internal.h). */
#include <stdlib.h>

#include "sampler/weights/weights_internal.h"
#include "wallsample/base/base.h"

void
window_init(struct thread_window *window)
{
	*window = (struct thread_window){ .blocked = UINT32_MAX, .importance = 1 };
}

void
window_release(struct thread_window *window)
{
	free(window->cell);
	for (int class = 0; class < CLASS_BLOCKED; class ++)
		free(window->donors[class]);
	window_init(window);
}

enum weight_class
weight_class_of(enum run_state state)
{
	switch (state) {
	case RUN_RUNNING:
		return CLASS_CPU;
	case RUN_QUEUED:
		return CLASS_QUEUE;
	default:
		return CLASS_BLOCKED;
	}
}

void
window_count(struct thread_window *window, uint32_t entry, int64_t samples, int64_t wall_ns)
{
	struct window_cell *last = window->count > 0 ? &window->cell[window->count - 1] : NULL;

	if (last == NULL || last->entry != entry) {
		window->cell = xgrow(window->cell, &window->capacity, window->count + 1,
				     sizeof(*window->cell));
		last = &window->cell[window->count++];
		*last = (struct window_cell){ .entry = entry };
	}
	last->ns += wall_ns;
	last->part += (double)wall_ns * window->importance;
	last->samples += samples;
	if (samples > 0) {
		const double part = (double)wall_ns * window->importance;

		last->squares += part * part;
		last->additions++;
	}
}

void
window_add(struct thread_window *window, uint32_t entry, enum run_state state, int64_t samples,
	   int64_t wall_ns)
{
	const enum weight_class class = weight_class_of(state);

	window_count(window, entry, samples, wall_ns);
	if (class == CLASS_BLOCKED) {
		window->blocked = entry;
		return;
	}
	if (samples <= 0)
		return;
	if (window->donors[class] == NULL)
		window->donors[class] = xcalloc(1, sizeof(*window->donors[class]));
	donors_add(window->donors[class], entry, (double)wall_ns,
		   (double)wall_ns * window->importance);
}

void
window_charge(struct thread_window *window, uint32_t entry, int64_t latency_ns)
{
	for (size_t i = window->count; i-- > 0;) {
		if (window->cell[i].entry != entry)
			continue;
		window->cell[i].latency_ns += latency_ns;
		return;
	}
}

static int
compare_cells(const void *left, const void *right)
{
	const struct window_cell *a = left, *b = right;

	return (a->entry > b->entry) - (a->entry < b->entry);
}

void
window_merge(struct thread_window *window)
{
	size_t count = 0;

	if (window->count < 2)
		return;
	qsort(window->cell, window->count, sizeof(*window->cell), compare_cells);
	for (size_t i = 0; i < window->count; i++) {
		const struct window_cell *cell = &window->cell[i];
		struct window_cell *to = count > 0 ? &window->cell[count - 1] : NULL;

		if (to == NULL || to->entry != cell->entry) {
			window->cell[count++] = *cell;
			continue;
		}
		to->ns += cell->ns;
		to->part += cell->part;
		to->squares += cell->squares;
		to->additions += cell->additions;
		to->samples += cell->samples;
		to->latency_ns += cell->latency_ns;
	}
	window->count = count;
}
