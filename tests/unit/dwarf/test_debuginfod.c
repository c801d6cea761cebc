/* SPDX-License-Identifier: MIT */
/*
 * test_debuginfod.c - asks a real debuginfod server of this machine for debug files.
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "dwarf/debug_file_internal.h"
#include "../scene/debug_scene.h"
#include "wallsample/base/base.h"

#define WAIT_LIMIT_S 60

static pid_t server = -1;
static FILE *server_says;

/* A socket that listens on a port of 127.0.0.1 that the kernel chose. */
static int
listen_somewhere(uint16_t *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	*port = ntohs(address.sin_port);
	return fd;
}

static void
ask_at(uint16_t port)
{
	char url[64];

	snprintf(url, sizeof(url), "http://127.0.0.1:%d", port);
	setenv("DEBUGINFOD_URLS", url, 1);
}

static int
setup(void **state)
{
	if (scene_setup(state) != 0)
		return -1;
	setenv("DEBUGINFOD_CACHE_PATH", scene_path("cache"), 1);
	unsetenv("DEBUGINFOD_URLS");
	unsetenv("DEBUGINFOD_PROGRESS");
	unsetenv("DEBUGINFOD_VERBOSE");
	/* A proxy would be asked even for this machine. */
	setenv("no_proxy", "127.0.0.1", 1);
	return 0;
}

static int
teardown(void **state)
{
	if (server > 0) {
		kill(server, SIGKILL);
		waitpid(server, NULL, 0);
		server = -1;
	}
	if (server_says != NULL)
		fclose(server_says);
	server_says = NULL;
	return scene_teardown(state);
}

/* Starts the server for the directory "served", and waits until it has found the build-id. */
static void
start_server(const char *id)
{
	char port[16], line[1024], found[160];
	uint16_t number;
	int pipes[2];

	close(listen_somewhere(&number));
	ask_at(number);
	snprintf(port, sizeof(port), "-p%d", number);
	snprintf(found, sizeof(found), "recorded buildid=%s", id);
	assert_int_equal(pipe(pipes), 0);
	server = fork();
	assert_true(server >= 0);
	if (server == 0) {
		unsetenv("DEBUGINFOD_URLS"); /* it would ask itself */
		dup2(pipes[1], STDOUT_FILENO);
		dup2(pipes[1], STDERR_FILENO);
		close(pipes[0]);
		close(pipes[1]);
		alarm(2 * WAIT_LIMIT_S);
		execlp("debuginfod", "debuginfod", "-vvv", "-d:memory:", port, "-F",
		       scene_path("served"), (char *)NULL);
		_exit(127);
	}
	close(pipes[1]);
	server_says = fdopen(pipes[0], "r");
	alarm(WAIT_LIMIT_S);
	while (fgets(line, sizeof(line), server_says) != NULL)
		if (strstr(line, found) != NULL && strstr(line, "atype=") != NULL)
			break;
	alarm(0);
	assert_false(feof(server_says));
}

/* prog without its debug information, and prog.debug in "served". */
static void
make_served(char *id, size_t size)
{
	struct module *module;

	scene_needs("debuginfod");
	scene_needs("objcopy");
	scene_compile("prog", "-g");
	scene_run("mkdir served && objcopy --only-keep-debug prog served/prog.debug && strip prog");
	module = scene_module("prog");
	snprintf(id, size, "%s", scene_id(module, false));
	scene_module_free(module);
}

/* How many lines say how a fetch gets on, as they do when the machine is busy. */
static int
progress_said(struct scene_open *scene, const char *name)
{
	char asking[128], getting[64];

	snprintf(asking, sizeof(asking),
		 "wallsample: debuginfod: asking for the debug file of %s\n", name);
	snprintf(getting, sizeof(getting), " KiB of the debug file of %s\n", name);
	return scene_said(scene, asking) + scene_said(scene, getting);
}

static void
test_net(void **state)
{
	struct debug_files_config config = { .debuginfod = DEBUGINFOD_CACHE };
	struct scene_open scene;
	char id[160], path[256];

	(void)state;
	make_served(id, sizeof(id));
	start_server(id);
	/* Only the cache: no question is asked, and nothing written. */
	scene_open(&scene, "prog", &config);
	assert_null(scene.file.elf);
	assert_int_not_equal(debug_files_servers(scene.files), DEBUGINFOD_IN_USE);
	scene_close(&scene);
	scene_run("! test -e cache");

	config.debuginfod = DEBUGINFOD_NET;
	scene_open(&scene, "prog", &config);
	if (scene_said(&scene, "built without libdebuginfod") > 0) {
		scene_close(&scene);
		skip();
	}
	snprintf(path, sizeof(path), "cache/%s/debuginfo", id);
	assert_non_null(scene.file.path);
	assert_string_equal(scene.file.path, scene_path(path));
	assert_int_equal(debug_files_servers(scene.files), DEBUGINFOD_IN_USE);
	assert_true(scene_has_function(&scene, "marker"));
	assert_int_equal(scene_said(&scene, "wallsample: "), progress_said(&scene, "prog"));
	scene_close(&scene);

	config.debuginfod = DEBUGINFOD_CACHE;
	scene_open(&scene, "prog", &config);
	assert_true(scene_has_function(&scene, "marker"));
	scene_close(&scene);
}

/* What the servers do not have is no reason for a word. */
static void
test_unknown(void **state)
{
	const struct debug_files_config config = { .debuginfod = DEBUGINFOD_NET };
	struct scene_open scene;
	char id[160];

	(void)state;
	make_served(id, sizeof(id));
	start_server(id);
	scene_compile("prog2", "-s");
	scene_open(&scene, "prog2", &config);
	assert_null(scene.file.elf);
	assert_int_equal(scene_said(&scene, "debug file of"), progress_said(&scene, "prog2"));
	scene_close(&scene);
}

static void
test_no_urls(void **state)
{
	const struct debug_files_config config = { .debuginfod = DEBUGINFOD_NET };
	struct scene_open scene;

	(void)state;
	scene_compile("prog", "-s");
	scene_open(&scene, "prog", &config);
	assert_null(scene.file.elf);
	assert_int_equal(scene_said(&scene, "debug files"), 1);
	if (scene_said(&scene, "built without libdebuginfod") > 0)
		assert_int_equal(debug_files_servers(scene.files), DEBUGINFOD_NOT_BUILT);
	else
		assert_int_equal(debug_files_servers(scene.files), DEBUGINFOD_NO_ADDRESS);
	scene_close(&scene);
}

/* Fetches of one build-id after the other, from a server that must be given up on. */
static void
check_given_up(uint64_t limit_ns, const char *said)
{
	const uint8_t id[20] = { 1, 2, 3 }, other[20] = { 4, 5, 6 };
	struct log log = { .level = LOG_NORMAL };
	struct debug_server *asked;
	char *text = NULL, *path = NULL;
	size_t size = 0;
	uint64_t start;

	log.stream = open_memstream(&text, &size);
	asked = debug_server_create(&log, limit_ns);
	if (asked != NULL) {
		start = clock_now_ns();
		assert_int_equal(debug_server_fetch(asked, id, sizeof(id), "libslow.so", &path),
				 -1);
		assert_true(clock_now_ns() - start < WAIT_LIMIT_S * NS_PER_SEC);
		assert_int_equal(debug_server_fetch(asked, other, sizeof(other), "libnext.so",
						    &path), -1);
		fflush(log.stream);
		assert_non_null(strstr(text, said));
		assert_non_null(strstr(text, "libslow.so"));
		assert_null(strstr(text, "libnext.so"));
		assert_int_equal(debug_server_state(asked), DEBUGINFOD_GIVEN_UP);
	}
	debug_server_free(asked);
	fclose(log.stream);
	free(text);
}

/* It takes the connection and never answers. */
static void
test_silent_server(void **state)
{
	uint16_t port;
	int fd = listen_somewhere(&port);

	(void)state;
	ask_at(port);
	check_given_up(NS_PER_SEC, "was not there within 1 s; no server is asked any more");
	close(fd);
}

static void
test_no_server(void **state)
{
	uint16_t port;

	(void)state;
	close(listen_somewhere(&port));
	ask_at(port);
	check_given_up(30 * NS_PER_SEC, "no server is asked any more");
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_net), SCENE(test_unknown), SCENE(test_no_urls),
		SCENE(test_silent_server), SCENE(test_no_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
