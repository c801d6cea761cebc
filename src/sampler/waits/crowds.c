/* SPDX-License-Identifier: MIT */
/*
 * crowds.c - counts the threads that wait for a futex at once. Threads are observed at different
 * moments: of three threads that take turns with a lock all three may be observed waiting. Those
 * that have not run since their observation all wait at the same moment.
 */
#include "sampler/threads_internal.h"

/* Shortest time from one count to the next. Counts take at most 1/COUNT_SHARE of the time. */
#define COUNT_NS (100 * NS_PER_MS)
#define COUNT_SHARE 50
/* Most waits per count: each takes a pass over all threads. */
#define CROWDS_MOST 16
/* Threads that are read before late threads are released. */
#define READS_UNSERVED 32

/* With more words than WORDS_LEAST and WORDS_A_THREAD per thread, words without waiters are
 * removed. */
#define WORDS_LEAST 4096
#define WORDS_A_THREAD 4

void
crowd_join(struct waits *waits, uint64_t word)
{
	if (word != 0)
		(*table_insert(&waits->crowds.words, word, 0, 0, NULL))++;
}

void
crowd_leave(struct waits *waits, uint64_t word)
{
	if (word != 0)
		(*table_insert(&waits->crowds.words, word, 0, 1, NULL))--;
}

uint32_t
crowd_seen(const struct waits *waits, uint64_t word)
{
	uint32_t count = 0;

	table_find(&waits->crowds.words, word, 0, &count);
	return count;
}

void
crowd_note(struct waits *waits, uint32_t wait, uint64_t word)
{
	if (waits->crowds.larger.count < CROWDS_MOST &&
	    crowd_seen(waits, word) > profile_wait(waits->run->profile, wait)->most)
		table_insert(&waits->crowds.larger, wait, word, 0, NULL);
}

/* Returns the number of threads that wait for the word and have not run since. */
static uint32_t
count_asleep(struct waits *waits, uint64_t word)
{
	const struct thread_list *threads = &waits->run->threads;
	uint32_t count = 0, reads = 0;

	for (size_t i = 0; i < threads->count; i++) {
		struct sampled_thread *thread = threads->thread[i];
		struct sched now;

		if (thread->process != waits->process || thread->wait.word != word ||
		    !thread->asleep || thread->gone)
			continue;
		if (reads++ % READS_UNSERVED == 0)
			late_serve(waits->run);
		count += watch_read_sched(&thread->watch, waits->process->process, &now) ==
				 WATCH_OK &&
			 now.switches == thread->sched.switches;
	}
	return count;
}

/* Removes words without waiters: programs may create locks without end. */
static void
forget_words(struct waits *waits)
{
	const struct thread_list *threads = &waits->run->threads;

	if (waits->crowds.words.count <= WORDS_LEAST + WORDS_A_THREAD * threads->count)
		return;
	table_clear(&waits->crowds.words);
	for (size_t i = 0; i < threads->count; i++)
		if (threads->thread[i]->process == waits->process)
			crowd_join(waits, threads->thread[i]->wait.word);
}

void
crowds_tick(struct waits *waits)
{
	const uint64_t began = clock_now_ns();
	struct crowds *crowds = &waits->crowds;
	uint64_t pause;

	forget_words(waits);
	if (crowds->larger.count == 0 || began < crowds->next_ns)
		return;
	for (size_t i = 0; i < crowds->larger.capacity; i++) {
		const struct table_slot *slot = &crowds->larger.slots[i];

		if (slot->used)
			profile_raise_most(waits->run->profile, (uint32_t)slot->a,
					   count_asleep(waits, slot->b));
	}
	table_clear(&crowds->larger);
	pause = (clock_now_ns() - began) * COUNT_SHARE;
	crowds->next_ns = began + (pause > COUNT_NS ? pause : COUNT_NS);
}
