/* SPDX-License-Identifier: MIT */
/* run_state.c - the closed set of run states: texts, letters, parsing. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "wallsample/base/base.h"
#include "wallsample/thread/state.h"

static const char *const texts[] = {
#define X(name, text, letter) [RUN_##name] = text,
	RUN_STATES(X)
#undef X
};

static const char letters[] = {
#define X(name, text, letter) [RUN_##name] = letter,
	RUN_STATES(X)
#undef X
};

/* The text of RUN_UNINTERRUPTIBLE in earlier versions, which scripts may pass to --state. */
#define EARLIER_UNINTERRUPTIBLE "disk"

const char *
run_state_text(enum run_state state)
{
	return (unsigned)state < RUN_STATE_COUNT ? texts[state] : texts[RUN_UNKNOWN];
}

char
run_state_letter(enum run_state state)
{
	return (unsigned)state < RUN_STATE_COUNT ? letters[state] : letters[RUN_UNKNOWN];
}

bool
run_state_parse(const char *text, enum run_state *state)
{
	for (int i = 0; i < RUN_STATE_COUNT; i++) {
		bool letter = text[0] != '\0' && text[1] == '\0' &&
			      toupper((unsigned char)text[0]) == letters[i];

		if (letter || strcasecmp(text, texts[i]) == 0) {
			*state = (enum run_state)i;
			return true;
		}
	}
	if (strcasecmp(text, EARLIER_UNINTERRUPTIBLE) != 0)
		return false;
	*state = RUN_UNINTERRUPTIBLE;
	return true;
}

bool
run_state_runnable(enum run_state state)
{
	return state == RUN_RUNNING || state == RUN_QUEUED;
}

/* The letters are those of field 3 in proc_pid_stat(5): I is an idle kernel thread, t a stop by a
 * tracer. */
enum run_state
run_state_from_letter(char letter)
{
	switch (letter) {
	case 'R':
		return RUN_RUNNING;
	case 'S':
	case 'I':
		return RUN_SLEEPING;
	case 'D':
		return RUN_UNINTERRUPTIBLE;
	case 'T':
	case 't':
		return RUN_STOPPED;
	default:
		return RUN_UNKNOWN;
	}
}

void
run_state_add(struct strbuf *sb, enum run_state state, int32_t syscall)
{
	const bool waits = state == RUN_SLEEPING || state == RUN_UNINTERRUPTIBLE;

	strbuf_add_text(sb, waits && syscall == SYSCALL_GREEN ? "parked" : run_state_text(state));
	if (!waits || syscall == SYSCALL_GREEN)
		return;
	if (syscall == SYSCALL_NONE)
		strbuf_add_text(sb, " in a page fault");
	else if (syscall == SYSCALL_UNKNOWN)
		strbuf_add_text(sb, " in an unknown system call");
	else if (syscall_name(syscall) != NULL)
		strbuf_add_format(sb, " in %s", syscall_name(syscall));
	else
		strbuf_add_format(sb, " in syscall %" PRId32, syscall);
}
