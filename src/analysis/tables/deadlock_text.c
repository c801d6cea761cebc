/* SPDX-License-Identifier: MIT */
/* deadlock_text.c - describes a deadlock in words. */
#include <inttypes.h>

#include "wallsample/base/base.h"
#include "wallsample/analysis/waiting.h"

/*
 * Maximum number of threads outside of a deadlock's ring whose names are written. If there are
 * more, the number of the others follows.
 */
#define OTHERS_MOST 10

static void
deadlock_add_name(const struct profile *profile, uint32_t id, struct strbuf *out)
{
	const struct profile_thread *thread = profile_thread(profile, id);
	const char *name = profile_text(profile, thread->name);

	/* A core file has only the name of the main thread. */
	strbuf_add_escaped(out, name[0] != '\0' ? name : "thread");
	strbuf_add_format(out, "-%jd", (intmax_t)thread->tid);
}

void
deadlock_add_thread(const struct profile *profile, const struct profile_deadlock *deadlock,
		    size_t index, const char *object, struct strbuf *out)
{
	const struct profile_stuck *stuck = &deadlock->stuck[index];
	const struct profile_stuck *holder = &deadlock->stuck[(index + 1) % deadlock->ring];
	const enum wait_kind kind = profile_wait(profile, stuck->wait)->kind;
	struct strbuf what;

	deadlock_add_name(profile, stuck->thread, out);
	strbuf_add_text(out, " waits for ");
	if (kind == WAIT_JOIN) {
		strbuf_add_text(out, "the end of ");
		deadlock_add_name(profile, holder->thread, out);
		return;
	}
	strbuf_init(&what);
	wait_kind_add(kind, wait_kind_text(kind), object, &what);
	strbuf_add_escaped(out, what.data);
	strbuf_release(&what);
	if (kind == WAIT_PIPE_READ || kind == WAIT_PIPE_WRITE || kind == WAIT_CHILD) {
		strbuf_add_text(out, kind == WAIT_CHILD ? ", that is " : ", whose other end has ");
		deadlock_add_name(profile, holder->thread, out);
		return;
	}
	if (holder->thread == stuck->thread) {
		strbuf_add_text(out, ", which it holds itself");
		return;
	}
	strbuf_add_text(out, ", held by ");
	deadlock_add_name(profile, holder->thread, out);
}

void
deadlock_add_others(const struct profile *profile, const struct profile_deadlock *deadlock,
		    struct strbuf *out)
{
	const size_t count = deadlock->count - deadlock->ring;

	for (size_t i = 0; i < count && i < OTHERS_MOST; i++) {
		strbuf_add_text(out, i == 0 ? "" : i + 1 < count ? ", " : " and ");
		deadlock_add_name(profile, deadlock->stuck[deadlock->ring + i].thread, out);
	}
	if (count > OTHERS_MOST)
		strbuf_add_format(out, " and %zu more", count - OTHERS_MOST);
}
