/* SPDX-License-Identifier: MIT */
/*
 * list_tasks.c - prints the tasks of the Julia in process PID, a line each: state, address, thread,
 * how much of its stack is in use, and where it goes on; and the time that a look at one took.
 *
 *     list_tasks PID [LOOKS]
 */
#include <inttypes.h>
#include <stdlib.h>

#include "wallsample/base/base.h"
#include "wallsample/process/maps.h"
#include "wallsample/tracer/process_memory.h"
#include "wallsample/tracer/resident.h"
#include "wallsample/runtime/runtime.h"
#include "wallsample/runtime/green_task.h"
#include "wallsample/runtime/language.h"

struct target {
	struct process *process;
	struct maps *maps;
	struct resident resident;
	struct runtimes *runtimes;
};

static bool
read_memory(void *context, uint64_t address, void *to, size_t size)
{
	const struct target *target = context;

	return memory_read_process(target->process->pid, address, to, size) == size;
}

static size_t
read_pieces(void *context, const struct memory_piece *piece, size_t count, void *to)
{
	const struct target *target = context;

	return memory_read_pieces(target->process->pid, piece, count, to);
}

static uint32_t
resident(void *context, uint64_t address, bool swapped)
{
	const struct target *target = context;

	return resident_pages(&target->resident, address, swapped);
}

static pid_t
find_thread(void *context, pid_t inner)
{
	(void)context;
	return inner;
}

static void
print_task(struct target *target, const struct green_task *task)
{
	const struct mapping *mapping = task->pc != 0 ? maps_find(target->maps, task->pc) : NULL;
	uint64_t word = 0;

	printf("%s %" PRIx64 " tid %d", green_task_state_text(task->state), task->id, task->tid);
	printf(" stack %" PRIu64 " deep %" PRIu64, task->stack_high - task->stack_low,
	       task->sp != 0 ? task->stack_high - task->sp : 0);
	if (task->fp != 0 && read_memory(target, task->fp + sizeof(word), &word, sizeof(word)) &&
	    maps_find(target->maps, word) != NULL)
		printf(" returns");
	if (mapping != NULL)
		printf(" at %s+%" PRIx64, modules_get(maps_modules(target->maps),
						     mapping->module)->name,
		       task->pc - mapping->bias);
	putchar('\n');
}

static void
look(struct target *target, uint64_t looks)
{
	const size_t slots = runtimes_green_task_slots(target->runtimes);
	uint32_t *slot = xcalloc(slots + 1, sizeof(*slot));
	struct green_task *task = xcalloc(slots + 1, sizeof(*task));
	uint64_t start_ns;
	size_t tasks = 0;

	for (size_t i = 0; i < slots; i++)
		slot[i] = (uint32_t)i;
	start_ns = clock_now_ns();
	for (uint64_t i = 0; i < looks; i++) {
		runtimes_green_task_slots(target->runtimes);
		runtimes_read_green_tasks(target->runtimes, slot, slots, task);
	}
	start_ns = clock_now_ns() - start_ns;
	for (size_t i = 0; i < slots; i++) {
		if (task[i].state == GREEN_TASK_NONE)
			continue;
		print_task(target, &task[i]);
		tasks++;
	}
	printf("slots %zu, tasks %zu, %" PRIu64 " ns each\n", slots, tasks,
	       slots > 0 ? start_ns / looks / slots : 0);
	free(slot);
	free(task);
}

static bool
begin(struct target *target, uint64_t pid)
{
	struct log log = { .level = LOG_VERBOSE };
	struct runtimes_config config = {
		.memory = { .read = read_memory, .context = target },
		.read_pieces = read_pieces,
		.resident = resident,
		.thread = find_thread,
		.context = target,
		.log = &log,
	};
	const int number = language_by_name("julia");
	struct error error;

	if (number < 0 || process_open((pid_t)pid, &target->process, &error) != 0)
		return false;
	config.wanted = UINT32_C(1) << number;
	config.process = target->process;
	config.maps = target->maps = maps_create(target->process, modules_create());
	resident_init(&target->resident, target->process);
	target->runtimes = runtimes_create(&config);
	for (int i = 0; i < 2000 && !runtimes_any(target->runtimes); i++)
		runtimes_tick(target->runtimes, clock_now_ns());
	if (runtimes_describe(target->runtimes, 0) != NULL)
		puts(runtimes_describe(target->runtimes, 0));
	return runtimes_any(target->runtimes);
}

int
main(int argc, char **argv)
{
	uint64_t pid, looks = 1;
	struct target target;

	if (argc < 2 || !parse_whole_u64(argv[1], 1, INT32_MAX, &pid) ||
	    (argc > 2 && !parse_whole_u64(argv[2], 1, 1000000, &looks)))
		return 64;
	if (!begin(&target, pid))
		return 1;
	look(&target, looks);
	return 0;
}
