/* SPDX-License-Identifier: MIT */
/* namer_message.c - messages between wallsample and the process that finds names. */
#include "symbol/namer_internal.h"

#include <errno.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/base/pass.h"

struct header {
	uint32_t kind;
	uint32_t size;
};

void
namer_put_number(struct namer_message *message, uint64_t number)
{
	strbuf_add(&message->bytes, (const char *)&number, sizeof(number));
}

void
namer_put_text(struct namer_message *message, const char *text)
{
	strbuf_add(&message->bytes, text, strlen(text) + 1);
}

const uint8_t *
namer_get_bytes(struct namer_message *message, uint64_t size)
{
	const size_t at = message->at;

	if (message->broken || size == 0 || size > message->bytes.length - at) {
		message->broken = true;
		return NULL;
	}
	message->at += (size_t)size;
	return (const uint8_t *)message->bytes.data + at;
}

uint64_t
namer_get_number(struct namer_message *message)
{
	const uint8_t *bytes = namer_get_bytes(message, sizeof(uint64_t));
	uint64_t number = 0;

	if (bytes != NULL)
		memcpy(&number, bytes, sizeof(number));
	return number;
}

const char *
namer_get_text(struct namer_message *message)
{
	const size_t left = message->bytes.length - message->at;
	const char *text, *end;

	message->broken |= left == 0;
	if (message->broken)
		return "";
	text = message->bytes.data + message->at;
	end = memchr(text, '\0', left);
	if (end == NULL) {
		message->broken = true;
		return "";
	}
	message->at += (size_t)(end - text) + 1;
	return text;
}

/* Sends bytes, the first of them with the descriptor. */
static bool
send_bytes(int fd, const char *bytes, size_t size, int passed)
{
	while (size > 0) {
		const ssize_t sent = pass_send(fd, bytes, size, passed);

		if (sent <= 0)
			return false;
		passed = -1;
		bytes += sent;
		size -= (size_t)sent;
	}
	return true;
}

bool
namer_send(int fd, enum namer_kind kind, struct namer_message *message, int passed)
{
	const struct header header = { .kind = kind, .size = (uint32_t)message->bytes.length };
	struct strbuf whole = STRBUF_INIT;
	bool sent;

	strbuf_add(&whole, (const char *)&header, sizeof(header));
	if (message->bytes.length > 0)
		strbuf_add(&whole, message->bytes.data, message->bytes.length);
	sent = message->bytes.length <= NAMER_MESSAGE_MOST &&
	       send_bytes(fd, whole.data, whole.length, passed);
	strbuf_release(&whole);
	strbuf_clear(&message->bytes);
	message->at = 0;
	return sent;
}

/* Receives `size` bytes. With `passed` NULL, descriptors are discarded by the kernel. */
static bool
receive_bytes(int fd, char *bytes, size_t size, int *passed, uint64_t until_ns)
{
	while (size > 0) {
		ssize_t got;

		if (until_ns != 0 && clock_now_ns() > until_ns)
			return false;
		got = pass_receive(fd, bytes, size, passed);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		/* A message has at most one descriptor. */
		if (passed != NULL && *passed >= 0)
			passed = NULL;
		bytes += got;
		size -= (size_t)got;
	}
	return true;
}

bool
namer_receive(int fd, enum namer_kind *kind, struct namer_message *message, int *passed,
	      uint64_t until_ns)
{
	struct header header;
	char *bytes;
	bool whole;

	if (passed != NULL)
		*passed = -1;
	strbuf_clear(&message->bytes);
	message->at = 0;
	message->broken = false;
	if (!receive_bytes(fd, (char *)&header, sizeof(header), passed, until_ns) ||
	    header.kind >= NAMER_KIND_COUNT || header.size > NAMER_MESSAGE_MOST)
		return false;
	*kind = (enum namer_kind)header.kind;
	bytes = xmalloc(header.size + 1);
	whole = receive_bytes(fd, bytes, header.size, NULL, until_ns);
	strbuf_add(&message->bytes, bytes, whole ? header.size : 0);
	free(bytes);
	return whole;
}
