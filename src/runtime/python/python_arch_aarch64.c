/* SPDX-License-Identifier: MIT */
/* python_arch_aarch64.c - decodes branches of aarch64, and defines the size of CPython's global
 * lock. */
#include "runtime/python/python_find_internal.h"
#include "wallsample/base/bytes.h"

/* The lock, from gil_locked on, consists of an int, an unsigned long, and two each of
 * pthread_cond_t (48 bytes) and pthread_mutex_t (48 bytes). */
const uint32_t python_gil_rest = 208;

const size_t python_branch_step = 4;

/* Recognises B, B.cond, CBZ and CBNZ, but not TBZ and TBNZ, which reach only 32 KiB: other parts of
 * the function are further away. */
bool
python_branch_at(const uint8_t *code, size_t size, int64_t *distance)
{
	uint32_t word;

	if (size < sizeof(word))
		return false;
	word = bytes_u32(code);
	/* B: the lowest 26 bits are the distance in words of 4 bytes */
	if ((word & 0xfc000000) == 0x14000000)
		*distance = (int64_t)((uint64_t)word << 38) >> 36;
	/* B.cond, CBZ, CBNZ: 19 bits from bit 5 on are the distance in words of 4 bytes */
	else if ((word & 0xff000010) == 0x54000000 || (word & 0x7e000000) == 0x34000000)
		*distance = (int64_t)((uint64_t)(word >> 5) << 45) >> 43;
	else
		return false;
	return true;
}
