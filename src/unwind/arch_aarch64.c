/* SPDX-License-Identifier: MIT */
/* arch_aarch64.c - aarch64 code that the unwinder recognises by its bytes. */
#include "unwind_method.h"

/* A return address lies behind a call: BL or BLR (Arm ARM C6.2). */
bool
arch_is_return_address(const struct image *image, uint64_t vaddr)
{
	uint32_t code;

	if (vaddr % 4 != 0 || vaddr < 4 || !image_read_vaddr(image, vaddr - 4, &code, 4))
		return false;
	return (code & 0xfc000000) == 0x94000000 || (code & 0xfffffc1f) == 0xd63f0000;
}

/* mov x8, #139; svc #0: rt_sigreturn, in the vdso. */
bool
arch_is_signal_trampoline(const struct image *image, uint64_t vaddr)
{
	uint32_t code[2];

	return image_read_vaddr(image, vaddr, code, sizeof(code)) && code[0] == 0xd2801168 &&
	       code[1] == 0xd4000001;
}
