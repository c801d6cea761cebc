/* SPDX-License-Identifier: MIT */
/* namer.c - asks the process that finds names, and keeps what it answers. */
#include "symbol/namer_internal.h"

#include <stdlib.h>
#include <unistd.h>

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"

/* Largest number of questions of one message. */
#define BATCH 256
/* After this number of processes that died, no more is started. */
#define DEATHS_MOST 16

/* A question about one place, or about one module. */
struct question {
	struct symbol_place place;
	bool bare; /* symbols_module_is_bare() is asked */
};

struct namer {
	struct namer_work work;
	const struct modules *modules;
	const struct log *log;

	struct namer_process *process;
	pid_t owner;  /* the process that has created `process`: a fork needs one of its own */
	int fd;       /* socket to the process that runs; -1: none */
	size_t known; /* number of modules that it knows */
	unsigned deaths;
	uint32_t suspect; /* module whose question the last process that died has not answered */
	bool *lost;       /* by id of a module: its names are lost */
	size_t lost_count, lost_capacity;

	struct namer_answers answers;
	struct table asked; /* (module and flags, vaddr) to the index in `answer` */
	struct namer_answer *answer;
	size_t answer_capacity;
	struct namer_message message;
};

struct namer *
namer_create(const struct namer_work *work, const struct modules *modules,
	     struct debug_files *files, const struct log *log, struct strings *texts)
{
	struct namer *namer = xcalloc(1, sizeof(*namer));

	namer->work = *work;
	namer->modules = modules;
	namer->log = log;
	namer->answers = (struct namer_answers){ .files = files, .log = log, .texts = texts };
	namer->fd = -1;
	namer->suspect = MODULE_NONE;
	return namer;
}

void
namer_free(struct namer *namer)
{
	if (namer == NULL)
		return;
	/* A fork of wallsample must not end the process of its parent (helper_end). */
	if (namer->owner == getpid())
		namer_process_free(namer->process);
	table_release(&namer->asked);
	strbuf_release(&namer->message.bytes);
	free(namer->lost);
	free(namer->answer);
	namer_answers_release(&namer->answers);
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
keep_answer(struct namer *namer, const struct question *question, const struct namer_answer *answer)
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
		struct namer_answer answer;

		if (end == done) {
			done++;
			continue;
		}
		if (start(namer) && send_questions(namer, question + done, end - done)) {
			while (done < end &&
			       namer_answers_receive(&namer->answers, namer->fd, &answer))
				keep_answer(namer, &question[done++], &answer);
		}
		if (done == end)
			continue;
		namer->fd = -1;
		blame_module(namer, question[done].place.module, namer_process_end(namer->process));
	}
}

static const struct namer_answer *
find_answer(const struct namer *namer, const struct question *question)
{
	uint64_t key[2];
	uint32_t index;

	key_of(question, key);
	return table_find(&namer->asked, key[0], key[1], &index) ? &namer->answer[index] : NULL;
}

/* Returns the answer to one question; NULL when it is lost. */
static const struct namer_answer *
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
	const struct namer_answer *answer = answer_of(namer, &question);
	size_t count;

	if (answer == NULL || answer->count == 0)
		return 0;
	count = answer->count < most ? answer->count : most;
	/* The last name is that of the function, even when others have no room. */
	for (size_t i = 0; i < count; i++)
		out[i] = namer->answers.symbol[answer->first + i];
	out[count - 1] = namer->answers.symbol[answer->first + answer->count - 1];
	return count;
}

bool
namer_is_bare(struct namer *namer, uint32_t module)
{
	struct question question = { .place = { .module = module }, .bare = true };
	const struct namer_answer *answer = answer_of(namer, &question);

	return answer == NULL || answer->bare;
}
