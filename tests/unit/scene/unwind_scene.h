/* SPDX-License-Identifier: MIT */
/*
 * unwind_scene.h - a child whose two threads sleep in f2, called by f1, called by f0, and all
 * that is needed to walk their stacks.
 */
#ifndef TEST_UNWIND_SCENE_H
#define TEST_UNWIND_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sleeping_child.h"
#include "wallsample/unwind/unwind.h"

/* Where the functions were called from, as a thread of the child tells. */
struct told {
	_Atomic int tid; /* set last */
	uint64_t caller[3];
	uint64_t fp; /* of f2: the frame pointer while it sleeps */
};

#define THREADS 2
#define CHOICES 3
#define STACK_WANT ((size_t)256 << 10)

struct scene {
	struct sleeping_child child;
	struct told *told; /* shared with the child */
	struct snapshot snapshot[THREADS]; /* the frame pointer is known in them */
	struct modules *modules;
	struct maps *maps;
	struct unwinder *unwinder[CHOICES]; /* UNWIND_AUTO, and each library alone */
	struct chain whole[THREADS];        /* by UNWIND_AUTO */
	bool allowed;
};

/* The functions of the child: each calls the one before it here. */
void f2(int fd, struct told *mine);
void f1(int fd, struct told *mine);
void f0(int fd, struct told *mine);

/* For cmocka_run_group_tests. */
int scene_start(void **state);
int scene_end(void **state);

/* The scene; skips the test when the kernel does not let us look at our own child. */
struct scene *scene_of(void **state);

/* A copy of the snapshot of which the first `size` bytes are known, and no live memory. */
void copy_part(const struct snapshot *from, size_t size, struct snapshot *to);

/* What must be true of the chain of any snapshot. */
void check_sane(const struct chain *chain, const struct snapshot *snapshot);

/* The chain is the whole one, or its inner end where the copy was too short. */
void check_prefix(const struct chain *chain, const struct chain *whole);

#endif
