/* SPDX-License-Identifier: MIT */
/* namer_answers.c - receives the answers of the process that finds names, and opens the files for
 * which it asks. */
#include "symbol/namer_internal.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wallsample/base/base.h"
#include "wallsample/elf/symbol_names.h"

/* Longest time for a question, messages of the process included: those that look for debug files
 * take 30 s each if a debuginfod server does not answer. */
#define QUESTION_NS (180 * NS_PER_SEC)
/* Largest size in bytes of a text of a name, and of all texts together. */
#define TEXT_MOST ((size_t)SYMBOL_NAME_MAX + 4096)
#define TEXTS_MOST ((size_t)256 << 20)
/* Largest number of FETCH requests that are served in a run. */
#define FETCHES_MOST 4096
/* Largest number of lines that the processes may have logged. */
#define LINES_MOST 1000

/* --- what the process asks for --------------------------------------------------------------- */

/* Sends OPENED with the descriptor `fd`, and closes it. If `fd` is -1, sends errno instead. */
static void
send_opened(struct namer_answers *answers, int to, int fd, const char *path)
{
	answers->message = (struct namer_message){ .bytes = answers->message.bytes };
	strbuf_clear(&answers->message.bytes);
	namer_put_number(&answers->message, fd >= 0 ? 0 : (uint64_t)errno);
	namer_put_text(&answers->message, path != NULL ? path : "");
	/* If the process has ended, the next namer_receive() fails. */
	(void)namer_send(to, NAMER_OPENED, &answers->message, fd);
	if (fd >= 0)
		close(fd);
}

/* Returns the descriptor of a file if it begins like an ELF file; else closes it, and returns -1
 * with errno: the process has no need of other files. */
static int
only_elf(int fd)
{
	char magic[SELFMAG];

	if (fd < 0 || (file_read_at(fd, 0, magic, sizeof(magic)) == sizeof(magic) &&
		       memcmp(magic, ELFMAG, SELFMAG) == 0))
		return fd;
	close(fd);
	errno = ENOEXEC;
	return -1;
}

static void
open_file(struct namer_answers *answers, int to)
{
	const uint64_t place = namer_get_number(&answers->message);
	const char *below = namer_get_text(&answers->message);
	struct strbuf path = STRBUF_INIT;
	int fd = -1;

	errno = EINVAL;
	if (!answers->message.broken)
		fd = debug_files_open_below(answers->files, place, below, &path);
	send_opened(answers, to, only_elf(fd), path.data);
	strbuf_release(&path);
}

static void
fetch_file(struct namer_answers *answers, int to)
{
	const char *name = namer_get_text(&answers->message);
	const uint64_t size = namer_get_number(&answers->message);
	const uint8_t *id = namer_get_bytes(&answers->message, size);
	char *path = NULL;
	int fd = -1;

	errno = EINVAL;
	if (id != NULL && size <= IMAGE_BUILD_ID_MAX && answers->fetches++ < FETCHES_MOST)
		fd = debug_files_fetch(answers->files, id, (size_t)size, name, &path);
	send_opened(answers, to, only_elf(fd), path);
	free(path);
}

/* Logs a line that the process has logged, without what log_say() has put around it. */
static void
log_line(struct namer_answers *answers)
{
	static const char head[] = "wallsample: ";
	const char *line = namer_get_text(&answers->message);
	size_t length;

	if (strncmp(line, head, strlen(head)) == 0)
		line += strlen(head);
	length = strcspn(line, "\n");
	if (answers->lines++ < LINES_MOST)
		log_say(answers->log, answers->log->level, "%.*s", (int)length, line);
}

/* --- answers -------------------------------------------------------------------------------- */

/* Keeps the text, and returns it; NULL if it is too long, or has no room beside all others. */
static const char *
keep_text(struct namer_answers *answers, const char *text)
{
	const size_t length = strlen(text), texts = strings_count(answers->texts);
	uint32_t id;

	if (length > TEXT_MOST || answers->text_size + length > TEXTS_MOST)
		return NULL;
	id = strings_intern(answers->texts, text);
	if (strings_count(answers->texts) > texts)
		answers->text_size += length;
	return strings_text(answers->texts, id);
}

static bool
take_symbol(struct namer_answers *answers)
{
	struct namer_message *message = &answers->message;
	const uint64_t source = namer_get_number(message);
	const uint64_t line = namer_get_number(message);
	const uint64_t flags = namer_get_number(message);
	const char *function = keep_text(answers, namer_get_text(message));
	const char *file = keep_text(answers, namer_get_text(message));

	if (message->broken || source > SYMBOL_NONE || line > UINT32_MAX || function == NULL ||
	    file == NULL)
		return false;
	answers->symbol = xgrow(answers->symbol, &answers->symbol_capacity,
				answers->symbol_count + 1, sizeof(*answers->symbol));
	answers->symbol[answers->symbol_count++] = (struct symbol){
		.function = function,
		.file = (flags & NAMER_FILE) != 0 ? file : NULL,
		.line = (uint32_t)line,
		.source = (enum symbol_source)source,
		.known = (flags & NAMER_KNOWN) != 0,
		.inlined = (flags & NAMER_INLINED) != 0,
	};
	return true;
}

/* Reads the names of a place. Returns false if the message is malformed. */
static bool
take_names(struct namer_answers *answers, struct namer_answer *answer)
{
	uint64_t count;

	answer->bare = namer_get_number(&answers->message) != 0;
	answer->first = answers->symbol_count;
	count = namer_get_number(&answers->message);
	if (answers->message.broken || count > SYMBOL_CHAIN_MAX)
		return false;
	for (; answer->count < count; answer->count++)
		if (!take_symbol(answers))
			return false;
	return true;
}

bool
namer_answers_receive(struct namer_answers *answers, int fd, struct namer_answer *answer)
{
	const uint64_t until_ns = clock_now_ns() + QUESTION_NS;
	enum namer_kind kind;

	*answer = (struct namer_answer){ .count = 0 };
	while (namer_receive(fd, &kind, &answers->message, NULL, until_ns)) {
		if (kind == NAMER_NAMES)
			return take_names(answers, answer);
		if (kind == NAMER_LOG)
			log_line(answers);
		else if (kind == NAMER_OPEN)
			open_file(answers, fd);
		else if (kind == NAMER_FETCH)
			fetch_file(answers, fd);
		else
			return false;
	}
	return false;
}

void
namer_answers_release(struct namer_answers *answers)
{
	strbuf_release(&answers->message.bytes);
	free(answers->symbol);
}
