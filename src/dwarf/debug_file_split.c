/* SPDX-License-Identifier: MIT */
/*
 * debug_file_split.c - takes the names of .dwo files out of DWARF.
 *
 * All skeleton units are made to name one and the same file, by a text in memory that is
 * ours to change: one that cannot exist, but for the moment in which libdw is to find the
 * rest of a unit (debug_file_dwo.c).
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/debug_file_internal.h"
#include "wallsample/base/bytes.h"

const char debug_split_nowhere[DEBUG_SPLIT_NAME_SIZE] = "/dev/null/none";

/*
 * libdw keeps a kilobyte of each unit, of which the smallest has eleven bytes. The largest
 * browsers have 100,000.
 */
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

/* Walks from header to header, as lookups in libdw do; dwarf_get_units may stop earlier. */
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

/* The name of the file with the rest of the unit; false: it has none. */
static bool
split_name(Dwarf_Die *die, Dwarf_Attribute *name)
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
	Elf_Data *offsets; /* .debug_str_offsets, or NULL */
	uint64_t name;     /* offset of the one name in .debug_str */
};

static bool
has_no_name(void *context, Dwarf_Die *die, uint8_t offset_size)
{
	Dwarf_Attribute name;

	(void)context;
	(void)offset_size;
	return !split_name(die, &name);
}

static void
write_offset(uint8_t *to, uint64_t value, uint8_t size)
{
	for (uint8_t i = 0; i < size; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

/* DW_FORM_strx*: the number of the text's offset in the unit's part of .debug_str_offsets. */
static bool
read_index(const Dwarf_Attribute *name, uint64_t *index)
{
	uint8_t size = 0;

	switch (name->form) {
	case DW_FORM_strx1:
		size = 1;
		break;
	case DW_FORM_strx2:
		size = 2;
		break;
	case DW_FORM_strx3:
		size = 3;
		break;
	case DW_FORM_strx4:
		size = 4;
		break;
	case DW_FORM_strx:
	case DW_FORM_GNU_str_index:
		/* LEB128; dwarf_formstring has seen that it ends in the unit. */
		*index = 0;
		for (unsigned i = 0; i < 5; i++) {
			*index |= (uint64_t)(name->valp[i] & 0x7f) << 7 * i;
			if ((name->valp[i] & 0x80) == 0)
				return true;
		}
		return false;
	default:
		return false;
	}
	*index = bytes_little(name->valp, size);
	return true;
}

/* The place in .debug_str_offsets that holds the offset of the text, or NULL. */
static uint8_t *
place_of_index(const struct disarming *disarming, Dwarf_Die *die, const Dwarf_Attribute *name,
	       const char *text, uint8_t offset_size)
{
	Dwarf_Word base = offset_size == 8 ? 16 : 8; /* behind the header */
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

/* Makes it the name of a directory, which libdw can open and not read. */
static void
wipe(const char *text)
{
	if (text != NULL)
		memset((char *)(uintptr_t)text, '/', strlen(text));
}

static void
remember(struct debug_dwarf *dwarf, Dwarf_Die *die, const char *name)
{
	const char *directory = name[0] == '/' ? NULL : text_of(die, DW_AT_comp_dir);
	struct strbuf path;

	strbuf_init(&path);
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

	if (!split_name(die, &name))
		return true;
	/* Texts of a dwz file, which would come to be known later. */
	if (name.form == DW_FORM_GNU_strp_alt || name.form == DW_FORM_strp_sup)
		return false;
	text = dwarf_formstring(&name);
	if (text == NULL)
		return true;
	if (name.form == DW_FORM_strp)
		place = name.valp;
	else
		place = place_of_index(disarming, die, &name, text, offset_size);
	if (place != NULL) {
		remember(disarming->dwarf, die, text);
		write_offset(place, disarming->name, offset_size);
		return true;
	}
	if (text[0] == '\0')
		wipe(text_of(die, DW_AT_comp_dir));
	wipe(text);
	return true;
}

/* After all changes, because units share texts. */
static bool
is_harmless(void *context, Dwarf_Die *die, uint8_t offset_size)
{
	const struct disarming *disarming = context;
	const char *directory, *text;
	Dwarf_Attribute name;

	(void)offset_size;
	if (!split_name(die, &name))
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
	/* One extra zero terminates a last text that has no end, before the name. */
	debug_dwarf_move(dwarf, disarming.text, DEBUG_SPLIT_NAME_SIZE + 1);
	disarming.name = disarming.text->d_size + 1;
	disarming.text->d_size += DEBUG_SPLIT_NAME_SIZE + 1;
	dwarf->split_name = (char *)disarming.text->d_buf + disarming.name;
	memcpy(dwarf->split_name, debug_split_nowhere, sizeof(debug_split_nowhere));
	return walk(&disarming, rename_unit) && walk(&disarming, is_harmless);
}
