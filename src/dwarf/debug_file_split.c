/* SPDX-License-Identifier: MIT */
/*
 * debug_file_split.c - replaces the names of .dwo files in DWARF; libdw would open these files.
 *
 * All skeleton units get the same name, a text in the memory of this process. The text is the path
 * of a file that cannot exist, except while libdw opens the split unit of one skeleton unit
 * (debug_file_dwo.c).
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/debug_file_internal.h"
#include "dwarf/dwarf_unit_internal.h"
#include "wallsample/base/bytes.h"

const char debug_split_nowhere[DEBUG_SPLIT_NAME_SIZE] = "/dev/null/none";

/* Limit of the number of units of .debug_info, and of .debug_types: files with this many are
 * refused. libdw allocates a kilobyte for each unit, and in a hostile file a unit can have as few
 * as eleven bytes. The largest browsers have 100,000 units. */
#define UNITS_MOST (1 << 20)

static bool
has_few(Dwarf *dwarf, bool types)
{
	Dwarf_Off at = 0, next, abbreviations, type;
	uint8_t address_size, offset_size;
	uint64_t signature;
	size_t header_size;
	Dwarf_Half version;

	for (size_t count = 0; count < UNITS_MOST; count++) {
		if (dwarf_next_unit(dwarf, at, &next, &header_size, &version, &abbreviations,
				    &address_size, &offset_size, types ? &signature : NULL,
				    types ? &type : NULL) != 0 ||
		    next <= at)
			return true;
		at = next;
	}
	return false;
}

bool
debug_has_few_units(Dwarf *dwarf)
{
	return has_few(dwarf, false) && has_few(dwarf, true);
}

/* Goes from unit header to unit header, as libdw's searches do. dwarf_get_units() could end earlier
 * and leave out units that these searches find. */
bool
debug_visit_units(Dwarf *dwarf, debug_unit_visitor *visit, void *context)
{
	Dwarf_Off at = 0, next, abbreviations;
	size_t header_size;
	Dwarf_Half version;
	uint8_t address_size, offset_size;

	while (dwarf_next_unit(dwarf, at, &next, &header_size, &version, &abbreviations,
			       &address_size, &offset_size, NULL, NULL) == 0) {
		Dwarf_Die die;

		if (dwarf_offdie(dwarf, at + header_size, &die) != NULL &&
		    !visit(context, &die, offset_size))
			return false;
		if (next <= at)
			break;
		at = next;
	}
	return true;
}

/* Stores the attribute with the name of the .dwo file; false when the unit is no skeleton unit. */
static bool
find_dwo_name(Dwarf_Die *die, Dwarf_Attribute *name)
{
	return dwarf_attr(die, DW_AT_dwo_name, name) != NULL ||
	       dwarf_attr(die, DW_AT_GNU_dwo_name, name) != NULL;
}

void
debug_dwarf_move(struct debug_dwarf *dwarf, Elf_Data *data, size_t extra)
{
	uint8_t *buffer = xmalloc(data->d_size + extra);

	memcpy(buffer, data->d_buf, data->d_size);
	memset(buffer + data->d_size, 0, extra);
	dwarf->buffer = xgrow(dwarf->buffer, &dwarf->buffer_capacity, dwarf->buffer_count + 1,
			      sizeof(*dwarf->buffer));
	dwarf->buffer[dwarf->buffer_count++] = buffer;
	data->d_buf = buffer;
}

static const char *
text_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute found;

	return dwarf_formstring(dwarf_attr(die, attribute, &found));
}

/* --- disarming ------------------------------------------------------------------------ */

struct disarming {
	struct debug_dwarf *dwarf;
	Elf_Data *text;    /* .debug_str */
	Elf_Data *offsets; /* .debug_str_offsets; NULL when the file has none */
	uint64_t name;     /* offset in .debug_str of the new name */
};

static bool
has_no_name(void *context, Dwarf_Die *die, uint8_t offset_size)
{
	Dwarf_Attribute name;

	(void)context;
	(void)offset_size;
	return !find_dwo_name(die, &name);
}

/* Reads the value of a DW_FORM_strx* attribute: an index into the unit's part of
 * .debug_str_offsets. dwarf_formstring has checked that the value lies in the unit. */
static bool
read_index(const Dwarf_Attribute *name, uint64_t *index)
{
	const unsigned char *at = name->valp;

	if (name->form >= DW_FORM_strx1 && name->form <= DW_FORM_strx4) {
		*index = bytes_little(at, name->form - DW_FORM_strx1 + 1U);
		return true;
	}
	return (name->form == DW_FORM_strx || name->form == DW_FORM_GNU_str_index) &&
	       dwarf_read_uleb(&at, at + 5, index);
}

/* Returns the place in .debug_str_offsets that has the offset of the text; NULL when no place has
 * it. */
static uint8_t *
find_offset(const struct disarming *disarming, Dwarf_Die *die, const Dwarf_Attribute *name,
	    const char *text, uint8_t offset_size)
{
	Dwarf_Word base = offset_size == 8 ? 16 : 8; /* after the header of the unit's part */
	const char *start = disarming->text->d_buf;
	Dwarf_Attribute attribute;
	uint64_t index = 0;
	uint8_t *place;

	if (disarming->offsets == NULL || !read_index(name, &index) || text < start ||
	    (uint64_t)(text - start) >= disarming->text->d_size)
		return NULL;
	if (dwarf_attr(die, DW_AT_str_offsets_base, &attribute) != NULL &&
	    dwarf_formudata(&attribute, &base) != 0)
		return NULL;
	if (base > disarming->offsets->d_size ||
	    index >= (disarming->offsets->d_size - base) / offset_size)
		return NULL;
	place = (uint8_t *)disarming->offsets->d_buf + base + index * offset_size;
	return bytes_little(place, offset_size) == (uint64_t)(text - start) ? place : NULL;
}

/* Overwrites the text with slashes. It is then the path of the root directory, which libdw can open
 * but not read. */
static void
wipe(const char *text)
{
	if (text != NULL)
		memset((char *)(uintptr_t)text, '/', strlen(text));
}

/* Adds a skeleton unit, and the path of its .dwo file as the compiler wrote it, to the list. */
static void
add_skeleton(struct debug_dwarf *dwarf, Dwarf_Die *die, const char *name)
{
	const char *directory = name[0] == '/' ? NULL : text_of(die, DW_AT_comp_dir);
	struct strbuf path = STRBUF_INIT;

	if (directory != NULL) {
		strbuf_add_text(&path, directory);
		strbuf_add_text(&path, "/");
	}
	strbuf_add_text(&path, name);
	dwarf->skeleton = xgrow(dwarf->skeleton, &dwarf->skeleton_capacity,
				dwarf->skeleton_count + 1, sizeof(*dwarf->skeleton));
	dwarf->skeleton[dwarf->skeleton_count++] = (struct debug_skeleton){ dwarf_dieoffset(die),
									    path.data };
}

static bool
rename_unit(void *context, Dwarf_Die *die, uint8_t offset_size)
{
	struct disarming *disarming = context;
	Dwarf_Attribute name;
	const char *text;
	uint8_t *place = NULL;

	if (!find_dwo_name(die, &name))
		return true;
	/* A text in the dwz file cannot be changed here: that file is not open yet. */
	if (name.form == DW_FORM_GNU_strp_alt || name.form == DW_FORM_strp_sup)
		return false;
	text = dwarf_formstring(&name);
	if (text == NULL)
		return true;
	if (name.form == DW_FORM_strp)
		place = name.valp;
	else
		place = find_offset(disarming, die, &name, text, offset_size);
	if (place != NULL) {
		add_skeleton(disarming->dwarf, die, text);
		memcpy(place, &disarming->name, offset_size); /* little-endian */
		return true;
	}
	if (text[0] == '\0')
		wipe(text_of(die, DW_AT_comp_dir));
	wipe(text);
	return true;
}

/* Returns whether the unit names no file that libdw would open. Checked after all units were
 * changed, because units share texts. */
static bool
is_harmless(void *context, Dwarf_Die *die, uint8_t offset_size)
{
	const struct disarming *disarming = context;
	const char *directory, *text;
	Dwarf_Attribute name;

	(void)offset_size;
	if (!find_dwo_name(die, &name))
		return true;
	text = dwarf_formstring(&name);
	if (text == NULL || text == disarming->dwarf->split_name)
		return true;
	directory = text_of(die, DW_AT_comp_dir);
	return text[strspn(text, "/")] == '\0' &&
	       (text[0] == '/' || directory == NULL || directory[strspn(directory, "/")] == '\0');
}

static bool
walk(struct disarming *disarming, debug_unit_visitor *visit)
{
	Dwarf *dwarf = dwarf_begin_elf(disarming->dwarf->elf, DWARF_C_READ, NULL);
	const bool whole = dwarf == NULL || debug_visit_units(dwarf, visit, disarming);

	dwarf_end(dwarf);
	return whole;
}

static Elf_Data *
data_of(Elf *elf, const char *name, const char *packed_name)
{
	GElf_Shdr header;
	Elf_Scn *scn = debug_section(elf, name, &header);

	if (scn == NULL)
		scn = debug_section(elf, packed_name, &header);
	return scn != NULL ? elf_getdata(scn, NULL) : NULL;
}

bool
debug_split_disarm(struct debug_dwarf *dwarf)
{
	struct disarming disarming = { .dwarf = dwarf };

	if (walk(&disarming, has_no_name))
		return true;
	disarming.text = data_of(dwarf->elf, ".debug_str", ".zdebug_str");
	disarming.offsets = data_of(dwarf->elf, ".debug_str_offsets", ".zdebug_str_offsets");
	if (disarming.text == NULL ||
	    disarming.text->d_size > UINT32_MAX - DEBUG_SPLIT_NAME_SIZE - 1)
		return false;
	/* The new name comes after one zero byte, which ends the last text of the section if that
	 * text has no zero of its own. */
	debug_dwarf_move(dwarf, disarming.text, DEBUG_SPLIT_NAME_SIZE + 1);
	disarming.name = disarming.text->d_size + 1;
	disarming.text->d_size += DEBUG_SPLIT_NAME_SIZE + 1;
	dwarf->split_name = (char *)disarming.text->d_buf + disarming.name;
	memcpy(dwarf->split_name, debug_split_nowhere, sizeof(debug_split_nowhere));
	return walk(&disarming, rename_unit) && walk(&disarming, is_harmless);
}
