/* SPDX-License-Identifier: MIT */
/*
 * crowds.c - who was last seen to wait on a word may have left since, and another have come: of
 * three threads that take turns with a lock all three were seen so. Those that have not run since
 * they were seen all wait at this moment.
 */
#include "wallsample/sampler/crowds.h"

#include "sampler/pipeline_internal.h"

/* Between two counts, which take at most one part in so many of the time. */
#define COUNT_NS (100 * NS_PER_MS)
#define COUNT_SHARE 50
/* Each goes through all threads. */
#define CROWDS_MOST 16
#define READS_UNSERVED 32

/* Words that nobody waits on any more are forgotten when they are so many. */
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
crowd_join(struct sampler *sampler, uint64_t word)
{
	if (word != 0)
		(*table_place(&sampler->waits.crowds.words, word, 0, 0, NULL))++;
}

void
crowd_leave(struct sampler *sampler, uint64_t word)
{
	if (word != 0)
		(*table_place(&sampler->waits.crowds.words, word, 0, 1, NULL))--;
}

uint32_t
crowd_seen(const struct sampler *sampler, uint64_t word)
{
	uint32_t count = 0;

	table_find(&sampler->waits.crowds.words, word, 0, &count);
	return count;
}

void
crowd_note(struct sampler *sampler, uint32_t wait, uint64_t word)
{
	struct crowds *crowds = &sampler->waits.crowds;

	if (crowds->larger.count < CROWDS_MOST &&
	    crowd_seen(sampler, word) > profile_wait(sampler->profile, wait)->most)
		table_place(&crowds->larger, wait, word, 0, NULL);
}

static uint32_t
count_asleep(struct sampler *sampler, uint64_t word)
{
	uint32_t count = 0, reads = 0;

	for (size_t i = 0; i < sampler->thread_count; i++) {
		struct tracked *thread = sampler->thread[i];
		struct sched now;

		if (thread->wait.word != word || !thread->asleep || thread->gone)
			continue;
		if (reads++ % READS_UNSERVED == 0)
			late_serve(sampler);
		count += watch_read_sched(&thread->watch, sampler->process, &now) == LOOK_OK &&
			 now.switches == thread->sched.switches;
	}
	return count;
}

/* Programs may have locks without end: each of their words would stay. */
static void
forget_words(struct sampler *sampler)
{
	struct crowds *crowds = &sampler->waits.crowds;

	if (crowds->words.count <= WORDS_LEAST + WORDS_A_THREAD * sampler->thread_count)
		return;
	table_clear(&crowds->words);
	for (size_t i = 0; i < sampler->thread_count; i++)
		crowd_join(sampler, sampler->thread[i]->wait.word);
}

void
crowds_tick(struct sampler *sampler)
{
	struct crowds *crowds = &sampler->waits.crowds;
	const uint64_t began = clock_now_ns();
	uint64_t pause;

	forget_words(sampler);
	if (crowds->larger.count == 0 || began < crowds->next_ns)
		return;
	for (size_t i = 0; i < crowds->larger.capacity; i++) {
		const struct table_slot *slot = &crowds->larger.slots[i];

		if (slot->used)
			profile_raise_most(sampler->profile, (uint32_t)slot->a,
					   count_asleep(sampler, slot->b));
	}
	table_clear(&crowds->larger);
	pause = (clock_now_ns() - began) * COUNT_SHARE;
	crowds->next_ns = began + (pause > COUNT_NS ? pause : COUNT_NS);
}
