/* SPDX-License-Identifier: MIT */
/* arch_x86_64.c - x86-64 code that the unwinder recognises by its bytes. */
#include <string.h>

#include "unwind_method.h"

/*
 * A return address lies behind a call: E8 with four bytes, or FF /2 with a ModRM
 * byte and what it asks for, 2 to 7 bytes in all, 8 with a prefix (Intel SDM vol. 2, CALL).
 */
bool
arch_is_return_address(const struct image *image, uint64_t vaddr)
{
	uint8_t code[7]; /* the bytes before it */

	if (vaddr < sizeof(code) ||
	    !image_read_vaddr(image, vaddr - sizeof(code), code, sizeof(code)))
		return false;
	if (code[2] == 0xe8)
		return true;
	for (unsigned length = 2; length <= sizeof(code); length++) {
		const uint8_t *call = code + sizeof(code) - length;

		if (call[0] == 0xff && (call[1] >> 3 & 7) == 2)
			return true;
	}
	return false;
}

/* mov $15, %rax; syscall: rt_sigreturn, as the C libraries spell it. */
bool
arch_is_signal_trampoline(const struct image *image, uint64_t vaddr)
{
	static const uint8_t spelling[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	uint8_t code[sizeof(spelling)];

	return image_read_vaddr(image, vaddr, code, sizeof(code)) &&
	       memcmp(code, spelling, sizeof(code)) == 0;
}
