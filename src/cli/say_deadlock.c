/* SPDX-License-Identifier: MIT */
/* say_deadlock.c - prints a deadlock as soon as it is detected. */
#include "cli/run_internal.h"
#include "wallsample/unwind/chain.h"
#include "wallsample/analysis/waiting.h"

/* The name of the object of a wait; "": unknown. */
static const char *
deadlock_name(const struct run *run, uint32_t wait)
{
	const struct profile *profile = run->source.profile;
	const uint32_t id = profile_wait(profile, wait)->object;
	const struct profile_frame *frame = id != FRAME_NONE ? profile_frame(profile, id) : NULL;
	struct symbol symbol;

	if (frame == NULL)
		return "";
	if (frame->module == MODULE_NONE)
		return profile_text(profile, (uint32_t)frame->address);
	symbols_find(run->source.symbols,
		     &(struct symbol_place){ .module = frame->module,
					     .data = frame->origin == FRAME_DATA,
					     .vaddr = frame->address },
		     &symbol, 1);
	return symbol.function;
}

static void
say(struct run *run, const struct profile_deadlock *deadlock)
{
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < deadlock->ring; i++) {
		strbuf_add_text(&text, i > 0 ? "; " : "");
		deadlock_add_thread(run->source.profile, deadlock, i,
				    deadlock_name(run, deadlock->stuck[i].wait), &text);
	}
	if (deadlock->count > deadlock->ring) {
		strbuf_add_text(&text, "; behind them: ");
		deadlock_add_others(run->source.profile, deadlock, &text);
	}
	status_line_erase(&run->status);
	log_say(&run->request.log, LOG_NORMAL, "deadlock: %s", text.data);
	strbuf_release(&text);
}

void
say_deadlocks(struct run *run)
{
	const size_t count = profile_deadlock_count(run->source.profile);

	for (; run->deadlocks_reported < count; run->deadlocks_reported++)
		say(run, profile_deadlock(run->source.profile, run->deadlocks_reported));
}
