/* SPDX-License-Identifier: MIT */
/* thread_wait.h - what sleepers wait for, and whose stacks are to blame for it. */
#ifndef WALLSAMPLE_SAMPLER_THREAD_WAIT_H
#define WALLSAMPLE_SAMPLER_THREAD_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/sampler/crowds.h"
#include "wallsample/wait/descriptor.h"
#include "wallsample/process/maps.h"
#include "wallsample/profile/profile.h"
#include "wallsample/base/table.h"
#include "wallsample/wait/wait.h"

struct sampler;
struct tracked;

/* Of one thread. */
struct thread_wait {
	uint64_t word;    /* the futex that it was last seen to wait on; 0: none */
	uint32_t id;      /* of the profile; 0: it waits for nothing */
	struct wait what;
	int tries;        /* how often it was asked in this sleep */
	pid_t holder;     /* who had it when that was last asked; 0: nobody */
	bool asked;       /* it was: this is who was to blame */
	struct profile_blame blamed;
};

/* Time of a waiter in this tick that somebody may be to blame for. */
struct blamed {
	pid_t tid;
	uint32_t wait;    /* of the profile */
	struct wait what;
	int64_t samples, ns;
};

/* What is behind a descriptor, and the frame that stands for it. */
struct object {
	uint32_t frame;
	int fd;
	char *id;
};

struct waits {
	struct wait_source source;
	bool own_namespace;      /* thread ids in the target's memory are ours */
	struct table inner;      /* if not: what threads are called there -> thread id */
	uint64_t inner_seen;     /* of how many threads that there ever were that was made */
	struct crowds crowds;
	struct descriptors *descriptors;
	struct object *object;   /* that are not described yet */
	size_t object_count, object_capacity;
	struct table known;      /* objects of all kinds, by what tells them apart */
	uint64_t describe_ns;    /* not before this moment */
	/* The present tick. */
	struct blamed *blamed;
	size_t blamed_count, blamed_capacity;
	struct table owners;     /* (object, kind) -> index of owner */
	struct wait_owner *owner;
	size_t owner_count, owner_capacity;
};

/* The frame of a lock: a variable of a module, or memory that is nobody's. */
uint32_t frame_of_data(const struct maps *maps, struct profile *profile, uint64_t address);

/* Why nobody's stack is to blame, in the place of one. */
uint32_t stack_of_nobody(struct profile *profile, const struct wait_owner *owner);

void waits_init(struct sampler *sampler);
/* The language runtimes of the target, if any are wanted: they read what waits read. */
void waits_begin_runtimes(struct sampler *sampler);
void waits_release(struct sampler *sampler);

/* The futex word that it sleeps on in this call; 0: on none. */
uint64_t waits_word(const struct syscall_info *info);
/* The frame of the profile that stands for what is waited for, which may become of another kind;
 * FRAME_NONE: none does. thread_wait_object.c */
uint32_t waits_object(struct sampler *sampler, const struct tracked *thread, struct wait *wait);
/* The thread was seen in this call, or to have left it. */
void waits_see(struct sampler *sampler, struct tracked *thread, const struct syscall_info *info);
void waits_leave(struct sampler *sampler, struct tracked *thread);
/* It sleeps in this call: what it waits for becomes its wait. */
void waits_classify(struct sampler *sampler, struct tracked *thread, enum run_state state,
		    const struct syscall_info *info);
/* It still sleeps: what it waits for is asked once more if that was not found out. */
void waits_try_again(struct sampler *sampler, struct tracked *thread);
/* So much time of the thread was credited to its wait; the other one to a wait that is over, whose
 * lock somebody else has now: whoever had it last is to blame. */
void waits_blame(struct sampler *sampler, const struct tracked *thread, int64_t samples,
		 int64_t ns);
void waits_blame_last(struct sampler *sampler, const struct tracked *thread, int64_t samples,
		      int64_t ns);
/* Was somebody found to wait for what the thread has, lately, in a program of few such locks? Then
 * others' time goes to what it is seen to do. */
bool waits_is_holder(const struct sampler *sampler, const struct tracked *thread);
/* Who has it, as it is in this tick: who waits for the same is told the same. Valid until the next
 * call; the other one begins anew. */
const struct wait_owner *waits_owner(struct sampler *sampler, const struct wait *wait);
void waits_forget_owners(struct sampler *sampler);
/* Everybody was looked at: who is to blame is known. */
void waits_tick(struct sampler *sampler);
/* Descriptors get the names that people know; with `all` as many as can be within half a second.
 * Nobody is held. */
void waits_describe(struct sampler *sampler, bool all);

#endif
