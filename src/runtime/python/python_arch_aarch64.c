/* SPDX-License-Identifier: MIT */
/* python_arch_aarch64.c - branches of aarch64, and the size of CPython's global lock. */
#include "runtime/python/python_find_internal.h"
#include "wallsample/base/bytes.h"

/* An int, an unsigned long, and twice pthread_cond_t (48 bytes) and pthread_mutex_t (48 bytes). */
const uint32_t python_gil_rest = 208;

const size_t python_branch_step = 4;

/* Recognises B, B.cond, CBZ and CBNZ. TBZ and TBNZ reach only 32 KiB. */
bool
python_branch_at(const uint8_t *code, size_t size, int64_t *distance)
{
	uint32_t word;

	if (size < sizeof(word))
		return false;
	word = bytes_u32(code);
	if ((word & 0xfc000000) == 0x14000000) /* B: 26 bits of words */
		*distance = (int64_t)((uint64_t)word << 38) >> 36;
	else if ((word & 0xff000010) == 0x54000000 || /* B.cond: 19 bits from bit 5 */
		 (word & 0x7e000000) == 0x34000000)
		*distance = (int64_t)((uint64_t)(word >> 5) << 45) >> 43;
	else
		return false;
	return true;
}
