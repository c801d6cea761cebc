/* SPDX-License-Identifier: MIT */
/* maps.c - keeps a sorted array of the executable mappings up to date at a bounded cost. */
#include "wallsample/process/maps.h"

#include <string.h>
#include <unistd.h>

#include "process/maps_source_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/base/search.h"
#include "wallsample/base/table.h"

#define QUERIES_PER_TICK 64
#define UNKNOWN_SLOTS 256

#define CHECKS_PER_TICK 64

/* Shortest interval between two reads of all mappings. It is longer if a read takes more than 1% of
 * this time. */
#define READ_INTERVAL_NS NS_PER_SEC
/* shortest interval between two reads of all mappings on kernels without PROCMAP_QUERY */
#define READ_INTERVAL_BLIND_NS (100 * NS_PER_MS)
#define READ_COST_FACTOR 100

struct maps {
	const struct process *process;
	struct modules *modules;
	uint64_t page_size;
	int fd; /* descriptor of /proc/PID/maps, opened by the last read_all; -1: not open */
	bool can_query; /* the kernel may have PROCMAP_QUERY */

	struct mapping *mapping; /* ascending, without overlap */
	size_t count, capacity;
	size_t last; /* index of the mapping that was found last */
	uint64_t generation;

	struct mapping *object; /* objects of maps_set_objects; ascending, without overlap */
	size_t object_count;

	uint64_t tick; /* number of the current tick, from 1 */
	/* queries: unknown addresses for which the kernel was asked in this tick; checks: known
	 * mappings that confirm() has checked in this tick */
	unsigned queries, checks;
	/* All mappings were read in this tick for an unknown address: they are not read again. */
	bool was_read;
	uint64_t unknown
		[UNKNOWN_SLOTS]; /* pages known to have no executable memory, in slots by hash */

	uint64_t read_cost_ns; /* duration of the last read of all mappings */
	uint64_t due_ns;       /* time of the next read of all mappings; 0: the next tick sets it */
};

/* The mappings that have been parsed so far while all mappings are read. */
struct collector {
	struct maps *maps;
	uint64_t address; /* is looked up; 0: none */
	struct mapping *mapping;
	size_t count, capacity;
};

/* `wanted`: an address in the mapping is looked up, see modules_add(). */
static struct mapping
make_mapping(const struct maps *maps, const struct maps_line *line, bool wanted)
{
	struct mapping mapping = {
		.start = line->start,
		.end = line->end,
		.offset = line->offset,
		.module = modules_add(maps->modules, maps->process, line, wanted),
		.checked = maps->tick,
	};

	if (modules_is_deferred(maps->modules, mapping.module))
		mapping.checked = 0; /* no tick: confirm() asks for the module in this tick, too */
	mapping_place(&mapping, modules_at(maps->modules, mapping.module), maps->page_size);
	return mapping;
}

static void
collect_line(void *context, const struct maps_line *line)
{
	struct collector *new = context;

	/* The file is not read atomically: a mapping made during the read may overlap the previous
	 * line, and is then skipped. */
	if (new->count > 0 && line->start < new->mapping[new->count - 1].end)
		return;
	new->mapping = xgrow(new->mapping, &new->capacity, new->count + 1, sizeof(*new->mapping));
	new->mapping[new->count++] = make_mapping(new->maps, line,
						  new->address - line->start <
							  line->end - line->start);
}

static bool
same_mapping(const struct mapping *a, const struct mapping *b)
{
	/* All other members except `checked` follow from these. */
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->module == b->module;
}

static bool
same_as_before(const struct maps *maps, const struct collector *new)
{
	if (new->count != maps->count)
		return false;
	for (size_t i = 0; i < new->count; i++)
		if (!same_mapping(&new->mapping[i], &maps->mapping[i]))
			return false;
	return true;
}

/*
 * Reads all mappings, to look up `address` (0: no address). If /proc shows none, the process is
 * exiting, and its known mappings are kept.
 */
static void
read_all(struct maps *maps, uint64_t address)
{
	struct collector new = { .maps = maps, .address = address };
	uint64_t begin_ns = clock_now_ns();
	int fd = maps_source_open(maps->process);

	maps->was_read = true;
	if (fd >= 0) {
		maps_source_read(fd, collect_line, &new);
		if (maps->fd >= 0)
			close(maps->fd);
		maps->fd = fd;
	}
	if (new.count > 0 && !same_as_before(maps, &new)) {
		free(maps->mapping);
		maps->mapping = new.mapping;
		maps->count = new.count;
		maps->capacity = new.capacity;
		maps->last = 0;
		maps->generation++;
	} else {
		free(new.mapping);
	}
	maps->read_cost_ns = clock_now_ns() - begin_ns;
	maps->due_ns = 0;
}

static void
forget_unknown(struct maps *maps)
{
	/* A free slot has the value 1, which is not the address of a page. */
	for (size_t i = 0; i < UNKNOWN_SLOTS; i++)
		maps->unknown[i] = 1;
}

/* A mapping with its original position, for a sort that keeps the order of mappings with equal
 * addresses. */
struct ranked {
	struct mapping mapping;
	size_t rank; /* index in the unsorted array */
};

static int
compare_ranked(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->mapping.start != b->mapping.start)
		return a->mapping.start < b->mapping.start ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Returns a sorted copy of the mappings; of two that overlap, the first in the array is kept. */
static struct mapping *
sort_mappings(const struct mapping *mapping, size_t count, size_t *sorted_count)
{
	struct ranked *ranked = xcalloc(count + 1, sizeof(*ranked));
	struct mapping *sorted = xcalloc(count + 1, sizeof(*sorted));
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		ranked[i] = (struct ranked){ mapping[i], i };
	qsort(ranked, count, sizeof(*ranked), compare_ranked);
	for (size_t i = 0; i < count; i++) {
		if (kept == 0 || ranked[i].mapping.start >= ranked[kept - 1].mapping.end)
			ranked[kept++] = ranked[i];
		else if (ranked[i].rank < ranked[kept - 1].rank)
			ranked[kept - 1] = ranked[i];
	}
	for (size_t i = 0; i < kept; i++)
		sorted[i] = ranked[i].mapping;
	free(ranked);
	*sorted_count = kept;
	return sorted;
}

static struct maps *
maps_create_empty(const struct process *process, struct modules *modules)
{
	struct maps *maps = xcalloc(1, sizeof(*maps));

	maps->process = process;
	maps->modules = modules;
	maps->page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	maps->fd = -1;
	maps->generation = 1;
	maps->tick = 1;
	forget_unknown(maps);
	return maps;
}

struct maps *
maps_create(const struct process *process, struct modules *modules)
{
	struct maps *maps = maps_create_empty(process, modules);

	maps->can_query = true;
	read_all(maps, 0);
	/* The target may have mapped more before the first tick: an unknown address in that tick
	 * may cause another read. */
	maps->was_read = false;
	return maps;
}

struct maps *
maps_create_fixed(const struct process *process, struct modules *modules,
		  const struct mapping *mapping, size_t count)
{
	struct maps *maps = maps_create_empty(process, modules);

	/* The mappings never change: was_read prevents reads for unknown addresses, and can_query,
	 * which is false, prevents queries. */
	maps->was_read = true;
	maps->mapping = sort_mappings(mapping, count, &maps->count);
	maps->capacity = count + 1;
	return maps;
}

void
maps_free(struct maps *maps)
{
	if (!maps)
		return;
	if (maps->fd >= 0)
		close(maps->fd);
	free(maps->mapping);
	free(maps->object);
	free(maps);
}

/* Returns the index of the first mapping whose end is above the address; `count`: there is none. */
static size_t
first_ending_behind(const struct mapping *mapping, size_t count, uint64_t address)
{
	size_t index;

	SEARCH_FIRST_NOT(index, count, mapping[index].end <= address);
	return index;
}

static const struct mapping *
find_known(struct maps *maps, uint64_t address)
{
	size_t index = first_ending_behind(maps->mapping, maps->count, address);

	if (index == maps->count || address < maps->mapping[index].start)
		return NULL;
	maps->last = index;
	return &maps->mapping[index];
}

/* Inserts one mapping into the array and removes those that it overlaps. */
static void
insert_mapping(struct maps *maps, const struct mapping *mapping)
{
	size_t index = first_ending_behind(maps->mapping, maps->count, mapping->start);
	size_t behind = index;

	while (behind < maps->count && maps->mapping[behind].start < mapping->end)
		behind++;
	maps->mapping = xgrow(maps->mapping, &maps->capacity, maps->count + 1,
			      sizeof(*maps->mapping));
	memmove(&maps->mapping[index + 1], &maps->mapping[behind],
		(maps->count - behind) * sizeof(*maps->mapping));
	maps->mapping[index] = *mapping;
	maps->count = maps->count + 1 - (behind - index);
	maps->generation++;
}

/*
 * Asks the kernel (PROCMAP_QUERY) for the mapping at the address, and inserts it. If there is none,
 * stores the page in *unknown_slot. Returns false when the kernel cannot answer, so that all
 * mappings have to be read instead.
 */
static bool
query_address(struct maps *maps, uint64_t address, uint64_t *unknown_slot)
{
	char path[PATH_MAX];
	struct maps_line line;
	struct mapping mapping;

	switch (maps_source_query(maps->fd, address, &line, path)) {
	case MAPS_QUERY_FOUND:
		mapping = make_mapping(maps, &line, true);
		insert_mapping(maps, &mapping);
		return true;
	case MAPS_QUERY_NONE:
		*unknown_slot = address & ~(maps->page_size - 1);
		return true;
	case MAPS_QUERY_UNSUPPORTED:
		maps->can_query = false;
		return false;
	case MAPS_QUERY_FAILED:
		break;
	}
	return false;
}

/*
 * Returns true when the mapping matches the kernel's answer, which is requested without the path.
 * False does not prove a change: shared memory without a name has a device and inode in the
 * kernel's answer, but not in its module.
 */
static bool
still_holds(const struct maps *maps, const struct mapping *mapping, uint64_t address)
{
	const struct module *module = modules_at(maps->modules, mapping->module);
	struct maps_line line;

	return !modules_is_deferred(maps->modules, mapping->module) &&
	       maps_source_query(maps->fd, address, &line, NULL) == MAPS_QUERY_FOUND &&
	       mapping->start == line.start && mapping->end == line.end &&
	       (mapping->offset == line.offset || module->kind == MODULE_VDSO) &&
	       module->dev == line.dev && module->inode == line.inode;
}

/*
 * Checks once per tick that a known mapping is unchanged: a library may have replaced another since
 * the last tick (dlclose, dlopen). A mapping that was removed without replacement is kept, because
 * the stack to unwind may have been copied before. At most CHECKS_PER_TICK mappings are checked in
 * a tick. A mapping whose module was not added to the table when all mappings were read gets it
 * here. Returns the current mapping at the address.
 */
static const struct mapping *
confirm(struct maps *maps, const struct mapping *known, uint64_t address)
{
	char path[PATH_MAX];
	struct mapping mapping;
	struct maps_line line;

	if (!maps->can_query && !maps->was_read &&
	    modules_is_deferred(maps->modules, known->module)) {
		read_all(maps, address);
		return find_known(maps, address);
	}
	if (known->checked == maps->tick || !maps->can_query || maps->fd < 0 ||
	    maps->checks == CHECKS_PER_TICK)
		return known;
	maps->checks++;
	maps->mapping[known - maps->mapping].checked = maps->tick;
	if (still_holds(maps, known, address) ||
	    maps_source_query(maps->fd, address, &line, path) != MAPS_QUERY_FOUND)
		return known;
	mapping = make_mapping(maps, &line, true);
	if (same_mapping(known, &mapping))
		return known;
	insert_mapping(maps, &mapping);
	return find_known(maps, address);
}

/* Finds the mapping of an address that no known mapping contains, by asking the kernel. Returns
 * NULL if there is none, or if the limits of this tick are reached. */
static const struct mapping *
find_unknown(struct maps *maps, uint64_t address)
{
	uint64_t page = address & ~(maps->page_size - 1);
	uint64_t *slot = &maps->unknown[hash_u64(page) % UNKNOWN_SLOTS];

	if (*slot == page)
		return NULL;
	if (maps->can_query && maps->fd >= 0) {
		if (maps->queries == QUERIES_PER_TICK)
			return NULL;
		maps->queries++;
		if (query_address(maps, address, slot))
			return find_known(maps, address);
	}
	if (maps->was_read)
		return NULL;
	read_all(maps, address);
	return find_known(maps, address);
}

/* Returns the object (maps_set_objects) that contains the address, if there is one and the mapping
 * has no image; otherwise the mapping, which may be NULL. */
static const struct mapping *
find_over(const struct maps *maps, const struct mapping *mapping, uint64_t address)
{
	size_t index;

	if (maps->object_count == 0 || !mapping || mapping->image)
		return mapping;
	index = first_ending_behind(maps->object, maps->object_count, address);
	if (index == maps->object_count || address < maps->object[index].start)
		return mapping;
	return &maps->object[index];
}

const struct mapping *
maps_find(struct maps *maps, uint64_t address)
{
	const struct mapping *mapping;

	if (maps->last < maps->count) {
		mapping = &maps->mapping[maps->last];
		if (address - mapping->start < mapping->end - mapping->start)
			return find_over(maps, confirm(maps, mapping, address), address);
	}
	mapping = find_known(maps, address);
	mapping = mapping ? confirm(maps, mapping, address) : find_unknown(maps, address);
	return find_over(maps, mapping, address);
}

void
maps_tick(struct maps *maps, uint64_t now_ns)
{
	const uint64_t least = maps->can_query ? READ_INTERVAL_NS : READ_INTERVAL_BLIND_NS;
	uint64_t interval = maps->read_cost_ns * READ_COST_FACTOR;

	maps->tick++;
	maps->checks = 0;
	if (maps->queries > 0)
		forget_unknown(maps);
	maps->queries = 0;
	maps->was_read = false;
	if (maps->due_ns == 0) {
		maps->due_ns = now_ns + (interval > least ? interval : least);
	} else if (now_ns >= maps->due_ns) {
		read_all(maps, 0);
		maps->was_read = false;
	}
}

void
maps_refresh(struct maps *maps)
{
	read_all(maps, 0);
	forget_unknown(maps);
}

void
maps_set_objects(struct maps *maps, const struct mapping *object, size_t count)
{
	free(maps->object);
	maps->object = sort_mappings(object, count, &maps->object_count);
	maps->generation++;
}

uint64_t
maps_generation(const struct maps *maps)
{
	return maps->generation;
}

size_t
maps_count(const struct maps *maps)
{
	return maps->count + maps->object_count;
}

const struct mapping *
maps_at(const struct maps *maps, size_t index)
{
	return index < maps->count ? &maps->mapping[index] : &maps->object[index - maps->count];
}

const struct mapping *
maps_find_data(const struct maps *maps, uint64_t address)
{
	for (size_t i = 0; i < maps->count; i++)
		if (address - maps->mapping[i].low < maps->mapping[i].high - maps->mapping[i].low)
			return &maps->mapping[i];
	return NULL;
}

struct modules *
maps_modules(const struct maps *maps)
{
	return maps->modules;
}

const struct process *
maps_process(const struct maps *maps)
{
	return maps->process;
}
