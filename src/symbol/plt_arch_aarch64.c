/* SPDX-License-Identifier: MIT */
/*
 * plt_arch_aarch64.c - decodes the stubs that linkers write for aarch64: plain ones, those with
 * branch target identification (they begin with bti c), and those with pointer authentication (an
 * instruction before the br).
 *
 * Instruction words are little-endian, whatever the byte order of data is (Arm ARM, B2.6.2).
 */
#include "symbol/plt_internal.h"

#include <elf.h>

#include "wallsample/base/bytes.h"

#define BTI_C UINT32_C(0xd503245f)

/* adrp x16, page: bits 30:29 and 23:5 are the distance in pages. */
#define ADRP_X16_MASK UINT32_C(0x9f00001f)
#define ADRP_X16 UINT32_C(0x90000010)

/* ldr x17, [x16, #offset]: bits 21:10 are the offset divided by 8. */
#define LDR_X17_X16_MASK UINT32_C(0xffc003ff)
#define LDR_X17_X16 UINT32_C(0xf9400211)

static uint64_t
adrp_target(uint32_t word, uint64_t vaddr)
{
	const uint64_t page = UINT64_C(0xfff);
	const uint64_t sign = UINT64_C(1) << 20;
	uint64_t pages = (uint64_t)(word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3);

	pages = (pages ^ sign) - sign;
	return (vaddr & ~page) + (pages << 12);
}

static bool
decode(const uint8_t *code, size_t size, uint64_t vaddr, struct plt_jump *jump)
{
	const size_t at = size >= 4 && bytes_u32(code) == BTI_C ? 4 : 0;
	uint32_t adrp, ldr;

	if (size < at + 8)
		return false;
	adrp = bytes_u32(code + at);
	ldr = bytes_u32(code + at + 4);
	if ((adrp & ADRP_X16_MASK) != ADRP_X16 || (ldr & LDR_X17_X16_MASK) != LDR_X17_X16)
		return false;
	*jump = (struct plt_jump){
		.is_index = false,
		.value = adrp_target(adrp, vaddr + at) + ((ldr >> 10 & 0xfff) << 3),
	};
	return true;
}

const struct plt_arch plt_arch_aarch64 = {
	.machine = EM_AARCH64,
	.jump_slot = R_AARCH64_JUMP_SLOT,
	.glob_dat = R_AARCH64_GLOB_DAT,
	.irelative = R_AARCH64_IRELATIVE,
	.step = 4,
	.size = 16,
	.decode = decode,
};
