/* SPDX-License-Identifier: MIT */
/*
 * test_shapes.c - stacks of known shape come out as they are, however the program was built.
 */
#include <string.h>

#include "folded.h"

/* What a build has, so that stacks can be told. */
enum {
	NAMES = 1,   /* symbols */
	EXACT = 2,   /* unwind tables for every instruction of the program itself */
	WHOLE = 4,   /* and for the C library: stacks reach the thread's first function */
	CHAIN = 8,   /* frame pointers, at least */
	GUESSED = 16, /* some frames can only be guessed, and a guess may be wrong at times */
};

static const struct {
	const char *program;
	unsigned has;
} builds[] = {
	{"shape", NAMES | EXACT | WHOLE | CHAIN},
	{"shape_fp", NAMES | EXACT | WHOLE | CHAIN},
	{"shape_o0", NAMES | EXACT | WHOLE | CHAIN},
	{"shape_nopie", NAMES | EXACT | WHOLE | CHAIN},
	{"shape_static", NAMES | EXACT | WHOLE | CHAIN},
	{"shape_static_pie", NAMES | EXACT | WHOLE | CHAIN},
	{"shape_dynsym", NAMES | EXACT | WHOLE | CHAIN},
	{"shape_debug_frame", NAMES | EXACT | WHOLE | CHAIN},
	{"shape_debug_frame_gz", NAMES | EXACT | WHOLE | CHAIN},
	{"shape_no_hdr", NAMES | EXACT | WHOLE | CHAIN},
	{"shape_writable", NAMES | EXACT | WHOLE | CHAIN},
	{"shape_fp_only", NAMES | CHAIN},
	/* Functions that call nobody have no frame: the caller is a guess. */
	{"shape_fp_leaf", NAMES | CHAIN | GUESSED},
	{"shape_bare", NAMES},
	{"shape_musl", NAMES | EXACT | CHAIN | GUESSED},
	{"shape_musl_static", NAMES | EXACT | CHAIN | GUESSED},
};

static const struct {
	const char *mode, *thread, *pattern;
	unsigned needs;
} shapes[] = {
	{"basic", "running", "run_f0;run_f1;run_f2;run_leaf$", CHAIN},
	{"basic", "running", "run_leaf$", NAMES},
	{"basic", "calling", "call_f0;call_f1;...", EXACT},
	{"basic", "reading", "read_f0;read_f1;read_f2;read_leaf;...", CHAIN},
	{"basic", "napping", "nap_f0;nap_f1;nap_leaf;...", CHAIN},
	{"odd", "handling", "sig_f0;sig_f1;...;on_signal;sig_leaf$", EXACT},
	{"odd", "handling", "on_signal;sig_leaf$", CHAIN},
	{"odd", "altstack", "alt_f0;alt_f1;...;on_alt_signal;alt_leaf;...", EXACT},
	{"odd", "altstack", "on_alt_signal;alt_leaf;...", CHAIN},
	{"odd", "catching", "catch_f0;catch_f1;...;on_catch;...", EXACT},
	{"odd", "catching", "on_catch;...", CHAIN},
	{"odd", "sorting", "sort_f0;sort_f1;...;sort_compare;sort_leaf$", EXACT},
	{"odd", "sorting", "sort_compare;sort_leaf$", CHAIN},
	{"odd", "growing", "grow_f0;grow_f1;grow_f2;grow_leaf;...", CHAIN},
	{"odd", "hollow", "hollow_f0;hollow_f1;hollow_leaf$", CHAIN},
	{"odd", "never", "never_f0;never_f1;never_f2;...", EXACT},
};

/* Every stack of the thread begins with its first function. */
static void
check_whole(const struct folded *folded, pid_t tid)
{
	bool all = true;

	for (size_t i = 0; i < folded->count; i++) {
		const struct folded_line *line = &folded->line[i];
		if (line->tid == tid && strncmp(line->frame[0], "[truncated", 10) == 0)
			all = CHECK(false, "thread %s has a stack that is not whole",
				    line->thread);
	}
	if (!all)
		folded_print(folded, tid, 8);
}

/* Nine in ten of the thread's samples match the pattern, late ones aside. */
static void
check_mostly(const struct folded *folded, pid_t tid, const char *pattern)
{
	const uint64_t good = folded_weight(folded, tid, pattern);
	uint64_t all = 0;

	for (size_t i = 0; i < folded->count; i++)
		if (folded->line[i].tid == tid && !folded_line_is_late(&folded->line[i]))
			all += folded->line[i].weight_us;
	if (folded_all_late(folded, tid))
		return;
	if (!CHECK(good > 0 && good >= all / 10 * 9, "only %llu us of %llu are '%s'",
		   (unsigned long long)good, (unsigned long long)all, pattern))
		folded_print(folded, tid, 8);
}

static void
sample_shape(struct folded *folded, struct target *target, const char *program, const char *mode)
{
	target_start(target, program, mode, NULL);
	folded_sample(folded, target->pid, "-r", "500", "-d", "800ms", NULL);
}

static void
check_build(const char *program, unsigned has, const char *mode)
{
	struct folded folded;
	struct target target;

	harness_case("%s %s", program, mode);
	if (!target_exists(program)) {
		harness_skip("it could not be built");
		return;
	}
	sample_shape(&folded, &target, program, mode);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (strcmp(shapes[i].mode, mode) != 0 || (shapes[i].needs & ~has) != 0)
			continue;
		pid_t tid = inspect_thread_named(target.pid, shapes[i].thread, 0);
		if (has & GUESSED)
			check_mostly(&folded, tid, shapes[i].pattern);
		else
			folded_check_thread(&folded, tid, shapes[i].pattern);
		if (has & WHOLE)
			check_whole(&folded, tid);
	}
	CHECK(inspect_is_free(target.pid), "the target is not left alone");
	folded_release(&folded);
	target_finish(&target, NULL);
}

/*
 * A thread that sleeps in a signal handler, and is not stopped: the frame pointer of the handler is
 * not known, and the kernel has called the handler, so that its frame record has no return address
 * behind a call. The record of the function that had called the interrupted one was taken for it.
 */
static void
guessed_handler(void)
{
	struct folded folded;
	struct target target;

	harness_case("asleep in a signal handler, never stopped");
	target_start(&target, "shape_fp", "odd", NULL);
	folded_sample(&folded, target.pid, "-r", "500", "-d", "400ms", "--nonblocking", NULL);
	folded_check_thread(&folded, inspect_thread_named(target.pid, "catching", 0),
			    "catch_f0;catch_f1;...;on_catch;...");
	folded_release(&folded);
	target_finish(&target, NULL);
}

/* The one depth of a thread's good stacks. */
static size_t
depth_of(const struct folded *folded, pid_t tid)
{
	size_t depth = 0;

	for (size_t i = 0; i < folded->count; i++) {
		const struct folded_line *line = &folded->line[i];
		if (line->tid != tid || line->frame[0][0] == '[')
			continue;
		CHECK(depth == 0 || depth == line->depth, "%s is %zu and %zu deep", line->thread,
		      depth, line->depth);
		depth = line->depth;
	}
	return depth;
}

/* Without names the frames are still there, as places in their files. */
static void
stripped(void)
{
	static const char *const threads[] = {"running", "reading", "napping"};
	static const char *const patterns[] = {
		"shape_stripped+0x*;shape_stripped+0x*;shape_stripped+0x*;shape_stripped+0x*;"
		"shape_stripped+0x*$",
		"shape_stripped+0x*;shape_stripped+0x*;shape_stripped+0x*;shape_stripped+0x*;"
		"shape_stripped+0x*;...",
		"shape_stripped+0x*;shape_stripped+0x*;shape_stripped+0x*;shape_stripped+0x*;...",
	};
	struct folded with, without;
	struct target named, bare;

	harness_case("stripped");
	sample_shape(&with, &named, "shape", "basic");
	sample_shape(&without, &bare, "shape_stripped", "basic");
	for (size_t i = 0; i < 3; i++) {
		pid_t one = inspect_thread_named(named.pid, threads[i], 0);
		pid_t other = inspect_thread_named(bare.pid, threads[i], 0);
		const size_t a = depth_of(&with, one), b = depth_of(&without, other);
		folded_check_thread(&without, other, patterns[i]);
		check_whole(&without, other);
		if (!folded_all_late(&with, one) && !folded_all_late(&without, other))
			CHECK(a == b, "%s is %zu deep, stripped %zu", threads[i], a, b);
	}
	folded_release(&with);
	folded_release(&without);
	target_finish(&named, NULL);
	target_finish(&bare, NULL);
}

int
main(void)
{
	harness_begin(120);
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		check_build(builds[i].program, builds[i].has, "basic");
		check_build(builds[i].program, builds[i].has, "odd");
	}
	guessed_handler();
	stripped();
	return harness_end();
}
