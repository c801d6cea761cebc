/* SPDX-License-Identifier: MIT */
/* core_thread.c - registers of the threads of a core file, in the layout of ptrace(2). */
#include "wallsample/core/core_thread.h"

#include <string.h>

#include "wallsample/tracer/regs_arch.h"

bool
core_thread_read(const struct core *core, size_t index, struct core_thread *out)
{
	struct kernel_regs kernel;

	memset(out, 0, sizeof(*out));
	memset(&kernel, 0, sizeof(kernel));
	out->tid = core_thread_id(core, index);
	kernel.size = core_thread_registers(core, index, CORE_GENERAL, kernel.word,
					    sizeof(kernel.word));
	if (!kernel_regs_complete(&kernel))
		return false;
	kernel_regs_read(&kernel, &out->regs);
	out->syscall = kernel_regs_syscall(&kernel);
	out->asleep = kernel_regs_cut_short(&kernel);
	for (size_t i = 0; i < ARRAY_SIZE(out->args); i++)
		regs_get(&out->regs, regs_argument[i], &out->args[i]);
	if (!kernel_regs_tls(&kernel, &out->tls))
		core_thread_registers(core, index, CORE_TLS, &out->tls, sizeof(out->tls));
	return true;
}

static bool
read_core(void *context, uint64_t address, void *to, size_t size)
{
	return core_read(context, address, to, size);
}

struct memory
core_memory(const struct core *core)
{
	/* The callback only reads through the context. */
	return (struct memory){ .read = read_core, .context = (void *)(uintptr_t)core };
}
