/* SPDX-License-Identifier: MIT */
/*
 * jit_frames.c - rewrites text-relative addresses in an .eh_frame section.
 */
#include "jit/objects/jit_elf_internal.h"

#include <dwarf.h>
#include <stdbool.h>
#include <string.h>

/* A form of 4 bytes becomes another of 4 bytes: nothing moves. */
#define FROM (DW_EH_PE_textrel | DW_EH_PE_udata4)
#define TO (DW_EH_PE_pcrel | DW_EH_PE_sdata4)

/* Behind length and id: version, "zR", then numbers of a byte each, as far as is known here. */
struct cie_start {
	uint8_t version;
	char augmentation[3];
	uint8_t code_align, data_align, return_register;
	uint8_t augmentation_size, encoding;
};

/* The common part of functions' entries; true when it was text-relative. */
static bool
settle_cie(uint8_t *bytes, uint64_t size)
{
	struct cie_start start;

	if (size < sizeof(start))
		return false;
	memcpy(&start, bytes, sizeof(start));
	/* A set high bit means that the number has further bytes. */
	if (start.version != 1 || memcmp(start.augmentation, "zR", 3) != 0 ||
	    ((start.code_align | start.data_align) & 0x80) != 0 || start.augmentation_size != 1 ||
	    start.encoding != FROM)
		return false;
	bytes[offsetof(struct cie_start, encoding)] = TO;
	return true;
}

/* One function's entry: its first word is where it begins. */
static void
settle_fde(uint8_t *bytes, uint64_t size, uint64_t address, uint64_t text)
{
	uint32_t offset;
	uint64_t relative;

	if (size < sizeof(offset))
		return;
	memcpy(&offset, bytes, sizeof(offset));
	relative = text + offset - address;
	if ((int64_t)relative < INT32_MIN || (int64_t)relative > INT32_MAX)
		return;
	offset = (uint32_t)relative;
	memcpy(bytes, &offset, sizeof(offset));
}

void
jit_frames_settle(uint8_t *bytes, uint64_t size, uint64_t address, uint64_t text)
{
	uint64_t at = 0, cie = 0;
	bool cie_is_ours = false;

	while (size - at >= 2 * sizeof(uint32_t)) {
		uint64_t content = at + 2 * sizeof(uint32_t);
		uint32_t length, id;

		memcpy(&length, bytes + at, sizeof(length));
		memcpy(&id, bytes + at + sizeof(length), sizeof(id));
		/* An end, or the form for tables beyond 4 GiB. */
		if (length < sizeof(id) || length > size - at - sizeof(length))
			return;
		if (id == 0) {
			cie = at;
			cie_is_ours = settle_cie(bytes + content, length - sizeof(id));
		} else if (cie_is_ours && at + sizeof(length) - id == cie) {
			settle_fde(bytes + content, length - sizeof(id), address + content, text);
		}
		at += sizeof(length) + length;
	}
}
