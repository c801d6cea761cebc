/* SPDX-License-Identifier: MIT */
/*
 * python_steps.c PID STACKS STEPS - is a Python stack right after each single instruction?
 *
 * Samples meet the few instructions of a call by chance. Here the first thread of the process (of
 * python_torn.py) goes one machine instruction at a time, and after each of them what
 * a sample would make of it must be one of the stacks in the file: in each line one, its functions
 * as NAME@FILE:LINE with tabs between them, innermost first.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wallsample/tracer/process_memory.h"
#include "wallsample/tracer/regs_arch.h"
#include "wallsample/base/base.h"
#include "wallsample/runtime/runtime.h"
#include "wallsample/base/table.h"
#include "wallsample/unwind/unwind.h"

#define STACK_BYTES 65536
#define TICKS_MOST 2000
#define SHOWN_MOST 10
#define BEFORE_LOOP_MOST 2000000
/* In the midst of a call, an interpreter's frames may lead nowhere: in 3.12 after 0.25 % of 200,000
 * instructions, and after up to 0.51 % of 20,000, which begin anywhere in a round of the loop. */
#define MARKED_ONE_IN 100

struct stepped {
	pid_t pid;
	struct process *process;
	struct modules *modules;
	struct maps *maps;
	struct runtimes *runtimes;
	struct runtime_capture *capture;
	struct unwinder *unwinder;
	struct snapshot snapshot;
	struct chain chain;
	struct strings *possible;
	size_t possible_count;
	struct strbuf text;
	/* what was found */
	unsigned long steps, impossible, marked, broken, without_lock;
};

static void
die(const char *what)
{
	fprintf(stderr, "python_steps: %s: %s\n", what, strerror(errno));
	exit(99);
}

/* --- what is possible ------------------------------------------------------------------------ */

/* The innermost function may be at any of its lines: an interpreter need not note each step. */
static void
without_line(char *text)
{
	const size_t end = strcspn(text, "\t\n");
	size_t colon = end;

	while (colon > 0 && text[colon] != ':')
		colon--;
	memmove(text + colon, text + end, strlen(text + end) + 1);
}

static void
read_possible(struct stepped *stepped, const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t capacity = 0;

	if (file == NULL)
		die(path);
	while (getline(&line, &capacity, file) > 0) {
		without_line(line);
		line[strcspn(line, "\n")] = '\0';
		strings_intern(stepped->possible, line);
	}
	free(line);
	fclose(file);
	stepped->possible_count = strings_count(stepped->possible);
}

static bool
is_possible(struct stepped *stepped, const char *text)
{
	return strings_intern(stepped->possible, text) < stepped->possible_count;
}

/* --- the target ------------------------------------------------------------------------------- */

static bool
read_memory(void *context, uint64_t address, void *to, size_t size)
{
	const struct stepped *stepped = context;

	return memory_read_process(stepped->pid, address, to, size) == size;
}

static size_t
read_pages(void *context, const uint64_t *page, size_t count, void *to)
{
	const struct stepped *stepped = context;

	return memory_read_pages(stepped->pid, page, count, to);
}

static pid_t
find_thread(void *context, pid_t inner)
{
	const struct stepped *stepped = context;
	struct task_stat stat;

	return process_read_task_stat(stepped->process, inner, &stat) ? inner : 0;
}

static void
open_target(struct stepped *stepped)
{
	struct error err;
	struct runtimes_config config = {
		.memory = { .read = read_memory, .context = stepped },
		.read_pages = read_pages,
		.thread = find_thread,
		.context = stepped,
		.wanted = RUNTIMES_ALL,
	};

	if (process_open(stepped->pid, &stepped->process, &err) != 0)
		die("the process");
	stepped->modules = modules_create();
	stepped->maps = maps_create(stepped->process, stepped->modules);
	stepped->unwinder = unwinder_create(stepped->maps, UNWIND_AUTO);
	config.process = stepped->process;
	config.maps = stepped->maps;
	stepped->runtimes = runtimes_create(&config);
	stepped->capture = runtime_capture_create(stepped->runtimes);
	snapshot_init(&stepped->snapshot);
	snapshot_reserve(&stepped->snapshot, STACK_BYTES);
	chain_init(&stepped->chain);
	for (int i = 0; i < TICKS_MOST; i++) {
		runtimes_tick(stepped->runtimes, clock_now_ns());
		if (runtimes_next_new(stepped->runtimes) == stepped->pid)
			return;
	}
	die("no CPython found in it");
}

static void
close_target(struct stepped *stepped)
{
	runtime_capture_free(stepped->capture);
	runtimes_free(stepped->runtimes);
	unwinder_free(stepped->unwinder);
	chain_release(&stepped->chain);
	snapshot_release(&stepped->snapshot);
	maps_free(stepped->maps);
	modules_free(stepped->modules);
	process_free(stepped->process);
}

static void
wait_for_stop(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
		die("the thread has gone");
}

static void
step(pid_t pid)
{
	if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) != 0)
		die("PTRACE_SINGLESTEP");
	wait_for_stop(pid);
}

static void
take_snapshot(struct stepped *stepped)
{
	struct snapshot *snapshot = &stepped->snapshot;
	struct kernel_regs regs;
	struct iovec vector = { regs.word, sizeof(regs.word) };

	if (ptrace(PTRACE_GETREGSET, stepped->pid, NT_PRSTATUS, &vector) != 0)
		die("PTRACE_GETREGSET");
	regs.size = vector.iov_len;
	kernel_regs_read(&regs, &snapshot->regs);
	snapshot->tid = stepped->pid;
	snapshot->stack_address = snapshot->regs.sp;
	snapshot->stack_wanted = STACK_BYTES;
	snapshot->stack_size = memory_read_process(stepped->pid, snapshot->regs.sp,
						   snapshot->stack, STACK_BYTES);
}

/* --- one instruction ------------------------------------------------------------------ */

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* The text of the stack, and whether there is a marker in it. */
static bool
describe(struct stepped *stepped)
{
	const struct runtime_frame *frame;
	const size_t count = runtime_capture_merge(stepped->capture, &stepped->chain, &frame);
	bool marked = false;

	strbuf_clear(&stepped->text);
	for (size_t i = 0; i < count; i++) {
		const struct runtime_place *place =
			runtimes_place(stepped->runtimes, frame[i].place);

		marked |= place->marker;
		strbuf_add_format(&stepped->text, "%s%s@%s", i > 0 ? "\t" : "", place->function,
				  base_name(place->file));
		if (i > 0)
			strbuf_add_format(&stepped->text, ":%u", place->line);
	}
	return marked;
}

static void
show(const struct stepped *stepped, const char *what)
{
	printf("    step %lu, %s: %s\n        pc", stepped->steps, what,
	       stepped->text.data);
	for (size_t i = 0; i < stepped->chain.count && i < 6; i++)
		printf(" %#llx", (unsigned long long)stepped->chain.frame[i].address);
	printf("\n");
}

static bool
look(struct stepped *stepped)
{
	take_snapshot(stepped);
	runtime_capture_take(stepped->capture, stepped->pid, 0, true);
	unwinder_walk(stepped->unwinder, &stepped->snapshot, false, &stepped->chain);
	return describe(stepped);
}

/* What it said is about its loop, into which it may still be on its way. */
static void
await_loop(struct stepped *stepped)
{
	for (unsigned long i = 0; i < BEFORE_LOOP_MOST; i++) {
		step(stepped->pid);
		if (!look(stepped) && is_possible(stepped, stepped->text.data))
			return;
	}
	die("never seen in its loop");
}

static void
check(struct stepped *stepped)
{
	static const uint64_t no_arguments[6];
	const bool marked = look(stepped);

	stepped->steps++;
	stepped->broken += !chain_end_is_whole(stepped->chain.end);
	stepped->without_lock +=
		runtime_capture_gil(stepped->capture, -1, no_arguments) != GIL_HAS;
	if (marked && stepped->marked++ < SHOWN_MOST)
		show(stepped, "marked");
	if (!marked && !is_possible(stepped, stepped->text.data) &&
	    stepped->impossible++ < SHOWN_MOST)
		show(stepped, "impossible");
}

int
main(int argc, char **argv)
{
	struct stepped stepped = { .possible = strings_create() };
	unsigned long steps;

	if (argc != 4)
		return 64;
	stepped.pid = (pid_t)strtol(argv[1], NULL, 10);
	steps = strtoul(argv[3], NULL, 10);
	strbuf_init(&stepped.text);
	read_possible(&stepped, argv[2]);
	open_target(&stepped);
	if (ptrace(PTRACE_SEIZE, stepped.pid, NULL, NULL) != 0 ||
	    ptrace(PTRACE_INTERRUPT, stepped.pid, NULL, NULL) != 0)
		die("PTRACE_SEIZE");
	wait_for_stop(stepped.pid);
	await_loop(&stepped);
	while (stepped.steps < steps) {
		step(stepped.pid);
		check(&stepped);
	}
	ptrace(PTRACE_DETACH, stepped.pid, NULL, NULL);
	printf("%lu instructions: %lu impossible stacks, %lu with markers, %lu native stacks not "
	       "whole, %lu without the lock\n",
	       stepped.steps, stepped.impossible, stepped.marked, stepped.broken,
	       stepped.without_lock);
	close_target(&stepped);
	strings_free(stepped.possible);
	strbuf_release(&stepped.text);
	return stepped.impossible > 0 || stepped.marked * MARKED_ONE_IN > steps;
}
