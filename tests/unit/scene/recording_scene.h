/* SPDX-License-Identifier: MIT */
/*
 * recording_scene.h - what the tests of recordings share: a folder of its own, a profile that was
 * made by hand and goes into a recording there, and a way back.
 */
#ifndef TEST_RECORDING_SCENE_H
#define TEST_RECORDING_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#include "wallsample/recording/recording_read.h"

#define MS ((int64_t)NS_PER_MS)
#define TICK (10 * MS)

extern const struct run_stats no_stats;

struct place {
	char folder[64];
	int dirfd;
	char path[96]; /* of x.wsdb there */
};

void place_make(struct place *place);
/* Nothing else may be there any more. */
void place_remove(struct place *place);

struct recorder *record_in(const struct place *place, struct profile *profile,
			   const struct modules *modules);

struct profile *make_profile(uint32_t *worker, uint32_t *idle);
/* `functions` are letters, from the outside in. */
uint32_t stack_of(struct profile *profile, const char *functions);
/* Samples of a tick each, in that stack. */
uint32_t add(struct profile *profile, uint32_t thread, const char *functions,
	     enum run_state state, int64_t samples);
/*
 * Ticks 0 to 99: the worker runs in "mab" at the even ones and sleeps in "mc" at the odd ones; the
 * idle one sleeps in "mz" and is looked at every ten ticks, once with a correction.
 */
void sample_ticks(struct profile *profile, uint32_t worker, uint32_t idle, int count);
/* A recording of so many ticks; whole, or as a killed writer leaves it. */
void make_recording(const struct place *place, int ticks, bool whole);

/* The test fails when it cannot be read. */
struct profile *load(const char *path, const struct recording_selection *selection,
		     struct recording_info *info);
void assert_same(const struct profile *a, const struct profile *b);
/* SQL on the file: the first number of the answer; or a change. */
int ask(const char *path, const char *sql);
void change(const char *path, const char *sql);
int64_t sum_of(const struct profile *profile, int w);

#endif
