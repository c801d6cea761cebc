/* SPDX-License-Identifier: MIT */
/* test_code_places.c - the program's own function of a stack, and the time of threads by place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wallsample/analysis/own_code.h"
#include "wallsample/analysis/code_places.h"
#include "wallsample/base/base.h"

/* --- names, in place of those from symbol tables ------------------------------------- */

/* From RUNTIME on: of a program in Go. */
enum {
	MAIN, WORK, HANDLE, AUDIT, LOCK, PLT, STD, COMPRESS, LOOP, POLL, BARE, HELPER, START,
	RUNTIME, ASK, GET, TRIP, READ, WRITE, SERVE, WATCH,
};

static const struct symbol symbol[] = {
	[MAIN] = { "main", "prog", .source = SYMBOL_SYMTAB, .file = "/src/main.c", .line = 1 },
	[WORK] = { "work", "prog", .source = SYMBOL_SYMTAB, .file = "/src/work.c", .line = 7 },
	[HANDLE] = { "handle", "prog", .source = SYMBOL_SYMTAB, .file = "/src/order.c",
		     .line = 11 },
	[AUDIT] = { "audit", "prog", .source = SYMBOL_SYMTAB },
	[LOCK] = { "___pthread_mutex_lock", "libc.so.6", .source = SYMBOL_SYMTAB },
	[PLT] = { "pthread_mutex_lock@plt", "prog", .source = SYMBOL_SYMTAB },
	[STD] = { "std::mutex::lock", "prog", .source = SYMBOL_SYMTAB },
	[COMPRESS] = { "deflate", "libz.so.1", .source = SYMBOL_SYMTAB },
	[LOOP] = { "event_loop", "prog", .source = SYMBOL_SYMTAB },
	[POLL] = { "epoll_wait", "libc.so.6", .source = SYMBOL_SYMTAB },
	[BARE] = { "other+0x10", "other" },
	[HELPER] = { "other+0x20", "other" },
	[START] = { "_start", "prog", .source = SYMBOL_SYMTAB },
	[RUNTIME] = { "runtime.selectgo", "app", .source = SYMBOL_SYMTAB },
	[ASK] = { "main.ask", "app", .source = SYMBOL_SYMTAB },
	[GET] = { "net/http.Get", "app", .source = SYMBOL_SYMTAB },
	[TRIP] = { "net/http.(*persistConn).roundTrip", "app", .source = SYMBOL_SYMTAB },
	[READ] = { "net/http.(*persistConn).readLoop", "app", .source = SYMBOL_SYMTAB },
	[WRITE] = { "net/http.(*persistConn).writeLoop", "app", .source = SYMBOL_SYMTAB },
	[SERVE] = { "net/http.(*conn).serve", "app", .source = SYMBOL_SYMTAB },
	[WATCH] = { "net/http.(*connReader).backgroundRead", "app", .source = SYMBOL_SYMTAB },
};

size_t
symbols_find(struct symbols *symbols, const struct symbol_place *place, struct symbol *out,
	     size_t most)
{
	(void)symbols;
	(void)most;
	*out = symbol[place->vaddr];
	out->known = place->vaddr != BARE && place->vaddr != HELPER;
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

/* Functions of a stack, outermost first. */
#define STACK(...) ((const int[]){ __VA_ARGS__, -1 })
#define RUN_SECONDS 10

static uint32_t
stack_of(struct profile *profile, const int *functions)
{
	uint32_t stack = STACK_NONE;

	for (; *functions >= 0; functions++) {
		const struct profile_frame frame = {
			.address = (uint64_t)*functions,
			.module = *functions == BARE || *functions == HELPER ? 2 :
				  *functions >= RUNTIME                      ? 3 :
									       1,
			.origin = FRAME_CFI,
		};

		stack = profile_intern_stack(profile, profile_intern_frame(profile, &frame), stack);
	}
	return stack;
}

static void
add_of(struct profile *profile, uint32_t thread, enum run_state state, uint32_t wait,
       const int *functions, double seconds)
{
	const struct profile_entry sample = {
		.thread = thread,
		.stack = stack_of(profile, functions),
		.state = state,
		.syscall = (int32_t)(state == RUN_SLEEPING ?
					     syscall_number(wait != 0 ? "futex" : "epoll_wait") :
					     SYSCALL_NONE),
		.wait = wait,
		.samples = 1,
		.ns = { (int64_t)(seconds * 1e9) },
	};

	profile_add(profile, &sample);
}

static void
add(struct profile *profile, pid_t tid, enum run_state state, uint32_t wait, const int *functions,
    double seconds)
{
	add_of(profile, profile_add_thread(profile, 0, tid, 1, "t"), state, wait, functions,
	       seconds);
}

static struct profile *
new_profile(void)
{
	struct profile *profile = profile_create();

	profile_add_tick(profile, (uint64_t)RUN_SECONDS * NS_PER_SEC, 1, 1);
	return profile;
}

static uint32_t
add_mutex(struct profile *profile)
{
	const struct profile_wait wait = {
		.kind = WAIT_MUTEX,
		.object = profile_intern_named(profile, "book_lock"),
		.most = 2,
	};

	return profile_add_wait(profile, &wait);
}

struct found {
	struct view *view, *lines;
	struct own own;
	struct waiting waiting;
	struct places places;
};

static void
find(const struct profile *profile, struct found *out)
{
	static const struct filter all = { 0 };

	out->view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	out->lines = view_create(profile, NULL, &all, VIEW_BY_LINE);
	own_make(out->view, NULL, &out->own);
	waiting_make(out->view, &out->waiting);
	places_make(out->view, out->lines, &out->own, &out->waiting, &out->places);
}

static void
release(struct found *found, struct profile *profile)
{
	places_release(&found->places);
	waiting_release(&found->waiting);
	own_release(&found->own);
	view_free(found->lines);
	view_free(found->view);
	profile_free(profile);
}

static const char *
name_of(const struct found *found, uint32_t function)
{
	return view_function(found->view, function)->name;
}

/* --- the program's own function --------------------------------------------------------------- */

static void
check_own(const int *functions, const char *name)
{
	struct profile *profile = new_profile();
	struct found found;

	add(profile, 100, RUN_RUNNING, 0, functions, 1);
	find(profile, &found);
	assert_int_equal(found.places.count, 1);
	assert_string_equal(name_of(&found, found.places.row[0].function), name);
	release(&found, profile);
}

static void
test_own(void **state)
{
	(void)state;
	check_own(STACK(START, MAIN, WORK), "work");
	check_own(STACK(START, MAIN, HANDLE, PLT), "handle");
	check_own(STACK(START, MAIN, HANDLE, STD, LOCK), "handle");
	check_own(STACK(START, MAIN, COMPRESS), "main");
	check_own(STACK(START, MAIN, BARE, COMPRESS), "main");
	check_own(STACK(BARE, COMPRESS), "other+0x10");
	check_own(STACK(COMPRESS, LOCK), "deflate");
	check_own(STACK(LOCK), "___pthread_mutex_lock");
}

/* --- places --------------------------------------------------------------------------------- */

/* Two threads wait for a lock that a third one holds while it waits for a CPU; a fourth is idle. */
static void
test_places(void **state)
{
	struct profile *profile = new_profile();
	const uint32_t mutex = add_mutex(profile);
	const struct place_row *row;
	struct found found;

	(void)state;
	for (pid_t tid = 1; tid <= 2; tid++) {
		add(profile, tid, RUN_SLEEPING, mutex, STACK(MAIN, HANDLE, LOCK), 7);
		add(profile, tid, RUN_RUNNING, 0, STACK(MAIN, HANDLE), 1);
		add(profile, tid, RUN_SLEEPING, 0, STACK(MAIN, LOOP, POLL), 2);
	}
	add(profile, 3, RUN_QUEUED, 0, STACK(MAIN, AUDIT), 9);
	add(profile, 3, RUN_RUNNING, 0, STACK(MAIN, AUDIT, COMPRESS), 1);
	add(profile, 4, RUN_SLEEPING, 0, STACK(MAIN, LOOP, POLL), RUN_SECONDS);
	find(profile, &found);
	assert_int_equal(found.places.threads, 4);
	assert_int_equal(found.places.idle_threads, 1);
	assert_int_equal(found.places.idle_count, 1);
	assert_string_equal(name_of(&found, found.places.idle[0].function), "event_loop");
	assert_int_equal(found.places.wall_ns, 30 * NS_PER_SEC);
	assert_int_equal(found.places.count, 3);

	row = &found.places.row[0];
	assert_string_equal(name_of(&found, row->function), "handle");
	assert_string_equal(row->file, "/src/order.c");
	assert_int_equal(row->line, 11);
	assert_int_equal(row->threads, 2);
	assert_int_equal(row->wall_ns, 16 * NS_PER_SEC);
	assert_int_equal(row->ns[PLACE_BLOCKED], 14 * NS_PER_SEC);
	assert_int_equal(row->ns[PLACE_RUNS], 2 * NS_PER_SEC);
	assert_string_equal(found.waiting.row[row->wait.row].object, "book_lock");

	row = &found.places.row[1];
	assert_string_equal(name_of(&found, row->function), "audit");
	assert_null(row->file);
	assert_int_equal(row->ns[PLACE_QUEUED], 9 * NS_PER_SEC);
	assert_int_equal(row->ns[PLACE_RUNS], 1 * NS_PER_SEC);
	assert_int_equal(row->wait_ns, 0);

	row = &found.places.row[2];
	assert_string_equal(name_of(&found, row->function), "event_loop");
	assert_int_equal(row->wall_ns, 4 * NS_PER_SEC);
	assert_int_equal(row->wait.row, found.waiting.count);
	assert_int_equal(row->wait.syscall, syscall_number("epoll_wait"));
	release(&found, profile);
}

/* A thread that waits for a lock all the time is not idle, nor is one that lives for a part of the
 * run only; if all threads are idle, none is left out. */
static void
test_idle(void **state)
{
	struct profile *profile = new_profile();
	const uint32_t mutex = add_mutex(profile);
	struct found found;

	(void)state;
	add(profile, 1, RUN_SLEEPING, mutex, STACK(MAIN, HANDLE, LOCK), RUN_SECONDS);
	add(profile, 2, RUN_SLEEPING, 0, STACK(MAIN, LOOP, POLL), RUN_SECONDS / 2);
	find(profile, &found);
	assert_int_equal(found.places.idle_threads, 0);
	release(&found, profile);

	profile = new_profile();
	add(profile, 1, RUN_SLEEPING, 0, STACK(MAIN, LOOP, POLL), RUN_SECONDS);
	add(profile, 2, RUN_SLEEPING, 0, STACK(MAIN, WORK, POLL), RUN_SECONDS);
	find(profile, &found);
	assert_int_equal(found.places.idle_threads, 0);
	assert_int_equal(found.places.count, 2);
	release(&found, profile);
}

/* A thread that executes a library only is idle if it does hardly anything but wait, in whatever
 * places; a thread of the program is not. */
static void
test_idle_library(void **state)
{
	for (int own = 0; own < 2; own++) {
		struct profile *profile = new_profile();
		struct found found;

		(void)state;
		add(profile, 1, RUN_RUNNING, 0, STACK(MAIN, WORK), RUN_SECONDS);
		add(profile, 2, RUN_SLEEPING, 0, own ? STACK(LOOP, POLL) : STACK(COMPRESS, POLL),
		    0.5 * RUN_SECONDS);
		add(profile, 2, RUN_SLEEPING, 0,
		    own ? STACK(HANDLE, POLL) : STACK(COMPRESS, COMPRESS, POLL),
		    0.48 * RUN_SECONDS);
		add(profile, 2, RUN_RUNNING, 0, STACK(COMPRESS), 0.02 * RUN_SECONDS);
		find(profile, &found);
		assert_int_equal(found.places.idle_threads, !own);
		release(&found, profile);
	}
}

static uint32_t
add_socket(struct profile *profile, const char *name)
{
	const struct profile_wait wait = {
		.kind = WAIT_SOCKET_READ,
		.object = profile_intern_named(profile, name),
		.most = 1,
	};

	return profile_add_wait(profile, &wait);
}

/* A thread that holds a lock for which others wait is not idle, and neither is one that waits for a
 * connection that the program has made. Of those that wait in one place for connections that others
 * have made, a single one is not idle; several are a pool. */
static void
test_not_idle(void **state)
{
	struct profile *profile = new_profile();
	const uint32_t mutex = add_mutex(profile);
	const struct profile_blame blame = {
		.wait = mutex,
		.thread = profile_add_thread(profile, 0, 1, 1, "t"),
		.stack = stack_of(profile, STACK(MAIN, AUDIT, POLL)),
		.state = RUN_SLEEPING,
		.ns = 9 * NS_PER_SEC,
	};
	struct found found;

	(void)state;
	add(profile, 1, RUN_SLEEPING, 0, STACK(MAIN, AUDIT, POLL), RUN_SECONDS);
	add(profile, 2, RUN_SLEEPING, mutex, STACK(MAIN, HANDLE, LOCK), 9);
	profile_add_blame(profile, &blame);
	find(profile, &found);
	assert_int_equal(found.places.idle_threads, 0);
	release(&found, profile);

	for (int i = 0; i < 4; i++) {
		const pid_t clients = 1 + i % 2;
		const bool made = i >= 2;

		profile = new_profile();
		add(profile, 9, RUN_RUNNING, 0, STACK(MAIN, WORK), 1);
		for (pid_t tid = 1; tid <= clients; tid++)
			add(profile, tid, RUN_SLEEPING,
			    add_socket(profile, made     ? "tcp to a" :
						tid == 1 ? "tcp a:80 from b" :
							   "tcp a:80 from c"),
			    STACK(MAIN, HANDLE, POLL), RUN_SECONDS);
		find(profile, &found);
		assert_int_equal(found.places.idle_threads, made || clients == 1 ? 0 : 2);
		release(&found, profile);
	}
}

/* Adds a goroutine that waits all the time: for a socket, or if `peer` is NULL for another one. */
static void
add_goroutine(struct profile *profile, uint64_t id, const char *peer, const int *functions)
{
	const struct profile_thread of = {
		.is_green = true,
		.name = profile_intern_text(profile, "goroutine"),
		.green_id = id,
		.entry = FRAME_NONE,
		.created_at = FRAME_NONE,
	};
	const struct profile_wait select = {
		.kind = WAIT_GREEN,
		.object = profile_intern_named(profile, "select"),
		.most = 1,
	};

	add_of(profile, profile_add_green(profile, &of, 0x1000 * id), RUN_SLEEPING,
	       peer != NULL ? add_socket(profile, peer) : profile_add_wait(profile, &select),
	       functions, RUN_SECONDS);
}

/* The row of the place; NULL: it has none. */
static const struct place_row *
row_of(const struct found *found, const char *name)
{
	for (size_t i = 0; i < found->places.count; i++)
		if (strcmp(name_of(found, found->places.row[i].function), name) == 0)
			return &found->places.row[i];
	return NULL;
}

/* Goroutines that ask by net/http, on their own or as handlers of net/http, wait for the readers of
 * net/http, and are not idle. The writers of net/http are. */
static void
test_readers(void **state)
{
	const int *const askers[] = { STACK(ASK, GET, TRIP, RUNTIME),
				      STACK(SERVE, ASK, GET, TRIP, RUNTIME) };
	const struct place_row *asks, *reads;
	struct found found;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(askers); i++) {
		struct profile *profile = new_profile();

		add_goroutine(profile, 1, NULL, askers[i]);
		add_goroutine(profile, 2, NULL, askers[i]);
		add_goroutine(profile, 3, "tcp to a", STACK(READ, RUNTIME));
		add_goroutine(profile, 4, "tcp to a", STACK(READ, RUNTIME));
		add_goroutine(profile, 5, NULL, STACK(WRITE, RUNTIME));
		add_goroutine(profile, 6, NULL, STACK(WRITE, RUNTIME));
		find(profile, &found);
		assert_int_equal(found.places.idle_threads, 2);
		asks = row_of(&found, "main.ask");
		reads = row_of(&found, "net/http.(*persistConn).readLoop");
		assert_non_null(asks);
		assert_non_null(reads);
		assert_int_equal(asks->threads, 2);
		assert_int_not_equal(reads->reads, 0);
		assert_int_equal(asks->asks, reads->reads);
		assert_int_equal(asks->reads, 0);
		assert_int_equal(reads->asks, 0);
		release(&found, profile);
	}
}

/* A reader of a connection that net/http keeps, and for which nothing asks, is idle. One of the
 * program itself is not. */
static void
test_unasked(void **state)
{
	struct found found;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct profile *profile = new_profile();

		add(profile, 9, RUN_RUNNING, 0, STACK(MAIN, WORK), 1);
		add_goroutine(profile, 1, "tcp to a",
			      i == 0 ? STACK(READ, RUNTIME) : STACK(ASK, READ, RUNTIME));
		add_goroutine(profile, 2, NULL, STACK(SERVE, RUNTIME));
		add_goroutine(profile, 3, "tcp b:80 from c", STACK(WATCH, RUNTIME));
		find(profile, &found);
		assert_int_equal(found.places.idle_threads, i == 0 ? 2 : 1);
		release(&found, profile);
	}
}

/* Waits for sockets that have only a number are one wait; one with a name is an example. */
static void
test_sockets(void **state)
{
	struct profile *profile = new_profile();
	const struct place_row *row;
	struct found found;

	(void)state;
	for (int i = 0; i < 5; i++) {
		char name[32];

		snprintf(name, sizeof(name), "socket:[%d]", 100 + i);
		add(profile, 1, RUN_SLEEPING, add_socket(profile, name), STACK(MAIN, HANDLE, POLL),
		    1);
	}
	add(profile, 1, RUN_SLEEPING, add_socket(profile, "tcp to a"), STACK(MAIN, HANDLE, POLL),
	    2);
	find(profile, &found);
	row = &found.places.row[0];
	assert_int_equal(row->wait_ns, 5 * NS_PER_SEC);
	assert_int_equal(row->wait.kind, WAIT_SOCKET_READ);
	assert_int_equal(row->wait.row, found.waiting.count);
	assert_true(row->example < found.waiting.count);
	assert_string_equal(found.waiting.row[row->example].object, "tcp to a");
	release(&found, profile);
}

/* Functions without a symbol are one place for each file. */
static void
test_unnamed(void **state)
{
	struct profile *profile = new_profile();
	struct found found;

	(void)state;
	add(profile, 1, RUN_RUNNING, 0, STACK(BARE), 2);
	add(profile, 1, RUN_RUNNING, 0, STACK(HELPER), 3);
	find(profile, &found);
	assert_int_equal(found.places.count, 1);
	assert_int_equal(found.places.row[0].wall_ns, 5 * NS_PER_SEC);
	assert_int_equal(found.own.rank[found.places.row[0].function], OWN_UNNAMED);
	release(&found, profile);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_idle_library),
		cmocka_unit_test(test_not_idle),
		cmocka_unit_test(test_readers),
		cmocka_unit_test(test_unasked),
		cmocka_unit_test(test_sockets),
		cmocka_unit_test(test_unnamed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
