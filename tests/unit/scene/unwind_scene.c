/* SPDX-License-Identifier: MIT */
/* unwind_scene.c - a child with known stacks; see the header. */
#include "unwind_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "wallsample/base/base.h"
#include "wallsample/tracer/tracer.h"
#include "wallsample/tracer/sleeper.h"

/* --- the child ------------------------------------------------------------------ */

static struct child_report *report; /* memory that the test and the child share */
static volatile int sink;

#ifdef __clang__ /* clang does not clone functions, and does not have the attribute noclone */
#define FRAME __attribute__((noinline))
#else
#define FRAME __attribute__((noinline, noclone))
#endif
/* Stands after a call: prevents that the compiler makes it a tail call, or merges equal
 * functions. */
#define KEEP_FRAME() (sink = __LINE__)

FRAME void
f2(int fd, struct child_report *mine)
{
	char byte;

	mine->caller[2] = (uintptr_t)__builtin_return_address(0);
	/* Reading the frame address makes the compiler set up the frame pointer in this
	 * function. */
	mine->fp = (uintptr_t)__builtin_frame_address(0);
	atomic_store(&mine->tid, (int)syscall(SYS_gettid));
	/* In a build with a sanitizer, read() is the sanitizer's function, which has its own
	 * frame. */
	syscall(SYS_read, fd, &byte, 1);
	KEEP_FRAME();
}

FRAME void
f1(int fd, struct child_report *mine)
{
	mine->caller[1] = (uintptr_t)__builtin_return_address(0);
	f2(fd, mine);
	KEEP_FRAME();
}

FRAME void
f0(int fd, struct child_report *mine)
{
	mine->caller[0] = (uintptr_t)__builtin_return_address(0);
	f1(fd, mine);
	KEEP_FRAME();
}

static void *
second_thread(void *fd)
{
	f0(*(int *)fd, &report[1]);
	return NULL;
}

static void
sleep_in_f2(int in, int out)
{
	pthread_t thread;

	(void)out;
	if (pthread_create(&thread, NULL, second_thread, &in) != 0)
		return;
	f0(in, &report[0]);
}

/* --- the test -------------------------------------------------------------- */

static const enum unwind_choice choices[CHOICES] = { UNWIND_AUTO, UNWIND_LIBUNWIND, UNWIND_LIBDW };
static bool
capture(const struct scene *scene, int thread, struct snapshot *snapshot)
{
	struct syscall_info info;
	struct sched sched;
	struct watch watch;
	bool allowed;

	while (atomic_load(&report[thread].tid) == 0)
		sched_yield(); /* the alarm of the test ends this loop at the latest */
	watch_init(&watch, atomic_load(&report[thread].tid), sched_source_probe(), true);
	allowed = sleeping_child_settle(&scene->child, &watch, SYS_read, &sched, &info);
	if (allowed)
		assert_int_equal(tracer_read_sleeper(scene->child.process, NULL, &watch, &sched,
						     &info, STACK_WANT, snapshot),
				 READ_CAPTURED);
	regs_set(&snapshot->regs, regs_fp_number, report[thread].fp);
	watch_release(&watch);
	return allowed;
}

int
scene_start(void **state)
{
	struct scene *scene = xcalloc(1, sizeof(*scene));

	*state = scene;
	report = mmap(NULL, THREADS * sizeof(*report), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (report == MAP_FAILED)
		return -1;
	scene->report = report;
	sleeping_child_start(&scene->child, sleep_in_f2);
	scene->modules = modules_create();
	scene->maps = maps_create(scene->child.process, scene->modules);
	for (size_t i = 0; i < CHOICES; i++)
		scene->unwinder[i] = unwinder_create(scene->maps, choices[i]);
	scene->allowed = true;
	for (int i = 0; i < THREADS; i++) {
		snapshot_init(&scene->snapshot[i]);
		chain_init(&scene->whole[i]);
		scene->allowed = scene->allowed && capture(scene, i, &scene->snapshot[i]);
		if (scene->allowed)
			unwinder_walk(scene->unwinder[0], &scene->snapshot[i], false,
				      &scene->whole[i]);
	}
	return 0;
}

int
scene_end(void **state)
{
	struct scene *scene = *state;

	for (int i = 0; i < THREADS; i++) {
		snapshot_release(&scene->snapshot[i]);
		chain_release(&scene->whole[i]);
	}
	for (size_t i = 0; i < CHOICES; i++)
		unwinder_free(scene->unwinder[i]);
	unwinder_free(NULL);
	maps_free(scene->maps);
	modules_free(scene->modules);
	sleeping_child_release(&scene->child);
	munmap(report, THREADS * sizeof(*report));
	free(scene);
	return 0;
}

struct scene *
scene_of(void **state)
{
	struct scene *scene = *state;

	if (!scene->allowed)
		skip();
	return scene;
}

void
copy_part(const struct snapshot *from, size_t size, struct snapshot *to)
{
	snapshot_reserve(to, from->stack_size);
	to->tid = from->tid;
	to->regs = from->regs;
	to->stack_address = from->stack_address;
	to->stack_size = to->stack_wanted = size;
	to->live_limit = 0;
	memcpy(to->stack, from->stack, size);
}

void
check_sane(const struct chain *chain, const struct snapshot *snapshot)
{
	assert_true(chain->count >= 1 && chain->count <= CHAIN_MAX_DEPTH);
	assert_true(chain->count <= chain->capacity);
	assert_true(chain->frame[0].address == snapshot->regs.pc);
	assert_int_equal(chain->frame[0].origin, FRAME_REGISTERS);
	assert_true(chain->end < CHAIN_END_COUNT);
	assert_true(chain->stack_used <= snapshot->stack_size);
	for (size_t i = 0; i < chain->count; i++)
		assert_non_null(frame_origin_text((enum frame_origin)chain->frame[i].origin));
}

void
check_prefix(const struct chain *chain, const struct chain *whole)
{
	assert_true(chain->count <= whole->count);
	for (size_t i = 0; i < chain->count; i++)
		assert_true(chain->frame[i].address == whole->frame[i].address);
	if (chain->end == CHAIN_STACK_LIMIT)
		assert_true(chain->count < whole->count && chain->end_address != 0);
	else
		assert_true(chain->end == CHAIN_OUTERMOST && chain->count == whole->count);
}
