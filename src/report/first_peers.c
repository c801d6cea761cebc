/* SPDX-License-Identifier: MIT */
/* first_peers.c - describes what an awaited process did while others waited for it. */
#include <string.h>

#include "report/first_internal.h"
#include "wallsample/report/quantity.h"

/* The process is named if what it did was known for at least this part of the waiting time. */
#define KNOWN_LEAST 0.5

/* Adds the process of the thread, and those between it and the waiter. */
static void
add_process(const struct first *first, const struct waiting_stack *stack, struct strbuf *out)
{
	const struct profile *profile = view_profile(first->view);
	struct strbuf through = STRBUF_INIT;

	strbuf_add_text(out, ", in ");
	process_add_label(profile, profile_thread(profile, stack->thread)->process, out);
	waiting_add_through(first->view, stack, &through);
	if (through.length > 0)
		strbuf_add_format(out, ", for which %s waits", through.data);
	strbuf_release(&through);
}

bool
first_add_peer(const struct first *first, const struct place_row *row, struct cause *cause)
{
	const size_t at = row->wait.row < first->waiting.count ? row->wait.row : row->example;
	const struct waiting_row *waiting = at < first->waiting.count ? &first->waiting.row[at] :
									NULL;
	struct strbuf text = STRBUF_INIT;
	struct holding holding;

	if (waiting == NULL || waiting->holders == 0 || wait_kind_is_blamed(waiting->kind))
		return false;
	holding = first_main_holder(first, waiting);
	if ((double)holding.ns < KNOWN_LEAST * (double)waiting->ns)
		return true;
	if (holding.named != NULL) {
		const size_t length = strlen(holding.named);

		if (length > 2)
			strbuf_add(&text, holding.named + 1, length - 2);
		cause_add_detail(cause, "peer", &text);
		return true;
	}
	first_add_stack(first, holding.stack->stack, 1, &text);
	first_add_holder_state(&holding, &text);
	add_process(first, holding.stack, &text);
	cause_add_detail(cause, "peer in", &text);
	return true;
}
