/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - a thread at one moment: registers and the bytes of its stack.
 *
 * Everything after the capture (unwinding, names, output) reads from this, while
 * the thread runs on.
 */
#ifndef WALLSAMPLE_TRACER_SNAPSHOT_H
#define WALLSAMPLE_TRACER_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/tracer/memory.h"

/*
 * Registers by DWARF number of the architecture (x86-64 psABI figure 3.36: 0 rax
 * 1 rdx 2 rcx 3 rbx 4 rsi 5 rdi 6 rbp 7 rsp 8-15 r8-r15 16 return address).
 * A register is meaningful only when its bit in `known` is set: of a thread read
 * without a stop only sp, pc and the arguments of the system call are.
 */
#define REGS_MAX 33

struct regs {
	uint64_t reg[REGS_MAX];
	uint64_t known; /* bit n: reg[n] is known */
	uint64_t pc;    /* always known */
	uint64_t sp;    /* always known; the same as reg[REGS_SP] */
};

/* DWARF numbers that code independent of the architecture needs (regs_*.c). */
extern const unsigned regs_sp_number;
extern const unsigned regs_fp_number;
extern const unsigned regs_count; /* registers that CFI may name */
extern const uint8_t regs_argument[6]; /* of a system call */

/* Registers of which only sp and pc are known. */
void regs_set_sp_pc(struct regs *regs, uint64_t sp, uint64_t pc);
/* Turns the registers of a function into those of its caller as far as they are known without
 * unwind tables: `sp`, `pc` and the old frame pointer, which a callee seldom leaves changed. */
void regs_set_caller(struct regs *regs, uint64_t sp, uint64_t pc);
void regs_set(struct regs *regs, unsigned number, uint64_t value);
/* True and *value when the register is known. */
bool regs_get(const struct regs *regs, unsigned number, uint64_t *value);

struct snapshot {
	pid_t tid;
	struct regs regs;
	uint64_t stack_address; /* of the first byte: the stack pointer */
	size_t stack_size;      /* bytes that are valid */
	size_t stack_wanted;    /* bytes that were asked for: >= stack_size */
	size_t stack_capacity;
	uint8_t *stack;
	/*
	 * The thread is asleep: memory beyond the copy may be read from the live
	 * process, on the stack up to this many bytes from its beginning, and
	 * the caller checks afterwards that the thread has not run. 0 for a thread
	 * that was stopped and has gone on: it would be somebody else's memory by now.
	 */
	size_t live_limit;
	/* What is read instead of the live process: of one that is no more; else NULL. */
	const struct memory *memory;
};

void snapshot_init(struct snapshot *snapshot);
void snapshot_release(struct snapshot *snapshot);
/* Room for `size` bytes; contents are not kept. */
void snapshot_reserve(struct snapshot *snapshot, size_t size);

/* The copy ended because there was no more stack, not because of the limit. */
bool snapshot_is_whole(const struct snapshot *snapshot);

/* Copies from the snapshot; false when any byte is outside. */
bool snapshot_read(const struct snapshot *snapshot, uint64_t address, void *to, size_t size);

#endif
