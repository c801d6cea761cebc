/* SPDX-License-Identifier: MIT */
/*
 * go_capture.c - captures the goroutine of a thread that is stopped or sleeps.
 *
 * A goroutine leaves its own stack for its thread's stack when the runtime works for it, and for C
 * code and the vdso. The place where it left its stack is in the goroutine's structure; for the
 * vdso it is in the thread's structure.
 */
#include <string.h>

#include "runtime/go/go_internal.h"
#include "wallsample/base/base.h"

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

/*
 * The caller of the vdso is on the goroutine's stack; its frame pointer is used only if plausible.
 */
static void
set_vdso_caller(const struct glance *glance, struct green_task *task)
{
	uint64_t fp = 0;

	task->sp = go_word(glance->m, glance->layout->m_vdso_sp);
	task->pc = go_word(glance->m, glance->layout->m_vdso_pc);
	if (go_vdso_frame_pointer != 0 &&
	    pages_read(glance->pages, task->sp - go_vdso_frame_pointer, &fp, sizeof(fp)) &&
	    fp >= task->sp && stack_contains(task, fp))
		task->fp = fp;
}

/* Sets where the goroutine's own stack continues; nothing while its thread uses that stack. A
 * signal handler may run on it then: unwinding passes through the handler's frame. */
static void
find_own_stack(const struct glance *glance, uint64_t sp, struct green_task *task)
{
	const struct go_layout *layout = glance->layout;
	const uint64_t left = go_word(glance->g, layout->g_sp);
	const uint64_t called = go_word(glance->g, layout->g_call_sp);

	if (sp == 0 || stack_contains(task, sp))
		return;
	if (stack_contains(task, go_word(glance->m, layout->m_vdso_sp))) {
		set_vdso_caller(glance, task);
	} else if (task->state == GREEN_TASK_CALLING && stack_contains(task, called)) {
		/* If C code has called Go meanwhile, the other members have changed. */
		task->sp = called;
		task->pc = go_word(glance->g, layout->g_call_pc);
		task->fp = go_word(glance->g, layout->g_call_fp);
	} else if (stack_contains(task, left)) {
		task->sp = left;
		task->pc = go_word(glance->g, layout->g_pc);
		task->fp = go_word(glance->g, layout->g_fp);
	}
}

/* Copies the readable part of the stack, a page at a time. */
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

/* Reads the goroutine that the thread runs; none while the runtime is about to switch. */
static void
capture_goroutine(struct glance *glance, const struct go_thread *thread, uint64_t sp,
		  struct go_captured *captured)
{
	const uint64_t address = go_word(glance->m, glance->layout->m_current);
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
	    go_word(glance.m, glance.layout->m_tid) == thread->inner)
		capture_goroutine(&glance, thread, sp, captured);
	else
		go->base.stale = true;
	pages_keep(glance.pages, &thread->memo);
}
