/* SPDX-License-Identifier: MIT */
/* seized.c - an unordered array of seized threads. */
#include "tracer/tracer_internal.h"

#include "tracer/stop_internal.h"
#include "wallsample/base/base.h"

void
seized_publish(const struct seized_list *list, size_t more)
{
	if (list->load != NULL)
		list->load->stops = list->count + more;
}

void
seized_add(struct seized_list *list, pid_t tid, struct stop_request *request)
{
	list->item = xgrow(list->item, &list->capacity, list->count + 1, sizeof(*list->item));
	list->item[list->count++] = (struct seized){ .tid = tid,
						     .is_new = request != NULL,
						     .request = request };
	seized_publish(list, 0);
}

struct seized *
seized_find(const struct seized_list *list, pid_t tid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->item[i].tid == tid)
			return &list->item[i];
	return NULL;
}

void
seized_remove(struct seized_list *list, struct seized *item)
{
	*item = list->item[--list->count];
	seized_publish(list, 0);
}

void
seized_forget(struct seized_list *list, const struct stop_request *request)
{
	for (size_t i = 0; i < list->count; i++)
		if (request == NULL || list->item[i].request == request)
			list->item[i].request = NULL;
}

void
seized_drop_untraced(struct seized_list *list, enum stop_end end)
{
	for (size_t i = list->count; i-- > 0;) {
		struct seized *item = &list->item[i];

		if (stop_interrupt(item->tid))
			continue;
		if (item->request != NULL)
			item->request->end = end;
		seized_remove(list, item);
	}
}
