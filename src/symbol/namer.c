/* SPDX-License-Identifier: MIT */
/* namer.c - asks the process that finds names, and keeps what it answers. */
#include "symbol/namer_internal.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"
#include "wallsample/elf/symbol_names.h"

/* Largest number of questions of one message. */
#define BATCH 256
/* After this number of processes that died, no more is started. */
#define DEATHS_MOST 16
/* Longest time for a question, messages of the process included: those that look for debug files
 * take 30 s each if a debuginfod server does not answer. */
#define QUESTION_NS (180 * NS_PER_SEC)
/* Largest size in bytes of a text of a name, and of all texts together. */
#define TEXT_MOST ((size_t)SYMBOL_NAME_MAX + 4096)
#define TEXTS_MOST ((size_t)256 << 20)
/* Largest number of files that the processes may have asked servers for. */
#define FETCHES_MOST 4096
/* Largest number of lines that the processes may have logged. */
#define LINES_MOST 1000

/* A question about one place, or about one module. */
struct question {
	struct symbol_place place;
	bool bare; /* symbols_module_is_bare() is asked */
};

struct answer {
	size_t first, count; /* its names in `symbol` */
	bool bare;
};

struct namer {
	struct namer_work work;
	const struct modules *modules;
	struct debug_files *files;
	const struct log *log;
	struct strings *texts;

	struct namer_process *process;
	pid_t owner;  /* the process that has created `process`: a fork needs one of its own */
	int fd;       /* socket to the process that runs; -1: none */
	size_t known; /* number of modules that it knows */
	unsigned deaths, lines, fetches;
	size_t text_size; /* bytes of all texts that were kept */
	uint32_t suspect; /* module whose question the last process that died has not answered */
	bool *lost;       /* by id of a module: its names are lost */
	size_t lost_count, lost_capacity;

	/* Answers: by (module and flags, vaddr). */
	struct table asked;
	struct answer *answer;
	size_t answer_capacity;
	struct symbol *symbol;
	size_t symbol_count, symbol_capacity;
	struct namer_message message;
};

struct namer *
namer_create(const struct namer_work *work, const struct modules *modules,
	     struct debug_files *files, const struct log *log, struct strings *texts)
{
	struct namer *namer = xcalloc(1, sizeof(*namer));

	namer->work = *work;
	namer->modules = modules;
	namer->files = files;
	namer->log = log;
	namer->texts = texts;
	namer->fd = -1;
	namer->suspect = MODULE_NONE;
	return namer;
}

void
namer_free(struct namer *namer)
{
	if (namer == NULL)
		return;
	/* A forked child does not have the thread that ends the process. */
	if (namer->owner == getpid())
		namer_process_free(namer->process);
	table_release(&namer->asked);
	strbuf_release(&namer->message.bytes);
	free(namer->lost);
	free(namer->answer);
	free(namer->symbol);
	free(namer);
}

static bool
is_lost(const struct namer *namer, uint32_t module)
{
	return namer->deaths >= DEATHS_MOST || (module < namer->lost_count && namer->lost[module]);
}

/* Called when the process has died before it answered a question about the module. The names of the
 * module are lost only if the process before died on it, too: the kernel may have killed one
 * process for another reason. */
static void
blame_module(struct namer *namer, uint32_t module, const char *why)
{
	const struct module *of = modules_at(namer->modules, module);
	const bool again = namer->suspect == module;

	namer->suspect = module;
	if (++namer->deaths == DEATHS_MOST)
		log_say(namer->log, LOG_NORMAL,
			"symbols are no longer read: ws-namer has failed %d times", DEATHS_MOST);
	if (!again)
		return;
	namer->lost = xgrow(namer->lost, &namer->lost_capacity, (size_t)module + 1,
			    sizeof(*namer->lost));
	while (namer->lost_count <= module)
		namer->lost[namer->lost_count++] = false;
	namer->lost[module] = true;
	log_say(namer->log, LOG_NORMAL,
		"%s: no names: ws-namer, which reads symbols, failed twice on this file (%s)",
		of->path != NULL ? of->path : of->name, why);
}

/* --- what the process asks for --------------------------------------------------------------- */

static void
send_opened(struct namer *namer, int fd, const char *path)
{
	namer->message = (struct namer_message){ .bytes = namer->message.bytes };
	strbuf_clear(&namer->message.bytes);
	namer_put_number(&namer->message, fd >= 0 ? 0 : (uint64_t)errno);
	namer_put_text(&namer->message, path != NULL ? path : "");
	/* If it has ended, the next message cannot be received. */
	(void)namer_send(namer->fd, NAMER_OPENED, &namer->message, fd);
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
open_file(struct namer *namer)
{
	const uint64_t place = namer_get_number(&namer->message);
	const char *below = namer_get_text(&namer->message);
	struct strbuf path = STRBUF_INIT;
	int fd = -1;

	errno = EINVAL;
	if (!namer->message.broken)
		fd = debug_files_open_below(namer->files, place, below, &path);
	send_opened(namer, only_elf(fd), path.data);
	strbuf_release(&path);
}

static void
fetch_file(struct namer *namer)
{
	const char *name = namer_get_text(&namer->message);
	const uint64_t size = namer_get_number(&namer->message);
	const uint8_t *id = namer_get_bytes(&namer->message, size);
	char *path = NULL;
	int fd = -1;

	errno = EINVAL;
	if (id != NULL && size <= IMAGE_BUILD_ID_MAX && namer->fetches++ < FETCHES_MOST)
		fd = debug_files_fetch(namer->files, id, (size_t)size, name, &path);
	send_opened(namer, only_elf(fd), path);
	free(path);
}

/* Logs a line that the process has logged, without what log_say() has put around it. */
static void
log_line(struct namer *namer)
{
	static const char head[] = "wallsample: ";
	const char *line = namer_get_text(&namer->message);
	size_t length;

	if (strncmp(line, head, strlen(head)) == 0)
		line += strlen(head);
	length = strcspn(line, "\n");
	if (namer->lines++ < LINES_MOST)
		log_say(namer->log, namer->log->level, "%.*s", (int)length, line);
}

/* --- answers -------------------------------------------------------------------------------- */

/* Keeps the text, and returns it; NULL if it is too long, or has no room beside all others. */
static const char *
keep_text(struct namer *namer, const char *text)
{
	const size_t length = strlen(text), texts = strings_count(namer->texts);
	uint32_t id;

	if (length > TEXT_MOST || namer->text_size + length > TEXTS_MOST)
		return NULL;
	id = strings_intern(namer->texts, text);
	if (strings_count(namer->texts) > texts)
		namer->text_size += length;
	return strings_text(namer->texts, id);
}

static bool
take_symbol(struct namer *namer)
{
	struct namer_message *message = &namer->message;
	const uint64_t source = namer_get_number(message);
	const uint64_t line = namer_get_number(message);
	const uint64_t flags = namer_get_number(message);
	const char *function = keep_text(namer, namer_get_text(message));
	const char *file = keep_text(namer, namer_get_text(message));

	if (message->broken || source > SYMBOL_NONE || line > UINT32_MAX || function == NULL ||
	    file == NULL)
		return false;
	namer->symbol = xgrow(namer->symbol, &namer->symbol_capacity, namer->symbol_count + 1,
			      sizeof(*namer->symbol));
	namer->symbol[namer->symbol_count++] = (struct symbol){
		.function = function,
		.file = (flags & NAMER_FILE) != 0 ? file : NULL,
		.line = (uint32_t)line,
		.source = (enum symbol_source)source,
		.known = (flags & NAMER_KNOWN) != 0,
		.inlined = (flags & NAMER_INLINED) != 0,
	};
	return true;
}

/* Reads the names of a place. False: what was sent is not what was asked for. */
static bool
take_names(struct namer *namer, struct answer *answer)
{
	uint64_t count;

	answer->bare = namer_get_number(&namer->message) != 0;
	answer->first = namer->symbol_count;
	count = namer_get_number(&namer->message);
	if (namer->message.broken || count > SYMBOL_CHAIN_MAX)
		return false;
	for (; answer->count < count; answer->count++)
		if (!take_symbol(namer))
			return false;
	return true;
}

/* Handles messages until one has the names of a place. False: the process has ended, or is to be
 * ended. */
static bool
receive_names(struct namer *namer, struct answer *answer)
{
	const uint64_t until_ns = clock_now_ns() + QUESTION_NS;
	enum namer_kind kind;

	*answer = (struct answer){ .count = 0 };
	while (namer_receive(namer->fd, &kind, &namer->message, NULL, until_ns)) {
		if (kind == NAMER_NAMES)
			return take_names(namer, answer);
		if (kind == NAMER_LOG)
			log_line(namer);
		else if (kind == NAMER_OPEN)
			open_file(namer);
		else if (kind == NAMER_FETCH)
			fetch_file(namer);
		else
			return false;
	}
	return false;
}

/* --- questions ------------------------------------------------------------------------------ */

/* Starts a process unless one runs that knows all modules. */
static bool
start(struct namer *namer)
{
	const size_t modules = modules_count(namer->modules);

	if (namer->owner == getpid() && namer->fd >= 0 && namer->known == modules)
		return true;
	if (namer->owner != getpid()) {
		namer->process = namer_process_create(&namer->work, namer->modules, namer->log);
		namer->owner = getpid();
	}
	namer->known = modules;
	namer->fd = namer_process_start(namer->process);
	return namer->fd >= 0;
}

static bool
send_questions(struct namer *namer, const struct question *question, size_t count)
{
	namer->message = (struct namer_message){ .bytes = namer->message.bytes };
	strbuf_clear(&namer->message.bytes);
	namer_put_number(&namer->message, count);
	for (size_t i = 0; i < count; i++) {
		namer_put_number(&namer->message, question[i].place.module);
		namer_put_number(&namer->message, (question[i].place.data ? NAMER_DATA : 0) |
							  (question[i].bare ? NAMER_BARE : 0));
		namer_put_number(&namer->message, question[i].place.vaddr);
	}
	return namer_send(namer->fd, NAMER_ASK, &namer->message, -1);
}

static void
key_of(const struct question *question, uint64_t key[2])
{
	key[0] = (uint64_t)question->place.module << 2 | (uint64_t)question->bare << 1 |
		 question->place.data;
	key[1] = question->place.vaddr;
}

static void
keep_answer(struct namer *namer, const struct question *question, const struct answer *answer)
{
	uint64_t key[2];
	uint32_t index;

	key_of(question, key);
	namer->answer = table_row(&namer->asked, key, namer->answer, &namer->answer_capacity,
				  sizeof(*namer->answer), &index);
	namer->answer[index] = *answer;
}

/* Returns the number of questions before the first one about a module whose names are lost. */
static size_t
count_asked(const struct namer *namer, const struct question *question, size_t count)
{
	size_t asked = 0;

	while (asked < count && !is_lost(namer, question[asked].place.module))
		asked++;
	return asked;
}

/* Asks the questions. The process answers them in their order: if it dies, the module of the first
 * question without an answer is to blame, and the questions from there on are asked again. */
static void
ask(struct namer *namer, struct question *question, size_t count)
{
	size_t done = 0;

	while (done < count) {
		const size_t end = done + count_asked(namer, question + done, count - done);
		struct answer answer;

		if (end == done) {
			done++;
			continue;
		}
		if (start(namer) && send_questions(namer, question + done, end - done)) {
			while (done < end && receive_names(namer, &answer))
				keep_answer(namer, &question[done++], &answer);
		}
		if (done == end)
			continue;
		namer->fd = -1;
		blame_module(namer, question[done].place.module, namer_process_end(namer->process));
	}
}

static const struct answer *
find_answer(const struct namer *namer, const struct question *question)
{
	uint64_t key[2];
	uint32_t index;

	key_of(question, key);
	return table_find(&namer->asked, key[0], key[1], &index) ? &namer->answer[index] : NULL;
}

/* Returns the answer to one question; NULL when it is lost. */
static const struct answer *
answer_of(struct namer *namer, struct question *question)
{
	if (find_answer(namer, question) == NULL)
		ask(namer, question, 1);
	return find_answer(namer, question);
}

void
namer_prepare(struct namer *namer, const struct symbol_place *place, size_t count)
{
	struct question question[BATCH];
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		question[used] = (struct question){ .place = place[i] };
		used += find_answer(namer, &question[used]) == NULL;
		if (used == BATCH || (i + 1 == count && used > 0)) {
			ask(namer, question, used);
			used = 0;
		}
	}
}

size_t
namer_find(struct namer *namer, const struct symbol_place *place, struct symbol *out, size_t most)
{
	struct question question = { .place = *place };
	const struct answer *answer = answer_of(namer, &question);
	size_t count;

	if (answer == NULL || answer->count == 0)
		return 0;
	count = answer->count < most ? answer->count : most;
	/* The last name is that of the function, even when others have no room. */
	for (size_t i = 0; i < count; i++)
		out[i] = namer->symbol[answer->first + i];
	out[count - 1] = namer->symbol[answer->first + answer->count - 1];
	return count;
}

bool
namer_is_bare(struct namer *namer, uint32_t module)
{
	struct question question = { .place = { .module = module }, .bare = true };
	const struct answer *answer = answer_of(namer, &question);

	return answer == NULL || answer->bare;
}
