/* SPDX-License-Identifier: MIT */
/*
 * go_find.c - the Go runtimes of a process: which modules have one, of which layout, and where in
 * memory they are.
 */
#include "runtime/go/go_find_internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/go/go_sources_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/dwarf/debug_info.h"

/* A process has one; libraries that bring along one each are rare. */
#define CANDIDATES_MAX 16
/* One that has not begun yet is looked for in so many calls, later when mappings have changed. */
#define LOOKS_MOST 2000
/* A layout that so often in a row did not fit is wrong. */
#define MISFITS_MOST 20

enum state {
	NEW,      /* nothing but the place is known */
	SCANNING, /* its variables are looked for in memory */
	WAITING,  /* the layout is known, and memory has no goroutine yet */
	READY,
	REFUSED,
};

struct candidate {
	struct go_file module;
	uint32_t id;            /* of the module */
	bool mapped;
	enum state state;
	unsigned looks, misfits;
	bool dwarf_tried;
	struct go_scan scan;
	struct go_home home;
};

struct go_finder {
	const struct runtime_tools *tools;
	struct maps *maps;
	size_t searched;        /* modules below have been searched */
	bool searching;         /* the module `searched` */
	struct go_file_search search;
	struct candidate candidate[CANDIDATES_MAX];
	size_t count;
	struct go_home home[CANDIDATES_MAX];
	uint64_t budget;        /* left of this call */
	char why[512];
	bool told;              /* the reason was fetched, or there is none */
};

struct go_finder *
go_finder_create(const struct runtime_tools *tools)
{
	struct go_finder *finder = xcalloc(1, sizeof(*finder));

	finder->tools = tools;
	finder->maps = tools->config->maps;
	finder->told = true;
	return finder;
}

void
go_finder_free(struct go_finder *finder)
{
	free(finder);
}

const char *
go_finder_why(struct go_finder *finder)
{
	if (finder->told)
		return NULL;
	finder->told = true;
	return finder->why;
}

static const struct module *
module_of(const struct go_finder *finder, const struct candidate *c)
{
	return modules_at(maps_modules(finder->maps), c->id);
}

static void __attribute__((format(printf, 3, 4)))
refuse(struct go_finder *finder, struct candidate *c, const char *fmt, ...)
{
	struct strbuf text;
	char reason[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(reason, sizeof(reason), fmt, args);
	va_end(args);
	strbuf_init(&text);
	strbuf_add_text(&text, "the Go in ");
	strbuf_add_foreign(&text, module_of(finder, c)->name);
	strbuf_add_text(&text, " cannot be read: ");
	strbuf_add_text(&text, reason);
	snprintf(finder->why, sizeof(finder->why), "%s", text.data);
	strbuf_release(&text);
	finder->told = false;
	c->state = REFUSED;
}

/* --- which layout ------------------------------ */

/* Is there DWARF that tells? It is asked once. */
static bool
try_dwarf(struct go_finder *finder, struct candidate *c, uint32_t minor)
{
	struct debug_files_config config = { .root = NULL };
	struct go_layout layout;
	struct debug_info *info;
	char root[32];
	bool good;

	if (c->dwarf_tried)
		return false;
	c->dwarf_tried = true;
	snprintf(root, sizeof(root), "/proc/%d/root", maps_process(finder->maps)->pid);
	config.root = root;
	info = debug_info_open(module_of(finder, c), &config);
	if (info == NULL)
		return false;
	good = go_layout_read(debug_info_dwarf(info), minor, &layout);
	if (good)
		c->home.layout = layout;
	debug_info_close(info);
	return good;
}

/* Without symbols for all that is needed, memory is looked through. */
static void
settle_layout(struct go_finder *finder, struct candidate *c)
{
	struct go_home *home = &c->home;

	c->misfits = 0;
	if (c->module.all == 0 || c->module.head == 0) {
		go_scan_init(&c->scan, finder->tools, &home->layout,
			     module_of(finder, c)->image, home->bias);
		c->state = SCANNING;
		return;
	}
	home->all = c->module.all + home->bias;
	home->head[0] = c->module.head + home->bias;
	home->head_count = 1;
	home->reasons = c->module.reasons != 0 ? c->module.reasons + home->bias : 0;
	home->reason_count = (size_t)(c->module.reasons_size / (2 * sizeof(uint64_t)));
	c->state = WAITING;
}

static void
keep_version(struct go_home *home, const char *text)
{
	/* What follows a blank is who built it, when, and with which experiments. */
	const char *from = strstr(text, "go1.") + strlen("go");

	snprintf(home->version, sizeof(home->version), "%.*s", (int)strcspn(from, " "), from);
}

static void
choose_layout(struct go_finder *finder, struct candidate *c)
{
	const struct go_layout *row = NULL;
	char text[GO_VERSION_TEXT];
	uint32_t minor, patch;
	bool released;

	if (!go_version_read(&finder->tools->memory, c->module.build + c->home.bias, text))
		return; /* not mapped yet */
	if (!go_version_parse(text, &minor, &patch, &released)) {
		refuse(finder, c, "its version is not known");
		return;
	}
	keep_version(&c->home, text);
	if (released)
		row = go_layout_of(minor, patch);
	if (minor < GO_MINOR_OLDEST) {
		refuse(finder, c, "its version is %s, and 1.%d is the oldest that is known",
		       c->home.version, GO_MINOR_OLDEST);
	} else if (row != NULL) {
		c->home.layout = *row;
		settle_layout(finder, c);
	} else if (try_dwarf(finder, c, minor)) {
		settle_layout(finder, c);
	} else {
		refuse(finder, c, "version %s is not known, and it has no debug information",
		       c->home.version);
	}
}

/* --- where it is ------------------------------ */

/* Nothing was found: it may begin later. It is looked through ever more seldom. */
static bool
is_time_to_scan(const struct candidate *c)
{
	return (c->looks & (c->looks - 1)) == 0;
}

static void
scan(struct go_finder *finder, struct candidate *c)
{
	struct go_scan *scan = &c->scan;

	if (scan->at == 0 && scan->segment == 0 && c->looks > 0 && !is_time_to_scan(c))
		return;
	if (!go_scan_step(scan, &finder->budget))
		return;
	if (scan->all == 0 || scan->head_count == 0) {
		go_scan_init(scan, finder->tools, &c->home.layout, module_of(finder, c)->image,
			     c->home.bias);
		return;
	}
	c->home.all = scan->all;
	c->home.head_count = scan->head_count;
	memcpy(c->home.head, scan->head, sizeof(c->home.head));
	c->home.reasons = scan->reasons;
	c->home.reason_count = SIZE_MAX;
	c->state = WAITING;
}

static enum go_fit
check(const struct go_finder *finder, const struct candidate *c)
{
	return go_fit_all(finder->tools, &c->home.layout, c->home.all, false);
}

/* One that was ready: after an exec of the same file another may begin in its place. */
static void
check_again(struct go_finder *finder, struct candidate *c)
{
	const enum go_fit fit = check(finder, c);

	c->misfits = fit == GO_FIT_NOT ? c->misfits + 1 : 0;
	if (fit == GO_FIT_NOTHING_YET || c->misfits == MISFITS_MOST) {
		c->state = NEW;
		c->looks = c->misfits = 0;
	}
}

static void
check_candidate(struct go_finder *finder, struct candidate *c)
{
	switch (check(finder, c)) {
	case GO_FIT_NOTHING_YET:
		c->misfits = 0;
		return;
	case GO_FIT_WELL:
		c->state = READY;
		c->looks = c->misfits = 0;
		return;
	case GO_FIT_NOT:
		if (++c->misfits < MISFITS_MOST)
			return;
	}
	if (try_dwarf(finder, c, c->home.layout.minor))
		settle_layout(finder, c);
	else
		refuse(finder, c, "its memory is not laid out as that of version %s",
		       c->home.version);
}

static void
look_at(struct go_finder *finder, struct candidate *c)
{
	if (c->state == READY)
		check_again(finder, c);
	if (c->state == NEW)
		choose_layout(finder, c);
	if (c->state == SCANNING)
		scan(finder, c);
	if (c->state == WAITING)
		check_candidate(finder, c);
}

static bool
is_unsettled(struct candidate *c)
{
	if (c->state == NEW || c->state == SCANNING || c->state == WAITING)
		return c->looks++ < LOOKS_MOST;
	return c->misfits > 0 && c->state == READY;
}

/* --- modules ------------------------------ */

static void
add_candidate(struct go_finder *finder, const struct go_file *module)
{
	if (module->build == 0 || finder->count == CANDIDATES_MAX)
		return;
	finder->candidate[finder->count++] = (struct candidate){
		.module = *module,
		.id = (uint32_t)finder->searched,
		.home.module = (uint32_t)finder->searched,
	};
}

/* True when all modules that there are have been searched. */
static bool
search_modules(struct go_finder *finder)
{
	const struct modules *modules = maps_modules(finder->maps);

	while (finder->searched < modules_count(modules) && finder->budget > 0) {
		const struct module *module = modules_at(modules, (uint32_t)finder->searched);

		if (module->kind == MODULE_FILE) {
			if (!finder->searching)
				go_file_search_init(&finder->search, module->image);
			finder->searching = !go_file_search_step(&finder->search,
								   &finder->budget);
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
place_candidates(struct go_finder *finder)
{
	for (size_t k = 0; k < finder->count; k++)
		finder->candidate[k].mapped = false;
	for (size_t i = 0; finder->count > 0 && i < maps_count(finder->maps); i++) {
		const struct mapping *mapping = maps_at(finder->maps, i);

		for (size_t k = 0; k < finder->count; k++) {
			struct candidate *c = &finder->candidate[k];

			if (c->id != mapping->module || mapping->image == NULL || c->mapped)
				continue;
			if (c->home.bias != mapping->bias)
				c->looks = c->misfits = c->state = NEW;
			c->home.bias = mapping->bias;
			c->mapped = true;
		}
	}
}

size_t
go_finder_look(struct go_finder *finder, const struct go_home **home, bool *busy)
{
	size_t count = 0;

	finder->budget = GO_FIND_BUDGET;
	*busy = !search_modules(finder);
	place_candidates(finder);
	for (size_t k = 0; k < finder->count; k++) {
		struct candidate *c = &finder->candidate[k];

		if (!c->mapped)
			continue;
		look_at(finder, c);
		if (c->state == READY)
			finder->home[count++] = c->home;
		*busy |= is_unsettled(c);
	}
	*home = finder->home;
	return count;
}
