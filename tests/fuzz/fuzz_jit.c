/* SPDX-License-Identifier: MIT */
/*
 * fuzz_jit.c - the bytes are what the target wrote for profilers: a perf map and a jitdump file
 * at once. They are read in two parts, as they grow.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jit/jit_source_internal.h"
#include "fuzz.h"
#include "wallsample/base/base.h"

/* Addresses of the input that are asked for. */
#define ADDRESSES 64
#define PAGE 4096

static const struct jit_source *const sources[] = { &jit_by_perf_map, &jit_by_jitdump };

/* The program is the target of its own. */
struct scene {
	struct process *process;
	struct maps *maps;
	struct jit_target target;
	char path[2][48]; /* of the perf map, of the jitdump file */
	int fd[2];
};

static struct scene scene;

static void
remove_files(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(scene.path); i++)
		unlink(scene.path[i]);
}

static void
make_file(size_t at)
{
	unlink(scene.path[at]);
	scene.fd[at] = open(scene.path[at], O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (scene.fd[at] < 0) {
		fprintf(stderr, "%s cannot be written\n", scene.path[at]);
		exit(99);
	}
}

/* Once: what a round changes is what the files hold. */
static void
start(void)
{
	struct error err;

	if (process_open(getpid(), &scene.process, &err) != 0)
		abort();
	scene.target = (struct jit_target){ .process = scene.process, .root = -1 };
	jit_target_update(&scene.target);
	snprintf(scene.path[0], sizeof(scene.path[0]), "/tmp/perf-%u.map", scene.target.ns_pid);
	snprintf(scene.path[1], sizeof(scene.path[1]), "/tmp/jit-%u.dump", scene.target.ns_pid);
	atexit(remove_files);
	for (size_t i = 0; i < ARRAY_SIZE(scene.path); i++)
		make_file(i);
	/* By a page that may be executed a runtime marks its dump. */
	if (mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, scene.fd[1], 0) == MAP_FAILED)
		fprintf(stderr, "/tmp is mounted noexec: jitdump files are left out\n");
	scene.maps = maps_create(scene.process, modules_create());
	scene.target.maps = scene.maps;
}

static void
write_part(const uint8_t *bytes, size_t from, size_t to)
{
	for (size_t i = 0; i < ARRAY_SIZE(scene.fd); i++)
		if ((from == 0 && ftruncate(scene.fd[i], 0) != 0) ||
		    pwrite(scene.fd[i], bytes + from, to - from, (off_t)from) !=
			    (ssize_t)(to - from))
			abort();
}

/* What is found holds the address, and is found by the epoch that samples remember, too. */
static void
ask(const struct jit_book *book, uint64_t address, uint32_t epoch)
{
	const uint32_t entry = jit_book_find(book, address, epoch);
	struct jit_symbol symbol;
	uint32_t since;

	if (entry == JIT_NONE)
		return;
	jit_book_describe(book, entry, address, &symbol);
	if (symbol.name == NULL || address - symbol.start >= symbol.size)
		abort();
	since = jit_book_entry(book, jit_book_find(book, address, UINT32_MAX)).epoch;
	if (since > epoch || jit_book_entry(book, jit_book_find(book, address, since)).name !=
				     jit_book_entry(book, entry).name)
		abort();
}

/* Dumps have their addresses in binary. */
static void
ask_all(const struct jit_book *book, uint32_t epoch, const uint8_t *bytes, size_t size)
{
	for (uint64_t i = 0; i < ADDRESSES; i++) {
		uint64_t address = i * 0x400;

		if (i * sizeof(address) + sizeof(address) <= size)
			memcpy(&address, bytes + i * sizeof(address), sizeof(address));
		ask(book, address, epoch);
		ask(book, address + i, epoch);
		ask(book, i * 0x400, epoch);
	}
}

static void
feed(const struct jit_source *source, const uint8_t *bytes, size_t size)
{
	struct strings *strings = strings_create();
	struct jit_numbering numbering = { .epoch = 0 };
	struct jit_book *book = jit_book_create(strings, &numbering);
	void *state = source->create(&scene.target, book);

	write_part(bytes, 0, size / 2);
	source->search(state);
	jit_book_begin_pass(book);
	for (size_t turns = 0; !source->read(state, 1); turns++)
		if (turns > size)
			abort();
	write_part(bytes, size / 2, size);
	jit_book_begin_pass(book);
	while (!source->read(state, SIZE_MAX))
		;
	ask_all(book, numbering.epoch, bytes, size);
	source->warn(state, size % 2 != 0);
	source->free(state);
	jit_book_free(book);
	strings_free(strings);
}

/* However bad a file is: one line about it, and nothing in that is the file's. */
static void
check_said(const char *said)
{
	const char *end = strchr(said, '\n');

	if (end != NULL && end[1] != '\0')
		abort();
	for (; said != end && *said != '\0'; said++)
		if (*said < ' ' || *said > '~')
			abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (scene.process == NULL)
		start();
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		struct log log = { .level = LOG_NORMAL };
		char *said = NULL;
		size_t length = 0;

		log.stream = open_memstream(&said, &length);
		scene.target.log = &log;
		feed(sources[i], bytes, size);
		fclose(log.stream);
		check_said(said);
		free(said);
	}
	return 0;
}
