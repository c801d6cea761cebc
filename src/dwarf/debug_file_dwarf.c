/* SPDX-License-Identifier: MIT */
/*
 * debug_file_dwarf.c - makes an ELF file safe for libdw.
 *
 * libdw 0.188 reads beyond the end of a section whose last string has no terminating zero, trusts
 * all sizes, and reads sections that names and lines do not need.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/debug_file_internal.h"
#include "wallsample/base/bytes.h"
#include "wallsample/base/proc_memory.h"
#include "wallsample/elf/elf_open.h"

/* Names, without the prefix ".debug_" or ".zdebug_", of the debug sections that names and lines
 * need. libdw refuses a file when it cannot read one of these sections. */
static const char *const needed[] = {
	"info",     "types", "abbrev",      "addr",   "aranges",  "line",
	"line_str", "str",   "str_offsets", "ranges", "rnglists",
};

enum part { PART_OTHER, PART_NEEDED, PART_HIDDEN };

/* Classifies a section by its name. Sets *packed when the section is compressed in the old GNU
 * format, which the name ".zdebug_…" shows. */
static enum part
part_of(const char *name, bool *packed)
{
	*packed = strncmp(name, ".zdebug_", 8) == 0;
	if (strcmp(name, ".gnu_debugaltlink") == 0 || strncmp(name, ".gnu.debuglto_", 14) == 0)
		return PART_HIDDEN;
	if (!*packed && strncmp(name, ".debug_", 7) != 0)
		return PART_OTHER;
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		if (strcmp(name + (*packed ? 8 : 7), needed[i]) == 0)
			return PART_NEEDED;
	return PART_HIDDEN;
}

/* Size in bytes of the header of the old GNU compression: "ZLIB", then the unpacked size,
 * big-endian. */
#define GNU_HEADER_SIZE 12

static uint64_t
gnu_unpacked_size(Elf *elf, const GElf_Shdr *header)
{
	const Elf_Data *start = NULL;

	if (header->sh_size >= GNU_HEADER_SIZE)
		start = elf_getdata_rawchunk(elf, (int64_t)header->sh_offset, GNU_HEADER_SIZE,
					     ELF_T_BYTE);
	if (start == NULL || memcmp(start->d_buf, "ZLIB", 4) != 0)
		return header->sh_size;
	return bytes_big((const uint8_t *)start->d_buf + 4, sizeof(uint64_t));
}

static uint64_t
unpacked_size(Elf *elf, const GElf_Shdr *header, bool by_gnu)
{
	Elf_Data *start;
	Elf64_Chdr packed;

	if (by_gnu)
		return gnu_unpacked_size(elf, header);
	if ((header->sh_flags & SHF_COMPRESSED) == 0)
		return header->sh_size;
	if (header->sh_size < sizeof(packed))
		return 0;
	start = elf_getdata_rawchunk(elf, (int64_t)header->sh_offset, sizeof(packed), ELF_T_BYTE);
	if (start == NULL)
		return 0;
	memcpy(&packed, start->d_buf, sizeof(packed));
	return packed.ch_size;
}

bool
debug_dwarf_fits(Elf *elf, uint64_t limit, uint64_t *bytes)
{
	Elf_Scn *scn = NULL;
	uint64_t sum = 0;

	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr header;
		uint64_t size;
		bool by_gnu;

		if (gelf_getshdr(scn, &header) == NULL || header.sh_type == SHT_NOBITS ||
		    part_of(elf_section_name(elf, &header), &by_gnu) == PART_OTHER)
			continue;
		size = unpacked_size(elf, &header, by_gnu);
		if (size > limit || header.sh_size > limit || sum > limit - size)
			return false;
		sum += size;
	}
	*bytes = sum;
	return true;
}

/* Reads and unpacks the section; false when it is damaged and must be hidden from libdw. */
static bool
load(struct debug_dwarf *dwarf, Elf_Scn *scn, const GElf_Shdr *header, bool by_gnu)
{
	Elf_Data *data;

	if (by_gnu && elf_compress_gnu(scn, 0, 0) < 0)
		return false;
	if (!by_gnu && (header->sh_flags & SHF_COMPRESSED) != 0 && elf_compress(scn, 0, 0) < 0)
		return false;
	data = elf_getdata(scn, NULL);
	if (data == NULL || data->d_buf == NULL || data->d_size == 0)
		return false;
	/* Unpacked data that begins with "ZLIB" again is refused: libdw would try to unpack it. */
	if (by_gnu && data->d_size >= 4 && memcmp(data->d_buf, "ZLIB", 4) == 0)
		return false;
	/* Zeros are added: every string then ends in its section or directly behind it. */
	if (((const uint8_t *)data->d_buf)[data->d_size - 1] != 0)
		debug_dwarf_move(dwarf, data, 8);
	return true;
}

static bool
load_all(struct debug_dwarf *dwarf)
{
	Elf_Scn *scn = NULL;
	bool complete = true;

	while ((scn = elf_nextscn(dwarf->elf, scn)) != NULL) {
		GElf_Shdr header;
		enum part part;
		bool by_gnu;

		if (gelf_getshdr(scn, &header) == NULL || header.sh_type == SHT_NOBITS)
			continue;
		part = part_of(elf_section_name(dwarf->elf, &header), &by_gnu);
		if (part == PART_OTHER || header.sh_size == 0 ||
		    (part == PART_NEEDED && load(dwarf, scn, &header, by_gnu)))
			continue;
		if (part == PART_NEEDED)
			complete = false;
		/* Hides the section from libdw. This changes the header in memory, not the file. */
		header.sh_type = SHT_NOBITS;
		if (gelf_update_shdr(scn, &header) == 0)
			return false;
	}
	return complete;
}

/*
 * DWARF takes at most half of the free memory: when memory runs out, the kernel ends the largest
 * process, which may be the target.
 */
uint64_t
debug_dwarf_allowed(uint64_t left)
{
	const uint64_t half = memory_available() / 2;

	return half < left ? half : left;
}

static bool
has_few_units(Elf *elf)
{
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	const bool few = dwarf == NULL || debug_has_few_units(dwarf);

	dwarf_end(dwarf);
	return few;
}

static const char *
make_ready(struct debug_dwarf *dwarf, uint64_t *left)
{
	const uint64_t limit = debug_dwarf_allowed(*left);
	uint64_t size;

	if (!debug_dwarf_fits(dwarf->elf, limit, &size))
		return "its DWARF takes more memory than there is to spare";
	*left -= size;
	if (!load_all(dwarf))
		return "its DWARF is damaged, truncated, or compressed in a way that this libdw "
		       "does not know";
	if (!has_few_units(dwarf->elf))
		return "its DWARF has more units than can be read";
	if (!debug_split_disarm(dwarf))
		return "its DWARF names other files in a way that is not understood";
	return NULL;
}

/* Opens a copy of the image's bytes, which `dwarf` owns: section headers and names of .dwo files
 * are changed in it. */
static Elf *
open_copy(struct debug_dwarf *dwarf, const struct image *image, const char **why)
{
	Elf_Data bytes = { .d_buf = (void *)(uintptr_t)image_memory(image), .d_size = image->size };

	debug_dwarf_move(dwarf, &bytes, 0);
	return elf_open_memory(bytes.d_buf, bytes.d_size, why);
}

bool
debug_dwarf_init(struct debug_dwarf *dwarf, int fd, const struct image *image, uint64_t *left,
		 const char **why)
{
	const uint64_t before = *left;

	*dwarf = (struct debug_dwarf){ 0 };
	dwarf->elf = fd >= 0 ? elf_open_fd(fd, why) : open_copy(dwarf, image, why);
	if (dwarf->elf != NULL)
		*why = make_ready(dwarf, left);
	if (dwarf->elf == NULL || *why != NULL) {
		debug_dwarf_release(dwarf);
		*left = before;
		return false;
	}
	/* Without a descriptor libdw cannot search for other files beside this one. */
	elf_cntl(dwarf->elf, ELF_C_FDDONE);
	return true;
}

void
debug_dwarf_release(struct debug_dwarf *dwarf)
{
	elf_end(dwarf->elf);
	for (size_t i = 0; i < dwarf->buffer_count; i++)
		free(dwarf->buffer[i]);
	free(dwarf->buffer);
	for (size_t i = 0; i < dwarf->skeleton_count; i++)
		free(dwarf->skeleton[i].path);
	free(dwarf->skeleton);
	*dwarf = (struct debug_dwarf){ 0 };
}
