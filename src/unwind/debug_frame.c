/* SPDX-License-Identifier: MIT */
/* debug_frame.c - determines the size of the debug information of an ELF file without
 * reading it. */
#include "unwind/debug_frame_internal.h"

#include <gelf.h>
#include <stdint.h>
#include <string.h>

#include "wallsample/base/bytes.h"

/* libdw reads this size in about a fifth of a second. Programs whose only unwind tables are in
 * .debug_frame have a tenth of it. */
#define DEBUG_BYTES_MOST (UINT64_C(256) << 20)

/* ".zdebug_…" begins with "ZLIB" and the unpacked size, big-endian. */
#define OLD_HEADER_BYTES 12

static uint64_t
old_unpacked_size(Elf *elf, const GElf_Shdr *header)
{
	const Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)header->sh_offset,
						    OLD_HEADER_BYTES, ELF_T_BYTE);

	if (data == NULL || data->d_buf == NULL || data->d_size < OLD_HEADER_BYTES)
		return UINT64_MAX;
	return bytes_big((const uint8_t *)data->d_buf + 4, sizeof(uint64_t));
}

/* The size of the section after libdw has unpacked it. */
static uint64_t
unpacked_size(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, bool old)
{
	GElf_Chdr packed;

	if (header->sh_type == SHT_NOBITS)
		return 0;
	if (old)
		return old_unpacked_size(elf, header);
	if ((header->sh_flags & SHF_COMPRESSED) == 0)
		return header->sh_size;
	return gelf_getchdr(section, &packed) != NULL ? packed.ch_size : UINT64_MAX;
}

bool
debug_frame_is_cheap(Elf *elf)
{
	Elf_Scn *section = NULL;
	uint64_t left = DEBUG_BYTES_MOST;
	size_t names;
	bool found = false;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		GElf_Shdr header;
		const char *name;
		uint64_t size;
		bool old;

		if (gelf_getshdr(section, &header) == NULL)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		old = name != NULL && strncmp(name, ".zdebug_", 8) == 0;
		if (name == NULL || (!old && strncmp(name, ".debug_", 7) != 0))
			continue;
		size = unpacked_size(elf, section, &header, old);
		if (size > left)
			return false;
		left -= size;
		found |= strcmp(name + (old ? 8 : 7), "frame") == 0;
	}
	return found;
}
