/* SPDX-License-Identifier: MIT */
/*
 * go_find.c - finds the Go runtimes of a process: the version and layout of the runtime in a
 * module, and the addresses of its variables.
 */
#include "runtime/go/go_find_internal.h"

#include <stddef.h>
#include <string.h>

struct go_candidate {
	struct finder_candidate base;
	struct go_file file;
	struct go_scan scan;
	struct go_home home;
};

static bool
go_take(struct finder_candidate *base, const void *search)
{
	struct go_candidate *c = (struct go_candidate *)base;

	c->file = ((const struct go_file_search *)search)->found;
	return c->file.build != 0;
}

/* --- layout ------------------------------------------------------------------------------ */

static void
go_begin_scan(struct finder *finder, struct go_candidate *c)
{
	go_scan_init(&c->scan, finder->tools, &c->home.layout,
		     finder_module(finder, &c->base)->image, c->base.bias);
}

/* Sets the layout and, from symbols, the addresses of the runtime's variables. Without symbols it
 * begins a scan of memory for the variables. Always returns true. */
static bool
go_take_layout(struct finder *finder, struct go_candidate *c, const struct go_layout *layout)
{
	const uint64_t bias = c->base.bias;
	struct go_home *home = &c->home;

	home->layout = *layout;
	home->all = 0;
	if (c->file.all == 0 || c->file.head == 0) {
		go_begin_scan(finder, c);
		return true;
	}
	home->all = c->file.all + bias;
	home->head[0] = c->file.head + bias;
	home->head_count = 1;
	home->reasons = c->file.reasons != 0 ? c->file.reasons + bias : 0;
	home->reason_count = (size_t)(c->file.reasons_size / (2 * sizeof(uint64_t)));
	return true;
}

static bool
go_read_dwarf(struct finder *finder, struct finder_candidate *base, Dwarf *dwarf)
{
	struct go_layout layout;

	return go_layout_read(dwarf, base->version, &layout) &&
	       go_take_layout(finder, (struct go_candidate *)base, &layout);
}

static void
go_keep_version(struct go_home *home, const char *text)
{
	/* After a blank the text names the builder, the date and the experiments of the build; that
	 * part is omitted. */
	const char *from = strstr(text, "go1.") + strlen("go");

	snprintf(home->version, sizeof(home->version), "%.*s", (int)strcspn(from, " "), from);
}

static bool
go_choose_layout(struct finder *finder, struct finder_candidate *base)
{
	struct go_candidate *c = (struct go_candidate *)base;
	const struct memory *memory = &finder->tools->memory;
	const struct go_layout *row = NULL;
	char text[GO_VERSION_TEXT];
	uint32_t minor, patch;
	bool released;

	c->home.module = base->module;
	c->home.bias = base->bias;
	if (!go_version_read(memory, c->file.build + base->bias, text))
		return false; /* the version is not mapped yet */
	if (!go_version_parse(text, &minor, &patch, &released)) {
		finder_refuse(finder, base, "its version is not known");
		return false;
	}
	base->version = minor;
	go_keep_version(&c->home, text);
	if (minor < GO_MINOR_OLDEST) {
		finder_refuse(finder, base,
			      "its version is %s, and 1.%d is the oldest that is "
			      "known",
			      c->home.version, GO_MINOR_OLDEST);
		return false;
	}
	if (released)
		row = go_layout_of(minor, patch);
	if (row != NULL)
		return go_take_layout(finder, c, row);
	if (finder_try_dwarf(finder, base))
		return true;
	finder_refuse(finder, base, "version %s is not known, and it has no debug information",
		      c->home.version);
	return false;
}

/* --- check ------------------------------------------------------------------------------- */

/*
 * Continues the scan of memory for the variables, and returns true when it has found them. If a
 * scan finds nothing, the next one begins when base.looks (the number of checks) is a power of two:
 * the intervals between scans grow.
 */
static bool
go_scan_more(struct finder *finder, struct go_candidate *c)
{
	struct go_scan *scan = &c->scan;
	const bool begins = scan->at == 0 && scan->segment == 0;

	if (begins && (c->base.looks & (c->base.looks - 1)) != 0)
		return false;
	if (!go_scan_step(scan, &finder->budget))
		return false;
	if (scan->all == 0 || scan->head_count == 0) {
		go_begin_scan(finder, c);
		return false;
	}
	c->home.all = scan->all;
	c->home.head_count = scan->head_count;
	memcpy(c->home.head, scan->head, sizeof(c->home.head));
	c->home.reasons = scan->reasons;
	c->home.reason_count = SIZE_MAX;
	return true;
}

static enum finder_fit
go_check(struct finder *finder, struct finder_candidate *base)
{
	struct go_candidate *c = (struct go_candidate *)base;

	if (c->home.all == 0 && !go_scan_more(finder, c))
		return FINDER_FIT_NOT_YET;
	base->address = c->home.all;
	return go_fit_all(finder->tools, &c->home.layout, c->home.all, false);
}

static void
go_version_text(const struct finder_candidate *base, char text[FINDER_VERSION_TEXT])
{
	const struct go_candidate *c = (const struct go_candidate *)base;

	snprintf(text, FINDER_VERSION_TEXT, "%s", c->home.version);
}

const struct finder_kind go_finder = {
	.name = "Go",
	.search_size = sizeof(struct go_file_search),
	.candidate_size = sizeof(struct go_candidate),
	.place_offset = offsetof(struct go_candidate, home),
	.search_begin = go_file_search_begin,
	.search_step = go_file_search_step,
	.take = go_take,
	.choose_layout = go_choose_layout,
	.read_dwarf = go_read_dwarf,
	.check = go_check,
	.version_text = go_version_text,
};
