/* SPDX-License-Identifier: MIT */
/*
 * dwp.c - searches the index of a package, and copies the pieces and texts of one unit into a new
 * ELF file.
 */
#include "dwarf/dwp_internal.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "wallsample/base/base.h"
#include "wallsample/base/bytes.h"

/* --- the index -------------------------------------------------------------------------- */

#define HEADER_SIZE 16
/* Largest number of columns: DWARF 5 has eight kinds of sections, each with one column. */
#define COLUMNS_MAX 16

struct header {
	uint32_t version, columns, units, slots;
};

/* The version has two bytes, which are followed by two zeros (version 5), or four bytes (version
 * 2). In both cases reading four bytes gives the version. */
static struct header
index_read_header(const uint8_t *bytes)
{
	return (struct header){
		.version = bytes_u32(bytes),
		.columns = bytes_u32(bytes + 4),
		.units = bytes_u32(bytes + 8),
		.slots = bytes_u32(bytes + 12),
	};
}

/* Returns the size of the index in bytes: the header, the ids, the row number of each id, the table
 * of offsets (with the kinds of the columns), and the table of sizes. */
static uint64_t
size_needed(const struct header *header)
{
	return HEADER_SIZE + (uint64_t)header->slots * 12 +
	       (2 * (uint64_t)header->units + 1) * header->columns * 4;
}

const char *
dwp_index_check(const uint8_t *bytes, size_t size)
{
	struct header header;

	if (size < HEADER_SIZE)
		return "its index is damaged";
	header = index_read_header(bytes);
	if (header.version != 2 && header.version != 5)
		return "its index is of a version that is not known";
	if (header.units == 0)
		return "its index is empty";
	if (header.columns == 0 || header.columns > COLUMNS_MAX || header.slots == 0 ||
	    (header.slots & (header.slots - 1)) != 0 || size_needed(&header) > size)
		return "its index is damaged";
	return NULL;
}

/* Returns the part that the section number at the head of a column (DW_SECT_…) stands for;
 * DWP_PART_COUNT when the part is not needed. */
static enum dwp_part
part_of(uint32_t version, uint32_t column)
{
	switch (column) {
	case 1:
		return DWP_INFO;
	case 3:
		return DWP_ABBREV;
	case 4:
		return DWP_LINE;
	case 6:
		return DWP_STR_OFFSETS;
	case 8: /* .debug_macro.dwo in version 2 */
		return version == 5 ? DWP_RNGLISTS : DWP_PART_COUNT;
	default:
		return DWP_PART_COUNT;
	}
}

/* Reads the row with this number, counted from 1. Returns false when the unit has no DWP_INFO or no
 * DWP_ABBREV, which every unit must have. */
static bool
read_row(const uint8_t *tables, const struct header *header, uint32_t number, struct dwp_row *row)
{
	const size_t line = (size_t)header->columns * 4;
	const uint8_t *offsets = tables + (size_t)number * line;
	const uint8_t *sizes = offsets + (size_t)header->units * line;

	*row = (struct dwp_row){ 0 };
	for (size_t i = 0; i < line; i += 4) {
		const enum dwp_part part = part_of(header->version, bytes_u32(tables + i));

		if (part != DWP_PART_COUNT)
			row->piece[part] = (struct dwp_piece){
				.offset = bytes_u32(offsets + i),
				.size = bytes_u32(sizes + i),
			};
	}
	return row->piece[DWP_INFO].size > 0 && row->piece[DWP_ABBREV].size > 0;
}

bool
dwp_index_find(const uint8_t *bytes, size_t size, uint64_t id, struct dwp_row *row)
{
	struct header header;
	const uint8_t *ids, *numbers;
	uint32_t slot, step;

	if (dwp_index_check(bytes, size) != NULL)
		return false;
	header = index_read_header(bytes);
	ids = bytes + HEADER_SIZE;
	numbers = ids + (size_t)header.slots * 8;
	slot = (uint32_t)id & (header.slots - 1);
	step = ((uint32_t)(id >> 32) & (header.slots - 1)) | 1;
	/* The number of slots is a power of two and the step is odd: the loop visits every slot. */
	for (uint32_t i = 0; i < header.slots; i++) {
		const uint32_t number = bytes_u32(numbers + (size_t)slot * 4);

		if (number == 0 || number > header.units)
			return false;
		if (bytes_u64(ids + (size_t)slot * 8) == id)
			return read_row(numbers + (size_t)header.slots * 4, &header, number, row);
		slot = (slot + step) & (header.slots - 1);
	}
	return false;
}

/* --- pieces ----------------------------------------------------------------------------- */

/* Limit of the bytes of all pieces and texts of one unit; .dwo files have the same limit. */
#define UNIT_MAX_SIZE (UINT64_C(256) << 20)
/* Number of bytes of texts that are read at once: many texts of a unit are close to each other. */
#define BLOCK_SIZE 4096

static const char too_large[] = "a unit in it is larger than can be read";
static const char damaged[] = "its index, or what that points to, is damaged";

/* Bytes for a section of the new file: a piece that was read, the texts, or the names of
 * sections. */
struct bytes {
	uint8_t *data;
	size_t size;
};

bool
dwp_section_read(const struct dwp_source *source, const struct dwp_section *section, uint64_t at,
		 uint8_t *to, size_t size)
{
	if (at > section->size || size > section->size - at)
		return false;
	if (section->bytes != NULL) {
		memcpy(to, section->bytes + at, size);
		return true;
	}
	while (size > 0) {
		const ssize_t n = pread(source->fd, to, size, (off_t)(section->offset + at));

		if (n <= 0)
			return false;
		to += n;
		at += (uint64_t)n;
		size -= (size_t)n;
	}
	return true;
}

static const char *
read_pieces(const struct dwp_source *source, const struct dwp_row *row, struct bytes *pieces)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < DWP_PART_COUNT; i++)
		sum += row->piece[i].size;
	if (sum > UNIT_MAX_SIZE)
		return too_large;
	for (size_t i = 0; i < DWP_PART_COUNT; i++) {
		const struct dwp_piece piece = row->piece[i];

		if (piece.size == 0)
			continue;
		/* Checked before the memory is allocated: otherwise a damaged index could choose
		 * its size. */
		if (piece.offset > source->part[i].size ||
		    piece.size > source->part[i].size - piece.offset)
			return damaged;
		pieces[i] = (struct bytes){ xmalloc(piece.size), piece.size };
		if (!dwp_section_read(source, &source->part[i], piece.offset, pieces[i].data,
				      piece.size))
			return damaged;
	}
	return NULL;
}

/* --- texts --------------------------------------------------------------------------- */

/* A reference to a text: the offset of the text in .debug_str.dwo, and the position of this offset,
 * in bytes, in the unit's piece of .debug_str_offsets.dwo. */
struct use {
	uint32_t text, place;
};

static int
compare_uses(const void *left, const void *right)
{
	const struct use *a = left, *b = right;

	return a->text < b->text ? -1 : a->text > b->text;
}

/* The block of .debug_str.dwo that was read last. */
struct window {
	const struct dwp_source *source;
	uint64_t start;
	size_t size;
	uint8_t block[BLOCK_SIZE];
};

/*
 * Returns the bytes of .debug_str.dwo from the offset `at` to the end of the window, and stores
 * their number. Moves the window if it does not contain the offset. Returns NULL when the section
 * has no such bytes.
 */
static const uint8_t *
window_at(struct window *window, uint64_t at, size_t *size)
{
	const struct dwp_section *texts = &window->source->texts;

	if (at >= texts->size)
		return NULL;
	if (at < window->start || at - window->start >= window->size) {
		window->start = at;
		window->size = texts->size - at < BLOCK_SIZE ? (size_t)(texts->size - at) :
							       BLOCK_SIZE;
		if (!dwp_section_read(window->source, texts, at, window->block, window->size)) {
			window->size = 0;
			return NULL;
		}
	}
	*size = window->size - (size_t)(at - window->start);
	return window->block + (at - window->start);
}

/* Adds the text at the offset `at` of the section, with a terminating zero (even if the section has
 * none), to `to`. Returns the offset of the byte behind the text. */
static uint64_t
copy_text(struct window *window, uint64_t at, struct strbuf *to)
{
	const uint8_t *bytes, *zero = NULL;
	size_t size;

	while (zero == NULL && to->length <= UNIT_MAX_SIZE &&
	       (bytes = window_at(window, at, &size)) != NULL) {
		zero = memchr(bytes, 0, size);
		if (zero != NULL)
			size = (size_t)(zero - bytes) + 1;
		strbuf_add(to, (const char *)bytes, size);
		at += size;
	}
	if (zero == NULL)
		strbuf_add(to, "", 1);
	return at;
}

/*
 * Copies the texts to `to`, in the order of their offsets in .debug_str.dwo, and stores their new
 * offsets in `offsets`. Because of this order, a text that is the end of another text can share its
 * copy, and all copies together are no larger than the section. An offset outside of the section
 * gives the empty text.
 */
static void
copy_texts(const struct dwp_source *source, struct use *uses, size_t count, uint8_t *offsets,
	   struct strbuf *to)
{
	struct window *window = xcalloc(1, sizeof(*window));
	/* Start and end, in the section, of the last text that was copied. */
	uint64_t from = 0, end = 0;
	size_t start = 0; /* start of the last text in the copy */

	window->source = source;
	strbuf_add(to, "", 1);
	if (count > 0)
		qsort(uses, count, sizeof(*uses), compare_uses);
	for (size_t i = 0; i < count && to->length <= UNIT_MAX_SIZE; i++) {
		uint32_t now = 0;

		if (uses[i].text < source->texts.size) {
			if (uses[i].text >= end) {
				from = uses[i].text;
				start = to->length;
				end = copy_text(window, from, to);
			}
			now = (uint32_t)(start + (uses[i].text - from));
		}
		memcpy(offsets + uses[i].place, &now, sizeof(now));
	}
	free(window);
}

/* Copies the texts of a unit and changes their offsets in the unit's piece of
 * .debug_str_offsets.dwo. No other bytes need to be changed: a unit refers to texts only by the
 * indices of these offsets. Returns NULL, or the reason of a failure. */
static const char *
take_texts(const struct dwp_source *source, const struct bytes *info, struct bytes *offsets,
	   struct strbuf *to)
{
	/* A unit begins with its length and its version. From version 5 on the piece of offsets has
	 * a header. */
	const bool headed = info->size >= 6 && info->data[4] + 256 * info->data[5] >= 5;
	size_t count = 0;
	struct use *uses;

	if (info->size >= 4 && bytes_u32(info->data) == UINT32_MAX)
		return "it has DWARF of 64 bits, which is not read";
	uses = xmalloc(offsets->size / 4 * sizeof(*uses) + 1);
	for (size_t at = headed ? 8 : 0; offsets->size >= 4 && at <= offsets->size - 4; at += 4)
		uses[count++] = (struct use){ bytes_u32(offsets->data + at), (uint32_t)at };
	copy_texts(source, uses, count, offsets->data, to);
	free(uses);
	return to->length <= UNIT_MAX_SIZE ? NULL : too_large;
}

/* --- the file ------------------------------------------------------------------------ */

/* The names of the sections, in the order in which they are written; the zero at the beginning is
 * the empty name. */
static const char names[] = "\0"
#define X(name, section) section "\0"
	DWP_PARTS(X)
#undef X
		".debug_str.dwo\0.shstrtab";

static bool
add_section(Elf *elf, size_t name, uint32_t type, const struct bytes *bytes)
{
	Elf_Scn *scn = elf_newscn(elf);
	Elf_Data *data = scn != NULL ? elf_newdata(scn) : NULL;
	GElf_Shdr header;

	if (data == NULL || gelf_getshdr(scn, &header) == NULL)
		return false;
	data->d_buf = bytes->data;
	data->d_size = bytes->size;
	data->d_align = 1;
	data->d_type = ELF_T_BYTE;
	data->d_version = EV_CURRENT;
	header.sh_name = (uint32_t)name;
	header.sh_type = type;
	return gelf_update_shdr(scn, &header) != 0;
}

static bool
add_header(Elf *elf, uint16_t machine, size_t section_of_names)
{
	GElf_Ehdr header;

	if (gelf_newehdr(elf, ELFCLASS64) == NULL || gelf_getehdr(elf, &header) == NULL)
		return false;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_type = ET_REL;
	header.e_machine = machine;
	header.e_version = EV_CURRENT;
	header.e_shstrndx = (uint16_t)section_of_names;
	return gelf_update_ehdr(elf, &header) != 0;
}

static bool
write_file(int fd, uint16_t machine, const struct bytes *pieces, const struct strbuf *texts)
{
	const struct bytes text = { (uint8_t *)texts->data, texts->length };
	const struct bytes name_bytes = { (uint8_t *)(uintptr_t)names, sizeof(names) };
	Elf *elf = elf_begin(fd, ELF_C_WRITE, NULL);
	size_t name = 1, sections = 1;
	bool good;

	for (size_t i = 0; i < DWP_PART_COUNT; i++)
		sections += pieces[i].size > 0;
	good = elf != NULL && add_header(elf, machine, sections + 1);
	for (size_t i = 0; good && i < DWP_PART_COUNT; i++) {
		if (pieces[i].size > 0)
			good = add_section(elf, name, SHT_PROGBITS, &pieces[i]);
		name += strlen(names + name) + 1;
	}
	good = good && add_section(elf, name, SHT_PROGBITS, &text) &&
	       add_section(elf, name + strlen(names + name) + 1, SHT_STRTAB, &name_bytes) &&
	       elf_update(elf, ELF_C_WRITE) > 0;
	elf_end(elf);
	return good;
}

int
dwp_image_make(const struct dwp_source *source, const struct dwp_row *row, const char **why)
{
	struct bytes pieces[DWP_PART_COUNT] = { { 0 } };
	struct strbuf texts = STRBUF_INIT;
	int fd = -1;

	*why = read_pieces(source, row, pieces);
	if (*why == NULL)
		*why = take_texts(source, &pieces[DWP_INFO], &pieces[DWP_STR_OFFSETS], &texts);
	if (*why == NULL) {
		fd = memfd_create("wallsample-dwp", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		if (fd < 0 || !write_file(fd, source->machine, pieces, &texts))
			*why = "there is no memory for a unit of it";
	}
	if (*why != NULL && fd >= 0) {
		close(fd);
		fd = -1;
	}
	for (size_t i = 0; i < DWP_PART_COUNT; i++)
		free(pieces[i].data);
	strbuf_release(&texts);
	return fd;
}
