/* SPDX-License-Identifier: MIT */
/* test_namer.c - the process that finds names: what it answers, what it may do, and its death. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/namer_internal.h"
#include "wallsample/base/base.h"

enum { GOOD, BAD, OTHER_GOOD, LATE, MODULES };

/* What the addresses of the modules GOOD and OTHER_GOOD ask the process to do. */
enum {
	TWO_NAMES,
	OPEN_FILE,
	OPEN_SOCKET,
	KILL,
	KILL_BY_SIGIO,
	FORK,
	MAKE_THREAD,
	OPEN_OWN,
	OPEN_BELOW,
	OPEN_TEXT,
	FAIL_OPEN,
	SAY
};

struct scene {
	struct modules *modules;
	struct debug_files *files;
	struct strings *texts;
	struct namer *namer;
	struct log log;
	char *said;
	size_t said_size;
	/* In the process. */
	const struct debug_opener *opener;
	const struct log *its_log;
	char text[256];
};

static void
begin(void *context, const struct debug_opener *opener, const struct log *log)
{
	struct scene *scene = context;

	scene->opener = opener;
	scene->its_log = log;
}

/* Describes the result of a system call: "0", "EPERM" as a number, … */
static void
describe(struct scene *scene, int result)
{
	snprintf(scene->text, sizeof(scene->text), "%d", result >= 0 ? 0 : errno);
}

static void
open_below(struct scene *scene, const char *below)
{
	struct strbuf path = STRBUF_INIT;
	/* Number 0 is the first --debug-dir directory. */
	const int fd = scene->opener->open(scene->opener->context, 0, below, &path);
	char bytes[8] = "";
	const int error = errno;

	if (fd >= 0)
		(void)!read(fd, bytes, sizeof(bytes) - 1);
	snprintf(scene->text, sizeof(scene->text), "%d %s %s", fd >= 0 ? 0 : error, bytes,
		 path.data != NULL ? path.data : "");
	strbuf_release(&path);
}

static void *
run_thread(void *context)
{
	return context;
}

/* The demangler runs in a thread. */
static void
make_thread(struct scene *scene)
{
	pthread_t thread;
	void *result = NULL;

	if (pthread_create(&thread, NULL, run_thread, scene) == 0)
		pthread_join(thread, &result);
	snprintf(scene->text, sizeof(scene->text), "%s", result == scene ? "joined" : "no thread");
}

static void
act(struct scene *scene, uint64_t what)
{
	if (what == OPEN_FILE)
		describe(scene, open("/etc/passwd", O_RDONLY | O_CLOEXEC));
	else if (what == OPEN_SOCKET)
		describe(scene, socket(AF_INET, SOCK_STREAM, 0));
	else if (what == KILL)
		describe(scene, kill(getppid(), 0));
	else if (what == KILL_BY_SIGIO)
		describe(scene, fcntl(0, F_SETOWN, getpid()));
	else if (what == FORK)
		describe(scene, fork());
	else if (what == MAKE_THREAD)
		make_thread(scene);
	else if (what == OPEN_OWN)
		describe(scene, open("/proc/self/fd/999", O_RDONLY | O_CLOEXEC));
	else if (what == OPEN_BELOW)
		open_below(scene, "file");
	else if (what == OPEN_TEXT)
		open_below(scene, "text");
	else if (what == FAIL_OPEN)
		open_below(scene, "../file");
	else if (what == SAY)
		log_say(scene->its_log, LOG_NORMAL, "said by %s", "the process");
}

static size_t
find(void *context, const struct symbol_place *place, struct symbol *out)
{
	struct scene *scene = context;

	if (place->module == BAD)
		abort();
	snprintf(scene->text, sizeof(scene->text), "%s%u+%u", place->data ? "data" : "code",
		 (unsigned)place->module, (unsigned)place->vaddr);
	act(scene, place->vaddr);
	out[0] = (struct symbol){ .function = scene->text, .known = true, .source = SYMBOL_DWARF };
	if (place->vaddr != TWO_NAMES || place->data)
		return 1;
	out[0].inlined = true;
	out[0].file = "inner.c";
	out[0].line = 7;
	out[1] = (struct symbol){ .function = "outer", .source = SYMBOL_SYMTAB };
	return 2;
}

static bool
is_bare(void *context, uint32_t module)
{
	(void)context;
	if (module == BAD)
		abort();
	return module == OTHER_GOOD;
}

static void
add_module(struct scene *scene, const char *path)
{
	const struct recorded_module module = { .path = path, .build_id = "", .kind = MODULE_FILE };

	(void)modules_add_recorded(scene->modules, &module);
}

static char folder[] = "/tmp/wallsample-namer-XXXXXX";
static const char *const folders[] = { folder, NULL };

static int
set_up(void **state)
{
	struct scene *scene = xcalloc(1, sizeof(*scene));
	const struct namer_work work = {
		.begin = begin, .find = find, .is_bare = is_bare, .context = scene
	};
	const struct debug_files_config config = { .debug_dirs = folders };

	scene->log = (struct log){ .level = LOG_NORMAL,
				   .stream = open_memstream(&scene->said, &scene->said_size) };
	scene->modules = modules_create();
	add_module(scene, "/good");
	add_module(scene, "/bad");
	add_module(scene, "/other");
	scene->files = debug_files_create(&config);
	scene->texts = strings_create();
	scene->namer = namer_create(&work, scene->modules, scene->files, &scene->log,
				    scene->texts);
	*state = scene;
	return 0;
}

static int
tear_down(void **state)
{
	struct scene *scene = *state;

	namer_free(scene->namer);
	strings_free(scene->texts);
	debug_files_free(scene->files);
	modules_free(scene->modules);
	fclose(scene->log.stream);
	free(scene->said);
	free(scene);
	return 0;
}

static const char *
name_of(struct scene *scene, uint32_t module, uint64_t vaddr)
{
	static struct symbol symbol;
	const struct symbol_place place = { .module = module, .vaddr = vaddr };

	return namer_find(scene->namer, &place, &symbol, 1) == 1 ? symbol.function : NULL;
}

static void
test_names(void **state)
{
	struct scene *scene = *state;
	struct symbol symbol[SYMBOL_CHAIN_MAX];
	struct symbol_place place = { .module = GOOD, .vaddr = TWO_NAMES };

	assert_int_equal(namer_find(scene->namer, &place, symbol, SYMBOL_CHAIN_MAX), 2);
	assert_string_equal(symbol[0].function, "code0+0");
	assert_string_equal(symbol[0].file, "inner.c");
	assert_int_equal(symbol[0].line, 7);
	assert_true(symbol[0].known && symbol[0].inlined && symbol[0].source == SYMBOL_DWARF);
	assert_string_equal(symbol[1].function, "outer");
	assert_true(!symbol[1].known && !symbol[1].inlined && symbol[1].file == NULL);
	assert_true(symbol[1].source == SYMBOL_SYMTAB);
	/* If there is room for one, it is the function. */
	assert_int_equal(namer_find(scene->namer, &place, symbol, 1), 1);
	assert_string_equal(symbol[0].function, "outer");
	place.data = true;
	assert_int_equal(namer_find(scene->namer, &place, symbol, 1), 1);
	assert_string_equal(symbol[0].function, "data0+0");
	assert_false(namer_is_bare(scene->namer, GOOD));
	assert_true(namer_is_bare(scene->namer, OTHER_GOOD));
}

/* More questions than one message has, and many that kill the process among them: it dies twice. */
static void
test_batch(void **state)
{
	enum { COUNT = 2000 };
	struct scene *scene = *state;
	struct symbol_place *place = xcalloc(COUNT, sizeof(*place));

	for (unsigned i = 0; i < COUNT; i++)
		place[i] = (struct symbol_place){ .module = i % 3 == 2 ? BAD :
							    i % 2 == 0	   ? GOOD :
									     OTHER_GOOD,
						  .vaddr = 100 + i };
	namer_prepare(scene->namer, place, COUNT);
	for (unsigned i = 0; i < COUNT; i++) {
		const char *name = name_of(scene, place[i].module, place[i].vaddr);
		char wanted[64];

		snprintf(wanted, sizeof(wanted), "code%u+%u", (unsigned)place[i].module, 100 + i);
		if (place[i].module == BAD)
			assert_null(name);
		else
			assert_string_equal(name, wanted);
	}
	free(place);
	fflush(scene->log.stream);
	assert_non_null(strstr(scene->said, "/bad: no names: ws-namer"));
	assert_non_null(strstr(scene->said, "(signal "));
	/* It is not asked a third time. */
	assert_true(namer_is_bare(scene->namer, BAD));
	assert_null(strstr(strstr(scene->said, "/bad") + 1, "/bad"));
}

/* The process id of the namer's process. */
static pid_t
its_pid(void)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	pid_t found = 0;

	while ((entry = readdir(proc)) != NULL) {
		char name[300], line[300] = "";
		int parent = 0;
		FILE *stat;

		snprintf(name, sizeof(name), "/proc/%s/stat", entry->d_name);
		stat = fopen(name, "r");
		if (stat == NULL)
			continue;
		if (fgets(line, sizeof(line), stat) != NULL && strstr(line, "(ws-namer)") != NULL &&
		    sscanf(strrchr(line, ')'), ") %*c %d", &parent) == 1 && parent == getpid())
			found = atoi(entry->d_name);
		fclose(stat);
	}
	closedir(proc);
	return found;
}

/* A process that something else has killed costs no names. */
static void
test_killed(void **state)
{
	struct scene *scene = *state;

	assert_string_equal(name_of(scene, GOOD, 100), "code0+100");
	for (int i = 0; i < 3; i++) {
		char wanted[64];

		assert_true(its_pid() > 0);
		assert_int_equal(kill(its_pid(), SIGKILL), 0);
		snprintf(wanted, sizeof(wanted), "code%d+%d", i % 2 * OTHER_GOOD, 200 + i);
		assert_string_equal(
			name_of(scene, (uint32_t)(i % 2 * OTHER_GOOD), (uint64_t)(200 + i)),
			wanted);
	}
	assert_string_equal(name_of(scene, GOOD, 100), "code0+100");
}

static void
status_has(pid_t pid, const char *wanted)
{
	char name[64], text[4096] = "";
	FILE *status;

	snprintf(name, sizeof(name), "/proc/%d/status", (int)pid);
	status = fopen(name, "r");
	assert_non_null(status);
	text[fread(text, 1, sizeof(text) - 1, status)] = '\0';
	fclose(status);
	if (strstr(text, wanted) == NULL)
		fail_msg("%s is not in: %s", wanted, text);
}

/* It has no capabilities, and opens, connects and signals nothing; but it is given files below the
 * directories of debug files. */
static void
test_sandbox(void **state)
{
	struct scene *scene = *state;
	char wanted[128];

	snprintf(wanted, sizeof(wanted), "%d", EACCES);
	assert_string_equal(name_of(scene, GOOD, OPEN_FILE), wanted);
	snprintf(wanted, sizeof(wanted), "%d", EPERM);
	assert_string_equal(name_of(scene, GOOD, OPEN_SOCKET), wanted);
	assert_string_equal(name_of(scene, GOOD, KILL), wanted);
	assert_string_equal(name_of(scene, GOOD, KILL_BY_SIGIO), wanted);
	assert_string_equal(name_of(scene, GOOD, FORK), wanted);
	assert_string_equal(name_of(scene, GOOD, MAKE_THREAD), "joined");
	snprintf(wanted, sizeof(wanted), "0 %cELF in %s/file", 0x7f, folder);
	assert_string_equal(name_of(scene, GOOD, OPEN_BELOW), wanted);
	snprintf(wanted, sizeof(wanted), "%d  %s/../file", EXDEV, folder);
	assert_string_equal(name_of(scene, GOOD, FAIL_OPEN), wanted);
	snprintf(wanted, sizeof(wanted), "%d  %s/text", ENOEXEC, folder);
	assert_string_equal(name_of(scene, GOOD, OPEN_TEXT), wanted);
	/* Only its own descriptors can be opened by these names. */
	snprintf(wanted, sizeof(wanted), "%d", EBADF);
	assert_string_equal(name_of(scene, GOOD, OPEN_OWN), wanted);
	status_has(its_pid(), "\nCapPrm:\t0000000000000000\n");
	status_has(its_pid(), "\nSeccomp:\t2\n");
	status_has(its_pid(), "\nNoNewPrivs:\t1\n");
}

static void
test_log(void **state)
{
	struct scene *scene = *state;

	assert_non_null(name_of(scene, GOOD, SAY));
	fflush(scene->log.stream);
	assert_string_equal(scene->said, "wallsample: said by the process\n");
}

/* A module that is newer than the process. */
static void
test_new_module(void **state)
{
	struct scene *scene = *state;

	assert_string_equal(name_of(scene, GOOD, 100), "code0+100");
	add_module(scene, "/late");
	assert_string_equal(name_of(scene, LATE, 100), "code3+100");
}

/* A fork of wallsample has a process of its own. */
static void
test_fork(void **state)
{
	struct scene *scene = *state;
	pid_t child;
	int status;

	assert_string_equal(name_of(scene, GOOD, 100), "code0+100");
	child = fork();
	if (child == 0) {
		const char *name = name_of(scene, GOOD, 300);

		_exit(name != NULL && strcmp(name, "code0+300") == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_string_equal(name_of(scene, GOOD, 301), "code0+301");
}

static void
make_file(const char *name, const char *text)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void
make_folder(void)
{
	assert_non_null(mkdtemp(folder));
	make_file("file", "\x7f" "ELF in");
	make_file("text", "root:x:0:0");
}

static int
remove_folder(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/file", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/text", folder);
	unlink(path);
	return rmdir(folder);
}

static int
prepare(void **state)
{
	(void)state;
	make_folder();
	return 0;
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_names), CASE(test_batch),	 CASE(test_killed), CASE(test_sandbox),
		CASE(test_log),	  CASE(test_new_module), CASE(test_fork),
	};

	return cmocka_run_group_tests(tests, prepare, remove_folder);
}
