/* SPDX-License-Identifier: MIT */
/*
 * relocate_aarch64.c - the data relocations of 32 and 64 bits from the document "ELF for the Arm
 * 64-bit Architecture", section "Data relocations".
 */
#include <elf.h>
#include <stddef.h>

#include "wallsample/elf/relocate.h"
#include "wallsample/base/base.h"

const uint16_t relocate_machine = EM_AARCH64;

const struct relocation *
relocate_find(uint32_t type)
{
	static const struct relocation known[] = {
		{ R_AARCH64_ABS64, 8, false },
		{ R_AARCH64_ABS32, 4, false },
		{ R_AARCH64_PREL64, 8, true },
		{ R_AARCH64_PREL32, 4, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].type == type)
			return &known[i];
	return NULL;
}
