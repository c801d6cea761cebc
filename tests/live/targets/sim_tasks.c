/* SPDX-License-Identifier: MIT */
/*
 * sim_tasks.c - sim_tasks WORKERS KIND=COUNT…: tasks with stacks of their own, scheduled on
 * WORKERS threads by a small runtime with one queue. The kinds, and the functions that sim_bottom
 * calls:
 *
 * taker    waits at a channel for ever: taker, 1 + id % 8 times descend, take, sim_park
 * deep     the same: deep, 100 times dig, take, sim_park; on some 25 KiB of stack
 * change   yields in turn with two stacks of the same size that have no function in common
 * short    ends at once, and another one, of another id, is made in its place
 * spin     keeps its thread
 * reader   keeps its thread in read(2)
 * foreign  keeps its thread in a function that runs on another stack of the thread's
 * caller   calls such a function again and again
 * ready    is made last, so that it waits for a thread if those before it keep all of them
 *
 * Tasks are numbered from 1 on in that order of kinds. Counter 0: tasks resumed; 1: tasks that
 * have ended; 2: time of callers on their own stack, 3: on the other, as sim_now has it; 4: 1 if
 * away=COUNT has taken the stacks of so many takers to where nobody can read them.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "sim_tasks.h"
#include "target.h"

#define STACK_SIZE 32768
#define DIGS 100
#define DIG_LOCALS 232
#define FOREIGN_STACK_SIZE 65536

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "sim_tasks.h does not know this architecture's registers"
#endif

struct sim_runtime sim_runtime;

struct sim_kind {
	const char *word;
	void (*run)(void), (*other)(void); /* of even ids; of odd ones */
};

/* What a walk of libc's makecontext(3) would end at is another function: its return address is the
 * first of __start_context. */
__asm__(SIM_BOTTOM);
void sim_bottom(void);
void sim_switch(ucontext_t *, ucontext_t *), sim_park(void), sim_yield(void), sim_foreign(void);
void sim_call_foreign(void (*)(void)), sim_work(void), sim_exit(void), sim_dispatch(void);
void take(void), descend(uint64_t), taker(void), spin(void), spin_leaf(void), reader(void);
void deep(void), dig(uint64_t);
void reader_leaf(void), foreign(void), foreign_spin(void), caller(void), caller_leaf(void);
struct sim_worker *sim_worker(void);
void sim_make(struct sim_task *, uint64_t, uint64_t);
void caller_own(void), ready(void), change(void), red_1(void), red_2(void), red_3(void);
void blue_1(void), blue_2(void), blue_3(void), short_even(void), short_odd(void);
void even_1(void), odd_1(void);

static struct target_counters *counters;
static struct target_thread threads[SIM_WORKERS_MOST];
static __thread struct sim_worker *own_worker;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queued = PTHREAD_COND_INITIALIZER;
static struct sim_task *first, **last = &first;
static _Atomic uint64_t in_place; /* tasks that have come to where they stay */
static uint64_t next_id;

/* --- the runtime ------------------------------------------------------------------------- */

/* A function of its own: a task goes on on another thread, where the same variable is another. */
FRAME struct sim_worker *
sim_worker(void)
{
	__asm__ volatile("" ::: "memory");
	return own_worker;
}

static void
enqueue(struct sim_task *task)
{
	pthread_mutex_lock(&lock);
	task->next = NULL;
	*last = task;
	last = &task->next;
	pthread_cond_signal(&queued);
	pthread_mutex_unlock(&lock);
}

static struct sim_task *
dequeue(void)
{
	struct sim_task *task;

	pthread_mutex_lock(&lock);
	while (first == NULL)
		pthread_cond_wait(&queued, &lock);
	task = first;
	first = task->next;
	if (first == NULL)
		last = &first;
	pthread_mutex_unlock(&lock);
	return task;
}

FRAME void
sim_switch(ucontext_t *from, ucontext_t *to)
{
	swapcontext(from, to);
	KEEP_FRAME();
}

/* To the worker, which does what is left to do when the stack is not in use any more. */
static inline void
leave(enum sim_state state, uint32_t reason)
{
	struct sim_worker *worker = sim_worker();
	struct sim_task *self = worker->current;

	self->reason = reason;
	worker->leaves_as = state;
	sim_switch(&self->context, &worker->own);
}

FRAME void
sim_park(void)
{
	leave(SIM_WAITING, SIM_CHANNEL);
	KEEP_FRAME();
}

FRAME void
sim_yield(void)
{
	leave(SIM_READY, SIM_NO_REASON);
	KEEP_FRAME();
}

FRAME void
sim_exit(void)
{
	leave(SIM_NONE, SIM_NO_REASON);
	abort();
}

FRAME void
sim_foreign(void)
{
	struct sim_worker *worker = own_worker;

	for (;;) {
		worker->call();
		swapcontext(&worker->foreign, &worker->current->context);
		KEEP_FRAME();
	}
}

FRAME void
sim_call_foreign(void (*function)(void))
{
	struct sim_worker *worker = sim_worker();

	worker->call = function;
	sim_switch(&worker->current->context, &worker->foreign);
	KEEP_FRAME();
}

/* --- tasks ------------------------------------------------------------------------------- */

static struct sim_task *
self(void)
{
	return sim_worker()->current;
}

FRAME void
take(void)
{
	in_place++;
	while (!target_over)
		sim_park();
	KEEP_FRAME();
}

FRAME void
descend(uint64_t left)
{
	if (left > 1)
		descend(left - 1);
	else
		take();
	KEEP_FRAME();
}

FRAME void
taker(void)
{
	descend(1 + self()->id % 8);
	KEEP_FRAME();
}

FRAME void
dig(uint64_t left)
{
	volatile char local[DIG_LOCALS];

	local[0] = 1;
	if (left > 1)
		dig(left - 1);
	else
		take();
	target_sink = (unsigned long)local[0];
	KEEP_FRAME();
}

FRAME void
deep(void)
{
	dig(DIGS);
	KEEP_FRAME();
}

/* Two ways down of the same sizes. What is read while one gives way to the other has both. */
FRAME void
red_3(void)
{
	sim_yield();
	KEEP_FRAME();
}

FRAME void
red_2(void)
{
	red_3();
	KEEP_FRAME();
}

FRAME void
red_1(void)
{
	red_2();
	KEEP_FRAME();
}

FRAME void
blue_3(void)
{
	sim_yield();
	KEEP_FRAME();
}

FRAME void
blue_2(void)
{
	blue_3();
	KEEP_FRAME();
}

FRAME void
blue_1(void)
{
	blue_2();
	KEEP_FRAME();
}

FRAME void
change(void)
{
	in_place++;
	while (!target_over) {
		red_1();
		KEEP_FRAME();
		blue_1();
		KEEP_FRAME();
	}
	KEEP_FRAME();
}

FRAME void
even_1(void)
{
	sim_yield();
	KEEP_FRAME();
}

FRAME void
short_even(void)
{
	even_1();
	KEEP_FRAME();
}

FRAME void
odd_1(void)
{
	sim_yield();
	KEEP_FRAME();
}

FRAME void
short_odd(void)
{
	odd_1();
	KEEP_FRAME();
}

FRAME void
spin_leaf(void)
{
	in_place++;
	while (!target_over)
		target_sink++;
	KEEP_FRAME();
}

FRAME void
spin(void)
{
	spin_leaf();
	KEEP_FRAME();
}

FRAME void
reader_leaf(void)
{
	int ends[2];
	char c;

	if (pipe(ends) != 0)
		target_fail("pipe");
	self()->state = SIM_CALLING;
	in_place++;
	target_sink += (unsigned long)read(ends[0], &c, 1);
	KEEP_FRAME();
}

FRAME void
reader(void)
{
	reader_leaf();
	KEEP_FRAME();
}

FRAME void
foreign_spin(void)
{
	in_place++;
	while (!target_over)
		target_sink++;
	KEEP_FRAME();
}

FRAME void
foreign(void)
{
	self()->state = SIM_CALLING;
	sim_call_foreign(foreign_spin);
	KEEP_FRAME();
}

/*
 * Some 100 us each: a thread that is asked to stop does so where it returns from the kernel next,
 * if the interrupt for its CPU takes longer than that. In a virtual machine it may take
 * microseconds, and swapcontext(3) makes system calls.
 *
 * As many turns are not as much time: of two loops of the same instructions the one that lies
 * across the end of a cache line took twice as long. So each says what it has taken.
 */
#define CALLER_TURNS 200000

FRAME void
caller_leaf(void)
{
	const uint64_t began = sim_now();

	for (int i = 0; i < CALLER_TURNS; i++)
		target_sink++;
	counters->value[3] += sim_now() - began;
}

FRAME void
caller_own(void)
{
	const uint64_t began = sim_now();

	for (int i = 0; i < CALLER_TURNS; i++)
		target_sink++;
	counters->value[2] += sim_now() - began;
	KEEP_FRAME();
}

FRAME void
caller(void)
{
	in_place++;
	while (!target_over) {
		caller_own();
		sim_call_foreign(caller_leaf);
	}
	KEEP_FRAME();
}

FRAME void
ready(void)
{
	sim_yield();
	KEEP_FRAME();
}

static const struct sim_kind kinds[] = {
	{ "taker", taker, taker },	     { "deep", deep, deep },
	{ "change", change, change },	     { "short", short_even, short_odd },
	{ "spin", spin, spin },		     { "reader", reader, reader },
	{ "foreign", foreign, foreign },     { "caller", caller, caller },
	{ "ready", ready, ready },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))
#define READY (KINDS - 1)

/* --- threads ----------------------------------------------------------------------------- */

/* A task that begins at the beginning of its stack, in the place of an earlier one or not. */
FRAME void
sim_make(struct sim_task *task, uint64_t id, uint64_t creator)
{
	const struct sim_kind *kind = &kinds[task->kind];
	void (*const run)(void) = id % 2 == 0 ? kind->run : kind->other;

	getcontext(&task->context);
	task->context.uc_stack.ss_sp = (void *)(uintptr_t)task->stack_low;
	task->context.uc_stack.ss_size = task->stack_high - task->stack_low;
	task->context.uc_link = NULL;
	makecontext(&task->context, run, 0);
	sim_return_to(task, (uint64_t)(uintptr_t)sim_bottom + SIM_BOTTOM_OFFSET);
	task->entry = (uint64_t)(uintptr_t)run;
	task->created_at = (uint64_t)(uintptr_t)__builtin_return_address(0);
	task->creator = creator;
	task->id = id;
	task->tid = 0;
	task->state = SIM_READY;
	enqueue(task);
}

/* One of the same kind and other parity, in the same place. */
static void
make_next(struct sim_task *task)
{
	counters->value[1]++;
	if (!target_over)
		sim_make(task, task->id + sim_runtime.task_count + 1 - sim_runtime.task_count % 2,
			 task->id);
}

FRAME void
sim_dispatch(void)
{
	struct sim_worker *worker = own_worker;
	struct sim_task *task = dequeue();
	enum sim_state state;

	counters->value[0]++;
	worker->current = task;
	task->runs++;
	task->tid = worker->tid;
	task->state = SIM_RUNNING;
	sim_switch(&worker->own, &task->context);
	state = worker->leaves_as;
	worker->current = NULL;
	task->tid = 0;
	task->state = state;
	if (state == SIM_READY)
		enqueue(task);
	else if (state == SIM_NONE)
		make_next(task);
	KEEP_FRAME();
}

FRAME void
sim_work(void)
{
	struct sim_worker *worker = &sim_runtime.worker[target_self - threads];

	own_worker = worker;
	getcontext(&worker->foreign);
	worker->foreign.uc_stack.ss_sp = malloc(FOREIGN_STACK_SIZE);
	worker->foreign.uc_stack.ss_size = FOREIGN_STACK_SIZE;
	if (worker->foreign.uc_stack.ss_sp == NULL)
		target_fail("malloc");
	makecontext(&worker->foreign, sim_foreign, 0);
	worker->tid = target_self->tid;
	target_here();
	for (;;)
		sim_dispatch();
}

/*
 * What waits loses its stack: who reads there waits until somebody provides it, which nobody does.
 * Faults of others than this process are to be told of: that takes a privilege.
 */
static bool
take_away(struct sim_task *task, int faults)
{
	void *const stack = (void *)(uintptr_t)task->stack_low;
	struct uffdio_register wanted = {
		.range = { task->stack_low, STACK_SIZE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	return mmap(stack, STACK_SIZE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == stack &&
	       ioctl(faults, UFFDIO_REGISTER, &wanted) == 0;
}

static void
take_some_away(uint64_t count)
{
	const int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	struct uffdio_api api = { .api = UFFD_API };
	bool done = faults >= 0 && ioctl(faults, UFFDIO_API, &api) == 0;

	for (uint64_t i = 0; done && i < count; i++)
		done = take_away(&sim_runtime.task[i], faults);
	counters->value[4] = done;
}

/* Ids go on from kind to kind; a kind's tasks have places side by side. */
static void
make_all(uint32_t kind, uint64_t count)
{
	const uint64_t before = in_place;

	for (uint64_t i = 0; i < count; i++) {
		struct sim_task *task = &sim_runtime.task[next_id++];

		task->kind = kind;
		sim_make(task, next_id, 0);
	}
	if (strcmp(kinds[kind].word, "short") == 0 || kind == READY)
		return;
	while (in_place < before + count)
		sched_yield();
}

static uint64_t
parse(int argc, char **argv, uint64_t count[KINDS])
{
	uint64_t all = 0;

	for (int i = 2; i < argc; i++)
		for (size_t kind = 0; kind < KINDS; kind++) {
			const size_t length = strlen(kinds[kind].word);

			if (strncmp(argv[i], kinds[kind].word, length) != 0 ||
			    argv[i][length] != '=')
				continue;
			count[kind] = strtoul(argv[i] + length + 1, NULL, 10);
			all += count[kind];
		}
	return all;
}

static void
set_up(uint64_t tasks, uint64_t workers)
{
	char *stacks = mmap(NULL, tasks * STACK_SIZE + 1, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	sim_runtime.task = mmap(NULL, tasks * sizeof(struct sim_task) + 1, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stacks == MAP_FAILED || sim_runtime.task == MAP_FAILED)
		target_fail("mmap");
	for (uint64_t i = 0; i < tasks; i++) {
		sim_runtime.task[i].stack_low = (uint64_t)(uintptr_t)stacks + i * STACK_SIZE;
		sim_runtime.task[i].stack_high = sim_runtime.task[i].stack_low + STACK_SIZE;
	}
	sim_runtime.task_count = tasks;
	sim_runtime.worker_count = workers;
}

int
main(int argc, char **argv)
{
	const uint64_t workers = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	uint64_t count[KINDS] = { 0 };

	if (workers == 0 || workers > SIM_WORKERS_MOST)
		return 64;
	counters = target_counters();
	set_up(parse(argc, argv, count), workers);
	for (uint64_t i = 0; i < workers; i++)
		threads[i] = (struct target_thread){ .name = "worker", .run = sim_work };
	target_start(threads, workers, 0);
	target_wait(threads, workers);
	for (uint32_t kind = 0; kind < KINDS; kind++)
		make_all(kind, count[kind]);
	for (int i = 2; i < argc; i++)
		if (strncmp(argv[i], "away=", strlen("away=")) == 0)
			take_some_away(strtoul(argv[i] + strlen("away="), NULL, 10));
	sim_runtime.magic = SIM_MAGIC;
	target_ready();
	while (target_told())
		;
	_exit(0);
}
