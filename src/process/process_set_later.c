/* SPDX-License-Identifier: MIT */
/* process_set_later.c - what a target set examines again: one queue for each delay, so that each is
 * in the order of time. */
#include "process/process_set_parts_internal.h"

/* Most items in the list. */
#define LATER_MOST ((size_t)16384)
#define FIRST_CAPACITY ((size_t)64)

static const uint64_t delay_ns[LATER_STEPS] = {
	5 * NS_PER_MS,  10 * NS_PER_MS, 20 * NS_PER_MS,
	40 * NS_PER_MS, 80 * NS_PER_MS, 100 * NS_PER_MS,
};

static struct later *
queue_at(const struct later_queue *queue, size_t number)
{
	return &queue->item[(queue->first + number) & (queue->capacity - 1)];
}

static void
queue_grow(struct later_queue *queue)
{
	const size_t capacity = queue->capacity > 0 ? queue->capacity * 2 : FIRST_CAPACITY;
	struct later *item = xcalloc(capacity, sizeof(*item));

	for (size_t i = 0; i < queue->count; i++)
		item[i] = *queue_at(queue, i);
	free(queue->item);
	*queue = (struct later_queue){ .item = item, .count = queue->count, .capacity = capacity };
}

static void
later_put(struct later_list *list, struct later item, uint64_t now_ns)
{
	struct later_queue *queue = &list->step[item.step];

	if (queue->count == queue->capacity)
		queue_grow(queue);
	item.due_ns = now_ns + delay_ns[item.step];
	*queue_at(queue, queue->count) = item;
	queue->count++;
	list->count++;
}

bool
later_add(struct later_list *list, pid_t pid, uint64_t start_time, uint64_t now_ns)
{
	if (list->count >= LATER_MOST)
		return false;
	later_put(list, (struct later){ .pid = pid, .start_time = start_time, .first_ns = now_ns },
		  now_ns);
	return true;
}

void
later_repeat(struct later_list *list, const struct later *item, uint64_t now_ns)
{
	struct later again = *item;

	if (again.step < LATER_STEPS - 1)
		again.step++;
	later_put(list, again, now_ns);
}

static bool
queue_is_due(const struct later_queue *queue, uint64_t now_ns)
{
	return queue->count > 0 && queue_at(queue, 0)->due_ns <= now_ns;
}

bool
later_is_due(const struct later_list *list, uint64_t now_ns)
{
	for (size_t i = 0; list->count > 0 && i < LATER_STEPS; i++)
		if (queue_is_due(&list->step[i], now_ns))
			return true;
	return false;
}

bool
later_next(struct later_list *list, uint64_t now_ns, struct later *item)
{
	for (size_t i = 0; i < LATER_STEPS; i++) {
		struct later_queue *queue = &list->step[i];

		if (!queue_is_due(queue, now_ns))
			continue;
		*item = *queue_at(queue, 0);
		queue->first = (queue->first + 1) & (queue->capacity - 1);
		queue->count--;
		list->count--;
		return true;
	}
	return false;
}

void
later_release(struct later_list *list)
{
	for (size_t i = 0; i < LATER_STEPS; i++)
		free(list->step[i].item);
	*list = (struct later_list){ .count = 0 };
}
