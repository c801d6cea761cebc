/* SPDX-License-Identifier: MIT */
/*
 * test_files.c - names of programs and libraries wherever their files are, or were.
 *
 * Each case runs twice where that makes a difference: with the kernel's own way to a mapped
 * file (/proc/PID/map_files), which takes a capability, and without.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folded.h"

/* capabilities(7); the headers of older systems lack the second. */
#define SYS_ADMIN 21
#define CHECKPOINT_RESTORE 40

#define CHILD_COUNTER 60

static char folder[64];

/* --- without /proc/PID/map_files ---------------------------------------------------- */

static void
give_up_map_files(void)
{
	prctl(PR_CAPBSET_DROP, SYS_ADMIN, 0, 0, 0);
	prctl(PR_CAPBSET_DROP, CHECKPOINT_RESTORE, 0, 0, 0);
}

/* Words for wallsample, which runs with what `few` leaves of its capabilities. */
static void
run_with(struct run *run, bool few, pid_t pid, const char *format)
{
	char number[16];
	const char *full = strcmp(format, "text") == 0 ? "--full" : NULL;
	const char *words[] = {"wallsample", "-p",    number, "-v",  "-t",
			       "-f",         format,  "-r",   "200", "--max-overhead",
			       "100",        "--max-stopped", "100", "-d",
			       "400ms",      full,    NULL};

	snprintf(number, sizeof(number), "%d", (int)pid);
	run_start_words(run, (char *const *)(uintptr_t)words, few ? give_up_map_files : NULL);
	run_finish(run);
}

static void
sample_with(struct folded *folded, bool few, pid_t pid)
{
	struct run run;

	run_with(&run, few, pid, "folded");
	folded_of_run(folded, &run);
}

/* The text report has the words, one behind the other, whatever lines they are on. */
static void
check_told(bool few, pid_t pid, const char *path, const char *why)
{
	char *words = NULL;
	size_t length = 0;
	struct run run;

	run_with(&run, few, pid, "text");
	run_succeeded(&run);
	/* Words are wrapped: a space for whatever is between them. */
	words = strdup(run.out);
	if (words == NULL)
		harness_die("no memory");
	for (const char *at = run.out; *at != '\0'; at++)
		if (*at > ' ' || (length > 0 && words[length - 1] != ' '))
			words[length++] = *at > ' ' ? *at : ' ';
	words[length] = '\0';
	if (!CHECK(strstr(words, path) != NULL, "the report does not name the file %s", path) ||
	    !CHECK(strstr(words, why) != NULL, "the report does not say '%s'", why))
		printf("%s", run.out);
	free(words);
	run_release(&run);
}

/* --- programs ----------------------------------------------------------------------- */

static const char *
in_folder(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void
copy_file(const char *from, const char *to)
{
	char command[2 * PATH_MAX + 16];

	snprintf(command, sizeof(command), "cp '%s' '%s'", from, to);
	if (system(command) != 0)
		harness_die("cannot copy %s to %s", from, to);
}

static void
check_placed(pid_t pid, bool few)
{
	const pid_t sleeps = inspect_thread_named(pid, "sleeps", 0);
	struct folded folded;

	harness_note("wallsample %s /proc/PID/map_files", few ? "without" : "with");
	sample_with(&folded, few, pid);
	folded_check_thread(&folded, inspect_thread_named(pid, "spins", 0),
			    "target_thread_main;placed_spins;placed_leaf$");
	/* It may not yet have slept. Debug files of the library know other names than its own. */
	if (folded_check_thread(&folded, sleeps, "target_thread_main;placed_sleeps;...") &&
	    !folded_all_late(&folded, sleeps))
		CHECK(folded_has_frame(&folded, sleeps, "clock_nanosleep"),
		      "nobody sleeps in the library's function");
	folded_release(&folded);
}

/* target_path's memory is one for all. */
static char *
path_of(const char *program)
{
	char *path = strdup(target_path(program));

	if (path == NULL)
		harness_die("no memory");
	return path;
}

static bool
may_unshare(int flags)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(unshare(flags) == 0 ? 0 : 1);
	return waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 0;
}

static void
own_mounts(void)
{
	char *program = path_of("placed");
	char path[80];
	struct target target;

	harness_case("a program in a mount and a process name space of its own");
	if (!may_unshare(CLONE_NEWNS | CLONE_NEWPID)) {
		harness_skip("not permitted to make name spaces");
		free(program);
		return;
	}
	/* What is at that path here is another program. */
	snprintf(path, sizeof(path), "/tmp/wallsample-placed-%d", (int)getpid());
	copy_file(target_path("mangled"), path);
	target_start(&target, "elsewhere", "mounts", program, path, NULL);
	check_placed((pid_t)target.counter[CHILD_COUNTER], false);
	check_placed((pid_t)target.counter[CHILD_COUNTER], true);
	target_finish(&target, NULL);
	unlink(path);
	free(program);
}

static void
other_root(void)
{
	char *program = path_of("placed"), *root;
	struct target target;

	harness_case("a program in a chroot with libraries of its own");
	if (geteuid() != 0) {
		harness_skip("not permitted to change the root");
		free(program);
		return;
	}
	root = strdup(in_folder("root"));
	if (root == NULL || mkdir(root, 0755) != 0)
		harness_die("no folder");
	target_start(&target, "elsewhere", "chroot", program, root, NULL);
	check_placed(target.pid, false);
	check_placed(target.pid, true);
	target_finish(&target, NULL);
	free(root);
	free(program);
}

static void
in_memory(void)
{
	char *program = path_of("placed");
	struct target target;

	harness_case("a program in memory");
	target_start(&target, "elsewhere", "memfd", program, "a name", NULL);
	check_placed(target.pid, false);
	check_placed(target.pid, true);
	target_finish(&target, NULL);
	free(program);
}

/* Started from a path, at which something else happens then. */
static void
gone_program(const char *what, const char *instead)
{
	char *program = path_of("placed");
	char *path = strdup(in_folder("gone"));
	char *other = strdup(in_folder("other"));
	struct target target;

	harness_case("a program that was %s", what);
	if (path == NULL || other == NULL)
		harness_die("no memory");
	target_start(&target, "elsewhere", "copy", program, path, NULL);
	if (instead == NULL) {
		unlink(path);
	} else {
		copy_file(target_path(instead), other);
		if (rename(other, path) != 0)
			harness_die("cannot rename: %s", strerror(errno));
	}
	check_placed(target.pid, false);
	check_placed(target.pid, true);
	target_finish(&target, NULL);
	unlink(path);
	free(program);
	free(path);
	free(other);
}

/* --- libraries ---------------------------------------------------------------------- */

static const char in_library[] = "swapper_stays;swap_run;swap_a_outer;swap_a_inner;...";

static void
check_library(pid_t pid, bool few)
{
	struct folded folded;

	harness_note("wallsample %s /proc/PID/map_files", few ? "without" : "with");
	sample_with(&folded, few, pid);
	folded_check_thread(&folded, inspect_thread_named(pid, "swapper", 1), in_library);
	folded_release(&folded);
}

/* It is not known, is not taken for what stands there now, and the report says so. */
static void
check_unknown(pid_t pid, const char *name, const char *path, const char *why)
{
	const pid_t tid = inspect_thread_named(pid, "swapper", 1);
	struct folded folded;

	harness_note("wallsample without /proc/PID/map_files");
	sample_with(&folded, true, pid);
	CHECK(!folded_has_frame(&folded, tid, "swap_"), "names are taken from another file");
	CHECK(folded_all_late(&folded, tid) || folded_weight(&folded, tid, name) > 0,
	      "no frame in %s", name);
	folded_release(&folded);
	check_told(true, pid, path, why);
}

static void
replaced_library(void)
{
	char *first = path_of("swap_a.so"), *second = path_of("swap_b.so");
	char *path = strdup(in_folder("swapped.so")), *other = strdup(in_folder("other"));
	struct target target;

	harness_case("a library that was replaced by an upgrade");
	if (path == NULL || other == NULL)
		harness_die("no memory");
	copy_file(first, path);
	target_start(&target, "swapper", "file", path, NULL);
	copy_file(second, other);
	if (rename(other, path) != 0)
		harness_die("cannot rename: %s", strerror(errno));
	check_library(target.pid, false);
	if (geteuid() == 0)
		check_unknown(target.pid, "swapped.so*", path, "deleted or replaced");
	target_finish(&target, NULL);
	free(first);
	free(second);
	free(path);
	free(other);
}

/*
 * Written over while it is sampled, as cp does it: the file is the same, its names are others.
 * (Both libraries have the same code, so that the target does not mind.)
 */
static void
overwritten_library(void)
{
	char *first = path_of("swap_a.so"), *second = path_of("swap_b.so");
	char *path = strdup(in_folder("overwritten.so"));
	char command[2 * PATH_MAX + 32];
	struct target target;
	struct folded folded;
	struct run run;

	harness_case("a library that was written over while it was sampled");
	if (path == NULL)
		harness_die("no memory");
	copy_file(first, path);
	target_start(&target, "swapper", "file", path, NULL);
	const pid_t tid = inspect_thread_named(target.pid, "swapper", 1);
	run_start(&run, target.pid, NULL);
	if (!run_wait_sampling(&run))
		harness_die("no sampling: %s", run.err);
	snprintf(command, sizeof(command), "dd if='%s' of='%s' conv=notrunc status=none", second,
		 path);
	if (system(command) != 0)
		harness_die("cannot write %s", path);
	kill(run.pid, SIGINT);
	run_finish(&run);
	CHECK(strstr(run.err, path) != NULL, "wallsample does not name the file: %s", run.err);
	folded_of_run(&folded, &run);
	CHECK(!folded_has_frame(&folded, tid, "swap_"), "names are of the file as it is now");
	folded_release(&folded);
	target_finish(&target, NULL);
	free(first);
	free(second);
	free(path);
}

static void
library_in_memory(void)
{
	char *library = path_of("swap_a.so");
	struct target target;

	harness_case("a library in memory");
	target_start(&target, "swapper", "memory", library, NULL);
	check_library(target.pid, false);
	check_library(target.pid, true);
	target_finish(&target, NULL);
	harness_case("a library in memory whose descriptor is closed");
	target_start(&target, "swapper", "closed", library, NULL);
	check_library(target.pid, false);
	if (geteuid() == 0)
		check_unknown(target.pid, "memfd:swapped*", "/memfd:swapped",
			      "deleted or replaced");
	target_finish(&target, NULL);
	free(library);
}

static void
shared_memory(void)
{
	struct target target;
	struct folded folded;

	harness_case("code in shared memory without a file");
	target_start(&target, "swapper", "shared", "-", NULL);
	sample_with(&folded, false, target.pid);
	folded_check_thread(&folded, inspect_thread_named(target.pid, "swapper", 1),
			    "...;[anon]*$");
	folded_release(&folded);
	target_finish(&target, NULL);
}

/* --- libraries in turn -------------------------------------------------------------- */

enum { IN_FIRST, IN_SECOND, SAME_ADDRESS, OTHER_ADDRESS };

static void
in_turn(void)
{
	char *first = path_of("swap_a.so"), *second = path_of("swap_b.so");
	uint64_t before[4], spent[4];
	struct target target;
	struct folded folded;
	struct run run;

	harness_case("two libraries that take the same addresses in turn");
	target_start(&target, "swapper", "swap", first, second, NULL);
	const pid_t tid = inspect_thread_named(target.pid, "swapper", 1);
	run_start(&run, target.pid, "-r", "200", "-d", "4", NULL);
	run_wait_sampling(&run);
	for (size_t i = 0; i < 4; i++)
		before[i] = target.counter[i];
	run_finish(&run);
	for (size_t i = 0; i < 4; i++)
		spent[i] = target.counter[i] - before[i];
	printf("  %ju times at the same address, %ju times at another\n",
	       (uintmax_t)spent[SAME_ADDRESS], (uintmax_t)spent[OTHER_ADDRESS]);
	folded_of_run(&folded, &run);
	const double whole = (double)(spent[IN_FIRST] + spent[IN_SECOND]);
	const double a = (double)folded_weight(&folded, tid, "swap_a_outer;swap_a_inner");
	const double b = (double)folded_weight(&folded, tid, "swap_b_outer;swap_b_inner");
	const double truth = (double)spent[IN_FIRST] / whole, share = a / (a + b);
	const double bound = harness_share_bound(truth, (double)folded.ticks);

	bool good = CHECK(a + b > 0, "no sample in either library");
	good &= CHECK(share > truth - bound && share < truth + bound,
		      "the first has %.3f of the samples, %.3f of the time (+-%.3f)", share, truth,
		      bound);
	good &= CHECK(folded_weight(&folded, tid, "swap_a_outer;swap_b_inner") == 0 &&
			      folded_weight(&folded, tid, "swap_b_outer;swap_a_inner") == 0,
		      "a stack is of both");
	if (!good)
		folded_print(&folded, tid, 8);
	folded_release(&folded);
	target_finish(&target, NULL);
	free(first);
	free(second);
}

int
main(void)
{
	char command[80];

	harness_begin(120);
	snprintf(folder, sizeof(folder), "/tmp/wallsample-files.XXXXXX");
	if (mkdtemp(folder) == NULL)
		harness_die("no folder: %s", strerror(errno));
	own_mounts();
	other_root();
	in_memory();
	gone_program("deleted", NULL);
	gone_program("replaced by another", "mangled");
	replaced_library();
	overwritten_library();
	library_in_memory();
	shared_memory();
	in_turn();
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	if (system(command) != 0)
		printf("%s is left behind\n", folder);
	return harness_end();
}
