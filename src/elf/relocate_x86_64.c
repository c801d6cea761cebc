/* SPDX-License-Identifier: MIT */
/*
 * relocate_x86_64.c - the relocations of 32 and 64 bits that sections of data have, from table 4.9
 * of the x86-64 psABI.
 */
#include <elf.h>
#include <stddef.h>

#include "wallsample/elf/relocate.h"
#include "wallsample/base/base.h"

const uint16_t relocate_machine = EM_X86_64;

const struct relocation *
relocate_find(uint32_t type)
{
	static const struct relocation known[] = {
		{ R_X86_64_64, 8, false },  { R_X86_64_32, 4, false },   { R_X86_64_32S, 4, false },
		{ R_X86_64_PC32, 4, true }, { R_X86_64_PLT32, 4, true }, { R_X86_64_PC64, 8, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].type == type)
			return &known[i];
	return NULL;
}
