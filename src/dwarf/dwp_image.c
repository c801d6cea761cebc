/* SPDX-License-Identifier: MIT */
/*
 * dwp_image.c - copies the pieces of a unit, and its texts, into an ELF file of their own.
 */
#include "dwarf/dwp_internal.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "wallsample/base/base.h"
#include "wallsample/base/bytes.h"

/* All pieces and texts of one unit: the limit of a .dwo file, which is that of one unit, too. */
#define UNIT_MAX_SIZE (UINT64_C(256) << 20)
/* What is read at once for a text: the texts of a unit are near each other, or far apart. */
#define BLOCK_SIZE 4096

static const char too_large[] = "a unit in it is larger than can be read";
static const char damaged[] = "its index, or what that points to, is damaged";

/* A piece that was read, or texts that were put together. */
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
		/* Before there is memory for what is not there. */
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

/* An offset of a text, and where it stands in the unit's offsets. */
struct use {
	uint32_t text, place;
};

static int
compare_uses(const void *left, const void *right)
{
	const struct use *a = left, *b = right;

	return a->text < b->text ? -1 : a->text > b->text;
}

/* A block of .debug_str.dwo. */
struct window {
	const struct dwp_source *source;
	uint64_t start;
	size_t size;
	uint8_t block[BLOCK_SIZE];
};

/* The bytes at an offset in the section, as far as they are in the window; NULL: not there. */
static const uint8_t *
look_at(struct window *window, uint64_t at, size_t *size)
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

/* Adds the text with a zero, which one without an end gets; returns how far it goes. */
static uint64_t
copy_text(struct window *window, uint64_t at, struct strbuf *to)
{
	const uint8_t *bytes, *zero = NULL;
	size_t size;

	while (zero == NULL && to->length <= UNIT_MAX_SIZE &&
	       (bytes = look_at(window, at, &size)) != NULL) {
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
 * In the order of the section, so that one that is the end of another is no second copy: all
 * together they are never more than the section. An offset outside means the empty text.
 */
static void
copy_texts(const struct dwp_source *source, struct use *uses, size_t count, uint8_t *offsets,
	   struct strbuf *to)
{
	struct window *window = xcalloc(1, sizeof(*window));
	uint64_t from = 0, end = 0; /* of the last that was copied */
	size_t start = 0;           /* where it is now */

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

/* A unit names texts by their numbers in .debug_str_offsets.dwo only: these are changed. */
static const char *
take_texts(const struct dwp_source *source, const struct bytes *info, struct bytes *offsets,
	   struct strbuf *to)
{
	/* The length of a unit, then the version; from 5 on the offsets have such a header too. */
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

/* Of the sections, one behind the other. */
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
	struct strbuf texts;
	int fd = -1;

	strbuf_init(&texts);
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
