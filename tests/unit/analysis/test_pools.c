/* SPDX-License-Identifier: MIT */
/* test_pools.c - pools of threads that are all busy in waiting for others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wallsample/analysis/pools.h"
#include "wallsample/base/base.h"

/* --- names, in place of those from symbol tables ------------------------------------- */

enum { MAIN, SERVE, FETCH, PUT, READ, START };

static const struct symbol symbol[] = {
	[MAIN] = { "main", "prog", .source = SYMBOL_SYMTAB },
	[SERVE] = { "serve", "prog", .source = SYMBOL_SYMTAB },
	[FETCH] = { "fetch", "prog", .source = SYMBOL_SYMTAB },
	[PUT] = { "put", "prog", .source = SYMBOL_SYMTAB },
	[READ] = { "read", "libc.so.6", .source = SYMBOL_SYMTAB },
	[START] = { "start_thread", "libc.so.6", .source = SYMBOL_SYMTAB },
};

size_t
symbols_find(struct symbols *symbols, const struct symbol_place *place, struct symbol *out,
	     size_t most)
{
	(void)symbols;
	(void)most;
	*out = symbol[place->vaddr];
	out->known = true;
	return 1;
}

void
symbols_prepare(struct symbols *symbols, const struct symbol_place *place, size_t count)
{
	(void)symbols;
	(void)place;
	(void)count;
}

/* --- profiles --------------------------------------------------------------------------- */

#define RUN_SECONDS 10
/* Functions of a stack, outermost first. */
#define STACK(...) ((const int[]){ __VA_ARGS__, -1 })

struct scene {
	struct profile *profile;
	struct view *view;
	struct own own;
	struct pool pool;
};

static int
start(void **state)
{
	struct scene *scene = xcalloc(1, sizeof(*scene));

	scene->profile = profile_create();
	profile_add_tick(scene->profile, (uint64_t)RUN_SECONDS * NS_PER_SEC, 1, 1);
	*state = scene;
	return 0;
}

static int
end(void **state)
{
	struct scene *scene = *state;

	profile_free(scene->profile);
	free(scene);
	return 0;
}

/* Adds a wait, or without a text running time, of a thread. */
static void
add(struct scene *scene, pid_t tid, enum wait_kind kind, const char *object, const int *functions,
    double seconds)
{
	const struct profile_wait wait = {
		.kind = kind,
		.object = object[0] != '\0' ? profile_intern_named(scene->profile, object) :
					      FRAME_NONE,
		.most = 1,
	};
	struct profile_entry sample = {
		.thread = profile_add_thread(scene->profile, 0, tid, 1, "t"),
		.stack = STACK_NONE,
		.state = kind == WAIT_NONE ? RUN_RUNNING : RUN_SLEEPING,
		.syscall = SYSCALL_NONE,
		.samples = 1,
		.ns = { (int64_t)(seconds * 1e9) },
	};

	for (; *functions >= 0; functions++) {
		const struct profile_frame frame = {
			.address = (uint64_t)*functions, .module = 1, .origin = FRAME_CFI
		};

		sample.stack = profile_intern_stack(scene->profile,
						    profile_intern_frame(scene->profile, &frame),
						    sample.stack);
	}
	if (kind != WAIT_NONE)
		sample.wait = profile_add_wait(scene->profile, &wait);
	profile_add(scene->profile, &sample);
}

/* Adds a thread that takes work for `free` seconds, and else waits for its server. It runs for a
 * millisecond. */
static void
add_worker(struct scene *scene, pid_t tid, const char *server, double free)
{
	if (free > 0)
		add(scene, tid, WAIT_CONDITION, "queue_work", STACK(START, SERVE), free);
	add(scene, tid, WAIT_NONE, "", STACK(START, SERVE), 0.001);
	add(scene, tid, WAIT_SOCKET_READ, server, STACK(START, SERVE, FETCH, READ),
	    RUN_SECONDS - free);
}

static bool
find(struct scene *scene)
{
	static const struct filter all = { 0 };

	scene->view = view_create(scene->profile, NULL, &all, VIEW_BY_FUNCTION);
	own_make(scene->view, NULL, &scene->own);
	return pools_find_busy(scene->view, &scene->own, &scene->pool);
}

static void
forget(struct scene *scene)
{
	own_release(&scene->own);
	view_free(scene->view);
}

static const char *
name_of(const struct scene *scene, uint32_t function)
{
	return view_function(scene->view, function)->name;
}

/* --- tests ------------------------------------------------------------------------------ */

static void
test_busy(void **state)
{
	struct scene *scene = *state;

	add_worker(scene, 1, "tcp to a", 0.5);
	add_worker(scene, 2, "tcp to b", 0.5);
	add(scene, 3, WAIT_SIGNAL, "", STACK(MAIN), RUN_SECONDS);
	assert_true(find(scene));
	assert_string_equal(name_of(scene, scene->pool.function), "serve");
	assert_int_equal(scene->pool.threads, 2);
	assert_true(scene->pool.busy > 0.89 && scene->pool.busy < 0.91);
	assert_int_equal(scene->pool.queue, UINT32_MAX);
	forget(scene);
	/* A thread that waits for space in the queue. */
	add(scene, 4, WAIT_CONDITION, "queue_space", STACK(START, PUT), 6);
	add(scene, 4, WAIT_NONE, "", STACK(START, PUT), 4);
	assert_true(find(scene));
	assert_string_equal(name_of(scene, scene->pool.queue), "put");
	forget(scene);
	/* A third worker with nothing to do. */
	add_worker(scene, 5, "tcp to a", RUN_SECONDS - 0.1);
	assert_false(find(scene));
	forget(scene);
}

/* Sockets without a name are those of the thread that have one. */
static void
test_unnamed(void **state)
{
	struct scene *scene = *state;

	for (pid_t tid = 1; tid <= 2; tid++) {
		add(scene, tid, WAIT_SOCKET_READ, "socket:[7]", STACK(START, SERVE, READ), 9);
		add(scene, tid, WAIT_NONE, "", STACK(START, SERVE), 0.9);
	}
	assert_false(find(scene));
	forget(scene);
	for (pid_t tid = 1; tid <= 2; tid++)
		add(scene, tid, WAIT_SOCKET_READ, "tcp to a", STACK(START, SERVE, READ), 0.1);
	assert_true(find(scene));
	forget(scene);
}

/* Not a pool: one thread; threads that wait for requests of clients; threads that compute; threads
 * of a short life; threads that have not run, such as the receivers of a message broker. */
static void
test_none(void **state)
{
	struct scene *scene = *state;

	add_worker(scene, 1, "tcp to a", 0);
	assert_false(find(scene));
	forget(scene);
	for (pid_t tid = 2; tid <= 3; tid++) {
		add(scene, tid, WAIT_SOCKET_READ, "tcp 10.0.0.1:80 from 10.0.0.2",
		    STACK(START, PUT, READ), RUN_SECONDS);
		add(scene, tid + 2, WAIT_NONE, "", STACK(START, FETCH), RUN_SECONDS);
		add(scene, tid + 4, WAIT_SOCKET_READ, "tcp to a", STACK(START, MAIN), 5);
		add(scene, tid + 6, WAIT_SOCKET_READ, "tcp to a", STACK(READ, START), RUN_SECONDS);
		add(scene, tid + 8, WAIT_SOCKET_READ, "tcp to a", STACK(START, FETCH), RUN_SECONDS);
	}
	assert_false(find(scene));
	forget(scene);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_busy, start, end),
		cmocka_unit_test_setup_teardown(test_unnamed, start, end),
		cmocka_unit_test_setup_teardown(test_none, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
