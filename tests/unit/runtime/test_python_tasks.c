/* SPDX-License-Identifier: MIT */
/*
 * test_python_tasks.c - tasks of asyncio in memory that is made by hand: whole, in rings, and
 * damaged at random.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/report_internal.h"
#include "runtime/python/python_internal.h"
#include "runtime/python/python_find_internal.h"
#include "../scene/python_offsets.h"
#include "../scene/python_scene.h"
#include "wallsample/analysis/async_groups.h"

/* Debian's 3.14.10, whose _asyncio says: */
#define SAYS (&python_says[2])
static const uint64_t asyncio_says[PYTHON_ASYNCIO_WORDS] = {
	168, 136, 96, 108, 109, 128, 152, 225864, 10880, 936, 864, 872, 880,
};

/* Offsets of members, as python_offsets.c and the words above have them. */
enum {
	TYPE = 8,
	TASK_SIZE = 168, TASK_AWAITED_BY = 96, TASK_IS_TASK = 108, TASK_IS_SET = 109,
	TASK_CORO = 128, TASK_NAME = 136, TASK_NODE = 152,
	GEN_SIZE = 240, GEN_FRAME = 72, GEN_STATE = 67, GEN_LOCALS = GEN_FRAME + 80,
	FRAME_CODE = 0, FRAME_PREVIOUS = 8, FRAME_INSTRUCTION = 56, FRAME_STACK = 64,
	FRAME_OWNER = 74,
	THREAD_SIZE = 936, THREAD_FRAME = 72, THREAD_TASKS = 880,
	CODE_BYTES = 208,
};
enum { CREATED = 0xfd, SUSPENDED = 0xfe, AWAITING = 0xff, EXECUTING = 0, COMPLETED = 1 };

#define FOREVER UINT64_MAX
#define TID 12

struct scene {
	struct python_scene *memory;
	struct runtimes_config config;
	struct runtime_places places;
	struct runtime_tools tools;
	struct cpython cpython;
	struct python_thread thread;
	struct async_tasks *tasks;
	uint64_t coroutine_type, wrapper_type, str_type, int_type, last;
};

/* --- what memory has ------------------------------------------------------------------------ */

static void
put_byte(struct scene *s, uint64_t address, uint8_t value)
{
	python_scene_put(s->memory, address, &value, 1);
}

static uint64_t
make_type(struct scene *s, const char *name)
{
	const uint64_t type = python_scene_allocate(s->memory, 64);
	const uint64_t text = python_scene_allocate(s->memory, 64);

	python_scene_put(s->memory, text, name, strlen(name) + 1);
	scene_put_u64(s->memory, type + s->memory->layout.type_name, text);
	return type;
}

static uint64_t
make_str(struct scene *s, const char *text)
{
	const uint64_t str = python_scene_ascii(s->memory, text);

	scene_put_u64(s->memory, str + TYPE, s->str_type);
	return str;
}

static uint64_t
make_int(struct scene *s, uint32_t low, uint32_t high)
{
	const uint64_t number = python_scene_allocate(s->memory, 32);

	scene_put_u64(s->memory, number + TYPE, s->int_type);
	scene_put_u64(s->memory, number + 16, (high != 0 ? 2 : 1) << 3);
	scene_put_u64(s->memory, number + 24, (uint64_t)high << 32 | low);
	return number;
}

/* A function of which every instruction is on line `line`. */
static uint64_t
make_code(struct scene *s, const char *name, uint32_t line)
{
	/* no columns, eight code units, no step */
	static const uint8_t table[] = { 0x80 | 13 << 3 | 7, 0 };
	const uint64_t text = make_str(s, name);

	return python_scene_code(s->memory, make_str(s, "app.py"), text, text,
			  python_scene_bytes(s->memory, table, sizeof(table)), line).address;
}

static void
put_frame(struct scene *s, uint64_t frame, uint64_t code, uint8_t owner)
{
	scene_put_u64(s->memory, frame + FRAME_CODE, code | 1); /* with a mark */
	scene_put_u64(s->memory, frame + FRAME_INSTRUCTION, code + CODE_BYTES + 4);
	put_byte(s, frame + FRAME_OWNER, owner);
}

/* It has one local variable, and on top of that what it awaits. */
static uint64_t
make_coroutine(struct scene *s, const char *name, uint32_t line, uint8_t state, uint64_t awaits)
{
	const uint64_t coroutine = python_scene_allocate(s->memory, GEN_SIZE);

	scene_put_u64(s->memory, coroutine + TYPE, s->coroutine_type);
	put_byte(s, coroutine + GEN_STATE, state);
	put_frame(s, coroutine + GEN_FRAME, make_code(s, name, line), 1);
	scene_put_u64(s->memory, coroutine + GEN_LOCALS + 8, awaits);
	scene_put_u64(s->memory, coroutine + GEN_FRAME + FRAME_STACK, coroutine + GEN_LOCALS + 16);
	return coroutine;
}

/* At the end of the list. */
static uint64_t
make_task(struct scene *s, uint64_t name, uint64_t coroutine)
{
	const uint64_t task = python_scene_allocate(s->memory, TASK_SIZE);
	const uint64_t head = s->thread.state + THREAD_TASKS, node = task + TASK_NODE;

	scene_put_u64(s->memory, task + TASK_NAME, name);
	scene_put_u64(s->memory, task + TASK_CORO, coroutine);
	put_byte(s, task + TASK_IS_TASK, 1);
	scene_put_u64(s->memory, node, head);
	scene_put_u64(s->memory, node + 8, s->last);
	scene_put_u64(s->memory, s->last, node);
	scene_put_u64(s->memory, head + 8, node);
	s->last = node;
	return task;
}

static int
start(void **state)
{
	struct scene *s = xcalloc(1, sizeof(*s));
	uint8_t bytes[1024];
	const char *why;

	*state = s;
	python_scene_create((void **)&s->memory);
	assert_true(python_says_bytes(SAYS, bytes) > 0);
	assert_true(python_offsets_parse(bytes, sizeof(bytes), &s->memory->layout, &why));
	assert_true(python_offsets_parse_tasks(bytes, sizeof(bytes), &s->cpython.tasks));
	assert_true(python_asyncio_parse(asyncio_says, &s->cpython.tasks));
	s->cpython.tasks_known = true;
	s->cpython.place.layout = s->memory->layout;
	s->cpython.codes = python_codes_create(&s->cpython.place.layout, &s->memory->memory);
	s->config.memory = s->memory->memory;
	runtime_places_init(&s->places);
	s->tools = (struct runtime_tools){
		.config = &s->config, .memory = s->config.memory, .places = &s->places,
		.pages = pages_create(&s->config),
	};
	s->cpython.base.tools = &s->tools;
	s->tasks = async_tasks_create();
	s->coroutine_type = make_type(s, "coroutine");
	s->wrapper_type = make_type(s, "coroutine_wrapper");
	s->str_type = make_type(s, "str");
	s->int_type = make_type(s, "int");
	s->thread = (struct python_thread){
		.state = python_scene_allocate(s->memory, THREAD_SIZE), .tid = TID,
	};
	s->last = s->thread.state + THREAD_TASKS;
	scene_put_u64(s->memory, s->last, s->last);
	scene_put_u64(s->memory, s->last + 8, s->last);
	return 0;
}

static int
end(void **state)
{
	struct scene *s = *state;

	async_tasks_free(s->tasks);
	pages_free(s->tools.pages);
	runtime_places_release(&s->places);
	python_codes_free(s->cpython.codes);
	python_scene_free((void **)&s->memory);
	free(s);
	return 0;
}

/* --- what is read ----------------------------------------------------------------------------- */

static void
read_all(struct scene *s)
{
	python_tasks_read(&s->cpython, &s->thread, FOREVER, s->tasks);
	async_tasks_finish(s->tasks);
}

/* "leaf:3 < outer:7", innermost first. */
static void
expect_task(const struct scene *s, size_t index, const char *name,
	    enum async_task_state task_state, const char *stack, const char *awaited_by)
{
	const struct async_task *task = async_tasks_get(s->tasks, index);
	const struct runtime_place *place;
	uint32_t at = task->stack;
	const uint32_t *awaiter;
	struct strbuf text;
	size_t count;

	assert_string_equal(task->name, name);
	assert_int_equal(task->tid, TID);
	assert_int_equal(task->state, task_state);
	strbuf_init(&text);
	strbuf_add_text(&text, "");
	while ((place = async_tasks_place(s->tasks, &at)) != NULL) {
		if (!place->marker)
			assert_string_equal(place->file, "app.py");
		strbuf_add_format(&text, "%s%s:%u", text.length > 0 ? " < " : "", place->function,
				  place->line);
	}
	assert_string_equal(text.data, stack);
	strbuf_clear(&text);
	strbuf_add_text(&text, "");
	count = async_tasks_awaiters(s->tasks, index, &awaiter);
	for (size_t i = 0; i < count; i++)
		strbuf_add_format(&text, "%s%u", i > 0 ? " " : "", awaiter[i]);
	assert_string_equal(text.data, awaited_by);
	strbuf_release(&text);
}

static void
test_chain(void **state)
{
	struct scene *s = *state;
	const uint64_t leaf = make_coroutine(s, "leaf", 3, SUSPENDED, 0);
	const uint64_t wrapper = python_scene_allocate(s->memory, 32);
	const uint64_t middle = make_coroutine(s, "C.middle", 5, AWAITING, wrapper);

	scene_put_u64(s->memory, wrapper + TYPE, s->wrapper_type);
	scene_put_u64(s->memory, wrapper + 16, leaf);
	make_task(s, make_str(s, "named"), make_coroutine(s, "outer", 7, AWAITING, middle | 1));
	make_task(s, make_int(s, 17, 0), make_coroutine(s, "new", 9, CREATED, 0));
	make_task(s, make_int(s, 1, 2), leaf);
	make_task(s, make_str(s, ""), make_coroutine(s, "done", 9, COMPLETED, 0));
	make_task(s, make_str(s, ""), 0);
	make_task(s, 0, make_coroutine(s, "waits", 11, AWAITING, s->int_type));
	read_all(s);
	assert_int_equal(async_tasks_count(s->tasks), 4);
	expect_task(s, 0, "named", ASYNC_TASK_WAITING, "leaf:3 < C.middle:5 < outer:7", "");
	expect_task(s, 1, "Task-17", ASYNC_TASK_NEW, "new:9", "");
	expect_task(s, 2, "Task-2147483649", ASYNC_TASK_WAITING, "leaf:3", "");
	expect_task(s, 3, "?", ASYNC_TASK_WAITING, "waits:11", "");
	assert_null(async_tasks_missing(s->tasks, 0));
}

/* The thread executes: inner, called by a coroutine, awaited by the task's; a shim between. */
static void
test_running(void **state)
{
	struct scene *s = *state;
	const uint64_t inner = python_scene_allocate(s->memory, 96),
		shim = python_scene_allocate(s->memory, 96);
	const uint64_t awaited = make_coroutine(s, "awaited", 5, EXECUTING, 0);
	const uint64_t own = make_coroutine(s, "own", 7, EXECUTING, 0);

	put_frame(s, inner, make_code(s, "inner", 1), 0);
	put_frame(s, shim, 0, 3);
	scene_put_u64(s->memory, s->thread.state + THREAD_FRAME, inner);
	scene_put_u64(s->memory, inner + FRAME_PREVIOUS, shim);
	scene_put_u64(s->memory, shim + FRAME_PREVIOUS, awaited + GEN_FRAME);
	scene_put_u64(s->memory, awaited + GEN_FRAME + FRAME_PREVIOUS, own + GEN_FRAME);
	make_task(s, make_str(s, "runs"), own);
	/* and one that says so, and is not among them */
	make_task(s, make_str(s, "lost"), make_coroutine(s, "lost", 9, EXECUTING, 0));
	read_all(s);
	assert_int_equal(async_tasks_count(s->tasks), 2);
	expect_task(s, 0, "runs", ASYNC_TASK_RUNNING, "inner:1 < awaited:5 < own:7", "");
	expect_task(s, 1, "lost", ASYNC_TASK_RUNNING, PYTHON_BROKEN ":0 < lost:9", "");
}

/* One is awaited by another, one by two and by something that is no task, one by itself. */
static void
test_awaited_by(void **state)
{
	struct scene *s = *state;
	const uint64_t set = python_scene_allocate(s->memory, 64),
		slots = python_scene_allocate(s->memory, 128);
	uint64_t task[4];
	struct async_groups groups;

	for (size_t i = 0; i < ARRAY_SIZE(task); i++)
		task[i] = make_task(s, make_str(s, "t"), make_coroutine(s, "f", 3, SUSPENDED, 0));
	scene_put_u64(s->memory, task[1] + TASK_AWAITED_BY, task[0]);
	scene_put_u64(s->memory, task[2] + TASK_AWAITED_BY, set);
	put_byte(s, task[2] + TASK_IS_SET, 1);
	scene_put_u64(s->memory, set + 32, 7); /* the mask */
	scene_put_u64(s->memory, set + 40, slots);
	scene_put_u64(s->memory, slots, task[1]);
	scene_put_u64(s->memory, slots + 16, s->int_type);
	scene_put_u64(s->memory, slots + 7 * 16, task[0]);
	scene_put_u64(s->memory, task[3] + TASK_AWAITED_BY, task[3]);
	read_all(s);
	expect_task(s, 0, "t", ASYNC_TASK_WAITING, "f:3", "");
	expect_task(s, 1, "t", ASYNC_TASK_WAITING, "f:3", "0");
	expect_task(s, 2, "t", ASYNC_TASK_WAITING, "f:3", "0 1");
	expect_task(s, 3, "t", ASYNC_TASK_WAITING, "f:3", "3");
	async_groups_make(s->tasks, &groups);
	assert_int_equal(groups.count, 1);
	assert_int_equal(groups.group[0].count, 4);
	assert_true(async_tasks_share_awaiters(s->tasks, 0, 0));
	assert_false(async_tasks_share_awaiters(s->tasks, 1, 2));
	async_groups_release(&groups);
}

static void
expect_text(const struct scene *s, const char *want)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct text_page page = text_page_make(100, out);

	assert_non_null(out);
	text_async_write(s->tasks, &page.page);
	strbuf_release(&page.page.text);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, want);
	free(text);
}

static void
test_groups(void **state)
{
	struct scene *s = *state;
	const uint64_t leaf = make_coroutine(s, "leaf", 3, SUSPENDED, 0);
	const uint64_t other = make_coroutine(s, "leaf", 4, SUSPENDED, 0);
	uint64_t task[5];
	struct async_groups groups;

	for (size_t i = 0; i < ARRAY_SIZE(task); i++)
		task[i] = make_task(s, make_int(s, (uint32_t)i, 0), i == 1 ? other : leaf);
	scene_put_u64(s->memory, task[0] + TASK_AWAITED_BY, task[1]);
	scene_put_u64(s->memory, task[3] + TASK_AWAITED_BY, task[1]);
	read_all(s);
	async_groups_make(s->tasks, &groups);
	assert_int_equal(groups.count, 2);
	assert_int_equal(groups.group[0].count, 4);
	assert_int_equal(groups.group[1].count, 1);
	assert_int_equal(groups.group[1].member[0], 1);
	/* those that nobody awaits, then the others */
	assert_memory_equal(groups.group[0].member, ((const uint32_t[]){ 2, 4, 0, 3 }), 16);
	async_groups_release(&groups);
	expect_text(s, "\n4 tasks of thread 12: waiting\n"
		       "    Task-2, Task-4\n"
		       "    Task-0, Task-3: awaited by Task-1\n"
		       "   0  leaf at app.py:3\n"
		       "\nTask Task-1 of thread 12: waiting\n"
		       "   0  leaf at app.py:4\n");
}

/* Of many names some, and how many more there are; a name that would harm a terminal. */
static void
test_text(void **state)
{
	struct scene *s = *state;
	const uint64_t leaf = make_coroutine(s, "leaf", 3, SUSPENDED, 0);
	const uint64_t set = python_scene_allocate(s->memory, 64),
		slots = python_scene_allocate(s->memory, 256);
	uint64_t task;

	for (uint32_t i = 0; i < 12; i++) {
		task = make_task(s, make_int(s, i, 0), leaf);
		scene_put_u64(s->memory, slots + i * 16, task);
	}
	scene_put_u64(s->memory, set + 32, 15);
	scene_put_u64(s->memory, set + 40, slots);
	task = make_task(s, make_str(s, "\x1b[31m"), 0);
	scene_put_u64(s->memory, task + TASK_CORO, make_coroutine(s, "one", 9, CREATED, 0));
	scene_put_u64(s->memory, task + TASK_AWAITED_BY, set);
	put_byte(s, task + TASK_IS_SET, 1);
	read_all(s);
	async_tasks_note(s->tasks, "some are missing");
	expect_text(s, "\n12 tasks of thread 12: waiting\n"
		       "    Task-0, Task-1, Task-2, Task-3, Task-4, Task-5, Task-6, Task-7, "
		       "Task-8, Task-9, … and 2 more\n"
		       "   0  leaf at app.py:3\n"
		       "\nTask \\x1b[31m of thread 12: not started, awaited by Task-0, Task-1, "
		       "Task-2, Task-3, Task-4, …\n    and 7 more\n"
		       "   0  one at app.py:9\n"
		       "\nsome are missing\n");
}

static void
test_undo(void **state)
{
	struct scene *s = *state;
	uint64_t task[3];

	for (size_t i = 0; i < ARRAY_SIZE(task); i++)
		task[i] = make_task(s, make_int(s, (uint32_t)i, 0),
				    make_coroutine(s, "f", 3, SUSPENDED, 0));
	scene_put_u64(s->memory, task[0] + TASK_AWAITED_BY, task[2]);
	python_tasks_read(&s->cpython, &s->thread, FOREVER, s->tasks);
	/* nothing was read before them */
	async_tasks_undo(s->tasks);
	assert_int_equal(async_tasks_count(s->tasks), 0);
	read_all(s);
	assert_int_equal(async_tasks_count(s->tasks), 3);
	expect_task(s, 0, "Task-0", ASYNC_TASK_WAITING, "f:3", "2");
	expect_task(s, 2, "Task-2", ASYNC_TASK_WAITING, "f:3", "");
}

/* --- what is not as it should be ------------------------------------------------------------ */

static void
test_ring_of_coroutines(void **state)
{
	struct scene *s = *state;
	const uint64_t one = make_coroutine(s, "one", 3, AWAITING, 0);
	const uint64_t two = make_coroutine(s, "two", 4, AWAITING, one);
	const struct runtime_place *place;
	uint32_t at;
	size_t depth = 0;

	scene_put_u64(s->memory, one + GEN_LOCALS + 8, two);
	make_task(s, make_str(s, "ring"), one);
	read_all(s);
	assert_int_equal(async_tasks_count(s->tasks), 1);
	at = async_tasks_get(s->tasks, 0)->stack;
	place = async_tasks_place(s->tasks, &at);
	assert_true(place->marker);
	while (async_tasks_place(s->tasks, &at) != NULL)
		depth++;
	assert_int_equal(depth, ASYNC_TASK_DEPTH_MOST);
}

/* A wrapper of itself has nothing inside. */
static void
test_ring_of_wrappers(void **state)
{
	struct scene *s = *state;
	const uint64_t wrapper = python_scene_allocate(s->memory, 32);

	scene_put_u64(s->memory, wrapper + TYPE, s->wrapper_type);
	scene_put_u64(s->memory, wrapper + 16, wrapper);
	make_task(s, make_str(s, "w"), make_coroutine(s, "f", 3, AWAITING, wrapper));
	make_task(s, make_str(s, "x"), wrapper);
	read_all(s);
	expect_task(s, 0, "w", ASYNC_TASK_WAITING, "f:3", "");
	expect_task(s, 1, "x", ASYNC_TASK_WAITING, "", "");
}

/* The list leads elsewhere, or to itself: what comes before is there, and that it is not all. */
static void
test_broken_list(void **state)
{
	struct scene *s = *state;
	const uint64_t wrong[] = { SCENE_NOWHERE, SCENE_BASE + SCENE_SIZE - 8, s->str_type };

	make_task(s, make_str(s, "a"), make_coroutine(s, "f", 3, SUSPENDED, 0));
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		async_tasks_free(s->tasks);
		s->tasks = async_tasks_create();
		scene_put_u64(s->memory, s->last, wrong[i]);
		read_all(s);
		assert_int_equal(async_tasks_count(s->tasks), 1);
		assert_non_null(strstr(async_tasks_missing(s->tasks, 0), "leads to where"));
	}
	async_tasks_free(s->tasks);
	s->tasks = async_tasks_create();
	scene_put_u64(s->memory, s->last, s->last);
	scene_put_u64(s->memory, s->last + 8, s->last);
	read_all(s);
	assert_int_equal(async_tasks_count(s->tasks), 0);
	assert_non_null(async_tasks_missing(s->tasks, 0));
}

static void
test_too_late(void **state)
{
	struct scene *s = *state;

	make_task(s, make_str(s, "a"), make_coroutine(s, "f", 3, SUSPENDED, 0));
	python_tasks_read(&s->cpython, &s->thread, 1, s->tasks);
	async_tasks_finish(s->tasks);
	assert_int_equal(async_tasks_count(s->tasks), 0);
	assert_non_null(strstr(async_tasks_missing(s->tasks, 0), "too long"));
}

/* Whatever memory has: it ends, and what it gives can be walked. */
static void
walk_all(const struct scene *s)
{
	const uint32_t *awaiter;

	for (size_t i = 0; i < async_tasks_count(s->tasks); i++) {
		uint32_t at = async_tasks_get(s->tasks, i)->stack;
		size_t depth = 0;

		while (async_tasks_place(s->tasks, &at) != NULL)
			assert_true(depth++ <= 2 * ASYNC_TASK_DEPTH_MOST);
		for (size_t n = async_tasks_awaiters(s->tasks, i, &awaiter); n > 0; n--)
			assert_true(awaiter[n - 1] < async_tasks_count(s->tasks));
	}
}

static void
damage(struct scene *s, struct rng *rng)
{
	const size_t used = s->memory->used;

	for (uint64_t n = rng_next(rng) % 20 + 1; n > 0; n--) {
		const size_t at = rng_next(rng) % used;

		if (rng_next(rng) % 2 == 0)
			s->memory->bytes[at] = (uint8_t)rng_next(rng);
		else /* a pointer to anything that is there */
			scene_put_u64(s->memory, SCENE_BASE + at / 8 * 8,
				      SCENE_BASE + rng_next(rng) % used / 8 * 8);
	}
}

static void
test_damaged(void **state)
{
	struct scene *s = *state;
	uint8_t *whole = xmalloc(SCENE_SIZE);
	struct rng rng;
	uint64_t task;

	for (uint32_t i = 0; i < 4; i++) {
		const uint64_t leaf = make_coroutine(s, "leaf", 3, SUSPENDED, 0);

		task = make_task(s, make_int(s, i, 0), make_coroutine(s, "f", 5, AWAITING, leaf));
		scene_put_u64(s->memory, task + TASK_AWAITED_BY, task);
	}
	scene_put_u64(s->memory, s->thread.state + THREAD_FRAME, SCENE_BASE + 4096);
	memcpy(whole, s->memory->bytes, SCENE_SIZE);
	rng_seed(&rng, 1);
	for (int round = 0; round < 3000; round++) {
		async_tasks_free(s->tasks);
		s->tasks = async_tasks_create();
		memcpy(s->memory->bytes, whole, SCENE_SIZE);
		damage(s, &rng);
		python_tasks_read(&s->cpython, &s->thread, clock_now_ns() + NS_PER_SEC, s->tasks);
		async_tasks_finish(s->tasks);
		walk_all(s);
	}
	free(whole);
}

/* --- where it is ------------------------------------------------------------------------------ */

static void
test_layouts(void **state)
{
	(void)state;
	for (size_t i = 0; i < PYTHON_SAYS_COUNT; i++) {
		const struct python_says *says = &python_says[i];
		const bool free_threaded = says->word[1] != 0;
		struct python_task_layout layout = { 0 };
		uint8_t bytes[1024];
		const size_t size = python_says_bytes(says, bytes);

		if (strncmp(says->version, "3.13", 4) == 0) {
			assert_false(python_offsets_parse_tasks(bytes, size, &layout));
			continue;
		}
		assert_true(python_offsets_parse_tasks(bytes, size, &layout));
		assert_int_equal(layout.object_size, free_threaded ? 32 : 16);
		assert_int_equal(layout.generator_frame, free_threaded ? 88 : 72);
		assert_int_equal(layout.generator_state, free_threaded ? 83 : 67);
		assert_int_equal(layout.set_table, free_threaded ? 56 : 40);
		assert_int_equal(layout.set_mask, free_threaded ? 48 : 32);
		assert_int_equal(layout.long_tag, free_threaded ? 32 : 16);
		assert_int_equal(layout.long_digits, free_threaded ? 40 : 24);
		assert_int_equal(layout.frame_stack, 64);
		assert_int_equal(layout.frame_locals, 80);
		/* cut short anywhere it says nothing */
		for (size_t less = 0; less < 8 * 88; less++)
			assert_false(python_offsets_parse_tasks(bytes, less, &layout));
	}
}

static void
test_asyncio_words(void **state)
{
	struct scene *s = *state;

	assert_int_equal(s->cpython.tasks.node, 152);
	assert_int_equal(s->cpython.tasks.thread_tasks, 880);
	assert_int_equal(s->cpython.tasks.thread_running, 872);
	assert_int_equal(s->cpython.tasks.interpreter_tasks, 10880);
	/* each word too large, or of another interpreter; of the running loop nothing is wanted */
	for (size_t i = 0; i < PYTHON_ASYNCIO_WORDS; i++) {
		struct python_task_layout layout = s->cpython.tasks;
		uint64_t word[PYTHON_ASYNCIO_WORDS];

		memcpy(word, asyncio_says, sizeof(word));
		word[i] += UINT64_C(1) << 32;
		assert_int_equal(python_asyncio_parse(word, &layout), i == 10);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_chain),
		TEST(test_running),
		TEST(test_awaited_by),
		TEST(test_groups),
		TEST(test_text),
		TEST(test_undo),
		TEST(test_ring_of_coroutines),
		TEST(test_ring_of_wrappers),
		TEST(test_broken_list),
		TEST(test_too_late),
		TEST(test_damaged),
		TEST(test_layouts),
		TEST(test_asyncio_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
