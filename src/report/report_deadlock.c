/* SPDX-License-Identifier: MIT */
/* report_deadlock.c - reports deadlocks: the threads of the ring, their stacks, other waiters. */
#include "wallsample/report/quantity.h"
#include "report/report_internal.h"

/* Frames shown of each stack: the innermost ones explain the wait. */
#define FRAMES_MOST 12

static void
add_stack(struct strbuf *sb, const struct view *view, const struct profile_stuck *stuck)
{
	const uint32_t *function;
	size_t depth;

	view_stack(view, stuck->stack, &function, &depth);
	/* A single named frame is the reason why there is no stack. */
	if (depth == 1 && view_is_named(view_function(view, function[0])))
		return;
	for (size_t i = waiting_place(view, function, depth), n = 0; i < depth; i++, n++) {
		if (n == FRAMES_MOST) {
			strbuf_add_text(sb, " < …");
			return;
		}
		strbuf_add_text(sb, n == 0 ? "; it waits in " : " < ");
		strbuf_add_escaped(sb, view_function(view, function[i])->name);
	}
}

void
report_write_deadlocks(const struct view *view, struct page *page)
{
	const struct profile *profile = view_profile(view);
	struct strbuf sb;

	strbuf_init(&sb);
	for (size_t d = 0; d < profile_deadlock_count(profile); d++) {
		const struct profile_deadlock *deadlock = profile_deadlock(profile, d);

		strbuf_clear(&sb);
		strbuf_add_text(&sb, "Deadlock of ");
		quantity_add_things(&sb, deadlock->ring, "thread", "threads");
		page->ops->heading(page, sb.data);
		for (size_t i = 0; i < deadlock->ring; i++) {
			const struct profile_stuck *stuck = &deadlock->stuck[i];

			strbuf_clear(&sb);
			deadlock_add_thread(profile, deadlock, i,
					    view_wait_object(view, stuck->wait), &sb);
			add_stack(&sb, view, stuck);
			page->ops->paragraph(page, sb.data);
		}
		strbuf_clear(&sb);
		deadlock_add_others(profile, deadlock, &sb);
		if (sb.length > 0) {
			strbuf_add_text(&sb, deadlock->count - deadlock->ring == 1 ?
						     " is stuck behind them" :
						     " are stuck behind them");
			page->ops->paragraph(page, sb.data);
		}
	}
	strbuf_release(&sb);
}
