/* SPDX-License-Identifier: MIT */
/*
 * crowds.c - how many threads wait for a futex at once. Threads are observed at different moments:
 * of three threads that take turns with a lock all three may be observed waiting. Those that have
 * not run since their observation all wait at the same moment.
 */
#include "sampler/threads_internal.h"

/* From one count to the next; counts take at most 1/COUNT_SHARE of the time. */
#define COUNT_NS (100 * NS_PER_MS)
#define COUNT_SHARE 50
/* Waits per count: each takes a pass over all threads. */
#define CROWDS_MOST 16
#define READS_UNSERVED 32

/* With more words than this those without waiters are removed. */
#define WORDS_LEAST 4096
#define WORDS_A_THREAD 4

void
crowds_init(struct crowds *crowds)
{
	table_init(&crowds->words);
	table_init(&crowds->larger);
}

void
crowds_release(struct crowds *crowds)
{
	table_release(&crowds->words);
	table_release(&crowds->larger);
}

void
crowd_join(struct crowds *crowds, uint64_t word)
{
	if (word != 0)
		(*table_insert(&crowds->words, word, 0, 0, NULL))++;
}

void
crowd_leave(struct crowds *crowds, uint64_t word)
{
	if (word != 0)
		(*table_insert(&crowds->words, word, 0, 1, NULL))--;
}

uint32_t
crowd_seen(const struct crowds *crowds, uint64_t word)
{
	uint32_t count = 0;

	table_find(&crowds->words, word, 0, &count);
	return count;
}

void
crowd_note(struct crowds *crowds, uint32_t wait, uint64_t word)
{
	if (crowds->larger.count < CROWDS_MOST &&
	    crowd_seen(crowds, word) > profile_wait(crowds->profile, wait)->most)
		table_insert(&crowds->larger, wait, word, 0, NULL);
}

static uint32_t
count_asleep(struct crowds *crowds, uint64_t word)
{
	uint32_t count = 0, reads = 0;

	for (size_t i = 0; i < crowds->threads->count; i++) {
		struct sampled_thread *thread = crowds->threads->thread[i];
		struct sched now;

		if (thread->process != crowds->process || thread->wait.word != word ||
		    !thread->asleep || thread->gone)
			continue;
		if (reads++ % READS_UNSERVED == 0)
			late_serve(crowds->late);
		count += watch_read_sched(&thread->watch, crowds->process->process, &now) ==
				 LOOK_OK &&
			 now.switches == thread->sched.switches;
	}
	return count;
}

/* Programs may create locks without end. */
static void
forget_words(struct crowds *crowds)
{
	if (crowds->words.count <= WORDS_LEAST + WORDS_A_THREAD * crowds->threads->count)
		return;
	table_clear(&crowds->words);
	for (size_t i = 0; i < crowds->threads->count; i++)
		if (crowds->threads->thread[i]->process == crowds->process)
			crowd_join(crowds, crowds->threads->thread[i]->wait.word);
}

void
crowds_tick(struct crowds *crowds)
{
	const uint64_t began = clock_now_ns();
	uint64_t pause;

	forget_words(crowds);
	if (crowds->larger.count == 0 || began < crowds->next_ns)
		return;
	for (size_t i = 0; i < crowds->larger.capacity; i++) {
		const struct table_slot *slot = &crowds->larger.slots[i];

		if (slot->used)
			profile_raise_most(crowds->profile, (uint32_t)slot->a,
					   count_asleep(crowds, slot->b));
	}
	table_clear(&crowds->larger);
	pause = (clock_now_ns() - began) * COUNT_SHARE;
	crowds->next_ns = began + (pause > COUNT_NS ? pause : COUNT_NS);
}
