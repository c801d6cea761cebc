/* SPDX-License-Identifier: MIT */
/*
 * go_steps.c PID STEPS - is a Go stack right after each single instruction?
 *
 * The first thread of the process (of go_calls.go) goes one machine instruction at a time. What
 * is called and what returns is noted from the instructions themselves, and after each of
 * them the unwinder must say just that, to the first function of the goroutine. While the thread is
 * on the system's stack (the scheduler, the clock), its stack must end well.
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
#include "wallsample/elf/pclntab.h"
#include "wallsample/unwind/unwind.h"

#define STACK_BYTES 65536
#define SHOWN_MOST 10
#define BEFORE_LOOP_MOST 2000000
#define DEPTH_MOST 1024
#define NAMES_SHOWN 8
/* Instructions of a change of stacks, after which only the innermost function is known. */
#define SHORT_ONE_IN 50

struct stepped {
	pid_t pid;
	struct process *process;
	struct modules *modules;
	struct maps *maps;
	struct unwinder *unwinder;
	struct snapshot snapshot;
	struct chain chain;
	struct strbuf name;
	const struct module *module; /* of the program */
	struct pclntab *table;
	uint64_t bias, system_low, system_high; /* the system's stack */
	uint64_t call[DEPTH_MOST]; /* return addresses, outermost first */
	size_t depth;
	/* what was found */
	unsigned long steps, wrong, broken, elsewhere, short_of;
};

static void
die(const char *what)
{
	fprintf(stderr, "go_steps: %s: %s\n", what, strerror(errno));
	exit(99);
}

/* --- the target ------------------------------------------------------------------- */

static void
find_system_stack(struct stepped *stepped)
{
	char path[64];
	char *text;
	size_t length;
	const char *line;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)stepped->pid);
	text = file_read_text(-100, path, 1 << 20, &length);
	if (text == NULL || (line = strstr(text, "[stack]")) == NULL)
		die("its stack");
	while (line > text && line[-1] != '\n')
		line--;
	if (!parse_u64(&line, 16, &stepped->system_low) || *line++ != '-' ||
	    !parse_u64(&line, 16, &stepped->system_high))
		die("its maps");
	/* It grows. */
	stepped->system_low -= UINT64_C(8) << 20;
	free(text);
}

static void
open_target(struct stepped *stepped)
{
	struct error err;

	if (process_open(stepped->pid, &stepped->process, &err) != 0)
		die("the process");
	stepped->modules = modules_create();
	stepped->maps = maps_create(stepped->process, stepped->modules);
	stepped->unwinder = unwinder_create(stepped->maps, UNWIND_AUTO);
	for (size_t i = 0; i < maps_count(stepped->maps) && stepped->table == NULL; i++) {
		const struct mapping *mapping = maps_at(stepped->maps, i);

		if (mapping->image != NULL)
			stepped->table = pclntab_open(mapping->image);
		stepped->bias = mapping->bias;
	}
	if (stepped->table == NULL)
		die("no table of Go's");
	snapshot_init(&stepped->snapshot);
	snapshot_reserve(&stepped->snapshot, STACK_BYTES);
	chain_init(&stepped->chain);
	strbuf_init(&stepped->name);
	find_system_stack(stepped);
}

static void
close_target(struct stepped *stepped)
{
	pclntab_free(stepped->table);
	unwinder_free(stepped->unwinder);
	chain_release(&stepped->chain);
	snapshot_release(&stepped->snapshot);
	strbuf_release(&stepped->name);
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

/* Go's own signals, which ask it to yield, are dropped. */
static void
step(pid_t pid)
{
	if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) != 0)
		die("PTRACE_SINGLESTEP");
	wait_for_stop(pid);
}

static void
look(struct stepped *stepped)
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
	unwinder_walk(stepped->unwinder, snapshot, false, &stepped->chain);
}

/* --- names ------------------------------------------------------------------------ */

static const char *
frame_name(struct stepped *stepped, size_t frame)
{
	const uint64_t address = chain_frame_lookup(&stepped->chain.frame[frame]);
	struct pclntab_function function;

	strbuf_clear(&stepped->name);
	if (!pclntab_find(stepped->table, address - stepped->bias, &function) ||
	    !pclntab_name(stepped->table, function.name, &stepped->name))
		return "?";
	return stepped->name.data;
}

/* Does the stack end in these functions? Outermost first. */
static bool
begins_with(struct stepped *stepped, const char *const *name, size_t count)
{
	const size_t depth = stepped->chain.count;

	if (depth < count || !chain_end_is_whole(stepped->chain.end))
		return false;
	for (size_t i = 0; i < count; i++)
		if (strcmp(frame_name(stepped, depth - 1 - i), name[i]) != 0)
			return false;
	return true;
}

static void
show(struct stepped *stepped, const char *what)
{
	const struct chain *chain = &stepped->chain;

	printf("    step %lu, %s: pc %#llx sp %#llx, %zu frames, not %zu, end %d\n",
	       stepped->steps, what, (unsigned long long)stepped->snapshot.regs.pc,
	       (unsigned long long)stepped->snapshot.regs.sp, chain->count, stepped->depth + 1,
	       (int)chain->end);
	for (size_t i = 0; i < chain->count && i < NAMES_SHOWN; i++)
		printf("        %#llx %s\n", (unsigned long long)chain->frame[i].address,
		       frame_name(stepped, i));
}

/* --- what really happens ----------------------------------------------------------- */

static bool
on_system_stack(const struct stepped *stepped, uint64_t sp)
{
	return sp >= stepped->system_low && sp < stepped->system_high;
}

static uint64_t
stack_top(const struct stepped *stepped)
{
	uint64_t word = 0;

	snapshot_read(&stepped->snapshot, stepped->snapshot.regs.sp, &word, sizeof(word));
	return word;
}

/* Notes what the instruction at `pc`, that was the next before the last step, has done. */
static void
note(struct stepped *stepped, const struct regs *before, const uint8_t *code)
{
	const struct regs *now = &stepped->snapshot.regs;
	const uint64_t top = stack_top(stepped);

	if (on_system_stack(stepped, before->sp) || on_system_stack(stepped, now->sp))
		return;
	if (now->sp == before->sp - 8 && top > before->pc && top <= before->pc + 8 &&
	    now->pc != top) {
		if (stepped->depth == DEPTH_MOST)
			die("deeper than it should be");
		stepped->call[stepped->depth++] = top;
		return;
	}
	/* ret; and the scheduler's jump to where a goroutine was left */
	if (stepped->depth > 0 && now->pc == stepped->call[stepped->depth - 1] &&
	    (code[0] == 0xc3 || code[0] == 0xff || code[1] == 0xff))
		stepped->depth--;
}

/* The first stack is what there is to begin with. */
static void
await_loop(struct stepped *stepped)
{
	static const char *const first[] = { "runtime.goexit", "runtime.main", "main.main",
					     "main.loop" };

	for (unsigned long i = 0; i < BEFORE_LOOP_MOST; i++) {
		step(stepped->pid);
		look(stepped);
		if (on_system_stack(stepped, stepped->snapshot.regs.sp) ||
		    !begins_with(stepped, first, ARRAY_SIZE(first)))
			continue;
		for (size_t k = stepped->chain.count - 1; k > 0; k--)
			stepped->call[stepped->depth++] = stepped->chain.frame[k].address;
		return;
	}
	die("never seen in its loop");
}

static bool
agrees(const struct stepped *stepped)
{
	const struct chain *chain = &stepped->chain;

	if (chain->count > stepped->depth + 1)
		return false;
	for (size_t i = 1; i < chain->count; i++)
		if (chain->frame[i].address != stepped->call[stepped->depth - i])
			return false;
	return true;
}

static void
check(struct stepped *stepped)
{
	const bool elsewhere = on_system_stack(stepped, stepped->snapshot.regs.sp);

	stepped->steps++;
	stepped->elsewhere += elsewhere;
	if (!chain_end_is_whole(stepped->chain.end) && stepped->broken++ < SHOWN_MOST)
		show(stepped, "not whole");
	if (elsewhere || !chain_end_is_whole(stepped->chain.end))
		return;
	if (!agrees(stepped) && stepped->wrong++ < SHOWN_MOST)
		show(stepped, "wrong");
	else if (stepped->chain.count < stepped->depth + 1 && stepped->short_of++ < SHOWN_MOST)
		show(stepped, "short");
}

int
main(int argc, char **argv)
{
	struct stepped stepped = { .table = NULL };
	unsigned long steps;

	if (argc != 3)
		return 64;
	stepped.pid = (pid_t)strtol(argv[1], NULL, 10);
	steps = strtoul(argv[2], NULL, 10);
	open_target(&stepped);
	if (ptrace(PTRACE_SEIZE, stepped.pid, NULL, NULL) != 0 ||
	    ptrace(PTRACE_INTERRUPT, stepped.pid, NULL, NULL) != 0)
		die("PTRACE_SEIZE");
	wait_for_stop(stepped.pid);
	await_loop(&stepped);
	while (stepped.steps < steps) {
		const struct regs before = stepped.snapshot.regs;
		uint8_t code[8] = { 0 };

		memory_read_process(stepped.pid, before.pc, code, sizeof(code));
		step(stepped.pid);
		look(&stepped);
		note(&stepped, &before, code);
		check(&stepped);
	}
	ptrace(PTRACE_DETACH, stepped.pid, NULL, NULL);
	printf("%lu instructions, %lu on the system's stack: %lu wrong stacks, %lu not whole, %lu "
	       "without callers\n",
	       stepped.steps, stepped.elsewhere, stepped.wrong, stepped.broken, stepped.short_of);
	close_target(&stepped);
	return stepped.wrong > 0 || stepped.broken > 0 || stepped.short_of * SHORT_ONE_IN > steps;
}
