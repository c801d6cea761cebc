/* SPDX-License-Identifier: MIT */
/*
 * fuzz_names.c - the bytes are what the process that finds names has sent: hostile files may have
 * taken it over.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "fuzz.h"
#include "symbol/namer_internal.h"
#include "wallsample/base/base.h"

/* More answers than the bytes can hold: a message has a head of eight bytes. */
#define ANSWERS_MOST(size) ((size) / 8 + 1)
/* More than a pair of sockets holds would block the writer. */
#define BYTES_MOST ((size_t)64 << 10)

/* Each name that was taken has texts, and each answer has the names that it says. */
static void
check(const struct namer_answers *answers, const struct namer_answer *answer)
{
	if (answer->count > SYMBOL_CHAIN_MAX ||
	    answer->first + answer->count > answers->symbol_count)
		abort();
	for (size_t i = 0; i < answer->count; i++) {
		const struct symbol *symbol = &answers->symbol[answer->first + i];

		if (symbol->function == NULL || symbol->source > SYMBOL_NONE ||
		    strlen(symbol->function) > answers->text_size ||
		    (symbol->file != NULL && strlen(symbol->file) > answers->text_size))
			abort();
	}
}

static void
receive(struct namer_answers *answers, int fd, size_t size)
{
	struct namer_answer answer;

	for (size_t i = 0; namer_answers_receive(answers, fd, &answer); i++) {
		if (i > ANSWERS_MOST(size))
			abort();
		check(answers, &answer);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	/* Nothing reads the replies to OPEN and FETCH: sending them must time out. */
	const struct timeval soon = { .tv_usec = 1000 };
	const struct log log = { .level = LOG_QUIET };
	const char *const dirs[] = { "/nonexistent", NULL };
	const struct debug_files_config config = { .debug_dirs = dirs, .log = &log };
	struct namer_answers answers = { .files = debug_files_create(&config),
					 .log = &log,
					 .texts = strings_create() };
	int ends[2];

	if (size > BYTES_MOST)
		size = BYTES_MOST;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
		setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon));
		if (size > 0 && write(ends[1], bytes, size) != (ssize_t)size)
			abort();
		shutdown(ends[1], SHUT_WR);
		receive(&answers, ends[0], size);
		close(ends[0]);
		close(ends[1]);
	}
	namer_answers_release(&answers);
	debug_files_free(answers.files);
	strings_free(answers.texts);
	return 0;
}
