/* SPDX-License-Identifier: MIT */
/*
 * test_wait_shared.c - locks that two real processes share: the waiter's object, and the owner in
 * the other process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../scene/sleeping_child.h"
#include "wallsample/base/base.h"
#include "wallsample/tracer/process_memory.h"
#include "wallsample/wait/wait.h"

/* Shared by this process and its children, at one address. */
static struct page {
	char space[1000]; /* no lock is at the beginning of the page */
	pthread_mutex_t mutex, recursive, robust, inheriting, of_condition;
	pthread_rwlock_t rwlock;
	pthread_cond_t condition;
	pthread_barrier_t barrier;
	sem_t semaphore;
	uint32_t word;
} *page;

static void
make_mutex(pthread_mutex_t *mutex, int type, int robust, int protocol)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutexattr_setrobust(&attr, robust);
	pthread_mutexattr_setprotocol(&attr, protocol);
	assert_int_equal(pthread_mutex_init(mutex, &attr), 0);
	pthread_mutexattr_destroy(&attr);
}

static void
page_make(void)
{
	pthread_barrierattr_t barrier;
	pthread_rwlockattr_t rwlock;
	pthread_condattr_t condition;
	const int normal = PTHREAD_MUTEX_NORMAL, stalled = PTHREAD_MUTEX_STALLED,
		  none = PTHREAD_PRIO_NONE;

	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	make_mutex(&page->mutex, normal, stalled, none);
	make_mutex(&page->recursive, PTHREAD_MUTEX_RECURSIVE, stalled, none);
	make_mutex(&page->robust, normal, PTHREAD_MUTEX_ROBUST, none);
	make_mutex(&page->inheriting, normal, stalled, PTHREAD_PRIO_INHERIT);
	make_mutex(&page->of_condition, normal, stalled, none);
	pthread_rwlockattr_init(&rwlock);
	pthread_rwlockattr_setpshared(&rwlock, PTHREAD_PROCESS_SHARED);
	pthread_rwlock_init(&page->rwlock, &rwlock);
	pthread_condattr_init(&condition);
	pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&page->condition, &condition);
	pthread_barrierattr_init(&barrier);
	pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&page->barrier, &barrier, 2);
	sem_init(&page->semaphore, 1, 0);
}

/* --- what the children do --------------------------------------------------------------------- */

#define DO(name, call)                                                                             \
	static void name(void)                                                                     \
	{                                                                                          \
		(void)call;                                                                        \
	}

DO(lock_mutex, pthread_mutex_lock(&page->mutex))
DO(lock_recursive, pthread_mutex_lock(&page->recursive))
DO(lock_robust, pthread_mutex_lock(&page->robust))
DO(lock_inheriting, pthread_mutex_lock(&page->inheriting))
DO(lock_to_read, pthread_rwlock_rdlock(&page->rwlock))
DO(lock_to_write, pthread_rwlock_wrlock(&page->rwlock))
DO(wait_barrier, pthread_barrier_wait(&page->barrier))
DO(wait_semaphore, sem_wait(&page->semaphore))
DO(wait_word, syscall(SYS_futex, &page->word, FUTEX_WAIT, 0, NULL, NULL, 0))
DO(wait_word_privately, syscall(SYS_futex, &page->word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0))

static void
wait_condition(void)
{
	pthread_mutex_lock(&page->of_condition);
	pthread_cond_wait(&page->condition, &page->of_condition);
}

static void (*child_does)(void); /* set before the fork; NULL: nothing */

static void
hold(int in, int out)
{
	char byte;

	if (child_does != NULL)
		child_does();
	if (write(out, "h", 1) != 1)
		_exit(1);
	while (read(in, &byte, 1) > 0)
		continue;
}

static void
wait_for_it(int in, int out)
{
	(void)in;
	(void)out;
	child_does();
}

/* --- the waiter, seen from this process ------------------------------------------------------- */

struct waiter {
	struct sleeping_child child;
	struct wait_call call;
};

static bool
read_memory(void *context, uint64_t address, void *to, size_t size)
{
	const struct waiter *waiter = context;

	return memory_read_process(waiter->child.pid, address, to, size) == size;
}

static pid_t
find_thread(void *context, pid_t inner)
{
	const struct waiter *waiter = context;

	return inner == waiter->child.pid ? inner : 0;
}

static pid_t
find_foreign(void *context, pid_t inner)
{
	const struct waiter *waiter = context;

	return process_translate_tid(waiter->child.process, inner);
}

static size_t
count_blocked(void *context, uint64_t address)
{
	const struct waiter *waiter = context;

	return waiter->call.args[0] == address;
}

/* Starts the waiter, and waits until it sleeps. Returns false if its call cannot be read. */
static bool
waiter_start(struct waiter *waiter, void (*does)(void))
{
	struct syscall_info info;
	struct sched sched;
	struct watch watch;
	bool settled;

	child_does = does;
	sleeping_child_start(&waiter->child, wait_for_it);
	watch_init(&watch, waiter->child.pid, SCHED_FROM_STATUS, false);
	settled = sleeping_child_settle(&waiter->child, &watch, SYS_futex, &sched, &info);
	watch_release(&watch);
	waiter->call = (struct wait_call){ .state = RUN_SLEEPING, .number = SYS_futex,
					   .sp = info.sp };
	memcpy(waiter->call.args, info.args, sizeof(waiter->call.args));
	return settled;
}

static struct wait_source
source_of(struct waiter *waiter)
{
	return (struct wait_source){
		.memory = { .read = read_memory, .context = waiter },
		.thread = find_thread,
		.foreign = find_foreign,
		.blocked = count_blocked,
		.context = waiter,
	};
}

struct row {
	const char *name;
	void (*held)(void); /* by another process; NULL: not at all */
	void (*waits)(void);
	enum wait_kind kind;
	size_t object; /* its offset in the page */
	enum wait_holder holder;
	bool is_private; /* the object is not shared, whatever memory it is in */
};

#define AT(member) offsetof(struct page, member)

static const struct row rows[] = {
	{ "mutex", lock_mutex, lock_mutex, WAIT_MUTEX, AT(mutex), HOLDER_FOREIGN, false },
	{ "recursive", lock_recursive, lock_recursive, WAIT_MUTEX_RECURSIVE, AT(recursive),
	  HOLDER_FOREIGN, false },
	{ "robust", lock_robust, lock_robust, WAIT_MUTEX_ROBUST, AT(robust), HOLDER_FOREIGN,
	  false },
	{ "inheriting", lock_inheriting, lock_inheriting, WAIT_MUTEX_PI, AT(inheriting),
	  HOLDER_FOREIGN, false },
	{ "written, to read", lock_to_write, lock_to_read, WAIT_RWLOCK_READ, AT(rwlock),
	  HOLDER_FOREIGN, false },
	{ "written, to write", lock_to_write, lock_to_write, WAIT_RWLOCK_WRITE, AT(rwlock),
	  HOLDER_FOREIGN, false },
	{ "read, to write", lock_to_read, lock_to_write, WAIT_RWLOCK_WRITE, AT(rwlock),
	  HOLDER_READERS, false },
	{ "condition", NULL, wait_condition, WAIT_CONDITION, AT(condition), HOLDER_NONE, false },
	{ "barrier", NULL, wait_barrier, WAIT_BARRIER, AT(barrier), HOLDER_NONE, false },
	{ "semaphore", NULL, wait_semaphore, WAIT_SEMAPHORE, AT(semaphore), HOLDER_NONE, false },
	{ "word", NULL, wait_word, WAIT_FUTEX, AT(word), HOLDER_NONE, false },
	{ "word, private", NULL, wait_word_privately, WAIT_FUTEX, AT(word), HOLDER_NONE, true },
};

static void
check_waiter(struct waiter *waiter, const struct row *row, pid_t holder)
{
	const struct wait_source source = source_of(waiter);
	struct wait_owner owner;
	struct wait wait;

	wait_classify(&source, &waiter->call, &wait);
	wait_owner(&source, &wait, &owner);
	if (wait.kind != row->kind || wait.shared == row->is_private)
		fail_msg("%s: %s, shared %d", row->name, wait_kind_text(wait.kind), wait.shared);
	assert_int_equal(wait.object, (uintptr_t)page + row->object);
	if (owner.holder != row->holder)
		fail_msg("%s: holder %d", row->name, (int)owner.holder);
	assert_int_equal(owner.tid, row->holder == HOLDER_FOREIGN ? holder : 0);
	assert_true(owner.shared == (row->holder == HOLDER_FOREIGN));
	assert_int_equal(owner.readers, row->holder == HOLDER_READERS);
}

/* What is left of an owner that ends with the lock. A robust mutex passes to the waiter then, and
 * glibc ends the waiter for a priority-inheriting one. */
static void
check_end(struct waiter *waiter, const struct row *row, struct sleeping_child *holder)
{
	const struct wait_source source = source_of(waiter);
	const pid_t pid = holder->pid;
	struct wait_owner owner;
	struct wait wait;

	if (row->kind == WAIT_MUTEX_ROBUST || row->kind == WAIT_MUTEX_PI)
		return;
	wait_classify(&source, &waiter->call, &wait);
	sleeping_child_kill(holder);
	wait_owner(&source, &wait, &owner);
	if (owner.holder != HOLDER_GONE || owner.tid != pid || !owner.shared)
		fail_msg("%s: holder %d, tid %d", row->name, (int)owner.holder, (int)owner.tid);
}

static void
test_two_processes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sleeping_child holder;
		struct waiter waiter;
		bool settled;

		page_make();
		child_does = rows[i].held;
		sleeping_child_start(&holder, hold);
		sleeping_child_hear(&holder);
		settled = waiter_start(&waiter, rows[i].waits);
		if (settled)
			check_waiter(&waiter, &rows[i], holder.pid);
		if (settled && rows[i].holder == HOLDER_FOREIGN)
			check_end(&waiter, &rows[i], &holder);
		sleeping_child_release(&waiter.child);
		sleeping_child_release(&holder);
		munmap(page, sizeof(*page));
		if (settled)
			continue;
		print_message("system calls of a child cannot be read here\n");
		skip();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_two_processes) };

	alarm(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
