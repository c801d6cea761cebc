/* SPDX-License-Identifier: MIT */
/*
 * sampled_process.c - one process of the target: the functions that read its memory, the buffers
 * for captures of its threads, and the stat file of its first thread, which shows whether the
 * process is alive and still executes the same program.
 */
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sampler/hold/hold_internal.h"
#include "sampler/tasks/green_internal.h"
#include "sampler/threads_internal.h"
#include "wallsample/tracer/process_memory.h"

/* GONE_ATTEMPTS: number of reads that must all find the first thread dead before the process counts
 * as exited. GONE_PAUSE_NS: time between two of these reads. */
#define GONE_ATTEMPTS 5
#define GONE_PAUSE_NS 200000L
/* Longest wait for late stops before a runtime's debug information is read. */
#define SETTLE_NS (100 * NS_PER_MS)

struct sampled_process *
sampled_process_create(struct run *run, struct hold *hold, const struct sampler_process *process)
{
	struct sampled_process *new = xcalloc(1, sizeof(*new));

	new->process = process->process;
	new->maps = process->maps;
	new->jit = process->jit;
	new->jit_objects = process->jit_objects;
	new->is_new = process->is_new;
	new->since_tick = run->tick.number;
	new->run = run;
	new->hold = hold;
	new->weights.record = THREAD_NONE;
	new->leader_fd = -1;
	new->own_namespace = process_shares_pid_namespace(new->process);
	target_memory_init(&new->memory, new->process);
	new->reader = (struct memory){ .read = sampled_process_read_memory, .context = new };
	new->unwinder = unwinder_create(new->maps, run->config.unwinder);
	stacks_init(&new->stacks, new->maps, run->profile, new->jit);
	new->stacks.reader = &new->reader;
	return new;
}

static void
free_buffer(struct capture_buffer *buffer)
{
	snapshot_release(&buffer->request.snapshot);
	runtime_capture_free(buffer->runtime);
	free(buffer);
}

void
sampled_process_free(struct sampled_process *process)
{
	struct capture_pool *pool = &process->captures;

	for (size_t i = 0; i < pool->count; i++)
		free_buffer(pool->free[i]);
	free(pool->free);
	unwinder_free(process->unwinder);
	stacks_release(&process->stacks);
	runtime_capture_free(process->lock_capture);
	target_memory_release(&process->memory);
	runtimes_free(process->runtimes);
	table_release(&process->inner);
	if (process->leader_fd >= 0)
		close(process->leader_fd);
	free(process);
}

/* --- buffers of captures ----------------------------------------------------------------- */

struct capture_buffer *
capture_acquire(struct sampled_thread *thread)
{
	struct sampled_process *process = thread->process;
	struct capture_pool *pool = &process->captures;
	struct capture_buffer *buffer;

	if (pool->count > 0) {
		buffer = pool->free[--pool->count];
	} else {
		buffer = xcalloc(1, sizeof(*buffer));
		snapshot_init(&buffer->request.snapshot);
		buffer->request.snapshot.memory = &process->reader;
		if (process->runtimes != NULL)
			buffer->runtime = runtime_capture_create(process->runtimes);
	}
	buffer->thread = thread;
	if (buffer->runtime != NULL)
		runtime_capture_clear(buffer->runtime);
	return buffer;
}

void
capture_return(struct observation *observation)
{
	struct capture_pool *pool = &observation->thread->process->captures;

	pool->free = xgrow(pool->free, &pool->capacity, pool->count + 1, sizeof(*pool->free));
	pool->free[pool->count++] = observation->capture;
	observation->capture = NULL;
}

/* --- the first thread ------------------------------------------------------------------- */

/* Reads the stat file of the first thread into *leader. Returns false if it is not readable. The
 * file stays open from tick to tick; after an exec it may have to be opened again. */
static bool
read_leader_stat(struct sampled_process *process, struct task_stat *leader)
{
	char line[2048], name[32];
	ssize_t n = -1;

	if (process->leader_fd >= 0)
		n = pread(process->leader_fd, line, sizeof(line) - 1, 0);
	if (n <= 0) {
		if (process->leader_fd >= 0)
			close(process->leader_fd);
		snprintf(name, sizeof(name), "%d/stat", (int)process->process->pid);
		process->leader_fd = openat(process->process->taskfd, name, O_RDONLY | O_CLOEXEC);
		if (process->leader_fd >= 0)
			n = pread(process->leader_fd, line, sizeof(line) - 1, 0);
	}
	if (n <= 0)
		return false;
	line[n] = '\0';
	return task_stat_parse(line, leader);
}

/*
 * An exec replaces the first thread by the thread that called it. A read at that moment may find
 * the old first thread, which is dead: the process has exited only when the first thread stays dead
 * for a while.
 */
bool
sampled_process_is_alive(struct sampled_process *process, struct task_stat *leader)
{
	const struct timespec pause = { .tv_nsec = GONE_PAUSE_NS };

	for (int attempt = 0; attempt < GONE_ATTEMPTS; attempt++) {
		if (attempt > 0)
			nanosleep(&pause, NULL);
		if (read_leader_stat(process, leader) &&
		    ((leader->state != 'Z' && leader->state != 'X') || leader->num_threads > 1))
			return true;
	}
	return false;
}

bool
sampled_process_read(struct sampled_process *process)
{
	struct task_stat leader;

	process->execed = false;
	if (!sampled_process_is_alive(process, &leader))
		return false;
	process->leader_state = leader.state;
	/* The kernel's count includes a first thread that has exited (state Z); the list of threads
	 * does not. */
	process->num_threads = leader.num_threads;
	process->thread_count = leader.num_threads - (leader.state == 'Z');
	/* start_stack and arg_start are not shown if the kernel does not permit it or the first
	 * thread has exited. An exec cannot be noticed then. */
	if (leader.start_stack <= 1 || leader.arg_start == 0)
		return true;
	process->execed = process->start_stack != 0 &&
			  (process->start_stack != leader.start_stack ||
			   process->arg_start != leader.arg_start);
	process->execs += process->execed;
	process->start_stack = leader.start_stack;
	process->arg_start = leader.arg_start;
	return true;
}

/* --- thread ids in the target's memory --------------------------------------------------- */

/* Reads, for all threads of the process, the id that the thread has in the target's PID namespace,
 * into process->inner. */
static void
read_inner_tids(struct sampled_process *process)
{
	const struct thread_list *threads = &process->run->threads;

	table_clear(&process->inner);
	for (size_t i = 0; i < threads->count; i++) {
		const pid_t tid = threads->thread[i]->watch.tid;
		pid_t inner;

		if (threads->thread[i]->process != process)
			continue;
		inner = process_inner_tid(process->process, tid);
		if (inner > 0)
			table_insert(&process->inner, (uint64_t)inner, 0, (uint32_t)tid, NULL);
	}
}

pid_t
sampled_process_thread(void *context, pid_t inner)
{
	struct sampled_process *process = context;
	struct task_stat stat;
	uint32_t tid = (uint32_t)inner;

	if (!process->own_namespace && !table_find(&process->inner, (uint64_t)inner, 0, &tid)) {
		/* The thread may be new: all ids are read again, unless no new thread has appeared
		 * since the ids were read last. */
		if (process->inner_seen == process->run->threads.seen)
			return 0;
		process->inner_seen = process->run->threads.seen;
		read_inner_tids(process);
		if (!table_find(&process->inner, (uint64_t)inner, 0, &tid))
			return 0;
	}
	if ((pid_t)tid <= 0 || !process_read_task_stat(process->process, (pid_t)tid, &stat) ||
	    stat.state == 'Z' || stat.state == 'X')
		return 0;
	return (pid_t)tid;
}

/* --- callbacks of the readers of language runtimes and waits ------------------------------ */

static const struct sampled_thread *
first_thread(const struct sampled_process *process)
{
	const struct thread_list *threads = &process->run->threads;

	for (size_t i = 0; i < threads->count; i++)
		if (threads->thread[i]->process == process)
			return threads->thread[i];
	return NULL;
}

/* True if a thread is stopped or asked to stop, so that reading must not wait for a page. */
static bool
must_not_wait(const struct sampled_process *process)
{
	return tracer_outstanding(process->run->tracer) > 0;
}

bool
sampled_process_read_memory(void *context, uint64_t address, void *to, size_t size)
{
	const struct sampled_process *process = context;
	const struct sampled_thread *thread;
	pid_t tid = process->process->pid;

	/* If the first thread has exited, the memory is read by the id of another thread. */
	if (process->leader_state == 'Z' && (thread = first_thread(process)) != NULL)
		tid = thread->watch.tid;
	if (must_not_wait(process))
		return target_memory_read(&process->memory, tid, address, to, size) == size;
	return memory_read_process(tid, address, to, size) == size;
}

/* Reads pages while a thread is stopped or asked to stop. */
static size_t
read_pages_in_stop(const struct sampled_process *process, const uint64_t *page, size_t count,
		   void *to)
{
	struct memory_piece piece[MEMORY_PAGES_MOST] = { { 0, 0 } };

	if (count > MEMORY_PAGES_MOST)
		count = MEMORY_PAGES_MOST;
	for (size_t i = 0; i < count; i++)
		piece[i] = (struct memory_piece){ page[i], MEMORY_PAGE };
	return target_memory_read_pieces(&process->memory, process->process->pid, piece, count, to);
}

static size_t
read_pages(void *context, const uint64_t *page, size_t count, void *to)
{
	const struct sampled_process *process = context;

	if (process->memory.slow != NULL && must_not_wait(process))
		return read_pages_in_stop(process, page, count, to);
	return memory_read_pages(process->process->pid, page, count, to);
}

static size_t
read_pieces(void *context, const struct memory_piece *piece, size_t count, void *to)
{
	const struct sampled_process *process = context;

	return green_read_memory(process->green, piece, count, to);
}

static uint32_t
find_resident(void *context, uint64_t address, bool swapped)
{
	const struct sampled_process *process = context;

	return resident_pages(&process->memory.resident, address, swapped);
}

static void
leave_stops(void *context)
{
	const struct sampled_process *process = context;

	hold_pause(process->hold);
}

static void
return_to_stops(void *context)
{
	const struct sampled_process *process = context;

	hold_resume(process->hold);
}

static bool
may_read(void *context, bool wait)
{
	const struct sampled_process *process = context;
	struct tracer *tracer = process->run->tracer;

	if (wait && must_not_wait(process)) {
		hold_resume(process->hold);
		tracer_finish(tracer, SETTLE_NS);
		hold_pause(process->hold);
	}
	return !must_not_wait(process);
}

void
sampled_process_begin_runtimes(struct sampled_process *process)
{
	const struct sampler_context *context = &process->run->context;
	const struct runtimes_config runtimes = {
		.process = process->process,
		.maps = process->maps,
		.memory = { .read = sampled_process_read_memory, .context = process },
		.read_pages = read_pages,
		.read_pieces = read_pieces,
		.resident = find_resident,
		.thread = sampled_process_thread,
		.leave = leave_stops,
		.back = return_to_stops,
		.may_read = may_read,
		.context = process,
		.wanted = process->run->config.runtimes,
		.extra = context->extra_runtime,
		.async = context->async != NULL,
		.log = context->log,
	};

	if (runtimes.wanted == 0 && runtimes.extra == NULL)
		return;
	process->runtimes = runtimes_create(&runtimes);
	process->lock_capture = runtime_capture_create(process->runtimes);
	process->stacks.runtimes = process->runtimes;
}
