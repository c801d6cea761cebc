/* SPDX-License-Identifier: MIT */
/* jit.c - drives the sources of JIT names, and asks them for one address. */
#include <unistd.h>

#include "jit/jit_source_internal.h"

/* In the order in which they are asked: the first may know lines. */
static const struct jit_source *const sources[] = {
	&jit_by_jitdump,
	&jit_by_perf_map,
};

/* How much of a file one tick takes in: under 1 ms, 3 ms when there are millions of entries. */
#define TICK_BUDGET ((size_t)64 << 10)
/* CPU time for which a report waits until files are read: some million entries. */
#define REFRESH_NS (5 * NS_PER_SEC)
/* The same before time begins. */
#define BEGIN_NS (50 * NS_PER_MS)
/* Open files are read more often than new files are searched. */
#define SEARCH_INTERVAL NS_PER_SEC
#define READ_INTERVAL (10 * NS_PER_MS)
/* The program may just have been started, and not live long: the first searches follow each
 * other at this distance, which doubles. */
#define FIRST_INTERVAL (10 * NS_PER_MS)

struct slot {
	void *state;
	struct jit_book *book;
	bool reading;  /* in the middle of a pass */
	uint32_t seen; /* entries that were looked at for interpreters */
};

struct jit {
	struct jit_target target;
	struct strings *strings;
	uint32_t epoch;
	struct slot slot[ARRAY_SIZE(sources)];
	struct v8 v8;
	uint64_t searched_ns, read_ns;
	uint64_t interval_ns; /* to the next search; 0 before the first */
};

struct jit *
jit_create(const struct process *process, struct maps *maps, const struct log *log)
{
	struct jit *jit = xcalloc(1, sizeof(*jit));

	jit->target = (struct jit_target){
		.process = process,
		.maps = maps,
		.log = log,
		.root = -1,
		.ns_pid = (uint32_t)process->pid,
	};
	/* Now, because a process that lives shortly may have gone by the first search. */
	jit_target_look(&jit->target);
	jit->strings = strings_create();
	v8_init(&jit->v8, jit->strings);
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		jit->slot[i].book = jit_book_create(jit->strings, &jit->epoch);
		jit->slot[i].state = sources[i]->create(&jit->target, jit->slot[i].book);
	}
	return jit;
}

void
jit_free(struct jit *jit)
{
	if (jit == NULL)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		sources[i]->free(jit->slot[i].state);
		jit_book_free(jit->slot[i].book);
	}
	strings_free(jit->strings);
	if (jit->target.root >= 0)
		close(jit->target.root);
	v8_release(&jit->v8);
	free(jit);
}

static void
jit_search(struct jit *jit, uint64_t now_ns)
{
	/* Once a second others see to it that the mappings are known. */
	if (jit->interval_ns < SEARCH_INTERVAL) {
		maps_refresh(jit->target.maps);
		jit->interval_ns = jit->interval_ns == 0 ? FIRST_INTERVAL : jit->interval_ns * 2;
	}
	jit->searched_ns = now_ns;
	jit_target_look(&jit->target);
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		sources[i]->search(jit->slot[i].state);
}

/* True when the source has no more to read. */
static bool
read_some(struct jit *jit, size_t at, size_t budget)
{
	struct slot *slot = &jit->slot[at];

	if (!slot->reading)
		jit_book_begin_pass(slot->book);
	slot->reading = !sources[at]->read(slot->state, budget);
	v8_look(&jit->v8, slot->book, &slot->seen);
	return !slot->reading;
}

/* Reads from a source for `time_ns` of CPU time; true when nothing is left to read. */
static bool
read_for(struct jit *jit, size_t at, uint64_t time_ns)
{
	const uint64_t end_ns = clock_own_cpu_ns() + time_ns;
	bool whole = false;

	while (!whole && clock_own_cpu_ns() < end_ns)
		whole = read_some(jit, at, TICK_BUDGET);
	return whole;
}

void
jit_begin(struct jit *jit, uint64_t now_ns)
{
	jit_search(jit, now_ns);
	jit->read_ns = now_ns;
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		read_for(jit, i, BEGIN_NS);
}

void
jit_tick(struct jit *jit, uint64_t now_ns)
{
	if (jit->interval_ns == 0 || now_ns - jit->searched_ns >= jit->interval_ns)
		jit_search(jit, now_ns);
	else if (now_ns - jit->read_ns < READ_INTERVAL)
		return;
	jit->read_ns = now_ns;
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		read_some(jit, i, TICK_BUDGET);
}

void
jit_refresh(struct jit *jit)
{
	/* A file may have been mapped since the mappings were read last. */
	maps_refresh(jit->target.maps);
	jit_search(jit, clock_now_ns());
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		bool whole = read_for(jit, i, REFRESH_NS);

		sources[i]->warn(jit->slot[i].state, !whole);
	}
}

uint32_t
jit_epoch(const struct jit *jit)
{
	return jit->epoch;
}

uint32_t
jit_epoch_at(const struct jit *jit, uint64_t address)
{
	uint32_t epoch = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (jit_book_epoch_at(jit->slot[i].book, address, &epoch))
			break;
	return epoch;
}

bool
jit_find(const struct jit *jit, uint64_t address, uint32_t epoch, struct jit_symbol *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (jit_book_find(jit->slot[i].book, address, epoch, out))
			return true;
	return false;
}

size_t
jit_count(const struct jit *jit)
{
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		count += jit_book_count(jit->slot[i].book);
	return count;
}

size_t
jit_interpreters(const struct jit *jit, const struct address_range **range)
{
	*range = jit->v8.range;
	return jit->v8.count;
}

bool
jit_find_bytecode(const struct jit *jit, const struct jit_bytecode *bytecode, uint32_t epoch,
		  struct jit_symbol *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		uint32_t entry = v8_find(jit->slot[i].book, bytecode, epoch);

		if (entry == JIT_NONE)
			continue;
		jit_book_tell(jit->slot[i].book, entry, out);
		return true;
	}
	return false;
}

uint32_t
jit_epoch_of_bytecode(const struct jit *jit, const struct jit_bytecode *bytecode)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		uint32_t entry = v8_find(jit->slot[i].book, bytecode, UINT32_MAX);

		if (entry != JIT_NONE)
			return jit_book_entry(jit->slot[i].book, entry).epoch;
	}
	return 0;
}
