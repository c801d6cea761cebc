/* SPDX-License-Identifier: MIT */
/*
 * unwind_scene.h - a child whose two threads sleep in f2, called by f1, called by f0, with
 * snapshots of both threads and unwinders for them.
 */
#ifndef TEST_UNWIND_SCENE_H
#define TEST_UNWIND_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sleeping_child.h"
#include "wallsample/unwind/unwind.h"

/* What a thread of the child reports to the test. */
struct child_report {
	_Atomic int tid;    /* id of the thread; set after all other members */
	uint64_t caller[3]; /* return addresses of f0, f1 and f2 */
	uint64_t fp; /* the frame pointer of f2 while the thread sleeps */
};

#define THREADS 2
#define CHOICES 3
#define STACK_WANT ((size_t)256 << 10)

struct scene {
	struct sleeping_child child;
	struct child_report *report;       /* shared with the child */
	struct snapshot snapshot[THREADS]; /* with the frame pointer set */
	struct modules *modules;
	struct maps *maps;
	struct unwinder *unwinder[CHOICES]; /* for UNWIND_AUTO, UNWIND_LIBUNWIND and UNWIND_LIBDW */
	struct chain whole[THREADS]; /* complete chains of the snapshots, found by UNWIND_AUTO */
	bool allowed;                /* the kernel permits the test to read the child */
};

/* The functions of the child: f0 calls f1, and f1 calls f2. */
void f2(int fd, struct child_report *mine);
void f1(int fd, struct child_report *mine);
void f0(int fd, struct child_report *mine);

/* Group setup and teardown for cmocka_run_group_tests(): start the child with its snapshots, and
 * release all. */
int scene_start(void **state);
int scene_end(void **state);

/* Returns the scene; skips the test when the kernel does not permit to read the child. */
struct scene *scene_of(void **state);

/* Copies a snapshot with the first `size` bytes of its stack, and without live memory. */
void copy_part(const struct snapshot *from, size_t size, struct snapshot *to);

/* Checks the properties that every chain of a snapshot has, complete or not. */
void check_sane(const struct chain *chain, const struct snapshot *snapshot);

/* Checks that the chain equals `whole`, or its innermost frames when the copied stack was too
 * short. */
void check_prefix(const struct chain *chain, const struct chain *whole);

#endif
