/* SPDX-License-Identifier: MIT */
/*
 * toy_program.c - interprets bytecode with frames of its own in memory, under one lock.
 *
 * Two threads interpret main() -> outer() -> inner(): inner() computes natively while it holds the
 * lock. A third interprets a function whose caller's frame is damaged.
 */
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>

#include "toy_vm.h"
#include "../targets/target.h"

enum opcode { OP_CALL, OP_SPIN, OP_SLEEP, OP_LOOP };

struct instruction {
	enum opcode opcode;
	unsigned operand; /* of OP_CALL: the function */
	unsigned line;
};

struct function {
	const char *name;
	struct instruction code[2];
};

static const struct function functions[] = {
	{ "main", { { OP_CALL, 1, 12 }, { OP_LOOP, 0, 13 } } },
	{ "outer", { { OP_CALL, 2, 7 }, { OP_LOOP, 0, 8 } } },
	{ "inner", { { OP_SPIN, 0, 3 }, { OP_LOOP, 0, 4 } } },
	{ "lost", { { OP_SLEEP, 0, 21 }, { OP_LOOP, 0, 22 } } },
};

struct toy_vm toy_vm = { .magic = TOY_MAGIC };

/* --- the lock ---------------------------------------------------------------------------- */

static FRAME void
toy_lock_take(void)
{
	while (__atomic_exchange_n(&toy_vm.lock, 1, __ATOMIC_ACQUIRE) != 0)
		syscall(SYS_futex, &toy_vm.lock, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
	__atomic_store_n(&toy_vm.holder, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELAXED);
	KEEP_FRAME();
}

static FRAME void
toy_lock_drop(void)
{
	__atomic_store_n(&toy_vm.holder, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&toy_vm.lock, 0, __ATOMIC_RELEASE);
	syscall(SYS_futex, &toy_vm.lock, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	KEEP_FRAME();
}

/* --- the interpreter --------------------------------------------------------------------- */

static void toy_execute(struct toy_thread *thread, unsigned number, uint64_t caller);

/* A native function that the program calls: some milliseconds of computing. */
static FRAME void
toy_spin(void)
{
	for (unsigned long i = 0; i < 3000000; i++)
		target_sink += i;
	KEEP_FRAME();
}

static FRAME void
toy_call(struct toy_thread *thread, unsigned number)
{
	toy_execute(thread, number, thread->top);
	KEEP_FRAME();
}

static FRAME void
execute_instruction(struct toy_thread *thread, const struct instruction *instruction)
{
	switch (instruction->opcode) {
	case OP_CALL:
		toy_call(thread, instruction->operand);
		break;
	case OP_SPIN:
		toy_lock_take();
		toy_spin();
		toy_lock_drop();
		break;
	case OP_SLEEP:
		pause();
		break;
	case OP_LOOP:
		break;
	}
	KEEP_FRAME();
}

static FRAME void
toy_execute(struct toy_thread *thread, unsigned number, uint64_t caller)
{
	const struct function *function = &functions[number];
	struct toy_frame *frame = calloc(1, sizeof(*frame));

	strcpy(frame->function, function->name);
	strcpy(frame->file, "/srv/program.toy");
	frame->caller = caller;
	frame->anchor = (uintptr_t)&frame;
	for (unsigned at = 0;; at = function->code[at].opcode == OP_LOOP ? 0 : at + 1) {
		frame->line = function->code[at].line;
		__atomic_store_n(&thread->top, (uintptr_t)frame, __ATOMIC_RELEASE);
		if (function->code[at].opcode == OP_LOOP && number > 0 && number < 3)
			break;
		execute_instruction(thread, &function->code[at]);
	}
	__atomic_store_n(&thread->top, caller, __ATOMIC_RELEASE);
	free(frame);
	KEEP_FRAME();
}

static FRAME void *
toy_thread_main(void *context)
{
	struct toy_thread *thread = context;
	const bool is_lost = thread == &toy_vm.thread[2];

	prctl(PR_SET_NAME, is_lost ? "lost" : "toy");
	__atomic_store_n(&thread->tid, (uint64_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	toy_execute(thread, is_lost ? 3 : 0, is_lost ? 8 : 0);
	return NULL;
}

int
main(void)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, toy_thread_main, &toy_vm.thread[i]);
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
