/* SPDX-License-Identifier: MIT */
/* bytes.c - reads numbers of a stated byte order from bytes of any alignment. */
#include "wallsample/base/bytes.h"

#include <endian.h>
#include <string.h>

uint32_t
bytes_u32(const void *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return le32toh(value);
}

uint64_t
bytes_u64(const void *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return le64toh(value);
}

uint64_t
bytes_little(const void *bytes, size_t size)
{
	const uint8_t *byte = bytes;
	uint64_t value = 0;

	for (size_t i = size; i > 0; i--)
		value = value << 8 | byte[i - 1];
	return value;
}

uint64_t
bytes_big(const void *bytes, size_t size)
{
	const uint8_t *byte = bytes;
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value = value << 8 | byte[i];
	return value;
}
