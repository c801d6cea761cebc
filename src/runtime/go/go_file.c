/* SPDX-License-Identifier: MIT */
/*
 * go_file.c - searches a module's file for the version and the variables of Go's runtime, in steps
 * of a bounded number of bytes; reads the version.
 */
#include <string.h>

#include "runtime/go/go_find_internal.h"
#include "wallsample/base/bytes.h"

/* The header of .go.buildinfo (Go's package debug/buildinfo): 14 magic bytes, the size of pointers,
 * flags. */
#define MARK "\xff Go buildinf:"
#define MARK_SIZE 14
#define POINTER_AT 14
#define FLAGS_AT 15
#define HEAD_SIZE 32
#define BIG_ENDIAN_FLAG 1
#define INLINE_FLAG 2 /* Go 1.18 and later: length and text of the version follow the header */

#define PIECE ((size_t)64 << 10)
#define SECTION ".go.buildinfo"
/* In files without section headers, .go.buildinfo is at a multiple of this in writable data (Go's
 * package debug/buildinfo). */
#define ALIGNMENT 16
/* Bytes that a check for a match reads: the magic number and two bytes, or a string header. */
#define MATCHED_SIZE 16
/* Most bytes of a segment that are searched. The bound is large, because relocated constants may
 * precede .go.buildinfo in its segment. */
#define DATA_MOST (UINT64_C(64) << 20)

enum { WANTED_ALL, WANTED_HEAD, WANTED_REASONS, WANTED_COUNT };

static const struct symbol_wanted wanted[] = {
	[WANTED_ALL] = { .name = "runtime.allgs" },
	[WANTED_HEAD] = { .name = "runtime.allm" },
	[WANTED_REASONS] = { .name = "runtime.waitReasonStrings" },
};

bool
go_file_search_begin(void *search, const struct module *module)
{
	*(struct go_file_search *)search = (struct go_file_search){ .image = module->image };
	return true;
}

static bool
has_sections(const struct image *image)
{
	Elf64_Ehdr header;

	return image_read_offset(image, 0, &header, sizeof(header)) && header.e_shnum > 1;
}

/* Returns true when the bytes are the magic number of .go.buildinfo. */
static bool
is_mark(const struct image *image, const char *bytes)
{
	(void)image;
	return memcmp(bytes, MARK, MARK_SIZE) == 0;
}

/* Returns true when the bytes are a string header whose string is the name of a released version
 * with a patch number. */
static bool
is_version(const struct image *image, const char *bytes)
{
	const uint64_t word[2] = { bytes_u64(bytes), bytes_u64(bytes + sizeof(uint64_t)) };
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

/*
 * Searches one piece of the writable data for MATCHED_SIZE bytes, at an offset that is a multiple
 * of `step`, for which `matches` returns true. Stores their address in search->found.build and
 * returns true. Returns true without storing one when all segments have been searched.
 */
static bool
go_file_scan(struct go_file_search *search, size_t step,
	     bool (*matches)(const struct image *image, const char *bytes), uint64_t *budget)
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
	for (size_t at = 0; at + MATCHED_SIZE <= size; at += step) {
		if (!matches(image, piece + at))
			continue;
		search->found.build = segment->vaddr + search->at + at;
		return true;
	}
	/* The next piece begins at the first offset that had fewer than MATCHED_SIZE bytes left. */
	search->at += PIECE - (MATCHED_SIZE - step);
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
	const struct symbol_search_found *symbol[WANTED_COUNT];

	for (size_t i = 0; i < WANTED_COUNT; i++)
		symbol[i] = symbol_search_first(&search->symbols, i);
	if (symbol[WANTED_ALL] != NULL)
		search->found.all = symbol[WANTED_ALL]->vaddr;
	if (symbol[WANTED_HEAD] != NULL)
		search->found.head = symbol[WANTED_HEAD]->vaddr;
	if (symbol[WANTED_REASONS] != NULL) {
		search->found.reasons = symbol[WANTED_REASONS]->vaddr;
		search->found.reasons_size = symbol[WANTED_REASONS]->size;
	}
}

static void
go_file_set_build(struct go_file_search *search)
{
	search->stage = search->found.build != 0 ? GO_FILE_SYMBOLS : GO_FILE_DONE;
	symbol_search_init(&search->symbols, search->image, wanted, ARRAY_SIZE(wanted));
}

bool
go_file_search_step(void *state, uint64_t *budget)
{
	struct go_file_search *search = state;

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
			if (go_file_scan(search, sizeof(uint64_t), is_version, budget))
				go_file_set_build(search);
			break;
		case GO_FILE_DATA:
			if (go_file_scan(search, ALIGNMENT, is_mark, budget))
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

/* --- the version --------------------------------------------------------------------------- */

bool
go_is_printable(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return true;
}

static bool
go_version_copy(const struct memory *memory, uint64_t address, uint64_t length,
		char text[GO_VERSION_TEXT])
{
	/* Names of experiments may follow the version: a long text is truncated. */
	const size_t size = length < GO_VERSION_TEXT - 1 ? (size_t)length : GO_VERSION_TEXT - 1;

	if (!memory_read(memory, address, text, size) || size == 0 || !go_is_printable(text, size))
		return false;
	text[size] = '\0';
	return true;
}

/* Reads the version in .go.buildinfo of Go 1.17 and earlier: the header has the address of a string
 * header, which is an address and a length. */
static bool
follow_pointer(const struct memory *memory, const uint8_t head[HEAD_SIZE],
	       char text[GO_VERSION_TEXT])
{
	uint64_t string[2];

	return head[POINTER_AT] == sizeof(uint64_t) && (head[FLAGS_AT] & BIG_ENDIAN_FLAG) == 0 &&
	       memory_read(memory, bytes_u64(head + 16), string, sizeof(string)) &&
	       go_version_copy(memory, string[0], string[1], text);
}

bool
go_version_read(const struct memory *memory, uint64_t address, char text[GO_VERSION_TEXT])
{
	uint8_t head[HEAD_SIZE], length;

	if (!memory_read(memory, address, head, sizeof(head)))
		return false;
	if (memcmp(head, MARK, MARK_SIZE) != 0)
		return go_version_copy(memory, bytes_u64(head), bytes_u64(head + sizeof(uint64_t)),
				       text) &&
		       strncmp(text, "go1.", strlen("go1.")) == 0;
	if ((head[FLAGS_AT] & INLINE_FLAG) == 0)
		return follow_pointer(memory, head, text);
	/* The length is stored as a varint; the length of a version fits into one byte. */
	return memory_read(memory, address + HEAD_SIZE, &length, 1) && length < 0x80 &&
	       go_version_copy(memory, address + HEAD_SIZE + 1, length, text);
}

static bool
parse_number(const char **at, uint32_t *value)
{
	uint64_t number;

	if (**at < '0' || **at > '9' || !parse_u64(at, 10, &number) || number > 999)
		return false;
	*value = (uint32_t)number;
	return true;
}

bool
go_version_parse(const char *text, uint32_t *minor, uint32_t *patch, bool *released)
{
	const char *at = strstr(text, "go1.");

	*patch = 0;
	if (at == NULL)
		return false;
	*released = at == text;
	at += strlen("go1.");
	if (!parse_number(&at, minor))
		return false;
	if (at[0] == '.') {
		at++;
		return parse_number(&at, patch);
	}
	/* A release candidate ("rc1") counts as released, because it mostly has the layout of the
	 * release. A version with "-" is a private build, and does not count. */
	*released = *released && *at != '-';
	return true;
}
