/* SPDX-License-Identifier: MIT */
/*
 * made_package.c - concatenates the sections of .dwo files, and writes an index of the units'
 * parts.
 *
 * Units do not share strings: each unit keeps its own .debug_str.dwo, and offsets into it are
 * adjusted.
 */
#include "made_package.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wallsample/base/base.h"

/* The sections of a package, with their numbers in an index; 0: the index does not have the
 * section. */
static const struct kind {
	const char *name;
	uint32_t column[2]; /* numbers in an index of version 2, and in one of version 5 */
} kinds[] = {
	{ ".debug_info.dwo", { 1, 1 } },
	{ ".debug_abbrev.dwo", { 3, 3 } },
	{ ".debug_line.dwo", { 4, 4 } },
	{ ".debug_loc.dwo", { 5, 0 } },
	{ ".debug_loclists.dwo", { 0, 5 } },
	{ ".debug_str_offsets.dwo", { 6, 6 } },
	{ ".debug_rnglists.dwo", { 0, 8 } },
	{ ".debug_str.dwo", { 0, 0 } },
	{ ".debug_cu_index", { 0, 0 } },
};

enum { OFFSETS = 5, TEXTS = 7, INDEX = 8, KINDS = ARRAY_SIZE(kinds) };

struct package {
	struct strbuf section[KINDS];
	uint64_t id[MADE_PACKAGE_UNITS];
	uint32_t offset[MADE_PACKAGE_UNITS][KINDS], size[MADE_PACKAGE_UNITS][KINDS];
	size_t count;
	uint16_t machine;
	int version; /* version of the index; 0: no unit was added yet */
};

static void
add_u32(struct strbuf *to, uint32_t value)
{
	strbuf_add(to, (const char *)&value, sizeof(value));
}

static void
move_texts(struct package *package, uint32_t base)
{
	struct strbuf *offsets = &package->section[OFFSETS];
	size_t at = package->offset[package->count][OFFSETS] + (package->version == 5 ? 8 : 0);

	for (; at + 4 <= offsets->length; at += 4) {
		uint32_t value;

		memcpy(&value, offsets->data + at, sizeof(value));
		value += base;
		memcpy(offsets->data + at, &value, sizeof(value));
	}
}

static void
add_sections(struct package *package, Elf *elf)
{
	const uint32_t base = (uint32_t)package->section[TEXTS].length;
	Elf_Scn *scn = NULL;
	size_t names;

	for (size_t k = 0; k < KINDS; k++)
		package->offset[package->count][k] = (uint32_t)package->section[k].length;
	while (elf_getshdrstrndx(elf, &names) == 0 && (scn = elf_nextscn(elf, scn)) != NULL) {
		Elf_Data *data = elf_getdata(scn, NULL);
		GElf_Shdr header;

		if (data == NULL || gelf_getshdr(scn, &header) == NULL)
			continue;
		for (size_t k = 0; k < INDEX; k++) {
			if (strcmp(elf_strptr(elf, names, header.sh_name), kinds[k].name) != 0)
				continue;
			strbuf_add(&package->section[k], data->d_buf, data->d_size);
			package->size[package->count][k] += (uint32_t)data->d_size;
		}
	}
	move_texts(package, base);
}

static bool
add_unit(struct package *package, const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	Dwarf *dwarf = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL;
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	GElf_Ehdr header;
	bool good = false;
	uint64_t id;

	if (dwarf != NULL && gelf_getehdr(dwarf_getelf(dwarf), &header) != NULL &&
	    dwarf_get_units(dwarf, NULL, &cu, &version, NULL, NULL, NULL) == 0 &&
	    dwarf_cu_info(cu, NULL, NULL, NULL, NULL, &id, NULL, NULL) == 0) {
		good = package->version == 0 || package->version == (version >= 5 ? 5 : 2);
		package->version = version >= 5 ? 5 : 2;
		package->machine = header.e_machine;
		package->id[package->count] = id;
		add_sections(package, dwarf_getelf(dwarf));
		package->count++;
	}
	dwarf_end(dwarf);
	if (fd >= 0)
		close(fd);
	return good;
}

static void
add_table(struct package *package, uint32_t table[MADE_PACKAGE_UNITS][KINDS])
{
	for (size_t u = 0; u < package->count; u++)
		for (size_t k = 0; k < KINDS; k++)
			if (kinds[k].column[package->version == 5] != 0)
				add_u32(&package->section[INDEX], table[u][k]);
}

static void
add_index(struct package *package)
{
	struct strbuf *index = &package->section[INDEX];
	uint64_t ids[4 * MADE_PACKAGE_UNITS] = { 0 };
	uint32_t rows[4 * MADE_PACKAGE_UNITS] = { 0 };
	uint32_t slots = 1, columns = 0;

	while (slots < package->count * 3 / 2 + 1)
		slots *= 2;
	for (uint32_t u = 0; u < package->count; u++) {
		const uint64_t id = package->id[u];
		uint32_t slot = (uint32_t)id & (slots - 1);

		while (rows[slot] != 0)
			slot = (slot + ((uint32_t)(id >> 32) | 1)) & (slots - 1);
		ids[slot] = id;
		rows[slot] = u + 1;
	}
	for (size_t k = 0; k < KINDS; k++)
		columns += kinds[k].column[package->version == 5] != 0;
	add_u32(index, (uint32_t)package->version);
	add_u32(index, columns);
	add_u32(index, (uint32_t)package->count);
	add_u32(index, slots);
	strbuf_add(index, (const char *)ids, slots * sizeof(ids[0]));
	strbuf_add(index, (const char *)rows, slots * sizeof(rows[0]));
	for (size_t k = 0; k < KINDS; k++)
		if (kinds[k].column[package->version == 5] != 0)
			add_u32(index, kinds[k].column[package->version == 5]);
	add_table(package, package->offset);
	add_table(package, package->size);
}

static bool
add_section(Elf *elf, const char *name, const struct strbuf *bytes, struct strbuf *names)
{
	Elf_Scn *scn = elf_newscn(elf);
	Elf_Data *data = elf_newdata(scn);
	GElf_Shdr header;

	if (data == NULL || gelf_getshdr(scn, &header) == NULL)
		return false;
	/* The section of section names also contains its own name. */
	header.sh_name = (uint32_t)names->length;
	header.sh_type = bytes == names ? SHT_STRTAB : SHT_PROGBITS;
	strbuf_add(names, name, strlen(name) + 1);
	data->d_buf = bytes->data;
	data->d_size = bytes->length;
	data->d_align = 1;
	data->d_version = EV_CURRENT;
	return gelf_update_shdr(scn, &header) != 0;
}

static bool
write_file(const struct package *package, const char *path)
{
	const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	Elf *elf = elf_begin(fd, ELF_C_WRITE, NULL);
	struct strbuf names;
	GElf_Ehdr header;
	bool good = elf != NULL && gelf_newehdr(elf, ELFCLASS64) != NULL &&
		    gelf_getehdr(elf, &header) != NULL;
	uint16_t last = 1;

	strbuf_init(&names);
	strbuf_add(&names, "", 1);
	for (size_t k = 0; good && k < KINDS; k++) {
		if (package->section[k].length == 0)
			continue;
		good = add_section(elf, kinds[k].name, &package->section[k], &names);
		last++;
	}
	good = good && add_section(elf, ".shstrtab", &names, &names);
	if (good) {
		header.e_ident[EI_DATA] = ELFDATA2LSB;
		header.e_type = ET_REL;
		header.e_machine = package->machine;
		header.e_version = EV_CURRENT;
		header.e_shstrndx = last;
		good = gelf_update_ehdr(elf, &header) != 0 && elf_update(elf, ELF_C_WRITE) > 0;
	}
	elf_end(elf);
	strbuf_release(&names);
	if (fd >= 0)
		close(fd);
	return good;
}

bool
made_package_write(const char *path, const char *const *dwo, size_t count)
{
	struct package *package = xcalloc(1, sizeof(*package));
	bool good = count > 0 && count <= MADE_PACKAGE_UNITS;

	elf_version(EV_CURRENT);
	for (size_t i = 0; good && i < count; i++)
		good = add_unit(package, dwo[i]);
	if (good) {
		add_index(package);
		good = write_file(package, path);
	}
	for (size_t k = 0; k < KINDS; k++)
		strbuf_release(&package->section[k]);
	free(package);
	return good;
}
