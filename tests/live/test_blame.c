/* SPDX-License-Identifier: MIT */
/*
 * test_blame.c - who keeps others waiting, and deadlocks, of programs that know the truth.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folded.h"

#define TAKERS 1024
#define MANY "300"

/* --- deadlocks --------------------------------------------------------------------------- */

struct expected {
	const char *how;
	int ring;            /* threads; 0: there is no deadlock */
	const char *said[3]; /* what is said of it, with * for a thread id */
};

/* Is the text in `in`, where '*' stands for digits? */
static bool
is_said(const char *in, const char *text)
{
	for (; *in != '\0'; in++) {
		const char *at = in, *want = text;

		while (*want != '\0' && *at != '\0') {
			if (*want == '*') {
				at += strspn(at, "0123456789");
				want++;
			} else if (*want++ != *at++) {
				want--;
				break;
			}
		}
		if (*want == '\0')
			return true;
	}
	return false;
}

static void
run_with(struct run *run, const char *verb, const struct target *target, const char *duration,
	 const char *last)
{
	char program[] = "wallsample", pid[16], v[16], t[16], p[] = "-p", d[] = "-d", word[16];
	char *words[] = {program, v, p, pid, duration != NULL ? d : NULL, t,
			 last != NULL ? word : NULL, NULL};

	snprintf(word, sizeof(word), "%s", last != NULL ? last : "");
	snprintf(pid, sizeof(pid), "%d", (int)target->pid);
	snprintf(v, sizeof(v), "%s", verb);
	snprintf(t, sizeof(t), "%s", duration != NULL ? duration : "");
	run_start_words(run, words, NULL);
	run_finish(run);
}

static void
run_on(struct run *run, const char *verb, const struct target *target, const char *duration)
{
	run_with(run, verb, target, duration, "--full");
}

static void
check_words(const struct expected *expected, const char *text)
{
	char ring[64];

	snprintf(ring, sizeof(ring), "Deadlock of %d thread%s\n", expected->ring,
		 expected->ring == 1 ? "" : "s");
	if (expected->ring == 0) {
		CHECK(strstr(text, "Deadlock") == NULL, "a deadlock that is none: %s", text);
		return;
	}
	CHECK(strstr(text, ring) != NULL, "no '%s' in: %s", ring, text);
	for (size_t i = 0; i < 3 && expected->said[i] != NULL; i++)
		CHECK(is_said(text, expected->said[i]), "no '%s' in: %s", expected->said[i], text);
}

static void
deadlock(const struct expected *expected)
{
	struct target target;
	struct run run;

	harness_case("stuck: %s", expected->how);
	target_start(&target, "stuck", expected->how, NULL);
	run_on(&run, "dump", &target, NULL);
	CHECK(WIFEXITED(run.status) && WEXITSTATUS(run.status) == (expected->ring > 0 ? 4 : 0),
	      "a dump ends with wait status %d: %s", run.status, run.err);
	check_words(expected, run.out);
	/* The first lines name the lock for which most threads wait. */
	CHECK(strcmp(expected->how, "behind") != 0 ||
		      is_said(run.out, "2 threads wait for mutex lock_a, held by thread * (first)"),
	      "the lock is not in: %s", run.out);
	CHECK(strcmp(expected->how, "pointer") == 0 || strstr(run.out, ", 0 in a stop") != NULL,
	      "somebody was stopped: %s", run.out);
	run_release(&run);
	/* It is told while sampling goes on, and in the report. */
	run_on(&run, "-q", &target, "1");
	CHECK(WIFEXITED(run.status) && WEXITSTATUS(run.status) == 0, "wait status %d: %s",
	      run.status, run.err);
	check_words(expected, run.out);
	run_release(&run);
	run_start(&run, target.pid, "-d", "1", NULL);
	run_finish(&run);
	CHECK((strstr(run.err, "deadlock: ") != NULL) == (expected->ring > 0), "was told: %s",
	      run.err);
	run_release(&run);
	target_finish(&target, NULL);
}

/* Options leave the other thread out: who has the lock is said all the same. */
static void
left_out(void)
{
	struct target target;
	struct run run;
	char program[] = "wallsample", dump[] = "dump", p[] = "-p", pid[16], of[] = "--thread-name",
	     name[] = "first";
	char *words[] = {program, dump, p, pid, of, name, NULL};

	harness_case("stuck: a thread alone");
	target_start(&target, "stuck", "abba", NULL);
	snprintf(pid, sizeof(pid), "%d", (int)target.pid);
	run_start_words(&run, words, NULL);
	run_finish(&run);
	CHECK(is_said(run.out, "waits for mutex lock_b, held by [thread *, not sampled]"),
	      "who has it is not in: %s", run.out);
	/* That nobody will ever go on is no less true. */
	CHECK(WIFEXITED(run.status) && WEXITSTATUS(run.status) == 4 &&
		      strstr(run.out, "Deadlock of 2 threads") != NULL,
	      "wait status %d: %s", run.status, run.out);
	run_release(&run);
	target_finish(&target, NULL);
}

/* --- memory that processes share --------------------------------------------------------- */

/* The lock is known by its place in the file, and its holder by the process. */
static void
held_elsewhere(void)
{
	char line[128], name[64], lock[160], semaphore[128], held[160];
	struct target target;
	struct folded folded;
	struct run run;
	int keeper;

	harness_case("a lock that another process has");
	if (access("/dev/shm", W_OK) != 0) {
		harness_skip("there is no /dev/shm");
		return;
	}
	target_start(&target, "shared", NULL);
	if (!target_read_line(&target, line, sizeof(line)) ||
	    sscanf(line, "%d %63s", &keeper, name) != 2)
		harness_die("the target says: %s", line);
	snprintf(held, sizeof(held), "mutex 0x1a40 in /dev/shm%s, held by keeper (%d)", name,
		 keeper);
	run_on(&run, "dump", &target, NULL);
	CHECK(strstr(run.out, held) != NULL, "no '%s' in: %s", held, run.out);
	run_release(&run);
	folded_sample(&folded, target.pid, "--blame", "-d", "1", NULL);
	snprintf(lock, sizeof(lock), "^[mutex 0x1a40 in /dev/shm%s];[held by keeper (%d)]$", name,
		 keeper);
	CHECK(folded_weight(&folded, 0, lock) > 0 &&
		      folded_weight(&folded, 0, lock) == folded_weight(&folded, 0, NULL),
	      "%s has %llu of %llu us", lock,
	      (unsigned long long)folded_weight(&folded, 0, lock),
	      (unsigned long long)folded_weight(&folded, 0, NULL));
	folded_release(&folded);
	folded_sample(&folded, target.pid, "--by", "lock", "-d", "1", NULL);
	snprintf(semaphore, sizeof(semaphore), "^[semaphore %s]$", name);
	CHECK(folded_weight(&folded, 0, semaphore) > 0, "no '%s'", semaphore);
	folded_release(&folded);
	run_with(&run, "-q", &target, "1", NULL);
	snprintf(held, sizeof(held), "keeper (%d), a process that is not sampled", keeper);
	CHECK(strstr(run.out, held) != NULL && strstr(run.out, "convoy") == NULL,
	      "no '%s' in: %s", held, run.out);
	run_release(&run);
	target_finish(&target, NULL);
}

/* --- a lock that is had -------------------------------------------------------------------- */

static void
contended(void)
{
	struct target target;
	struct folded folded;
	uint64_t before[2], after[2];
	struct run run;

	harness_case("a lock that is had in two functions");
	target_start(&target, "contended", NULL);
	target_wait_progress(&target, 1);
	run_start(&run, target.pid, "--blame", "-r", "400", "-d", "4", NULL);
	CHECK(run_wait_sampling(&run), "wallsample has ended: %s", run.err);
	const uint64_t began_ns = harness_now_ns();
	before[0] = target.counter[0];
	before[1] = target.counter[1];
	run_finish(&run);
	after[0] = target.counter[0];
	after[1] = target.counter[1];
	/* Of so much time the run has seen its four seconds. */
	const double seen_part = 4e9 / (double)(harness_now_ns() - began_ns);
	folded_of_run(&folded, &run);
	const double in_long = (double)(after[0] - before[0]) / 1000 * seen_part;
	const double in_short = (double)(after[1] - before[1]) / 1000 * seen_part;
	const double seen_long =
		(double)folded_weight(&folded, 0, "^[mutex table_lock];...;hold_long");
	const double seen_short =
		(double)folded_weight(&folded, 0, "^[mutex table_lock];...;hold_short");
	const double all = (double)folded_weight(&folded, 0, NULL);
	const double of_holder = (double)folded_weight(
		&folded, inspect_thread_named(target.pid, "holder", 0), "^[mutex table_lock]");
	const double of_none = (double)folded_weight(&folded, 0, "[free or being handed over]$");
	CHECK_SHARE("long", seen_long / (seen_long + seen_short),
		    in_long / (in_long + in_short), 1600);
	/*
	 * Two threads wait all that time; and more where one of the three waits for a CPU on its
	 * way to the next round. The counters move once a round, a hundredth of the time.
	 */
	CHECK(all / 2 >= in_long + in_short - 0.04 * 4e6,
	      "two waiters have %.0f us, and it was had for %.0f", all, in_long + in_short);
	CHECK(seen_long + seen_short >= 1.92 * (in_long + in_short),
	      "of two waiters' %.0f us each, the functions have %.0f", in_long + in_short,
	      seen_long + seen_short);
	CHECK(of_holder + of_none >= 0.99 * all, "others than the holder have %.0f of %.0f us",
	      all - of_holder - of_none, all);
	folded_release(&folded);
	run_release(&run);
	target_finish(&target, NULL);
}

/*
 * So many wait that each is looked at in some ticks only, and the holder would be, for it sleeps
 * long, too: nobody waits while it rests, and what is left of a wait that is over is not of whoever
 * has the lock then.
 */
static void
contended_by_many(void)
{
	struct target target;
	struct folded folded;

	harness_case("a lock that %s threads wait for, now and then", MANY);
	target_start(&target, "contended", MANY, "200000", "0", "400000", NULL);
	target_wait_progress(&target, 1);
	folded_sample(&folded, target.pid, "--blame", "-d", "8", NULL);
	const double held =
		(double)folded_weight(&folded, 0, "^[mutex table_lock];...;hold_long");
	const double rested =
		(double)folded_weight(&folded, 0, "^[mutex table_lock];...;rest_without");
	const double all = (double)folded_weight(&folded, 0, "^[mutex table_lock]");
	printf("  of %.0f us in %.4f, and in %.4f without it\n", all, held / all, rested / all);
	/* The rest is of the moments between: threads on their way, who may lack a CPU. */
	CHECK(held / (held + rested) > 0.88, "of the blame %.4f is where it was had, %.4f not",
	      held / all, rested / all);
	CHECK(rested / all < 0.1, "%.4f of the blame is where it was not had", rested / all);
	folded_release(&folded);
	target_finish(&target, NULL);
}

/* One of three has the lock, whoever it is: never do more than two wait. */
static void
taken_in_turn(void)
{
	static const char said[] = "\"most_at_once\":";
	char program[] = "wallsample", q[] = "-q", p[] = "-p", pid[16], r[] = "-r", rate[] = "500",
	     d[] = "-d", two[] = "2", by[] = "--by", lock[] = "lock", f[] = "-f",
	     json[] = "json";
	char *words[] = {program, q, p, pid, r, rate, d, two, by, lock, f, json, NULL};
	struct target target;
	const char *at;
	struct run run;

	harness_case("a lock that three threads take in turn");
	target_start(&target, "contended", "3", NULL);
	snprintf(pid, sizeof(pid), "%d", (int)target.pid);
	run_start_words(&run, words, NULL);
	run_finish(&run);
	at = strstr(run.out, "\"table_lock\"");
	at = at != NULL ? strstr(at, said) : NULL;
	if (CHECK(at != NULL, "no lock in: %s", run.out))
		CHECK(strtol(at + strlen(said), NULL, 10) <= 2, "so many waited: %.20s", at);
	run_release(&run);
	target_finish(&target, NULL);
}

/* Many take from what one feeds: what they wait for is found, and is the first row. */
static void
channel(void)
{
	struct target target;
	struct folded folded;
	char count[16], *row;
	struct run run;

	harness_case("%d threads that take from one channel", TAKERS);
	snprintf(count, sizeof(count), "%d", TAKERS);
	target_start(&target, "channel", count, NULL);
	folded_sample(&folded, target.pid, "--by", "lock", "-d", "3", NULL);
	const double all = (double)folded_weight(&folded, 0, NULL);
	const double waits =
		(double)folded_weight(&folded, 0, "^[condition variable channel+0x28]$");
	/* All but the feeder, but for what they do when they are fed. */
	const double share = (double)TAKERS / (TAKERS + 1);
	CHECK(waits / all > share - 0.02, "the channel is %.4f of all, not %.4f", waits / all,
	      share);
	folded_release(&folded);
	run_on(&run, "-q", &target, "2");
	row = strstr(run.out, "that threads waited for most");
	row = row != NULL ? strchr(row, '\n') : NULL;
	row = row != NULL ? strchr(row + 1, '\n') : NULL;
	if (CHECK(row != NULL, "no locks in: %s", run.out)) {
		row[1 + strcspn(row + 1, "\n")] = '\0';
		CHECK(strstr(row + 1, "condition variable channel+0x28") != NULL &&
			      strstr(row + 1, "take (channel)") != NULL,
		      "the first row is: %s", row + 1);
	}
	run_release(&run);
	target_finish(&target, NULL);
}

int
main(void)
{
	static const struct expected expected[] = {
		{ "abba", 2,
		  { "first-* waits for mutex lock_b, held by second-*",
		    "second-* waits for mutex lock_a, held by first-*" } },
		{ "behind", 2,
		  { "first-* waits for mutex lock_b, held by second-*",
		    "third-* and fourth-* are stuck behind them" } },
		{ "three", 3,
		  { "first-* waits for mutex lock_b, held by second-*",
		    "second-* waits for mutex lock_c, held by third-*",
		    "third-* waits for mutex lock_a, held by first-*" } },
		{ "self", 1, { "first-* waits for mutex lock_a, which it holds itself" } },
		{ "join", 2,
		  { "first-* waits for the end of second-*",
		    "second-* waits for mutex lock_a, held by first-*" } },
		{ "pointer", 2,
		  { "first-* waits for mutex lock_b, held by second-*",
		    "second-* waits for mutex lock_a, held by first-*" } },
		{ "patient", 0, { NULL } },
		{ "timed", 0, { NULL } },
	};

	harness_begin(200);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		deadlock(&expected[i]);
	left_out();
	held_elsewhere();
	contended();
	contended_by_many();
	taken_in_turn();
	channel();
	return harness_end();
}
