/* SPDX-License-Identifier: MIT */
/*
 * runtimes.c - finds the runtimes of a process and captures its threads, with the struct
 * runtime_kind of each wanted language.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/runtime_kind_internal.h"
#include "wallsample/runtime/language.h"
#include "wallsample/runtime/locks.h"
#include "wallsample/tracer/resident.h"

/*
 * Each kind of runtime numbers its reasons to wait with this number of bits. In the numbers that
 * callers get (`reason` of struct green_task), the higher bits are the kind's index in kind[].
 */
#define REASON_BITS 16

/* Most kinds of runtimes: one for each language, and one that a test adds. */
#define KINDS (LANGUAGES_MAX + 1)

struct runtimes {
	struct runtimes_config config;
	struct runtime_places places;
	struct runtime_tools tools;
	const struct runtime_kind *kind[KINDS]; /* the kinds that are wanted */
	size_t count;                           /* number of elements of kind[] */
	void *state[KINDS];                     /* state[n] was returned by kind[n]->create */
	size_t slots[KINDS]; /* number of slots of green tasks at the latest reading */
	bool any;            /* the process has a readable runtime */
	/* interpreters of other languages, as of maps_generation `generation` */
	struct unread_list others;
	uint64_t generation;
};

struct runtime_capture {
	struct runtimes *runtimes;
	void *captured[KINDS]; /* one capture for each kind */
	bool taken;            /* captured[] has the data of a thread */
	struct runtime_frames frames;
};

const struct runtime_place *
runtimes_place(const struct runtimes *runtimes, uint32_t place)
{
	return runtime_places_get(&runtimes->places, place);
}

/* --- memory ------------------------------------------------------------------------------- */

/*
 * Returns true when the page can be read without the help of a thread of the target (resident.h):
 * it is in memory or in swap, or belongs to the code or data of a module. While all threads are
 * kept stopped (runtimes_hold), only a page in memory counts.
 */
static bool
page_is_readable(const struct runtimes *runtimes, uint64_t page)
{
	const struct runtimes_config *config = &runtimes->config;
	const bool held = runtimes->tools.held;
	const uint64_t start = page - page % RESIDENT_BYTES;
	const uint32_t resident = config->resident(config->context, start, !held);

	return (resident >> (page - start) / MEMORY_PAGE & 1) != 0 ||
	       (!held && maps_find_data(config->maps, page) != NULL);
}

static bool
read_readable_pages(void *context, uint64_t address, void *to, size_t size)
{
	const struct runtimes *runtimes = context;
	const struct runtimes_config *config = &runtimes->config;
	const uint64_t end = address + size;

	if (end < address)
		return false;
	for (uint64_t page = address - address % MEMORY_PAGE;
	     config->resident != NULL && page < end; page += MEMORY_PAGE)
		if (!page_is_readable(runtimes, page))
			return false;
	return memory_read(&config->memory, address, to, size);
}

/* --- the runtimes of a process ------------------------------------------------------------- */

struct runtimes *
runtimes_create(const struct runtimes_config *config)
{
	struct runtimes *runtimes = xcalloc(1, sizeof(*runtimes));

	runtimes->config = *config;
	runtime_places_init(&runtimes->places);
	runtimes->tools = (struct runtime_tools){
		.config = &runtimes->config,
		.memory = { .read = read_readable_pages, .context = runtimes },
		.places = &runtimes->places,
		.pages = pages_create(&runtimes->config),
	};
	for (size_t i = 0; languages[i] != NULL && i < LANGUAGES_MAX; i++)
		if ((config->wanted & UINT32_C(1) << i) != 0)
			runtimes->kind[runtimes->count++] = languages[i]->kind;
	if (config->extra != NULL)
		runtimes->kind[runtimes->count++] = config->extra;
	for (size_t i = 0; i < runtimes->count; i++)
		runtimes->state[i] = runtimes->kind[i]->create(&runtimes->tools);
	return runtimes;
}

void
runtimes_free(struct runtimes *runtimes)
{
	if (runtimes == NULL)
		return;
	for (size_t i = 0; i < runtimes->count; i++)
		runtimes->kind[i]->free(runtimes->state[i]);
	unread_release(&runtimes->others);
	pages_free(runtimes->tools.pages);
	runtime_places_release(&runtimes->places);
	free(runtimes);
}

/* Searches for interpreters of languages without a kind when mappings have changed. With a part of
 * the languages, as by --runtime, the user does not ask for others. */
static void
find_others(struct runtimes *runtimes)
{
	const struct runtimes_config *config = &runtimes->config;
	const uint64_t generation = maps_generation(config->maps);

	if (config->wanted != RUNTIMES_ALL || runtimes->generation == generation)
		return;
	runtimes->generation = generation;
	unread_find_interpreters(&runtimes->others, config);
}

void
runtimes_begin_tick(struct runtimes *runtimes)
{
	pages_begin_tick(runtimes->tools.pages);
}

void
runtimes_tick(struct runtimes *runtimes, uint64_t now_ns)
{
	find_others(runtimes);
	runtimes->any = false;
	runtimes_begin_tick(runtimes);
	for (size_t i = 0; i < runtimes->count; i++) {
		runtimes->kind[i]->tick(runtimes->state[i], now_ns);
		runtimes->any |= runtimes->kind[i]->any(runtimes->state[i]);
	}
}

pid_t
runtimes_next_new(struct runtimes *runtimes)
{
	pid_t tid = 0;

	for (size_t i = 0; tid == 0 && i < runtimes->count; i++)
		tid = runtimes->kind[i]->next_new(runtimes->state[i]);
	return tid;
}

void
runtimes_seek(struct runtimes *runtimes, pid_t tid)
{
	for (size_t i = 0; i < runtimes->count; i++)
		if (runtimes->kind[i]->seek != NULL)
			runtimes->kind[i]->seek(runtimes->state[i], tid);
}

bool
runtimes_any(const struct runtimes *runtimes)
{
	return runtimes->any;
}

const char *
runtimes_describe(const struct runtimes *runtimes, size_t index)
{
	const char *text;

	for (size_t i = 0; i < runtimes->count; i++)
		for (size_t at = 0;
		     (text = runtimes->kind[i]->describe(runtimes->state[i], at)) != NULL; at++)
			if (index-- == 0)
				return text;
	return NULL;
}

static const char *
runtimes_unread(const struct runtimes *runtimes, size_t index)
{
	const char *text;

	for (size_t i = 0; i < runtimes->count; i++)
		for (size_t at = 0;
		     runtimes->kind[i]->unread != NULL &&
		     (text = runtimes->kind[i]->unread(runtimes->state[i], at)) != NULL;
		     at++)
			if (index-- == 0)
				return text;
	return unread_text(&runtimes->others, index);
}

/* Writes the texts that `next` returns for the indices from 0 on, separated by "; ", up to the
 * first that does not fit. */
static void
join_texts(const struct runtimes *runtimes,
	   const char *(*next)(const struct runtimes *runtimes, size_t index), char *to,
	   size_t size)
{
	const char *text;
	size_t length = 0;

	to[0] = '\0';
	for (size_t i = 0; (text = next(runtimes, i)) != NULL; i++) {
		if (length + strlen(text) + sizeof("; ") > size)
			return;
		length += (size_t)snprintf(to + length, size - length, "%s%s", i > 0 ? "; " : "",
					   text);
	}
}

void
runtimes_describe_all(const struct runtimes *runtimes, char *to, size_t size)
{
	join_texts(runtimes, runtimes_describe, to, size);
}

void
runtimes_unread_all(const struct runtimes *runtimes, char *to, size_t size)
{
	join_texts(runtimes, runtimes_unread, to, size);
}

bool
runtimes_find_lock(struct runtimes *runtimes, uint64_t word, uint64_t *lock, const char **name)
{
	for (size_t i = 0; i < runtimes->count; i++)
		if (runtimes->kind[i]->find_lock != NULL &&
		    runtimes->kind[i]->find_lock(runtimes->state[i], word, lock, name))
			return true;
	return false;
}

pid_t
runtimes_lock_owner(struct runtimes *runtimes, uint64_t lock)
{
	pid_t tid = 0;

	for (size_t i = 0; tid == 0 && i < runtimes->count; i++)
		if (runtimes->kind[i]->lock_owner != NULL)
			tid = runtimes->kind[i]->lock_owner(runtimes->state[i], lock);
	return tid;
}

bool
runtimes_find_parked(struct runtimes *runtimes, uint64_t word, uint64_t *lock, uint64_t *owner)
{
	for (size_t i = 0; i < runtimes->count; i++)
		if (runtimes->kind[i]->find_parked != NULL &&
		    runtimes->kind[i]->find_parked(runtimes->state[i], word, lock, owner))
			return true;
	return false;
}

pid_t
runtimes_parked_owner(struct runtimes *runtimes, uint64_t owner)
{
	pid_t tid = 0;

	for (size_t i = 0; tid == 0 && i < runtimes->count; i++)
		if (runtimes->kind[i]->parked_owner != NULL)
			tid = runtimes->kind[i]->parked_owner(runtimes->state[i], owner);
	return tid;
}

size_t
runtimes_read_async_tasks(struct runtimes *runtimes, struct async_tasks *tasks, pid_t tid,
			  uint64_t until_ns)
{
	const size_t before = async_tasks_begin(tasks);

	/* `held` is false even if the thread is stopped: the time until_ns, not PAGES_READ_MOST,
	 * bounds the reading. */
	pages_begin_capture(runtimes->tools.pages, false);
	for (size_t i = 0; i < runtimes->count; i++)
		if (runtimes->kind[i]->async != NULL)
			runtimes->kind[i]->async(runtimes->state[i], tid, until_ns, tasks);
	return async_tasks_count(tasks) - before;
}

/* --- green tasks -------------------------------------------------------------------------- */

size_t
runtimes_green_task_slots(struct runtimes *runtimes)
{
	size_t all = 0;

	for (size_t i = 0; i < runtimes->count; i++) {
		runtimes->slots[i] = 0;
		if (runtimes->kind[i]->scheduler != NULL)
			runtimes->slots[i] = runtimes->kind[i]->scheduler->slots(
				runtimes->state[i]);
		if (runtimes->slots[i] > GREEN_TASK_SLOTS_MOST - all)
			runtimes->slots[i] = GREEN_TASK_SLOTS_MOST - all;
		all += runtimes->slots[i];
	}
	return all;
}

void
runtimes_read_green_tasks(struct runtimes *runtimes, const uint32_t *slot, size_t count,
			  struct green_task *out)
{
	uint32_t first = 0, *own = xcalloc(count + 1, sizeof(*own));

	for (size_t i = 0; i < runtimes->count && count > 0; i++) {
		const size_t end = first + runtimes->slots[i];
		size_t part = 0;

		for (; part < count && slot[part] < end; part++)
			own[part] = slot[part] - first;
		if (part > 0)
			runtimes->kind[i]->scheduler->look(runtimes->state[i], own, part, out);
		for (size_t at = 0; at < part; at++)
			if (out[at].reason != 0)
				out[at].reason |= (uint32_t)i << REASON_BITS;
		slot += part;
		out += part;
		count -= part;
		first = (uint32_t)end;
	}
	memset(out, 0, count * sizeof(*out));
	free(own);
}

void
runtimes_hold(struct runtimes *runtimes, bool held)
{
	runtimes->tools.held = held;
}

const char *
runtimes_green_task_reason(const struct runtimes *runtimes, uint32_t reason)
{
	const struct runtime_scheduler *scheduler = NULL;
	const size_t kind = reason >> REASON_BITS;
	const char *text = NULL;

	if (kind < runtimes->count)
		scheduler = runtimes->kind[kind]->scheduler;
	if (scheduler != NULL && scheduler->reason != NULL)
		text = scheduler->reason(runtimes->state[kind], reason & ((1U << REASON_BITS) - 1));
	return text != NULL ? text : "";
}

int
runtimes_green_task_descriptor(struct runtimes *runtimes, const struct green_task *task,
			       const uint8_t *stack, size_t size, bool *writes)
{
	const size_t kind = task->reason >> REASON_BITS;
	const struct runtime_scheduler *scheduler = NULL;
	struct green_task own = *task;

	if (kind < runtimes->count)
		scheduler = runtimes->kind[kind]->scheduler;
	if (task->state != GREEN_TASK_WAITING || scheduler == NULL || scheduler->descriptor == NULL)
		return -1;
	own.reason &= (1U << REASON_BITS) - 1;
	return scheduler->descriptor(runtimes->state[kind], &own, stack, size, writes);
}

const struct green_task_words *
runtimes_green_task_words(const struct runtimes *runtimes, uint32_t slot)
{
	static const struct green_task_words unknown = { .noun = "task", .own = "[runtime]" };
	size_t end = 0;

	for (size_t i = 0; i < runtimes->count; i++) {
		end += runtimes->slots[i];
		if (slot < end)
			return &runtimes->kind[i]->scheduler->words;
	}
	return &unknown;
}

/* --- captures -------------------------------------------------------------------------------- */

struct runtime_capture *
runtime_capture_create(struct runtimes *runtimes)
{
	struct runtime_capture *capture = xcalloc(1, sizeof(*capture));

	capture->runtimes = runtimes;
	for (size_t i = 0; i < runtimes->count; i++)
		capture->captured[i] = xcalloc(1, runtimes->kind[i]->captured_size);
	return capture;
}

void
runtime_capture_free(struct runtime_capture *capture)
{
	if (capture == NULL)
		return;
	for (size_t i = 0; i < capture->runtimes->count; i++) {
		if (capture->runtimes->kind[i]->captured_release != NULL)
			capture->runtimes->kind[i]->captured_release(capture->captured[i]);
		free(capture->captured[i]);
	}
	free(capture->frames.frame);
	free(capture);
}

void
runtime_capture_take(struct runtime_capture *capture, pid_t tid, uint64_t sp, bool held)
{
	struct runtimes *runtimes = capture->runtimes;

	capture->taken = true;
	pages_begin_capture(runtimes->tools.pages, held);
	for (size_t i = 0; i < runtimes->count; i++)
		runtimes->kind[i]->capture(runtimes->state[i], tid, sp, capture->captured[i]);
}

void
runtime_capture_clear(struct runtime_capture *capture)
{
	capture->taken = false;
}

void
runtime_capture_trim(struct runtime_capture *capture, struct chain *chain)
{
	if (capture == NULL || !capture->taken)
		return;
	for (size_t i = 0; i < capture->runtimes->count; i++)
		if (capture->runtimes->kind[i]->trim != NULL)
			capture->runtimes->kind[i]->trim(capture->captured[i], chain);
}

size_t
runtime_capture_merge(struct runtime_capture *capture, const struct chain *chain,
		      const struct runtime_frame **frames)
{
	struct runtimes *runtimes = capture->runtimes;

	capture->frames.count = 0;
	capture->frames.cut = false;
	for (size_t i = 0; capture->taken && i < runtimes->count; i++)
		if (runtimes->kind[i]->merge != NULL)
			runtimes->kind[i]->merge(runtimes->state[i], capture->captured[i], chain,
						 &capture->frames);
	*frames = capture->frames.frame;
	return capture->frames.count;
}

enum chain_end
runtime_capture_end(const struct runtime_capture *capture, const struct chain *chain)
{
	if (capture != NULL && capture->frames.cut && chain_end_is_whole(chain->end))
		return CHAIN_DEPTH;
	return chain->end;
}

enum gil
runtime_capture_gil(const struct runtime_capture *capture, long number, const uint64_t args[6])
{
	const struct runtimes *runtimes = capture->runtimes;
	enum gil gil = GIL_UNKNOWN;

	for (size_t i = 0; capture->taken && gil == GIL_UNKNOWN && i < runtimes->count; i++)
		if (runtimes->kind[i]->gil != NULL)
			gil = runtimes->kind[i]->gil(runtimes->state[i], capture->captured[i],
						     number, args);
	return gil;
}

bool
runtime_capture_green_task(const struct runtime_capture *capture, struct green_task *task,
			   const struct green_task_words **words, const uint8_t **stack,
			   size_t *stack_size)
{
	const struct runtimes *runtimes = capture->runtimes;

	for (size_t i = 0; capture->taken && i < runtimes->count; i++) {
		const struct runtime_scheduler *scheduler = runtimes->kind[i]->scheduler;

		if (scheduler == NULL ||
		    !scheduler->running(runtimes->state[i], capture->captured[i], task, stack,
					stack_size))
			continue;
		*words = &scheduler->words;
		return true;
	}
	return false;
}
