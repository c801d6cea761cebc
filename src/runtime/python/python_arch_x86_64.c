/* SPDX-License-Identifier: MIT */
/*
 * python_arch_x86_64.c - jmp and jcc with 32-bit distances: short ones do not reach other parts
 * of a function.
 */
#include <string.h>

#include "runtime/python/python_find_internal.h"

const size_t python_branch_step = 1;

bool
python_branch_at(const uint8_t *code, size_t size, int64_t *distance)
{
	size_t opcode;
	int32_t value;

	if (size >= 5 && code[0] == 0xe9)
		opcode = 1;
	else if (size >= 6 && code[0] == 0x0f && (code[1] & 0xf0) == 0x80)
		opcode = 2;
	else
		return false;
	memcpy(&value, code + opcode, sizeof(value));
	*distance = (int64_t)(opcode + sizeof(value)) + value;
	return true;
}
