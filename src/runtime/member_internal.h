/* SPDX-License-Identifier: MIT */
/* member_internal.h - members of a runtime's structures, by offsets that depend on its version. */
#ifndef WALLSAMPLE_RUNTIME_MEMBER_INTERNAL_H
#define WALLSAMPLE_RUNTIME_MEMBER_INTERNAL_H

#include <stdint.h>

#include "wallsample/base/bytes.h"

/* Stands for the offset of a member that this version of the runtime does not have. */
#define MEMBER_ABSENT UINT32_MAX

/*
 * The functions return the little-endian member of 64 or 32 bits at `offset`; 0 for MEMBER_ABSENT.
 * `bytes`: a copy of the structure from its beginning, which must include the member.
 */
static inline uint64_t
member_u64(const uint8_t *bytes, uint32_t offset)
{
	return offset == MEMBER_ABSENT ? 0 : bytes_u64(bytes + offset);
}

static inline uint32_t
member_u32(const uint8_t *bytes, uint32_t offset)
{
	return offset == MEMBER_ABSENT ? 0 : bytes_u32(bytes + offset);
}

#endif
