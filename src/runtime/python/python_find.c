/* SPDX-License-Identifier: MIT */
/*
 * python_find.c - the CPythons of a process: which modules have one, of which layout, and whether
 * that fits what is in memory.
 */
#include "runtime/python/python_find_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/python/python_module_internal.h"
#include "runtime/python/python_sources_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/dwarf/debug_info.h"

/* A process has one, or a few that plugins brought along. */
#define CANDIDATES_MAX 16

/*
 * An interpreter that is not there yet is looked for in this many calls; later only when mappings
 * have changed. It takes 10 ms or so from exec, but a program may load one and begin to use it
 * at any time.
 */
#define LOOKS_MOST 2000
/*
 * A layout that so often in a row did not fit is wrong. An interpreter that is being set up does
 * not fit, nor one whose threads come and go while its list of them is read.
 */
#define MISFITS_MOST 20
enum state {
	NEW,     /* nothing but the place is known */
	WAITING, /* the layout is known, and memory has no interpreter yet */
	READY,
	REFUSED,
};

struct candidate {
	struct python_module module;
	uint32_t id;            /* of the module */
	uint64_t bias;          /* where it was when it was looked at last */
	bool mapped;
	enum state state;
	unsigned looks, misfits;
	bool dwarf_tried;
	struct python_layout layout;
};

struct python_finder {
	struct maps *maps;
	const struct memory *memory;
	size_t searched;        /* modules below have been searched */
	bool searching;         /* the module `searched` */
	struct python_module_search search;
	struct candidate candidate[CANDIDATES_MAX];
	size_t count;
	struct python_place place[CANDIDATES_MAX];
	char why[512];
	bool told;              /* the reason was fetched, or there is none */
};

struct python_finder *
python_finder_create(struct maps *maps, const struct memory *memory)
{
	struct python_finder *finder = xcalloc(1, sizeof(*finder));

	finder->maps = maps;
	finder->memory = memory;
	finder->told = true;
	return finder;
}

void
python_finder_free(struct python_finder *finder)
{
	free(finder);
}

const char *
python_finder_why(struct python_finder *finder)
{
	if (finder->told)
		return NULL;
	finder->told = true;
	return finder->why;
}

static uint64_t
runtime_of(const struct candidate *c)
{
	return c->module.runtime + c->bias;
}

static bool
read_memory(const struct python_finder *finder, uint64_t address, void *to, size_t size)
{
	return address <= UINT64_MAX - size &&
	       finder->memory->read(finder->memory->context, address, to, size);
}

/* As much of it as there is, page by page: a structure may end where its mapping does. */
static size_t
read_some(const struct python_finder *finder, uint64_t address, uint8_t *to, size_t size)
{
	size_t done = 0;

	while (done < size) {
		size_t part = MEMORY_PAGE - (size_t)((address + done) % MEMORY_PAGE);

		if (part > size - done)
			part = size - done;
		if (!read_memory(finder, address + done, to + done, part))
			break;
		done += part;
	}
	return done;
}

/* --- refusals ----------------------------------------------------------------------------- */

static void __attribute__((format(printf, 3, 4)))
refuse(struct python_finder *finder, struct candidate *c, const char *fmt, ...)
{
	const struct module *module = modules_at(maps_modules(finder->maps), c->id);
	struct strbuf text;
	char reason[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(reason, sizeof(reason), fmt, args);
	va_end(args);
	strbuf_init(&text);
	strbuf_add_text(&text, "the CPython in ");
	strbuf_add_foreign(&text, module->name);
	strbuf_add_text(&text, " cannot be read: ");
	strbuf_add_text(&text, reason);
	snprintf(finder->why, sizeof(finder->why), "%s", text.data);
	strbuf_release(&text);
	finder->told = false;
	c->state = REFUSED;
}

/* --- which layout ------------------------------------------------------------------------- */

/* What the module says of its version, in memory or in its file; 0: nothing. */
static uint32_t
find_version(const struct python_finder *finder, const struct candidate *c)
{
	uint32_t version;

	if (c->module.version == 0)
		return python_module_version(&c->module);
	if (!read_memory(finder, c->module.version + c->bias, &version, sizeof(version)))
		return 0;
	return version;
}

static void
take_layout(struct candidate *c, const struct python_layout *layout, uint32_t version)
{
	c->layout = *layout;
	c->layout.version = version;
	c->layout.debug = c->module.debug;
	c->state = WAITING;
	c->misfits = 0;
}

/* Is there DWARF that tells? It is asked once, as it can take a fifth of a second. */
static bool
try_dwarf(struct python_finder *finder, struct candidate *c, uint32_t version)
{
	const struct module *module = modules_at(maps_modules(finder->maps), c->id);
	struct debug_files_config config = { .root = NULL };
	struct python_layout layout;
	struct debug_info *info;
	char root[32];
	bool good;

	if (c->dwarf_tried)
		return false;
	c->dwarf_tried = true;
	snprintf(root, sizeof(root), "/proc/%d/root", maps_process(finder->maps)->pid);
	config.root = root;
	info = debug_info_open(module, &config);
	if (info == NULL)
		return false;
	good = python_dwarf_read(debug_info_dwarf(info), version, &layout);
	if (good)
		take_layout(c, &layout, version);
	debug_info_close(info);
	return good;
}

static void
choose_by_version(struct python_finder *finder, struct candidate *c)
{
	const uint32_t version = find_version(finder, c);
	const struct python_layout *row = python_table_next(version, NULL);
	char text[PYTHON_VERSION_TEXT];

	if (version == 0 && c->module.version != 0)
		return; /* not mapped yet, as while a library is being loaded */
	if (version == 0) {
		refuse(finder, c, "its version is not known");
		return;
	}
	python_version_text(version, text);
	if (version >> 24 != 3 || python_minor(version) < PYTHON_MINOR_OLDEST)
		refuse(finder, c, "its version is %s, and 3.%d is the oldest that is known", text,
		       PYTHON_MINOR_OLDEST);
	else if ((row == NULL || c->module.debug || c->module.traced) &&
		 try_dwarf(finder, c, version))
		return;
	else if (row == NULL || c->module.traced)
		refuse(finder, c, "version %s%s is not known, and it has no debug information",
		       text, c->module.traced ? " with traced references" : "");
	else
		take_layout(c, row, version);
}

static void
choose_layout(struct python_finder *finder, struct candidate *c)
{
	uint8_t bytes[PYTHON_OFFSETS_SIZE];
	size_t size = read_some(finder, runtime_of(c), bytes, sizeof(bytes));
	struct python_layout layout;
	uint64_t version;
	const char *why;

	if (size < sizeof(PYTHON_COOKIE) - 1)
		return; /* not mapped yet */
	if (!python_offsets_version(bytes, size, &version))
		choose_by_version(finder, c);
	else if (python_offsets_parse(bytes, size, &layout, &why))
		take_layout(c, &layout, layout.version);
	else
		refuse(finder, c, "%s (version 0x%" PRIx64 ")", why, version);
}

/* --- does it fit --------------------------------------------------------------------------- */

/* One that was ready: after an exec of the same file another may begin in its place. */
static void
check_again(struct python_finder *finder, struct candidate *c)
{
	const enum python_fit fit = python_layout_check(&c->layout, runtime_of(c), finder->memory);

	c->misfits = fit == PYTHON_FIT_NOT ? c->misfits + 1 : 0;
	if (fit == PYTHON_FIT_NOTHING_YET || c->misfits == MISFITS_MOST) {
		c->state = NEW;
		c->looks = c->misfits = 0;
	}
}

static void
check_candidate(struct python_finder *finder, struct candidate *c)
{
	char text[PYTHON_VERSION_TEXT];

	switch (python_layout_check(&c->layout, runtime_of(c), finder->memory)) {
	case PYTHON_FIT_NOTHING_YET:
		c->misfits = 0;
		return;
	case PYTHON_FIT_WELL:
		c->state = READY;
		c->looks = c->misfits = 0;
		return;
	case PYTHON_FIT_NOT:
		if (++c->misfits < MISFITS_MOST || try_dwarf(finder, c, c->layout.version))
			return;
	}
	python_version_text(c->layout.version, text);
	refuse(finder, c, "its memory is not laid out as that of version %s", text);
}

/* --- modules --------------------------------------------------------------------------------- */

static void
add_candidate(struct python_finder *finder, const struct python_module *module)
{
	if (module->runtime == 0 || finder->count == CANDIDATES_MAX)
		return;
	finder->candidate[finder->count++] = (struct candidate){
		.module = *module,
		.id = (uint32_t)finder->searched,
	};
}

/* True when all modules that there are have been searched. */
static bool
search_modules(struct python_finder *finder)
{
	const struct modules *modules = maps_modules(finder->maps);
	uint64_t budget = PYTHON_FIND_BUDGET;

	while (finder->searched < modules_count(modules) && budget > 0) {
		const struct module *module = modules_at(modules, (uint32_t)finder->searched);

		if (module->kind == MODULE_FILE) {
			if (!finder->searching)
				python_module_search_init(&finder->search, module);
			finder->searching = !python_module_search_step(&finder->search, &budget);
			if (finder->searching)
				break;
			add_candidate(finder, &finder->search.found);
		}
		finder->searched++;
	}
	return finder->searched == modules_count(modules);
}

/* Where the candidates are now. One that has moved, as by an exec, is another one. */
static void
place_candidates(struct python_finder *finder)
{
	for (size_t k = 0; k < finder->count; k++)
		finder->candidate[k].mapped = false;
	for (size_t i = 0; finder->count > 0 && i < maps_count(finder->maps); i++) {
		const struct mapping *mapping = maps_at(finder->maps, i);

		for (size_t k = 0; k < finder->count; k++) {
			struct candidate *c = &finder->candidate[k];

			if (c->id != mapping->module || mapping->image == NULL || c->mapped)
				continue;
			if (c->bias != mapping->bias)
				c->looks = c->misfits = c->state = NEW;
			c->bias = mapping->bias;
			c->mapped = true;
		}
	}
}

static void
fill_place(const struct candidate *c, struct python_place *place)
{
	*place = (struct python_place){
		.module = c->id,
		.runtime = runtime_of(c),
		.layout = c->layout,
		.eval_count = c->module.eval_count,
	};
	memcpy(place->eval, c->module.eval, sizeof(place->eval));
	for (size_t i = 0; i < place->eval_count; i++)
		place->eval[i].start += c->bias;
}

static void
look_at(struct python_finder *finder, struct candidate *c)
{
	if (c->state == READY)
		check_again(finder, c);
	if (c->state == NEW)
		choose_layout(finder, c);
	if (c->state == WAITING)
		check_candidate(finder, c);
}

static bool
is_unsettled(struct candidate *c)
{
	if (c->state == NEW || c->state == WAITING)
		return c->looks++ < LOOKS_MOST;
	return c->misfits > 0 && c->state == READY;
}

size_t
python_finder_look(struct python_finder *finder, const struct python_place **place, bool *busy)
{
	size_t count = 0;

	*busy = !search_modules(finder);
	place_candidates(finder);
	for (size_t k = 0; k < finder->count; k++) {
		struct candidate *c = &finder->candidate[k];

		if (!c->mapped)
			continue;
		look_at(finder, c);
		if (c->state == READY)
			fill_place(c, &finder->place[count++]);
		*busy |= is_unsettled(c);
	}
	*place = finder->place;
	return count;
}
