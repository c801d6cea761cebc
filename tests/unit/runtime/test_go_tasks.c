/* SPDX-License-Identifier: MIT */
/*
 * test_go_tasks.c - goroutines and threads of Go's in memory that is made by hand: whole, changing,
 * in rings, and damaged at random.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/go/go_internal.h"
#include "wallsample/base/base.h"

#define BASE UINT64_C(0xc000000000)
#define SIZE ((size_t)1 << 20)
#define NOWHERE UINT64_C(0xdddd0000)
#define STACK_SIZE 4096
#define DEAD_TID 9999

struct scene {
	uint8_t bytes[SIZE];  /* all memory that there is */
	size_t used;
	unsigned thread_calls, reads;
	struct runtimes_config config;
	struct runtime_tools tools;
	struct go_runtime go;
	struct go_captured captured;
	uint64_t all, head;   /* runtime.allgs, runtime.allm */
};

/* --- memory --------------------------------------------------------------------------- */

static bool
read_scene(void *context, uint64_t address, void *to, size_t size)
{
	struct scene *s = context;

	s->reads++;
	if (address < BASE || address - BASE > SIZE || size > SIZE - (address - BASE))
		return false;
	memcpy(to, s->bytes + (address - BASE), size);
	return true;
}

static pid_t
find_thread(void *context, pid_t inner)
{
	struct scene *s = context;

	s->thread_calls++;
	return inner != DEAD_TID ? inner + 1000 : 0;
}

static void
put(struct scene *s, uint64_t address, const void *value, size_t size)
{
	assert_in_range(address, BASE, BASE + SIZE - size);
	memcpy(s->bytes + (address - BASE), value, size);
}

static void
put_word(struct scene *s, uint64_t address, uint64_t value)
{
	put(s, address, &value, sizeof(value));
}

static uint64_t
get_word(struct scene *s, uint64_t address)
{
	uint64_t value = 0;

	assert_true(read_scene(s, address, &value, sizeof(value)));
	return value;
}

static uint64_t
allocate(struct scene *s, size_t size)
{
	const uint64_t address = BASE + s->used;

	s->used += (size + 63) / 64 * 64;
	assert_true(s->used <= SIZE);
	return address;
}

static uint64_t
make_goroutine(struct scene *s, uint64_t id, uint32_t status)
{
	const struct go_layout *layout = &s->go.home.layout;
	const uint64_t g = allocate(s, layout->g_size), stack = allocate(s, STACK_SIZE);
	const uint8_t reason = 2;

	put_word(s, g + layout->g_low, stack);
	put_word(s, g + layout->g_high, stack + STACK_SIZE);
	put_word(s, g + layout->g_sp, stack + STACK_SIZE - 256);
	put_word(s, g + layout->g_pc, 0x401000 + id);
	put_word(s, g + layout->g_fp, stack + STACK_SIZE - 128);
	put_word(s, g + layout->g_id, id);
	put_word(s, g + layout->g_entry, 0x402000 + id);
	put_word(s, g + layout->g_created, 0x403000 + id);
	put_word(s, g + layout->g_creator, 1);
	put(s, g + layout->g_status, &status, sizeof(status));
	put(s, g + layout->g_reason, &reason, 1);
	return g;
}

static uint64_t
make_thread(struct scene *s, uint64_t tid, uint64_t next)
{
	const struct go_layout *layout = &s->go.home.layout;
	const uint64_t m = allocate(s, layout->m_size), g0 = make_goroutine(s, 0, 0);

	put_word(s, g0 + layout->g_m, m);
	put_word(s, m + layout->m_g0, g0);
	put_word(s, m + layout->m_tid, tid);
	put_word(s, m + layout->m_next, next);
	return m;
}

static void
run_on(struct scene *s, uint64_t g, uint64_t m)
{
	put_word(s, g + s->go.home.layout.g_m, m);
	put_word(s, m + s->go.home.layout.m_current, g);
}

static void
set_slice(struct scene *s, uint64_t array, uint64_t count, uint64_t capacity)
{
	put_word(s, s->all, array);
	put_word(s, s->all + 8, count);
	put_word(s, s->all + 16, capacity);
}

static int
start(void **state)
{
	struct scene *s = xcalloc(1, sizeof(*s));

	*state = s;
	s->config = (struct runtimes_config){
		.memory = { .read = read_scene, .context = s },
		.thread = find_thread, .context = s,
	};
	s->tools = (struct runtime_tools){
		.config = &s->config, .memory = s->config.memory,
		.pages = pages_create(&s->config),
	};
	s->go.base.tools = &s->tools;
	s->go.home.layout = *go_layout_of(26, 8);
	s->go.table_sought = true;
	table_init(&s->go.threads.by_address);
	table_init(&s->go.threads.by_tid);
	table_init(&s->go.before.by_address);
	table_init(&s->go.before.by_tid);
	table_init(&s->go.own);
	allocate(s, 64);
	s->go.home.all = s->all = allocate(s, 24);
	s->go.home.head[0] = s->head = allocate(s, 8);
	s->go.home.head_count = 1;
	return 0;
}

static int
end(void **state)
{
	struct scene *s = *state;

	go_threads_release(&s->go);
	go_words_release(&s->go);
	free(s->go.base.new_thread);
	free(s->go.slot);
	free(s->go.bytes);
	pages_free(s->tools.pages);
	free(s);
	return 0;
}

static struct green_task
look_at(struct scene *s, uint32_t slot)
{
	struct green_task task;

	go_tasks_look(&s->go, &slot, 1, &task);
	return task;
}

static struct green_task
look_at_only(struct scene *s, uint64_t g)
{
	const uint64_t array = allocate(s, 8);

	put_word(s, array, g);
	set_slice(s, array, 1, 1);
	assert_int_equal(go_tasks_slots(&s->go), 1);
	return look_at(s, 0);
}

/* --- goroutines ------------------------------------------------------------------------- */

static void
test_states(void **state)
{
	static const enum green_task_state expected[] = {
		GREEN_TASK_NONE, GREEN_TASK_READY, GREEN_TASK_RUNNING, GREEN_TASK_CALLING,
		GREEN_TASK_WAITING, GREEN_TASK_NONE, GREEN_TASK_NONE, GREEN_TASK_NONE,
		GREEN_TASK_MOVING, GREEN_TASK_READY, GREEN_TASK_WAITING, GREEN_TASK_NONE,
		GREEN_TASK_NONE, GREEN_TASK_NONE,
	};
	struct scene *s = *state;

	for (uint32_t status = 0; status < ARRAY_SIZE(expected); status++) {
		struct scene *other;

		start((void **)&other);
		assert_int_equal(look_at_only(other, make_goroutine(other, 7, status)).state,
				 expected[status]);
		end((void **)&other);
		start((void **)&other);
		assert_int_equal(look_at_only(other,
					      make_goroutine(other, 7, 0x1000 | status)).state,
				 expected[status]);
		end((void **)&other);
	}
	assert_int_equal(look_at_only(s, make_goroutine(s, 7, 0x2004)).state, GREEN_TASK_NONE);
}

static void
test_members(void **state)
{
	struct scene *s = *state;
	const uint64_t g = make_goroutine(s, 34, 4);
	struct green_task task;

	put_word(s, g + s->go.home.layout.g_since, clock_now_ns() - NS_PER_SEC);
	task = look_at_only(s, g);
	assert_int_equal(task.id, 34);
	assert_int_equal(task.address, g);
	assert_int_equal(task.reason, 2);
	assert_int_equal(task.pc, 0x401000 + 34);
	assert_int_equal(task.sp, task.stack_high - 256);
	assert_int_equal(task.fp, task.stack_high - 128);
	assert_int_equal(task.entry, 0x402000 + 34);
	assert_int_equal(task.created_at, 0x403000 + 34);
	assert_int_equal(task.creator, 1);
	assert_int_equal(task.tid, 0);
	assert_in_range(task.waiting_ns, NS_PER_SEC, 600 * NS_PER_SEC);
	assert_false(task.system);
}

/* Of two moments: no place. */
static void
test_stack_elsewhere(void **state)
{
	struct scene *s = *state;
	const struct go_layout *layout = &s->go.home.layout;
	const uint64_t g = make_goroutine(s, 7, 4);
	const uint64_t low = get_word(s, g + layout->g_low);
	const uint64_t sp[] = { 0, NOWHERE, low - 8, low + STACK_SIZE };

	for (size_t i = 0; i < ARRAY_SIZE(sp); i++) {
		struct green_task task;

		put_word(s, g + layout->g_sp, sp[i]);
		task = look_at_only(s, g);
		assert_int_equal(task.state, GREEN_TASK_WAITING);
		assert_int_equal(task.pc | task.sp | task.fp, 0);
	}
	put_word(s, g + layout->g_since, UINT64_MAX);
	assert_int_equal(look_at_only(s, g).waiting_ns, 0);
}

static void
test_array_grows(void **state)
{
	struct scene *s = *state;
	const uint64_t first = allocate(s, 16), second = allocate(s, 32);
	uint64_t g[4];

	for (uint64_t i = 0; i < ARRAY_SIZE(g); i++) {
		g[i] = make_goroutine(s, i + 1, 1);
		put_word(s, second + 8 * i, g[i]);
	}
	put_word(s, first, g[0]);
	assert_int_equal(go_tasks_slots(&s->go), 0);
	set_slice(s, first, 1, 2);
	assert_int_equal(go_tasks_slots(&s->go), 1);
	/* The new length with the old array: what is behind that is nobody's, and not kept. */
	put_word(s, first + 8, NOWHERE);
	set_slice(s, first, 3, 4);
	assert_int_equal(go_tasks_slots(&s->go), 3);
	assert_int_equal(look_at(s, 1).state, GREEN_TASK_NONE);
	assert_int_equal(look_at(s, 0).id, 1);
	set_slice(s, second, 3, 4);
	assert_int_equal(go_tasks_slots(&s->go), 3);
	assert_int_equal(look_at(s, 1).id, 2);
	assert_int_equal(go_tasks_slots(&s->go), 3);
	set_slice(s, second, 4, 4);
	assert_int_equal(go_tasks_slots(&s->go), 4);
	assert_int_equal(look_at(s, 3).id, 4);
	assert_int_equal(look_at(s, 4).state, GREEN_TASK_NONE);
	assert_int_equal(look_at(s, UINT32_MAX).state, GREEN_TASK_NONE);
}

static void
test_array_nowhere(void **state)
{
	struct scene *s = *state;

	set_slice(s, NOWHERE, 1000, 1000);
	assert_int_equal(go_tasks_slots(&s->go), 0);
	set_slice(s, BASE + 64, UINT64_MAX, UINT64_MAX);
	assert_int_equal(go_tasks_slots(&s->go), 0);
	set_slice(s, BASE + 64, 5, 4);
	assert_int_equal(go_tasks_slots(&s->go), 0);
	/* More than there is: as many as there are whole pieces. */
	set_slice(s, BASE, GREEN_TASK_SLOTS_MOST, GREEN_TASK_SLOTS_MOST);
	assert_in_range(go_tasks_slots(&s->go), 0, SIZE / 8);
	assert_int_equal(look_at(s, 1).state, GREEN_TASK_NONE);
	s->go.home.all = NOWHERE;
	assert_int_equal(go_tasks_slots(&s->go), 0);
}

/* --- threads ----------------------------------------------------------------------------- */

static void
test_threads(void **state)
{
	struct scene *s = *state;
	const uint64_t last = make_thread(s, 10, 0), mid = make_thread(s, 11, last);
	const uint64_t first = make_thread(s, 12, mid), gone = make_thread(s, DEAD_TID, first);

	put_word(s, s->head, gone);
	go_threads_list(&s->go, clock_now_ns());
	assert_int_equal(s->go.threads.count, 4);
	assert_int_equal(s->go.base.new_count, 3);
	assert_int_equal(go_threads_find(&s->go, 1012)->address, first);
	assert_null(go_threads_find(&s->go, DEAD_TID));
	assert_int_equal(go_threads_tid(&s->go, mid), 1011);
	assert_int_equal(go_threads_tid(&s->go, gone), 0);
	assert_int_equal(go_threads_tid(&s->go, NOWHERE), 0);
	/* Those that were known are not looked up again. */
	s->thread_calls = 0;
	s->go.base.list_budget.filled_ns = 0;
	go_threads_list(&s->go, clock_now_ns());
	assert_int_equal(s->thread_calls, 1);
	assert_int_equal(s->go.base.new_count, 3);
}

static void
test_ring(void **state)
{
	struct scene *s = *state;
	const uint64_t last = make_thread(s, 10, 0), first = make_thread(s, 11, last);

	put_word(s, last + s->go.home.layout.m_next, first);
	put_word(s, s->head, first);
	go_threads_list(&s->go, clock_now_ns());
	assert_int_equal(s->go.threads.count, 2);
}

/* Without symbols other words point to threads, too: from the right one on there are most. */
static void
test_heads(void **state)
{
	struct scene *s = *state;
	const uint64_t last = make_thread(s, 10, 0), mid = make_thread(s, 11, last);
	const uint64_t first = make_thread(s, 12, mid);

	s->go.home.head_count = 4;
	for (size_t i = 0; i < 4; i++)
		s->go.home.head[i] = allocate(s, 8);
	put_word(s, s->go.home.head[0], mid);
	put_word(s, s->go.home.head[1], last);
	put_word(s, s->go.home.head[2], s->all); /* no thread at all */
	put_word(s, s->go.home.head[3], first);
	go_threads_list(&s->go, clock_now_ns());
	assert_int_equal(s->go.threads.count, 3);
}

/* A goroutine's thread that has come since the list was made. */
static void
test_late_thread(void **state)
{
	struct scene *s = *state;
	const uint64_t g = make_goroutine(s, 5, 2), m = make_thread(s, 13, 0);

	run_on(s, g, m);
	assert_int_equal(look_at_only(s, g).tid, 1013);
	assert_int_equal(s->go.base.new_count, 1);
	/* The collector's goroutines say that they wait, and run. */
	put(s, g + s->go.home.layout.g_status, &(uint32_t){ 4 }, 4);
	assert_int_equal(look_at_only(s, g).state, GREEN_TASK_RUNNING);
	assert_int_equal(look_at_only(s, g).tid, 1013);
	put_word(s, g + s->go.home.layout.g_m, s->all);
	assert_int_equal(look_at_only(s, g).tid, 0);
}

/* --- captures ---------------------------------------------------------------------------- */

struct caught {
	uint64_t g, m, low, high;
};

static struct caught
make_running(struct scene *s, uint32_t status)
{
	struct caught caught = { .g = make_goroutine(s, 5, status) };

	caught.m = make_thread(s, 14, 0);
	run_on(s, caught.g, caught.m);
	put_word(s, s->head, caught.m);
	caught.low = get_word(s, caught.g + s->go.home.layout.g_low);
	caught.high = caught.low + STACK_SIZE;
	for (uint64_t at = caught.low; at < caught.high; at += 8)
		put_word(s, at, at);
	go_threads_list(&s->go, clock_now_ns());
	return caught;
}

static const struct green_task *
capture(struct scene *s, uint64_t sp)
{
	pages_begin_tick(s->tools.pages);
	pages_begin_capture(s->tools.pages, true);
	go_capture(&s->go, 1014, sp, &s->captured);
	return &s->captured.task;
}

static void
test_capture(void **state)
{
	struct scene *s = *state;
	const struct caught c = make_running(s, 2);
	const struct go_layout *layout = &s->go.home.layout;
	const struct green_task *task;
	uint64_t word;

	task = capture(s, c.low + 100);
	assert_ptr_equal(s->captured.of, &s->go);
	assert_int_equal(task->state, GREEN_TASK_RUNNING);
	assert_int_equal(task->tid, 1014);
	assert_int_equal(task->pc | task->sp | task->fp | s->captured.stack_size, 0);
	assert_int_equal(capture(s, 0)->sp, 0);
	/* On another stack: its own goes on where it has left it. */
	task = capture(s, NOWHERE);
	assert_int_equal(task->sp, c.high - 256);
	assert_int_equal(task->pc, 0x401005);
	assert_int_equal(s->captured.stack_size, 256);
	memcpy(&word, s->captured.stack, sizeof(word));
	assert_int_equal(word, task->sp);
	/* The vdso. */
	put_word(s, c.m + layout->m_vdso_sp, c.low + 512);
	put_word(s, c.m + layout->m_vdso_pc, 0x405000);
	task = capture(s, NOWHERE);
	assert_int_equal(task->sp, c.low + 512);
	assert_int_equal(task->pc, 0x405000);
	assert_int_equal(s->captured.stack_size, STACK_SIZE - 512);
	/* Called on the stack of the thread itself it is none of the goroutine's business. */
	put_word(s, c.m + layout->m_vdso_sp, NOWHERE);
	assert_int_equal(capture(s, NOWHERE)->pc, 0x401005);
	/* It has left nothing: a signal came. */
	put_word(s, c.g + layout->g_sp, 0);
	task = capture(s, NOWHERE);
	assert_int_equal(task->state, GREEN_TASK_RUNNING);
	assert_int_equal(task->pc | task->sp | s->captured.stack_size, 0);
}

static void
test_capture_in_call(void **state)
{
	struct scene *s = *state;
	const struct caught c = make_running(s, 3);
	const struct go_layout *layout = &s->go.home.layout;

	put_word(s, c.g + layout->g_call_sp, c.high - 64);
	put_word(s, c.g + layout->g_call_pc, 0x406000);
	put_word(s, c.g + layout->g_call_fp, c.high - 32);
	assert_int_equal(capture(s, NOWHERE)->state, GREEN_TASK_CALLING);
	assert_int_equal(s->captured.task.sp, c.high - 64);
	assert_int_equal(s->captured.task.pc, 0x406000);
	assert_int_equal(s->captured.task.fp, c.high - 32);
	assert_int_equal(capture(s, c.low + 8)->sp, 0);
}

/* Between two goroutines, and where things do not belong together: none. */
static void
test_capture_none(void **state)
{
	struct scene *s = *state;
	const struct caught c = make_running(s, 2);
	const struct go_layout *layout = &s->go.home.layout;

	put_word(s, c.g + layout->g_m, NOWHERE);
	assert_int_equal(capture(s, NOWHERE)->state, GREEN_TASK_NONE);
	assert_ptr_equal(s->captured.of, &s->go);
	put_word(s, c.m + layout->m_current, 0);
	assert_int_equal(capture(s, NOWHERE)->state, GREEN_TASK_NONE);
	assert_ptr_equal(s->captured.of, &s->go);
	put_word(s, c.m + layout->m_current, NOWHERE);
	capture(s, NOWHERE);
	assert_null(s->captured.of);
	/* The thread has ended, and its structure is another's. */
	put_word(s, c.m + layout->m_tid, 15);
	capture(s, NOWHERE);
	assert_null(s->captured.of);
	assert_true(s->go.base.stale);
	go_capture(&s->go, 4711, 0, &s->captured);
	assert_null(s->captured.of);
}

/* --- versions, reasons, layouts ------------------------------------------------------------- */

static void
expect_version(const char *text, bool good, unsigned minor, unsigned patch, bool released)
{
	uint32_t is_minor = 0, is_patch = 0;
	bool is_released = false;

	assert_int_equal(go_version_parse(text, &is_minor, &is_patch, &is_released), good);
	if (!good)
		return;
	assert_int_equal(is_minor, minor);
	assert_int_equal(is_patch, patch);
	assert_int_equal(is_released, released);
}

static void
test_versions(void **state)
{
	(void)state;
	expect_version("go1.26.8", true, 26, 8, true);
	expect_version("go1.19", true, 19, 0, true);
	expect_version("go1.27rc1", true, 27, 0, true);
	expect_version("go1.23.5 X:nocoverageredesign", true, 23, 5, true);
	expect_version("devel go1.27-abcdef Mon Nov 2", true, 27, 0, false);
	expect_version("go1.26-custom", true, 26, 0, false);
	expect_version("go2.0", false, 0, 0, false);
	expect_version("go1.", false, 0, 0, false);
	expect_version("go1.x", false, 0, 0, false);
	expect_version("go1.99999999999999999999", false, 0, 0, false);
	expect_version("", false, 0, 0, false);
}

static void
test_build(void **state)
{
	struct scene *s = *state;
	const uint64_t at = allocate(s, 128), string = allocate(s, 16), text = allocate(s, 16);
	char version[GO_VERSION_TEXT];

	put(s, at, "\xff Go buildinf:\x08\x02", 16);
	put(s, at + 32, "\x08go1.26.8", 9);
	assert_true(go_version_read(&s->tools.memory, at, version));
	assert_string_equal(version, "go1.26.8");
	put(s, at + 32, "\xff", 1);
	assert_false(go_version_read(&s->tools.memory, at, version));
	put(s, at + 32, "", 1);
	assert_false(go_version_read(&s->tools.memory, at, version));
	put(s, at + 32, "\x02\x01\x02", 3);
	assert_false(go_version_read(&s->tools.memory, at, version));
	/* Up to 1.17: pointers. */
	put(s, at + 15, "", 1);
	put_word(s, at + 16, string);
	put_word(s, string, text);
	put_word(s, string + 8, 7);
	put(s, text, "go1.17.", 7);
	assert_true(go_version_read(&s->tools.memory, at, version));
	assert_string_equal(version, "go1.17.");
	put_word(s, string + 8, UINT64_MAX);
	put_word(s, string, BASE + SIZE - 4);
	assert_false(go_version_read(&s->tools.memory, at, version));
	put_word(s, at + 16, NOWHERE);
	assert_false(go_version_read(&s->tools.memory, at, version));
	assert_false(go_version_read(&s->tools.memory, NOWHERE, version));
	/* Where that was taken out: runtime.buildVersion. */
	put(s, text, "go1.26.5", 8);
	put_word(s, at, text);
	put_word(s, at + 8, 8);
	assert_true(go_version_read(&s->tools.memory, at, version));
	assert_string_equal(version, "go1.26.5");
	put(s, text, "to1.26.5", 8);
	assert_false(go_version_read(&s->tools.memory, at, version));
	put_word(s, at, NOWHERE);
	assert_false(go_version_read(&s->tools.memory, at, version));
}

static void
test_reasons(void **state)
{
	static const char *const texts[] = { "", "first", "second", "\x1b[31m", "behind" };
	struct scene *s = *state;

	s->go.home.reasons = allocate(s, 16 * ARRAY_SIZE(texts));
	s->go.home.reason_count = SIZE_MAX;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const uint64_t text = allocate(s, 16);

		put(s, text, texts[i], strlen(texts[i]));
		put_word(s, s->go.home.reasons + 16 * i, text);
		put_word(s, s->go.home.reasons + 16 * i + 8, strlen(texts[i]));
	}
	go_words_read_reasons(&s->go);
	assert_string_equal(s->go.reason[1], "first");
	assert_string_equal(s->go.reason[2], "second");
	assert_string_equal(s->go.reason[3], "");
	assert_string_equal(s->go.reason[4], "");
}

static void
test_layouts(void **state)
{
	(void)state;
	for (uint32_t minor = 0; minor < 40; minor++) {
		const struct go_layout *row = go_layout_of(minor, 0);
		struct go_layout copy;

		if (row == NULL)
			continue;
		assert_in_range(minor, GO_MINOR_OLDEST, GO_MINOR_NEWEST);
		copy = *row;
		assert_true(go_layout_finish(&copy));
		assert_int_equal(copy.g_size, row->g_size);
		assert_int_equal(copy.m_size, row->m_size);
		copy.m_next = MEMBER_ABSENT;
		assert_false(go_layout_finish(&copy));
		copy.m_next = GO_M_MOST;
		assert_false(go_layout_finish(&copy));
	}
	assert_ptr_not_equal(go_layout_of(23, 11), go_layout_of(23, 12));
	assert_ptr_equal(go_layout_of(26, 0), go_layout_of(26, 99));
	assert_null(go_layout_of(GO_MINOR_NEWEST + 1, 0));
}

/* --- is it one? --------------------------------------------------------------------------- */

static void
test_fit(void **state)
{
	struct scene *s = *state;
	const struct go_layout *layout = &s->go.home.layout;
	const uint64_t array = allocate(s, 16), first = make_goroutine(s, 1, 4);

	assert_int_equal(go_fit_all(&s->tools, layout, s->all, true), FINDER_FIT_NOT_YET);
	put_word(s, array, first);
	put_word(s, array + 8, make_goroutine(s, 2, 6));
	set_slice(s, array, 2, 2);
	assert_int_equal(go_fit_all(&s->tools, layout, s->all, true), FINDER_FIT_GOOD);
	put_word(s, first + layout->g_id, 3);
	assert_int_equal(go_fit_all(&s->tools, layout, s->all, true), FINDER_FIT_MISFIT);
	assert_int_equal(go_fit_all(&s->tools, layout, s->all, false), FINDER_FIT_GOOD);
	put_word(s, first + layout->g_high, 8);
	assert_int_equal(go_fit_all(&s->tools, layout, s->all, false), FINDER_FIT_MISFIT);
	set_slice(s, NOWHERE, 2, 2);
	assert_int_equal(go_fit_all(&s->tools, layout, s->all, false), FINDER_FIT_MISFIT);
}

/* Whatever memory holds, all of it ends, and nothing is read that is not there. */
static void
test_random(void **state)
{
	struct scene *s = *state;
	struct rng rng;

	rng_seed(&rng, 1);
	for (int round = 0; round < 300; round++) {
		struct green_task task[64];
		uint32_t slot[64];
		size_t count;

		for (size_t at = 0; at < 65536; at += 8) {
			const uint64_t random = rng_next(&rng);
			const uint64_t word = random % 3 == 0 ? random >> 8 :
					      random % 3 == 1 ? (random >> 40) % 64 :
								BASE + (random >> 20) % 8192 * 8;

			memcpy(s->bytes + at, &word, sizeof(word));
		}
		s->go.base.list_budget.filled_ns = 0;
		s->go.base.stale = true;
		go_threads_list(&s->go, clock_now_ns());
		count = go_tasks_slots(&s->go);
		for (uint32_t i = 0; i < 64; i++)
			slot[i] = i;
		go_tasks_look(&s->go, slot, count < 64 ? count : 64, task);
		for (size_t i = 0; i < s->go.threads.count && i < 64; i++)
			if (s->go.threads.thread[i].tid != 0)
				go_capture(&s->go, s->go.threads.thread[i].tid,
					   BASE + rng_next(&rng) % 65536, &s->captured);
		go_fit_all(&s->tools, &s->go.home.layout, BASE + rng_next(&rng) % 8192 * 8, true);
		s->go.reasons_read = false;
		s->go.home.reasons = BASE + rng_next(&rng) % 8192 * 8;
		s->go.home.reason_count = SIZE_MAX;
		go_words_read_reasons(&s->go);
	}
}

struct poll_scene {
	uint64_t record; /* of a descriptor in Go's poller */
	struct green_task task;
	uint64_t stack[32];
};

static void
make_poll(struct scene *s, struct poll_scene *poll)
{
	*poll = (struct poll_scene){ .record = allocate(s, 48) };
	poll->task.address = make_goroutine(s, 7, 4);
	put_word(s, poll->record + 8, 13);    /* fd */
	put_word(s, poll->record + 16, 21);   /* fdseq */
	poll->stack[3] = poll->record + 32;   /* &rg, in runtime.netpollblock */
	poll->stack[9] = poll->record;        /* in runtime.poll_runtime_pollWait */
	poll->stack[12] = NOWHERE;
	poll->stack[13] = NOWHERE + 40;
}

static int
find_poll(struct scene *s, const struct poll_scene *poll, bool *writes)
{
	return go_poll_descriptor(&s->go, &poll->task, (const uint8_t *)poll->stack,
				  sizeof(poll->stack), writes);
}

/* The descriptor is found only while the record has the goroutine. */
static void
test_descriptor(void **state)
{
	struct scene *s = *state;
	struct poll_scene poll;
	bool writes = true;

	make_poll(s, &poll);
	assert_int_equal(find_poll(s, &poll, &writes), -1);
	put_word(s, poll.record + 32, poll.task.address);
	assert_int_equal(find_poll(s, &poll, &writes), 13);
	assert_false(writes);
	put_word(s, poll.record + 32, 0);
	put_word(s, poll.record + 40, poll.task.address);
	assert_int_equal(find_poll(s, &poll, &writes), -1);
	poll.stack[3] = poll.record + 40;
	assert_int_equal(find_poll(s, &poll, &writes), 13);
	assert_true(writes);
	/* No descriptor; too little of the stack; an older version of Go. */
	put_word(s, poll.record + 8, UINT64_C(1) << 31);
	assert_int_equal(find_poll(s, &poll, &writes), -1);
	put_word(s, poll.record + 8, 13);
	assert_int_equal(go_poll_descriptor(&s->go, &poll.task, (const uint8_t *)poll.stack, 79,
					    &writes), -1);
	s->go.home.layout.minor = 20;
	assert_int_equal(find_poll(s, &poll, &writes), -1);
}

/* A stack full of addresses of records without the goroutine costs few readings. */
static void
test_descriptor_hostile(void **state)
{
	struct scene *s = *state;
	struct poll_scene poll;
	unsigned before = s->reads;
	bool writes;
	make_poll(s, &poll);
	for (size_t i = 0; i < ARRAY_SIZE(poll.stack); i++)
		poll.stack[i] = BASE + 8 * i;
	assert_int_equal(find_poll(s, &poll, &writes), -1);
	assert_in_range(s->reads - before, 1, 8);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_states, start, end),
		cmocka_unit_test_setup_teardown(test_members, start, end),
		cmocka_unit_test_setup_teardown(test_stack_elsewhere, start, end),
		cmocka_unit_test_setup_teardown(test_array_grows, start, end),
		cmocka_unit_test_setup_teardown(test_array_nowhere, start, end),
		cmocka_unit_test_setup_teardown(test_threads, start, end),
		cmocka_unit_test_setup_teardown(test_ring, start, end),
		cmocka_unit_test_setup_teardown(test_heads, start, end),
		cmocka_unit_test_setup_teardown(test_late_thread, start, end),
		cmocka_unit_test_setup_teardown(test_capture, start, end),
		cmocka_unit_test_setup_teardown(test_capture_in_call, start, end),
		cmocka_unit_test_setup_teardown(test_capture_none, start, end),
		cmocka_unit_test(test_versions),
		cmocka_unit_test_setup_teardown(test_build, start, end),
		cmocka_unit_test_setup_teardown(test_reasons, start, end),
		cmocka_unit_test(test_layouts),
		cmocka_unit_test_setup_teardown(test_fit, start, end),
		cmocka_unit_test_setup_teardown(test_descriptor, start, end),
		cmocka_unit_test_setup_teardown(test_descriptor_hostile, start, end),
		cmocka_unit_test_setup_teardown(test_random, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
