/* SPDX-License-Identifier: MIT */
/*
 * test_waits_shared.c - waits for locks in memory that processes share: the same object in all
 * processes of a run, holders in other processes, and deadlocks across processes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../scene/sleeping_child.h"
#include "sampler/threads_internal.h"
#include "sampler/waits/deadlock_internal.h"
#include "wallsample/process/maps.h"

#define SIZE 8192

/* In a file without a name, which each child maps at an address of its own. */
struct locks {
	char space[0x80];
	pthread_mutex_t a, b;
};
static int locks_fd = -1;

/* Returns MAP_FAILED after an error. */
static struct locks *
locks_map(void)
{
	return mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, locks_fd, 0);
}

static void
locks_make(void)
{
	pthread_mutexattr_t attr;
	struct locks *locks;

	locks_fd = memfd_create("locks", MFD_CLOEXEC);
	assert_true(locks_fd >= 0);
	assert_int_equal(ftruncate(locks_fd, SIZE), 0);
	locks = locks_map();
	assert_ptr_not_equal(locks, MAP_FAILED);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&locks->a, &attr);
	pthread_mutex_init(&locks->b, &attr);
	munmap(locks, SIZE);
}

/* --- children --------------------------------------------------------------------------------- */

/* What a child does, set before the fork. */
static struct child_plan {
	const char *name;
	unsigned pages;       /* that it maps before the locks, which moves their address */
	size_t first, second; /* offsets of mutexes: it locks the first, and at a byte the second */
} plan;
#define NONE SIZE

static void
lock_one(struct locks *locks, size_t offset)
{
	if (offset != NONE)
		pthread_mutex_lock((pthread_mutex_t *)((char *)locks + offset));
}

static void
run_plan(int in, int out)
{
	struct locks *locks;
	char byte;

	prctl(PR_SET_NAME, plan.name);
	for (unsigned i = 0; i < plan.pages; i++)
		if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
			_exit(1);
	locks = locks_map();
	if (locks == MAP_FAILED)
		_exit(1);
	lock_one(locks, plan.first);
	if (write(out, "h", 1) != 1)
		_exit(1);
	while (read(in, &byte, 1) == 1)
		lock_one(locks, plan.second);
}

/* Starts a process with this plan in the namespace of the caller's children, and waits until it
 * has the first lock. Returns its id in the caller's namespace; 0 after an error. */
static pid_t
start_in_namespace(const char *name, size_t first, size_t second, int to[2])
{
	int from[2];
	char byte;
	pid_t pid;

	if (pipe(to) != 0 || pipe(from) != 0)
		return 0;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		plan = (struct child_plan){ name, 0, first, second };
		run_plan(to[0], from[1]);
		_exit(0);
	}
	close(from[1]);
	return pid > 0 && read(from[0], &byte, 1) == 1 ? pid : 0;
}

/* Makes a holder and a waiter in a pid namespace of their own, and writes their ids in that of the
 * test; 0: that is not permitted. */
static void
run_namespace(int in, int out)
{
	const size_t a = offsetof(struct locks, a);
	int to_holder[2], to_waiter[2];
	pid_t pid[2] = { 0, 0 };
	char byte;

	if (unshare(CLONE_NEWPID) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0) {
		pid[0] = start_in_namespace("holder", a, NONE, to_holder);
		pid[1] = start_in_namespace("waiter", NONE, a, to_waiter);
		if (pid[1] > 0 && write(to_waiter[1], "g", 1) != 1)
			_exit(1);
	}
	if (write(out, pid, sizeof(pid)) != sizeof(pid))
		_exit(1);
	while (read(in, &byte, 1) > 0)
		continue;
}

/* Maps nothing. */
static void
only_wait(int in, int out)
{
	char byte;

	if (write(out, "h", 1) != 1)
		_exit(1);
	while (read(in, &byte, 1) > 0)
		continue;
}

static void
start(struct sleeping_child *child, const char *name, unsigned pages, size_t first, size_t second)
{
	plan = (struct child_plan){ name, pages, first, second };
	sleeping_child_start(child, run_plan);
	sleeping_child_hear(child);
}

static void
go_on(const struct sleeping_child *child)
{
	assert_int_equal(write(child->to, "g", 1), 1);
}

/* --- a run ------------------------------------------------------------------------------------ */

#define PROCESSES 3

struct scene {
	struct run run;
	struct deadlocks deadlocks;
	struct modules *modules;
	struct sampled_process process[PROCESSES], *list[PROCESSES];
};

static void
add_process(struct scene *scene, const struct process *process)
{
	const size_t at = scene->run.processes.count++;
	struct sampled_process *new = &scene->process[at];

	new->process = process;
	new->maps = maps_create(process, scene->modules);
	new->run = &scene->run;
	new->own_namespace = true;
	target_memory_init(&new->memory, process);
	new->reader = (struct memory){ .read = sampled_process_read_memory, .context = new };
	stacks_init(&new->stacks, new->maps, scene->run.profile, NULL);
	new->waits = waits_create(&scene->run, new);
	scene->list[at] = new;
}

static void
scene_begin(struct scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	scene->run.profile = profile_create();
	scene->run.threads.sched_source = SCHED_FROM_STATUS;
	scene->run.threads.fd_budget = 100;
	scene->run.processes.item = scene->list;
	scene->run.tick = (struct tick){ .number = 1, .time_ns = NS_PER_SEC };
	scene->modules = modules_create();
	scene->deadlocks.run = &scene->run;
}

static void
scene_end(struct scene *scene)
{
	struct run *run = &scene->run;

	for (size_t i = 0; i < run->threads.count; i++)
		thread_free(&run->threads, run->threads.thread[i]);
	threads_release(&run->threads);
	waits_release_common(run);
	for (size_t i = 0; i < run->processes.count; i++) {
		waits_free(scene->process[i].waits);
		stacks_release(&scene->process[i].stacks);
		target_memory_release(&scene->process[i].memory);
		table_release(&scene->process[i].inner);
		maps_free(scene->process[i].maps);
	}
	free(scene->deadlocks.seen);
	modules_free(scene->modules);
	profile_free(run->profile);
}

/* Waits until the thread sleeps in a system call, and observes it there. */
static bool
observe(struct scene *scene, struct sampled_thread *thread, long number)
{
	const struct process *process = thread->process->process;
	struct syscall_info info;
	enum watch_end end;
	char name[80];

	for (;; sched_yield()) { /* the alarm of the test ends this loop */
		assert_int_equal(watch_read_sched(&thread->watch, process, &thread->sched),
				 WATCH_OK);
		end = watch_read_syscall(&thread->watch, process, &info);
		if (end == WATCH_DENIED)
			return false;
		assert_int_equal(end, WATCH_OK);
		if (!info.running && info.number == number && thread_is_unmoved(thread))
			break;
	}
	snprintf(name, sizeof(name), "of %s", thread->name);
	thread->stack = stack_of_text(scene->run.profile, name, STACK_NONE);
	thread->asleep = thread->seen = true;
	thread->state = RUN_SLEEPING;
	thread->sp = info.sp;
	thread->pc = info.pc;
	thread->last_tick = scene->run.tick.number;
	waits_classify(thread->process->waits, thread, RUN_SLEEPING, &info);
	waits_blame(thread->process->waits, thread, 1, 1000);
	return true;
}

/* Observes the thread with this name. Returns it, or NULL if that is not permitted. */
static struct sampled_thread *
observe_named(struct scene *scene, const char *name, long number)
{
	for (size_t i = 0; i < scene->run.threads.count; i++) {
		struct sampled_thread *thread = scene->run.threads.thread[i];

		if (strcmp(thread->name, name) == 0)
			return observe(scene, thread, number) ? thread : NULL;
	}
	fail_msg("there is no thread %s", name);
	return NULL;
}

static const char *
frame_text(const struct profile *profile, uint32_t frame)
{
	assert_int_not_equal(frame, FRAME_NONE);
	assert_int_equal(profile_frame(profile, frame)->module, MODULE_NONE);
	return profile_text(profile, (uint32_t)profile_frame(profile, frame)->address);
}

static const char *
object_of(const struct scene *scene, const struct sampled_thread *thread)
{
	const struct profile *profile = scene->run.profile;

	assert_int_not_equal(thread->wait.id, 0);
	assert_int_equal(profile_wait(profile, thread->wait.id)->kind, WAIT_MUTEX);
	return frame_text(profile, profile_wait(profile, thread->wait.id)->object);
}

/* The text of the leaf of what the waiter's time was attributed to. */
static const char *
holder_of(const struct scene *scene, const struct sampled_thread *waiter)
{
	const struct profile *profile = scene->run.profile;

	assert_true(waiter->wait.holder_read);
	return frame_text(profile, profile_stack(profile, waiter->wait.blamed.stack)->frame);
}

/* --- cases ------------------------------------------------------------------------------------ */

/* Two processes in a ring, and one that waits for a lock of the ring. */
static void
test_ring(void **state)
{
	const size_t a = offsetof(struct locks, a), b = offsetof(struct locks, b);
	struct sampled_thread *first, *second, *third;
	struct sleeping_child child[PROCESSES];
	struct scene scene;
	char object_a[64], object_b[64];
	bool observed;

	(void)state;
	snprintf(object_a, sizeof(object_a), "0x%zx in memfd locks", a);
	snprintf(object_b, sizeof(object_b), "0x%zx in memfd locks", b);
	locks_make();
	start(&child[0], "first", 0, a, b);
	start(&child[1], "second", 7, b, a);
	start(&child[2], "third", 19, NONE, a);
	scene_begin(&scene);
	for (int i = 0; i < PROCESSES; i++) {
		go_on(&child[i]);
		add_process(&scene, child[i].process);
	}
	threads_refresh(&scene.run, true);
	assert_int_equal(scene.run.threads.count, PROCESSES);
	first = observe_named(&scene, "first", SYS_futex);
	second = observe_named(&scene, "second", SYS_futex);
	third = observe_named(&scene, "third", SYS_futex);
	observed = first != NULL && second != NULL && third != NULL;
	if (observed) {
		assert_string_equal(object_of(&scene, second), object_a);
		assert_string_equal(object_of(&scene, first), object_b);
		/* One lock, at two addresses, is one wait of the profile. */
		assert_true(second->wait.what.object != third->wait.what.object);
		assert_int_equal(second->wait.id, third->wait.id);
		for (int i = 0; i < PROCESSES; i++)
			waits_tick(scene.process[i].waits);
		assert_string_equal(holder_of(&scene, first), "of second");
		assert_string_equal(holder_of(&scene, second), "of first");
		assert_string_equal(holder_of(&scene, third), "of first");
		assert_int_equal(third->wait.holder, child[0].pid);
		assert_int_equal(first->holder_tick, 1);
		deadlocks_tick(&scene.deadlocks);
		assert_int_equal(profile_deadlock_count(scene.run.profile), 0);
		scene.run.tick.time_ns += 1000 * NS_PER_SEC;
		deadlocks_tick(&scene.deadlocks);
		assert_int_equal(profile_deadlock_count(scene.run.profile), 1);
		assert_int_equal(profile_deadlock(scene.run.profile, 0)->ring, 2);
		assert_int_equal(profile_deadlock(scene.run.profile, 0)->count, 3);
	}
	scene_end(&scene);
	for (int i = 0; i < PROCESSES; i++)
		sleeping_child_release(&child[i]);
	close(locks_fd);
	if (observed)
		return;
	print_message("system calls of a child cannot be read here\n");
	skip();
}

/* Observes a waiter alone, and compares the text in place of its holder's stack. */
static void
check_holder(const struct sleeping_child *waiter, const char *wanted)
{
	struct sampled_thread *thread;
	struct scene scene;

	scene_begin(&scene);
	add_process(&scene, waiter->process);
	threads_refresh(&scene.run, true);
	thread = observe_named(&scene, "waiter", SYS_futex);
	if (thread != NULL) {
		waits_tick(scene.process[0].waits);
		assert_string_equal(holder_of(&scene, thread), wanted);
		assert_int_equal(thread->wait.holder, 0);
		deadlocks_tick(&scene.deadlocks);
	}
	scene_end(&scene);
	if (thread == NULL)
		print_message("system calls of a child cannot be read here\n");
}

/* A holder in a process that is not sampled; one that has ended; and ids in the lock that are those
 * of others. */
static void
test_not_sampled(void **state)
{
	const size_t a = offsetof(struct locks, a);
	struct sleeping_child holder, waiter, stranger;
	struct locks *locks;
	char wanted[64];

	(void)state;
	locks_make();
	start(&holder, "has [it]", 0, a, NONE);
	start(&waiter, "waiter", 3, NONE, a);
	sleeping_child_start(&stranger, only_wait);
	sleeping_child_hear(&stranger);
	go_on(&waiter);
	snprintf(wanted, sizeof(wanted), "[held by has [it] (%d)]", (int)holder.pid);
	check_holder(&waiter, wanted);
	locks = locks_map();
	assert_ptr_not_equal(locks, MAP_FAILED);
	/* The id is now that of a process that cannot have the lock. */
	locks->a.__data.__owner = stranger.pid;
	check_holder(&waiter, "[another process]");
	snprintf(wanted, sizeof(wanted), "[thread %d, which does not exist]", (int)holder.pid);
	locks->a.__data.__owner = holder.pid;
	sleeping_child_kill(&holder);
	check_holder(&waiter, wanted);
	locks->a.__data.__owner = 0;
	check_holder(&waiter, "[free or being handed over]");
	munmap(locks, SIZE);
	sleeping_child_release(&waiter);
	sleeping_child_release(&stranger);
	sleeping_child_release(&holder);
	close(locks_fd);
}

/* The id in the lock is 1, and the holder has another one here. */
static void
check_namespace(const struct process *holder, const struct process *waiter, bool both)
{
	struct sampled_thread *thread;
	struct scene scene;
	char wanted[64];

	scene_begin(&scene);
	add_process(&scene, waiter);
	if (both)
		add_process(&scene, holder);
	scene.process[0].own_namespace = scene.process[1].own_namespace = false;
	threads_refresh(&scene.run, true);
	thread = observe_named(&scene, "waiter", SYS_futex);
	if (thread != NULL && both)
		(void)observe_named(&scene, "holder", SYS_read);
	if (thread != NULL) {
		snprintf(wanted, sizeof(wanted), "[held by holder (%d)]", (int)holder->pid);
		if (process_translate_tid(waiter, 1) == -1)
			snprintf(wanted, sizeof(wanted), "[another process]");
		waits_tick(scene.process[0].waits);
		assert_string_equal(holder_of(&scene, thread), both ? "of holder" : wanted);
		assert_int_equal(thread->wait.holder, both ? holder->pid : 0);
	}
	scene_end(&scene);
}

static void
test_namespace(void **state)
{
	struct process *holder, *waiter;
	struct sleeping_child child;
	struct error err;
	pid_t pid[2];

	(void)state;
	locks_make();
	sleeping_child_start(&child, run_namespace);
	assert_int_equal(read(child.from, pid, sizeof(pid)), sizeof(pid));
	if (pid[0] > 0 && pid[1] > 0) {
		assert_int_equal(process_open(pid[0], &holder, &err), 0);
		assert_int_equal(process_open(pid[1], &waiter, &err), 0);
		check_namespace(holder, waiter, false);
		check_namespace(holder, waiter, true);
		process_free(holder);
		process_free(waiter);
	} else {
		print_message("a pid namespace is not permitted here\n");
	}
	sleeping_child_release(&child);
	close(locks_fd);
}

/* A sampled process has the lock, but the thread is not selected. */
static bool
is_waiter(void *context, pid_t tid, const char *name)
{
	(void)context;
	(void)tid;
	return strcmp(name, "waiter") == 0;
}

static void
test_not_selected(void **state)
{
	const size_t a = offsetof(struct locks, a);
	struct sleeping_child holder, waiter;
	struct sampled_thread *thread;
	struct scene scene;
	char wanted[64];

	(void)state;
	locks_make();
	start(&holder, "holder", 0, a, NONE);
	start(&waiter, "waiter", 3, NONE, a);
	go_on(&waiter);
	scene_begin(&scene);
	scene.run.context.selected = is_waiter;
	add_process(&scene, holder.process);
	add_process(&scene, waiter.process);
	threads_refresh(&scene.run, true);
	thread = observe_named(&scene, "waiter", SYS_futex);
	if (thread != NULL) {
		waits_tick(scene.process[1].waits);
		snprintf(wanted, sizeof(wanted), "[thread %d, not sampled]", (int)holder.pid);
		assert_string_equal(holder_of(&scene, thread), wanted);
		assert_int_equal(thread->wait.holder, holder.pid);
	}
	scene_end(&scene);
	sleeping_child_release(&waiter);
	sleeping_child_release(&holder);
	close(locks_fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_not_sampled),
		cmocka_unit_test(test_namespace),
		cmocka_unit_test(test_not_selected),
	};

	alarm(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
