/* SPDX-License-Identifier: MIT */
/*
 * julia_context_aarch64.c - on AArch64 glibc mangles addresses with a variable of the dynamic
 * loader whose address is not available: no jmp_buf can be decoded.
 */
#include "runtime/julia/julia_internal.h"

uint64_t
julia_context_guard(uint64_t pthread)
{
	(void)pthread;
	return 0;
}

bool
julia_context_read(const uint8_t bytes[JULIA_CONTEXT_SIZE], uint64_t guard,
		   struct julia_context *out)
{
	(void)bytes;
	(void)guard;
	*out = (struct julia_context){ .pc = 0 };
	return false;
}
