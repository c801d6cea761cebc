/* SPDX-License-Identifier: MIT */
/* go.c - the Go runtimes of a process, and the goroutines of captured threads. */
#include "runtime/go/go_internal.h"

#include <stdlib.h>
#include <string.h>

static struct go_runtime *
go_next(const void *state, size_t *at)
{
	return (struct go_runtime *)instances_next(state, at);
}

/* --- instances --------------------------------------------------------------------------- */

static void
go_describe(const void *place, char *text, size_t size)
{
	snprintf(text, size, "Go %s", ((const struct go_home *)place)->version);
}

static void
go_init(struct instance *instance, const void *place)
{
	struct go_runtime *go = (struct go_runtime *)instance;

	go->home = *(const struct go_home *)place;
	table_init(&go->threads.by_address);
	table_init(&go->threads.by_tid);
	table_init(&go->before.by_address);
	table_init(&go->before.by_tid);
	table_init(&go->own);
}

static void
go_found(struct instance *instance, const void *place, bool remapped)
{
	(void)place;
	if (remapped)
		go_tasks_forget((struct go_runtime *)instance);
}

static void
go_list(struct instance *instance, uint64_t now_ns)
{
	go_threads_list((struct go_runtime *)instance, now_ns);
}

static void
go_lost(struct instance *instance)
{
	go_threads_release((struct go_runtime *)instance);
}

static void
go_release(struct instance *instance)
{
	struct go_runtime *go = (struct go_runtime *)instance;

	go_words_release(go);
	free(go->slot);
	free(go->bytes);
}

static const struct instances_kind go_instances = {
	.finder = &go_finder,
	.size = sizeof(struct go_runtime),
	.not_shown = "goroutines are not shown",
	.describe = go_describe,
	.init = go_init,
	.found = go_found,
	.list = go_list,
	.lost = go_lost,
	.release = go_release,
};

static void *
go_create(const struct runtime_tools *tools)
{
	return instances_create(&go_instances, tools);
}

/* --- captures ---------------------------------------------------------------------------- */

/*
 * A goroutine's thread leaves the goroutine's stack and continues on the thread's own stack for
 * work of the runtime, C code and the vdso. Where it left the goroutine's stack is recorded in the
 * goroutine's structure, or for the vdso in the thread's structure.
 */

/* The structures of a thread (m) and its goroutine (g), as they were read for one capture. */
struct glance {
	struct go_runtime *go;
	struct pages *pages;
	const struct go_layout *layout;
	uint8_t m[GO_M_MOST], g[GO_G_MOST];
};

static bool
stack_contains(const struct green_task *task, uint64_t sp)
{
	return task->stack_low <= sp && sp < task->stack_high;
}

/* Sets the registers of the function that has called the vdso. The frame pointer is set only if it
 * is plausible. */
static void
set_vdso_caller(const struct glance *glance, struct green_task *task)
{
	uint64_t fp = 0;

	task->sp = member_u64(glance->m, glance->layout->m_vdso_sp);
	task->pc = member_u64(glance->m, glance->layout->m_vdso_pc);
	if (go_vdso_frame_pointer != 0 &&
	    pages_read(glance->pages, task->sp - go_vdso_frame_pointer, &fp, sizeof(fp)) &&
	    fp >= task->sp && stack_contains(task, fp))
		task->fp = fp;
}

/*
 * If the thread is on another stack than its goroutine's, sets the registers of the leaf on the
 * goroutine's stack. If `sp` is on the goroutine's stack or not known, sets nothing. Nothing needs
 * to be set for a signal handler on the goroutine's stack: unwinding passes through its frame.
 */
static void
find_own_stack(const struct glance *glance, uint64_t sp, struct green_task *task)
{
	const struct go_layout *layout = glance->layout;
	const uint64_t left = member_u64(glance->g, layout->g_sp);
	const uint64_t called = member_u64(glance->g, layout->g_call_sp);

	if (sp == 0 || stack_contains(task, sp))
		return;
	if (stack_contains(task, member_u64(glance->m, layout->m_vdso_sp))) {
		set_vdso_caller(glance, task);
	} else if (task->state == GREEN_TASK_CALLING && stack_contains(task, called)) {
		/* g_sp, g_pc and g_fp are not used here: they have changed if the C code has called
		 * Go. */
		task->sp = called;
		task->pc = member_u64(glance->g, layout->g_call_pc);
		task->fp = member_u64(glance->g, layout->g_call_fp);
	} else if (stack_contains(task, left)) {
		task->sp = left;
		task->pc = member_u64(glance->g, layout->g_pc);
		task->fp = member_u64(glance->g, layout->g_fp);
	}
}

/*
 * Copies the goroutine's stack from captured->task.sp on, a page at a time, up to its end, the
 * first unreadable page or GO_STACK_BYTES bytes. Copies nothing if captured->task.sp is 0.
 */
static void
copy_stack(const struct glance *glance, struct go_captured *captured)
{
	const uint64_t sp = captured->task.sp;
	uint64_t want = captured->task.stack_high - sp;

	if (want > sizeof(captured->stack))
		want = sizeof(captured->stack);
	while (sp != 0 && captured->stack_size < want) {
		const uint64_t at = sp + captured->stack_size;
		size_t part = MEMORY_PAGE - (size_t)(at % MEMORY_PAGE);

		if (part > want - captured->stack_size)
			part = (size_t)want - captured->stack_size;
		if (!pages_read(glance->pages, at, captured->stack + captured->stack_size, part))
			return;
		captured->stack_size += part;
	}
}

/*
 * Captures the goroutine that the thread runs. If the goroutine's structure is not readable,
 * captured->of stays NULL. If that structure does not refer back to the thread, the runtime is
 * about to switch goroutines; captured->task then stays empty, as for a thread that runs no
 * goroutine.
 */
static void
capture_goroutine(struct glance *glance, const struct go_thread *thread, uint64_t sp,
		  struct go_captured *captured)
{
	const uint64_t address = member_u64(glance->m, glance->layout->m_current);
	struct green_task task;
	uint64_t m;

	if (address != 0 && !pages_read(glance->pages, address, glance->g, glance->layout->g_size))
		return;
	captured->of = glance->go;
	if (address == 0 ||
	    !go_task_fill(glance->go, glance->g, address, clock_now_ns(), &task, &m) ||
	    m != thread->address)
		return;
	captured->task = task;
	captured->task.tid = thread->tid;
	find_own_stack(glance, sp, &captured->task);
	copy_stack(glance, captured);
}

void
go_capture(struct go_runtime *go, pid_t tid, uint64_t sp, struct go_captured *captured)
{
	struct go_thread *thread = go_threads_find(go, tid);
	struct glance glance = { .go = go,
				 .pages = go->base.tools->pages,
				 .layout = &go->home.layout };

	captured->of = NULL;
	captured->stack_size = 0;
	memset(&captured->task, 0, sizeof(captured->task));
	if (thread == NULL)
		return;
	pages_begin(glance.pages, &thread->memo);
	if (pages_read(glance.pages, thread->address, glance.m, glance.layout->m_size) &&
	    member_u64(glance.m, glance.layout->m_tid) == thread->inner)
		capture_goroutine(&glance, thread, sp, captured);
	else
		go->base.stale = true;
	pages_keep(glance.pages, &thread->memo);
}

static void
go_capture_any(void *state, pid_t tid, uint64_t sp, void *memory)
{
	struct go_captured *captured = memory;
	struct go_runtime *go;

	captured->of = NULL;
	for (size_t i = 0; captured->of == NULL && (go = go_next(state, &i)) != NULL;)
		go_capture(go, tid, sp, captured);
}

/* --- goroutines -------------------------------------------------------------------------- */

/* Slots are numbered across all Go runtimes: those of the second runtime follow those of the first,
 * and so on. */
static size_t
go_slots(void *state)
{
	struct go_runtime *go;
	size_t count = 0;

	for (size_t i = 0; (go = go_next(state, &i)) != NULL;)
		count += go_tasks_slots(go);
	return count;
}

static void
go_look(void *state, const uint32_t *slot, size_t count, struct green_task *out)
{
	uint32_t begin = 0, *own = xmalloc((count + 1) * sizeof(*own));
	struct go_runtime *go;

	for (size_t i = 0; count > 0 && (go = go_next(state, &i)) != NULL;) {
		const uint64_t end = begin + go->slot_count;
		size_t part = 0;

		for (; part < count && slot[part] < end; part++)
			own[part] = slot[part] - begin;
		go_tasks_look(go, own, part, out);
		slot += part;
		out += part;
		count -= part;
		begin = (uint32_t)end;
	}
	memset(out, 0, count * sizeof(*out));
	free(own);
}

/* The number of a reason depends on the version of Go. If there are several runtimes, the text is
 * that of the first runtime that has the number. */
static const char *
go_reason(const void *state, uint32_t number)
{
	const struct go_runtime *go;

	for (size_t i = 0; number < GO_REASONS_MOST && (go = go_next(state, &i)) != NULL;)
		if (go->reason[number][0] != '\0')
			return go->reason[number];
	return NULL;
}

static int
go_descriptor(void *state, const struct green_task *task, const uint8_t *stack, size_t size,
	      bool *writes)
{
	const char *reason = go_reason(state, task->reason);
	struct go_runtime *go;
	size_t i = 0;

	if (reason == NULL || strcmp(reason, GO_REASON_POLLER) != 0 ||
	    (go = go_next(state, &i)) == NULL)
		return -1;
	return go_poll_descriptor(go, task, stack, size, writes);
}

static bool
go_running(void *state, const void *memory, struct green_task *task, const uint8_t **stack,
	   size_t *stack_size)
{
	const struct go_captured *captured = memory;

	(void)state;
	if (captured->of == NULL)
		return false;
	*task = captured->task;
	task->system = go_words_is_own(captured->of, task->entry);
	*stack = captured->stack;
	*stack_size = captured->stack_size;
	return true;
}

static const struct runtime_scheduler go_scheduler = {
	.words = { .noun = "goroutine", .own = GO_ROOT },
	.slots = go_slots,
	.look = go_look,
	.reason = go_reason,
	.descriptor = go_descriptor,
	.running = go_running,
};

const struct runtime_kind runtime_go = {
	.create = go_create,
	.free = instances_free,
	.tick = instances_tick,
	.next_new = instances_next_new,
	.any = instances_any,
	.describe = instances_describe,
	.unread = instances_unread,
	.captured_size = sizeof(struct go_captured),
	.capture = go_capture_any,
	.scheduler = &go_scheduler,
};
