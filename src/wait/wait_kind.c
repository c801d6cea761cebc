/* SPDX-License-Identifier: MIT */
/* wait_kind.c - texts and properties of the kinds of waits. */
#include "wallsample/wait/wait.h"

#include <string.h>

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

void
wait_kind_add(enum wait_kind kind, const char *text, const char *object, struct strbuf *out)
{
	const bool is_descriptor = kind >= WAIT_FILE && kind <= WAIT_IO_URING;
	const char *comma = object[0] != '\0' ? strstr(text, ", ") : NULL;

	if (kind == WAIT_TASK && object[0] != '\0') {
		strbuf_add_text(out, object);
		return;
	}
	if (comma != NULL) {
		strbuf_add(out, text, (size_t)(comma - text));
		strbuf_add_format(out, " %s (%s)", object, comma + 2);
		return;
	}
	/* The object's text begins with the kind: "epoll of 3: …", "timerfd, in 2 s". */
	if (!is_descriptor || strncmp(object, text, strlen(text)) != 0)
		strbuf_add_text(out, text);
	else
		text = "";
	if (object[0] != '\0' && text[0] != '\0')
		strbuf_add_text(out, is_descriptor ? ": " : kind == WAIT_SLEEP ? ", " : " ");
	strbuf_add_text(out, object);
}

bool
wait_kind_in_memory(enum wait_kind kind)
{
	return kind >= WAIT_MUTEX && kind <= WAIT_FUTEX;
}

bool
wait_kind_has_owner(enum wait_kind kind)
{
	return (kind >= WAIT_MUTEX && kind <= WAIT_STDIO) || kind == WAIT_GIL || kind == WAIT_JOIN;
}
