/* SPDX-License-Identifier: MIT */
/*
 * bytes.h - reads numbers from bytes of any alignment. The caller makes sure that all bytes of the
 * number are readable.
 */
#ifndef WALLSAMPLE_BASE_BYTES_H
#define WALLSAMPLE_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* Read a little-endian number. */
uint32_t bytes_u32(const void *bytes);
uint64_t bytes_u64(const void *bytes);

/* Read a number of `size` bytes, at most 8: bytes_little little-endian, bytes_big big-endian. */
uint64_t bytes_little(const void *bytes, size_t size);
uint64_t bytes_big(const void *bytes, size_t size);

#endif
