/* SPDX-License-Identifier: MIT */
/*
 * plt_arch_x86_64.c - decodes the stubs that linkers write for x86-64 (GNU ld, gold, lld, mold).
 */
#include "symbol/plt_internal.h"

#include <elf.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/base/bytes.h"

/* The first bytes of an instruction, their number, and the size of the operand that follows
 * them. */
struct prelude {
	uint8_t bytes[4];
	size_t length, operand;
};

/* Instructions that may precede the jump or push of a stub, in this order. */
static const struct prelude prelude[] = {
	{ { 0xf3, 0x0f, 0x1e, 0xfa }, 4, 0 }, /* endbr64: with -fcf-protection */
	{ { 0x41, 0xbb }, 2, 4 },             /* mov $number, %r11d: mold */
	{ { 0xf2 }, 1, 0 },                   /* bnd */
};

/* Instructions that read the GOT slot. Their operand is the distance in bytes, 32 bits with sign,
 * from the end of the instruction to the slot. */
static const struct prelude reader[] = {
	{ { 0xff, 0x25 }, 2, 4 },       /* jmp *slot(%rip) */
	{ { 0x4c, 0x8b, 0x1d }, 3, 4 }, /* mov slot(%rip), %r11: lld's stubs with retpolines */
};

static bool
is_at(const struct prelude *wanted, const uint8_t *code, size_t size)
{
	return size >= wanted->length + wanted->operand &&
	       memcmp(code, wanted->bytes, wanted->length) == 0;
}

/* Returns the size in bytes of the instructions that precede the jump or push. */
static size_t
prelude_length(const uint8_t *code, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; i < ARRAY_SIZE(prelude); i++)
		if (is_at(&prelude[i], code + at, size - at))
			at += prelude[i].length + prelude[i].operand;
	return at;
}

/* Decodes a stub of .plt in a program with -fcf-protection. Such a stub pushes the number of its
 * relocation and jumps to code that all stubs share; the jump through the slot is in .plt.sec. */
static bool
decode_push(const uint8_t *code, size_t size, struct plt_jump *jump)
{
	enum { PUSH = 0x68, JMP = 0xe9, BND = 0xf2, BOTH = 10 };

	if (size < BOTH + 1 || code[0] != PUSH)
		return false;
	if (code[5] != JMP && (code[5] != BND || code[6] != JMP))
		return false;
	*jump = (struct plt_jump){ .is_index = true, .value = bytes_u32(code + 1) };
	return true;
}

static bool
decode(const uint8_t *code, size_t size, uint64_t vaddr, struct plt_jump *jump)
{
	const size_t at = prelude_length(code, size);

	for (size_t i = 0; i < ARRAY_SIZE(reader); i++) {
		if (!is_at(&reader[i], code + at, size - at))
			continue;
		const uint32_t distance = bytes_u32(code + at + reader[i].length);
		const uint64_t behind = vaddr + at + reader[i].length + reader[i].operand;

		*jump = (struct plt_jump){
			.is_index = false,
			.value = behind + (uint64_t)(int64_t)(int32_t)distance,
		};
		return true;
	}
	return decode_push(code + at, size - at, jump);
}

const struct plt_arch plt_arch_x86_64 = {
	.machine = EM_X86_64,
	.jump_slot = R_X86_64_JUMP_SLOT,
	.glob_dat = R_X86_64_GLOB_DAT,
	.irelative = R_X86_64_IRELATIVE,
	.step = 8,
	.size = 32,
	.decode = decode,
};
