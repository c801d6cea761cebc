/* SPDX-License-Identifier: MIT */
/* jit.c - reads the sources of JIT names, and finds the entry for an address in their books. */
#include <unistd.h>

#include "jit/jit_source_internal.h"

/* The sources, the preferred one first: jitdump files may have source lines. */
static const struct jit_source *const sources[] = {
	&jit_by_jitdump,
	&jit_by_perf_map,
};

/* Bytes that one tick reads of each source. That takes less than 1 ms, or 3 ms when there are
 * millions of entries. */
#define TICK_BUDGET ((size_t)64 << 10)
/* Most CPU time that jit_refresh() spends on each source: enough for some million entries. */
#define REFRESH_NS (5 * NS_PER_SEC)
/* Most CPU time that jit_begin() spends on each source. */
#define BEGIN_NS (50 * NS_PER_MS)
/* SEARCH_INTERVAL: time from one search for new files to the next. READ_INTERVAL: least time from
 * one read of known files to the next. */
#define SEARCH_INTERVAL NS_PER_SEC
#define READ_INTERVAL (10 * NS_PER_MS)
/* Longest time for which a search is put off because stops are outstanding: each search waits for
 * the process that opens files, and threads that stop meanwhile get no stack. */
#define SEARCH_DELAY (100 * NS_PER_MS)
/* Time from the first search to the second. The time between searches doubles with each search
 * until it is at least SEARCH_INTERVAL. It is short at first because the program may just have been
 * started, and may not run long. */
#define FIRST_INTERVAL (10 * NS_PER_MS)

/* The state of one source. */
struct slot {
	void *state;
	struct jit_book *book;
	bool reading;  /* a pass has begun and is not complete */
	uint32_t seen; /* number of entries that v8_update() has searched */
};

struct jit {
	struct jit_target target;
	struct strings *strings;
	struct jit_numbering numbering;
	uint32_t first; /* its first epoch */
	struct slot slot[ARRAY_SIZE(sources)];
	struct v8 v8;
	uint64_t searched_ns, read_ns;
	uint64_t interval_ns; /* time from the last search to the next; 0: none was made yet */
};

struct jit *
jit_create(const struct process *process, struct maps *maps, const struct log *log,
	   struct jit_epochs *epochs)
{
	struct jit *jit = xcalloc(1, sizeof(*jit));

	jit->target = (struct jit_target){
		.process = process,
		.maps = maps,
		.log = log,
		.root = -1,
		.uid = (uid_t)-1, /* no file has this owner */
		.ns_pid = (uint32_t)process->pid,
	};
	/* The target's root directory, pid and user are read here, because the process may exit
	 * before the first search. */
	jit_target_update(&jit->target);
	jit->numbering = (struct jit_numbering){ .epochs = epochs, .jit = jit };
	if (epochs != NULL)
		jit_epoch_next(&jit->numbering);
	jit->first = jit->numbering.epoch;
	jit->strings = strings_create();
	v8_init(&jit->v8, jit->strings);
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		jit->slot[i].book = jit_book_create(jit->strings, &jit->numbering);
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
	if (jit->numbering.epochs != NULL)
		jit_epochs_forget(jit->numbering.epochs, jit);
	if (jit->target.root >= 0)
		close(jit->target.root);
	free(jit->v8.range);
	free(jit);
}

static void
jit_search(struct jit *jit, uint64_t now_ns)
{
	/* The sampler refreshes the maps once a second; a search that comes sooner after the
	 * previous one refreshes them here. */
	if (jit->interval_ns < SEARCH_INTERVAL) {
		maps_refresh(jit->target.maps);
		jit->interval_ns = jit->interval_ns == 0 ? FIRST_INTERVAL : jit->interval_ns * 2;
	}
	jit->searched_ns = now_ns;
	jit_target_update(&jit->target);
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		sources[i]->search(jit->slot[i].state);
}

/* Reads at most about `budget` bytes from source number `at`. Returns true when there is nothing
 * left to read. */
static bool
read_some(struct jit *jit, size_t at, size_t budget)
{
	struct slot *slot = &jit->slot[at];

	if (!slot->reading)
		jit_book_begin_pass(slot->book);
	slot->reading = !sources[at]->read(slot->state, budget);
	v8_update(&jit->v8, slot->book, &slot->seen);
	return !slot->reading;
}

/* Reads from source number `at` for `time_ns` of CPU time; returns true when there is nothing left
 * to read. */
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
jit_tick(struct jit *jit, uint64_t now_ns, bool outstanding)
{
	const uint64_t interval = jit->interval_ns + (outstanding ? SEARCH_DELAY : 0);

	if (jit->interval_ns == 0 || now_ns - jit->searched_ns >= interval)
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
	/* A jitdump file may have been mapped since the mappings were read last. */
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
	return jit->numbering.epoch;
}

/* An entry, and the book that contains it. */
struct found {
	const struct jit_book *book;
	uint32_t entry;
};

/* Finds the entry for `bytecode` or, if that is NULL, for `address`, in the epoch and in the first
 * source that has one. Returns false when no source has one. */
static bool
jit_find_entry(const struct jit *jit, uint64_t address, const struct jit_bytecode *bytecode,
	       uint32_t epoch, struct found *found)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		found->book = jit->slot[i].book;
		found->entry = bytecode != NULL ? v8_find(found->book, bytecode, epoch) :
						  jit_book_find(found->book, address, epoch);
		if (found->entry != JIT_NONE)
			return true;
	}
	return false;
}

uint32_t
jit_epoch_at(const struct jit *jit, uint64_t address)
{
	struct found found;

	return jit_find_entry(jit, address, NULL, UINT32_MAX, &found) ?
		       jit_book_entry(found.book, found.entry).epoch :
		       jit->first;
}

bool
jit_find(const struct jit *jit, uint64_t address, uint32_t epoch, struct jit_symbol *out)
{
	struct found found;

	if (!jit_find_entry(jit, address, NULL, epoch, &found))
		return false;
	jit_book_describe(found.book, found.entry, address, out);
	return true;
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
	struct found found;

	if (!jit_find_entry(jit, 0, bytecode, epoch, &found))
		return false;
	jit_book_describe(found.book, found.entry,
			  jit_book_entry(found.book, found.entry).range.start, out);
	return true;
}

uint32_t
jit_epoch_of_bytecode(const struct jit *jit, const struct jit_bytecode *bytecode)
{
	struct found found;

	return jit_find_entry(jit, 0, bytecode, UINT32_MAX, &found) ?
		       jit_book_entry(found.book, found.entry).epoch :
		       jit->first;
}
