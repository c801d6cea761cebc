/* SPDX-License-Identifier: MIT */
/*
 * sampled_process_internal.h - one process of the target: its mappings, its unwinder, the readers
 * of its language runtimes, the buffers for captures of its threads, and the stat file of its first
 * thread, which shows whether the process is alive and still executes the same program.
 */
#ifndef WALLSAMPLE_SAMPLER_SAMPLED_PROCESS_INTERNAL_H
#define WALLSAMPLE_SAMPLER_SAMPLED_PROCESS_INTERNAL_H

#include "sampler/waits/waits_internal.h"
#include "wallsample/process/kernel_counters.h"
#include "wallsample/runtime/runtime.h"
#include "wallsample/sampler/stack.h"
#include "wallsample/tracer/target_memory.h"
#include "wallsample/tracer/tracer.h"
#include "wallsample/unwind/unwind.h"

struct green_tasks;
struct hold;
struct jit_objects;
struct observation;
struct run;
struct sampled_thread;
struct sampler_process;
struct task_stat;

/* Buffers for one copy of a thread's registers, stack and runtime frames (a capture). While a stop
 * is late, the tracer keeps a pointer to `request`. */
struct capture_buffer {
	struct stop_request request;
	struct runtime_capture *runtime; /* NULL when no language runtime is read */
	struct run *run;                 /* for the callback request.stopped, as `thread` */
	struct sampled_thread *thread;
};

/* CPU time that a process has used while it was sampled. */
struct cpu_time {
	uint64_t began_ns; /* what it had used before */
	uint64_t last_ns;  /* at the last reading, that time included */
};

/* CPU time of a process, for weights (weights/weigh.c). */
struct process_weights {
	uint64_t cpu_ns;    /* process_cpu() at the end of the last window */
	int64_t known_ns;   /* of its known threads in this window, and of excluded ones */
	int64_t unknown_ns; /* of no known thread, not in the profile yet */
	uint32_t record;    /* of threads that were never seen; THREAD_NONE: none yet */
};

struct capture_pool {
	struct capture_buffer **free; /* array of the buffers that no observation uses */
	size_t count, capacity;
};

/* One process of the target. */
struct sampled_process {
	/* Borrowed. */
	const struct process *process;
	struct maps *maps;
	struct jit *jit;                 /* NULL: code generated at run time has no names */
	struct jit_objects *jit_objects; /* NULL: GDB JIT objects are not read */
	struct run *run;
	struct hold *hold;
	uint32_t id;         /* number in the profile */
	bool is_new;         /* it was created during the run */
	uint32_t since_tick; /* the tick that has added it; 0: it was there when the run began */
	bool stirred;        /* a thread has run since the process was read */
	uint32_t read_tick;  /* last tick that has read it (tick_read_processes); 0: none */
	bool relist;         /* the next listing of threads lists its threads again */
	bool gone;           /* it has exited; the next listing of threads removes it */
	bool ended;          /* it has exited; also when `gone` is reset for the last tick */
	struct cpu_time cpu; /* that of the process */
	/* CPU time of ended children for which the process has waited; began_ns as above. */
	struct cpu_time children;
	pid_t parent; /* when it was added; 0: not known */
	struct process_weights weights;
	struct process_work {
		struct counters began, last; /* before it was sampled; at the last reading */
	} work;
	/* Owned. */
	struct unwinder *unwinder;
	struct stack_state stacks;
	struct runtimes *runtimes; /* NULL: language runtimes are not read */
	struct target_memory memory;
	struct memory reader;                 /* sampled_process_read_memory with this process */
	struct runtime_capture *lock_capture; /* buffer of observe_lock (observe.c) */
	struct waits *waits;
	/* Scratch of file_lock_waits.c: number of threads that do not wait for the lock that is
	 * looked at, and the id of one of them. */
	uint32_t lock_free;
	pid_t lock_free_tid;
	struct green_tasks *green;
	struct capture_pool captures;
	/* From the stat file of the first thread. */
	int leader_fd;                   /* descriptor of that file; -1: not open */
	char leader_state;               /* state letter of proc_pid_stat(5) */
	uint64_t start_stack, arg_start; /* both change with an exec; 0: not known */
	bool execed;                     /* the last sampled_process_read has found an exec */
	uint32_t execs;                  /* number of exec calls that were found */
	uint32_t thread_count;           /* number of living threads */
	uint32_t listed;                 /* number of its threads in the list of threads */
	uint32_t num_threads;            /* the same with a first thread that has exited */
	/* For translating thread ids of the target's PID namespace, found in its memory. */
	bool own_namespace;  /* the target is in wallsample's PID namespace */
	struct table inner;  /* unless own_namespace: the target's id of a thread -> wallsample's */
	uint64_t inner_seen; /* thread_list.seen when `inner` was filled */
};

/* Creates a sampled process, to be freed with sampled_process_free. The arguments, and the pointers
 * in *process, are borrowed. The caller sets `waits` and `green`, then calls
 * sampled_process_begin_runtimes. */
struct sampled_process *sampled_process_create(struct run *run, struct hold *hold,
					       const struct sampler_process *process);
/* Creates the readers of language runtimes, if sampler_config.runtimes or
 * sampler_context.extra_runtime asks for any. */
void sampled_process_begin_runtimes(struct sampled_process *process);
/* Frees the process and all that it owns, except `waits` and `green`. */
void sampled_process_free(struct sampled_process *process);
/* Reads `size` bytes of the memory of a process; `context` is its struct sampled_process. Returns
 * false if not all of them are readable. For use as the callback `read` of struct memory. */
bool sampled_process_read_memory(void *context, uint64_t address, void *to, size_t size);
/* Reads the stat file of the process's first thread into *leader. Returns false if the process has
 * exited. */
bool sampled_process_is_alive(struct sampled_process *process, struct task_stat *leader);
/* As sampled_process_is_alive, but stores the result in the process: sets leader_state,
 * thread_count, num_threads, execed, execs, start_stack and arg_start. */
bool sampled_process_read(struct sampled_process *process);
/* Returns the id, in wallsample's PID namespace, of the living thread whose id in the target's PID
 * namespace is `inner`; 0 if there is none. `context` is a struct sampled_process. */
pid_t sampled_process_thread(void *context, pid_t inner);
/* Returns a buffer from the pool of the thread's process, or a new one. capture_return puts the
 * buffer into the pool. */
struct capture_buffer *capture_acquire(struct sampled_thread *thread);
/* Puts observation->capture back into its pool, and sets it to NULL. */
void capture_return(struct observation *observation);

#endif
