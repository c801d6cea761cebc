/* SPDX-License-Identifier: MIT */
/*
 * report_deadlock.c - reports deadlocks: the threads of a ring that wait for one another, with
 * their stacks, and the names of threads outside of the ring that wait for threads of the ring.
 */
#include "wallsample/report/quantity.h"
#include "report/report_internal.h"

/* Maximum number of frames shown of a stack: from the function that waits outwards. */
#define FRAMES_MOST 12

static void
add_stack(const struct view *view, const struct profile_stuck *stuck, struct page *page)
{
	const uint32_t *function;
	size_t depth;

	view_stack(view, stuck->stack, &function, &depth);
	/* One named frame, such as "[failed: …]", is no real stack: it says why the stack is
	 * missing. */
	if (depth == 1 && view_is_named(view_function(view, function[0])))
		return;
	for (size_t i = waiting_place(view, function, depth), n = 0; i < depth; i++, n++) {
		if (n == FRAMES_MOST) {
			page_add(page, " < …");
			return;
		}
		page_add(page, "%s%s", n == 0 ? "; it waits in " : " < ",
			 view_function(view, function[i])->label);
	}
}

void
report_write_deadlocks(const struct view *view, struct page *page)
{
	const struct profile *profile = view_profile(view);

	for (size_t d = 0; d < profile_deadlock_count(profile); d++) {
		const struct profile_deadlock *deadlock = profile_deadlock(profile, d);

		page_write(page, page->ops->heading, "Deadlock of %s",
			   quantity_things(deadlock->ring, "thread", "threads").text);
		for (size_t i = 0; i < deadlock->ring; i++) {
			const struct profile_stuck *stuck = &deadlock->stuck[i];

			deadlock_add_thread(profile, deadlock, i,
					    view_wait_object(view, stuck->wait), &page->text);
			add_stack(view, stuck, page);
			page_end(page, page->ops->paragraph);
		}
		deadlock_add_others(profile, deadlock, &page->text);
		if (page->text.length > 0)
			page_write(page, page->ops->paragraph, " %s stuck behind them",
				   deadlock->count - deadlock->ring == 1 ? "is" : "are");
	}
}
