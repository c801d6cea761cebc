/* SPDX-License-Identifier: MIT */
/*
 * core_waits_internal.h - what the threads of a core file waited for: all of one moment, so that
 * a ring of them is a deadlock.
 */
#ifndef WALLSAMPLE_CORE_CORE_WAITS_INTERNAL_H
#define WALLSAMPLE_CORE_CORE_WAITS_INTERNAL_H

#include "wallsample/core/core.h"
#include "wallsample/process/maps.h"
#include "wallsample/profile/profile.h"
#include "wallsample/runtime/runtime.h"
#include "wallsample/base/table.h"
#include "wallsample/wait/wait.h"

/* One thread, and in which call it was. */
struct core_waiter {
	pid_t tid;
	struct wait_call call;  /* its number is SYSCALL_NONE if it was in none */
	bool leaving;           /* it did not sleep in it any more, but was about to return */
	uint64_t word;          /* the futex, or 0 */
	struct wait what;
	uint32_t wait;          /* of the profile; 0: none */
	uint32_t thread, stack; /* of the profile */
};

/* By thread id of a core, which may be the same of several: the first is meant. */
struct core_waits {
	struct core_waiter *waiter; /* as many as there are threads, in their order */
	size_t count;
	struct table by_tid, words; /* thread id -> index; futex word -> how many wait on it */
	struct wait_source source;
	struct runtimes *runtimes;     /* borrowed; or NULL */
};

/* `waiter` is taken over, with tid and call filled in. */
void core_waits_init(struct core_waits *waits, struct core_waiter *waiter, size_t count,
		     struct memory memory);
void core_waits_release(struct core_waits *waits);
/* The thread with this id, if the core has it; else 0. */
pid_t core_waits_thread(void *waits, pid_t inner);
/* From now on waits for their locks are told. */
void core_waits_set_runtimes(struct core_waits *waits, struct runtimes *runtimes);
/* Fills in what each waits for. */
void core_waits_classify(struct core_waits *waits, const struct maps *maps,
			 struct profile *profile);
/* When threads and stacks are known: who has it, and deadlocks. */
void core_waits_blame(struct core_waits *waits, struct profile *profile);

#endif
