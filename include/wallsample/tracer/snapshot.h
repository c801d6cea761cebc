/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - registers and stack bytes of a thread at one moment.
 *
 * The thread is stopped only while the snapshot is made: the stack is unwound afterwards, from the
 * copy. A sleeping thread is not stopped at all.
 */
#ifndef WALLSAMPLE_TRACER_SNAPSHOT_H
#define WALLSAMPLE_TRACER_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/base/memory.h"

/*
 * Number of elements of regs.reg[], enough for every architecture. The index is the DWARF number of
 * the architecture (x86-64 psABI figure 3.36: 0 rax 1 rdx 2 rcx 3 rbx 4 rsi 5 rdi 6 rbp 7 rsp 8-15
 * r8-r15 16 return address). A register is valid only when its bit in `known` is set. Of a thread
 * that is read without a stop only sp, pc and the arguments of the system call are known.
 */
#define REGS_MAX 33

struct regs {
	uint64_t reg[REGS_MAX];
	uint64_t known; /* bit n: reg[n] is known */
	uint64_t pc;    /* always known */
	uint64_t sp;    /* always known; equals reg[regs_sp_number] */
};

/* DWARF register numbers of the architecture (regs_ARCH.c). */
extern const unsigned regs_sp_number;
extern const unsigned regs_fp_number;
extern const unsigned regs_count; /* number of registers that CFI may name */
/* numbers of the registers with the arguments of a system call */
extern const uint8_t regs_argument[6];

/* Sets sp and pc; all other registers become unknown. */
void regs_set_sp_pc(struct regs *regs, uint64_t sp, uint64_t pc);
/* Replaces the registers of a function by those of its caller that are known without unwind tables:
 * `sp`, `pc`, and the frame pointer, which keeps its value because most functions restore it. All
 * others become unknown. */
void regs_set_caller(struct regs *regs, uint64_t sp, uint64_t pc);
/* Sets the value of a register; ignores a number of REGS_MAX or more. */
void regs_set(struct regs *regs, unsigned number, uint64_t value);
/* Sets *value to the value of a register. Returns false when the register is not known. */
bool regs_get(const struct regs *regs, unsigned number, uint64_t *value);

/* The value of all bytes of a page that was not in memory when a stack was copied, and the value of
 * its words. A word with this value counts as not readable: no address, and hardly any other value,
 * equals it. */
#define SNAPSHOT_ABSENT_BYTE 0xee
#define SNAPSHOT_ABSENT UINT64_C(0xeeeeeeeeeeeeeeee)

struct snapshot {
	pid_t tid;
	struct regs regs;
	uint64_t stack_address; /* address of the first byte: the stack pointer */
	size_t stack_size;      /* number of valid bytes */
	size_t stack_wanted;    /* number of bytes that were requested, >= stack_size */
	size_t stack_capacity;
	uint8_t *stack;
	/*
	 * Number of bytes from stack_address on that the unwinder may read in place where the copy
	 * does not have them. Sleeping thread: from the live process; the caller checks afterwards
	 * that the thread has not run. Core file: from `memory`, without a limit. 0 for a thread
	 * that was stopped and runs again, because its stack may have changed.
	 */
	size_t live_limit;
	/* Memory of a core file, which is read in place of the memory of the live process; NULL:
	 * there is a live process. */
	const struct memory *memory;
};

void snapshot_init(struct snapshot *snapshot);
void snapshot_release(struct snapshot *snapshot);
/* Makes room for `size` bytes of stack; the bytes of the old copy are lost. */
void snapshot_reserve(struct snapshot *snapshot, size_t size);

/* Returns true when the copy is shorter than stack_wanted, because the stack, or its readable part,
 * ends there. */
bool snapshot_is_whole(const struct snapshot *snapshot);

/* Copies `size` bytes of the copied stack, from `address` on. Returns false when any of them is not
 * in the copy. */
bool snapshot_read(const struct snapshot *snapshot, uint64_t address, void *to, size_t size);

#endif
