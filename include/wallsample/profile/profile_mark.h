/* SPDX-License-Identifier: MIT */
/*
 * profile_mark.h - time windows of a profile that is still being filled.
 *
 * A mark is a moment of the profile. A window, the difference of two marks, is a profile with the
 * samples, charges, blame, ticks and deadlocks that were added between the two moments. Its entries
 * are in the order in which they first occurred between these moments. A live view of the last
 * seconds takes a mark once a second, frees each mark that is older than its window, and makes a
 * view of profile_since(oldest, NULL):
 *
 *	mark[n] = profile_mark(profile);
 *	window = profile_since(mark[n - 5], NULL);
 *	... view_create(window, symbols, ...) ... profile_free(window);
 *	profile_mark_free(mark[n - 5]);
 *
 * A window shares texts, frames, stacks, threads and waits with its profile, under the same ids, so
 * that names that were resolved for one are valid for the other. The members of these objects
 * describe the whole run: a thread has its last name in the run, and a wait its largest number of
 * waiters.
 *
 * A sum of a window may be negative: a correction (see profile_add) may concern time before the
 * window. A window keeps negative sums, because only then the sums of adjacent windows add up to
 * those of the whole time. view_create sets them to 0 after it has merged equal rows.
 *
 * Cost: while there are marks, each addition to the profile is added a second time, to the sums of
 * the last mark. A mark takes memory for the different entries that were added between it and the
 * next mark. view_create resolves all frames of the profile, even if the window has few of them.
 */
#ifndef WALLSAMPLE_PROFILE_PROFILE_MARK_H
#define WALLSAMPLE_PROFILE_PROFILE_MARK_H

#include "wallsample/profile/profile.h"

struct profile_mark;

/* Marks the present moment. The caller frees the mark before the profile. */
struct profile_mark *profile_mark(struct profile *profile);
/* Frees a mark, which may be NULL. Marks may be freed in any order; existing windows stay valid. */
void profile_mark_free(struct profile_mark *mark);

/*
 * Returns the window between two marks of one profile. `from` is the earlier mark; `to` NULL stands
 * for the present moment. Nothing may be added to the window. The caller frees the window with
 * profile_free, before the marked profile.
 */
struct profile *profile_since(const struct profile_mark *from, const struct profile_mark *to);

#endif
