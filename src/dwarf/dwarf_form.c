/* SPDX-License-Identifier: MIT */
/* dwarf_form.c - the sizes of forms, as a table, and the steps over those that vary. */
#include "dwarf/dwarf_unit_internal.h"

#include <byteswap.h>
#include <dwarf.h>
#include <string.h>

#include "wallsample/base/base.h"

/* Sizes that are the unit's. */
enum { OF_ADDRESS = 100, OF_OFFSET, OF_REFERENCE };

struct form {
	uint8_t kind, size;
};

#define FIXED(n)                                                                                   \
	{                                                                                          \
		DWARF_STEP_FIXED, n                                                                \
	}
#define VARYING(kind, n)                                                                           \
	{                                                                                          \
		DWARF_STEP_##kind, n                                                               \
	}
#define KNOWN 0x80 /* marks a row that is there */

static const struct form forms[] = {
	[DW_FORM_addr] = FIXED(OF_ADDRESS),
	[DW_FORM_block2] = VARYING(BLOCK, 2),
	[DW_FORM_block4] = VARYING(BLOCK, 4),
	[DW_FORM_data2] = FIXED(2),
	[DW_FORM_data4] = FIXED(4),
	[DW_FORM_data8] = FIXED(8),
	[DW_FORM_string] = VARYING(STRING, 1),
	[DW_FORM_block] = VARYING(EXPRESSION, 1),
	[DW_FORM_block1] = VARYING(BLOCK, 1),
	[DW_FORM_data1] = FIXED(1),
	[DW_FORM_flag] = FIXED(1),
	[DW_FORM_sdata] = VARYING(ULEB, 1),
	[DW_FORM_strp] = FIXED(OF_OFFSET),
	[DW_FORM_udata] = VARYING(ULEB, 1),
	[DW_FORM_ref_addr] = FIXED(OF_REFERENCE),
	[DW_FORM_ref1] = FIXED(1),
	[DW_FORM_ref2] = FIXED(2),
	[DW_FORM_ref4] = FIXED(4),
	[DW_FORM_ref8] = FIXED(8),
	[DW_FORM_ref_udata] = VARYING(ULEB, 1),
	[DW_FORM_indirect] = VARYING(INDIRECT, 1),
	[DW_FORM_sec_offset] = FIXED(OF_OFFSET),
	[DW_FORM_exprloc] = VARYING(EXPRESSION, 1),
	[DW_FORM_flag_present] = FIXED(KNOWN),
	[DW_FORM_strx] = VARYING(ULEB, 1),
	[DW_FORM_addrx] = VARYING(ULEB, 1),
	[DW_FORM_ref_sup4] = FIXED(4),
	[DW_FORM_strp_sup] = FIXED(OF_OFFSET),
	[DW_FORM_data16] = FIXED(16),
	[DW_FORM_line_strp] = FIXED(OF_OFFSET),
	[DW_FORM_ref_sig8] = FIXED(8),
	[DW_FORM_implicit_const] = FIXED(KNOWN),
	[DW_FORM_loclistx] = VARYING(ULEB, 1),
	[DW_FORM_rnglistx] = VARYING(ULEB, 1),
	[DW_FORM_ref_sup8] = FIXED(8),
	[DW_FORM_strx1] = FIXED(1),
	[DW_FORM_strx2] = FIXED(2),
	[DW_FORM_strx3] = FIXED(3),
	[DW_FORM_strx4] = FIXED(4),
	[DW_FORM_addrx1] = FIXED(1),
	[DW_FORM_addrx2] = FIXED(2),
	[DW_FORM_addrx3] = FIXED(3),
	[DW_FORM_addrx4] = FIXED(4),
};

bool
dwarf_form_sizes_of(Dwarf_Die *unit, struct dwarf_form_sizes *sizes)
{
	static const uint16_t one = 1;
	bool little = *(const unsigned char *)&one == 1;
	Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(unit->cu));
	const char *ident = elf_getident(elf, NULL);
	Dwarf_Half version;

	if (ident == NULL || dwarf_cu_info(unit->cu, &version, NULL, NULL, NULL, NULL,
					   &sizes->address, &sizes->offset) != 0)
		return false;
	sizes->reference = version <= 2 ? sizes->address : sizes->offset;
	sizes->swapped = (ident[EI_DATA] == ELFDATA2LSB) != little;
	return true;
}

bool
dwarf_form_step(const struct dwarf_form_sizes *sizes, unsigned int form, struct dwarf_step *step)
{
	struct form row = { 0 };

	if (form < ARRAY_SIZE(forms))
		row = forms[form];
	else if (form == DW_FORM_GNU_addr_index || form == DW_FORM_GNU_str_index)
		row = (struct form)VARYING(ULEB, 1);
	else if (form == DW_FORM_GNU_ref_alt || form == DW_FORM_GNU_strp_alt)
		row = (struct form)FIXED(OF_OFFSET);
	if (row.size == 0)
		return false;
	step->kind = row.kind;
	switch (row.size) {
	case OF_ADDRESS:
		step->size = sizes->address;
		break;
	case OF_OFFSET:
		step->size = sizes->offset;
		break;
	case OF_REFERENCE:
		step->size = sizes->reference;
		break;
	case KNOWN:
		step->size = 0;
		break;
	default:
		step->size = row.size;
		break;
	}
	return true;
}

bool
dwarf_form_uleb(const unsigned char **at, const unsigned char *end, uint64_t *value)
{
	unsigned int shift = 0;

	*value = 0;
	while (*at < end) {
		unsigned char byte = *(*at)++;

		if (shift < 64)
			*value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte < 0x80)
			return true;
	}
	return false;
}

static bool
skip_bytes(const unsigned char **at, const unsigned char *end, uint64_t count)
{
	if (count > (uint64_t)(end - *at))
		return false;
	*at += count;
	return true;
}

static bool
skip_block(const struct dwarf_form_sizes *sizes, uint32_t size, const unsigned char **at,
	   const unsigned char *end)
{
	const unsigned char *from = *at;
	uint32_t four;
	uint16_t two;

	if (!skip_bytes(at, end, size))
		return false;
	switch (size) {
	case 1:
		return skip_bytes(at, end, *from);
	case 2:
		memcpy(&two, from, sizeof(two));
		return skip_bytes(at, end, sizes->swapped ? bswap_16(two) : two);
	default:
		memcpy(&four, from, sizeof(four));
		return skip_bytes(at, end, sizes->swapped ? bswap_32(four) : four);
	}
}

/* An indirect form that is indirect again is refused: there is no sense in it, nor an end. */
static bool
skip_indirect(const struct dwarf_form_sizes *sizes, const unsigned char **at,
	      const unsigned char *end)
{
	struct dwarf_step step;
	uint64_t form;

	if (!dwarf_form_uleb(at, end, &form) || form > UINT16_MAX || form == DW_FORM_implicit_const)
		return false;
	if (!dwarf_form_step(sizes, (unsigned int)form, &step) || step.kind == DWARF_STEP_INDIRECT)
		return false;
	return dwarf_form_skip(sizes, &step, at, end);
}

bool
dwarf_form_skip(const struct dwarf_form_sizes *sizes, const struct dwarf_step *step,
		const unsigned char **at, const unsigned char *end)
{
	const unsigned char *zero;
	uint64_t length;

	switch (step->kind) {
	case DWARF_STEP_FIXED:
		return skip_bytes(at, end, step->size);
	case DWARF_STEP_ULEB:
		return dwarf_form_uleb(at, end, &length);
	case DWARF_STEP_STRING:
		zero = memchr(*at, 0, (size_t)(end - *at));
		if (zero != NULL)
			*at = zero + 1;
		return zero != NULL;
	case DWARF_STEP_BLOCK:
		return skip_block(sizes, step->size, at, end);
	case DWARF_STEP_EXPRESSION:
		return dwarf_form_uleb(at, end, &length) && skip_bytes(at, end, length);
	case DWARF_STEP_INDIRECT:
		return skip_indirect(sizes, at, end);
	default:
		return false;
	}
}
