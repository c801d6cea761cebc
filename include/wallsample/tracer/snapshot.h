/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - registers and stack bytes of a thread at one moment.
 *
 * Unwinding reads the snapshot while the thread runs.
 */
#ifndef WALLSAMPLE_TRACER_SNAPSHOT_H
#define WALLSAMPLE_TRACER_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/base/memory.h"

/*
 * Registers by DWARF number of the architecture (x86-64 psABI figure 3.36: 0 rax
 * 1 rdx 2 rcx 3 rbx 4 rsi 5 rdi 6 rbp 7 rsp 8-15 r8-r15 16 return address).
 * A register is valid only when its bit in `known` is set: for a thread read without a stop
 * these are sp, pc and the arguments of the system call.
 */
#define REGS_MAX 33

struct regs {
	uint64_t reg[REGS_MAX];
	uint64_t known; /* bit n: reg[n] is known */
	uint64_t pc;    /* always known */
	uint64_t sp;    /* always known; the same as reg[REGS_SP] */
};

/* DWARF numbers of the architecture (regs_ARCH.c). */
extern const unsigned regs_sp_number;
extern const unsigned regs_fp_number;
extern const unsigned regs_count;      /* registers that CFI may name */
extern const uint8_t regs_argument[6]; /* arguments of a system call */

/* Sets sp and pc; all other registers become unknown. */
void regs_set_sp_pc(struct regs *regs, uint64_t sp, uint64_t pc);
/* Replaces the registers of a function by those of its caller that are known without unwind tables:
 * `sp`, `pc`, and the frame pointer, which few callees leave changed. All others become unknown. */
void regs_set_caller(struct regs *regs, uint64_t sp, uint64_t pc);
void regs_set(struct regs *regs, unsigned number, uint64_t value);
/* Stores the value of a known register; false when the register is not known. */
bool regs_get(const struct regs *regs, unsigned number, uint64_t *value);

struct snapshot {
	pid_t tid;
	struct regs regs;
	uint64_t stack_address; /* of the first byte: the stack pointer */
	size_t stack_size;      /* bytes that are valid */
	size_t stack_wanted;    /* bytes that were requested: >= stack_size */
	size_t stack_capacity;
	uint8_t *stack;
	/*
	 * For a sleeping thread: memory beyond the copy may be read from the live process, on the
	 * stack up to this number of bytes from stack_address, and the caller checks afterwards
	 * that the thread has not run. 0 for a thread that was stopped and runs again: its stack
	 * may have changed.
	 */
	size_t live_limit;
	/* Read in place of the live process, for a core file; NULL: the live process. */
	const struct memory *memory;
};

void snapshot_init(struct snapshot *snapshot);
void snapshot_release(struct snapshot *snapshot);
/* Makes room for `size` bytes of stack; contents are not kept. */
void snapshot_reserve(struct snapshot *snapshot, size_t size);

/* True when the copy ended at the end of the stack, not at stack_wanted. */
bool snapshot_is_whole(const struct snapshot *snapshot);

/* Copies from the stack bytes; false when any byte is outside. */
bool snapshot_read(const struct snapshot *snapshot, uint64_t address, void *to, size_t size);

#endif
