/* SPDX-License-Identifier: MIT */
/*
 * python_find.c - finds the CPythons of a process: which modules contain one, the layout of its
 * structures, and whether that layout fits the structures in memory.
 */
#include "runtime/python/python_find_internal.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

struct python_candidate {
	struct finder_candidate base;
	struct python_module module;
	struct python_place place;
};

static bool
python_take(struct finder_candidate *base, const void *search)
{
	struct python_candidate *c = (struct python_candidate *)base;

	c->module = ((const struct python_module_search *)search)->found;
	base->name = c->module.unread;
	return c->module.runtime != 0 || c->module.unread != NULL;
}

/* Reads up to `size` bytes, page by page, and ends at the first unreadable page: the structure may
 * be smaller than `size`, and its mapping may end directly after it. Returns the number of bytes
 * that were read. */
static size_t
python_read_readable(const struct finder *finder, uint64_t address, uint8_t *to, size_t size)
{
	size_t done = 0;

	while (done < size) {
		size_t part = MEMORY_PAGE - (size_t)((address + done) % MEMORY_PAGE);

		if (part > size - done)
			part = size - done;
		if (!memory_read(&finder->tools->memory, address + done, to + done, part))
			break;
		done += part;
	}
	return done;
}

/* --- layout ------------------------------------------------------------------------------ */

/* Sets the addresses in c->place from the bias of the candidate's module, which may have been
 * mapped elsewhere since the last call. */
static void
python_set_place(struct python_candidate *c)
{
	struct python_place *place = &c->place;

	c->base.address = c->module.runtime + c->base.bias;
	place->module = c->base.module;
	place->runtime = c->base.address;
	place->eval_count = c->module.eval_count;
	memcpy(place->eval, c->module.eval, sizeof(place->eval));
	for (size_t i = 0; i < place->eval_count; i++)
		place->eval[i].start += c->base.bias;
}

/* Returns the value of the variable Py_Version in memory, if the module has it; otherwise the
 * result of python_module_version. Returns 0 when the version is not known. */
static uint32_t
python_find_version(const struct finder *finder, const struct python_candidate *c)
{
	const uint64_t address = c->module.version + c->base.bias;
	uint32_t version;

	if (c->module.version == 0)
		return python_module_version(&c->module);
	return memory_read(&finder->tools->memory, address, &version, sizeof(version)) ? version :
											 0;
}

static bool
python_take_layout(struct python_candidate *c, const struct python_layout *layout)
{
	c->place.layout = *layout;
	c->place.layout.version = c->base.version;
	c->place.layout.debug = c->module.debug;
	return true;
}

static bool
python_read_dwarf(struct finder *finder, struct finder_candidate *base, Dwarf *dwarf)
{
	struct python_layout layout;

	(void)finder;
	return python_dwarf_read(dwarf, base->version, &layout) &&
	       python_take_layout((struct python_candidate *)base, &layout);
}

static void
python_candidate_version(const struct finder_candidate *base, char text[FINDER_VERSION_TEXT])
{
	_Static_assert(PYTHON_VERSION_TEXT <= FINDER_VERSION_TEXT, "a version fits");
	python_version_text(base->version, text);
}

static void
refuse_old(struct finder *finder, struct python_candidate *c, const char *version)
{
	finder_refuse(finder, &c->base, "its version is %s, and 3.%d is the oldest that is known",
		      version, PYTHON_MINOR_OLDEST);
}

/* Refuses an interpreter without _PyRuntime: another one than CPython, or a CPython below 3.7. */
static void
refuse_unread(struct finder *finder, struct python_candidate *c)
{
	const char *version = c->module.unread_version;

	if (strcmp(c->module.unread, python_finder.name) != 0)
		finder_refuse(finder, &c->base, "only CPython is, from version 3.%d on",
			      PYTHON_MINOR_OLDEST);
	else if (version[0] != '\0')
		refuse_old(finder, c, version);
	else
		finder_refuse(finder, &c->base,
			      "its version is older than 3.%d, the oldest that is known",
			      PYTHON_MINOR_OLDEST);
}

static bool
python_choose_by_version(struct finder *finder, struct python_candidate *c)
{
	const uint32_t version = c->base.version;
	struct python_layout layout;
	const bool released = python_table_read(version, &layout);
	char text[PYTHON_VERSION_TEXT];

	python_version_text(version, text);
	if (version >> 24 != 3 || python_minor(version) < PYTHON_MINOR_OLDEST) {
		refuse_old(finder, c, text);
		return false;
	}
	if ((!released || c->module.debug || c->module.traced) &&
	    finder_try_dwarf(finder, &c->base))
		return true;
	if (released && !c->module.traced)
		return python_take_layout(c, &layout);
	finder_refuse(finder, &c->base,
		      "version %s%s is not known, and it has no debug information", text,
		      c->module.traced ? " with traced references" : "");
	return false;
}

static bool
python_choose_layout(struct finder *finder, struct finder_candidate *base)
{
	struct python_candidate *c = (struct python_candidate *)base;
	uint8_t bytes[PYTHON_OFFSETS_SIZE];
	struct python_layout layout;
	uint64_t version;
	const char *why;
	size_t size;

	if (c->module.unread != NULL) {
		refuse_unread(finder, c);
		return false;
	}
	python_set_place(c);
	size = python_read_readable(finder, c->place.runtime, bytes, sizeof(bytes));
	if (size < sizeof(PYTHON_COOKIE) - 1)
		return false; /* the module is not mapped yet */
	if (!python_offsets_version(bytes, size, &version)) {
		base->version = python_find_version(finder, c);
		if (base->version != 0)
			return python_choose_by_version(finder, c);
		/* A module without the variable Py_Version is refused. With it the candidate is
		 * kept: the variable's page is not mapped yet, and a later attempt can read it. */
		if (c->module.version == 0)
			finder_refuse(finder, base, "its version is not known");
		return false;
	}
	if (!python_offsets_parse(bytes, size, &layout, &why)) {
		finder_refuse(finder, base, "%s (version 0x%" PRIx64 ")", why, version);
		return false;
	}
	base->version = layout.version;
	return python_take_layout(c, &layout);
}

static enum finder_fit
python_check(struct finder *finder, struct finder_candidate *base)
{
	const struct python_place *place = &((struct python_candidate *)base)->place;

	return python_layout_check(&place->layout, place->runtime, &finder->tools->memory);
}

const struct finder_kind python_finder = {
	.name = "CPython",
	.search_size = sizeof(struct python_module_search),
	.candidate_size = sizeof(struct python_candidate),
	.place_offset = offsetof(struct python_candidate, place),
	.search_begin = python_module_search_begin,
	.search_step = python_module_search_step,
	.take = python_take,
	.choose_layout = python_choose_layout,
	.read_dwarf = python_read_dwarf,
	.check = python_check,
	.version_text = python_candidate_version,
};
