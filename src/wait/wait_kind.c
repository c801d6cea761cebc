/* SPDX-License-Identifier: MIT */
/* wait_kind.c - what the kinds of waits are called, and what kinds of kinds there are. */
#include "wallsample/wait.h"

const char *
wait_kind_text(enum wait_kind kind)
{
	static const char *const texts[] = {
#define X(name, text) [WAIT_##name] = text,
		WAIT_KINDS(X)
#undef X
	};

	return texts[kind];
}

bool
wait_kind_in_memory(enum wait_kind kind)
{
	return kind >= WAIT_MUTEX && kind <= WAIT_FUTEX;
}

bool
wait_kind_has_owner(enum wait_kind kind)
{
	return (kind >= WAIT_MUTEX && kind <= WAIT_STDIO) || kind == WAIT_JOIN;
}
