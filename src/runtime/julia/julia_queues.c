/* SPDX-License-Identifier: MIT */
/* julia_queues.c - finds the queues of Julia's runnable tasks (Base.Workqueues) in the target's
 * memory, which is not trusted. */
#include "runtime/julia/julia_internal.h"

#include <stdlib.h>
#include <string.h>

/*
 * The table of the names in a module is an htable_t: pairs of two words, pointers to a symbol and
 * to a binding. The second word of an empty pair is NO_BINDING.
 */
#define PAIR_WORDS 2
#define PAIRS_MOST 256 /* most pairs that are read at once */
#define STEPS 32 /* most reads of PAIRS_MOST pairs per call, which together take a millisecond */
/* Most words of a plausible table. */
#define WORDS_MOST (UINT64_C(1) << 22)
#define NO_BINDING 1
/* Number of searches of the whole table: a single one may miss a name, because Julia may move names
 * during the reading. */
#define ROUNDS_MOST 3
/* Offset of the text in jl_sym_t, after its members left, right and hash; offset of the value in
 * jl_binding_t, after its member name. */
#define SYMBOL_TEXT 24
#define BINDING_VALUE 8

static const char wanted[] = "Workqueues";

/* The beginning of jl_array_t. */
struct array {
	uint64_t data, length;
	uint16_t flags, element_size;
	uint32_t offset;
};

/* An element of the array Base.Workqueues, of type InvasiveLinkedListSynchronized. */
struct queue {
	uint64_t list, lock;
};

static bool
read_object(const struct runtime_tools *tools, uint64_t address, void *to, size_t size)
{
	return address != 0 && memory_read(&tools->memory, address, to, size);
}

/* Reads the address and the size of the table of names of the module Base. Returns false when they
 * are not readable or plausible. */
static bool
julia_queues_begin(struct julia_queues *queues, const struct runtime_tools *tools,
		   const struct julia_place *place)
{
	uint64_t module, names[2];

	queues->at = 0;
	if (!read_object(tools, place->base, &module, sizeof(module)) || module == 0 ||
	    !read_object(tools, module + place->layout.module_names, names, sizeof(names)) ||
	    names[0] == 0 || names[0] > WORDS_MOST || names[0] % PAIR_WORDS != 0)
		return false;
	queues->size = names[0];
	queues->table = names[1];
	return true;
}

static void
julia_queues_check(struct julia_queues *queues, const struct runtime_tools *tools, uint64_t binding)
{
	if (!read_object(tools, binding + BINDING_VALUE, &queues->array, sizeof(queues->array)))
		queues->array = 0;
}

/* Searches the next pairs of the table for Base.Workqueues. */
static void
search_pairs(struct julia_queues *queues, const struct runtime_tools *tools)
{
	uint64_t pair[PAIRS_MOST][PAIR_WORDS], binding[PAIRS_MOST];
	struct memory_piece piece[PAIRS_MOST];
	char text[PAIRS_MOST][sizeof(wanted)];
	bool got[PAIRS_MOST];
	const uint64_t left = (queues->size - queues->at) / PAIR_WORDS;
	const size_t pairs = left < PAIRS_MOST ? (size_t)left : PAIRS_MOST;
	const uint64_t address = queues->table + queues->at * sizeof(uint64_t);
	size_t count = 0;

	queues->at += pairs * PAIR_WORDS;
	if (!read_object(tools, address, pair, pairs * sizeof(*pair)))
		return;
	for (size_t i = 0; i < pairs; i++) {
		if (pair[i][0] <= NO_BINDING || pair[i][1] <= NO_BINDING)
			continue;
		binding[count] = pair[i][1];
		piece[count++] = (struct memory_piece){ pair[i][0] + SYMBOL_TEXT, sizeof(*text) };
	}
	runtime_read_pieces(tools, piece, count, (uint8_t *)text, got);
	for (size_t i = 0; i < count && queues->array == 0; i++)
		if (got[i] && memcmp(text[i], wanted, sizeof(wanted)) == 0)
			julia_queues_check(queues, tools, binding[i]);
}

static void
julia_queues_search(struct julia_queues *queues, const struct runtime_tools *tools,
		    const struct julia_place *place)
{
	if (queues->rounds == ROUNDS_MOST)
		return;
	if (queues->at == 0 && !julia_queues_begin(queues, tools, place))
		return;
	for (int i = 0; i < STEPS && queues->array == 0 && queues->at < queues->size; i++)
		search_pairs(queues, tools);
	if (queues->array == 0 && queues->at >= queues->size) {
		queues->rounds++;
		queues->at = 0;
	}
}

static int
compare_addresses(const void *one, const void *other)
{
	const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return a < b ? -1 : a > b;
}

static void
read_lists(struct julia_queues *queues, const struct runtime_tools *tools)
{
	struct queue queue[JULIA_THREADS_MOST];
	struct array array;

	if (!read_object(tools, queues->array, &array, sizeof(array)) ||
	    array.element_size != sizeof(*queue))
		return;
	if (array.length > JULIA_THREADS_MOST)
		array.length = JULIA_THREADS_MOST;
	if (!read_object(tools, array.data, queue, array.length * sizeof(*queue)))
		return;
	for (size_t i = 0; i < array.length; i++)
		if (queue[i].list != 0)
			queues->list[queues->count++] = queue[i].list;
	qsort(queues->list, queues->count, sizeof(*queues->list), compare_addresses);
}

void
julia_queues_update(struct julia_queues *queues, const struct runtime_tools *tools,
		    const struct julia_place *place)
{
	queues->count = 0;
	if (place->base == 0 || place->layout.module_names == 0)
		return;
	if (queues->base != place->base) {
		queues->base = place->base;
		queues->array = queues->at = 0;
		queues->rounds = 0;
	}
	if (queues->array == 0)
		julia_queues_search(queues, tools, place);
	if (queues->array != 0)
		read_lists(queues, tools);
}

bool
julia_queues_searching(const struct julia_queues *queues)
{
	return queues->array == 0 && queues->at != 0;
}

bool
julia_queues_has(const struct julia_queues *queues, uint64_t queue)
{
	return bsearch(&queue, queues->list, queues->count, sizeof(queue), compare_addresses) !=
	       NULL;
}
