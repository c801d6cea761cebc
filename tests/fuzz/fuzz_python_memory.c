/* SPDX-License-Identifier: MIT */
/*
 * fuzz_python_memory.c [-s SEED] [-r ROUNDS] [-k ROUND] - damaged interpreters.
 *
 * Threads of CPythons of all versions that exist in an array only are listed, captured and merged
 * after some of its words have become others. What lies there is small, so words are also made
 * to lead to other objects: to rings, and to things that are something else.
 *
 * Nothing crashes or reads outside, what is found is bounded, and so is what is read for it.
 * When it dies it says in which round; -k ROUND repeats that one alone.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/scene/python_array.h"
#include "wallsample/base/base.h"

#define TIDS 4
#define FRAMES 12
/* Calls that read memory in a round: of a list that is a ring of all, and a walk that is. */
#define READS_MOST 200000
#define ROUND_SECONDS 60

static char doing[128]; /* for the last words */

static void
say_last_words(int signo)
{
	ssize_t ignored = write(STDERR_FILENO, doing, strlen(doing));

	(void)ignored;
	signal(signo, SIG_DFL);
	raise(signo);
}

/* Two interpreters, and threads with calls of which each executes several frames. */
static void
populate(struct scene *scene)
{
	const uint64_t interpreter[2] = { array_interpreter(scene, 0),
					  array_interpreter(scene, 1) };
	uint64_t code[3];

	code[0] = array_code(scene, "first", 10);
	code[1] = array_code(scene, "second", 20);
	code[2] = array_code(scene, "third", 30);
	for (pid_t tid = 1; tid <= TIDS; tid++) {
		const uint64_t thread = array_thread(scene, interpreter[tid % 2], tid);
		const size_t stack = (size_t)tid * 0x1000;
		uint64_t call = array_root(scene, thread), frame = 0, outermost = 0;

		for (uint32_t i = 0; i < FRAMES; i++) {
			const bool begins = i % 3 == 0;

			frame = array_frame(scene, code[i % 3], i, begins ? 0 : frame);
			outermost = begins ? frame : outermost;
			if (i % 3 == 2)
				call = array_call(scene, stack - (size_t)i * 0x80, frame,
						  outermost, call);
		}
		array_execute(scene, thread, call);
	}
}

static void
make_chain(struct scene *scene)
{
	for (size_t at = 0; at < 0x5000; at += 0x100)
		array_native(scene, at, at % 0x300 == 0);
}

/* Somewhere in what is there; the stack is large and mostly empty. */
static uint64_t
random_place(const struct scene *scene, struct rng *random)
{
	for (;;) {
		const uint64_t at = rng_next(random) % (scene->used / 8) * 8;
		uint64_t value;

		memcpy(&value, scene->bytes + at, sizeof(value));
		if (value != 0 || rng_next(random) % 16 == 0)
			return SCENE_BASE + at;
	}
}

static void
damage(struct scene *scene, struct rng *random)
{
	const uint64_t place = random_place(scene, random);
	const uint64_t value = rng_next(random);

	switch (rng_next(random) % 6) {
	case 0: /* one bit */
		array_put(scene, place, array_get(scene, place) ^ UINT64_C(1) << value % 64);
		break;
	case 1:
		array_put(scene, place, value);
		break;
	case 2:
		array_put(scene, place, value % 4096);
		break;
	case 3: /* near the ends of memory */
		array_put(scene, place, (value & 1) != 0 ? UINT64_MAX - value % 64 :
				SCENE_BASE + SCENE_BYTES - value % 64);
		break;
	case 4: /* to another object, or into one */
		array_put(scene, place, random_place(scene, random));
		break;
	default: /* to where another word leads */
		array_put(scene, place, array_get(scene, random_place(scene, random)));
		break;
	}
}

/* A thread runs on between the look at the list, at it, and at its code. */
static bool
look(struct scene *scene, struct rng *random)
{
	const uint64_t reads = scene->reads;

	for (pid_t tid = 1; tid <= TIDS; tid++) {
		array_capture(scene, tid);
		if (rng_next(random) % 4 == 0)
			damage(scene, random);
		array_merged(scene);
		if (scene->captured.count > PYTHON_DEPTH_MOST ||
		    scene->frames.count > PYTHON_DEPTH_MOST + 4)
			return false;
	}
	return scene->reads - reads < READS_MOST;
}

static bool
run_round(unsigned long seed, unsigned long round)
{
	const unsigned minors = SCENE_MINOR_NEWEST - SCENE_MINOR_OLDEST + 1;
	struct scene scene;
	struct rng random;
	bool good = true;

	rng_seed(&random, (uint64_t)seed << 32 ^ round);
	array_open(&scene, SCENE_MINOR_OLDEST + (unsigned)(round % minors));
	populate(&scene);
	make_chain(&scene);
	for (int i = 0; i < 4 && good; i++) {
		for (uint64_t n = rng_next(&random) % 4; n-- > 0;)
			damage(&scene, &random);
		if (rng_next(&random) % 8 == 0)
			scene.unreadable = random_place(&scene, &random) / MEMORY_PAGE *
					   MEMORY_PAGE;
		good = look(&scene, &random);
	}
	array_close(&scene);
	return good;
}

int
main(int argc, char **argv)
{
	unsigned long seed = 1, rounds = 100, first = 0;
	int option;

	while ((option = getopt(argc, argv, "s:r:k:")) != -1) {
		const unsigned long value = strtoul(optarg != NULL ? optarg : "", NULL, 10);

		if (option == 's')
			seed = value;
		else if (option == 'r')
			rounds = value;
		else if (option == 'k')
			first = value, rounds = value + 1;
		else
			return 64;
	}
	signal(SIGSEGV, say_last_words);
	signal(SIGBUS, say_last_words);
	signal(SIGABRT, say_last_words);
	signal(SIGALRM, say_last_words);
	for (unsigned long round = first; round < rounds; round++) {
		snprintf(doing, sizeof(doing), "fuzz_python_memory -s %lu -k %lu\n", seed, round);
		alarm(ROUND_SECONDS);
		if (run_round(seed, round))
			continue;
		fprintf(stderr, "too much was found or read: %s", doing);
		return 1;
	}
	return 0;
}
