/* SPDX-License-Identifier: MIT */
/* regs_arch.h - what each architecture says about the registers ptrace(2) gives. */
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

/* Are there as many bytes as this architecture has? Else it is a 32-bit program. */
bool kernel_regs_complete(const struct kernel_regs *kernel);

void kernel_regs_read(const struct kernel_regs *kernel, struct regs *out);

/* The system call it is in or just leaving; SYSCALL_NONE in user code. */
long kernel_regs_syscall(const struct kernel_regs *kernel);

/* The thread pointer; false where the kernel keeps it apart from these registers. */
bool kernel_regs_tls(const struct kernel_regs *kernel, uint64_t *tls);

/* Did the interruption cut a sleep in a system call short? */
bool kernel_regs_cut_short(const struct kernel_regs *kernel);

/*
 * When the call is about to return EINTR because of our stop, makes the kernel
 * restart it instead (see stop.c). True when the registers were changed and
 * must be written back.
 */
bool kernel_regs_repair(struct kernel_regs *kernel);

#endif
