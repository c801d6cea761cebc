/* SPDX-License-Identifier: MIT */
/* The rows of the bench, each with the bound that it is held against. */
#include "bench_rows.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "bench_judge.h"

/* descend() of the blocked threads; with those of libc around it 30 frames. */
#define BLOCKED_DEPTH "24"

/* --- commands ------------------------------------------------------------------- */

static const char *
program(const struct bench *bench, const char *name)
{
	static char path[4][4096]; /* a few at a time: each row starts two or three */
	static unsigned next;
	char *to = path[next++ % 4];

	snprintf(to, sizeof(path[0]), "%s/%s", bench->folder, name);
	return to;
}

static struct words
make_words(const char *const *word)
{
	struct words words = { .count = 0 };

	for (; *word != NULL; word++)
		words_add(&words, *word);
	return words;
}

#define WORDS(...) make_words((const char *const[]){ __VA_ARGS__, NULL })

/* --max-overhead out of the way: what is asked is what it costs at the full rate. Not so
 * where many threads are at work: there it is part of the answer. */
static struct words
wallsample_words(const struct bench *bench, const struct target *target, const char *rate)
{
	return WORDS(bench->wallsample, "-p", target->pid, "-r", rate, "--max-overhead",
		     bench->keeps_overhead ? "5" : "100");
}

static bool
begin(const struct bench *bench, struct target *target, const struct words *words)
{
	if (target_start(target, words, bench->board))
		return true;
	printf("  skipped: the target could not be started\n");
	return false;
}

/* --- what most rows print ------------------------------------------------------------ */

static void
print_arm(const struct arm *arm)
{
	struct summary s = series_summary(&arm->ratio);

	if (s.count == 0)
		printf("  target with %-10s not measured\n", arm->name);
	else
		printf("  target with %-10s %.4f +- %.4f  (%.4f to %.4f in %zu turns)\n",
		       arm->name, s.median, s.error, s.low, s.high, s.count);
}

/* Ours first, then the floor; floor_words may be empty. Returns ours. */
static struct summary
compare(const struct bench *bench, const struct target *target, const char *rate,
	const struct words *floor_words, struct summary *floor)
{
	struct arm arms[2] = { { .name = "wallsample" }, { .name = "the floor" } };
	size_t first = bench->wallsample == NULL ? 1 : 0;
	size_t end = floor_words->count > 0 ? 2 : 1;
	struct series rest = { .count = 0 };
	struct arm nothing = { .name = "nothing" };

	arms[0].words = wallsample_words(bench, target, rate);
	arms[1].words = *floor_words;
	if (first < end)
		measure_arms(&bench->measure, target, arms + first, end - first, &rest);
	for (size_t i = first; i < end; i++)
		print_arm(&arms[i]);
	nothing.ratio = rest;
	print_arm(&nothing);
	if (floor != NULL)
		*floor = series_summary(&arms[1].ratio);
	return series_summary(&arms[0].ratio);
}

static void
print_run(const struct profile_run *run)
{
	printf("  sampler: %.1f Hz reached; %.2f %% of a CPU by its report, %.2f %% by wait4 with "
	       "start and report, %.2f %% once warm\n",
	       run->rate, run->own_cpu, run->cpu, run->cpu_steady);
	if (run->stop_median_us >= 0)
		printf("  stopped: median %.1f us, p99 %.1f us\n", run->stop_median_us,
		       run->stop_p99_us);
	if (run->unwind_ns >= 0)
		printf("  unwinding: %.0f ns a frame\n", run->unwind_ns);
	printf("  memory: %.1f MiB at most\n", run->peak_kib / 1024);
}

static struct floor_stops
look_at_floor(const struct bench *bench, const struct words *floor_words)
{
	struct floor_stops stops;
	struct words words = *floor_words;
	struct tool_end end;
	char seconds[32];

	snprintf(seconds, sizeof(seconds), "%.2f", bench->profile_seconds / 2);
	words_add(&words, "-d");
	words_add(&words, seconds);
	tool_run(&words, 60, &end);
	printf("  the floor: %s", end.out);
	stops.median_us = find_number(end.out, "median ([0-9.]+) us", 1);
	stops.p99_us = find_number(end.out, "p99 ([0-9.]+) us", 1);
	tool_end_release(&end);
	return stops;
}

/* A longer run of wallsample for its own figures. False: there is none. */
static bool
look_at_sampler(const struct bench *bench, const struct target *target, const char *rate,
		double seconds, struct profile_run *run)
{
	struct words words = wallsample_words(bench, target, rate);

	if (bench->wallsample == NULL)
		return false;
	words_add(&words, "--no-jitter"); /* what is late then shows in the rate */
	profile_run(&words, seconds, run);
	if (run->finished)
		print_run(run);
	return run->finished;
}

/* --- the rows ----------------------------------------------------------------- */

static void
run_one_busy(struct bench *bench, const char *rate)
{
	struct words words = WORDS(program(bench, "bench_busy"), bench->board, "1", "0", "1", "0");
	struct summary ours, floor;
	struct floor_stops stops;
	struct profile_run run;
	struct target target;

	if (!begin(bench, &target, &words))
		return;
	words = WORDS(program(bench, "bench_floor"), "-p", target.pid, "-r", rate, "-t",
		      target.tids);
	ours = compare(bench, &target, rate, &words, &floor);
	judge_against_floor(bench, &ours, &floor);
	stops = look_at_floor(bench, &words);
	if (look_at_sampler(bench, &target, rate, bench->profile_seconds, &run))
		judge_stops(bench, &run, &stops, 15, 100);
	target_stop(&target);
}

static void
run_one_100(struct bench *bench)
{
	run_one_busy(bench, "100");
}

static void
run_one_1000(struct bench *bench)
{
	run_one_busy(bench, "1000");
}

static void
run_pool(struct bench *bench)
{
	struct words words = WORDS(program(bench, "bench_busy"), bench->board, "8", "0", "1", "2");
	struct floor_stops stops;
	struct profile_run run;
	struct target target;

	if (!begin(bench, &target, &words))
		return;
	words = WORDS(program(bench, "bench_floor"), "-p", target.pid, "-r", "100", "-t",
		      target.tids);
	compare(bench, &target, "100", &words, NULL);
	stops = look_at_floor(bench, &words);
	if (look_at_sampler(bench, &target, "100", bench->profile_seconds, &run))
		judge_stops(bench, &run, &stops, 30, 200);
	target_stop(&target);
}

static void
judge_never_stopped(struct bench *bench, uint64_t switches)
{
	judge(bench, switches == 0 ? MET : MISSED,
	      "blocked threads were made to run %llu times, wanted 0",
	      (unsigned long long)switches);
}

static void
run_blocked(struct bench *bench, const char *blocked, double cpu_bound)
{
	struct words words = WORDS(program(bench, "bench_busy"), bench->board, "1", blocked,
				   BLOCKED_DEPTH, "0");
	uint64_t switches;
	struct profile_run run;
	struct summary ours;
	struct target target;

	if (!begin(bench, &target, &words))
		return;
	words = WORDS(program(bench, "bench_floor"), "-p", target.pid, "-r", "100", "-t",
		      target.tids, "-s");
	ours = compare(bench, &target, "100", &words, NULL);
	judge_no_loss(bench, &ours);
	switches = target_switches_of_blocked(&target);
	if (look_at_sampler(bench, &target, "100", 2 * bench->profile_seconds, &run)) {
		judge_never_stopped(bench, target_switches_of_blocked(&target) - switches);
		judge_at_most(bench, run.cpu, cpu_bound, "sampler, by wait4,", "% of a CPU");
		judge(bench, run.rate >= 99 ? MET : MISSED, "%.1f Hz reached, wanted 100",
		      run.rate);
	}
	target_stop(&target);
}

static void
run_blocked_1000(struct bench *bench)
{
	run_blocked(bench, "1000", 5);
}

static void
run_blocked_5000(struct bench *bench)
{
	run_blocked(bench, "5000", 25);
}

static void
run_handover(struct bench *bench, const char *ring, const char *tokens)
{
	struct words words = WORDS(program(bench, "bench_handover"), bench->board, "100", ring,
				   tokens, "0");
	struct profile_run run;
	struct summary ours;
	struct target target;

	if (!begin(bench, &target, &words))
		return;
	words = WORDS(program(bench, "bench_floor"), "-p", target.pid, "-r", "100", "-m");
	bench->keeps_overhead = true;
	ours = compare(bench, &target, "100", &words, NULL);
	judge_share(bench, &ours, 0.97, "of the handovers");
	look_at_sampler(bench, &target, "100", bench->profile_seconds, &run);
	bench->keeps_overhead = false;
	target_stop(&target);
}

static void
run_pairs(struct bench *bench)
{
	run_handover(bench, "2", "1");
}

static void
run_ring(struct bench *bench)
{
	run_handover(bench, "100", "8");
}

static void
run_churn(struct bench *bench)
{
	struct words words = WORDS(program(bench, "bench_churn"), bench->board);
	struct words none = { .count = 0 };
	struct profile_run run;
	struct target target;

	if (!begin(bench, &target, &words))
		return;
	printf("  %.0f threads a second undisturbed\n", measure_rate(&target, 0.5));
	compare(bench, &target, "100", &none, NULL);
	look_at_sampler(bench, &target, "100", bench->profile_seconds, &run);
	target_stop(&target);
}

/* Threads that move all the time with deep stacks: what is warm stays warm. */
static void
run_unwinding(struct bench *bench)
{
	struct words words = WORDS(program(bench, "bench_handover"), bench->board, "100", "100",
				   "8", "24");
	struct profile_run run;
	struct target target;

	if (!begin(bench, &target, &words))
		return;
	if (look_at_sampler(bench, &target, "100", bench->profile_seconds, &run))
		judge_at_most(bench, run.unwind_ns, 500, "unwinding", "ns a frame");
	target_stop(&target);
}

static void
run_memory(struct bench *bench)
{
	struct words words = WORDS(program(bench, "bench_busy"), bench->board, "1", "1000",
				   BLOCKED_DEPTH, "0");
	struct profile_run run;
	struct target target;

	if (!begin(bench, &target, &words))
		return;
	if (look_at_sampler(bench, &target, "100", bench->memory_seconds, &run)) {
		judge_at_most(bench, run.peak_kib / 1024, 64, "memory at most", "MiB");
		judge(bench, run.late_kib - run.early_kib <= 256 ? MET : MISSED,
		      "%.0f KiB after %.0f s, %.0f after %.0f s, wanted flat", run.early_kib,
		      bench->memory_seconds / 4, run.late_kib, bench->memory_seconds);
	}
	target_stop(&target);
}

/* --- one dump of all stacks by others ------------------------------------------- */

static void
time_dump(const struct target *target, const char *name, const struct words *words)
{
	uint64_t units, begin_ns = bench_now_ns();
	struct tool_end end;
	double with, without;

	if (strchr(words->word[0], '/') == NULL && !tool_exists(words->word[0])) {
		printf("  %-10s is not installed\n", name);
		return;
	}
	without = measure_rate(target, 0.5);
	units = board_total(target->board);
	begin_ns = bench_now_ns();
	tool_run(words, 120, &end);
	with = (double)(board_total(target->board) - units) /
	       ((double)(bench_now_ns() - begin_ns) / 1e9);
	printf("  %-10s %7.0f ms, %.0f %% of a CPU; the busy thread meanwhile at %.3f of its speed"
	       "%s\n",
	       name, 1000 * end.seconds, 100 * end.cpu_seconds / end.seconds, with / without,
	       end.timed_out ? " (killed after two minutes)" : "");
	tool_end_release(&end);
}

static void
run_dump(struct bench *bench)
{
	struct words words = WORDS(program(bench, "bench_busy"), bench->board, "1", "1000",
				   BLOCKED_DEPTH, "0");
	struct target target;

	if (!begin(bench, &target, &words))
		return;
	if (bench->wallsample != NULL) {
		words = WORDS(bench->wallsample, "-p", target.pid, "-d", "10ms");
		time_dump(&target, "wallsample", &words);
	}
	words = WORDS("eu-stack", "-p", target.pid);
	time_dump(&target, "eu-stack", &words);
	words = WORDS("gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-p",
		      target.pid, "-ex", "thread apply all backtrace");
	time_dump(&target, "gdb", &words);
	target_stop(&target);
}

/* --- Python: the one target that austinp is made for --------------------------------- */

static void
run_python(struct bench *bench)
{
	static const char script[] =
		"import mmap, os, struct, sys, threading\n"
		"f = open(sys.argv[1], 'r+b')\n"
		"board = mmap.mmap(f.fileno(), 0)\n"
		"def work(n):\n"
		"    return sum(i * i for i in range(n))\n"
		"def busy():\n"
		"    count = 0\n"
		"    while True:\n"
		"        work(200)\n"
		"        count += 1\n"
		"        struct.pack_into('<Q', board, 0, count)\n"
		"threading.Thread(target=busy, daemon=True).start()\n"
		"print('ready', os.getpid(), '-', flush=True)\n"
		"sys.stdin.read()\n"
		"os._exit(0)\n";
	struct words words = WORDS("python3", "-c", script, bench->board);
	struct arm arms[2] = { { .name = "wallsample" },
				{ .name = "austinp", .duration = "-x" } };
	size_t first = bench->wallsample == NULL ? 1 : 0;
	size_t end = tool_exists("austinp") ? 2 : 1;
	struct target target;

	if (!tool_exists("python3")) {
		printf("  skipped: python3 is not installed\n");
		return;
	}
	if (!begin(bench, &target, &words))
		return;
	arms[0].words = wallsample_words(bench, &target, "100");
	arms[1].words = WORDS("austinp", "-i", "10000", "-o", "/dev/null", "-p", target.pid);
	if (first < end)
		measure_arms(&bench->measure, &target, arms + first, end - first, NULL);
	for (size_t i = first; i < end; i++)
		print_arm(&arms[i]);
	if (end == 1)
		printf("  austinp is not installed\n");
	target_stop(&target);
}

const struct row bench_rows[] = {
	{ "one-100", "one running thread, 100 Hz", run_one_100 },
	{ "one-1000", "one running thread, 1,000 Hz", run_one_1000 },
	{ "pool", "8 running threads on 2 CPUs, 100 Hz", run_pool },
	{ "blocked-1000", "1 running and 1,000 blocked threads, 30 frames deep, 100 Hz",
	  run_blocked_1000 },
	{ "blocked-5000", "1 running and 5,000 blocked threads, 30 frames deep, 100 Hz",
	  run_blocked_5000 },
	{ "pairs", "100 threads in 50 pairs that hand work over and back, 100 Hz", run_pairs },
	{ "ring", "100 threads in a ring that hand eight pieces of work round, 100 Hz", run_ring },
	{ "churn", "threads created and joined, 100 Hz", run_churn },
	{ "unwinding", "unwinding, warm: 100 threads that move, 30 frames deep", run_unwinding },
	{ "memory", "memory, 1,000 threads", run_memory },
	{ "dump", "one dump of 1,000 stacks of 30 frames", run_dump },
	{ "python", "one Python thread, 100 Hz", run_python },
	{ NULL, NULL, NULL },
};
