/* SPDX-License-Identifier: MIT */
/* core_memory.c - reads bytes of a core file, and the memory of the process by its segments. */
#include <stdlib.h>
#include <string.h>

#include "core/core_internal.h"

#include "wallsample/base/search.h"

/* Reads of more than this number of bytes do not use the buffer core->window. */
#define SMALL ((size_t)512)

bool
core_read_file(const struct core *core, uint64_t offset, void *to, size_t size)
{
	struct core_window *window = core->window;

	if (offset > core->size || size > core->size - offset)
		return false;
	if (size > SMALL)
		return file_read_at(core->fd, offset, to, size) == size;
	if (offset < window->offset || offset - window->offset > window->size ||
	    size > window->size - (offset - window->offset)) {
		window->offset = offset;
		window->size = file_read_at(core->fd, offset, window->bytes, CORE_WINDOW);
		if (size > window->size)
			return false;
	}
	memcpy(to, window->bytes + (offset - window->offset), size);
	return true;
}

void
core_add_segment(struct core *core, const Elf64_Phdr *header)
{
	struct core_span segment = {
		.start = header->p_vaddr,
		.end = header->p_vaddr + header->p_memsz,
		.offset = header->p_offset,
		.executable = (header->p_flags & PF_X) != 0,
	};
	uint64_t listed = header->p_filesz;

	if (header->p_memsz == 0 || segment.end < segment.start)
		return;
	if (listed > header->p_memsz)
		listed = header->p_memsz;
	if (header->p_offset < core->size)
		segment.there = core->size - header->p_offset;
	if (segment.there > listed)
		segment.there = listed;
	core->missing += listed - segment.there;
	core_spans_add(&core->segments, segment);
}

void
core_spans_add(struct core_spans *spans, struct core_span span)
{
	spans->span = xgrow(spans->span, &spans->capacity, spans->count + 1, sizeof(span));
	spans->span[spans->count++] = span;
}

/*
 * Compares all members of two spans. The order of equal elements after qsort is not defined, so a
 * comparison of `start` alone would make the result depend on the library if spans of a hostile
 * file start at the same address.
 */
static int
compare_spans(const void *left, const void *right)
{
	const struct core_span *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a->path > b->path) - (a->path < b->path);
}

void
core_spans_sort(struct core_spans *spans)
{
	size_t kept = 0;

	if (spans->count > 1)
		qsort(spans->span, spans->count, sizeof(*spans->span), compare_spans);
	for (size_t i = 0; i < spans->count; i++)
		if (kept == 0 || spans->span[i].start >= spans->span[kept - 1].end)
			spans->span[kept++] = spans->span[i];
	spans->count = kept;
}

const struct core_span *
core_spans_find(const struct core_spans *spans, uint64_t address)
{
	size_t index;

	SEARCH_FIRST_NOT(index, spans->count, spans->span[index].end <= address);
	return index < spans->count ? &spans->span[index] : NULL;
}

const struct core_span *
core_segment_at(const struct core *core, uint64_t address)
{
	const struct core_span *segment = core_spans_find(&core->segments, address);

	return segment != NULL && segment->start <= address ? segment : NULL;
}

size_t
core_read_piece(const struct core *core, uint64_t address, void *to, size_t size)
{
	const struct core_span *segment = core_segment_at(core, address);
	uint64_t within;

	if (segment == NULL)
		return 0;
	within = address - segment->start;
	if (within >= segment->there)
		return 0;
	if (size > segment->there - within)
		size = (size_t)(segment->there - within);
	return core_read_file(core, segment->offset + within, to, size) ? size : 0;
}

bool
core_read(const struct core *core, uint64_t address, void *to, size_t size)
{
	uint8_t *bytes = to;

	while (size > 0) {
		const size_t part = core_read_piece(core, address, bytes, size);

		if (part == 0 || address + part < address)
			return false;
		bytes += part;
		address += part;
		size -= part;
	}
	return true;
}
