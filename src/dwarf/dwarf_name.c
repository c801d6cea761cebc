/* SPDX-License-Identifier: MIT */
/* dwarf_name.c - names, by abstract origin and specification, wherever these are. */
#include "wallsample/dwarf/dwarf_entries.h"

#include <dwarf.h>
#include <string.h>

#include "wallsample/elf/symbol_names.h"

/* A concrete function, its abstract one, its declaration; damaged ones may go in a circle. */
#define REFERENCES_MAX 16

static const char *
text_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	const char *text = dwarf_formstring(dwarf_attr(die, name, &attribute));

	return text != NULL && text[0] != '\0' ? text : NULL;
}

const char *
dwarf_name_function(const Dwarf_Die *die)
{
	const char *name = NULL, *linkage;
	Dwarf_Die at = *die, to;
	Dwarf_Attribute attribute;

	for (int i = 0; i < REFERENCES_MAX; i++) {
		linkage = text_of(&at, DW_AT_linkage_name);
		if (linkage == NULL)
			linkage = text_of(&at, DW_AT_MIPS_linkage_name);
		/* In C it is the assembler's name of an alias: __GI_lfind for lfind. */
		if (linkage != NULL && symbol_name_is_mangled(linkage))
			return linkage;
		if (name == NULL)
			name = text_of(&at, DW_AT_name);
		if (dwarf_attr(&at, DW_AT_abstract_origin, &attribute) == NULL &&
		    dwarf_attr(&at, DW_AT_specification, &attribute) == NULL)
			break;
		if (dwarf_formref_die(&attribute, &to) == NULL)
			break;
		at = to;
	}
	return name;
}
