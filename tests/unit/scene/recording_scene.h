/* SPDX-License-Identifier: MIT */
/*
 * recording_scene.h - shared by the tests of recordings: a folder for each test, an invented
 * profile that is recorded there, and functions that load and compare recordings.
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
	char path[96]; /* path of x.wsdb in the folder */
};

void place_make(struct place *place);
/* Removes the recording and the folder; fails the test when the folder has other files. */
void place_remove(struct place *place);

struct recorder *record_in(const struct place *place, struct profile *profile,
			   const struct modules *modules);

struct profile *make_profile(uint32_t *worker, uint32_t *idle);
/* Returns the stack of functions whose names are the letters of `functions`, the outermost
 * first. */
uint32_t stack_of(struct profile *profile, const char *functions);
/* Adds `samples` samples in the stack of `functions`, each with the weight of a tick. Returns as
 * profile_add(). */
uint32_t add(struct profile *profile, uint32_t thread, const char *functions,
	     enum run_state state, int64_t samples);
/*
 * Adds the samples of ticks 0 to count - 1. The worker runs in "mab" in even ticks and sleeps in
 * "mc" in odd ticks. The idle thread sleeps in "mz" and is observed every ten ticks, once with a
 * correction.
 */
void sample_ticks(struct profile *profile, uint32_t worker, uint32_t idle, int count);
/* Makes a recording of `ticks` ticks: a complete one or, if `whole` is false, one as a killed
 * process leaves it. */
void make_recording(const struct place *place, int ticks, bool whole);

/* Loads a recording; fails the test when it cannot be read. */
struct profile *load(const char *path, const struct recording_selection *selection,
		     struct recording_info *info);
void assert_same(const struct profile *a, const struct profile *b);
/* ask() runs SQL on the file and returns the first number of the result; change() only runs it. */
int ask(const char *path, const char *sql);
void change(const char *path, const char *sql);
int64_t sum_of(const struct profile *profile, int w);

#endif
