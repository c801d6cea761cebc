/* SPDX-License-Identifier: MIT */
/* jit_unwind.c - reads libunwind's list, and makes object files of what is in it. */
#include "jit/objects/jit_watch_internal.h"

#include <elf.h>
#include <string.h>

#include "wallsample/elf/relocate.h"
#include "wallsample/base/base.h"
#include "wallsample/base/table.h"

/* Of one table: a compiler enters each function, or each small object file, by itself. */
#define ENTRIES_MOST 1024

/* What unw_dyn_info_list begins with. */
struct list {
	uint32_t version, generation;
	uint64_t first;
};

/* UNW_INFO_FORMAT_…: entries of a table count from `base`, or of the last their functions from
 * `start`. */
enum format { FORMAT_TABLE = 1, FORMAT_REMOTE_TABLE = 2, FORMAT_IP_OFFSET = 4 };

struct info {
	uint64_t next, prev;
	uint64_t start, end, gp;
	int32_t format, unused;
	uint64_t name, base, words, table;
};

struct entry {
	int32_t function, tables; /* the latter: of its part, from `base` */
};

/* --- where it is --------------------------------------------------------------------------- */

/* lea list(%rip), %rax; ret; with endbr64 in front or not. */
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
jit_unwind_read(struct jit_reader *reader, uint64_t address, struct jit_descriptor *descriptor)
{
	struct list list;

	if (!jit_read(reader, address, &list, sizeof(list)))
		return false;
	*descriptor = (struct jit_descriptor){ .version = list.generation, .first = list.first };
	return true;
}

/* Widens the range by the function's part at the address, and by what it has in common with
 * others. */
static bool
add_part(struct jit_reader *reader, uint64_t address, struct jit_listed *listed)
{
	uint32_t head[2]; /* length, and how far before is the common part */
	uint64_t common;

	if (!jit_read(reader, address, head, sizeof(head)) || head[0] < sizeof(head[1]) ||
	    head[0] > JIT_UNWIND_MOST || head[1] == 0)
		return false;
	common = address + sizeof(head[0]) - head[1];
	if (common < listed->address)
		listed->address = common;
	if (address + sizeof(head[0]) + head[0] > listed->size)
		listed->size = address + sizeof(head[0]) + head[0];
	return true;
}

/* Where the tables are, all together. */
static bool
find_tables(struct jit_reader *reader, const struct info *info, struct jit_listed *listed)
{
	struct entry entry[ENTRIES_MOST];

	if ((info->format != FORMAT_TABLE && info->format != FORMAT_REMOTE_TABLE &&
	     info->format != FORMAT_IP_OFFSET) ||
	    info->start == 0 || info->end <= info->start ||
	    info->end - info->start > JIT_UNWIND_CODE_MOST || info->words == 0 ||
	    info->words > ENTRIES_MOST ||
	    !jit_read(reader, info->table, entry, info->words * sizeof(*entry)))
		return false;
	/* While it is widened, `size` is the end. */
	*listed = (struct jit_listed){ .address = UINT64_MAX,
				       .start = info->start,
				       .end = info->end };
	for (size_t i = 0; i < info->words; i++)
		if (!add_part(reader, info->base + (uint64_t)(int64_t)entry[i].tables, listed))
			return false;
	if (listed->address >= listed->size || listed->size - listed->address > JIT_UNWIND_MOST)
		return false;
	listed->size -= listed->address;
	return true;
}

enum jit_walk
jit_unwind_walk(struct jit_reader *reader, uint64_t address, const struct jit_descriptor *before,
		size_t most, struct jit_listed **listed, size_t *capacity, size_t *count)
{
	enum jit_walk result = JIT_WALK_WHOLE;
	struct jit_descriptor after;
	struct table seen;
	struct info info;

	*count = 0;
	table_init(&seen);
	for (uint64_t at = before->first; at != 0; at = info.next) {
		struct jit_listed one;
		bool added;

		table_insert(&seen, at, 0, 0, &added);
		if (!added || seen.count > most || !jit_read(reader, at, &info, sizeof(info))) {
			result = JIT_WALK_CUT;
			break;
		}
		if (!find_tables(reader, &info, &one))
			continue;
		one.entry = at;
		*listed = xgrow(*listed, capacity, *count + 1, sizeof(**listed));
		(*listed)[(*count)++] = one;
	}
	table_release(&seen);
	if (!jit_unwind_read(reader, address, &after) || memcmp(&after, before, sizeof(after)) != 0)
		return JIT_WALK_CHANGED;
	return result;
}

/* --- object files -------------------------------------------------------------------------- */

enum { NOTHING, TEXT, EH_FRAME, NAMES, SECTIONS };

static const char names[] = "\0.text\0.eh_frame\0.shstrtab";

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
