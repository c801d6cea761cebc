/* SPDX-License-Identifier: MIT */
/* julia_find.c - the Julia of a process: its files, its version, and where its threads are. */
#include "runtime/julia/julia_find_internal.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/julia/julia_module_internal.h"
#include "runtime/pthread_tid_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/dwarf/debug_info.h"

/* libjulia, -internal, -codegen; and those that a process had before it called exec. */
#define FILES_MOST 16
#define BUDGET (UINT64_C(4) << 20)
#define LOOKS_MOST 2000
/* Of variables, in one look; and words of them, of which each may be what is looked for. */
#define SCAN_PAGES 16
#define PAGE_WORDS (MEMORY_PAGE / sizeof(uint64_t))
/* User space on x86-64 and AArch64; nothing is mapped at the lowest addresses. */
#define ADDRESS_LEAST UINT64_C(0x10000)
#define ADDRESS_MOST (UINT64_C(1) << 48)

struct file {
	struct julia_module module;
	uint32_t id;
	uint64_t bias;
	bool mapped;
};

/* Where the scan of a file's variables is. */
struct scan {
	uint64_t at;      /* the target's; 0: not begun */
	uint64_t left;    /* bytes */
	uint64_t low, high;
};

struct julia_finder {
	const struct runtime_tools *tools;
	struct maps *maps;
	size_t searched;  /* modules below have been searched */
	bool searching;   /* the module `searched` */
	struct julia_module_search search;
	struct file file[FILES_MOST];
	size_t count;

	uint32_t runtime; /* the module of the runtime that is there, and */
	uint64_t bias;    /* where it is: another one has another layout */
	bool known;       /* its layout is */
	bool refused, ready, told;
	unsigned looks;
	struct scan scan;
	struct julia_place place;
	char why[128];
};

struct julia_finder *
julia_finder_create(const struct runtime_tools *tools)
{
	struct julia_finder *finder = xcalloc(1, sizeof(*finder));

	finder->tools = tools;
	finder->maps = tools->config->maps;
	finder->runtime = MODULE_NONE;
	finder->told = true;
	return finder;
}

void
julia_finder_free(struct julia_finder *finder)
{
	free(finder);
}

const char *
julia_finder_why(struct julia_finder *finder)
{
	if (finder->told)
		return NULL;
	finder->told = true;
	return finder->why;
}

static void
refuse(struct julia_finder *finder, const char *why, uint32_t version)
{
	snprintf(finder->why, sizeof(finder->why), "Julia %u.%u.%u %s", version >> 16,
		 version >> 8 & 255, version & 255, why);
	finder->refused = true;
	finder->told = false;
}

static bool
read_memory(const struct memory *memory, uint64_t address, void *to, size_t size)
{
	return address >= ADDRESS_LEAST && address < ADDRESS_MOST &&
	       memory->read(memory->context, address, to, size);
}

/* --- does it fit --------------------------------------------------------------------------- */

static bool
read_tag(const struct memory *memory, uint64_t object, uint64_t *tag)
{
	uint64_t word;

	if (object % 16 != 0 || !read_memory(memory, object - sizeof(word), &word, sizeof(word)))
		return false;
	*tag = JULIA_TAG(word);
	return *tag != 0;
}

/*
 * Is this the structure of the nth thread, with tasks of that tag (0: of any, which is set)? The
 * garbage collector's threads have no tasks.
 */
static bool
is_thread(const struct julia_layout *layout, const struct memory *memory, uint64_t thread,
	  size_t n, uint64_t *tag)
{
	uint64_t task[2], pthread, own;
	uint16_t number;

	if (!read_memory(memory, thread + layout->thread_number, &number, sizeof(number)) ||
	    number != n ||
	    !read_memory(memory, thread + layout->thread_current, &task[0], sizeof(task[0])) ||
	    !read_memory(memory, thread + layout->thread_root, &task[1], sizeof(task[1])) ||
	    !read_memory(memory, thread + layout->thread_pthread, &pthread, sizeof(pthread)))
		return false;
	if (n > 0 && task[0] == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(task); i++) {
		if (!read_tag(memory, task[i], &own) || (*tag != 0 && own != *tag))
			return false;
		*tag = own;
	}
	return n > 0 || python_pthread_tid(memory, pthread) != 0;
}

size_t
julia_place_threads(const struct julia_place *place, const struct memory *memory, uint64_t *thread)
{
	uint32_t count;
	uint64_t array;

	if (!read_memory(memory, place->count, &count, sizeof(count)) || count == 0 ||
	    count > INT16_MAX || !read_memory(memory, place->threads, &array, sizeof(array)))
		return 0;
	if (count > JULIA_THREADS_MOST)
		count = JULIA_THREADS_MOST;
	return read_memory(memory, array, thread, count * sizeof(*thread)) ? count : 0;
}

uint64_t
julia_place_state(const struct julia_place *place, const uint8_t *task)
{
	uint64_t symbol;

	if (!place->layout.state_is_symbol)
		return task[place->layout.task_state];
	memcpy(&symbol, task + place->layout.task_state, sizeof(symbol));
	return symbol;
}

/* The task that the first thread began with ends with the program: its state is that of others that
 * have not ended. */
static bool
learn_runnable(struct julia_place *place, const struct memory *memory, uint64_t thread)
{
	uint8_t task[JULIA_TASK_MOST];
	uint64_t root;

	if (!read_memory(memory, thread + place->layout.thread_root, &root, sizeof(root)) ||
	    !read_memory(memory, root, task, place->layout.task_size))
		return false;
	place->runnable = julia_place_state(place, task);
	return true;
}

/* Is the array there that place->threads is to point to? */
static bool
fits(struct julia_finder *finder)
{
	const struct memory *memory = &finder->tools->memory;
	struct julia_place *place = &finder->place;
	uint64_t thread[JULIA_THREADS_MOST];
	const size_t count = julia_place_threads(place, memory, thread);

	place->tag = 0;
	for (size_t i = 0; i < count; i++)
		if (!is_thread(&place->layout, memory, thread[i], i, &place->tag))
			return false;
	return count > 0 && learn_runnable(place, memory, thread[0]);
}

/* --- the variable without a symbol ----------------------------------------------------------- */

static const struct file *
runtime_file(const struct julia_finder *finder)
{
	for (size_t i = 0; i < finder->count; i++)
		if (finder->file[i].mapped && finder->file[i].module.version != 0)
			return &finder->file[i];
	return NULL;
}

/* The file's variables; first those near the number of threads, with which the wanted one is
 * defined. */
static void
begin_scan(struct julia_finder *finder, const struct file *file)
{
	const struct image *image = modules_at(maps_modules(finder->maps), file->id)->image;
	struct scan *scan = &finder->scan;
	const uint64_t near = finder->place.count;

	for (size_t i = 0; i < image->segment_count; i++) {
		const struct image_segment *segment = &image->segment[i];

		if (!segment->writable)
			continue;
		scan->low = segment->vaddr + file->bias;
		scan->high = scan->low + segment->mem_size;
	}
	scan->low -= scan->low % MEMORY_PAGE;
	scan->at = near >= scan->low && near < scan->high ? near - near % MEMORY_PAGE : scan->low;
	scan->left = scan->high - scan->low;
}

static bool
may_be_address(const struct scan *scan, uint64_t word)
{
	return word % sizeof(word) == 0 && word >= ADDRESS_LEAST && word < ADDRESS_MOST &&
	       (word < scan->low || word >= scan->high);
}

/* Is one of the page's words the address of the array? */
static bool
scan_page(struct julia_finder *finder, uint64_t page)
{
	const struct memory *memory = &finder->tools->memory;
	struct memory_piece piece[PAGE_WORDS];
	uint64_t word[PAGE_WORDS], first[PAGE_WORDS];
	uint16_t at[PAGE_WORDS];
	bool got[PAGE_WORDS];
	size_t count = 0, bytes = 0;

	if (!read_memory(memory, page, word, sizeof(word)))
		return false;
	for (size_t i = 0; i < PAGE_WORDS; i++) {
		if (!may_be_address(&finder->scan, word[i]))
			continue;
		at[count] = (uint16_t)i;
		piece[count++] = (struct memory_piece){ word[i], sizeof(first[0]) };
		bytes += sizeof(first[0]);
	}
	memset(first, 0, bytes);
	runtime_read_pieces(finder->tools, piece, count, (uint8_t *)first, got);
	for (size_t i = 0; i < count; i++) {
		if (!got[i] || !may_be_address(&finder->scan, first[i]))
			continue;
		finder->place.threads = page + at[i] * sizeof(word[0]);
		if (fits(finder))
			return true;
	}
	finder->place.threads = 0;
	return false;
}

static bool
scan_some(struct julia_finder *finder, const struct file *file)
{
	struct scan *scan = &finder->scan;

	if (scan->left == 0)
		begin_scan(finder, file);
	for (size_t i = 0; i < SCAN_PAGES && scan->left > 0; i++) {
		if (scan_page(finder, scan->at))
			return true;
		scan->at += MEMORY_PAGE;
		scan->left -= scan->left < MEMORY_PAGE ? scan->left : MEMORY_PAGE;
		if (scan->at >= scan->high)
			scan->at = scan->low;
	}
	return false;
}

/* --- which layout --------------------------------------------------------------------------- */

static bool
read_debug_info(const struct julia_finder *finder, const struct file *file,
		struct julia_layout *layout)
{
	const struct module *module = modules_at(maps_modules(finder->maps), file->id);
	struct debug_files_config config = { .root = NULL };
	struct debug_info *info;
	char root[32];
	bool good;

	snprintf(root, sizeof(root), "/proc/%d/root", maps_process(finder->maps)->pid);
	config.root = root;
	info = debug_info_open(module, &config);
	if (info == NULL)
		return false;
	good = julia_layout_read(debug_info_dwarf(info), file->module.version, layout);
	debug_info_close(info);
	return good;
}

static void
choose_layout(struct julia_finder *finder, const struct file *file)
{
	const uint32_t version = file->module.version;
	const struct julia_layout *row = julia_layout_find(version);

	finder->known = true;
	if (row != NULL) {
		finder->place.layout = *row;
		finder->place.layout.version = version;
	} else if (!read_debug_info(finder, file, &finder->place.layout)) {
		refuse(finder, "is not known, and it has no debug information", version);
	}
}

/* --- modules --------------------------------------------------------------------------------- */

static bool
search_modules(struct julia_finder *finder)
{
	const struct modules *modules = maps_modules(finder->maps);
	uint64_t budget = BUDGET;

	for (; finder->searched < modules_count(modules); finder->searched++) {
		const uint32_t id = (uint32_t)finder->searched;
		const struct module *module = modules_at(modules, id);

		if (!julia_module_is_named(module) || finder->count == FILES_MOST)
			continue;
		if (!finder->searching)
			julia_module_search_init(&finder->search, module);
		finder->searching = !julia_module_search_step(&finder->search, &budget);
		if (finder->searching)
			return false;
		finder->file[finder->count++] =
			(struct file){ .module = finder->search.found, .id = id };
	}
	return true;
}

static void
place_files(struct julia_finder *finder)
{
	for (size_t k = 0; k < finder->count; k++)
		finder->file[k].mapped = false;
	for (size_t i = 0; finder->count > 0 && i < maps_count(finder->maps); i++) {
		const struct mapping *mapping = maps_at(finder->maps, i);

		for (size_t k = 0; k < finder->count; k++) {
			struct file *file = &finder->file[k];

			if (file->id != mapping->module || mapping->image == NULL)
				continue;
			file->bias = mapping->bias;
			file->mapped = true;
		}
	}
}

/* What the files have, whichever it is; but not where the array is without a symbol. */
static void
place_variables(struct julia_finder *finder)
{
	struct julia_place *place = &finder->place;
	uint64_t nothing = 0;

	place->count = place->base = 0;
	for (size_t i = 0; i < finder->count; i++) {
		const struct julia_module *module = &finder->file[i].module;
		const uint64_t bias = finder->file[i].bias;

		if (!finder->file[i].mapped)
			continue;
		if (module->threads != 0)
			place->threads = module->threads + bias;
		if (module->count != 0)
			place->count = module->count + bias;
		if (module->base != 0)
			place->base = module->base + bias;
		if (module->nothing != 0)
			nothing = module->nothing + bias;
	}
	if (!read_memory(&finder->tools->memory, nothing, &place->nothing, sizeof(place->nothing)))
		place->nothing = 0;
}

/* --- all of it ------------------------------------------------------------------------------ */

static void
begin_anew(struct julia_finder *finder, const struct file *file)
{
	finder->runtime = file->id;
	finder->bias = file->bias;
	finder->known = finder->refused = finder->ready = false;
	finder->looks = 0;
	finder->scan = (struct scan){ .at = 0 };
	finder->place = (struct julia_place){ .threads = 0 };
}

static void
look_at(struct julia_finder *finder, const struct file *file)
{
	if (file->id != finder->runtime || file->bias != finder->bias)
		begin_anew(finder, file);
	if (!finder->known)
		choose_layout(finder, file);
	if (finder->refused)
		return;
	place_variables(finder);
	finder->ready = finder->place.threads != 0 && fits(finder);
	if (!finder->ready && file->module.threads == 0 && finder->place.count != 0)
		finder->ready = scan_some(finder, file);
	if (finder->ready)
		finder->looks = 0;
	else if (++finder->looks == LOOKS_MOST)
		refuse(finder, "has its threads elsewhere than expected",
		       finder->place.layout.version);
}

const struct julia_place *
julia_finder_look(struct julia_finder *finder, bool *busy)
{
	const struct file *file;

	*busy = !search_modules(finder);
	place_files(finder);
	file = runtime_file(finder);
	if (file == NULL) {
		finder->runtime = MODULE_NONE;
		return NULL;
	}
	look_at(finder, file);
	*busy |= !finder->ready && !finder->refused;
	return finder->ready ? &finder->place : NULL;
}
