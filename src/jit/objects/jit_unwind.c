/* SPDX-License-Identifier: MIT */
/* jit_unwind.c - reads libunwind's list, and makes object files of the unwind tables in it. */
#include "jit/objects/jit_watch_internal.h"

#include <elf.h>
#include <string.h>

#include "wallsample/elf/relocate.h"
#include "wallsample/base/base.h"

/* Largest number of functions in one table: a compiler registers each function, or each small
 * object file, by itself. */
#define ENTRIES_MOST 1024

/* The start of libunwind's struct unw_dyn_info_list. */
struct list {
	uint32_t version, generation;
	uint64_t first;
};

/* The values of info.format that are supported (UNW_INFO_FORMAT_… of libunwind): the form of a
 * table. The addresses in a table are distances from `base` of struct info; with FORMAT_IP_OFFSET,
 * those of functions are distances from `start` instead. */
enum format { FORMAT_TABLE = 1, FORMAT_REMOTE_TABLE = 2, FORMAT_IP_OFFSET = 4 };

/* struct unw_dyn_info: the code [start, end), with a table of `words` entries at `table`. */
struct info {
	uint64_t next, prev;
	uint64_t start, end, gp;
	int32_t format, unused;
	uint64_t name, base, words, table;
};

/* An entry of a table: the distance to a function, and the distance to the function's entry in
 * .eh_frame. */
struct entry {
	int32_t function, frame;
};

/* --- the address of the list --------------------------------------------------------------- */

/* Decodes "lea list(%rip), %rax; ret", with or without "endbr64" before it. Returns the address of
 * `list`; 0 when the code is different. */
static uint64_t
address_x86_64(const uint8_t code[16], uint64_t vaddr)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa }, lea[] = { 0x48, 0x8d, 0x05 };
	size_t at = memcmp(code, endbr, sizeof(endbr)) == 0 ? sizeof(endbr) : 0;
	int32_t offset;

	if (memcmp(code + at, lea, sizeof(lea)) != 0)
		return 0;
	at += sizeof(lea);
	memcpy(&offset, code + at, sizeof(offset));
	at += sizeof(offset);
	return code[at] == 0xc3 ? vaddr + at + (uint64_t)(int64_t)offset : 0;
}

uint64_t
jit_unwind_address(const struct image *image, uint64_t vaddr)
{
	uint8_t code[16];

	if (image->machine != EM_X86_64 || !image_read_vaddr(image, vaddr, code, sizeof(code)))
		return 0;
	return address_x86_64(code, vaddr);
}

/* --- the list ------------------------------------------------------------------------------ */

bool
jit_unwind_read_head(const struct memory *memory, uint64_t address, struct jit_descriptor *head)
{
	struct list list;

	if (!memory_read(memory, address, &list, sizeof(list)))
		return false;
	*head = (struct jit_descriptor){ .version = list.generation, .first = list.first };
	return true;
}

/* Extends the range [listed->address, *end) by the .eh_frame entry at `address`, and by the common
 * entry (CIE) that it refers to. Returns false when the entry is unreadable or not plausible. */
static bool
add_frame_entry(const struct memory *memory, uint64_t address, struct jit_listed *listed,
		uint64_t *end)
{
	/* length of the entry; distance from this word back to the common entry */
	uint32_t head[2];
	uint64_t common;

	if (!memory_read(memory, address, head, sizeof(head)) || head[0] < sizeof(head[1]) ||
	    head[0] > JIT_UNWIND_MOST || head[1] == 0)
		return false;
	common = address + sizeof(head[0]) - head[1];
	if (common < listed->address)
		listed->address = common;
	if (address + sizeof(head[0]) + head[0] > *end)
		*end = address + sizeof(head[0]) + head[0];
	return true;
}

/* Stores in *listed the address and size of the memory that contains all .eh_frame entries of the
 * code, and the range of the code. Returns false when they are unreadable or not plausible. */
static bool
find_frame_entries(const struct memory *memory, const struct info *info, struct jit_listed *listed)
{
	struct entry entry[ENTRIES_MOST];
	uint64_t end = 0;

	if ((info->format != FORMAT_TABLE && info->format != FORMAT_REMOTE_TABLE &&
	     info->format != FORMAT_IP_OFFSET) ||
	    info->start == 0 || info->end <= info->start ||
	    info->end - info->start > JIT_UNWIND_CODE_MOST || info->words == 0 ||
	    info->words > ENTRIES_MOST ||
	    !memory_read(memory, info->table, entry, info->words * sizeof(*entry)))
		return false;
	listed->address = UINT64_MAX;
	for (size_t i = 0; i < info->words; i++)
		if (!add_frame_entry(memory, info->base + (uint64_t)(int64_t)entry[i].frame, listed,
				     &end))
			return false;
	if (listed->address >= end || end - listed->address > JIT_UNWIND_MOST)
		return false;
	listed->size = end - listed->address;
	listed->start = info->start;
	listed->end = info->end;
	return true;
}

bool
jit_unwind_read_node(const struct memory *memory, struct jit_listed *listed, uint64_t next[2])
{
	struct info info;

	if (!memory_read(memory, listed->entry, &info, sizeof(info)))
		return false;
	next[0] = info.next;
	return find_frame_entries(memory, &info, listed);
}

/* --- object files -------------------------------------------------------------------------- */

enum { NOTHING, TEXT, EH_FRAME, NAMES, SECTIONS };

static const char names[] = "\0.text\0.eh_frame\0.shstrtab";

/* The start of an object file. The code, all zeros, and the unwind tables follow. */
struct head {
	Elf64_Ehdr header;
	Elf64_Shdr section[SECTIONS];
	char names[sizeof(names)];
};

uint8_t *
jit_unwind_wrap(uint8_t *tables, const struct jit_listed *listed, uint64_t *size)
{
	const uint64_t code = listed->end - listed->start, at = (sizeof(struct head) + 15) & ~15ULL;
	struct head head = {
		.header = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT },
			.e_type = ET_REL, .e_machine = relocate_machine, .e_version = EV_CURRENT,
			.e_ehsize = sizeof(Elf64_Ehdr), .e_shoff = offsetof(struct head, section),
			.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = SECTIONS,
			.e_shstrndx = NAMES,
		},
		.section = {
			[TEXT] = { .sh_name = 1, .sh_type = SHT_PROGBITS,
				   .sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_addr = listed->start,
				   .sh_offset = at, .sh_size = code, .sh_addralign = 1 },
			[EH_FRAME] = { .sh_name = 7, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC,
				       .sh_addr = listed->address, .sh_offset = at + code,
				       .sh_size = listed->size, .sh_addralign = 1 },
			[NAMES] = { .sh_name = 17, .sh_type = SHT_STRTAB,
				    .sh_offset = offsetof(struct head, names),
				    .sh_size = sizeof(names), .sh_addralign = 1 },
		},
	};
	uint8_t *bytes;

	memcpy(head.names, names, sizeof(names));
	*size = at + code + listed->size;
	bytes = xcalloc(1, *size + 1);
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + at + code, tables, listed->size);
	free(tables);
	return bytes;
}
