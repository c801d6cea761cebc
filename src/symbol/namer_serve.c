/* SPDX-License-Identifier: MIT */
/* namer_serve.c - what the process that finds names does. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbol/namer_internal.h"
#include "wallsample/base/base.h"

struct server {
	int fd;
	const struct namer_work *work;
	struct namer_message question, answer;
};

/* --- files -------------------------------------------------------------------------------- */

/* Sends a request for a file and receives the answer. Returns a descriptor, or -1 with errno.
 * Appends the whole path of the file to `path`. */
static int
request_file(struct server *server, enum namer_kind kind, struct namer_message *message,
	     struct strbuf *path)
{
	enum namer_kind answered;
	int fd = -1, error;

	if (!namer_send(server->fd, kind, message, -1) ||
	    !namer_receive(server->fd, &answered, message, &fd, 0) || answered != NAMER_OPENED)
		_Exit(1);
	error = (int)namer_get_number(message);
	strbuf_add_text(path, namer_get_text(message));
	strbuf_release(&message->bytes);
	if (fd < 0)
		errno = error != 0 ? error : EIO;
	return fd;
}

static int
open_below(void *context, unsigned place, const char *below, struct strbuf *path)
{
	struct namer_message message = { .at = 0 };

	namer_put_number(&message, place);
	namer_put_text(&message, below);
	strbuf_clear(path);
	return request_file(context, NAMER_OPEN, &message, path);
}

static int
fetch(void *context, const uint8_t *id, size_t id_size, const char *name, char **path)
{
	struct namer_message message = { .at = 0 };
	struct strbuf whole = STRBUF_INIT;
	int fd;

	namer_put_text(&message, name);
	namer_put_number(&message, id_size);
	strbuf_add(&message.bytes, (const char *)id, id_size);
	fd = request_file(context, NAMER_FETCH, &message, &whole);
	*path = fd >= 0 ? xstrdup(whole.data) : NULL;
	strbuf_release(&whole);
	return fd;
}

/* --- messages to the user ----------------------------------------------------------------- */

/* Sends a line of the log, which stdio has written at once. */
static ssize_t
send_line(void *context, const char *line, size_t size)
{
	struct server *server = context;
	struct namer_message message = { .at = 0 };

	strbuf_add(&message.bytes, line, size);
	strbuf_add(&message.bytes, "", 1);
	if (!namer_send(server->fd, NAMER_LOG, &message, -1))
		_Exit(1);
	strbuf_release(&message.bytes);
	return (ssize_t)size;
}

/* --- questions ------------------------------------------------------------------------------ */

static void
put_symbol(struct namer_message *answer, const struct symbol *symbol)
{
	namer_put_number(answer, symbol->source);
	namer_put_number(answer, symbol->line);
	namer_put_number(answer, (symbol->inlined ? NAMER_INLINED : 0) |
					 (symbol->known ? NAMER_KNOWN : 0) |
					 (symbol->file != NULL ? NAMER_FILE : 0));
	namer_put_text(answer, symbol->function);
	namer_put_text(answer, symbol->file != NULL ? symbol->file : "");
}

static void
answer_question(struct server *server)
{
	struct symbol_place place = {
		.module = (uint32_t)namer_get_number(&server->question),
	};
	const uint64_t flags = namer_get_number(&server->question);
	struct symbol symbol[SYMBOL_CHAIN_MAX];
	size_t count = 0;
	bool bare = false;

	place.data = (flags & NAMER_DATA) != 0;
	place.vaddr = namer_get_number(&server->question);
	if ((flags & NAMER_BARE) != 0)
		bare = server->work->is_bare(server->work->context, place.module);
	else
		count = server->work->find(server->work->context, &place, symbol);
	namer_put_number(&server->answer, bare);
	namer_put_number(&server->answer, count);
	for (size_t i = 0; i < count; i++)
		put_symbol(&server->answer, &symbol[i]);
	if (!namer_send(server->fd, NAMER_NAMES, &server->answer, -1))
		_Exit(1);
}

void
namer_serve(int fd, const struct namer_work *work, enum log_level level, bool filtered)
{
	struct server server = { .fd = fd, .work = work };
	const struct debug_opener opener = { .open = open_below,
					     .fetch = fetch,
					     .context = &server };
	struct log log = {
		.level = level,
		.stream = fopencookie(&server, "w", (cookie_io_functions_t){ .write = send_line }),
	};
	enum namer_kind kind;

	if (!filtered)
		log_say(&log, LOG_VERBOSE,
			"symbols are read without a seccomp filter, which the kernel has refused");
	work->begin(work->context, &opener, &log);
	while (namer_receive(fd, &kind, &server.question, NULL, 0) && kind == NAMER_ASK) {
		uint64_t count = namer_get_number(&server.question);

		while (count-- > 0 && !server.question.broken)
			answer_question(&server);
	}
}
