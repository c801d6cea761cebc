/* SPDX-License-Identifier: MIT */
/*
 * profile_mark.h - time windows of a profile that is still being filled.
 *
 * A mark is a moment of the profile. The difference of two marks is a profile like any other, with
 * the samples, charges, blame, ticks and deadlocks that were added between them, in the order in
 * which their keys first occurred. A live view of the last seconds takes a mark once a second,
 * frees the marks that have left its window, and makes a view of profile_since(oldest, NULL):
 *
 *	mark[n] = profile_mark(profile);
 *	window = profile_since(mark[n - 5], NULL);
 *	... view_create(window, symbols, ...) ... profile_free(window);
 *	profile_mark_free(mark[n - 5]);
 *
 * The window shares texts, frames, stacks, threads and waits with its profile, under the same ids:
 * names that were resolved for one are valid for the other. What these say is of the whole run: the
 * last name of a thread, the most waiters of a wait.
 *
 * Cost: while there are marks, each addition to the profile is added once more, to the last mark. A
 * mark takes memory for the different entries that were added between it and the next one.
 */
#ifndef WALLSAMPLE_PROFILE_PROFILE_MARK_H
#define WALLSAMPLE_PROFILE_PROFILE_MARK_H

#include "wallsample/profile/profile.h"

struct profile_mark;

/* Marks the present moment. The caller frees the mark, before the profile. */
struct profile_mark *profile_mark(struct profile *profile);
/* Marks may be freed in any order; windows that were made of one stay valid. NULL is allowed. */
void profile_mark_free(struct profile_mark *mark);

/*
 * Returns the profile of what was added between two marks of one profile, `from` being the earlier
 * one; `to` NULL: up to now. The result is for reading. The caller frees it with profile_free,
 * before the marked profile.
 */
struct profile *profile_since(const struct profile_mark *from, const struct profile_mark *to);

#endif
