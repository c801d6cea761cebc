/* SPDX-License-Identifier: MIT */
/* core_sample.c - unwinds the threads of a core file and adds them to a profile. */
#include "wallsample/core/core_sample.h"

#include <string.h>

#include "core/core_internal.h"
#include "wallsample/sampler/stack.h"
#include "wallsample/thread/state.h"
#include "wallsample/unwind/unwind.h"

/*
 * Most bytes of a stack that are copied before it is unwound; the unwinder reads further bytes from
 * the core.
 */
#define STACK_AT_ONCE ((size_t)256 << 10)

#define ASYNC_MOST_NS (5 * NS_PER_SEC)

struct taking {
	const struct core *core;
	struct maps *maps;
	struct memory memory;
	struct unwinder *unwinder;
	struct stack_state stacks;
	struct snapshot snapshot;
	struct chain chain;
	struct profile *profile;
	struct core_waits waits;
	struct runtimes *runtimes; /* NULL when no runtimes are wanted */
	struct runtime_capture *capture;
	struct run_stats *stats;
};

/* Reads the SYSCALL_CODE_SIZE bytes before the program counter, from the core or else from the
 * mapped file. Returns false when neither has them. */
static bool
read_code(const struct taking *taking, uint64_t pc, unsigned char code[SYSCALL_CODE_SIZE])
{
	const uint64_t address = pc - SYSCALL_CODE_SIZE;
	const struct mapping *mapping;

	if (core_read(taking->core, address, code, SYSCALL_CODE_SIZE))
		return true;
	mapping = maps_find(taking->maps, address);
	return mapping != NULL && mapping->image != NULL &&
	       image_read_vaddr(mapping->image, address - mapping->bias, code, SYSCALL_CODE_SIZE);
}

/*
 * Reads memory for runtimes. The kernel leaves unmodified pages of files out of a core: such pages
 * are read from the file. Writable segments are not, because the memory may differ from the file.
 * Returns false when neither has all bytes.
 */
static bool
read_core_memory(void *context, uint64_t address, void *to, size_t size)
{
	const struct taking *taking = context;
	const struct mapping *mapping;

	if (core_read(taking->core, address, to, size))
		return true;
	mapping = maps_find_data(taking->maps, address);
	return mapping != NULL && mapping->image != NULL &&
	       image_read_vaddr(mapping->image, address - mapping->bias, to, size);
}

static void
begin_runtimes(struct taking *taking, const struct core_sample_config *config)
{
	const struct runtimes_config runtimes = {
		.process = core_process(taking->core),
		.maps = taking->maps,
		.memory = { .read = read_core_memory, .context = taking },
		.thread = core_waits_thread,
		.context = &taking->waits,
		.wanted = config->runtimes,
		.async = config->async != NULL,
	};

	if (config->runtimes == 0)
		return;
	taking->runtimes = runtimes_create(&runtimes);
	taking->capture = runtime_capture_create(taking->runtimes);
	taking->stacks.runtimes = taking->runtimes;
	for (int i = 0; i < RUNTIME_LOOKS; i++)
		runtimes_tick(taking->runtimes, clock_now_ns());
	core_waits_set_runtimes(&taking->waits, taking->runtimes);
	runtimes_describe_all(taking->runtimes, taking->stats->runtimes,
			      sizeof(taking->stats->runtimes));
	runtimes_unread_all(taking->runtimes, taking->stats->unread, sizeof(taking->stats->unread));
}

/*
 * Returns the number of the system call of a thread. If the call was stopped and resumed, the
 * registers have the number of restart_syscall: then the original number follows from the code or
 * the arguments, or is SYSCALL_UNKNOWN.
 */
static long
true_syscall(const struct taking *taking, const struct core_thread *thread)
{
	unsigned char code[SYSCALL_CODE_SIZE];
	long number = SYSCALL_UNKNOWN;

	if (!syscall_is_restart(thread->syscall))
		return thread->syscall;
	if (read_code(taking, thread->regs.pc, code))
		number = syscall_from_code(code);
	return number != SYSCALL_UNKNOWN ? number : syscall_from_args(thread->args);
}

static enum run_state
state_of(const struct core_thread *thread)
{
	if (thread->asleep)
		return RUN_SLEEPING;
	return thread->syscall == SYSCALL_NONE ? RUN_RUNNING : RUN_UNKNOWN;
}

/*
 * Copies the registers and up to STACK_AT_ONCE bytes of the stack into the snapshot; the unwinder
 * reads further memory from the core.
 */
static void
take_snapshot(struct taking *taking, const struct core_thread *thread)
{
	struct snapshot *snapshot = &taking->snapshot;

	snapshot->tid = thread->tid;
	snapshot->regs = thread->regs;
	snapshot->stack_address = thread->regs.sp;
	snapshot->stack_size = core_read_piece(taking->core, thread->regs.sp, snapshot->stack,
					       STACK_AT_ONCE);
	/*
	 * A value larger than stack_size says that the copy ends at the end of the stack
	 * (snapshot_is_whole). Memory that neither the copy nor the core has then counts as
	 * unreadable.
	 */
	snapshot->stack_wanted = STACK_AT_ONCE + 1;
	snapshot->live_limit = SIZE_MAX;
	snapshot->memory = &taking->memory;
}

static uint32_t
sample_thread(const struct taking *taking, size_t index)
{
	const struct process *process = core_process(taking->core);
	const pid_t tid = core_thread_id(taking->core, index);

	/*
	 * The index takes the place of the start time: a hostile core may have several threads with
	 * the same id. With the id 0, which is no thread's, 0 and 1 are not used: they belong to
	 * shared records and profile_no_thread().
	 */
	return profile_add_thread(taking->profile, 0, tid, tid == 0 ? index + 2 : index,
				  tid == process->pid ? process->comm : "");
}

static void
take_thread(struct taking *taking, size_t index)
{
	struct core_waiter *waiter = &taking->waits.waiter[index];
	struct profile_entry sample = {
		.thread = sample_thread(taking, index),
		.wait = waiter->wait,
		.samples = 1,
		.ns = { [WEIGHT_WALL] = 1 },
	};
	struct core_thread thread;

	waiter->thread = sample.thread;
	waiter->stack = STACK_NONE;
	taking->stats->thread_samples++;
	if (!core_thread_read(taking->core, index, &thread)) {
		const uint32_t failure = profile_intern_named(taking->profile,
							      sample_failure_text(
								      FAILURE_UNREADABLE));

		sample.stack = profile_intern_stack(taking->profile, failure, STACK_NONE);
		sample.state = RUN_UNKNOWN;
		sample.syscall = SYSCALL_NONE;
		taking->stats->failed[FAILURE_UNREADABLE]++;
		profile_add(taking->profile, &sample);
		return;
	}
	take_snapshot(taking, &thread);
	unwinder_walk(taking->unwinder, &taking->snapshot, false, &taking->chain);
	taking->stats->unwind_frames += taking->chain.count;
	sample.state = state_of(&thread);
	sample.syscall = (int32_t)true_syscall(taking, &thread);
	if (taking->capture != NULL) {
		runtime_capture_take(taking->capture, thread.tid, taking->snapshot.regs.sp, false);
		sample.gil = runtime_capture_gil(taking->capture, sample.syscall, thread.args);
		runtime_capture_trim(taking->capture, &taking->chain);
	}
	waiter->stack = sample.stack = stacks_intern(&taking->stacks, &taking->chain,
						     taking->capture, 0, STACK_NONE);
	taking->stats->chains[runtime_capture_end(taking->capture, &taking->chain)]++;
	profile_add(taking->profile, &sample);
}

/*
 * Initializes taking->waits with the system calls of the threads, finds the language runtimes, and
 * finds out what each thread waits for.
 */
static void
read_waiters(struct taking *taking, const struct core_sample_config *config)
{
	const size_t count = core_thread_count(taking->core);
	struct core_waiter *waiter = xcalloc(count + 1, sizeof(*waiter));

	for (size_t i = 0; i < count; i++) {
		struct core_thread thread;

		waiter[i].tid = core_thread_id(taking->core, i);
		waiter[i].call.number = SYSCALL_NONE;
		if (!core_thread_read(taking->core, i, &thread))
			continue;
		waiter[i].leaving = !thread.asleep;
		waiter[i].call = (struct wait_call){ .state = RUN_SLEEPING,
						     .number = true_syscall(taking, &thread),
						     .sp = thread.regs.sp };
		memcpy(waiter[i].call.args, thread.args, sizeof(thread.args));
	}
	core_waits_init(&taking->waits, waiter, count, taking->memory);
	begin_runtimes(taking, config);
	core_waits_classify(&taking->waits, taking->maps, taking->profile);
}

/* Reads the async tasks of all threads, in at most ASYNC_MOST_NS. One reading is enough: the
 * memory of a core does not change. */
static void
read_async_tasks(const struct taking *taking, struct async_tasks *tasks)
{
	const uint64_t until_ns = clock_now_ns() + ASYNC_MOST_NS;
	const size_t count = core_thread_count(taking->core);

	if (tasks == NULL)
		return;
	for (size_t i = 0; taking->runtimes != NULL && i < count; i++)
		runtimes_read_async_tasks(taking->runtimes, tasks, core_thread_id(taking->core, i),
					  until_ns);
	if (taking->runtimes != NULL)
		runtimes_read_async_tasks(taking->runtimes, tasks, 0, until_ns);
	async_tasks_finish(tasks);
}

void
core_sample(const struct core *core, struct maps *maps, const struct core_sample_config *config,
	    struct profile *profile, struct run_stats *stats)
{
	struct taking taking = {
		.core = core,
		.maps = maps,
		.memory = core_memory(core),
		.profile = profile,
		.stats = stats,
		.unwinder = unwinder_create(maps, config->unwinder),
	};
	const size_t count = core_thread_count(core);

	memset(stats, 0, sizeof(*stats));
	histogram_init(&stats->stop_ns);
	stacks_init(&taking.stacks, maps, profile, NULL);
	snapshot_init(&taking.snapshot);
	snapshot_reserve(&taking.snapshot, STACK_AT_ONCE);
	chain_init(&taking.chain);
	read_waiters(&taking, config);
	for (size_t i = 0; i < count; i++)
		take_thread(&taking, i);
	read_async_tasks(&taking, config->async);
	core_waits_blame(&taking.waits, profile);
	core_waits_release(&taking.waits);
	profile_add_tick(profile, 1, 0, 0);
	stats->ticks = 1;
	stats->threads_seen = count;
	stats->threads_most = (uint32_t)count;
	chain_release(&taking.chain);
	snapshot_release(&taking.snapshot);
	stacks_release(&taking.stacks);
	unwinder_free(taking.unwinder);
	runtime_capture_free(taking.capture);
	runtimes_free(taking.runtimes);
}
