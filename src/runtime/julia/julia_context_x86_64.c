/* SPDX-License-Identifier: MIT */
/*
 * julia_context_x86_64.c - decodes a jmp_buf of glibc on x86-64: rbx, rbp, r12 to r15, rsp, rip.
 * glibc has xored rbp, rsp and rip with a word of the thread's header and rotated them left by 17
 * bits (sysdeps/x86_64/setjmp.S, pointer_guard.h).
 */
#include <string.h>

#include "runtime/julia/julia_internal.h"

enum { RBX, RBP, R12, R13, R14, R15, RSP, RIP, WORDS };

_Static_assert(WORDS * sizeof(uint64_t) == JULIA_CONTEXT_SIZE, "a word for each register");

uint64_t
julia_context_guard(uint64_t pthread)
{
	return pthread + 0x30; /* tcbhead_t.pointer_guard */
}

static uint64_t
demangle(uint64_t word, uint64_t guard)
{
	return (word >> 17 | word << 47) ^ guard;
}

bool
julia_context_read(const uint8_t bytes[JULIA_CONTEXT_SIZE], uint64_t guard,
		   struct julia_context *out)
{
	uint64_t word[WORDS];

	memcpy(word, bytes, sizeof(word));
	*out = (struct julia_context){
		.pc = demangle(word[RIP], guard),
		.sp = demangle(word[RSP], guard),
		.fp = demangle(word[RBP], guard),
	};
	return true;
}
