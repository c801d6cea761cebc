/* SPDX-License-Identifier: MIT */
/*
 * debuginfod.c - asks debuginfod servers through libdebuginfod, with a time limit.
 *
 * The library is loaded on demand: twenty other libraries come with it, which would otherwise be
 * loaded in every run.
 */
#include "dwarf/debug_file_internal.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Time until the first progress line of a request, and between further progress lines. */
#define FIRST_WORD_NS (2 * NS_PER_SEC)
#define NEXT_WORD_NS (5 * NS_PER_SEC)

#define LIBRARY "libdebuginfod.so.1"

/* X(name): functions of the library that are used */
#define FUNCTIONS(X)                                                                               \
	X(begin)                                                                                   \
	X(end)                                                                                     \
	X(find_debuginfo)                                                                          \
	X(get_user_data)                                                                           \
	X(set_progressfn)                                                                          \
	X(set_user_data)

struct library {
#define X(name) __typeof__(debuginfod_##name) *name;
	FUNCTIONS(X)
#undef X
};

struct debug_server {
	struct library library;
	debuginfod_client *client;
	const struct log *log;
	const char *name;     /* name of the module whose debug file is requested */
	uint64_t limit_ns;    /* limit of the time for one request */
	uint64_t deadline_ns; /* time at which the current request is ended */
	uint64_t say_ns;      /* time of the next progress line */
	bool late;            /* the current request has reached its deadline */
	bool silent;          /* no server is asked any more */
};

static bool
library_load(struct library *library)
{
	/* RTLD_NODELETE: libdebuginfod must never be unloaded, because libraries that it brings
	 * along do not support that. */
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	bool whole = handle != NULL;

	if (!whole)
		return false;
/* POSIX permits the conversion of dlsym's result to a function pointer, but C does not: so the
 * bytes of the pointer are stored. */
#define X(name)                                                                                    \
	*(void **)(void *)&library->name = dlsym(handle, "debuginfod_" #name);                     \
	whole &= library->name != NULL;
	FUNCTIONS(X)
#undef X
	return whole;
}

/* Called by the client several times a second; a result other than 0 ends the request. */
static int
on_progress(debuginfod_client *client, long done, long all)
{
	struct debug_server *server;
	const uint64_t now = clock_now_ns();
	struct library library;

	/* A callback of the client gets only the client, so the functions of the library are looked
	 * up again to find the server. */
	if (!library_load(&library))
		return 1;
	server = library.get_user_data(client);
	if (now >= server->deadline_ns) {
		server->late = true;
		return 1;
	}
	if (now < server->say_ns)
		return 0;
	server->say_ns = now + NEXT_WORD_NS;
	/* Before the first byte arrives, `done` and `all` count servers: a number above 64 Ki is a
	 * number of bytes. */
	if (all > 64 * 1024)
		log_say(server->log, LOG_NORMAL,
			"debuginfod: %ld of %ld KiB of the debug file of %s", done / 1024,
			all / 1024, server->name);
	else
		log_say(server->log, LOG_NORMAL, "debuginfod: asking for the debug file of %s",
			server->name);
	return 0;
}

static bool
has_address(void)
{
	const char *urls = secure_getenv(DEBUGINFOD_URLS_ENV_VAR);

	return urls != NULL && urls[strspn(urls, " ")] != '\0';
}

struct debug_server *
debug_server_create(const struct log *log, uint64_t limit_ns)
{
	struct debug_server *server;

	if (!has_address()) {
		log_say(log, LOG_NORMAL,
			"no debuginfod server is asked for debug files: set $DEBUGINFOD_URLS to "
			"their addresses (sudo removes it unless told -E)");
		return NULL;
	}
	server = xcalloc(1, sizeof(*server));
	if (library_load(&server->library))
		server->client = server->library.begin();
	if (server->client == NULL) {
		log_say(log, LOG_NORMAL, LIBRARY " cannot be used here");
		free(server);
		return NULL;
	}
	server->log = log;
	server->limit_ns = limit_ns;
	server->library.set_user_data(server->client, server);
	server->library.set_progressfn(server->client, on_progress);
	return server;
}

void
debug_server_free(struct debug_server *server)
{
	if (server == NULL)
		return;
	server->library.end(server->client);
	free(server);
}

enum debuginfod_state
debug_server_state(const struct debug_server *server)
{
	if (server == NULL)
		return has_address() ? DEBUGINFOD_UNUSABLE : DEBUGINFOD_NO_ADDRESS;
	return server->silent ? DEBUGINFOD_GIVEN_UP : DEBUGINFOD_IN_USE;
}

int
debug_server_fetch(struct debug_server *server, const uint8_t *id, size_t size, const char *name,
		   char **path)
{
	const uint64_t now = clock_now_ns();
	int fd;

	*path = NULL;
	if (server == NULL || server->silent)
		return -1;
	server->name = name;
	server->late = false;
	server->deadline_ns = now + server->limit_ns;
	server->say_ns = now + FIRST_WORD_NS;
	fd = server->library.find_debuginfo(server->client, id, (int)size, path);
	if (fd >= 0) {
		log_say(server->log, LOG_VERBOSE, "debuginfod: %s is the debug file of %s",
			*path != NULL ? *path : "a file", name);
		return fd;
	}
	free(*path);
	*path = NULL;
	if (fd == -ENOENT && !server->late) /* the servers do not have the file */
		return -1;
	/* No server is asked again: further requests would probably fail or take as long. */
	server->silent = true;
	if (server->late)
		log_say(server->log, LOG_NORMAL,
			"debuginfod: the debug file of %s was not there within %d s; no server "
			"is asked any more",
			name, (int)(server->limit_ns / NS_PER_SEC));
	else
		log_say(server->log, LOG_NORMAL,
			"debuginfod: asking for the debug file of %s: %s; no server is asked any "
			"more",
			name, strerror(-fd));
	return -1;
}
