/* SPDX-License-Identifier: MIT */
/*
 * namer_internal.h - a process that reads the symbols and the DWARF of foreign files in a sandbox
 * (sandbox.h). A damaged or hostile file that crashes a library, or makes it use too much time or
 * memory, costs the names of its module.
 *
 * The process is a fork of this one, so it has the modules and the descriptors of their images. It
 * can open no files: it asks for debug files by the number of a directory and a path below it, and
 * gets descriptors. After a failure a new process is started, and the question that failed is asked
 * once more. A new process is also started when modules were added after the fork.
 *
 * What the process sends is checked like the bytes of any foreign file.
 */
#ifndef WALLSAMPLE_SYMBOL_NAMER_INTERNAL_H
#define WALLSAMPLE_SYMBOL_NAMER_INTERNAL_H

#include "wallsample/base/table.h"
#include "wallsample/symbol/symbol.h"

/* What the process does, by functions that are called in it alone. All pointers are borrowed. */
struct namer_work {
	/* Called once, before the others. Files are opened by `opener`, messages go to `log`. */
	void (*begin)(void *context, const struct debug_opener *opener, const struct log *log);
	/* Stores at most SYMBOL_CHAIN_MAX names of the place, and returns their number, at least
	 * 1. */
	size_t (*find)(void *context, const struct symbol_place *place, struct symbol *out);
	/* See symbols_module_is_bare(). */
	bool (*is_bare)(void *context, uint32_t module);
	void *context;
};

struct namer;

/*
 * Makes a namer; the process is started when it is first needed. `files` opens the files that the
 * process asks for, `log` gets its messages, `texts` keeps the texts of names. All pointers are
 * borrowed until namer_free, which ends the process.
 */
struct namer *namer_create(const struct namer_work *work, const struct modules *modules,
			   struct debug_files *files, const struct log *log, struct strings *texts);
void namer_free(struct namer *namer);

/* Finds the names of `count` places at once, so that namer_find has them. Places whose names were
 * found before are left out. */
void namer_prepare(struct namer *namer, const struct symbol_place *place, size_t count);

/*
 * Stores at most `most` names of the place, which must have a module with an image, and returns
 * their number, as symbols_find() does; `module` of the names is not set. Returns 0 when the names
 * are lost: the process has failed twice on this module, or 16 times in all.
 */
size_t namer_find(struct namer *namer, const struct symbol_place *place, struct symbol *out,
		  size_t most);

/* See symbols_module_is_bare(). Returns true, too, when the names of the module are lost. */
bool namer_is_bare(struct namer *namer, uint32_t module);

/* --- messages (namer_message.c) -------------------------------------------------------------- */

/*
 * X(NAME): kinds of messages. wallsample sends ASK, which has one or more questions. The process
 * answers each question with one NAMES, in the order of the questions. Before a NAMES, the process
 * may send LOG, OPEN and FETCH, in any number; wallsample answers each OPEN or FETCH with one
 * OPENED.
 */
#define NAMER_KINDS(X)                                                                             \
	X(ASK)    /* count; for each question: module, flags (NAMER_DATA, …), vaddr */           \
	X(NAMES)  /* is bare, count; for each name: source, line, flags, function, file */         \
	X(LOG)    /* text */                                                                       \
	X(OPEN)   /* number of the directory (debug_files_open_below), path below it */            \
	X(FETCH)  /* name of the module, size of its build-id, build-id */                         \
	X(OPENED) /* error number, or 0 and a descriptor is passed; whole path */

enum namer_kind {
#define X(name) NAMER_##name,
	NAMER_KINDS(X) NAMER_KIND_COUNT
#undef X
};

#define NAMER_DATA 1 /* the address is that of a variable */
#define NAMER_BARE 2 /* only symbols_module_is_bare() is asked */

#define NAMER_INLINED 1 /* symbol.inlined */
#define NAMER_KNOWN 2   /* symbol.known */
#define NAMER_FILE 4    /* symbol.file is not NULL */

/* Largest number of bytes of a message. */
#define NAMER_MESSAGE_MOST ((size_t)4 << 20)

/* A message that is written, or read. All zero: an empty one. */
struct namer_message {
	struct strbuf bytes;
	size_t at;   /* bytes that were read */
	bool broken; /* more was read than the message has: all that is read further is 0 or "" */
};

void namer_put_number(struct namer_message *message, uint64_t number);
void namer_put_text(struct namer_message *message, const char *text);
uint64_t namer_get_number(struct namer_message *message);
/* Returns a text that is borrowed from the message. */
const char *namer_get_text(struct namer_message *message);
/* Returns `size` bytes that are borrowed from the message. Returns NULL, and the message is then
 * `broken`, when fewer bytes are left or `size` is 0. */
const uint8_t *namer_get_bytes(struct namer_message *message, uint64_t size);

/* Sends the message, with the descriptor `passed` unless that is -1, and empties the message.
 * `passed` stays with the caller. Returns false when the other side has ended or has received
 * nothing for as long as SO_SNDTIMEO of the socket permits, or when the message has more than
 * NAMER_MESSAGE_MOST bytes. */
bool namer_send(int fd, enum namer_kind kind, struct namer_message *message, int passed);
/*
 * Receives a message and stores its kind, and in *passed, which may be NULL, a descriptor that came
 * with it, or -1. Returns false when the other side has ended, has sent nothing for as long as
 * SO_RCVTIMEO of the socket permits, has sent what is no message, or when `until_ns` (clock_now_ns)
 * has passed before the message was whole; 0: it may take any time.
 */
bool namer_receive(int fd, enum namer_kind *kind, struct namer_message *message, int *passed,
		   uint64_t until_ns);

/* --- answers (namer_answers.c) ---------------------------------------------------------------- */

/* The answer to a question. */
struct namer_answer {
	size_t first, count; /* its names in namer_answers.symbol */
	bool bare;
};

/* The answers of all processes, and the counts of their requests. Set the first three members and
 * leave the others 0; release with namer_answers_release(). */
struct namer_answers {
	struct debug_files *files; /* opens files; borrowed, as the next two */
	const struct log *log;
	struct strings *texts;
	struct symbol *symbol;
	size_t symbol_count, symbol_capacity;
	size_t text_size;        /* bytes of all texts that were kept */
	unsigned lines, fetches; /* lines of the log, files of servers */
	struct namer_message message;
};

/* Handles messages until the process has answered one question, for at most 3 minutes. Logs lines,
 * and opens files and sends their descriptors, on request of the process. `fd` is the socket to the
 * process, borrowed. Sets *answer. Returns false if the process must be ended: it has closed the
 * socket, sent an invalid message, or not answered in time (SO_RCVTIMEO, or the 3 minutes). */
bool namer_answers_receive(struct namer_answers *answers, int fd, struct namer_answer *answer);
void namer_answers_release(struct namer_answers *answers);

/* --- the process (namer_serve.c, namer_process.c) --------------------------------------------- */

/* Answers the messages of socket `fd` until the other side has closed it. Called in the process.
 * Messages up to `level` are sent as LOG; one of them says that the kernel has refused the seccomp
 * filter if `filtered` is false. */
void namer_serve(int fd, const struct namer_work *work, enum log_level level, bool filtered);

struct namer_process;

/* Makes the owner of a process, but starts none. `work` and `modules` are borrowed until
 * namer_process_free(), which ends the process and accepts NULL. `log` may be NULL; only its level
 * is used. */
struct namer_process *namer_process_create(const struct namer_work *work,
					   const struct modules *modules, const struct log *log);
void namer_process_free(struct namer_process *process);
/* Ends the process that runs, if any, and starts another one, which knows the modules that exist
 * now. Returns the socket to it, borrowed until the next start or end; -1 on failure, and always
 * once a killed process has not ended. */
int namer_process_start(struct namer_process *process);
/* Kills the process if it still runs, and waits up to 5 s for its end. Returns the reason of its
 * end for a message ("signal 11", "exit status 1", "it was killed, or did not answer"), valid until
 * the next call. */
const char *namer_process_end(struct namer_process *process);

#endif
