/* SPDX-License-Identifier: MIT */
/* julia_find.c - finds the Julia runtime of a process: its files, its version, and the array of its
 * threads. */
#include "runtime/julia/julia_internal.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "wallsample/elf/symbol_search.h"

/* Number of pages of variables that one check (julia_check) scans; number of words in a page. */
#define SCAN_PAGES 16
#define PAGE_WORDS (MEMORY_PAGE / sizeof(uint64_t))
/* Bounds of addresses in user space on x86-64 and AArch64. No memory is mapped below
 * ADDRESS_LEAST. */
#define ADDRESS_LEAST UINT64_C(0x10000)
#define ADDRESS_MOST (UINT64_C(1) << 48)

/*
 * The variables and the version that a file of Julia contains. Up to Julia 1.5 libjulia has all of
 * them. Later, libjulia has only the variables that programs may use, and libjulia-internal has the
 * others. Files with other names are not searched: no program links Julia statically. Addresses are
 * those in the image; 0: the file does not have the variable.
 */
struct julia_module {
	uint64_t threads; /* jl_all_tls_states: a pointer to the array of threads */
	uint64_t count;   /* jl_n_threads: length of the array, an int */
	uint64_t nothing; /* jl_nothing: a pointer to the object "nothing" */
	uint64_t base;    /* jl_base_module: a pointer to the module Base */
	uint32_t version; /* made by JULIA_VERSION; 0: the file has no version */
};

/* State of the search of a file. */
struct julia_search {
	const struct image *image;
	struct symbol_search symbols;
	struct julia_module found;
};

/* State of the scan of a file's variables. */
struct scan {
	uint64_t at;        /* address in the target of the next page */
	uint64_t left;      /* bytes that are left to scan; 0: the next call begins a new scan */
	uint64_t low, high; /* the variables are in [low, high) */
};

/* A file of Julia. The candidate of the file with the version stands for the runtime; the other
 * files are in the state FINDER_PART. */
struct julia_candidate {
	struct finder_candidate base;
	struct julia_module file;
	struct scan scan;
	struct julia_place place;
};

/* --- a file: its version and variables ------------------------------------------------------ */

/* Most bytes of a function that returns a small constant, with or without a stack frame. */
#define CODE_MOST 16

enum { THREADS, COUNT, NOTHING, BASE, MINOR, OWN_MINOR, PATCH, OWN_PATCH };

/* Since Julia 1.7 names of functions in libjulia-internal have the prefix i; libjulia exports the
 * names without it. */
static const struct symbol_wanted wanted[] = {
	[THREADS] = { .name = "jl_all_tls_states" },
	[COUNT] = { .name = "jl_n_threads" },
	[NOTHING] = { .name = "jl_nothing" },
	[BASE] = { .name = "jl_base_module" },
	[MINOR] = { .name = "jl_ver_minor", .code = true },
	[OWN_MINOR] = { .name = "ijl_ver_minor", .code = true },
	[PATCH] = { .name = "jl_ver_patch", .code = true },
	[OWN_PATCH] = { .name = "ijl_ver_patch", .code = true },
};

static bool
julia_search_begin(void *state, const struct module *module)
{
	struct julia_search *search = state;

	search->image = module->image;
	symbol_search_init(&search->symbols, module->image, wanted, ARRAY_SIZE(wanted));
	return strstr(module->name, "libjulia") != NULL;
}

/* --- the version ------------------------------------------------------------------------- */

/* Decodes the number that a function returns, from its code: mov $number, %eax; or xor %eax, %eax.
 * Returns false when the code is neither. */
static bool
decode_returned_x86_64(const uint8_t code[CODE_MOST], uint32_t *number)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const uint8_t frame[] = { 0x55, 0x48, 0x89, 0xe5 };
	size_t at = 0;

	if (memcmp(code, endbr, sizeof(endbr)) == 0)
		at += sizeof(endbr);
	if (memcmp(code + at, frame, sizeof(frame)) == 0)
		at += sizeof(frame);
	*number = 0;
	if (code[at] == 0x31 && code[at + 1] == 0xc0)
		return true;
	memcpy(number, code + at + 1, sizeof(*number));
	return code[at] == 0xb8;
}

/* Decodes the number that a function returns, from its code: mov w0, #number, possibly after bti.
 * Returns false when the code has another form. */
static bool
decode_returned_aarch64(const uint8_t code[CODE_MOST], uint32_t *number)
{
	uint32_t word[2];

	memcpy(word, code, sizeof(word));
	if (word[0] == 0xd503245f)
		word[0] = word[1];
	*number = word[0] >> 5 & 0xffff;
	return (word[0] & 0xffe0001f) == 0x52800000;
}

static bool
decode_returned(const struct julia_search *search, size_t one, size_t other, uint32_t *number)
{
	const struct image *image = search->image;
	const struct symbol_search_found *symbol = symbol_search_first(&search->symbols, other);
	uint8_t code[CODE_MOST];

	if (symbol == NULL)
		symbol = symbol_search_first(&search->symbols, one);
	if (symbol == NULL || !image_read_vaddr(image, symbol->vaddr, code, sizeof(code)))
		return false;
	return (image->machine == EM_AARCH64 ? decode_returned_aarch64 :
					       decode_returned_x86_64)(code, number) &&
	       *number < 256;
}

/*
 * Returns the version that the file's functions return; 0: not known. Major versions other than 1
 * are not supported. Since 1.6 the functions in libjulia only forward calls, and yield no version.
 */
static uint32_t
find_version(const struct julia_search *search)
{
	uint32_t minor, patch;

	if (!decode_returned(search, MINOR, OWN_MINOR, &minor) ||
	    !decode_returned(search, PATCH, OWN_PATCH, &patch))
		return 0;
	return JULIA_VERSION(1, minor, patch);
}

/* --- variables --------------------------------------------------------------------------- */

static uint64_t
variable_address(const struct julia_search *search, size_t index)
{
	const struct symbol_search_found *symbol = symbol_search_first(&search->symbols, index);

	return symbol != NULL ? symbol->vaddr : 0;
}

static bool
julia_search_step(void *state, uint64_t *budget)
{
	struct julia_search *search = state;

	if (!symbol_search_step(&search->symbols, budget))
		return false;
	search->found = (struct julia_module){
		.threads = variable_address(search, THREADS),
		.count = variable_address(search, COUNT),
		.nothing = variable_address(search, NOTHING),
		.base = variable_address(search, BASE),
		.version = find_version(search),
	};
	return true;
}

static bool
julia_take(struct finder_candidate *base, const void *search)
{
	const struct julia_search *finished = search;

	((struct julia_candidate *)base)->file = finished->found;
	return true;
}

static bool
julia_find_read(const struct memory *memory, uint64_t address, void *to, size_t size)
{
	return address >= ADDRESS_LEAST && address < ADDRESS_MOST &&
	       memory_read(memory, address, to, size);
}

/* --- threads and tasks in memory --------------------------------------------------------- */

static bool
julia_read_tag(const struct memory *memory, uint64_t object, uint64_t *tag)
{
	uint64_t word;

	if (object % 16 != 0 ||
	    !julia_find_read(memory, object - sizeof(word), &word, sizeof(word)))
		return false;
	*tag = JULIA_TAG(word);
	return *tag != 0;
}

/*
 * Returns true when `thread` is the address of the structure of thread number n, and its tasks have
 * the type tag *tag. If *tag is 0, it is set to the tag of the first task. A thread without a task,
 * other than thread 0, is accepted: threads of the garbage collector have no tasks.
 */
static bool
julia_is_thread(const struct julia_layout *layout, const struct memory *memory, uint64_t thread,
		size_t n, uint64_t *tag)
{
	uint64_t task[2], pthread, own;
	uint16_t number;

	if (!julia_find_read(memory, thread + layout->thread_number, &number, sizeof(number)) ||
	    number != n ||
	    !julia_find_read(memory, thread + layout->thread_current, &task[0], sizeof(task[0])) ||
	    !julia_find_read(memory, thread + layout->thread_root, &task[1], sizeof(task[1])) ||
	    !julia_find_read(memory, thread + layout->thread_pthread, &pthread, sizeof(pthread)))
		return false;
	if (n > 0 && task[0] == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(task); i++) {
		if (!julia_read_tag(memory, task[i], &own) || (*tag != 0 && own != *tag))
			return false;
		*tag = own;
	}
	return n > 0 || pthread_tid_read(memory, pthread) != 0;
}

size_t
julia_place_threads(const struct julia_place *place, const struct memory *memory, uint64_t *thread)
{
	uint32_t count;
	uint64_t array;

	if (!julia_find_read(memory, place->count, &count, sizeof(count)) || count == 0 ||
	    count > INT16_MAX || !julia_find_read(memory, place->threads, &array, sizeof(array)))
		return 0;
	if (count > JULIA_THREADS_MOST)
		count = JULIA_THREADS_MOST;
	return julia_find_read(memory, array, thread, count * sizeof(*thread)) ? count : 0;
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

/* Sets place->runnable from the root task of the first thread: this task lives until the program
 * ends, so its state is the state of all tasks that have not ended. */
static bool
julia_learn_runnable(struct julia_place *place, const struct memory *memory, uint64_t thread)
{
	uint8_t task[JULIA_TASK_MOST];
	uint64_t root;

	if (!julia_find_read(memory, thread + place->layout.thread_root, &root, sizeof(root)) ||
	    !julia_find_read(memory, root, task, place->layout.task_size))
		return false;
	place->runnable = julia_place_state(place, task);
	return true;
}

/*
 * Returns true when place->threads points to an array of threads that are all plausible. Sets
 * place->tag and place->runnable.
 */
static bool
julia_fits(const struct memory *memory, struct julia_place *place)
{
	uint64_t thread[JULIA_THREADS_MOST];
	const size_t count = julia_place_threads(place, memory, thread);

	place->tag = 0;
	for (size_t i = 0; i < count; i++)
		if (!julia_is_thread(&place->layout, memory, thread[i], i, &place->tag))
			return false;
	return count > 0 && julia_learn_runnable(place, memory, thread[0]);
}

/* --- the variable without a symbol ------------------------------------------------------- */

/* Begins to scan the file's variables, from its first to its last writable segment. The scan begins
 * at the variable with the number of threads, if that is there: the variable with the array's
 * address is defined beside it. */
static void
julia_begin_scan(struct finder *finder, struct julia_candidate *c)
{
	const struct image *image = finder_module(finder, &c->base)->image;
	const uint64_t near = c->place.count;
	struct scan *scan = &c->scan;

	*scan = (struct scan){ .high = 0 };
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct image_segment *segment = &image->segment[i];

		if (!segment->writable)
			continue;
		if (scan->high == 0)
			scan->low = segment->vaddr + c->base.bias;
		scan->high = segment->vaddr + c->base.bias + segment->mem_size;
	}
	scan->low -= scan->low % MEMORY_PAGE;
	scan->at = near >= scan->low && near < scan->high ? near - near % MEMORY_PAGE : scan->low;
	scan->left = scan->high - scan->low;
}

static bool
julia_may_be_address(const struct scan *scan, uint64_t word)
{
	return word % sizeof(word) == 0 && word >= ADDRESS_LEAST && word < ADDRESS_MOST &&
	       (word < scan->low || word >= scan->high);
}

/* Scans one page. Returns true when one of its words is the address of the array of threads, and
 * stores the address of that word in c->place.threads; otherwise sets this to 0. */
static bool
julia_scan_page(struct finder *finder, struct julia_candidate *c, uint64_t page)
{
	const struct memory *memory = &finder->tools->memory;
	struct memory_piece piece[PAGE_WORDS];
	uint64_t word[PAGE_WORDS], first[PAGE_WORDS];
	uint16_t at[PAGE_WORDS];
	bool got[PAGE_WORDS];
	size_t count = 0;

	if (!julia_find_read(memory, page, word, sizeof(word)))
		return false;
	for (size_t i = 0; i < PAGE_WORDS; i++) {
		if (!julia_may_be_address(&c->scan, word[i]))
			continue;
		at[count] = (uint16_t)i;
		piece[count++] = (struct memory_piece){ word[i], sizeof(first[0]) };
	}
	memset(first, 0, count * sizeof(first[0]));
	runtime_read_pieces(finder->tools, piece, count, (uint8_t *)first, got);
	for (size_t i = 0; i < count; i++) {
		if (!got[i] || !julia_may_be_address(&c->scan, first[i]))
			continue;
		c->place.threads = page + at[i] * sizeof(word[0]);
		if (julia_fits(memory, &c->place))
			return true;
	}
	c->place.threads = 0;
	return false;
}

static bool
julia_scan_some(struct finder *finder, struct julia_candidate *c)
{
	struct scan *scan = &c->scan;

	if (scan->left == 0)
		julia_begin_scan(finder, c);
	for (size_t i = 0; i < SCAN_PAGES && scan->left > 0; i++) {
		if (julia_scan_page(finder, c, scan->at))
			return true;
		scan->at += MEMORY_PAGE;
		scan->left -= scan->left < MEMORY_PAGE ? scan->left : MEMORY_PAGE;
		if (scan->at >= scan->high)
			scan->at = scan->low;
	}
	return false;
}

/* --- layout ------------------------------------------------------------------------------ */

void
julia_version_text(uint32_t version, char *text, size_t size)
{
	snprintf(text, size, "%u.%u.%u", version >> 16, version >> 8 & 255, version & 255);
}

static void
julia_candidate_version(const struct finder_candidate *base, char text[FINDER_VERSION_TEXT])
{
	julia_version_text(base->version, text, FINDER_VERSION_TEXT);
}

static bool
julia_read_dwarf(struct finder *finder, struct finder_candidate *base, Dwarf *dwarf)
{
	struct julia_layout layout;

	(void)finder;
	if (!julia_layout_read(dwarf, base->version, &layout))
		return false;
	((struct julia_candidate *)base)->place.layout = layout;
	return true;
}

static bool
julia_choose_layout(struct finder *finder, struct finder_candidate *base)
{
	struct julia_candidate *c = (struct julia_candidate *)base;
	const struct julia_layout *row, known = c->place.layout;
	char text[FINDER_VERSION_TEXT];

	c->scan = (struct scan){ .at = 0 };
	c->place = (struct julia_place){ .layout = known };
	if (c->file.version == 0)
		base->state = FINDER_PART;
	if (c->file.version == 0 || known.version != 0)
		return known.version != 0;
	base->version = c->file.version;
	row = julia_layout_find(base->version);
	if (row != NULL) {
		c->place.layout = *row;
		c->place.layout.version = base->version;
		return true;
	}
	if (finder_try_dwarf(finder, base))
		return true;
	julia_candidate_version(base, text);
	finder_refuse(finder, base, "version %s is not known, and it has no debug information",
		      text);
	return false;
}

/* --- check ------------------------------------------------------------------------------- */

/*
 * Sets the addresses of variables from the symbols of all files. If no file has a symbol for the
 * array of threads, place->threads keeps the address that a scan has found.
 */
static void
julia_place_variables(const struct finder *finder, struct julia_place *place)
{
	uint64_t nothing = 0;

	place->count = place->base = 0;
	for (size_t i = 0; i < finder->count; i++) {
		const struct julia_candidate *c = (const struct julia_candidate *)
							  finder->candidate[i];
		const uint64_t bias = c->base.bias;

		if (!c->base.mapped)
			continue;
		if (c->file.threads != 0)
			place->threads = c->file.threads + bias;
		if (c->file.count != 0)
			place->count = c->file.count + bias;
		if (c->file.base != 0)
			place->base = c->file.base + bias;
		if (c->file.nothing != 0)
			nothing = c->file.nothing + bias;
	}
	if (!julia_find_read(&finder->tools->memory, nothing, &place->nothing,
			     sizeof(place->nothing)))
		place->nothing = 0;
}

static enum finder_fit
julia_check(struct finder *finder, struct finder_candidate *base)
{
	struct julia_candidate *c = (struct julia_candidate *)base;
	struct julia_place *place = &c->place;

	julia_place_variables(finder, place);
	base->address = base->bias;
	if ((place->threads != 0 && julia_fits(&finder->tools->memory, place)) ||
	    (c->file.threads == 0 && place->count != 0 && julia_scan_some(finder, c)))
		return FINDER_FIT_GOOD;
	if (base->looks + 1 == FINDER_LOOKS_MOST)
		finder_refuse(finder, base, "its threads are not where they are expected");
	return FINDER_FIT_NOT_YET;
}

const struct finder_kind julia_finder = {
	.name = "Julia",
	.search_size = sizeof(struct julia_search),
	.candidate_size = sizeof(struct julia_candidate),
	.place_offset = offsetof(struct julia_candidate, place),
	.search_begin = julia_search_begin,
	.search_step = julia_search_step,
	.take = julia_take,
	.choose_layout = julia_choose_layout,
	.read_dwarf = julia_read_dwarf,
	.check = julia_check,
	.version_text = julia_candidate_version,
};
