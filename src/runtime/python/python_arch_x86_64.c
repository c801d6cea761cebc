/* SPDX-License-Identifier: MIT */
/* python_arch_x86_64.c - decodes branches of x86-64, and defines the size of CPython's global
 * lock. */
#include <string.h>

#include "runtime/python/python_find_internal.h"

/* The lock, from gil_locked on, consists of an int, an unsigned long, and two each of
 * pthread_cond_t (48 bytes) and pthread_mutex_t (40 bytes). */
const uint32_t python_gil_rest = 192;

const size_t python_branch_step = 1;

/* Recognises jmp and jcc with 32-bit distances, but not those with 8-bit distances: other parts of
 * the function are further away. */
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
