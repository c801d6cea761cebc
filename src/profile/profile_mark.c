/* SPDX-License-Identifier: MIT */
/*
 * profile_mark.c - marks and windows. A mark has the sums of the additions between it and the next
 * mark. A window has the total of the sums of all marks from its first mark up to, but without, its
 * last one.
 */
#include "wallsample/profile/profile_mark.h"

#include <stdlib.h>

#include "profile/profile_internal.h"
#include "wallsample/base/base.h"

struct profile_mark {
	struct profile *profile;
	/* next older and next later mark; NULL at an end of the list */
	struct profile_mark *previous, *next;
	/* sums of the additions between this mark and the next mark or, if there is none, up to
	 * now */
	struct profile_sums since;
};

/* Makes `before` and `after` neighbours in the list of marks; NULL is the end of the list. */
static void
link_marks(struct profile *profile, struct profile_mark *before, struct profile_mark *after)
{
	if (before != NULL)
		before->next = after;
	else
		profile->first = after;
	if (after != NULL)
		after->previous = before;
	else
		profile->last = before;
	profile->since_mark = profile->last != NULL ? &profile->last->since : NULL;
}

struct profile_mark *
profile_mark(struct profile *profile)
{
	struct profile_mark *mark = xcalloc(1, sizeof(*mark));

	mark->profile = profile;
	link_marks(profile, profile->last, mark);
	link_marks(profile, mark, NULL);
	return mark;
}

void
profile_mark_free(struct profile_mark *mark)
{
	if (mark == NULL)
		return;
	if (mark->previous != NULL)
		sums_merge(&mark->previous->since, mark->profile->names, &mark->since);
	link_marks(mark->profile, mark->previous, mark->next);
	sums_release(&mark->since);
	free(mark);
}

struct profile *
profile_since(const struct profile_mark *from, const struct profile_mark *to)
{
	struct profile *window = xcalloc(1, sizeof(*window));

	window->names = from->profile->names;
	window->is_window = true;
	for (const struct profile_mark *mark = from; mark != NULL && mark != to; mark = mark->next)
		sums_merge(&window->sums, window->names, &mark->since);
	return window;
}
