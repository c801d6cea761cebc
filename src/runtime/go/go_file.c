/* SPDX-License-Identifier: MIT */
/* go_file.c - searches a file for Go, one piece per call. */
#include <string.h>

#include "runtime/go/go_find_internal.h"
#include "wallsample/base/base.h"

#define PIECE ((size_t)64 << 10)
#define SECTION ".go.buildinfo"
/* debug/buildinfo: without sections, .go.buildinfo is at a multiple of this in writable data. */
#define ALIGNMENT 16
#define MARK "\xff Go buildinf:"
#define MARK_SIZE 14
/* Relocated constants may precede it. */
#define DATA_MOST (UINT64_C(64) << 20)

enum { WANTED_ALL, WANTED_HEAD, WANTED_REASONS };

static const struct symbol_wanted wanted[] = {
	[WANTED_ALL] = { .name = "runtime.allgs" },
	[WANTED_HEAD] = { .name = "runtime.allm" },
	[WANTED_REASONS] = { .name = "runtime.waitReasonStrings" },
};

void
go_file_search_init(struct go_file_search *search, const struct image *image)
{
	*search = (struct go_file_search){ .image = image };
}

static bool
has_sections(const struct image *image)
{
	Elf64_Ehdr header;

	return image_read_offset(image, 0, &header, sizeof(header)) && header.e_shnum > 1;
}

/* Searches a piece of the writable data; true: finished, or found. */
static bool
go_file_scan_data(struct go_file_search *search, uint64_t *budget)
{
	const struct image *image = search->image;
	const struct image_segment *segment = &image->segment[search->segment];
	char piece[PIECE];
	size_t size = PIECE;

	if (search->segment == image->segment_count)
		return true;
	if (!segment->writable || segment->executable || search->at >= segment->file_size ||
	    search->at >= DATA_MOST) {
		search->segment++;
		search->at = 0;
		return false;
	}
	if (segment->file_size - search->at < size)
		size = (size_t)(segment->file_size - search->at);
	*budget -= size < *budget ? size : *budget;
	if (!image_read_offset(image, segment->offset + search->at, piece, size))
		size = 0;
	for (size_t at = 0; at + MARK_SIZE <= size; at += ALIGNMENT) {
		if (memcmp(piece + at, MARK, MARK_SIZE) != 0)
			continue;
		search->found.build = segment->vaddr + search->at + at;
		return true;
	}
	search->at += PIECE;
	return false;
}

/* Is this the string header of a released version's name? Other versions have no patch number. */
static bool
is_version(const struct image *image, const uint64_t word[2])
{
	char text[GO_VERSION_TEXT];
	uint32_t minor, patch;
	bool released;

	if (word[1] < strlen("go1.1.1") || word[1] > strlen("go1.999.999") ||
	    !image_read_vaddr(image, word[0], text, (size_t)word[1]))
		return false;
	text[word[1]] = '\0';
	return strncmp(text, "go1.", strlen("go1.")) == 0 && strchr(text + 4, '.') != NULL &&
	       go_version_parse(text, &minor, &patch, &released) && released;
}

static bool
go_file_scan_strings(struct go_file_search *search, uint64_t *budget)
{
	const struct image_segment *segment = &search->image->segment[search->segment];
	uint64_t word[PIECE / sizeof(uint64_t)];
	size_t size = sizeof(word);

	if (search->segment == search->image->segment_count)
		return true;
	if (!segment->writable || segment->executable || search->at >= segment->file_size ||
	    search->at >= DATA_MOST) {
		search->segment++;
		search->at = 0;
		return false;
	}
	if (segment->file_size - search->at < size)
		size = (size_t)(segment->file_size - search->at);
	*budget -= size < *budget ? size : *budget;
	if (!image_read_offset(search->image, segment->offset + search->at, word, size))
		size = 0;
	for (size_t i = 0; i + 1 < size / sizeof(*word); i++) {
		if (!is_version(search->image, &word[i]))
			continue;
		search->found.build = segment->vaddr + search->at + i * sizeof(*word);
		return true;
	}
	search->at += sizeof(word) - sizeof(*word);
	return false;
}

static bool
has_functions(const struct image *image)
{
	return image_section_vaddr(image, ".gopclntab", 1) != 0 ||
	       image_section_vaddr(image, ".data.rel.ro.gopclntab", 1) != 0;
}

static void
go_file_take_symbols(struct go_file_search *search)
{
	const struct symbol_search *symbols = &search->symbols;
	const struct symbol_search_found *symbol;

	symbol = symbol_search_first(symbols, WANTED_ALL);
	search->found.all = symbol != NULL ? symbol->vaddr : 0;
	symbol = symbol_search_first(symbols, WANTED_HEAD);
	search->found.head = symbol != NULL ? symbol->vaddr : 0;
	symbol = symbol_search_first(symbols, WANTED_REASONS);
	search->found.reasons = symbol != NULL ? symbol->vaddr : 0;
	search->found.reasons_size = symbol != NULL ? symbol->size : 0;
}

static void
go_file_set_build(struct go_file_search *search)
{
	search->stage = search->found.build != 0 ? GO_FILE_SYMBOLS : GO_FILE_DONE;
	symbol_search_init(&search->symbols, search->image, wanted, ARRAY_SIZE(wanted));
}

bool
go_file_search_step(struct go_file_search *search, uint64_t *budget)
{
	while (search->stage != GO_FILE_DONE && *budget > 0) {
		switch (search->stage) {
		case GO_FILE_SECTION:
			*budget -= PIECE / 4 < *budget ? PIECE / 4 : *budget;
			search->found.build = image_section_vaddr(search->image, SECTION,
								  MARK_SIZE);
			if (search->found.build == 0 && has_functions(search->image))
				search->stage = GO_FILE_STRING;
			else if (search->found.build != 0 || has_sections(search->image))
				go_file_set_build(search);
			else
				search->stage = GO_FILE_DATA;
			break;
		case GO_FILE_STRING:
			if (go_file_scan_strings(search, budget))
				go_file_set_build(search);
			break;
		case GO_FILE_DATA:
			if (go_file_scan_data(search, budget))
				go_file_set_build(search);
			break;
		case GO_FILE_SYMBOLS:
			if (!symbol_search_step(&search->symbols, budget))
				return false;
			go_file_take_symbols(search);
			search->stage = GO_FILE_DONE;
			break;
		case GO_FILE_DONE:
			break;
		}
	}
	return search->stage == GO_FILE_DONE;
}
