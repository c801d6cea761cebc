/* SPDX-License-Identifier: MIT */
/* regs_arch.h - registers as ptrace(2) reads them, by architecture (regs_ARCH.c). */
#ifndef WALLSAMPLE_TRACER_REGS_ARCH_H
#define WALLSAMPLE_TRACER_REGS_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/tracer/snapshot.h"

/* NT_PRSTATUS as the kernel fills it in: 27 words on x86-64, 34 on aarch64. */
struct kernel_regs {
	uint64_t word[64];
	size_t size; /* bytes that the kernel filled in */
};

/* True for the registers of 64-bit code; false for those of a 32-bit program. */
bool kernel_regs_complete(const struct kernel_regs *kernel);

/* Converts the registers to DWARF numbers; all are known. */
void kernel_regs_read(const struct kernel_regs *kernel, struct regs *out);

/* Returns the number of the system call that the thread is in or returns from; SYSCALL_NONE in user
 * code. */
long kernel_regs_syscall(const struct kernel_regs *kernel);

/* Sets *tls to the thread pointer. Returns false on architectures whose NT_PRSTATUS lacks it. */
bool kernel_regs_tls(const struct kernel_regs *kernel, uint64_t *tls);

/* Returns true when the interrupt has ended a sleep in a system call. */
bool kernel_regs_cut_short(const struct kernel_regs *kernel);

/*
 * When the system call is about to return EINTR because of a stop, changes the registers so that
 * the kernel restarts the call (see stop.c). Returns true when they were changed and must be
 * written back.
 */
bool kernel_regs_repair(struct kernel_regs *kernel);

#endif
