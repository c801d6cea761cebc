/* SPDX-License-Identifier: MIT */
/*
 * test_tasks.c - tasks that a runtime schedules on threads, as targets/sim_tasks.c has them: each
 * is sampled at each tick, whether a thread runs it or not, with its own stack and nobody else's.
 */
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "sim_run.h"
#include "sim_runtime.h"
#include "wallsample/unwind/chain.h"

#define BOTTOM "sim_bottom;"
#define PARKED "sim_park;sim_switch"
#define YIELDED "sim_yield;sim_switch"
#define RED BOTTOM "change;red_1;red_2;red_3;" YIELDED
#define BLUE BOTTOM "change;blue_1;blue_2;blue_3;" YIELDED
#define TAKERS 50
#define READY 5
/* In the order of its words: see sim_tasks.c. */
enum { DEEP = TAKERS + 1, SPIN, READER, FOREIGN, FIRST_READY, STILL = FIRST_READY + READY - 1 };

/* What a profile has of one task, all its stacks together; times in ns. */
struct seen {
	uint64_t entries, samples, carried;
	uint64_t places; /* number of changes of the stack from one entry to the next, plus 1 */
	double ns[WEIGHT_COUNT];
	char stack[1024];        /* of the last entry, as its other words */
	const char *entry;
	enum run_state state;
	uint32_t wait;
};

static void
see(struct sim_run *run, const struct profile_entry *entry, struct seen *seen)
{
	const struct profile_thread *thread = profile_thread(run->profile, entry->thread);
	const char *stack = sim_run_stack(run, run->profile, entry->stack);

	seen->places += seen->entries == 0 || strcmp(seen->stack, stack) != 0;
	seen->entries++;
	seen->samples += (uint64_t)entry->samples;
	seen->carried += entry->carrier != 0;
	for (int w = 0; w < WEIGHT_COUNT; w++)
		seen->ns[w] += (double)entry->ns[w];
	snprintf(seen->stack, sizeof(seen->stack), "%s", stack);
	seen->entry = sim_run_frame(run, run->profile, thread->entry);
	seen->state = entry->state;
	seen->wait = entry->wait;
}

static const char *
by_count(bool counts)
{
	return counts ? ", and are counted" : "";
}

static bool
is_of(struct sim_run *run, const struct profile_entry *entry, uint64_t id)
{
	const struct profile_thread *thread = profile_thread(run->profile, entry->thread);

	return thread->is_green && thread->green_id == id;
}

static struct seen
see_task(struct sim_run *run, uint64_t id)
{
	struct seen seen = { .entry = "" };

	for (size_t i = 0; i < profile_entry_count(run->profile); i++) {
		const struct profile_entry *entry = profile_entry(run->profile, i);

		if (is_of(run, entry, id) && (entry->samples != 0 || entry->ns[WEIGHT_WALL] != 0))
			see(run, entry, &seen);
	}
	return seen;
}

static double
sum_of(const struct sim_run *run, enum weight weight, bool tasks_only)
{
	double sum = 0;

	for (size_t i = 0; i < profile_entry_count(run->profile); i++) {
		const struct profile_entry *entry = profile_entry(run->profile, i);

		if (!tasks_only || profile_thread(run->profile, entry->thread)->is_green)
			sum += (double)entry->ns[weight];
	}
	return sum;
}

static void
say_failures(const struct sim_run *run)
{
	for (int i = 0; i < FAILURE_COUNT; i++)
		if (run->stats.failed[i] > 0)
			printf("  %llu %s\n", (unsigned long long)run->stats.failed[i],
			       sample_failure_text((enum sample_failure)i));
}

static void
finish(struct target *target)
{
	const int status = target_finish(target, NULL);

	CHECK(status == 0, "the target has ended with 0x%x", (unsigned)status);
}

/* --- who stays where it is -------------------------------------------------------------------- */

static void
start_still(struct target *target)
{
	target_start(target, "sim_tasks", "3", "taker=50", "deep=1", "spin=1", "reader=1",
		     "foreign=1", "ready=5", NULL);
}

static void
taker_stack(uint64_t id, char *text, size_t size)
{
	const bool is_deep = id == DEEP;
	const uint64_t calls = is_deep ? 100 : 1 + id % 8;
	size_t length = (size_t)snprintf(text, size, BOTTOM "%s;", is_deep ? "deep" : "taker");

	for (uint64_t i = 0; i < calls; i++)
		length += (size_t)snprintf(text + length, size - length,
					   is_deep ? "dig;" : "descend;");
	snprintf(text + length, size - length, "take;" PARKED);
}

/* All of its time is in one stack. */
static void
check_whole(const struct sim_run *run, uint64_t id, const struct seen *seen, const char *stack)
{
	CHECK(strcmp(seen->stack, stack) == 0, "task %llu: %s, not %s", (unsigned long long)id,
	      seen->stack, stack);
	CHECK(seen->places == 1, "task %llu is in %llu places", (unsigned long long)id,
	      (unsigned long long)seen->places);
	CHECK(seen->ns[WEIGHT_WALL] == (double)profile_wall_ns(run->profile),
	      "task %llu: %.0f ns of %llu", (unsigned long long)id, seen->ns[WEIGHT_WALL],
	      (unsigned long long)profile_wall_ns(run->profile));
	CHECK(seen->samples == profile_tick_count(run->profile), "task %llu: %llu samples of %llu",
	      (unsigned long long)id, (unsigned long long)seen->samples,
	      (unsigned long long)profile_tick_count(run->profile));
}

static void
check_parked(struct sim_run *run)
{
	for (uint64_t id = 1; id <= DEEP; id++) {
		const struct seen seen = see_task(run, id);
		const struct profile_wait *wait = profile_wait(run->profile, seen.wait);
		char stack[1024];

		taker_stack(id, stack, sizeof(stack));
		check_whole(run, id, &seen, stack);
		CHECK(seen.state == RUN_SLEEPING && seen.carried == 0 &&
			      seen.ns[WEIGHT_CPU] == 0,
		      "task %llu is %s", (unsigned long long)id, run_state_text(seen.state));
		CHECK(wait->kind == WAIT_GREEN && wait->most == DEEP &&
			      strcmp(sim_run_frame(run, run->profile, wait->object),
				     SIM_CHANNEL_TEXT) == 0,
		      "task %llu waits otherwise", (unsigned long long)id);
		CHECK(strcmp(seen.entry, id == DEEP ? "deep" : "taker") == 0,
		      "task %llu began with %s", (unsigned long long)id, seen.entry);
	}
}

static void
check_ready(struct sim_run *run)
{
	for (uint64_t id = FIRST_READY; id <= STILL; id++) {
		const struct seen seen = see_task(run, id);

		check_whole(run, id, &seen, BOTTOM "ready");
		CHECK(seen.state == RUN_READY && seen.wait == 0, "task %llu is %s",
		      (unsigned long long)id, run_state_text(seen.state));
	}
	CHECK(profile_ready_most(run->profile) == READY &&
		      profile_ready_ns(run->profile) ==
			      READY * (double)profile_wall_ns(run->profile),
	      "%u ready at most, for %.3f s", profile_ready_most(run->profile),
	      profile_ready_ns(run->profile) / 1e9);
}

/* It is in this stack, or waits in it until the kernel has brought back a page of its code. */
static bool
is_in(const char *text, const char *stack)
{
	static const char fault[] = "[waiting];[sleeping in a page fault";
	const char *at = strstr(text, stack);

	return at != NULL && strcmp(at, stack) == 0 &&
	       (at == text || strncmp(text, fault, strlen(fault)) == 0);
}

/* Of a task that keeps a thread: what could be seen is in this stack, and the time is whole. */
static void
check_run(struct sim_run *run, uint64_t id, const char *stack)
{
	const struct seen seen = see_task(run, id);

	CHECK(seen.ns[WEIGHT_WALL] == (double)profile_wall_ns(run->profile),
	      "task %llu: %.0f ns of %llu", (unsigned long long)id, seen.ns[WEIGHT_WALL],
	      (unsigned long long)profile_wall_ns(run->profile));
	CHECK(seen.carried == seen.entries, "task %llu is seen without its thread",
	      (unsigned long long)id);
	for (size_t i = 0; i < profile_entry_count(run->profile); i++) {
		const struct profile_entry *entry = profile_entry(run->profile, i);
		const char *text = sim_run_stack(run, run->profile, entry->stack);

		/* Of a hundred samples none may be of a sleep that takes 3 % of the time. */
		if (strstr(text, PROFILE_UNSAMPLED_BLOCKED) != NULL &&
		    (double)entry->ns[WEIGHT_WALL] < 0.03 * seen.ns[WEIGHT_WALL])
			continue;
		if (is_of(run, entry, id))
			CHECK(is_in(text, stack) || strncmp(text, "[failed", 7) == 0,
			      "task %llu: %s, not %s", (unsigned long long)id, text, stack);
	}
}

/* On two CPUs two tasks burn time; a rival may have some of it. As in test_sums. */
static void
check_weights(const struct sim_run *run)
{
	const double wall = (double)profile_wall_ns(run->profile);
	const double cpu = (double)run->stats.target_cpu_ns;
	const double bound = 2 * wall * harness_share_bound(fmin(cpu / wall / 2, 1),
							   (double)run->stats.ticks) + 0.2 * cpu;
	const double overhead = sum_of(run, WEIGHT_CPU, false);
	const double latency = sum_of(run, WEIGHT_LATENCY, false);

	printf("  %.3f s of CPU time, in truth %.3f +- %.3f; %.3f s of Latency in %.3f s\n",
	       overhead / 1e9, cpu / 1e9, bound / 1e9, latency / 1e9, wall / 1e9);
	CHECK(fabs(overhead - cpu) <= bound, "%.3f s of CPU time, in truth %.3f +- %.3f",
	      overhead / 1e9, cpu / 1e9, bound / 1e9);
	CHECK(fabs(latency - wall) <= 0.001 * wall, "%.3f s of Latency in %.3f s", latency / 1e9,
	      wall / 1e9);
}

static void
test_still(const struct target *target, bool counts)
{
	const struct sim_wish wish = { .rate_hz = 200, .ticks = 300, .counts = counts };
	struct sim_run run;

	harness_case("tasks that stay where they are%s", by_count(counts));
	sim_run(&run, target->pid, &wish);
	check_parked(&run);
	check_ready(&run);
	check_run(&run, SPIN, BOTTOM "spin;spin_leaf");
	check_run(&run, READER, BOTTOM "reader;reader_leaf");
	check_run(&run, FOREIGN,
		  BOTTOM "foreign;sim_call_foreign;sim_switch;sim_foreign;foreign_spin");
	check_weights(&run);
	/* All but those that threads run have none. */
	CHECK(run.stats.green_seen == STILL && run.stats.green_most == DEEP + READY &&
		      run.stats.green_thinnest == 1,
	      "%llu tasks seen, %u at once", (unsigned long long)run.stats.green_seen,
	      run.stats.green_most);
	/* Who waits is walked once. */
	CHECK(run.stats.green_stacks == DEEP + READY, "%llu stacks were walked",
	      (unsigned long long)run.stats.green_stacks);
	say_failures(&run);
	sim_run_release(&run);
}

static void
test_nonblocking(const struct target *target)
{
	const struct sim_wish wish = { .rate_hz = 200, .ticks = 100, .nonblocking = true };
	struct sim_run run;

	harness_case("nothing is stopped");
	sim_run(&run, target->pid, &wish);
	check_parked(&run);
	check_ready(&run);
	check_run(&run, READER, BOTTOM "reader;reader_leaf");
	for (uint64_t id = SPIN; id <= FOREIGN; id += FOREIGN - SPIN) {
		const struct seen seen = see_task(&run, id);

		check_whole(&run, id, &seen, sample_failure_text(FAILURE_NOT_STOPPED));
	}
	sim_run_release(&run);
}

static void
test_threads_only(const struct target *target)
{
	const struct sim_wish wish = { .rate_hz = 200, .ticks = 100, .threads_only = true };
	const char *const stacks[] = {
		BOTTOM "spin;spin_leaf", BOTTOM "reader;reader_leaf",
		BOTTOM "foreign;sim_call_foreign;sim_switch;sim_foreign;foreign_spin", "main",
	};
	uint64_t found = 0;
	struct sim_run run;
	double wall;

	harness_case("threads alone");
	sim_run(&run, target->pid, &wish);
	wall = (double)profile_wall_ns(run.profile);
	CHECK(sum_of(&run, WEIGHT_WALL, true) == 0 && run.stats.green_seen == 0,
	      "%.0f ns are tasks'", sum_of(&run, WEIGHT_WALL, true));
	CHECK(sum_of(&run, WEIGHT_WALL, false) == 4 * wall, "%.3f s of 4 threads in %.3f",
	      sum_of(&run, WEIGHT_WALL, false) / 1e9, wall / 1e9);
	for (size_t i = 0; i < profile_entry_count(run.profile); i++) {
		const struct profile_entry *entry = profile_entry(run.profile, i);
		const char *text = sim_run_stack(&run, run.profile, entry->stack);

		CHECK(entry->carrier == 0, "a thread's sample has a carrier");
		for (size_t s = 0; s < 4; s++)
			if (strstr(text, stacks[s]) != NULL)
				found |= UINT64_C(1) << s;
	}
	CHECK(found == 15, "stacks were not found: 0x%llx", (unsigned long long)(15 - found));
	sim_run_release(&run);
}

/* --- who does not ------------------------------------------------------------------------ */

/* Without what says that a stack is of a wait that ended a time in which nobody ran. */
static const char *
without_gap(const char *text)
{
	const char *behind = strncmp(text, PROFILE_GAP, strlen(PROFILE_GAP)) == 0 ?
				     strstr(text, ";" BOTTOM) : NULL;

	return behind != NULL ? behind + 1 : text;
}

static bool
begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/*
 * Is it a way from the first function towards the last? Behind it comes, of one that a thread is
 * about to run or has just left, what that thread does.
 */
static bool
is_way(const char *text, const char *whole, bool carried)
{
	static const char call[] = ";sim_worker";
	const size_t length = strlen(whole);
	const char *thread = strstr(text, ";target_thread_main");
	const size_t own = thread != NULL ? (size_t)(thread - text) : strlen(text);

	if (!carried)
		return strcmp(text, whole) == 0;
	/* For some instructions of swapcontext(3) its table tells of the other stack. */
	if (text[0] == '\0')
		return true;
	if (own <= length && strncmp(text, whole, own) == 0 &&
	    (whole[own] == ';' || whole[own] == '\0'))
		return true;
	/* What the runtime calls on its way. */
	return own > strlen(call) && strncmp(text + own - strlen(call), call, strlen(call)) == 0 &&
	       strncmp(text, whole, own - strlen(call)) == 0;
}

/* swapcontext(3) "returns" to the beginning of what has not begun, where no call was: it is guessed
 * from where that was called. The walk says so of such frames. */
static bool
is_guessed(const struct sim_run *run, uint32_t stack)
{
	while (stack != STACK_NONE) {
		const struct profile_stack *at = profile_stack(run->profile, stack);

		if (profile_frame(run->profile, at->frame)->origin == FRAME_GUESS)
			return true;
		stack = at->caller;
	}
	return false;
}

/* A target that runs while it is looked at: on another CPU than we. False: there is none. */
static bool
start_aside(struct target *target, const char *word, cpu_set_t *before)
{
	cpu_set_t all, one;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(all), &all) != 0 || CPU_COUNT(&all) < 2)
		return false;
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	target_start(target, "sim_tasks", "1", word, NULL);
	one = all;
	CPU_CLR(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	*before = all;
	return true;
}

static void
test_change(bool counts)
{
	const struct sim_wish wish = { .rate_hz = 500, .ticks = 600, .counts = counts };
	uint64_t impossible = 0, failed = 0, all = 0, carried = 0;
	struct target target;
	cpu_set_t cpus;
	struct sim_run run;

	harness_case("stacks that change%s", by_count(counts));
	if (!start_aside(&target, "change=40", &cpus)) {
		harness_skip("there is one CPU");
		return;
	}
	sim_run(&run, target.pid, &wish);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	for (size_t i = 0; i < profile_entry_count(run.profile); i++) {
		const struct profile_entry *entry = profile_entry(run.profile, i);
		const char *text = without_gap(sim_run_stack(&run, run.profile, entry->stack));
		const uint64_t samples = (uint64_t)entry->samples;

		if (!profile_thread(run.profile, entry->thread)->is_green)
			continue;
		all += samples;
		carried += entry->carrier != 0 ? samples : 0;
		if (begins(text, "[failed"))
			failed += samples;
		else if (!is_way(text, RED, entry->carrier != 0) &&
			 !is_way(text, BLUE, entry->carrier != 0)) {
			impossible += samples;
			printf("  impossible (%llu): %s\n", (unsigned long long)samples, text);
		}
	}
	printf("  %llu samples, %llu of them with their thread, %llu failed; %llu resumed a tick\n",
	       (unsigned long long)all, (unsigned long long)carried, (unsigned long long)failed,
	       (unsigned long long)(target.counter[0] / run.stats.ticks));
	say_failures(&run);
	CHECK(all - carried >= 10000, "%llu samples", (unsigned long long)all);
	CHECK(impossible == 0, "%llu impossible stacks", (unsigned long long)impossible);
	sim_run_release(&run);
	finish(&target);
}

/* On two stacks in turn: the task's own is never missing, and never twice. */
static void
test_caller(void)
{
	const struct sim_wish wish = { .rate_hz = 500, .ticks = 600 };
	static const char called[] = BOTTOM "caller;sim_call_foreign;sim_switch";
	uint64_t all = 0, wrong = 0, own = 0, other = 0, between = 0, own_time, other_time;
	struct target target;
	struct sim_run run;

	harness_case("calls on another stack");
	target_start(&target, "sim_tasks", "1", "caller=1", NULL);
	own_time = target.counter[2];
	other_time = target.counter[3];
	sim_run(&run, target.pid, &wish);
	own_time = target.counter[2] - own_time;
	other_time = target.counter[3] - other_time;
	for (size_t i = 0; i < profile_entry_count(run.profile); i++) {
		const struct profile_entry *entry = profile_entry(run.profile, i);
		const char *text = without_gap(sim_run_stack(&run, run.profile, entry->stack));
		const uint64_t samples = (uint64_t)entry->samples;

		if (!is_of(&run, entry, 1))
			continue;
		all += samples;
		if (is_way(text, BOTTOM "caller;caller_own", true))
			own += samples;
		else if (strcmp(text, BOTTOM "caller;sim_call_foreign;sim_switch;sim_foreign;"
				      "caller_leaf") == 0)
			other += samples;
		else if (begins(text, "[failed") || begins(text, called) ||
			 is_way(text, BOTTOM "caller;sim_call_foreign;sim_worker", true))
			between += samples;
		else {
			wrong += samples;
			printf("  wrong (%llu): %s\n", (unsigned long long)samples, text);
		}
	}
	printf("  %llu samples, %llu in its own function, %llu in the other, %llu between\n",
	       (unsigned long long)all, (unsigned long long)own, (unsigned long long)other,
	       (unsigned long long)between);
	say_failures(&run);
	CHECK(all == run.stats.ticks, "%llu samples", (unsigned long long)all);
	CHECK(wrong == 0, "%llu wrong stacks", (unsigned long long)wrong);
	/* By the target's own clock: what the same work takes depends on where its code lies. */
	CHECK_SHARE("on its own stack", (double)own / (double)(own + other),
		    (double)own_time / (double)(own_time + other_time), (double)(own + other));
	sim_run_release(&run);
	finish(&target);
}

/* One that has ended never has the stack of the next one in its place. */
static void
test_short(bool counts)
{
	const struct sim_wish wish = { .rate_hz = 500, .ticks = 600, .counts = counts };
	uint64_t all = 0, wrong = 0;
	struct target target;
	cpu_set_t cpus;
	struct sim_run run;

	harness_case("tasks that end at once%s", by_count(counts));
	if (!start_aside(&target, "short=40", &cpus)) {
		harness_skip("there is one CPU");
		return;
	}
	sim_run(&run, target.pid, &wish);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	for (size_t i = 0; i < profile_entry_count(run.profile); i++) {
		const struct profile_entry *entry = profile_entry(run.profile, i);
		const struct profile_thread *task = profile_thread(run.profile, entry->thread);
		const char *text = without_gap(sim_run_stack(&run, run.profile, entry->stack));
		char begin[64], whole[128];
		const char *word;

		if (!task->is_green)
			continue;
		all += (uint64_t)entry->samples;
		word = strcmp(sim_run_frame(&run, run.profile, task->entry), "short_odd") == 0 ?
			       "odd" : "even";
		snprintf(begin, sizeof(begin), BOTTOM "short_%s", word);
		snprintf(whole, sizeof(whole), "%s;%s_1;" YIELDED, begin, word);
		if (begins(text, "[failed") || strcmp(text, begin) == 0 ||
		    is_way(text, whole, entry->carrier != 0) ||
		    (entry->carrier != 0 &&
		     (is_guessed(&run, entry->stack) || is_way(text, begin, true) ||
		      is_way(text, BOTTOM "sim_exit;sim_switch", true))))
			continue;
		wrong += (uint64_t)entry->samples;
		printf("  %s, %s%s: %s\n", begin, run_state_text(entry->state),
		       entry->carrier != 0 ? " on a thread" : "", text);
	}
	printf("  %llu samples of %llu tasks; %llu ended\n", (unsigned long long)all,
	       (unsigned long long)run.stats.green_seen, (unsigned long long)target.counter[1]);
	say_failures(&run);
	CHECK(all >= 10000, "%llu samples", (unsigned long long)all);
	CHECK(wrong == 0, "%llu stacks of others", (unsigned long long)wrong);
	sim_run_release(&run);
	finish(&target);
}

/* --- memory that is not there -------------------------------------------------------------- */

#define AWAY 3

/* While a dump holds the threads of stacks that somebody would have to provide nothing is read. */
static void
test_away(void)
{
	const struct sim_wish wish = { .rate_hz = 100, .dumps = true };
	uint64_t whole = 0;
	struct target target;
	struct sim_run run;

	harness_case("stacks that nobody provides");
	target_start(&target, "sim_tasks", "2", "taker=50", "spin=1", "away=3", NULL);
	if (target.counter[4] == 0) {
		harness_skip("no userfaultfd for faults of others");
		finish(&target);
		return;
	}
	sim_run(&run, target.pid, &wish);
	for (size_t i = 0; i < profile_entry_count(run.profile); i++) {
		const struct profile_entry *entry = profile_entry(run.profile, i);

		if (profile_thread(run.profile, entry->thread)->is_green &&
		    begins(sim_run_stack(&run, run.profile, entry->stack), BOTTOM "taker;"))
			whole += (uint64_t)entry->samples;
	}
	CHECK(whole == 50 - AWAY, "%llu stacks are there", (unsigned long long)whole);
	CHECK(run.stats.failed[FAILURE_UNREADABLE] == AWAY, "%llu are not",
	      (unsigned long long)run.stats.failed[FAILURE_UNREADABLE]);
	sim_run_release(&run);
	finish(&target);
}

/* --- many ------------------------------------------------------------------------------------- */

static void
test_many(void)
{
	const struct sim_wish wish = { .rate_hz = 10, .ticks = 40 };
	struct target target;
	struct sim_run run;
	double wall, sum, records, apart = 0;

	harness_case("25,001 tasks");
	target_start(&target, "sim_tasks", "1", "taker=25001", NULL);
	sim_run(&run, target.pid, &wish);
	wall = (double)profile_wall_ns(run.profile);
	sum = sum_of(&run, WEIGHT_WALL, true);
	for (size_t i = 0; i < profile_entry_count(run.profile); i++) {
		const struct profile_entry *entry = profile_entry(run.profile, i);

		if (profile_thread(run.profile, entry->thread)->green_id != 0)
			apart += (double)entry->ns[WEIGHT_WALL];
	}
	printf("  %.1f tasks on average; %zu records, %.1f tasks in those of one\n", sum / wall,
	       profile_thread_count(run.profile), apart / wall);
	CHECK(run.stats.green_thinnest == 2, "one in %u is looked at", run.stats.green_thinnest);
	CHECK(run.stats.green_most <= 25002 && run.stats.green_most >= 25000, "%u tasks at once",
	      run.stats.green_most);
	/* Each tick has the odd or the even ones: of the 25,001 it is one more or less. */
	CHECK(fabs(sum / wall - 25001) <= 1, "%.3f tasks on average", sum / wall);
	/* Those that were seen first, all of them odd or all of them even. */
	records = (double)profile_thread_count(run.profile);
	CHECK(records >= 10000 && records <= 10010, "%.0f records", records);
	CHECK(fabs(apart / wall / 10000 - 1) <=
		      2 * harness_share_bound(0.5, (double)run.stats.ticks),
	      "%.1f tasks in 10,000 records", apart / wall);
	sim_run_release(&run);
	finish(&target);
}

int
main(void)
{
	struct target target;

	harness_begin(120);
	harness_case("tasks");
	if (!target_exists("sim_tasks")) {
		harness_skip("sim_tasks could not be built");
		return harness_end();
	}
	start_still(&target);
	test_still(&target, false);
	test_still(&target, true);
	test_nonblocking(&target);
	test_threads_only(&target);
	finish(&target);
	test_change(false);
	test_change(true);
	test_caller();
	test_short(false);
	test_short(true);
	test_away();
	test_many();
	return harness_end();
}
