/* SPDX-License-Identifier: MIT */
/*
 * jit_frames_internal.h - unwind tables whose addresses count from the code, as LuaJIT's do.
 *
 * The encoding (DW_EH_PE_textrel) is in the Linux Standard Base, but needs to be told where the
 * code is; libdw has nobody to ask. Such tables are rewritten to the usual one, in
 * which an address counts from the place where it is written.
 */
#ifndef WALLSAMPLE_JIT_OBJECTS_JIT_FRAMES_INTERNAL_H
#define WALLSAMPLE_JIT_OBJECTS_JIT_FRAMES_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

/*
 * Rewrites the .eh_frame of `size` bytes that is to lie at `address`; code begins at `text`. What
 * is encoded otherwise, or damaged, stays as it is.
 */
void jit_frames_settle(uint8_t *bytes, uint64_t size, uint64_t address, uint64_t text);

#endif
