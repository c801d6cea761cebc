/* SPDX-License-Identifier: MIT */
/* regs_arch.h - registers as ptrace(2) reads them, by architecture (regs_ARCH.c). */
#ifndef WALLSAMPLE_TRACER_REGS_ARCH_H
#define WALLSAMPLE_TRACER_REGS_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/tracer/snapshot.h"

/* The registers of a thread as PTRACE_GETREGSET stores them for NT_PRSTATUS: 27 words on x86-64, 34
 * on aarch64. */
struct kernel_regs {
	uint64_t word[64];
	size_t size; /* bytes that the kernel filled in */
};

/* True for the registers of 64-bit code; false for those of a 32-bit program. */
bool kernel_regs_complete(const struct kernel_regs *kernel);

/* Converts the registers to DWARF numbers; all are known. */
void kernel_regs_read(const struct kernel_regs *kernel, struct regs *out);

/* Returns the number of the system call that the thread is in or returns from; SYSCALL_NONE
 * (wallsample/thread/state.h) in user code; on aarch64, whose registers do not show the number,
 * always SYSCALL_UNKNOWN. */
long kernel_regs_syscall(const struct kernel_regs *kernel);

/* Sets *tls to the thread pointer. Returns false on architectures whose NT_PRSTATUS lacks it. */
bool kernel_regs_tls(const struct kernel_regs *kernel, uint64_t *tls);

/* Returns true when the stop has interrupted a sleep in a system call: the call is about to return
 * EINTR or to be restarted. Always false on aarch64, where that is not known. */
bool kernel_regs_cut_short(const struct kernel_regs *kernel);

/*
 * If the system call is about to return EINTR because of the stop, changes the registers in *kernel
 * so that the kernel restarts the call (see stop.c). Returns true when the registers were changed:
 * the caller must write them to the thread. Never changes them on aarch64.
 */
bool kernel_regs_repair(struct kernel_regs *kernel);

#endif
