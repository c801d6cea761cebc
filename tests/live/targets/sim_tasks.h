/* SPDX-License-Identifier: MIT */
/*
 * sim_tasks.h - the structures of a small runtime that schedules tasks on threads: sim_tasks.c has
 * them at the symbol sim_runtime, sim_runtime.c reads them from outside.
 *
 * A task's registers are those that swapcontext(3) has left in `context`. They are its own while it
 * is READY or WAITING, and while what it has called runs on another stack of its thread's.
 */
#ifndef LIVE_SIM_TASKS_H
#define LIVE_SIM_TASKS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#define SIM_MAGIC UINT64_C(0x736b7361746d6973)
#define SIM_WORKERS_MOST 16

enum sim_state { SIM_NONE, SIM_RUNNING, SIM_CALLING, SIM_READY, SIM_WAITING };
enum sim_reason { SIM_NO_REASON, SIM_CHANNEL, SIM_YIELD, SIM_REASONS };

struct sim_task {
	_Atomic uint64_t id;    /* of the task that has this place now */
	_Atomic uint32_t state; /* enum sim_state */
	uint32_t reason;        /* enum sim_reason, of SIM_WAITING */
	_Atomic int32_t tid;    /* of the thread that runs it; 0: none */
	uint32_t kind;
	_Atomic uint32_t runs;  /* how often a thread has taken it up */
	uint64_t stack_low, stack_high;
	uint64_t entry, created_at, creator;
	struct sim_task *next;  /* in the queue */
	ucontext_t context;     /* the last member: it is not read whole */
};

struct sim_worker {
	_Atomic int32_t tid;
	enum sim_state leaves_as; /* what the task that leaves it is from then on */
	struct sim_task *_Atomic current; /* that it runs; NULL: none */
	ucontext_t own, foreign;
	void (*call)(void);     /* to be done on the foreign stack */
};

struct sim_runtime {
	uint64_t magic;         /* 0: not set up yet */
	uint64_t task_count, worker_count;
	struct sim_task *task;  /* all places, side by side */
	struct sim_worker worker[SIM_WORKERS_MOST];
};

/* Where the context has the registers that a walk begins with. */
#if defined(__x86_64__)
/* It is returned to, behind the nop, and nobody has called it. */
#define SIM_BOTTOM                                                             \
	".text\n.globl sim_bottom\n.type sim_bottom, @function\nsim_bottom:\n.cfi_startproc\n" \
	".cfi_undefined rip\nnop\ncall sim_exit\nhlt\n.cfi_endproc\n"            \
	".size sim_bottom, . - sim_bottom\n"
#define SIM_BOTTOM_OFFSET 1

#define SIM_REGS_END                                                           \
	(offsetof(struct sim_task, context) + offsetof(ucontext_t, uc_mcontext.gregs) + \
	 sizeof(gregset_t))

static inline void
sim_registers(const struct sim_task *task, uint64_t *pc, uint64_t *sp, uint64_t *fp)
{
	*pc = (uint64_t)task->context.uc_mcontext.gregs[REG_RIP];
	*sp = (uint64_t)task->context.uc_mcontext.gregs[REG_RSP];
	*fp = (uint64_t)task->context.uc_mcontext.gregs[REG_RBP];
}

/* The first function is to return there. */
static inline void
sim_return_to(struct sim_task *task, uint64_t address)
{
	*(uint64_t *)(uintptr_t)task->context.uc_mcontext.gregs[REG_RSP] = address;
}

/* A clock in a unit of its own, that is read without a call: it would be on the stack. */
static inline uint64_t
sim_now(void)
{
	return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
#define SIM_BOTTOM                                                             \
	".text\n.globl sim_bottom\n.type sim_bottom, @function\nsim_bottom:\n.cfi_startproc\n" \
	".cfi_undefined x30\nnop\nbl sim_exit\nbrk #0\n.cfi_endproc\n"           \
	".size sim_bottom, . - sim_bottom\n"
#define SIM_BOTTOM_OFFSET 4

#define SIM_REGS_END                                                           \
	(offsetof(struct sim_task, context) + offsetof(ucontext_t, uc_mcontext.pstate))

static inline void
sim_registers(const struct sim_task *task, uint64_t *pc, uint64_t *sp, uint64_t *fp)
{
	*pc = task->context.uc_mcontext.pc;
	*sp = task->context.uc_mcontext.sp;
	*fp = task->context.uc_mcontext.regs[29];
}

static inline void
sim_return_to(struct sim_task *task, uint64_t address)
{
	task->context.uc_mcontext.regs[30] = address;
}

static inline uint64_t
sim_now(void)
{
	uint64_t now;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(now) : : "memory");
	return now;
}
#endif

#endif
