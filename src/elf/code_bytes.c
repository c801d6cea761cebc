/* SPDX-License-Identifier: MIT */
/* code_bytes.c - finds system calls and direct calls in the code of an image. */
#include "wallsample/elf/code_bytes.h"

#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"

/* Largest size of a segment of code that is searched for calls. */
#define MOST_CODE (UINT64_C(16) << 20)

bool
code_follows_syscall(const struct image *image, uint64_t vaddr)
{
	uint8_t code[4];

	if (image->machine == EM_X86_64) /* syscall (Intel SDM vol. 2) */
		return vaddr >= 2 && image_read_vaddr(image, vaddr - 2, code, 2) &&
		       memcmp(code, "\x0f\x05", 2) == 0;
	/* svc #0 (Arm Architecture Reference Manual, C6.2) */
	return image->machine == EM_AARCH64 && vaddr >= 4 &&
	       image_read_vaddr(image, vaddr - 4, code, 4) &&
	       memcmp(code, "\x01\x00\x00\xd4", 4) == 0;
}

/* Decodes the direct call at `code`, of which 5 bytes can be read and whose address is `vaddr`, and
 * stores the address that it calls. Returns false when there is another instruction. */
static bool
decode_call(uint16_t machine, const uint8_t *code, uint64_t vaddr, uint64_t *target)
{
	uint32_t word;
	int32_t distance;

	if (machine == EM_X86_64) { /* call: E8, and the distance from the next instruction */
		memcpy(&distance, code + 1, sizeof(distance));
		*target = vaddr + 5 + (uint64_t)(int64_t)distance;
		return code[0] == 0xe8;
	}
	/* bl: 26 bits, the distance in words */
	memcpy(&word, code, sizeof(word));
	distance = (int32_t)(word << 6) >> 6;
	*target = vaddr + (uint64_t)((int64_t)distance * 4);
	return machine == EM_AARCH64 && vaddr % 4 == 0 && word >> 26 == 0x25;
}

/* Lowers *end to the lowest address above `start` that the code of the segment calls. */
static void
search_segment(const struct image *image, const struct image_segment *segment, uint64_t start,
	       uint64_t *end)
{
	const uint64_t whole_end = *end;
	uint8_t *code;

	if (!segment->executable || segment->file_size > MOST_CODE || segment->file_size < 5)
		return;
	code = xmalloc(segment->file_size);
	if (image_read_offset(image, segment->offset, code, segment->file_size)) {
		for (uint64_t i = 0; i + 5 <= segment->file_size; i++) {
			const uint64_t at = segment->vaddr + i;
			uint64_t target;

			if (decode_call(image->machine, code + i, at, &target) && target > start &&
			    target < *end && (at < start || at >= whole_end))
				*end = target;
		}
	}
	free(code);
}

uint64_t
code_first_called(const struct image *image, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < image->segment_count; i++)
		search_segment(image, &image->segment[i], start, &end);
	return end;
}
