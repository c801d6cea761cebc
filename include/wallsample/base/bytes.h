/* SPDX-License-Identifier: MIT */
/*
 * bytes.h - reads numbers of any alignment from bytes. The caller checks that all bytes of the
 * number are within its buffer.
 */
#ifndef WALLSAMPLE_BASE_BYTES_H
#define WALLSAMPLE_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* Little-endian. */
uint16_t bytes_u16(const void *bytes);
uint32_t bytes_u32(const void *bytes);
uint64_t bytes_u64(const void *bytes);

/* A number of `size` bytes (at most 8), little-endian or big-endian. */
uint64_t bytes_little(const void *bytes, size_t size);
uint64_t bytes_big(const void *bytes, size_t size);

#endif
